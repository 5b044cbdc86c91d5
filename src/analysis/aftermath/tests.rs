//! Machines before and after a signal, and what the second look says of them.

use super::aftermath;
use crate::analysis::testkit::{Machine, pid, world};
use crate::model::act::{Signal, Target, Watched};
use crate::model::descriptor::Access;
use crate::model::plan::{Aftermath, Ending};
use crate::model::process::SignalMasks;
use crate::model::reading::Reading;
use crate::model::time::UnixMillis;

/// git 200, whose client is gone, with an ssh helper 210 in its group.
fn before() -> Machine {
    let mut machine = Machine::new();
    machine.add(200, 1, "python -m mcp_server_git --repository /srv/app");
    machine.add(210, 200, "ssh -N deploy@10.2.0.4");
    machine.pipe(200, 0, 700, Access::Read);
    machine.pipe(200, 1, 701, Access::Write);
    machine
}

fn look(before: &Machine, after: &Machine, number: u32, exited_after_ms: Option<u64>) -> Aftermath {
    look_at(UnixMillis(0), before, after, number, exited_after_ms)
}

fn look_at(
    at: UnixMillis,
    before: &Machine,
    after: &Machine,
    number: u32,
    exited_after_ms: Option<u64>,
) -> Aftermath {
    let (before, after) = (world(before), world(after));
    let key = before.sample.process(pid(number)).expect("the target").key;
    let roles = before.judged.roles.get(&key).and_then(|roles| roles.first());
    let member = roles.map(|role| (role.instance, role.role));
    let target = Target::of(&before.sample, key, member).expect("the target");
    let watched = Watched { exited_after_ms, at };
    aftermath(&before, &after, &target, Signal::Term, 2000, &watched)
}

#[test]
fn exited_with_everything() {
    let mut after = before();
    after.end(200, 1);
    after.end(210, 1);
    let found = look(&before(), &after, 200, Some(212));
    assert_eq!((found.ending, found.after_ms), (Ending::Exited, Some(212)));
    assert_eq!(found.detail(), "with it helper ssh 210; nothing left");
}

#[test]
fn exited_and_its_helper_lives_on() {
    let mut after = before();
    after.end(200, 1);
    let found = look(&before(), &after, 200, Some(212));
    assert_eq!(found.detail(), "left: helper ssh 210 (S)");
    let found = look(&after, &Machine::new(), 210, Some(3));
    assert_eq!(found.detail(), "nothing left");
}

#[test]
fn a_zombie_has_exited_and_its_parent_is_named() {
    let mut after = before();
    after.process(200).state = 'Z';
    let found = look(&before(), &after, 200, Some(10));
    assert_eq!(found.ending, Ending::Exited);
    assert!(
        found.own.contains("its parent init 1 has not waited for it yet"),
        "{found:?}"
    );
    let found = look(&before(), &after, 200, None);
    assert_eq!((found.ending, found.after_ms), (Ending::Exited, None));
}

#[test]
fn gone_without_a_watch_has_exited_too() {
    let mut after = before();
    after.end(200, 1);
    let found = look(&before(), &after, 200, None);
    assert_eq!((found.ending, found.after_ms), (Ending::Exited, None));
}

#[test]
fn still_there_says_what_it_does() {
    const TERM: u64 = 1 << 14;
    for (masks, state, expected) in [
        ((0, 0, TERM, 0), 'S', "state S, TERM ignored"),
        ((TERM, TERM, 0, 0), 'S', "state S, TERM pending"),
        ((0, 0, 0, TERM), 'S', "state S, TERM handled, and it goes on"),
        ((0, 0, 0, 0), 'S', "state S"),
        ((TERM, 0, 0, 0), 'T', "state S, TERM pending, stopped"),
    ] {
        let mut after = before();
        let (pending, blocked, ignored, caught) = masks;
        let process = after.process(200);
        process.state = state;
        process.signals = Reading::Value(SignalMasks {
            pending,
            blocked,
            ignored,
            caught,
        });
        let found = look(&before(), &after, 200, None);
        assert_eq!(found.ending, Ending::StillThere);
        assert_eq!(found.after_ms, Some(2000));
        assert_eq!(found.detail(), expected);
    }
}

