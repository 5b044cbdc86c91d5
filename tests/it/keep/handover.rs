//! The first page of a hand-over, and the evidence in its records: what whoever takes over reads first.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpwake::journal::entry::{OutcomeKind, SnapshotReason};
use mcpwake::journal::export::Export;
use mcpwake::journal::{Entry, InstanceRef, Subject, TargetRef, markdown};
use mcpwake::model::finding::{Finding, Lead, LeadKind};
use mcpwake::model::world::World;
use mcpwake::store::Incident;

use super::kit::{self, State};

const ARGV: [&str; 3] = ["python", "-m", "mcp_server_git"];

fn save(incident: &Incident, world: &World) {
    incident
        .save(&kit::snapshot(world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
}

fn append(incident: &Incident, entry: Entry, at: i64) {
    incident.append(entry, &kit::operator(), kit::later(at)).unwrap();
}

fn export(incident: &Incident) -> Export {
    incident.tell().unwrap().export(&kit::redactor())
}

/// What stands under a heading of the first page.
fn under(text: &str, heading: &str) -> Vec<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with(&format!("**{heading}")));
    assert!(lines.next().is_some(), "no {heading}: {text}");
    lines
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn target(server: u32) -> TargetRef {
    TargetRef {
        key: kit::key(server),
        pidfd_inode: None,
        argv: ARGV.map(str::to_owned).into(),
        instance: Some(InstanceRef::of(&kit::instance(server))),
    }
}

/// A TERM to a process, and what became of it.
fn term(incident: &Incident, target: &TargetRef, outcome: OutcomeKind, detail: Option<&str>) {
    let signal = "TERM".to_owned();
    let announced = Entry::AboutToSignal {
        signal: signal.clone(),
        targets: vec![target.clone()],
        way: "pidfd".to_owned(),
    };
    append(incident, announced, 40);
    let sent = Entry::Sent {
        signal: signal.clone(),
        target: target.clone(),
        way: "pidfd".to_owned(),
        refused: None,
        announced: None,
    };
    append(incident, sent, 1_000);
    let outcome = Entry::Outcome {
        signal,
        target: target.clone(),
        outcome,
        after_ms: Some(212),
        detail: detail.map(str::to_owned),
        announced: None,
    };
    append(incident, outcome, 2_000);
}

/// A world with servers of these pids; the first has the leads of `kit`, the others none.
fn several(servers: &[(u32, Finding)]) -> World {
    let mut world = kit::severed(&ARGV);
    world.judged.instances.clear();
    for (at, (pid, finding)) in servers.iter().enumerate() {
        let mut instance = kit::instance(*pid);
        instance.finding = *finding;
        instance.name = format!("server-{pid}").into();
        if at > 0 {
            instance.reach = Some(Vec::new());
        }
        world.judged.instances.push(instance);
        world
            .sample
            .processes
            .insert(kit::pid(*pid), Arc::new(kit::process(*pid, &ARGV)));
    }
    world
}

/// Somebody wrote a note on a server: it is in the journal.
fn note_on(server: u32) -> Entry {
    Entry::Note {
        on: Some(Subject::Instance(InstanceRef::of(&kit::instance(server)))),
        text: "stays, it is a test bed".to_owned(),
    }
}

#[test]
fn servers_that_nobody_has_handled_are_on_the_first_page_those_that_can_act_first() {
    let state = State::new();
    let incident = state.incident();
    assert!(export(&incident).first_page.not_handled.is_none());
    let mut world = several(&[
        (900, Finding::Severed),
        (9, Finding::Severed),
        (20, Finding::Held),
        (21, Finding::Attached),
        (22, Finding::Attached),
        (23, Finding::Unknown),
    ]);
    world.judged.instances[4].older_twin = true;
    save(&incident, &world);
    term(&incident, &target(9), OutcomeKind::Exited, Some("nothing left"));
    let told = export(&incident);
    let text = markdown::incident(&told);
    assert_eq!(
        under(
            &text,
            "Seen, not handled: 2 servers (severed 1, held 1) in the snapshot of 2026-12-01 01:08:02Z"
        ),
        [
            "- server-900 (900): severed, can act: ssh, tcp",
            "- server-20 (20): held, no lead seen",
            "- beside them: 1 attached of which a younger twin runs: their session may have ended; 1 of which the finding is unknown",
        ]
    );
    assert_eq!(
        under(&text, "Next step"),
        [
            "- look at 2 servers (severed 1, held 1), seen 2026-12-01 01:08:02Z and not handled; first server-900 (900): severed, can act: ssh, tcp; or note why they stay"
        ]
    );
    let json = serde_json::to_value(&told).unwrap();
    let page = &json["first_page"]["not_handled"];
    assert_eq!(page["taken_at"], "2026-12-01T01:08:02.123Z");
    assert_eq!(page["snapshot"]["path"], json["snapshots"][0]["file"]["path"]);
    assert_eq!(page["findings"], serde_json::json!({"severed": 1, "held": 1}));
    assert_eq!(page["servers"][0]["instance"]["id"], "900-90000");
    assert_eq!(
        page["servers"][0]["reach"],
        serde_json::json!({"ssh": 1, "tcp": 1})
    );
    assert_eq!(
        (&page["older_twins"], &page["unknown"]),
        (&1.into(), &1.into())
    );
    append(&incident, note_on(900), 3_000);
    append(&incident, Entry::Closed { remaining: None }, 3_001);
    let closed = export(&incident).first_page.next_step;
    assert_eq!(
        closed,
        "nothing is asked for: the incident was closed with 1 server (held 1) seen and not handled"
    );
}

#[test]
fn of_many_servers_that_nobody_has_handled_the_rest_is_counted() {
    for (count, named, rest) in [
        (10, 10, None),
        (11, 11, None),
        (12, 10, Some("- and 2 servers (severed 2) more, in the snapshot")),
    ] {
        let state = State::new();
        let incident = state.incident();
        let servers: Vec<_> = (0..count).map(|at| (100 + at, Finding::Severed)).collect();
        save(&incident, &several(&servers));
        let text = markdown::incident(&export(&incident));
        let lines = under(&text, &format!("Seen, not handled: {count} servers"));
        let (last, first) = lines.split_at(named);
        assert!(last.iter().all(|line| line.starts_with("- server-1")), "{lines:?}");
        assert_eq!(first.iter().map(String::as_str).next(), rest);
    }
}
