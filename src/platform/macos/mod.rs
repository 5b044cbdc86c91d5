//! macOS: libproc, sysctl.

use super::{Ability, NoSignaller, Source, SourceError, System};
use crate::model::host::Os;
use crate::model::interest::Interest;
use crate::model::sample::Sample;

/// Reads processes by libproc and sysctl.
#[derive(Debug, Default)]
pub struct MacosSource;

/// Opens this system. Whatever the run may do, nothing is signalled: a process that was not read cannot be
/// told from another.
pub(super) fn system(_ability: Ability) -> System {
    System {
        source: Box::new(MacosSource),
        os: Os::Macos,
        signaller: Box::new(NoSignaller::new("this build does not signal on macOS yet")),
    }
}

impl Source for MacosSource {
    fn sample(&mut self) -> Result<Sample, SourceError> {
        Err(SourceError {
            path: "proc_listallpids".into(),
            operation: "list processes by".into(),
            reason: "this build does not read macOS yet; open a saved snapshot with `mcpwake open`".into(),
        })
    }

    fn look_closer(&mut self, _sample: &mut Sample, _interest: &Interest) {}
}
