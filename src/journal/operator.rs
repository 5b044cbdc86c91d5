//! Who wrote an entry: the person who logged in, also where sudo or su changed the user since.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::host::Observer;

/// The operator of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operator {
    /// Name of the effective user.
    pub user: String,
    /// Effective user id.
    pub uid: u32,
    /// Login uid, else the uid that sudo names: who it is under sudo and su.
    pub login_uid: Option<u32>,
    /// Address that the SSH session came from.
    pub ssh_from: Option<String>,
}

impl Operator {
    /// Returns the id of the person: the login uid where it is known.
    pub fn person(&self) -> u32 {
        self.login_uid.unwrap_or(self.uid)
    }
}

impl From<&Observer> for Operator {
    fn from(observer: &Observer) -> Self {
        Self {
            user: observer.user.lossy().into_owned(),
            uid: observer.uid,
            login_uid: observer.login_uid,
            ssh_from: observer.ssh_from.clone(),
        }
    }
}

impl fmt::Display for Operator {
    /// `deploy`, `root (uid 1000)`, `root (uid 1000) from 192.0.2.7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.user)?;
        if self.person() != self.uid {
            write!(f, " (uid {})", self.person())?;
        }
        match &self.ssh_from {
            Some(address) => write!(f, " from {address}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_sudo_the_person_is_named_too() {
        let mut operator = Operator {
            user: "root".to_owned(),
            uid: 0,
            login_uid: Some(1000),
            ssh_from: Some("192.0.2.7".to_owned()),
        };
        assert_eq!(operator.to_string(), "root (uid 1000) from 192.0.2.7");
        operator.login_uid = None;
        operator.ssh_from = None;
        assert_eq!((operator.to_string().as_str(), operator.person()), ("root", 0));
    }
}
