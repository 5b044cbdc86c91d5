//! A value that was read, or the reason why it was not: four different things, none of them 0.

use serde::{Deserialize, Serialize};

/// The outcome of reading one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "read", content = "value", rename_all = "snake_case")]
pub enum Reading<T> {
    /// It was read.
    Value(T),
    /// The system refused: permission (`EACCES`, `EPERM`).
    Denied,
    /// The process, or the thing, was no longer there (`ENOENT`, `ESRCH`).
    Gone,
    /// This system, or this kernel, has no such thing.
    Unsupported,
    /// Something else went wrong; the text names call and path.
    Failed(String),
    /// Nobody looked: the value was not needed for this process.
    Unread,
}

/// Why there is no value, without the value's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The system refused.
    Denied,
    /// It was no longer there.
    Gone,
    /// There is no such thing here.
    Unsupported,
    /// Reading failed.
    Failed,
}

impl<T> Reading<T> {
    /// Returns the value where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns why there is no value; `None` for a value and for what nobody looked at.
    pub fn absence(&self) -> Option<Absence> {
        match self {
            Self::Value(_) | Self::Unread => None,
            Self::Denied => Some(Absence::Denied),
            Self::Gone => Some(Absence::Gone),
            Self::Unsupported => Some(Absence::Unsupported),
            Self::Failed(_) => Some(Absence::Failed),
        }
    }

    /// Returns whether the system refused.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Denied)
    }

    /// Applies `f` to the value, keeping the reason where there is none.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Value(value) => Reading::Value(f(value)),
            Self::Denied => Reading::Denied,
            Self::Gone => Reading::Gone,
            Self::Unsupported => Reading::Unsupported,
            Self::Failed(why) => Reading::Failed(why),
            Self::Unread => Reading::Unread,
        }
    }

    /// Borrows the value.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Self::Value(value) => Reading::Value(value),
            Self::Denied => Reading::Denied,
            Self::Gone => Reading::Gone,
            Self::Unsupported => Reading::Unsupported,
            Self::Failed(why) => Reading::Failed(why.clone()),
            Self::Unread => Reading::Unread,
        }
    }
}
