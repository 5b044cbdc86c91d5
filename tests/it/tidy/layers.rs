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

/// Crate, and the layers (or single files) that may use it.
const CRATES: [(&str, &[&str]); 10] = [
    ("ratatui", &["view", "src/runtime/terminal.rs"]),
    ("crossterm", &["runtime", "cli"]),
    ("tokio", &["runtime", "cli", "drill", "doctor"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("rustix", &["platform"]),
    ("sysinfo", &["platform"]),
    ("libproc", &["platform"]),
    ("arboard", &["runtime"]),
];

/// Returns the code of a line, without a comment at its end.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Returns the words that follow `path` in a line, where a path begins there.
fn after<'a>(line: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(path)
        .filter(move |(at, _)| !line[..*at].ends_with(|letter| word(letter) || letter == ':'))
        .map(move |(at, _)| {
            let rest = &line[at + path.len()..];
            &rest[..rest.find(|letter| !word(letter)).unwrap_or(rest.len())]
        })
}

/// Returns how many modules lie between a file and the root of the crate.
fn depth(path: &str) -> usize {
    path.matches('/').count() - usize::from(path.ends_with("/mod.rs"))
}

fn foreign_imports(file: &Source) -> Vec<String> {
    let Some(layer) = file.layer() else {
        return Vec::new();
    };
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == layer) else {
        return vec![format!("{}: `{layer}` is no layer", file.path)];
    };
    let mut complaints = Vec::new();
    let mut complain =
        |number: usize, what: String| complaints.push(format!("{}:{number}: {what}", file.path));
    for (number, line) in file.production() {
        let line = code(line);
        for used in after(line, "crate::").chain(after(line, "mcpwake::")) {
            let is_layer = MAY_IMPORT.iter().any(|(name, _)| *name == used);
            if is_layer && used != layer && !allowed.contains(&used) {
                complain(number, format!("`{layer}` may not import `{used}`"));
            }
            if used.is_empty() {
                complain(
                    number,
                    "one `use crate::` a layer, so that it can be checked".to_owned(),
                );
            }
        }
        if layer == "platform" && after(line, "crate::store::").any(|used| used != "Receipt") {
            complain(
                number,
                "of `store`, `platform` knows the `Receipt` only".to_owned(),
            );
        }
        if line.contains(&"super::".repeat(depth(&file.path))) {
            complain(
                number,
                "write `crate::` for what lies outside the layer".to_owned(),
            );
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
        let line = code(line);
        for (name, places) in CRATES {
            let used = after(line, &format!("{name}::")).next().is_some()
                || ["use ", "extern crate "]
                    .iter()
                    .any(|word| after(line, word).any(|used| used == name));
            if used && !places.contains(&layer) && !places.contains(&file.path.as_str()) {
                let places = places.join(", ");
                complaints.push(format!("{}:{number}: `{name}` belongs to {places}", file.path));
            }
        }
    }
    complaints
}

/// What tells one system from another.
const SYSTEMS: [&str; 6] = [
    "target_os",
    "target_family",
    "cfg(unix)",
    "cfg!(unix)",
    "std::os::linux",
    "std::os::macos",
];

fn system_outside_platform(file: &Source) -> Vec<String> {
    if file.path.starts_with("src/platform/") || file.is_test() {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    lines
        .filter(|(_, line)| SYSTEMS.iter().any(|word| code(line).contains(word)))
        .map(|(index, _)| format!("{}:{}: only platform knows the system", file.path, index + 1))
        .collect()
}

fn unsafe_outside_platform(file: &Source) -> Vec<String> {
    let inside = file.path.starts_with("src/platform/");
    let mut above = "";
    let mut complaints = Vec::new();
    for (number, line) in file.production() {
        let line = line.trim_start();
        if after(code(line), "unsafe").any(str::is_empty) {
            let explained = ["unsafe fn", "pub unsafe fn"]
                .iter()
                .any(|head| line.starts_with(head));
            if !inside {
                complaints.push(format!("{}:{number}: unsafe stands only in platform", file.path));
            } else if !explained && !above.contains("SAFETY") {
                complaints.push(format!("{}:{number}: unsafe without a SAFETY comment", file.path));
            }
        }
        if !line.starts_with("//") || line.contains("SAFETY") {
            above = line;
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
    are_found(&[
        (
            foreign_imports,
            "src/model/x.rs",
            "use crate::analysis::judge;\n",
            1,
        ),
        (
            foreign_imports,
            "src/view/x.rs",
            "let x = crate::catalog::Catalog::builtin();\n",
            1,
        ),
        (foreign_imports, "src/view/x.rs", "use crate::app::App;\n", 0),
        (foreign_imports, "src/extra/x.rs", "\n", 1),
        (
            foreign_crates,
            "src/app/x.rs",
            "use crossterm::event::Event;\n",
            1,
        ),
        (
            foreign_crates,
            "src/runtime/x.rs",
            "use crossterm::event::Event;\n",
            0,
        ),
        (
            system_outside_platform,
            "src/app/x.rs",
            "#[cfg(target_os = \"linux\")]\n",
            1,
        ),
        (unsafe_outside_platform, "src/app/x.rs", "unsafe { x() }\n", 1),
        (
            unsafe_outside_platform,
            "src/platform/x.rs",
            "unsafe { x() }\n",
            1,
        ),
        (
            unsafe_outside_platform,
            "src/platform/x.rs",
            "// SAFETY: no.\nunsafe { x() }\n",
            0,
        ),
    ]);
}

/// A rule: the complaints about one file.
type Check = fn(&Source) -> Vec<String>;

/// Asks each rule about a planted file: path, text, how many complaints there have to be.
fn are_found(cases: &[(Check, &str, &str, usize)]) {
    for (check, path, text, wanted) in cases {
        let complaints = check(&Source::planted(path, text));
        assert_eq!(complaints.len(), *wanted, "{path}: {text}");
    }
}

#[test]
fn planted_detours_are_found() {
    are_found(&[
        (
            foreign_imports,
            "src/model/x.rs",
            "pub use crate::{text, app};",
            1,
        ),
        (
            foreign_imports,
            "src/app/x.rs",
            "use super::super::platform::own;",
            1,
        ),
        (
            foreign_imports,
            "src/app/nav/x.rs",
            "use super::super::filter::Filter;",
            0,
        ),
        (foreign_imports, "src/app/mod.rs", "use super::view;", 1),
        (foreign_imports, "src/main.rs", "mcpwake::cli::main()", 0),
        (foreign_imports, "src/main.rs", "mcpwake::runtime::run()", 1),
        (
            foreign_imports,
            "src/platform/x.rs",
            "use crate::store::Receipt;",
            0,
        ),
        (
            foreign_imports,
            "src/platform/x.rs",
            "use crate::store::Store;",
            1,
        ),
        (foreign_imports, "src/model/x.rs", "// crate::app", 0),
        (
            foreign_crates,
            "src/runtime/terminal.rs",
            "use ratatui::Terminal;",
            0,
        ),
        (
            foreign_crates,
            "src/runtime/window.rs",
            "use ratatui::Terminal;",
            1,
        ),
        (foreign_crates, "src/app/x.rs", "#[derive(clap::Parser)]", 1),
        (foreign_crates, "src/app/x.rs", "use rustix;", 1),
        (foreign_crates, "src/app/x.rs", "mytokio::spawn()", 0),
        (system_outside_platform, "src/app/x.rs", "if cfg!(unix) {}", 1),
        (unsafe_outside_platform, "src/app/x.rs", "pub unsafe fn x() {}", 1),
        (
            unsafe_outside_platform,
            "src/platform/x.rs",
            "unsafe impl Send for X {}",
            1,
        ),
        (
            unsafe_outside_platform,
            "src/platform/x.rs",
            "let unsafe_name = 1;",
            0,
        ),
    ]);
}
