//! The first page of a hand-over, and the evidence in its records: what whoever takes over reads first.

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
    assert_eq!((&page["older_twins"], &page["unknown"]), (&1.into(), &1.into()));
    append(&incident, Entry::Closed { remaining: None }, 3_000);
    assert_eq!(
        export(&incident).first_page.next_step,
        "nothing is asked for: the incident was closed with 2 servers (severed 1, held 1) seen and not handled"
    );
    append(&incident, note_on(900), 3_001);
    let left = export(&incident).first_page.not_handled.unwrap();
    assert_eq!(left.counted(), "1 server (held 1)", "a note is a record");
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
        assert!(
            last.iter().all(|line| line.starts_with("- server-1")),
            "{lines:?}"
        );
        assert_eq!(first.iter().map(String::as_str).next(), rest);
    }
}

fn lead(letter: &str, kind: LeadKind, target: &str, pid: u32) -> Lead {
    Lead {
        letter: letter.to_owned(),
        kind,
        target: target.into(),
        state: None,
        pid: kit::pid(pid),
        fd: None,
        meaning: "may act on its own".to_owned(),
        advice: None,
        last_sent_ms: None,
        last_received_ms: None,
    }
}

/// A helper of server 9 with a command line of many hundred characters, and leads that end and do not end
/// with their process.
fn with_a_helper() -> World {
    let mut world = kit::severed(&ARGV);
    let instance = &mut world.judged.instances[0];
    instance.helpers.push(kit::key(30));
    instance.reach = Some(vec![
        lead("a", LeadKind::Tcp, "10.2.0.4:443", 9),
        lead("b", LeadKind::Ssh, "build@10.2.0.9", 30),
        lead("c", LeadKind::CredentialName, "GITHUB_TOKEN", 9),
        lead("d", LeadKind::File, "/srv/app/tips.db-wal", 9),
        lead(
            "e",
            LeadKind::Child,
            &format!("chromium {}--last", "--flag ".repeat(90)),
            30,
        ),
    ]);
    let helper = kit::process(30, &["chromium"]);
    world.sample.processes.insert(kit::pid(30), Arc::new(helper));
    world
}

/// The lines of the first page on leads: open ones, others, gone ones.
fn leads_of(told: &Export) -> [Vec<String>; 3] {
    let page = &told.first_page;
    [
        page.open_leads.clone(),
        page.other_leads.clone(),
        page.gone_leads.clone(),
    ]
}

#[test]
fn leads_of_processes_that_are_gone_are_told_as_gone_and_what_may_outlive_them_stays_open() {
    let state = State::new();
    let long =
        "git (9): e child chromium --flag --flag --flag…ag --flag --flag --flag --last: may act on its own";
    let open = [
        "git (9): a tcp 10.2.0.4:443: not revoked",
        "git (9): b ssh build@10.2.0.9: not revoked",
        "git (9): c credential-name GITHUB_TOKEN: not revoked",
    ];
    let database = "git (9): d file /srv/app/tips.db-wal: may act on its own";
    let ended = "gone with process 9 at 2026-12-01 01:08:03Z";
    let elsewhere = "what was begun elsewhere over a connection is not known";
    let cases = [
        (None, None, open.to_vec(), vec![database, long], None),
        (
            Some(OutcomeKind::StillThere),
            None,
            open.to_vec(),
            vec![database, long],
            None,
        ),
        (
            Some(OutcomeKind::Exited),
            Some("left: helper chromium 30 (S)"),
            open[1..].to_vec(),
            vec![long],
            Some(format!(
                "git (9): {ended}: a tcp 10.2.0.4:443, d file /srv/app/tips.db-wal; {elsewhere}"
            )),
        ),
        (
            Some(OutcomeKind::Exited),
            Some("with it helper chromium 30; nothing left"),
            open[1..].to_vec(),
            Vec::new(),
            Some(format!(
                "git (9): {ended}: a tcp 10.2.0.4:443, d file /srv/app/tips.db-wal, e child chromium --flag --flag --flag…ag --flag --flag --flag --last; {elsewhere}"
            )),
        ),
    ];
    for (at, (outcome, detail, open, others, gone)) in cases.into_iter().enumerate() {
        let incident = kit::open(&state.store(), &format!("OPS-{at}"));
        save(&incident, &with_a_helper());
        if let Some(outcome) = outcome {
            term(&incident, &target(9), outcome, detail);
        }
        let told = export(&incident);
        assert_eq!(
            leads_of(&told),
            [
                open.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(),
                others.iter().map(|line| (*line).to_owned()).collect(),
                gone.into_iter().collect(),
            ],
            "{outcome:?} {detail:?}"
        );
        let whole = format!("chromium {}--last", "--flag ".repeat(90));
        let text = markdown::incident(&told);
        let (page, records) = text.split_once("\n## ").unwrap();
        assert!(
            page.lines().all(|line| line.len() < 400),
            "a long line on the first page: {page}"
        );
        assert!(records.contains(&whole), "{records}");
        let gone = "may act on its own; since then gone with process 9 at 2026-12-01 01:08:03Z";
        assert_eq!(
            records.contains(gone),
            outcome == Some(OutcomeKind::Exited),
            "{records}"
        );
    }
}