#[test]
fn one_of_the_same_argv_that_began_before_the_signal_did_not_come_back() {
    let mut after = before();
    after.end(200, 1);
    after.end(210, 1);
    let now = world(&after).sample;
    // The process began so many ticks of 10 ms before the second look.
    let ending = |ticks: u64| {
        let mut after = before();
        after.end(200, 1);
        after.end(210, 1);
        let start = now.since_boot_ms / 10 - ticks;
        let began = after.add(500, 1, "python -m mcp_server_git --repository /srv/app");
        began.key.start = crate::model::identity::StartKey(start);
        look_at(now.taken_at, &before(), &after, 200, Some(1000)).ending
    };
    assert_eq!(ending(50), Ending::CameBack, "half a second after the signal");
    assert_eq!(ending(150), Ending::Exited, "half a second before it");
}

#[test]
fn it_came_back_under_another_pid() {
    let mut after = before();
    after.end(200, 1);
    after.end(210, 1);
    after.add(190, 1, "supervisord");
    after.add(500, 190, "python -m mcp_server_git --repository /srv/app");
    let found = look(&before(), &after, 200, Some(5));
    assert_eq!((found.ending, found.after_ms), (Ending::CameBack, Some(5)));
    assert!(
        found.own.starts_with("as 500, child of supervisord 190"),
        "{found:?}"
    );
    assert_eq!(found.left, "");
}

#[test]
fn what_it_forked_as_it_ended_came_back_and_is_nothing_that_is_left() {
    let mut after = before();
    after.end(200, 1);
    after.end(210, 1);
    for twin in [500, 510] {
        after
            .add(twin, 1, "python -m mcp_server_git --repository /srv/app")
            .pgid = Some(pid(200));
    }
    let found = look(&before(), &after, 200, Some(5));
    assert_eq!(found.ending, Ending::CameBack);
    assert_eq!(
        found.detail(),
        "as 500, 510, child of init 1; with it helper ssh 210"
    );
}

#[test]
fn a_twin_that_ran_before_and_a_stranger_have_not_come_back() {
    let mut early = before();
    early.add(500, 1, "python -m mcp_server_git --repository /srv/app");
    let twin = |change: fn(&mut Machine)| {
        let mut after = before();
        change(&mut after);
        after.end(200, 1);
        after.end(210, 1);
        after
    };
    let after = twin(|machine| {
        machine.add(500, 1, "python -m mcp_server_git --repository /srv/app");
    });
    assert_eq!(look(&early, &after, 200, Some(5)).ending, Ending::Exited);
    let after = twin(|machine| {
        machine.add(500, 1, "python -m mcp_server_git --repository /srv/other");
    });
    assert_eq!(look(&before(), &after, 200, Some(5)).ending, Ending::Exited);
    let after = twin(|machine| {
        machine
            .add(500, 1, "python -m mcp_server_git --repository /srv/app")
            .uid = Reading::Value(7);
    });
    assert_eq!(look(&before(), &after, 200, Some(5)).ending, Ending::Exited);
}

#[test]
fn whoever_has_its_pid_now_is_not_it() {
    let mut early = before();
    early.process(200).pidfd_inode = Some(11);
    let mut after = before();
    after.process(200).pidfd_inode = Some(12);
    let found = look(&early, &after, 200, None);
    assert_eq!(
        found.ending,
        Ending::Exited,
        "same pid, start and argv: the pidfd tells"
    );
    after.process(200).pidfd_inode = None;
    assert_eq!(look(&early, &after, 200, None).ending, Ending::StillThere);
}

#[test]
fn children_group_and_wire_are_remains() {
    let mut early = before();
    early.add(220, 200, "sleep 1000");
    early.add(230, 220, "sleep 2000");
    let mut after = before();
    after.add(220, 200, "sleep 1000");
    after.add(230, 220, "sleep 2000");
    after.pipe(220, 0, 700, Access::Read);
    after.end(200, 1);
    let found = look(&early, &after, 200, Some(1));
    assert!(found.left.starts_with("left: "), "{found:?}");
    assert!(
        found.left.contains("210") && found.left.contains("220") && found.left.contains("230"),
        "{found:?}"
    );
}

#[test]
fn of_a_process_that_is_no_member_children_and_group_are_told() {
    let mut early = Machine::new();
    early.add(400, 1, "some-daemon");
    early.add(410, 400, "some-child");
    early.add(420, 410, "grandchild");
    let mut after = Machine::new();
    after.add(400, 1, "some-daemon");
    after.add(410, 400, "some-child");
    after.add(420, 410, "grandchild");
    after.end(400, 1);
    let found = look(&early, &after, 400, Some(1));
    assert_eq!(
        found.left,
        "left: child some-child 410, 1 more in its process group"
    );
}
