//! What is said where nothing is sent: the journal does not announce it, the system does not permit it.

use crate::model::act::{Sent, Signal, Standing, Target};
use crate::model::process::Process;
use crate::store::Receipt;

/// Nothing was sent, for this reason.
pub(super) fn withheld(why: &str) -> Sent {
    Sent::Withheld(Standing::Unread(why.to_owned()))
}

/// Uses a receipt up: one entry, one signal. Returns why nothing is sent where its entry announces another
/// signal, or another process.
pub(super) fn unannounced(receipt: Receipt, signal: Signal, target: &Target) -> Option<Sent> {
    let announced = receipt.announces(signal, target);
    drop(receipt);
    let (name, key) = (signal.word(), target.key);
    (!announced).then(|| {
        withheld(&format!(
            "the entry in the journal does not announce {name} to {key}"
        ))
    })
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
