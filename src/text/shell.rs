//! An argument vector as one line that a shell would read back.

use super::Safe;

/// Returns the elements quoted as a POSIX shell wants them and escaped for a terminal, at most
/// `max_chars` of them.
pub fn line<A: AsRef<[u8]>>(argv: &[A], max_chars: usize) -> Safe {
    let mut bytes = Vec::new();
    for (index, element) in argv.iter().enumerate() {
        if bytes.len() > max_chars.saturating_mul(4) {
            break;
        }
        if index > 0 {
            bytes.push(b' ');
        }
        quote(element.as_ref(), &mut bytes);
    }
    Safe::from_bytes_limited(&bytes, max_chars)
}

/// A title that a process wrote over its argv holds spaces on purpose; a NUL cannot be quoted and
/// does not occur in argv. Both are written as they are.
fn quote(element: &[u8], out: &mut Vec<u8>) {
    match shlex::bytes::try_quote(element) {
        Ok(quoted) => out.extend_from_slice(&quoted),
        Err(_) => out.extend_from_slice(element),
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn elements_are_quoted_where_a_shell_needs_it() {
        let text = |argv: &[&str]| line(argv, 200).into_string();
        assert_eq!(
            text(&["python", "-m", "mcp_server_git"]),
            "python -m mcp_server_git"
        );
        assert_eq!(text(&["sh", "-c", "exec 3<&0; x"]), "sh -c 'exec 3<&0; x'");
        assert_eq!(text(&["x", ""]), "x ''");
        assert_eq!(line(&["a".repeat(300)], 10).as_str(), "aaaaaaaaaa…");
    }
}
