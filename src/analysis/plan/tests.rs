//! Machines in known situations, and what a signal would bring with it there.

use super::{consequences, fate, plan, takes_along};
use crate::analysis::testkit::{Machine, pid, world};
use crate::model::act::{Signal, Target};
use crate::model::identity::ProcessKey;
use crate::model::instance::Role;
use crate::model::plan::{Chosen, NoPlan, Plan, Refusal, Topic, wants_whole_pid};
use crate::model::process::{Lock, SignalMasks};
use crate::model::reading::Reading;
use crate::model::sample::Unit;
use crate::model::world::World;

/// Judges a machine twice, as the screen does.
/// claude 100 -> npm 110 -> sh 120 -> node 130 (server) -> chrome 140; the wire is shared.
fn npx_chain() -> Machine {
    let mut machine = Machine::new();
    machine.add(100, 1, "claude");
    machine.add_argv(110, 100, vec!["npm exec @playwright/mcp@latest".into()]);
    machine.add_argv(120, 110, vec!["sh".into(), "-c".into(), "playwright-mcp".into()]);
    machine.add(
        130,
        120,
        "node /home/u/.npm/_npx/x/node_modules/.bin/playwright-mcp",
    );
    machine.add(140, 130, "/opt/chrome/chrome --headless");
    machine.wire_pipes(100, 110, 900);
    machine.inherit(110, 120);
    machine.inherit(120, 130);
    machine
}

/// git 200, whose client is gone, with an ssh helper 210 that has a control path.
fn severed() -> Machine {
    let mut machine = Machine::new();
    machine.add(200, 1, "python -m mcp_server_git --repository /srv/app");
    machine.add(210, 200, "ssh -N -S /tmp/cm deploy@10.2.0.4");
    machine.pipe(200, 0, 700, crate::model::descriptor::Access::Read);
    machine.pipe(200, 1, 701, crate::model::descriptor::Access::Write);
    machine
}

fn key(world: &World, number: u32) -> ProcessKey {
    world.sample.process(pid(number)).expect("a process").key
}

fn instance(world: &World, lead: u32) -> Chosen {
    let found = world.judged.instances.iter();
    let mut found = found.filter(|one| one.lead_process().pid == pid(lead));
    Chosen::Instance(found.next().expect("an instance").id)
}

fn process(world: &World, number: u32) -> Chosen {
    Chosen::Process(key(world, number))
}

/// Returns pid, role and tick of each item.
fn listed(plan: &Plan) -> Vec<(u32, Option<Role>, bool)> {
    let items = plan.items.iter();
    items
        .map(|item| (item.pid().get(), item.role(), item.ticked))
        .collect()
}

fn said(world: &World, plan: &Plan, signal: Signal, topic: Topic) -> String {
    consequences(world, plan, signal)
        .into_iter()
        .filter(|one| one.topic == topic)
        .map(|one| one.text)
        .collect::<Vec<_>>()
        .join(" ")
}

fn with_tick(plan: &Plan, numbers: &[u32]) -> Plan {
    let mut plan = plan.clone();
    for item in &mut plan.items {
        item.ticked = numbers.contains(&item.pid().get());
    }
    plan
}

#[test]
fn an_instance_means_its_server_first_and_lists_the_rest_unticked() {
    let world = world(&npx_chain());
    let plan = plan(&world, &[instance(&world, 130)]).expect("a plan");
    assert_eq!(
        listed(&plan),
        [
            (130, Some(Role::Server), true),
            (110, Some(Role::Launcher), false),
            (120, Some(Role::Launcher), false),
            (140, Some(Role::Helper), false),
        ]
    );
    let target = &plan.items[0].target;
    let seen = world.sample.process(pid(130)).unwrap();
    assert_eq!(
        (target.key, &target.argv, &target.exe),
        (seen.key, &seen.argv, &seen.exe)
    );
}

#[test]
fn a_process_means_itself_and_twice_is_once() {
    let world = world(&npx_chain());
    let one = plan(&world, &[process(&world, 110)]).expect("a plan");
    assert_eq!(listed(&one), [(110, Some(Role::Launcher), true)]);
    let both = [instance(&world, 130), process(&world, 140), process(&world, 130)];
    let both = plan(&world, &both).expect("a plan");
    let ticked: Vec<u32> = listed(&both)
        .iter()
        .filter(|(.., on)| *on)
        .map(|(pid, ..)| *pid)
        .collect();
    assert_eq!(ticked, [130, 140]);
    let client = plan(&world, &[process(&world, 100)]).expect("a plan");
    assert_eq!(listed(&client), [(100, None, true)], "a client is no member");
}

