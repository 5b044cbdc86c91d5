//! macOS: libproc, sysctl.

use super::{Source, SourceError};
use crate::model::interest::Interest;
use crate::model::sample::Sample;

/// Reads processes by libproc and sysctl.
#[derive(Debug, Default)]
pub struct MacosSource;

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
