//! Exit codes: named, documented, the same for every command.

/// Why the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; also when the reader of the output went away.
    Done = 0,
    /// Failed: the system could not be read, or what was asked for does not exist.
    Failed = 1,
    /// Wrong arguments or configuration; nothing was done.
    Usage = 2,
    /// Verification failed.
    Verification = 3,
    /// An instance has one of the findings of `--fail-on`.
    Matched = 4,
    /// A drill's expectation was not kept.
    Drill = 5,
}

impl Exit {
    /// All codes that this version uses, with what they mean, for the manual and the README.
    pub const DOCUMENTED: [(Self, &'static str); 5] = [
        (Self::Done, "done; a closed pipe is no error"),
        (
            Self::Failed,
            "failed: the system could not be read, there is no such process, or `doctor` found something amiss",
        ),
        (
            Self::Usage,
            "usage: wrong arguments or configuration; nothing was done",
        ),
        (
            Self::Verification,
            "verification failed: something was changed or is missing; the first wrong line is named",
        ),
        (Self::Matched, "an instance has one of the findings of --fail-on"),
    ];

    /// Returns the number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_codes_are_a_contract() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Usage,
            Exit::Verification,
            Exit::Matched,
            Exit::Drill,
        ];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4, 5]);
    }
}
