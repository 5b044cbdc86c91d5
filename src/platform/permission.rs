//! What is said where nothing is sent: the journal does not announce it, the system does not permit it.

use crate::model::act::{Sent, Signal, Standing, Target};
use crate::model::process::Process;
use crate::store::Receipt;

/// What to do where somebody who is not root is refused.
const AS_ROOT: &str = "start mcpwake as its owner or as root";

/// Returns what to do where this program, which acts with the user id `own`, may not read a process.
pub(super) fn to_read(own: u32) -> &'static str {
    match own {
        0 if cfg!(target_os = "linux") => {
            "refused even to this root (CAP_SYS_PTRACE may be missing there): start mcpwake outside the container, or as its owner"
        }
        0 => "the system denies it even to root",
        _ => AS_ROOT,
    }
}

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
    let advice = if own == 0 { even_root } else { AS_ROOT };
    format!(
        "EPERM: {call} {}: {owner}, mcpwake runs with uid {own}: {advice}",
        process.key.pid
    )
}

#[cfg(test)]
mod tests {
    use super::to_read;

    #[test]
    fn root_is_not_told_to_become_root() {
        assert_eq!(to_read(1000), "start mcpwake as its owner or as root");
        assert!(!to_read(0).contains("as root"));
        if cfg!(target_os = "linux") {
            assert!(to_read(0).contains("CAP_SYS_PTRACE"));
        }
    }
}
