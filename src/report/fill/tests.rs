//! What the inventory and the evidence say of worlds made by hand.

use serde_json::Value;

use super::*;
use crate::model::bytes::OsBytes;
use crate::model::descriptor::Target;
use crate::model::finding::Finding;
use crate::model::process::Process;
use crate::model::reading::{Absence, Reading};
use crate::model::sample;
use crate::report::worlds::{HOSTILE, bare_instance, full_world, key, pid, process, world};

fn redactor() -> Redactor {
    Redactor::builtin().expect("the built-in rules")
}

fn json(world: &World, selection: &Selection) -> Value {
    serde_json::to_value(inventory(world, selection, &redactor())).unwrap()
}

/// Returns the entry of one process.
fn process_of(inventory: &Value, pid: u32) -> &Value {
    let processes = inventory["processes"].as_array().unwrap();
    processes.iter().find(|one| one["pid"] == pid).unwrap()
}

/// The keys of DESIGN section 5, by hand: a key that goes missing breaks a script somewhere.
const CONTRACT: [(&str, &str); 15] = [
    ("", "schema taken_at host instances processes problems"),
    (
        "/host",
        "hostname os kernel boot_id booted_at user uid visibility processes readable",
    ),
    (
        "/instances/0",
        "id name transport finding lineage adopter managed container via network server_pid launcher_pids \
         helper_pids client identified_by stdio reach twins older_twin facts activity",
    ),
    ("/instances/0/adopter", "pid kind name"),
    ("/instances/0/managed", "by unit"),
    ("/instances/0/container", "engine id"),
    ("/instances/0/via", "instance finding"),
    ("/instances/0/network", "listens peers"),
    ("/instances/0/client", "pid id name state"),
    (
        "/instances/0/identified_by",
        "confidence rule because file server_name",
    ),
    ("/instances/0/stdio", "stdin stdout stderr"),
    (
        "/instances/0/stdio/stdin",
        "fd pid kind inode access peer holders",
    ),
    ("/instances/0/stdio/stdin/holders/0", "pid fd access relation"),
    (
        "/instances/0/reach/0",
        "letter kind target state pid fd meaning last_sent_ms last_received_ms",
    ),
    ("/instances/0/facts/0", "code text source weight"),
];

const PROCESS: &str = "pid ppid pgid sid tty state stat uid user start_time start_key elapsed_s cpu_percent \
                       rss_bytes comm argv exe cwd roles";

fn has_keys(value: &Value, at: &str, keys: &str) {
    let object = value
        .pointer(at)
        .and_then(Value::as_object)
        .unwrap_or_else(|| panic!("{at}"));
    for key in keys.split_whitespace() {
        assert!(object.contains_key(key), "{at} has no {key}");
    }
}

#[test]
fn every_key_of_the_contract_is_there() {
    let value = json(&full_world(), &Selection::default());
    for (at, keys) in CONTRACT {
        has_keys(&value, at, keys);
    }
    for number in 0..value["processes"].as_array().unwrap().len() {
        has_keys(&value, &format!("/processes/{number}"), PROCESS);
    }
    has_keys(&value, "/processes/1/roles/0", "instance role");
    has_keys(&value, "/problems/0", "pid what kind detail");
}