#[test]
fn who_is_not_in_a_later_snapshot_any_more_has_ended_unless_processes_are_hidden() {
    let state = State::new();
    for (hidden, ends) in [(None, true), (Some(0), true), (Some(3), false)] {
        let incident = kit::open(&state.store(), "OPS-1");
        save(&incident, &with_a_helper());
        let mut later = kit::world(3);
        later.sample.taken_at = kit::later(60_000);
        later.sample.hidden = hidden;
        save(&incident, &later);
        append(&incident, note_on(9), 60_001);
        let told = export(&incident);
        let [open, others, gone] = leads_of(&told);
        let page = told.first_page;
        if ends {
            assert_eq!((open.len(), others.len(), gone.len()), (2, 0, 1));
            assert!(
                gone[0].starts_with("git (9): gone with process 9: not there at 2026-12-01 01:09:02Z: a tcp"),
                "{gone:?}"
            );
            assert_eq!(page.next_step, "revoke b ssh build@10.2.0.9 of git (9)");
        } else {
            assert_eq!((open.len(), others.len(), gone.len()), (3, 2, 0), "{hidden:?}");
        }
    }
}

#[test]
fn a_connection_that_another_process_holds_too_does_not_end_with_the_first() {
    use mcpwake::model::descriptor::{Access, Descriptor, Target};
    use mcpwake::model::reading::Reading;
    for (other, open) in [(78, 0), (77, 1)] {
        let state = State::new();
        let incident = state.incident();
        let mut world = kit::severed(&ARGV);
        world.judged.instances[0].reach = Some(vec![Lead {
            fd: Some(7),
            ..lead("a", LeadKind::Tcp, "10.2.0.4:443", 9)
        }]);
        for (pid, inode) in [(9, 77), (2, other)] {
            let mut process = (*world.sample.processes[&kit::pid(pid)]).clone();
            process.descriptors = Reading::Value(vec![Descriptor {
                fd: 7,
                target: Target::Socket { inode },
                access: Reading::Value(Access::Both),
            }]);
            world.sample.processes.insert(kit::pid(pid), Arc::new(process));
        }
        save(&incident, &world);
        term(&incident, &target(9), OutcomeKind::Exited, Some("nothing left"));
        let page = export(&incident).first_page;
        assert_eq!(page.open_leads.len(), open, "{:?}", page.gone_leads);
        let step = if open == 0 {
            "close the incident"
        } else {
            "revoke a tcp"
        };
        assert!(page.next_step.starts_with(step), "{}", page.next_step);
    }
}

