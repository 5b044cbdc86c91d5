//! Signals: to exactly the process that was seen, through a pidfd that cannot become another's.
//!
//! The look holds on to the process and compares it with what was seen; the signal goes through what the
//! look holds, after one more comparison. Between that comparison and the signal the process may still
//! call `execve`(2), or end; it can be no other.

pub(super) mod looker;
mod watch;

use rustix::io::Errno;

use self::looker::{Held, Looker, Reach};
use super::kernel::Sends;
use crate::model::act::{Look, Sent, Signal, Standing, Target};
use crate::model::process::Process;
use crate::platform::permission::{not_permitted, unannounced, withheld};
use crate::platform::{Signaller, Watch};
use crate::store::Receipt;

/// What it means where root is refused.
const EVEN_ROOT: &str =
    "root of a container or a security module's subject may not signal it: go where its owner is";

/// Looks, and sends nothing: it has nothing to send with.
pub struct LinuxOnlooker {
    looker: Looker,
}

/// Looks, and sends.
pub struct LinuxSignaller {
    looker: Looker,
    sends: Box<dyn Sends>,
}

impl LinuxOnlooker {
    pub(super) fn new(looker: Looker) -> Self {
        Self { looker }
    }
}

impl LinuxSignaller {
    pub(super) fn new(looker: Looker, sends: Box<dyn Sends>) -> Self {
        Self { looker, sends }
    }

    fn deliver(&self, held: &Held, process: &Process, signal: Signal) -> Sent {
        let pid = process.key.pid;
        let (call, outcome) = match &held.reach {
            Reach::Pidfd(file) => ("pidfd_send_signal", self.sends.send(file, signal)),
            Reach::Pid => ("kill", self.sends.kill(pid, signal)),
        };
        match outcome {
            Ok(()) => Sent::Accepted,
            Err(Errno::SRCH) => Sent::Withheld(Standing::Gone),
            Err(Errno::PERM) => Sent::Refused(not_permitted(
                call,
                process,
                rustix::process::geteuid().as_raw(),
                EVEN_ROOT,
            )),
            Err(errno) => Sent::Refused(format!("{call} {pid}: {errno}")),
        }
    }
}

impl Signaller for LinuxOnlooker {
    fn look(&mut self, target: &Target) -> Look {
        self.looker.look(target)
    }

    fn send(&mut self, _target: &Target, _signal: Signal, _receipt: Receipt) -> Sent {
        withheld("this run is read-only, it has nothing to send a signal with; start without --read-only")
    }

    fn watch(&self, target: &Target) -> Box<dyn Watch> {
        self.looker.watch(target)
    }
}

impl Signaller for LinuxSignaller {
    fn look(&mut self, target: &Target) -> Look {
        self.looker.look(target)
    }

    fn send(&mut self, target: &Target, signal: Signal, receipt: Receipt) -> Sent {
        if let Some(nothing) = unannounced(receipt, signal, target) {
            return nothing;
        }
        if let Some(why) = self.looker.refusal(target.key.pid) {
            return withheld(&why);
        }
        let Some(held) = self.looker.held(target) else {
            return withheld("it was not looked at before: look at it first");
        };
        match self.looker.examine(target, &held) {
            Standing::Same(process) if process.kernel_thread => {
                withheld("it is a thread of the kernel, which takes no signals")
            }
            Standing::Same(process) if !process.is_zombie() => self.deliver(&held, &process, signal),
            other => Sent::Withheld(other),
        }
    }

    fn watch(&self, target: &Target) -> Box<dyn Watch> {
        self.looker.watch(target)
    }
}