#[test]
fn what_is_never_signalled_is_refused() {
    let mut machine = severed();
    machine.add(2, 0, "").kernel_thread = true;
    machine.add(4_000_000, 1, "mcpwake");
    machine.add(300, 1, "bash");
    machine.add(310, 1, "python x").state = 'Z';
    let mut world = world(&machine);
    world.sample.observer.ancestors = vec![pid(300)];
    for (number, why) in [
        (1, Refusal::FirstProcess),
        (2, Refusal::KernelThread),
        (4_000_000, Refusal::Own),
        (300, Refusal::Ancestor),
        (310, Refusal::Exited { parent: Some(pid(1)) }),
    ] {
        let chosen = process(&world, number);
        assert_eq!(
            plan(&world, &[chosen]),
            Err(NoPlan::Refused(vec![(pid(number), why.clone())]))
        );
        let with_another = plan(&world, &[chosen, process(&world, 200)]).expect("a plan");
        assert_eq!(with_another.items[0].refused, Some(why));
        assert!(!with_another.items[0].ticked && with_another.items[1].ticked);
    }
    let mut gone = key(&world, 200);
    gone.start.0 += 1;
    assert_eq!(plan(&world, &[Chosen::Process(gone)]), Err(NoPlan::Gone));
    assert_eq!(plan(&world, &[]), Err(NoPlan::Gone));
}

#[test]
fn at_most_twenty() {
    let mut machine = Machine::new();
    for number in 1_000..1_021 {
        machine.add(number, 1, "x");
    }
    let world = world(&machine);
    let all: Vec<Chosen> = (1_000..1_021).map(|number| process(&world, number)).collect();
    assert_eq!(plan(&world, &all), Err(NoPlan::TooMany(21)));
    assert_eq!(plan(&world, &all[1..]).expect("a plan").items.len(), 20);
}

#[test]
fn strangers_of_the_group_are_named_and_not_offered() {
    let mut machine = npx_chain();
    machine.add(150, 100, "some-tool");
    let world = world(&machine);
    let plan = plan(&world, &[instance(&world, 130)]).expect("a plan");
    let beside: Vec<(u32, &str)> = plan
        .beside
        .iter()
        .map(|one| (one.pid.get(), one.text.as_str()))
        .collect();
    assert_eq!(
        beside,
        [
            (100, "same group, Claude Code, a client"),
            (150, "same group, some-tool, part of no server")
        ]
    );
}

#[test]
fn who_survives_depends_on_the_launcher_and_the_signal() {
    for (launcher, signal, expected) in [
        (
            "npm exec @playwright/mcp@latest",
            Signal::Term,
            "SURVIVES: npm 110 does not forward TERM",
        ),
        (
            "npm exec @playwright/mcp@latest",
            Signal::Kill,
            "SURVIVES: KILL to npm 110 reaches npm 110 alone",
        ),
    ] {
        let mut machine = npx_chain();
        machine.process(110).argv = Reading::Value(vec![launcher.into()]);
        machine.process(110).comm = "npm".into();
        let world = world(&machine);
        let plan = plan(&world, &[process(&world, 110)]).expect("a plan");
        let text = said(&world, &plan, signal, Topic::Survives);
        assert!(text.contains(expected), "{text}");
        let loses = said(&world, &plan, signal, Topic::Loses);
        assert!(loses.contains("sees the launcher of"), "{loses}");
    }
    let mut machine = Machine::new();
    machine.add(100, 1, "claude");
    machine.add(110, 100, "uv tool run mcp-server-git");
    machine.add(120, 110, "python /home/u/.cache/uv/x/bin/mcp-server-git");
    machine.wire_pipes(100, 110, 900);
    machine.inherit(110, 120);
    let world = world(&machine);
    let plan = plan(&world, &[process(&world, 110)]).expect("a plan");
    let text = said(&world, &plan, Signal::Term, Topic::Survives);
    assert!(text.contains("uv 110 forwards TERM to git 120"), "{text}");
    let loses = said(&world, &plan, Signal::Term, Topic::Loses);
    assert_eq!(loses, "Loses its server: Claude Code 100 (git 120).");
    let text = said(&world, &plan, Signal::Kill, Topic::Survives);
    assert!(text.contains("git 120 SURVIVES"), "{text}");
}

