//! Points in time as they travel through the program: integers, never a formatted text.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Wall clock, milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Returns RFC 3339 in UTC with milliseconds, as in every published format.
    pub fn rfc3339(self) -> String {
        self.utc().to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Returns `HH:MM:SSZ`, for the screen.
    pub fn clock(self) -> String {
        self.utc().format("%H:%M:%SZ").to_string()
    }

    /// Returns `27 Nov 20:55:03Z`, for the screen.
    pub fn day_and_clock(self) -> String {
        self.utc().format("%-d %b %H:%M:%SZ").to_string()
    }

    fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0).unwrap_or_default()
    }
}
