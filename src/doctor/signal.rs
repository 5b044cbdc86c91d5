//! A TERM to an own child, the way every signal goes: looked at, announced on the disk, sent, waited for.

use std::time::Duration;

use super::observe::Seen;
use super::part::Kind;
use super::state::Probe;
use super::truth::Truth;
use crate::journal::{Entry, Operator, TargetRef};
use crate::model::act::{Sent, Signal, Standing, Target, Way};
use crate::model::process::Process;
use crate::platform::{Signaller, wall_clock};
use crate::report::doctor::{Answer, Check};
use crate::store::Receipt;

/// How long a child may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The announcement could not be put on disk, and without it nothing is sent; why.
    NotAnnounced(String),
    /// There was no child to send it to; why.
    NoChild(String),
    /// The child was not recognised before anything was sent.
    Taken(Standing),
    /// It was handed over, or not.
    Sent {
        /// How.
        way: Way,
        /// Whether it was accepted.
        sent: Sent,
        /// Whether the child had ended within the wait.
        ended: bool,
    },
}

/// Sends TERM to the part that is there for it.
pub(super) fn try_out(
    truth: &Truth,
    seen: &Seen,
    signaller: &mut dyn Signaller,
    probe: Result<&Probe, String>,
) -> Outcome {
    let sample = &seen.after.sample;
    let process = match truth.part(Kind::Target).map(|part| truth.find(sample, part)) {
        Ok(Some(process)) => process,
        Ok(None) => return Outcome::NoChild("it is not among the processes".to_owned()),
        Err(why) => return Outcome::NoChild(why),
    };
    let Some(target) = Target::of(sample, process.key, None) else {
        return Outcome::NoChild("it is not among the processes".to_owned());
    };
    let look = signaller.look(&target);
    if !matches!(look.standing, Standing::Same(_)) {
        return Outcome::Taken(look.standing);
    }
    let operator = Operator::from(&sample.observer);
    let announced = probe.and_then(|probe| announce(probe, process, look.way, &operator));
    let receipt = match announced {
        Ok(receipt) => receipt,
        Err(why) => return Outcome::NotAnnounced(why),
    };
    let watch = signaller.watch(&target);
    let sent = signaller.send(&target, Signal::Term, receipt);
    let ended = sent == Sent::Accepted && watch.exited(PATIENCE);
    Outcome::Sent {
        way: look.way,
        sent,
        ended,
    }
}

fn announce(probe: &Probe, process: &Process, way: Way, operator: &Operator) -> Result<Receipt, String> {
    let entry = Entry::AboutToSignal {
        signal: Signal::Term.word().to_owned(),
        targets: vec![TargetRef {
            key: process.key,
            pidfd_inode: process.pidfd_inode,
            argv: process
                .args()
                .iter()
                .map(|one| one.lossy().into_owned())
                .collect(),
            instance: None,
        }],
        way: way.word().to_owned(),
    };
    probe.append(entry, operator, wall_clock())
}

/// Returns the answer.
pub(super) fn check(outcome: &Outcome) -> Check {
    let answer = |answer, seen: String| Check::new("signals", "signals", answer, seen);
    match outcome {
        Outcome::NotAnnounced(why) => answer(
            Answer::Denied,
            format!(
                "not tried: a signal is announced on disk before it goes out, and that is not possible: {why}"
            ),
        ),
        Outcome::NoChild(why) => answer(Answer::Failed, format!("not tried: {why}")),
        Outcome::Taken(Standing::Unread(why)) => answer(Answer::Unsupported, format!("not tried: {why}")),
        Outcome::Taken(standing) => answer(
            Answer::Wrong,
            format!(
                "the child was not recognised, and nothing was sent: {}",
                standing_words(standing)
            ),
        ),
        Outcome::Sent { way, sent, ended } => match (sent, ended) {
            (Sent::Accepted, true) => answer(
                Answer::Works,
                format!("an own child has ended on TERM, sent by {}", way.word()),
            ),
            (Sent::Accepted, false) => answer(
                Answer::Wrong,
                format!(
                    "TERM was sent to an own child by {}, and it was not seen to end",
                    way.word()
                ),
            ),
            (Sent::Refused(why), _) => answer(
                Answer::Failed,
                format!("TERM by {} was refused: {why}", way.word()),
            )
            .advised("look for a security module or a seccomp filter that forbids it"),
            (Sent::Withheld(standing), _) => answer(
                Answer::Wrong,
                format!("the announced signal was withheld: {}", standing_words(standing)),
            ),
        },
    }
}

