//! Which layer may import which, and which crate stands where.

use super::{Source, assert_none, sources};

/// Layer, and what it may import besides itself.
const MAY_IMPORT: [(&str, &[&str]); 18] = [
    ("text", &[]),
    ("model", &["text"]),
    ("catalog", &["model", "text"]),
    ("platform", &["model", "store"]),
    ("intake", &["model", "catalog", "text"]),
    ("analysis", &["model", "catalog", "text"]),
    ("journal", &["model", "text"]),
    ("store", &["journal", "model", "text"]),
    ("table", &["analysis", "model", "text"]),
    ("app", &["table", "analysis", "journal", "model", "text"]),
    ("view", &["app", "table", "analysis", "journal", "model", "text"]),
    ("report", &["table", "analysis", "journal", "model", "text"]),
    (
        "runtime",
        &[
            "platform", "intake", "catalog", "analysis", "journal", "store", "table", "app", "view",
            "report", "model", "text",
        ],
    ),
    (
        "drill",
        &[
            "platform", "intake", "catalog", "analysis", "journal", "store", "table", "report", "runtime",
            "model", "text",
        ],
    ),
    (
        "doctor",
        &[
            "platform", "intake", "catalog", "analysis", "journal", "store", "table", "report", "runtime",
            "model", "text",
        ],
    ),
    (
        "cli",
        &[
            "platform", "intake", "catalog", "analysis", "journal", "store", "table", "app", "view",
            "report", "runtime", "drill", "doctor", "model", "text",
        ],
    ),
    ("main.rs", &["cli"]),
    ("lib.rs", &[]),
];

/// Crate, and the layers that may use it.
const CRATES: [(&str, &[&str]); 9] = [
    ("ratatui", &["view", "runtime"]),
    ("crossterm", &["runtime", "cli"]),
    ("tokio", &["runtime", "cli", "drill", "doctor"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("rustix", &["platform"]),
    ("sysinfo", &["platform"]),
    ("libproc", &["platform"]),
];

fn foreign_imports(file: &Source) -> Vec<String> {
    let Some(layer) = file.layer() else {
        return Vec::new();
    };
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == layer) else {
        return vec![format!("{}: `{layer}` is no layer", file.path)];
    };
    let mut complaints = Vec::new();
    for (number, line) in file.production() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for part in line.split("crate::").skip(1) {
            let used: String = part
                .chars()
                .take_while(|one| one.is_alphanumeric() || *one == '_')
                .collect();
            let is_layer = MAY_IMPORT.iter().any(|(name, _)| *name == used);
            if is_layer && used != layer && !allowed.contains(&used.as_str()) {
                complaints.push(format!(
                    "{}:{number}: `{layer}` may not import `{used}`",
                    file.path
                ));
            }
        }
        if line.trim_start().starts_with("use crate::{") {
            complaints.push(format!(
                "{}:{number}: one `use crate::` a layer, so that it can be checked",
                file.path
            ));
        }
    }
    complaints
}

fn foreign_crates(file: &Source) -> Vec<String> {
    let Some(layer) = file.layer() else {
        return Vec::new();
    };
    let mut complaints = Vec::new();
    for (number, line) in file.production() {
        for (name, layers) in CRATES {
            let used = line.contains(&format!("use {name}::")) || line.contains(&format!(" {name}::"));
            if used && !line.trim_start().starts_with("//") && !layers.contains(&layer) {
                complaints.push(format!(
                    "{}:{number}: `{name}` belongs to {}",
                    file.path,
                    layers.join(", ")
                ));
            }
        }
    }
    complaints
}

fn system_outside_platform(file: &Source) -> Vec<String> {
    if file.path.starts_with("src/platform/") || file.is_test() {
        return Vec::new();
    }
    let lines = file
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter(|(_, line)| line.contains("target_os") || line.contains("cfg(unix)"))
        .map(|(index, _)| format!("{}:{}: only platform knows the system", file.path, index + 1))
        .collect()
}

fn unsafe_outside_platform(file: &Source) -> Vec<String> {
    let inside = file.path.starts_with("src/platform/");
    let mut above = "";
    let mut complaints = Vec::new();
    for (number, line) in file.production() {
        let code = line.trim_start();
        if code.contains("unsafe {") || code.contains("unsafe extern") {
            if !inside {
                complaints.push(format!("{}:{number}: unsafe stands only in platform", file.path));
            } else if !above.contains("SAFETY") {
                complaints.push(format!("{}:{number}: unsafe without a SAFETY comment", file.path));
            }
        }
        if !code.starts_with("//") || code.contains("SAFETY") {
            above = code;
        }
    }
    complaints
}

#[test]
fn layers_import_only_what_they_may() {
    let files = sources(&["src"]);
    assert_none(&files.iter().flat_map(foreign_imports).collect::<Vec<_>>());
}

#[test]
fn crates_stand_in_their_layers() {
    let files = sources(&["src"]);
    assert_none(&files.iter().flat_map(foreign_crates).collect::<Vec<_>>());
}

#[test]
fn only_platform_knows_the_system() {
    let files = sources(&["src"]);
    let complaints = files
        .iter()
        .flat_map(|file| [system_outside_platform(file), unsafe_outside_platform(file)]);
    assert_none(&complaints.flatten().collect::<Vec<_>>());
}

#[test]
fn planted_violations_are_found() {
    let found =
        |check: fn(&Source) -> Vec<String>, path: &str, text: &str| check(&Source::planted(path, text)).len();
    assert_eq!(
        found(foreign_imports, "src/model/x.rs", "use crate::analysis::judge;\n"),
        1
    );
    assert_eq!(
        found(
            foreign_imports,
            "src/view/x.rs",
            "let x = crate::catalog::Catalog::builtin();\n"
        ),
        1
    );
    assert_eq!(
        found(foreign_imports, "src/view/x.rs", "use crate::app::App;\n"),
        0
    );
    assert_eq!(found(foreign_imports, "src/extra/x.rs", "\n"), 1);
    assert_eq!(
        found(foreign_crates, "src/app/x.rs", "use crossterm::event::Event;\n"),
        1
    );
    assert_eq!(
        found(
            foreign_crates,
            "src/runtime/x.rs",
            "use crossterm::event::Event;\n"
        ),
        0
    );
    assert_eq!(
        found(
            system_outside_platform,
            "src/app/x.rs",
            "#[cfg(target_os = \"linux\")]\n"
        ),
        1
    );
    assert_eq!(
        found(unsafe_outside_platform, "src/app/x.rs", "unsafe { x() }\n"),
        1
    );
    assert_eq!(
        found(unsafe_outside_platform, "src/platform/x.rs", "unsafe { x() }\n"),
        1
    );
    assert_eq!(
        found(
            unsafe_outside_platform,
            "src/platform/x.rs",
            "// SAFETY: no.\nunsafe { x() }\n"
        ),
        0
    );
}