#[test]
fn what_becomes_of_those_that_are_not_ticked() {
    let world = world(&npx_chain());
    let whole = plan(&world, &[instance(&world, 130)]).expect("a plan");
    for (ticked, number, expected) in [
        (&[130][..], 110, "usually ends with its server"),
        (&[130], 120, "usually ends with its server"),
        (&[130], 140, "SURVIVES, unless it ends by itself"),
        (&[110], 130, "SURVIVES"),
        (&[110], 120, "may end with the other launcher"),
        (&[120], 110, "may end with the other launcher"),
        (&[140], 110, "stays"),
        (&[140], 130, "SURVIVES"),
    ] {
        let plan = with_tick(&whole, ticked);
        assert_eq!(
            fate(&world, &plan, key(&world, number), Signal::Term),
            expected,
            "{ticked:?} {number}"
        );
    }
    let world = self::world(&severed());
    let plan = plan(&world, &[instance(&world, 200)]).expect("a plan");
    assert_eq!(
        fate(&world, &plan, key(&world, 210), Signal::Term),
        "SURVIVES, control path open"
    );
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Remote),
        "Sessions elsewhere live on: ssh deploy@10.2.0.4 (210)."
    );
    let both = with_tick(&plan, &[200, 210]);
    assert_eq!(said(&world, &both, Signal::Term, Topic::Remote), "");
}

#[test]
fn who_loses_a_server_and_who_may_start_it_again() {
    let world = world(&npx_chain());
    let plan = plan(&world, &[instance(&world, 130)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Loses),
        "Loses its server: Claude Code 100 (playwright 130)."
    );
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Restart),
        "Restart by: Claude Code 100 may."
    );
    let world = self::world(&severed());
    let plan = super::plan(&world, &[instance(&world, 200)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Loses),
        "Loses its server: nobody."
    );
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Restart),
        "Restart by: nobody known."
    );
}

#[test]
fn a_launcher_that_nobody_knows_may_start_its_server_again() {
    let mut machine = npx_chain();
    machine.process(110).argv = Reading::Value(vec!["python3".into(), "/srv/supervise.py".into()]);
    machine.end(100, 1);
    let world = world(&machine);
    let plan = plan(&world, &[instance(&world, 130)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Restart),
        "Restart by: python3 110 may."
    );
    let fates = [110, 120].map(|launcher| fate(&world, &plan, key(&world, launcher), Signal::Term));
    assert_eq!(
        fates,
        [
            "may end with its server, or start it again",
            "usually ends with its server"
        ]
    );
    let all = with_tick(&plan, &[110, 120, 130]);
    assert_eq!(
        said(&world, &all, Signal::Term, Topic::Restart),
        "Restart by: nobody known."
    );
}

#[test]
fn a_parent_that_nobody_saw_start_it_may_start_it_again() {
    let mut machine = severed();
    machine.add(190, 1, "python3 /srv/x.py");
    machine.process(200).ppid = Some(pid(190));
    let world = world(&machine);
    let plan = plan(&world, &[instance(&world, 200)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Restart),
        "Restart by: python3 190 may, if it started it."
    );
}

#[test]
fn peers_of_a_server_that_listens_lose_it() {
    let mut machine = Machine::new();
    machine.add(200, 1, "python -m mcp_server_git --transport sse");
    machine.tcp(200, 3, 50, "127.0.0.1:8000", None);
    machine.tcp(200, 4, 51, "127.0.0.1:8000", Some("10.1.2.3:4000"));
    let world = world(&machine);
    let plan = plan(&world, &[instance(&world, 200)]).expect("a plan");
    let text = said(&world, &plan, Signal::Term, Topic::Loses);
    assert_eq!(text, "Loses its server: tcp 10.1.2.3:4000 (git 200).");
}

#[test]
fn a_supervisor_and_a_service_manager_start_it_again() {
    let mut machine = severed();
    machine.add(190, 1, "supervisord -n");
    machine.process(200).ppid = Some(pid(190));
    machine.process(200).sid = Some(pid(190));
    machine.process(190).sid = Some(pid(190));
    let judged = world(&machine);
    let by = |world: &World| {
        let plan = plan(world, &[instance(world, 200)]).expect("a plan");
        said(world, &plan, Signal::Term, Topic::Restart)
    };
    assert_eq!(by(&judged), "Restart by: supervisord 190 may.");
    machine.units = vec![Unit {
        manager: "systemd".to_owned(),
        name: "git.service".to_owned(),
        main_pid: Some(pid(200)),
    }];
    machine.process(200).cgroup = Reading::Value("/system.slice/git.service".into());
    let judged = world(&machine);
    assert_eq!(
        by(&judged),
        "Restart by: systemd unit git.service, unless it says otherwise."
    );
}

