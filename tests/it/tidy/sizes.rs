//! How long files and functions may be.

use super::{Source, assert_none, sources};

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 80;

fn too_long(file: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines = file.production();
    if lines.len() > FILE_LINES {
        complaints.push(format!(
            "{}: {} lines of production code, {FILE_LINES} at most",
            file.path,
            lines.len()
        ));
    }
    let mut open: Option<(usize, usize, String)> = None;
    for (number, line) in lines {
        let indent = line.len() - line.trim_start().len();
        match &open {
            None if is_function(line)
                && !line.trim_end().ends_with(';')
                && !line.trim_end().ends_with('}') =>
            {
                open = Some((number, indent, line.trim().to_owned()));
            }
            Some((start, depth, name)) if indent == *depth && line.trim_start().starts_with('}') => {
                let length = number - start + 1;
                if length > FUNCTION_LINES {
                    complaints.push(format!("{}:{start}: {length} lines: {name}", file.path));
                }
                open = None;
            }
            _ => {}
        }
    }
    complaints
}

fn is_function(line: &str) -> bool {
    let code = line.trim_start();
    let words = ["pub ", "const ", "async ", "unsafe "];
    // `pub(crate)`, `pub(in crate::app)`.
    let restricted = code.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    let mut rest = restricted.map_or(code, |(_, rest)| rest);
    while let Some(shorter) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    rest.starts_with("fn ")
}

fn numbered_copy(file: &Source) -> Vec<String> {
    let name = file
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    let copy = name
        .rsplit_once('_')
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|one| one.is_ascii_digit()));
    if copy {
        vec![format!("{}: split by subject, not by number", file.path)]
    } else {
        Vec::new()
    }
}

#[test]
fn files_and_functions_are_short() {
    let files = sources(&["src"]);
    let complaints = files
        .iter()
        .flat_map(|file| [too_long(file), numbered_copy(file)].concat());
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn planted_lengths_are_found() {
    let long_function = format!("fn long() {{\n{}}}\n", "    x();\n".repeat(FUNCTION_LINES));
    assert_eq!(
        too_long(&Source::planted("src/app/x.rs", &long_function)).len(),
        1
    );
    assert_eq!(
        too_long(&Source::planted("src/app/x.rs", &"\n".repeat(FILE_LINES + 1))).len(),
        1
    );
    let tests = format!("#[cfg(test)]\nmod tests {{\n{long_function}}}\n");
    assert_eq!(too_long(&Source::planted("src/app/x.rs", &tests)).len(), 0);
    assert_eq!(numbered_copy(&Source::planted("src/app/keys_2.rs", "")).len(), 1);
    assert_eq!(numbered_copy(&Source::planted("src/app/keys.rs", "")).len(), 0);
    let restricted = format!("pub(in crate::app) {long_function}");
    assert_eq!(too_long(&Source::planted("src/app/x.rs", &restricted)).len(), 1);
}
