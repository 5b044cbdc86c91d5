//! Worlds that lie, one in each way: every lie must be told as one.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::analysis::testkit::{Machine, pid};
use crate::analysis::{self, Known, Memory};
use crate::catalog::Catalog;
use crate::doctor::compare::{all, others};
use crate::doctor::observe::{Seen, known};
use crate::doctor::part::{self, Kind};
use crate::doctor::truth::{Part, Truth};
use crate::model::bytes::OsBytes;
use crate::model::descriptor::{Access, Target};
use crate::model::finding::{Finding, Lineage};
use crate::model::host::{Os, Visibility};
use crate::model::identity::{ProcessKey, StartKey};
use crate::model::instance::{Instance, Judged};
use crate::model::process::{Environment, Process};
use crate::model::reading::{Absence, Reading};
use crate::model::sample::{Problem, Sample, Unsearched};
use crate::model::world::World;
use crate::report::doctor::{Answer, Check};

const OWN: u32 = 500;
const PIPES: u32 = 501;
const SOCKETS: u32 = 502;
const CONNECTS: u32 = 503;
const ORPHAN: u32 = 504;
const EXITS: u32 = 505;
const TARGET: u32 = 506;
const STRANGER: u32 = 400;

const KINDS: [(u32, Kind); 6] = [
    (PIPES, Kind::Pipes),
    (SOCKETS, Kind::Sockets),
    (CONNECTS, Kind::Connects),
    (ORPHAN, Kind::Orphan),
    (EXITS, Kind::Exits),
    (TARGET, Kind::Target),
];

/// Compiling the rules takes longer than all these tests.
static KNOWN: LazyLock<Known> =
    LazyLock::new(|| known(Catalog::builtin().expect("the built-in rules")).expect("the self-test's rule"));

fn argv(kind: Kind) -> Vec<OsBytes> {
    use std::os::unix::ffi::OsStringExt as _;
    let arguments = part::arguments(kind, "token", None).into_iter();
    std::iter::once(OsBytes::from(part::NAME))
        .chain(arguments.map(|one| one.into_vec().into()))
        .collect()
}

fn truth() -> Truth {
    let part = |(number, kind)| Part {
        kind,
        pid: number,
        parent: if kind == Kind::Orphan { 1 } else { OWN },
        argv: argv(kind),
        connection: (kind == Kind::Connects).then(|| {
            let address = |text: &str| text.parse().expect("an address");
            (address("127.0.0.1:40000"), address("127.0.0.1:50000"))
        }),
    };
    Truth {
        own_pid: OWN,
        program: "/usr/bin/mcpwake".into(),
        cwd: "/".into(),
        variable: "MCPWAKE_DOCTOR_PART".into(),
        parts: KINDS.map(part).to_vec(),
        missing: BTreeMap::new(),
    }
}

/// The machine as it truly is.
fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.add(STRANGER, 1, "/usr/sbin/sshd -D").uid = Reading::Value(0);
    machine.process(1).uid = Reading::Value(0);
    machine.add(OWN, 1, "mcpwake doctor");
    for (number, kind) in KINDS {
        let parent = if kind == Kind::Orphan { 1 } else { OWN };
        let process = machine.add_argv(number, parent, argv(kind));
        process.key.start = StartKey(99_900);
        process.pgid = Some(pid(OWN));
        process.sid = Some(pid(OWN));
        process.exe = Reading::Value("/usr/bin/mcpwake".into());
        process.cwd = Reading::Value("/".into());
        process.environment = Reading::Value(Environment {
            names: vec!["MCPWAKE_DOCTOR_PART".into()],
            identifiers: BTreeMap::new(),
        });
        let base = u64::from(number) * 10;
        match kind {
            Kind::Sockets => {
                for fd in [0, 1] {
                    let inode = base + u64::from(fd) * 2;
                    machine.socket(number, fd, inode, inode + 1);
                    machine.socket(OWN, number + 1000 * fd, inode + 1, inode);
                }
            }
            Kind::Orphan => {
                machine.pipe(number, 0, base, Access::Read);
                machine.open(number, 1, Target::Null, Access::Write);
            }
            _ => {
                machine.pipe(number, 0, base, Access::Read);
                machine.pipe(OWN, number, base, Access::Write);
                machine.pipe(number, 1, base + 1, Access::Write);
                machine.pipe(OWN, number + 1000, base + 1, Access::Read);
            }
        }
        machine.socket(number, 2, base + 8, base + 9);
        machine.socket(OWN, number + 3000, base + 9, base + 8);
    }
    let (local, remote) = ("127.0.0.1:40000", "127.0.0.1:50000");
    machine.tcp(CONNECTS, 4, 90_000, local, Some(remote));
    machine.tcp(OWN, 90, 90_001, remote, Some(local));
    machine
}

