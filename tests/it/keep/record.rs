//! The record of an instance, from the first snapshot to the last outcome, as its fields and next steps.

use std::sync::Arc;

use mcpwake::journal::entry::{FieldName, FieldSource, OutcomeKind, SinceRevoked, SnapshotReason};
use mcpwake::journal::record::plain;
use mcpwake::journal::story::Thread;
use mcpwake::journal::{Entry, Evidence, InstanceRef, LeadRef, Record, TargetRef, markdown};
use mcpwake::model::instance::Instance;
use mcpwake::model::world::World;
use mcpwake::store::Incident;

use super::kit::{self, State};

pub(super) const ARGV: [&str; 5] = ["python", "-m", "mcp_server_git", "--repository", "/srv/app"];

fn the_instance(world: &World) -> &Instance {
    &world.judged.instances[0]
}

fn leads(world: &World) -> Vec<LeadRef> {
    the_instance(world)
        .reach
        .iter()
        .flatten()
        .map(LeadRef::of)
        .collect()
}

fn target() -> TargetRef {
    TargetRef {
        key: kit::key(9),
        pidfd_inode: Some(7009),
        argv: ARGV.map(str::to_owned).into(),
        instance: Some(InstanceRef::of(&kit::instance(9))),
    }
}

fn append(incident: &Incident, entry: Entry, at: i64) {
    incident.append(entry, &kit::operator(), kit::later(at)).unwrap();
}

fn revoked(lead: &LeadRef, at: i64) -> Entry {
    Entry::Revoked {
        on: target().instance.unwrap(),
        lead: lead.clone(),
        revoked_at: kit::later(at),
        by: Some("ana at the gateway".to_owned()),
        how: None,
        done_by: None,
        done_at: None,
    }
}

fn denied(lead: &LeadRef, at: i64) -> Entry {
    Entry::Denied {
        on: target().instance.unwrap(),
        lead: lead.clone(),
        denied_at: kit::later(at),
        how: Some("token introspection: inactive".to_owned()),
        done_by: None,
        done_at: None,
    }
}

fn field(record: &Record, name: FieldName) -> String {
    let field = record.fields.iter().find(|field| field.name == name).unwrap();
    plain(&field.value)
}

fn next_step(incident: &Incident) -> String {
    incident
        .tell()
        .unwrap()
        .export(&kit::redactor())
        .first_page
        .next_step
}

fn follow_up(value: &str) -> Entry {
    Entry::Field {
        on: target().instance.unwrap(),
        field: FieldName::FollowUp,
        value: value.to_owned(),
        source: FieldSource::Entered,
    }
}

