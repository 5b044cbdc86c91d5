//! What is said where the system does not permit a signal.

use crate::model::act::{Sent, Standing};
use crate::model::process::Process;

/// Nothing was sent, for this reason.
pub(super) fn withheld(why: &str) -> Sent {
    Sent::Withheld(Standing::Unread(why.to_owned()))
}

/// Says whose process it is: only its owner and root may signal it (`kill`(2)). `own` is the user id that
/// this program acts with; `even_root` says what it means where that is root's.
pub(super) fn not_permitted(call: &str, process: &Process, own: u32, even_root: &str) -> String {
    let owner = match (process.user.value(), process.uid.value()) {
        (Some(user), Some(uid)) => format!("it belongs to {} (uid {uid})", user.lossy()),
        _ => "its owner is not known".to_owned(),
    };
    let advice = if own == 0 {
        even_root
    } else {
        "start mcpwake as its owner or as root"
    };
    format!(
        "EPERM: {call} {}: {owner}, mcpwake runs with uid {own}: {advice}",
        process.key.pid
    )
}