/// The words of a standing, without what it holds of the process.
fn standing_words(standing: &Standing) -> &'static str {
    match standing {
        Standing::Same(_) => "the same process",
        Standing::Changed(..) => "taken for one that has changed",
        Standing::Replaced => "taken for another process with its pid",
        Standing::Gone => "taken for gone",
        Standing::Unread(_) => "it could not be looked at",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::analysis::testkit::Machine;
    use crate::doctor::state;
    use crate::doctor::truth::Part;
    use crate::model::act::Look;
    use crate::model::host::Os;
    use crate::model::instance::Judged;
    use crate::model::time::UnixMillis;
    use crate::model::world::World;
    use crate::platform::Watch;
    use crate::store::Access;

    /// Accepts whatever is announced.
    struct Willing(Standing);

    struct Ends;

    impl Watch for Ends {
        fn exited(&self, _patience: Duration) -> bool {
            true
        }
    }

    impl Signaller for Willing {
        fn look(&mut self, _target: &Target) -> Look {
            Look {
                at: UnixMillis(0),
                standing: self.0.clone(),
                way: Way::KeptPidfd,
            }
        }

        fn send(&mut self, _target: &Target, _signal: Signal, _receipt: Receipt) -> Sent {
            Sent::Accepted
        }

        fn watch(&self, _target: &Target) -> Box<dyn Watch> {
            Box::new(Ends)
        }
    }

    fn world() -> (Truth, Seen, Process) {
        let mut machine = Machine::new();
        let process = machine.add(506, 1, "target").clone();
        let sample = machine.sample();
        let truth = Truth {
            own_pid: sample.observer.pid.get(),
            program: "/usr/bin/mcpwake".into(),
            cwd: "/".into(),
            variable: "X".into(),
            parts: vec![Part {
                kind: Kind::Target,
                pid: 506,
                parent: 1,
                argv: Vec::new(),
                connection: None,
            }],
            missing: BTreeMap::new(),
        };
        let world = World {
            seq: 1,
            sample,
            judged: Judged::default(),
            complete: true,
        };
        let seen = Seen {
            os: Os::Linux,
            alive: world.clone(),
            after: world,
        };
        (truth, seen, process)
    }

    #[test]
    fn nothing_is_sent_that_is_not_on_disk_first() {
        let (truth, seen, process) = world();
        let folder = tempfile::tempdir().expect("a directory");
        let mut wanted = state::Wanted::of(&seen.after.sample, Access::ReadWrite, "0123");
        wanted.state_home = Some(folder.path().as_os_str().to_owned());
        wanted.uid = std::os::unix::fs::MetadataExt::uid(&folder.path().metadata().expect("it is there"));
        let tried = state::try_out(&wanted);
        let same = || Standing::Same(Box::new(process.clone()));
        let attempt = |standing, probe| try_out(&truth, &seen, &mut Willing(standing), probe);
        let sent = Outcome::Sent {
            way: Way::KeptPidfd,
            sent: Sent::Accepted,
            ended: true,
        };
        assert_eq!(attempt(same(), probe_of(&tried)), sent);
        let why = "read-only holds".to_owned();
        assert_eq!(attempt(same(), Err(why.clone())), Outcome::NotAnnounced(why));
        assert_eq!(
            attempt(Standing::Gone, probe_of(&tried)),
            Outcome::Taken(Standing::Gone)
        );
    }

    fn probe_of(tried: &state::Tried) -> Result<&Probe, String> {
        tried.probe.as_ref().map_err(Clone::clone)
    }

    #[test]
    fn each_outcome_has_its_answer() {
        let sent = |sent, ended| Outcome::Sent {
            way: Way::KeptPidfd,
            sent,
            ended,
        };
        let cases = [
            (sent(Sent::Accepted, true), Answer::Works, "by pidfd"),
            (sent(Sent::Accepted, false), Answer::Wrong, "not seen to end"),
            (
                sent(Sent::Refused("EPERM".into()), false),
                Answer::Failed,
                "EPERM",
            ),
            (
                sent(Sent::Withheld(Standing::Gone), false),
                Answer::Wrong,
                "withheld",
            ),
            (
                Outcome::Taken(Standing::Replaced),
                Answer::Wrong,
                "another process",
            ),
            (
                Outcome::NotAnnounced("read-only holds".into()),
                Answer::Denied,
                "read-only",
            ),
            (
                Outcome::NoChild("it was not started".into()),
                Answer::Failed,
                "not tried",
            ),
            (
                Outcome::Taken(Standing::Unread("no signals here".into())),
                Answer::Unsupported,
                "no signals here",
            ),
        ];
        for (outcome, answer, words) in cases {
            let check = check(&outcome);
            assert_eq!(check.answer, answer, "{outcome:?}");
            assert!(check.seen.contains(words), "{}", check.seen);
        }
    }
}