#[test]
fn keys_stay_where_nothing_is_known() {
    let mut one = process(5, 0, &[]);
    one.argv = Reading::Denied;
    one.user = Reading::Denied;
    one.uid = Reading::Denied;
    one.exe = Reading::Denied;
    one.cwd = Reading::Denied;
    one.cpu_permille = None;
    let value = json(
        &world(vec![one], vec![bare_instance(5, Finding::Unknown)]),
        &Selection::default(),
    );
    has_keys(&value, "/instances/0", CONTRACT[2].1);
    has_keys(&value, "/processes/0", PROCESS);
    for null in [
        "adopter",
        "managed",
        "container",
        "via",
        "network",
        "client",
        "stdio",
        "reach",
        "activity",
    ] {
        assert!(value["instances"][0][null].is_null(), "{null}");
    }
    for null in [
        "ppid",
        "tty",
        "uid",
        "user",
        "cpu_percent",
        "argv",
        "argv_base64",
        "exe",
        "cwd",
    ] {
        assert!(value["processes"][0][null].is_null(), "{null}");
    }
    let problems = value["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0]["what"], "uid, user, argv, exe, cwd");
    assert_eq!(problems[0]["kind"], "denied");
    assert_eq!(problems[1]["what"], "cpu_percent");
}

#[test]
fn text_is_exact_and_bytes_are_kept() {
    let value = json(&full_world(), &Selection::default());
    let server = process_of(&value, 48_271);
    assert_eq!(server["comm"], "a\u{1b}[31m\u{202e}\nb\\xff");
    let argv: Vec<&str> = server["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    assert_eq!(argv[..4], ["python", "-m", "mcp_server_git", "x y"]);
    let decode = |value: &Value| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD
            .decode(value.as_str().unwrap())
            .unwrap()
    };
    assert_eq!(decode(&server["argv_base64"][3]), b"x y");
    assert_eq!(decode(&server["argv_base64"][4]), HOSTILE);
    assert_eq!(decode(&server["comm_base64"]), HOSTILE);
    assert_eq!(decode(&value["instances"][0]["name_base64"]), HOSTILE);
    assert_eq!(
        decode(&value["instances"][0]["reach"][0]["target_base64"]),
        HOSTILE
    );
    let client = process_of(&value, 900);
    assert!(client["argv_base64"].is_null());
    assert!(client.get("comm_base64").is_none());
}

#[test]
fn times_and_numbers_have_their_units() {
    let value = json(&full_world(), &Selection::default());
    assert_eq!(value["schema"], "mcpwake.inventory/1");
    assert_eq!(value["taken_at"], "2023-11-16T02:00:00.500Z");
    let server = process_of(&value, 48_271);
    assert_eq!(server["start_key"], 4_827_100);
    assert_eq!(server["elapsed_s"], 51_729.5);
    assert_eq!(server["start_time"], "2023-11-15T11:37:51.000Z");
    assert_eq!(server["cpu_percent"], 98.5);
    assert_eq!(value["instances"][0]["id"], "48271-4827100");
}

#[test]
fn processes_are_those_around_the_instances_or_all() {
    let pids = |value: &Value| -> Vec<u64> {
        value["processes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["pid"].as_u64().unwrap())
            .collect()
    };
    let around = json(&full_world(), &Selection::default());
    assert_eq!(pids(&around), [1, 900, 48_270, 48_271, 48_290, 60_000]);
    let all = json(
        &full_world(),
        &Selection {
            all: true,
            ..Selection::default()
        },
    );
    assert_eq!(pids(&all), [1, 900, 48_270, 48_271, 48_290, 60_000, 70_000]);
    let none = json(
        &full_world(),
        &Selection {
            findings: vec![Finding::Held],
            ..Selection::default()
        },
    );
    assert_eq!(pids(&none), [0; 0]);
    assert_eq!(none["instances"], serde_json::json!([]));
}

#[test]
fn a_circle_of_parents_ends() {
    let looped = world(
        vec![process(5, 6, &[b"a"]), process(6, 5, &[b"b"])],
        vec![bare_instance(5, Finding::Held)],
    );
    assert_eq!(
        json(&looped, &Selection::default())["processes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn instances_in_trouble_come_first_then_the_oldest() {
    let instances = vec![
        bare_instance(9, Finding::Attached),
        bare_instance(8, Finding::Severed),
        bare_instance(7, Finding::Attached),
        bare_instance(6, Finding::Held),
    ];
    let world = world(
        (6..10).map(|number| process(number, 1, &[b"x"])).collect(),
        instances,
    );
    let order: Vec<u32> = inventory(&world, &Selection::default(), &redactor())
        .instances
        .iter()
        .filter_map(|instance| instance.server_pid)
        .collect();
    assert_eq!(order, [8, 6, 7, 9]);
}

#[test]
fn a_session_is_an_identifier_or_a_process_session() {
    let found = |session: &str| {
        let selection = Selection {
            session: Some(session.to_owned()),
            ..Selection::default()
        };
        selection.instances(&full_world()).len()
    };
    assert_eq!(found("0c5e-11"), 1);
    assert_eq!(found("0c5e"), 0);
    assert_eq!(found("48271"), 1, "the server's process session");
    assert_eq!(
        found("4242"),
        0,
        "a pid that is kept as an identifier is no session"
    );
    assert_eq!(found(""), 0);
}

#[test]
fn one_problem_row_per_process_and_reason() {
    let value = json(&full_world(), &Selection::default());
    let of: Vec<&Value> = value["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["pid"] == 48_290)
        .collect();
    assert_eq!(of.len(), 2, "{of:?}");
    assert_eq!(of[0]["what"], "exe, cwd");
    assert!(of[0]["detail"].as_str().unwrap().contains("root"));
    assert_eq!(of[1]["what"], "argv");
    assert_eq!(of[1]["kind"], "failed");
    assert!(of[1]["detail"].as_str().unwrap().contains("EIO"));
}

#[test]
fn kernel_threads_share_a_row() {
    let thread = |number| Process {
        kernel_thread: true,
        exe: Reading::Gone,
        ..process(number, 2, &[])
    };
    let mut world = world((10..30).map(thread).collect(), Vec::new());
    world.sample.problems.push(sample::Problem {
        pid: None,
        what: "/proc/net/tcp".to_owned(),
        kind: Absence::Unsupported,
        detail: "no such file".to_owned(),
    });
    let value = json(
        &world,
        &Selection {
            all: true,
            ..Selection::default()
        },
    );
    let problems = value["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0]["kind"], "unsupported");
    assert!(
        problems[1]["detail"]
            .as_str()
            .unwrap()
            .contains("20 kernel threads")
    );
}

fn identified() -> Identified {
    Identified {
        headline: "an MCP server".to_owned(),
        because: vec!["module".to_owned()],
        near_misses: vec!["no package".to_owned()],
    }
}

#[test]
fn evidence_names_both_ends() {
    let world = full_world();
    let subject = world.sample.get(key(48_271)).unwrap();
    let value = serde_json::to_value(evidence(&world, subject, &identified(), &redactor())).unwrap();
    let descriptors = value["descriptors"].as_array().unwrap();
    assert_eq!(descriptors[0]["wire"], "stdin");
    assert_eq!(
        descriptors[0]["other_end"],
        serde_json::json!([{"pid": 900, "fd": 21, "access": "rw"}])
    );
    assert_eq!(
        descriptors[1]["other_end"],
        serde_json::json!([]),
        "the peer was closed"
    );
    assert!(descriptors[2]["other_end"].is_null(), "a file has none");
    assert!(descriptors[2]["target"].as_str().unwrap().ends_with(" (deleted)"));
    assert_eq!(
        descriptors[4]["other_end"],
        serde_json::json!([{"pid": 900, "fd": 4, "access": "rw"}])
    );
    assert_eq!(
        descriptors[5]["other_end"],
        serde_json::json!([{"pid": 48_290, "fd": 1, "access": "w"}])
    );
    assert_eq!(value["sockets"][2]["remote"], "10.2.0.4:443");
    assert_eq!(value["sockets"][2]["lead"], "a");
    assert_eq!(value["sockets"][1]["state"], "peer closed");
    assert_eq!(value["signals"]["ignored"], serde_json::json!(["PIPE"]));
    assert_eq!(value["signals"]["caught"], serde_json::json!(["TERM", "41"]));
    assert_eq!(value["group"]["members"], serde_json::json!([48_271, 60_000]));
}

#[test]
fn refused_descriptors_are_told_of_the_process_in_question_and_its_wire_is_not_known() {
    let mut closed = process(5, 1, &[b"a"]);
    closed.descriptors = Reading::Denied;
    let mut of = bare_instance(5, Finding::Unknown);
    of.server = Some(key(5));
    of.stdio = None;
    for instances in [Vec::new(), vec![of]] {
        let in_one = !instances.is_empty();
        let world = world(vec![closed.clone(), process(6, 1, &[b"b"])], instances);
        let subject = world.sample.get(key(5)).unwrap();
        let redactor = redactor();
        let value = serde_json::to_value(evidence(&world, subject, &identified(), &redactor)).unwrap();
        assert!(value["descriptors"].is_null());
        let told = value["problems"].as_array().unwrap().iter().any(|row| {
            row["pid"] == 5
                && row["kind"] == "denied"
                && row["what"].as_str().unwrap().contains("descriptors")
        });
        assert!(told, "{}", value["problems"]);
        let text = crate::report::show(&world, subject, &identified(), Secrets::Removed(&redactor), None);
        assert!(text.contains("DESCRIPTORS  not read: see PROBLEMS"), "{text}");
        assert!(!text.contains("none was found"), "{text}");
        let wire = "not known: the descriptors of 5 could not be read, see PROBLEMS";
        assert_eq!(text.contains(wire), in_one, "{text}");
    }
}

#[test]
fn a_group_signal_would_hit_the_neighbour_too() {
    let mut neighbour = process(6, 1, &[b"b"]);
    neighbour.pgid = Some(pid(5));
    let world = world(
        vec![process(5, 1, &[b"a"]), neighbour],
        vec![
            bare_instance(5, Finding::Severed),
            bare_instance(6, Finding::Attached),
        ],
    );
    let subject = world.sample.get(key(5)).unwrap();
    let evidence = evidence(&world, subject, &identified(), &redactor());
    assert_eq!(evidence.group.other_instances, ["6-600"]);
    assert!(evidence.descriptors.is_none());
}

#[test]
fn the_text_of_the_evidence_cannot_drive_a_terminal() {
    let world = full_world();
    for columns in [None, Some(80), Some(10)] {
        let subject = world.sample.get(key(48_271)).unwrap();
        let text = crate::report::show(&world, subject, &identified(), Secrets::Shown, columns);
        assert!(!text.contains(|c: char| c != '\n' && c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'));
        for wanted in [
            "PROCESS 48271",
            "SEVERED",
            "stdin_no_writer",
            "10.2.0.4:443",
            "PROBLEMS",
            "ss -tp",
        ] {
            let flat = text.split_whitespace().collect::<String>();
            assert!(flat.contains(&wanted.replace(' ', "")), "{wanted} in {text}");
        }
    }
}

/// Made for this test; the shape is that of a GitHub token.
const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

#[test]
fn no_path_and_no_name_carries_a_token_out() {
    let mut world = full_world();
    let lead = key(48_271);
    let path = || OsBytes::from(format!("/srv/{TOKEN}/x").into_bytes());
    let subject = world.sample.processes.get_mut(&lead.pid).unwrap();
    let subject = std::sync::Arc::make_mut(subject);
    subject.cwd = Reading::Value(path());
    subject.exe = Reading::Value(path());
    subject.comm = TOKEN.into();
    if let Reading::Value(descriptors) = &mut subject.descriptors {
        for descriptor in descriptors {
            if let Target::File { path: file, .. } = &mut descriptor.target {
                *file = path();
            }
        }
    }
    for instance in &mut world.judged.instances {
        instance.name = path();
        instance.identified_by.file = Some(path());
        instance.identified_by.server_name = Some(TOKEN.into());
        if let Some(adopter) = &mut instance.adopter {
            adopter.name = TOKEN.into();
        }
    }
    let subject = world.sample.get(lead).unwrap();
    let redactor = redactor();
    let secrets = Secrets::Removed(&redactor);
    for text in [
        serde_json::to_string(&inventory(&world, &Selection::default(), &redactor)).unwrap(),
        serde_json::to_string(&evidence(&world, subject, &identified(), &redactor)).unwrap(),
        crate::report::show(&world, subject, &identified(), secrets, None),
    ] {
        assert!(text.contains("<redacted:github-token:len=40>"), "{text}");
        assert!(!text.contains("ghp_"), "{text}");
    }
}