/// Walks the procedure; after each step the first page names the next one.
#[test]
fn the_next_step_follows_the_procedure() {
    let state = State::new();
    let incident = state.incident();
    let world = kit::severed(&ARGV);
    let leads = leads(&world);
    assert!(next_step(&incident).starts_with("save a snapshot"));
    incident
        .save(&kit::snapshot(&world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    assert_eq!(next_step(&incident), "revoke a tcp 10.2.0.4:443 of git (9)");
    append(&incident, revoked(&leads[0], 10), 11);
    assert_eq!(
        next_step(&incident),
        "revoke b ssh /run/user/1000/ssh|control of git (9)"
    );
    append(&incident, revoked(&leads[1], 20), 21);
    assert_eq!(
        next_step(&incident),
        "verify that a tcp 10.2.0.4:443 of git (9) is denied"
    );
    append(&incident, denied(&leads[0], 30), 31);
    append(&incident, denied(&leads[1], 32), 33);
    assert_eq!(
        next_step(&incident),
        "end git (9) with TERM, or say in its follow-up why it stays"
    );
    let stays = "stays: the data team decides";
    append(&incident, follow_up(stays), 34);
    let page = incident.tell().unwrap().export(&kit::redactor()).first_page;
    assert_eq!(page.follow_ups, [format!("git (9): {stays}")]);
    assert!(
        page.next_step.starts_with("close the incident"),
        "{}",
        page.next_step
    );
    append(&incident, follow_up(""), 35);
    let announced = Entry::AboutToSignal {
        signal: "TERM".to_owned(),
        targets: vec![target()],
        way: "pidfd".to_owned(),
    };
    append(&incident, announced, 40);
    assert!(next_step(&incident).starts_with("look again at git (9): TERM to 9 announced"));
    let sent = Entry::Sent {
        signal: "TERM".to_owned(),
        target: target(),
        way: "pidfd".to_owned(),
        refused: None,
        announced: None,
    };
    append(&incident, sent, 41);
    assert!(next_step(&incident).ends_with("outcome not recorded"));
    let outcome = |outcome, after_ms| Entry::Outcome {
        signal: "TERM".to_owned(),
        target: target(),
        outcome,
        after_ms,
        detail: None,
        announced: None,
    };
    append(&incident, outcome(OutcomeKind::StillThere, None), 42);
    assert!(next_step(&incident).ends_with("still there"));
    append(&incident, outcome(OutcomeKind::Exited, Some(212)), 43);
    assert_eq!(
        next_step(&incident),
        "close the incident: mcpwake incident close, or Alt-i"
    );
    let remaining = Some("look for the push on the remote".to_owned());
    append(&incident, Entry::Closed { remaining }, 50);
    assert_eq!(next_step(&incident), "look for the push on the remote");
    append(&incident, Entry::Closed { remaining: None }, 51);
    assert_eq!(next_step(&incident), "nothing: the incident is closed");
}

#[test]
fn a_process_that_is_part_of_no_instance_is_not_called_a_server() {
    let state = State::new();
    let incident = state.incident();
    for (instance, expected) in [
        (None, "## Process: "),
        (target().instance, "## Leftover MCP server: "),
    ] {
        let entry = Entry::AboutToSignal {
            signal: "TERM".to_owned(),
            targets: vec![TargetRef { instance, ..target() }],
            way: "pidfd".to_owned(),
        };
        append(&incident, entry, 10);
        let text = markdown::incident(&incident.tell().unwrap().export(&kit::redactor()));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn of_two_operators_at_once_each_outcome_is_that_of_its_own_signal() {
    let state = State::new();
    let incident = state.incident();
    let announce = |at| {
        let entry = Entry::AboutToSignal {
            signal: "KILL".to_owned(),
            targets: vec![target()],
            way: "pidfd".to_owned(),
        };
        let receipt = incident.append(entry, &kit::operator(), kit::later(at)).unwrap();
        receipt.head().seq
    };
    let sent = |announced| Entry::Sent {
        signal: "KILL".to_owned(),
        target: target(),
        way: "pidfd".to_owned(),
        refused: None,
        announced: Some(announced),
    };
    let outcome = |outcome, after_ms, announced| Entry::Outcome {
        signal: "KILL".to_owned(),
        target: target(),
        outcome,
        after_ms,
        detail: None,
        announced: Some(announced),
    };
    let first = announce(10);
    let second = announce(11);
    append(&incident, sent(first), 12);
    append(&incident, outcome(OutcomeKind::AlreadyGone, None, second), 13);
    append(&incident, outcome(OutcomeKind::Exited, Some(2), first), 14);
    let export = incident.tell().unwrap().export(&kit::redactor());
    let signals = &export.records[0].signals;
    let told: Vec<_> = signals
        .iter()
        .map(|state| {
            let found = state.outcome.as_ref().map(|found| found.outcome);
            (state.announced, state.was_sent(), found)
        })
        .collect();
    assert_eq!(
        told,
        [
            (first, true, Some(OutcomeKind::Exited)),
            (second, false, Some(OutcomeKind::AlreadyGone)),
        ]
    );
    let field = &export.records[0].fields;
    let field = field
        .iter()
        .find(|one| one.name == FieldName::Termination)
        .unwrap();
    let line = plain(&field.value);
    assert!(
        line.contains("exited after 2 ms; KILL not sent") && line.ends_with("already gone"),
        "{line}"
    );
    let end = export.records[0].ended.expect("its end").at;
    assert_eq!(end.map(|at| at.0 - kit::later(12).0), Some(2));
}

#[test]
fn the_fields_say_what_was_seen_entered_and_not_recorded() {
    let state = State::new();
    let incident = state.incident();
    let world = kit::severed(&ARGV);
    let (kept, _) = incident
        .save(&kit::snapshot(&world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    let leads = leads(&world);
    let on = target().instance.unwrap();
    append(&incident, revoked(&leads[0], 10), 11);
    append(&incident, denied(&leads[0], 20), 21);
    append(
        &incident,
        Entry::Field {
            on: on.clone(),
            field: FieldName::LastAttempt,
            value: "2026-11-27 23:31:02Z git_push, outcome not recorded".to_owned(),
            source: FieldSource::Entered,
        },
        30,
    );
    append(
        &incident,
        Entry::ClientUnavailable {
            on: on.clone(),
            after: Some(kit::later(-5_000)),
            before: None,
            basis: "last record".to_owned(),
            source: FieldSource::Entered,
        },
        31,
    );
    let counts = SinceRevoked {
        connections_opened: Some(2),
        ..SinceRevoked::default()
    };
    append(&incident, Entry::SinceRevoked { on, counts }, 32);
    let export = incident.tell().unwrap().export(&kit::redactor());
    assert_eq!(export.problems, Vec::<String>::new());
    let [record] = &export.records[..] else {
        panic!("{:?}", export.records)
    };
    assert_eq!(
        field(record, FieldName::ObservedAt),
        format!(
            "2026-12-01 01:08:02Z, snapshot sha256 {} (mcpwake {})",
            kept.sha256,
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(
        field(record, FieldName::Server),
        "9 (start key 900) python -m mcp_server_git --repository /srv/app"
    );
    assert_eq!(
        field(record, FieldName::Parent),
        "1 (init), earlier parent not observed · pgid 9"
    );
    assert_eq!(
        field(record, FieldName::Session),
        format!("{} (CLAUDE_CODE_SESSION_ID of the server, exact)", kit::SESSION)
    );
    assert_eq!(
        field(record, FieldName::Authorization),
        "revoked 1 of 2, denial verified 1 of 2"
    );
    assert_eq!(field(record, FieldName::LastSuccess), "");
    assert_eq!(field(record, FieldName::FollowUp), "revoke b");
    let client = field(record, FieldName::Client);
    assert!(
        client.starts_with("not observed; Claude Code by configuration · unavailable between"),
        "{client}"
    );
    assert_eq!(record.since_revoked, Some(counts));
    assert_eq!(record.times.authority_revoked_first, Some(kit::later(10)));
    assert!(record.times.last_action_started.is_some() && record.times.client_unavailable.is_some());
    assert_eq!(record.fields.len(), 13);
}

#[test]
fn what_was_entered_is_not_called_observed_and_a_denial_without_a_check_is_counted_apart() {
    let state = State::new();
    let incident = state.incident();
    let world = kit::severed(&ARGV);
    incident
        .save(&kit::snapshot(&world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    let source = |name| {
        let export = incident.tell().unwrap().export(&kit::redactor());
        let record = &export.records[0];
        let field = record
            .fields
            .iter()
            .find(|field| field.name == name)
            .unwrap()
            .clone();
        (field.source, field.operator, plain(&field.value), export)
    };
    let (from, by, ..) = source(FieldName::Authorization);
    assert_eq!(
        (from, by),
        (Some(FieldSource::Entered), None),
        "it counts entries, of which there is none yet"
    );
    let leads = leads(&world);
    append(&incident, revoked(&leads[0], 10), 11);
    append(&incident, denied(&leads[0], 20), 21);
    for how in [None, Some("  ".to_owned())] {
        let unnamed = Entry::Denied {
            on: target().instance.unwrap(),
            lead: leads[1].clone(),
            denied_at: kit::later(30),
            how,
            done_by: None,
            done_at: None,
        };
        append(&incident, unnamed, 31);
        let (from, by, value, export) = source(FieldName::Authorization);
        assert_eq!((from, by), (Some(FieldSource::Entered), Some(kit::operator())));
        assert_eq!(
            value,
            "revoked 1 of 2, denial verified 1 of 2, 1 without a named check"
        );
        let (from, _, value, _) = source(FieldName::Revocation);
        assert_eq!(from, Some(FieldSource::Entered));
        assert!(
            value.contains(
                "denied 2026-12-01 01:08:02Z, check not named · seen since then: nothing was counted"
            ),
            "{value}"
        );
        let (_, _, value, _) = source(FieldName::FollowUp);
        assert_eq!(value, "name the check that denied b");
        assert_eq!(
            export.first_page.open_leads,
            [
                "git (9): b ssh /run/user/1000/ssh|control: not revoked, denied 2026-12-01 01:08:02Z, check not named"
            ]
        );
        assert!(
            export
                .first_page
                .next_step
                .starts_with("name the check that showed that b ssh")
        );
        let markdown = markdown::incident(&export);
        for part in [
            "by ana at the gateway",
            "(token introspection: inactive)",
            "check not named",
        ] {
            assert!(markdown.contains(part), "{part}: {markdown}");
        }
    }
}

#[test]
fn leads_that_nobody_can_revoke_are_exported_under_their_own_heading() {
    let state = State::new();
    let incident = state.incident();
    let mut world = kit::severed(&ARGV);
    let instance = &mut world.judged.instances[0];
    let lead = instance.reach.as_ref().unwrap()[0].clone();
    let database = mcpwake::model::finding::Lead {
        kind: mcpwake::model::finding::LeadKind::File,
        target: "/srv/app/tips.db-wal".into(),
        meaning: "an open database: KILL may leave it in need of recovery".to_owned(),
        ..lead
    };
    instance.reach = Some(vec![database]);
    incident
        .save(&kit::snapshot(&world), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    let export = incident.tell().unwrap().export(&kit::redactor());
    let record = &export.records[0];
    assert_eq!(
        field(record, FieldName::Authorization),
        "no authority seen; other leads: 1 file"
    );
    let markdown = markdown::incident(&export);
    assert!(
        markdown.contains("**Open leads**\n\n- authorities: none seen\n"),
        "{markdown}"
    );
    let heading = "**Leads that nobody can revoke: files, locks, children, listeners**\n\n- git (9): a file /srv/app/tips.db-wal: an open database";
    assert!(markdown.contains(heading), "{markdown}");
}

#[test]
fn a_client_and_a_parent_that_earlier_samples_showed_are_in_the_record() {
    let state = State::new();
    let incident = state.incident();
    let mut later = kit::severed(&ARGV);
    let mut world = later.clone();
    let client = kit::process(5, &["claude", "--resume"]);
    let instance = &mut world.judged.instances[0];
    instance.adopter = None;
    instance.client = Some(mcpwake::model::instance::ClientRef {
        process: client.key,
        id: None,
        name: "claude".into(),
        state: 'S',
        on_wire: true,
    });
    world.sample.processes.insert(kit::pid(5), Arc::new(client));
    let mut server = kit::process(9, &ARGV);
    server.ppid = Some(kit::pid(5));
    world.sample.processes.insert(kit::pid(9), Arc::new(server));
    later.sample.taken_at = kit::later(60_000);
    for world in [&world, &later] {
        incident
            .save(&kit::snapshot(world), SnapshotReason::Freeze, &kit::operator())
            .unwrap();
    }
    append(&incident, revoked(&leads(&later)[0], 70_000), 70_001);
    let export = incident.tell().unwrap().export(&kit::redactor());
    let record = &export.records[0];
    assert_eq!(
        field(record, FieldName::Parent),
        "1 (init), before it 5 (claude), last seen 2026-12-01 01:08:02Z · pgid 9"
    );
    let told = field(record, FieldName::Client);
    assert!(
        told.starts_with("5 (start key 500) claude --resume last seen 2026-12-01 01:08:02Z, gone since · unavailable between 2026-12-01 01:08:02Z and 2026-12-01 01:09:02Z (client 5 (claude) was in the first of these samples, not in the second; observed)"),
        "{told}"
    );
    let unavailable = record.times.client_unavailable.as_ref().unwrap();
    assert_eq!(
        (unavailable.after, unavailable.before, unavailable.source),
        (Some(kit::NOW), Some(kit::later(60_000)), FieldSource::Observed)
    );
    // Its interval alone is on disk: it was seen, though no snapshot shows it.
    let journalled = Entry::ClientUnavailable {
        on: target().instance.unwrap(),
        after: Some(kit::NOW),
        before: Some(kit::later(60_000)),
        basis: "client 5 (claude) was in the first of these samples, not in the second".to_owned(),
        source: FieldSource::Observed,
    };
    let other = kit::open(&state.store(), "OPS-2");
    other
        .save(&kit::snapshot(&later), SnapshotReason::Freeze, &kit::operator())
        .unwrap();
    append(&other, journalled, 1);
    let export = other.tell().unwrap().export(&kit::redactor());
    let told = field(&export.records[0], FieldName::Client);
    assert!(
        told.starts_with("not in this snapshot; Claude Code by configuration · unavailable between"),
        "{told}"
    );
    // A single sample that was saved: its judgement names the parent before.
    let mut alone = later;
    alone.judged.instances[0]
        .facts
        .push(mcpwake::model::finding::Fact {
            code: "reparented_seen".to_owned(),
            text: "its parent is init (1): it was 5 in an earlier sample".to_owned(),
            source: "/proc/9/stat".to_owned(),
            weight: mcpwake::model::finding::Weight::Supporting,
        });
    let evidence = Evidence {
        file: None,
        kept: None,
        program: "mcpwake".to_owned(),
        world: Arc::new(alone),
    };
    let thread = Thread::new(target().instance.unwrap());
    let record = Record::new(&thread, Some(&evidence), &kit::redactor());
    assert_eq!(
        field(&record, FieldName::Parent),
        "1 (init), it was 5 in an earlier sample · pgid 9"
    );
}