#[test]
fn a_record_says_below_its_table_why_it_is_a_leftover() {
    use mcpwake::model::finding::{Fact, Weight};
    let state = State::new();
    let incident = state.incident();
    let mut world = kit::severed(&ARGV);
    let instance = &mut world.judged.instances[0];
    let fact = |code: &str, text: &str, weight| Fact {
        code: code.to_owned(),
        text: text.to_owned(),
        source: "/proc/9/fd|".to_owned(),
        weight,
    };
    instance.facts = vec![
        fact("stdin_no_writer", "stdin | has *no* writer", Weight::Strong),
        fact("cwd_deleted", "its directory is deleted", Weight::Context),
    ];
    let leads = instance.reach.as_mut().unwrap();
    leads[0].last_sent_ms = Some(61_400);
    leads[0].last_received_ms = Some(3_000);
    leads[1].last_sent_ms = None;
    save(&incident, &world);
    let told = export(&incident);
    let text = markdown::incident(&told);
    let path = &told.snapshots[0].file.path;
    let lines = under(&text, "Evidence, from ");
    assert!(
        text.contains(&format!(
            "\n**Evidence, from `{path}` of 2026-12-01 01:08:02Z**\n"
        )),
        "{text}"
    );
    assert_eq!(
        lines,
        [
            "- severed: stdin \\| has \\*no\\* writer (`/proc/9/fd|`)",
            "- re-parented to init 1 (init): its parent is pid 1",
            "- started 2026-11-30 00:08:11Z as deploy (uid 1000), cwd `/srv/app`",
            "- identified by: configured: equals the entry \\`git\\`, in /home/deploy/.claude.json",
            "- lead a: tcp `10.2.0.4:443` ESTAB, of 9 fd 7, last sent on it 1m01s before the snapshot, last received on it 3s before the snapshot: a connection",
            "- lead b: ssh `/run/user/1000/ssh|control` ESTAB, of 9 fd 7: a connection",
        ]
    );
    // Behind the table, before the head.
    let follow_up = text.find("| Follow-up required |").unwrap();
    let (evidence, head) = (
        text.find("**Evidence").unwrap(),
        text.find("journal `#2`").unwrap(),
    );
    assert!(follow_up < evidence && evidence < head, "{text}");
    let json = serde_json::to_value(&told).unwrap();
    let seen = &json["records"][0]["evidence"];
    assert_eq!(
        (&seen["finding"], &seen["lineage"], &seen["cwd"]),
        (&"severed".into(), &"reparented".into(), &"/srv/app".into())
    );
    assert_eq!(seen["facts"].as_array().map(Vec::len), Some(1));
    assert_eq!(seen["facts"][0]["source"], "/proc/9/fd|");
    let lead = &seen["leads"][0];
    assert_eq!(
        (&lead["letter"], &lead["state"], &lead["last_sent_ms"]),
        (&"a".into(), &"ESTAB".into(), &61_400.into())
    );
    // Traffic is no action: the field stays empty.
    let attempt = json["records"][0]["fields"][7].clone();
    assert_eq!(
        (&attempt["name"], &attempt["value"]),
        (&"last_attempt".into(), &serde_json::Value::Null)
    );
}

#[test]
fn the_newest_notes_on_the_incident_are_on_the_first_page_and_those_on_a_server_have_a_heading() {
    let state = State::new();
    let incident = state.incident();
    save(&incident, &kit::severed(&ARGV));
    append(&incident, note_on(9), 0);
    for number in 1..=7 {
        append(&incident, kit::note(&format!("shift note {number}")), number);
    }
    let text = markdown::incident(&export(&incident));
    let newest = under(&text, "Notes on the incident, the newest first");
    assert_eq!(newest.len(), 6, "{newest:?}");
    for (line, number) in newest.iter().zip([7, 6, 5, 4, 3]) {
        assert!(line.ends_with(&format!(": shift note {number}")), "{newest:?}");
    }
    assert_eq!(newest[5], "- and 2 earlier, below the records");
    let (before, earlier) = text.split_once("\n## Earlier notes on the incident\n\n").unwrap();
    assert_eq!(earlier.lines().count(), 2, "{earlier}");
    assert!(earlier.contains("shift note 1") && earlier.contains("shift note 2"));
    // On the first page: before the first record.
    let record = text.find("\n## Leftover MCP server").unwrap();
    assert!(text.find("shift note 3").unwrap() < record, "{text}");
    let (_, behind) = before.split_once("journal `#").unwrap();
    assert!(behind.contains("\n**Notes on git (9)**\n\n- 2026-"), "{behind}");
    assert_eq!(text.matches("shift note 7").count(), 1);
}

#[test]
fn a_signal_is_told_with_name_and_pid_first() {
    let helper = TargetRef {
        key: kit::key(30),
        argv: vec!["/opt/chromium/chrome --type=renderer".to_owned()],
        ..target(9)
    };
    let alone = TargetRef {
        instance: None,
        ..helper.clone()
    };
    for (target, called) in [
        (target(9), "git 9 (key 9-900)"),
        (helper, "chrome 30 of git 9 (key 30-3000)"),
        (alone, "chrome 30 (key 30-3000)"),
    ] {
        let state = State::new();
        let incident = state.incident();
        term(&incident, &target, OutcomeKind::Exited, None);
        let told: Vec<String> = export(&incident)
            .first_page
            .done
            .into_iter()
            .map(|event| event.what)
            .collect();
        assert_eq!(
            told[1..],
            [
                format!("announced TERM to {called} by pidfd"),
                format!("sent TERM to {called} by pidfd"),
                format!("TERM to {called}: exited after 212 ms"),
            ]
        );
    }
}