fn judged(sample: &Sample, memory: &mut Memory) -> Judged {
    analysis::judge(sample, None, &KNOWN, memory)
}

/// Where a lie is told.
#[derive(Clone, Copy)]
enum Lie {
    None,
    Sample(fn(&mut Sample)),
    Judged(fn(&mut Judged)),
    Truth(fn(&mut Truth)),
}

fn answers(lie: Lie) -> Vec<Check> {
    let mut truth = truth();
    if let Lie::Truth(tell) = lie {
        tell(&mut truth);
    }
    let mut memory = Memory::default();
    let mut world = |machine: &Machine, age_ms: u64| {
        let mut sample = machine.sample();
        sample.since_boot_ms += age_ms;
        sample.observer.pid = pid(OWN);
        sample.observer.uid = 1000;
        sample.observer.pid_namespace = Some(0xEFFF_FFFC);
        if let Lie::Sample(tell) = lie {
            tell(&mut sample);
        }
        let mut judged = judged(&sample, &mut memory);
        if let Lie::Judged(tell) = lie {
            tell(&mut judged);
        }
        World {
            seq: 1,
            sample,
            judged,
            complete: true,
        }
    };
    let mut machine = machine();
    let alive = world(&machine, 0);
    let zombie = machine.process(EXITS);
    zombie.state = 'Z';
    zombie.argv_kept = true;
    zombie.descriptors = Reading::Gone;
    world(&machine, 100);
    let after = world(&machine, 2_300);
    let seen = Seen {
        os: Os::Linux,
        alive,
        after,
    };
    all(&truth, &seen)
}

fn answer<'c>(checks: &'c [Check], id: &str) -> &'c Check {
    checks
        .iter()
        .find(|check| check.id == id)
        .expect("an answer of that name")
}

fn process(sample: &mut Sample, number: u32) -> &mut Process {
    Arc::make_mut(sample.processes.get_mut(&pid(number)).expect("a process"))
}

fn instance(judged: &mut Judged, number: u32) -> &mut Instance {
    let of = |one: &&mut Instance| one.lead_process().pid == pid(number);
    judged.instances.iter_mut().find(of).expect("an instance")
}

/// Tells each lie, and demands this answer on one capability.
fn told(id: &str, wanted: Answer, lies: &[Lie]) {
    for (number, lie) in lies.iter().enumerate() {
        let checks = answers(*lie);
        let found = answer(&checks, id);
        assert_eq!(found.answer, wanted, "{id}, lie {number}: {}", found.seen);
    }
}

#[test]
fn a_true_world_works() {
    for check in answers(Lie::None) {
        assert_eq!(check.answer, Answer::Works, "{}: {}", check.id, check.seen);
    }
}

#[test]
fn a_wrong_list_is_told() {
    use Lie::Sample as S;
    let lies = [
        S(|s| drop(s.processes.remove(&pid(PIPES)))),
        S(|s| process(s, PIPES).ppid = Some(pid(1))),
        S(|s| process(s, ORPHAN).ppid = None),
        S(|s| process(s, TARGET).uid = Reading::Value(0)),
        S(|s| s.since_boot_ms += 3_600_000),
    ];
    told("processes.own", Answer::Wrong, &lies);
    let none = answers(Lie::Truth(|truth| {
        truth.parts.clear();
        truth.missing.insert("pipes", "Permission denied".to_owned());
    }));
    assert_eq!(answer(&none, "processes.own").answer, Answer::Failed);
    assert!(
        answer(&none, "peers.pipes")
            .seen
            .contains("no child could be made")
    );
}

#[test]
fn what_is_read_wrong_of_own_processes_is_told() {
    use Lie::Sample as S;
    let argv_lies = [
        S(|s| process(s, TARGET).argv = Reading::Value(argv(Kind::Pipes))),
        S(|s| process(s, TARGET).argv = Reading::Gone),
        S(|s| process(s, TARGET).argv = Reading::Unread),
    ];
    told("processes.argv", Answer::Wrong, &argv_lies);
    let exe_lies = [
        S(|s| process(s, TARGET).exe = Reading::Value("/bin/sh".into())),
        S(|s| process(s, TARGET).exe = Reading::Unread),
    ];
    told("processes.exe", Answer::Wrong, &exe_lies);
    let cwd_lie = S(|s| process(s, TARGET).cwd = Reading::Value("/tmp".into()));
    told("processes.cwd", Answer::Wrong, &[cwd_lie]);
    let environment_lies = [
        S(|s| process(s, TARGET).environment = Reading::Value(Environment::default())),
        S(keep_value),
    ];
    told("processes.environment", Answer::Wrong, &environment_lies);
    let descriptor_lies = [
        S(|s| process(s, TARGET).descriptors = Reading::Value(Vec::new())),
        S(turn_access),
    ];
    told("processes.descriptors", Answer::Wrong, &descriptor_lies);
}

