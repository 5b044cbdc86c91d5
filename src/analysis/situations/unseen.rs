//! What cannot be seen is never said to be gone.

use super::super::testkit::{Machine, Run, codes, instance, once};
use super::{CLIENT, SERVER, on_pipes, through_npx};
use crate::model::descriptor::{Access, Hold, Unlisted};
use crate::model::finding::{End, Finding, PeerState};
use crate::model::instance::Instance;
use crate::model::reading::Reading;

#[test]
fn denied_descriptors_are_unknown_never_severed() {
    let mut machine = on_pipes();
    machine.hide(SERVER);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"descriptors_denied"));
    assert_eq!(server.reach, None);
    let told = |server: &Instance| server.facts[0].text.clone();
    assert!(
        told(server).contains("more capabilities than this root has"),
        "{}",
        told(server)
    );
    machine.observer_uid = 1000;
    let judged = once(&machine);
    let text = told(instance(&judged, SERVER));
    assert!(text.contains("the rights of its user, or root"), "{text}");
}

/// Advice is for whoever reads: root is not told to become root.
#[test]
fn what_would_help_against_hidepid_depends_on_who_reads() {
    for (uid, told, not) in [
        (
            0,
            "with more capabilities than this root has they can be seen",
            "root's rights",
        ),
        (1000, "with root's rights they can be seen", "capabilities"),
    ] {
        let mut machine = on_pipes();
        machine.end(CLIENT, 1);
        machine.hidden = Some(3);
        machine.observer_uid = uid;
        let judged = once(&machine);
        let texts: String = instance(&judged, SERVER)
            .facts
            .iter()
            .map(|fact| fact.text.as_str())
            .collect();
        assert!(texts.contains(told) && !texts.contains(not), "{texts}");
    }
}

#[test]
fn an_unreadable_process_of_the_same_user_could_hold_the_pipe() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.add(400, 1, "ssh-agent -D");
    machine.hide(400);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"unreadable_process"));
    machine.process(400).uid = Reading::Value(7);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
}

#[test]
fn a_login_by_ssh_after_the_server_began_has_none_of_its_ends() {
    let finding_with = |number: u32, parent: &str, line: &str| {
        let mut machine = on_pipes();
        machine.end(CLIENT, 1);
        machine.add(50, 1, parent).uid = Reading::Value(0);
        machine.add(number, 50, line);
        machine.hide(number);
        instance(&once(&machine), SERVER).finding
    };
    let later = SERVER + 100;
    assert_eq!(finding_with(later, "sshd -D", "sshd"), Finding::Severed);
    assert_eq!(
        finding_with(later, "sshd-session", "sshd-session"),
        Finding::Severed
    );
    let earlier = SERVER - 50;
    assert_eq!(finding_with(earlier, "sshd -D", "sshd"), Finding::Unknown);
    assert_eq!(finding_with(later, "cron", "sshd"), Finding::Unknown);
    assert_eq!(finding_with(later, "worker", "worker"), Finding::Unknown);
}

#[test]
fn who_could_not_be_looked_into_is_counted_where_none_is_close() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    let text = |machine: &Machine| {
        let judged = once(machine);
        let server = instance(&judged, SERVER);
        assert_eq!(server.finding, Finding::Severed);
        server.facts[0].text.clone()
    };
    assert_eq!(
        text(&machine),
        "stdin pipe 900: no process has it open for writing"
    );
    for number in [400, 401] {
        machine.add(number, 1, "postgres").uid = Reading::Value(7);
        machine.hide(number);
    }
    assert!(text(&machine).ends_with("2 processes, none of them close to it, could not be looked into"));
}

#[test]
fn the_first_process_is_suspected_only_where_it_is_a_client() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.hide(1);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
    machine.process(1).argv = Reading::Value(vec!["claude".into()]);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Unknown);
}

#[test]
fn a_peer_that_nobody_visible_holds_is_unknown() {
    let mut machine = through_npx();
    machine.hide(CLIENT);
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"hidden_holder"));
}

