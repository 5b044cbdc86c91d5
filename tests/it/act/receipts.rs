//! A receipt is good for what its entry announces, and for nothing else.

use mcpwake::journal::{Entry, TargetRef};
use mcpwake::model::act::{Signal, Target};
use mcpwake::model::identity::{ProcessKey, StartKey};
use mcpwake::model::reading::Reading;
use mcpwake::store::Receipt;

use crate::keep::kit::{self, State};

fn target(number: u32, pidfd_inode: Option<u64>) -> Target {
    Target {
        key: kit::key(number),
        pidfd_inode,
        argv: Reading::Denied,
        exe: Reading::Denied,
        member: None,
    }
}

fn announce(state: &State, signal: &str, targets: &[Target], at: i64) -> Receipt {
    let named = targets.iter().map(|target| TargetRef {
        key: target.key,
        pidfd_inode: target.pidfd_inode,
        argv: vec!["node".to_owned()],
        instance: None,
    });
    let entry = Entry::AboutToSignal {
        signal: signal.to_owned(),
        targets: named.collect(),
        way: "pidfd".to_owned(),
    };
    let incident = state.store().find(None, &kit::operator()).unwrap();
    incident.append(entry, &kit::operator(), kit::later(at)).unwrap()
}

#[test]
fn it_is_good_for_the_signal_and_the_processes_of_its_entry() {
    let state = State::new();
    let _ = state.incident();
    let seen = [target(40, Some(7040)), target(41, None)];
    let receipt = announce(&state, "TERM", &seen, 1);
    let other_start = Target {
        key: ProcessKey {
            start: StartKey(1),
            ..kit::key(40)
        },
        ..target(40, Some(7040))
    };
    let cases = [
        (Signal::Term, target(40, Some(7040)), true),
        (Signal::Term, target(41, None), true),
        // One of the two does not know the inode: pid and start time decide.
        (Signal::Term, target(40, None), true),
        (Signal::Term, target(41, Some(7041)), true),
        (Signal::Kill, target(40, Some(7040)), false),
        (Signal::Cont, target(40, Some(7040)), false),
        (Signal::Term, target(40, Some(7041)), false),
        (Signal::Term, target(42, None), false),
        (Signal::Term, other_start, false),
    ];
    for (signal, target, wanted) in cases {
        assert_eq!(
            receipt.announces(signal, &target),
            wanted,
            "{signal:?} {target:?}"
        );
    }
}

#[test]
fn an_entry_that_announces_nothing_is_good_for_nothing() {
    let state = State::new();
    let incident = state.incident();
    let seen = target(40, None);
    let note = incident
        .append(kit::note("TERM"), &kit::operator(), kit::later(1))
        .unwrap();
    let sent = Entry::Sent {
        signal: "TERM".to_owned(),
        target: TargetRef {
            key: seen.key,
            pidfd_inode: None,
            argv: Vec::new(),
            instance: None,
        },
        way: "pidfd".to_owned(),
        refused: None,
        announced: None,
    };
    let sent = incident.append(sent, &kit::operator(), kit::later(2)).unwrap();
    for receipt in [
        note,
        sent,
        announce(&state, "TERM", &[], 3),
        announce(&state, "term", std::slice::from_ref(&seen), 4),
    ] {
        for signal in [Signal::Term, Signal::Kill, Signal::Cont] {
            assert!(!receipt.announces(signal, &seen), "{receipt:?}");
        }
    }
}

#[test]
fn an_entry_that_follows_a_clock_that_was_set_back_is_as_good() {
    let state = State::new();
    let _ = state.incident();
    let seen = target(40, None);
    let receipt = announce(&state, "KILL", std::slice::from_ref(&seen), -3_600_000);
    assert!(receipt.announces(Signal::Kill, &seen));
    assert_eq!(receipt.head().seq, 3);
}