#[test]
fn what_the_target_does_with_term() {
    const TERM: u64 = 1 << 14;
    let masks = |pending, blocked, ignored, caught| {
        Reading::Value(SignalMasks {
            pending,
            blocked,
            ignored,
            caught,
        })
    };
    for (signals, state, expected) in [
        (masks(0, 0, 0, TERM), 'S', "TERM: handled by it."),
        (masks(0, 0, 0, 0), 'S', "TERM: ends it, it has no handler."),
        (masks(0, 0, TERM, 0), 'S', "TERM: IGNORED by it."),
        (
            masks(0, TERM, 0, TERM),
            'S',
            "TERM: BLOCKED by it: it stays pending.",
        ),
        (
            masks(TERM, TERM, 0, 0),
            'S',
            "TERM: BLOCKED by it, and one is pending already.",
        ),
        (
            masks(TERM, 0, 0, 0),
            'D',
            "TERM: one is pending already; it waits in the kernel (D): no signal reaches it before that ends.",
        ),
        (
            masks(0, 0, 0, 0),
            'T',
            "TERM: ends it, it has no handler; it is STOPPED: TERM stays pending until it goes on.",
        ),
        (
            Reading::Denied,
            'S',
            "TERM: what it does with it could not be read.",
        ),
        // Others than TERM decide nothing.
        (
            masks(!TERM, !TERM, !TERM, !TERM),
            'S',
            "TERM: ends it, it has no handler.",
        ),
    ] {
        let mut machine = severed();
        machine.process(200).signals = signals;
        machine.process(200).state = state;
        let world = world(&machine);
        let plan = plan(&world, &[process(&world, 200)]).expect("a plan");
        assert_eq!(said(&world, &plan, Signal::Term, Topic::Handling), expected);
        assert!(said(&world, &plan, Signal::Kill, Topic::Handling).contains("forced containment"));
    }
    let mut machine = severed();
    machine.process(200).signals = masks(0, 0, 0, 0);
    machine.process(200).namespace_pids = Reading::Value(vec![200, 1]);
    let world = world(&machine);
    let plan = plan(&world, &[process(&world, 200)]).expect("a plan");
    assert!(said(&world, &plan, Signal::Term, Topic::Handling).contains("NO EFFECT"));
}

#[test]
fn locks_children_and_the_session_are_said() {
    let mut machine = severed();
    machine.add(220, 1, "sleep 1000");
    machine.process(220).sid = Some(pid(200));
    machine.process(200).locks = vec![Lock {
        kind: "POSIX".to_owned(),
        mode: "WRITE".to_owned(),
        inode: 9,
        path: Some("/srv/x.db".into()),
    }];
    let world = world(&machine);
    let plan = plan(&world, &[instance(&world, 200)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Holds),
        "Open database or lock: /srv/x.db (closed as it ends)."
    );
    assert!(said(&world, &plan, Signal::Kill, Topic::Holds).contains("recovery"));
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Group),
        "1 of the same session is in other groups and not signalled."
    );
    let mut machine = severed();
    machine.add(400, 1, "some-daemon");
    machine.add(410, 400, "some-child");
    let world = self::world(&machine);
    let plan = super::plan(&world, &[process(&world, 400)]).expect("a plan");
    assert_eq!(
        said(&world, &plan, Signal::Term, Topic::Survives),
        "Children that live on, with another parent: some-child 410."
    );
}

#[test]
fn a_live_client_takes_its_servers_along() {
    let machine = npx_chain();
    let world = world(&machine);
    assert_eq!(
        takes_along(&world, key(&world, 100)),
        Some(vec!["playwright 130".to_owned()])
    );
    assert_eq!(takes_along(&world, key(&world, 130)), None);
    let mut machine = npx_chain();
    machine.process(100).state = 'Z';
    let world = self::world(&machine);
    assert_eq!(takes_along(&world, key(&world, 100)), None, "it is not alive");
}

#[test]
fn the_whole_pid_is_wanted_where_more_is_at_stake() {
    let world = world(&severed());
    let member = Some((
        world.judged.instance_of(key(&world, 200)).expect("an instance"),
        Role::Server,
    ));
    let target = |number, member| Target::of(&world.sample, key(&world, number), member).expect("a target");
    assert!(!wants_whole_pid(Signal::Term, &target(200, member)));
    assert!(wants_whole_pid(Signal::Kill, &target(200, member)));
    assert!(wants_whole_pid(Signal::Term, &target(200, None)));
    assert!(wants_whole_pid(Signal::Term, &target(1, member)));
}