#[test]
fn a_process_without_its_main_thread_could_hold_the_pipe_a_zombie_could_not() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.add(400, 1, "python worker.py").state = 'Z';
    machine.hide(400);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
    machine.process(400).threads = 2;
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert!(codes(server).contains(&"unreadable_process"));
}

#[test]
fn a_leader_that_may_be_hidden_is_not_called_gone() {
    let mut machine = through_npx();
    machine.end(CLIENT, 1);
    for (hidden, present, absent) in [
        (Some(0), "session_leader_gone", "session_leader_unseen"),
        (Some(3), "session_leader_unseen", "session_leader_gone"),
        (None, "session_leader_unseen", "session_leader_gone"),
    ] {
        machine.hidden = hidden;
        let judged = once(&machine);
        let codes = codes(instance(&judged, SERVER));
        assert!(codes.contains(&present) && !codes.contains(&absent), "{codes:?}");
        let group = if hidden == Some(0) {
            "group_without_leader"
        } else {
            "group_leader_unseen"
        };
        assert!(codes.contains(&group), "{codes:?}");
    }
}

#[test]
fn a_pipe_end_that_may_be_held_unseen_is_hidden_not_without_a_holder() {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    machine.hidden = None;
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Unknown);
    assert_eq!(stdin(server).peer, PeerState::Hidden);
    machine.hidden = Some(0);
    let judged = once(&machine);
    assert_eq!(stdin(instance(&judged, SERVER)).peer, PeerState::None);
}

#[test]
fn a_held_end_says_that_a_client_may_hold_it_unseen() {
    let mut machine = on_pipes();
    machine.add(300, SERVER, "tail -f /dev/null");
    machine.pipe(300, 5, 900, Access::Write);
    machine.end(CLIENT, 1);
    assert!(!codes(instance(&once(&machine), SERVER)).contains(&"holders_unseen"));
    machine.hidden = None;
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Held);
    assert!(codes(server).contains(&"holders_unseen"));
    assert!(
        server.facts[0].text.contains("that can be seen"),
        "{}",
        server.facts[0].text
    );
}

#[test]
fn holders_beyond_those_named_are_counted() {
    let mut machine = on_pipes();
    for number in 300..320 {
        machine.add(number, CLIENT, "sleep 60");
        machine.pipe(number, 10, 900, Access::Write);
        machine.pipe(number, 11, 900, Access::Both);
    }
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    let end = stdin(server);
    assert_eq!((end.holder_count, end.holders.len()), (21, 8));
    let fact = server.facts.iter().find(|fact| fact.code == "more_holders");
    let text = fact.map_or("", |fact| fact.text.as_str());
    assert!(text.contains("306 and 13 more;"), "{text}");
}

fn stdin(instance: &Instance) -> &End {
    instance
        .stdio
        .as_ref()
        .and_then(|stdio| stdio.stdin.as_ref())
        .expect("stdin")
}

/// A machine whose client has let go, with something of process 400 that may hold the end.
fn unlisted(how: Hold) -> Machine {
    let mut machine = on_pipes();
    machine.end(CLIENT, 1);
    let process = machine.add(400, 1, "python worker.py").key;
    machine.unlisted.push(Unlisted { process, how });
    machine
}

const RING: Hold = Hold::Registered { fd: 5, inode: 900 };
const QUEUE: Hold = Hold::InFlight {
    fd: 7,
    count: 2,
    sender: None,
};