#[test]
fn what_is_missing_of_own_processes_keeps_its_reason() {
    use Lie::Sample as S;
    let denied = S(|s| {
        process(s, TARGET).argv = Reading::Denied;
        process(s, TARGET).descriptors = Reading::Denied;
    });
    told("processes.argv", Answer::Denied, &[denied]);
    told("processes.descriptors", Answer::Denied, &[denied]);
    let failed = S(|s| process(s, TARGET).argv = Reading::Failed("EIO".into()));
    told("processes.argv", Answer::Failed, &[failed]);
    let no_access = S(|s| {
        if let Reading::Value(list) = &mut process(s, TARGET).descriptors {
            list[0].access = Reading::Failed("EMFILE".into());
        }
    });
    told("processes.descriptors", Answer::Failed, &[no_access]);
    let unsupported = S(|s| process(s, TARGET).exe = Reading::Unsupported);
    told("processes.exe", Answer::Unsupported, &[unsupported]);
}

fn keep_value(sample: &mut Sample) {
    if let Reading::Value(environment) = &mut process(sample, TARGET).environment {
        environment
            .identifiers
            .insert("MCPWAKE_DOCTOR_PART".to_owned(), "secret".into());
    }
}

fn turn_access(sample: &mut Sample) {
    if let Reading::Value(list) = &mut process(sample, TARGET).descriptors {
        list[0].access = Reading::Value(Access::Write);
    }
}

#[test]
fn wrong_other_ends_are_told() {
    use Lie::{Judged as J, Sample as S};
    let pipes = [
        S(|s| lose(s, u64::from(PIPES) * 10)),
        S(|s| lose(s, u64::from(PIPES) * 10 + 1)),
        S(|s| swap(s, u64::from(PIPES) * 10)),
        J(|j| j.roles.clear()),
        J(|j| instance(j, PIPES).stdio = None),
        J(|j| instance(j, PIPES).finding = Finding::Severed),
    ];
    told("peers.pipes", Answer::Wrong, &pipes);
    let refused = S(|s| process(s, PIPES).argv = Reading::Denied);
    told("peers.pipes", Answer::Denied, &[refused]);
    let unknown = J(|j| instance(j, PIPES).finding = Finding::Unknown);
    told("peers.pipes", Answer::Failed, &[unknown]);
    told(
        "peers.sockets",
        Answer::Denied,
        &[S(|s| close_own(s, Absence::Denied))],
    );
    told(
        "peers.sockets",
        Answer::Failed,
        &[S(|s| close_own(s, Absence::Failed))],
    );
    let sockets = [
        S(|s| close(s, u64::from(SOCKETS) * 10)),
        S(|s| lose(s, u64::from(SOCKETS) * 10 + 1)),
    ];
    told("peers.sockets", Answer::Wrong, &sockets);
}

#[test]
fn wrong_connections_are_told() {
    use Lie::Sample as S;
    let lies = [
        S(|s| drop(inet(s).remove(&90_000))),
        S(|s| connection(s).local = "127.0.0.1:1".parse().expect("one")),
        S(|s| connection(s).remote = None),
        S(|s| connection(s).state = "CLOSE-WAIT".into()),
        S(|s| lose(s, 90_001)),
    ];
    told("peers.tcp", Answer::Wrong, &lies);
    let none = Lie::Truth(|truth| truth.parts.retain(|part| part.kind != Kind::Connects));
    told("peers.tcp", Answer::Unsupported, &[none]);
}

#[test]
fn a_kernel_that_does_not_answer_on_sockets_is_told() {
    use Lie::Sample as S;
    for id in ["peers.sockets", "peers.tcp"] {
        told(
            id,
            Answer::Unsupported,
            &[S(|s| s.sockets = Reading::Unsupported)],
        );
        told(id, Answer::Denied, &[S(|s| s.sockets = Reading::Denied)]);
        told(
            id,
            Answer::Failed,
            &[S(|s| s.sockets = Reading::Failed("sock_diag: EIO".into()))],
        );
    }
}

/// The kernel's answers would then be right, and the search would have found nobody.
fn lose(sample: &mut Sample, inode: u64) {
    sample
        .holders
        .entry(inode)
        .or_default()
        .retain(|holder| holder.process.pid != pid(OWN));
}