#[test]
fn an_end_that_may_be_held_without_a_descriptor_is_not_severed() {
    for (how, code, text, source, second) in [
        (
            RING,
            "registered_file",
            "400 python has it registered with the io_uring on its fd 5",
            "/proc/400/fdinfo/5",
            false,
        ),
        (
            Hold::Ring { fd: 5 },
            "ring_not_listed",
            "the kernel did not list them",
            "/proc/400/fdinfo/5",
            true,
        ),
        (
            QUEUE,
            "descriptors_in_flight",
            "2 descriptors in flight at the unix socket on fd 7 of 400 python",
            "/proc/400/fdinfo/7",
            true,
        ),
        (
            Hold::Threads { unread: 30 },
            "threads_unread",
            "30 threads of 400 python",
            "/proc/400/task/*/fd",
            true,
        ),
    ] {
        let mut run = Run::new();
        let judged = run.judge(&unlisted(how));
        let server = instance(&judged, SERVER);
        let fact = &server.facts[0];
        assert_eq!(
            (server.finding, fact.code.as_str()),
            (Finding::Unknown, code),
            "{fact:?}"
        );
        assert!(fact.text.contains(text), "{}", fact.text);
        assert_eq!(fact.source, source);
        assert_eq!(run.needs_second(), second, "{code}");
        assert_eq!(stdin(server).peer, PeerState::Hidden);
    }
}

#[test]
fn only_who_is_close_is_suspected_of_more_than_is_told() {
    let finding = |machine: &Machine| instance(&once(machine), SERVER).finding;
    let far = |how| {
        let mut machine = unlisted(how);
        machine.process(400).uid = Reading::Value(7);
        machine
    };
    for how in [QUEUE, Hold::Ring { fd: 5 }, Hold::Threads { unread: 3 }] {
        let mut machine = far(how);
        assert_eq!(finding(&machine), Finding::Severed);
        // A known client talks, whoever it runs as.
        machine.process(400).argv = Reading::Value(vec!["claude".into()]);
        assert_eq!(finding(&machine), Finding::Unknown);
    }
    // What is registered is told by its inode.
    assert_eq!(finding(&far(RING)), Finding::Unknown);
    let another = Hold::Registered { fd: 5, inode: 901 };
    assert_eq!(finding(&unlisted(another)), Finding::Severed);
    // A thread's table was looked into: what it holds is among the holders.
    let thread = Hold::Thread {
        thread: 401,
        fd: 5,
        inode: 900,
    };
    assert_eq!(finding(&unlisted(thread)), Finding::Severed);
}

#[test]
fn who_sent_it_counts_as_who_will_receive_it() {
    let mut machine = unlisted(QUEUE);
    machine.process(400).uid = Reading::Value(7);
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Severed);
    let sender = machine.add(500, 1, "python sender.py").key;
    machine.unlisted[0].how = Hold::InFlight {
        fd: 7,
        count: 1,
        sender: Some(sender),
    };
    assert_eq!(instance(&once(&machine), SERVER).finding, Finding::Unknown);
}

#[test]
fn a_client_that_holds_by_a_thread_is_named_with_it() {
    let mut machine = on_pipes();
    let process = machine.process(CLIENT).key;
    let how = Hold::Thread {
        thread: 4711,
        fd: 10,
        inode: 900,
    };
    machine.unlisted.push(Unlisted { process, how });
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.finding, Finding::Attached);
    let fact = server.facts.iter().find(|fact| fact.code == "client_holds");
    let fact = fact.expect("who holds it");
    assert!(fact.text.contains("on fd 10 of its thread 4711"), "{}", fact.text);
    assert_eq!(fact.source, format!("/proc/{CLIENT}/task/4711/fd"));
}

#[test]
fn a_peer_that_is_registered_says_so() {
    let mut machine = through_npx();
    machine.hide(CLIENT);
    let far = machine.sockets.unix.iter().find_map(|(inode, _)| {
        let judged = instance(&once(&machine), SERVER).clone();
        let own = stdin(&judged).inode?;
        (machine.sockets.unix.get(&own)?.peer == Some(*inode)).then_some(*inode)
    });
    let process = machine.process(CLIENT).key;
    let how = Hold::Registered {
        fd: 5,
        inode: far.expect("a peer"),
    };
    machine.unlisted.push(Unlisted { process, how });
    let judged = once(&machine);
    let server = instance(&judged, SERVER);
    assert_eq!(server.facts[0].code, "hidden_holder");
    let text = &server.facts[0].text;
    assert!(
        text.contains("registered with the io_uring on its fd 5"),
        "{text}"
    );
}