/// Its own descriptors are closed to it.
fn close_own(sample: &mut Sample, why: Absence) {
    lose(sample, u64::from(SOCKETS) * 10 + 1);
    let process = sample.process(pid(OWN)).expect("itself").key;
    sample.unsearched.push(Unsearched { process, why });
}

fn swap(sample: &mut Sample, inode: u64) {
    let stranger = ProcessKey {
        pid: pid(STRANGER),
        start: StartKey(u64::from(STRANGER)),
    };
    for holder in sample.holders.entry(inode).or_default() {
        if holder.process.pid == pid(OWN) {
            holder.process = stranger;
        }
    }
}

fn close(sample: &mut Sample, inode: u64) {
    if let Reading::Value(sockets) = &mut sample.sockets
        && let Some(socket) = sockets.unix.get_mut(&inode)
    {
        socket.peer = Some(0);
    }
}

fn inet(sample: &mut Sample) -> &mut BTreeMap<u64, crate::model::socket::InetSocket> {
    match &mut sample.sockets {
        Reading::Value(sockets) => &mut sockets.inet,
        _ => panic!("no sockets"),
    }
}

fn connection(sample: &mut Sample) -> &mut crate::model::socket::InetSocket {
    inet(sample).get_mut(&90_000).expect("the connection")
}

#[test]
fn wrong_fates_are_told() {
    use Lie::{Judged as J, Sample as S, Truth as T};
    let lineage = [
        J(|j| (instance(j, ORPHAN).lineage, instance(j, ORPHAN).adopter) = (Lineage::Child, None)),
        T(|t| t.parts[3].parent = 7),
    ];
    told("lineage", Answer::Wrong, &lineage);
    told("lineage", Answer::Unsupported, &[T(|t| t.parts[3].parent = OWN)]);
    told(
        "lineage",
        Answer::Denied,
        &[S(|s| process(s, ORPHAN).ppid = None)],
    );
    let severed = [
        J(|j| instance(j, ORPHAN).finding = Finding::Held),
        J(|j| j.roles.clear()),
    ];
    told("findings.severed", Answer::Wrong, &severed);
    let perhaps = J(|j| instance(j, ORPHAN).finding = Finding::Unknown);
    told("findings.severed", Answer::Denied, &[perhaps]);
    let defunct = [
        S(|s| process(s, EXITS).state = 'S'),
        S(|s| drop(s.processes.remove(&pid(EXITS)))),
        J(|j| instance(j, EXITS).finding = Finding::Attached),
    ];
    told("findings.defunct", Answer::Wrong, &defunct);
    let refused = S(|s| process(s, EXITS).argv = Reading::Denied);
    told("findings.defunct", Answer::Denied, &[refused]);
}

#[test]
fn what_lies_beyond_is_told() {
    use Lie::{Sample as S, Truth as T};
    let all = S(|s| process(s, STRANGER).exe = Reading::Denied);
    told("processes.others", Answer::Wrong, &[all]);
    let refused = [
        S(refuse),
        S(|s| s.problems.push(hidepid())),
        S(|s| s.hidden = Some(3)),
    ];
    told("processes.others", Answer::Denied, &refused);
    let namespaces = [
        S(|s| s.observer.pid_namespace = Some(5)),
        S(|s| s.observer.pid_namespace = None),
        T(|t| t.own_pid = 1),
    ];
    told("namespace.pid", Answer::Denied, &namespaces);
    let networks = [
        S(|s| s.observer.net_namespace = Some(6)),
        S(|s| process(s, 1).net_namespace = Reading::Denied),
    ];
    told("namespace.net", Answer::Denied, &networks);
    // In another namespace's table the children are found by their random word.
    told("processes.argv", Answer::Works, &[T(|t| t.own_pid = 1)]);
}

fn refuse(sample: &mut Sample) {
    process(sample, STRANGER).exe = Reading::Denied;
    sample.visibility = Visibility::Own;
}

fn hidepid() -> Problem {
    Problem {
        pid: None,
        what: "/proc".to_owned(),
        kind: Absence::Denied,
        detail: "mounted with hidepid=2: other users' processes are not shown".to_owned(),
    }
}

#[test]
fn root_is_not_sent_to_root() {
    let mut sample = machine().sample();
    sample.observer.pid = pid(OWN);
    refuse(&mut sample);
    process(&mut sample, STRANGER).uid = Reading::Value(7);
    let check = others::users(&sample);
    assert_eq!(check.answer, Answer::Denied);
    assert!(check.advice.is_some_and(|advice| advice.contains("this is root")));
}
