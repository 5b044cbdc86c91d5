//! The other end of a server's stdin where no process shows it: registered with an `io_uring`, in flight in a
//! unix socket, in a table that a thread has for itself. Never severed while it is there; severed once it is
//! closed, though the process that had it lives.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use mcpwake::model::instance::Instance;
use mcpwake::model::process::Process;

use crate::common::watched::{Watched, take_down};
use crate::programs::{Script, Ward, collector, instance, script};
use crate::unseen::hides_writers;

/// Samples that have to say the same: more than after which an end is not looked for as closely any more.
const SAMPLES: usize = 3;

/// Starts a server on a pipe or socket pair, puts its end where it is told to, closes that too where it is told
/// to, and stays. Numbers of system calls since Linux 5.1 are the same on every machine.
const CLIENT: &str = "
import array, ctypes, os, socket, subprocess, sys, threading, time
script, wire, place, closed = sys.argv[1:5]
closed = closed == 'closed'
libc = ctypes.CDLL(None, use_errno=True)
CLONE_FILES, SETUP, REGISTER, FILES, NO_FILES = 0x400, 425, 427, 2, 3
if wire == 'pipe':
    theirs, own = os.pipe()
else:
    theirs, own = (end.detach() for end in socket.socketpair())
server = subprocess.Popen(['node', script], stdin=theirs, stdout=subprocess.DEVNULL, env={**os.environ, 'STAYS': '1'})
os.close(theirs)
gone = threading.Event()

def refused(what):
    print('refused', what, os.strerror(ctypes.get_errno()), server.pid, flush=True)
    sys.exit()

def stay():
    time.sleep(600)

def ring():
    ring = libc.syscall(SETUP, 4, ctypes.create_string_buffer(120))
    if ring < 0:
        refused('io_uring_setup')
    if libc.syscall(REGISTER, ring, FILES, (ctypes.c_int * 1)(own), 1) < 0:
        refused('io_uring_register')
    os.close(own)
    if closed:
        libc.syscall(REGISTER, ring, NO_FILES, None, 0)

def queue():
    global here, there
    here, there = socket.socketpair()
    socket.send_fds(here, [b'x'], [own])
    os.close(own)
    if closed:
        for one in socket.recv_fds(there, 1, 1)[1]:
            os.close(one)

def alone(ready):
    if libc.unshare(CLONE_FILES) < 0:
        refused('unshare')
    ready.set()
    gone.wait()
    if closed:
        os.close(own)
    ready.set()
    stay()

def thread():
    # One that shares the table stands before it.
    threading.Thread(target=stay, daemon=True).start()
    ready = threading.Event()
    threading.Thread(target=alone, args=(ready,), daemon=True).start()
    ready.wait()
    ready.clear()
    os.close(own)
    gone.set()
    ready.wait()

{'ring': ring, 'queue': queue, 'thread': thread, 'thread-alone': thread}[place]()
print(server.pid, flush=True)
if place == 'thread-alone':
    exit = {'x86_64': 60}.get(os.uname().machine, 93)
    libc.syscall(exit, 0)
stay()
";

/// What has to be said.
struct Wanted {
    finding: &'static str,
    code: &'static str,
    /// In the text of that fact.
    text: &'static str,
    /// Whether the process that has the end is the client.
    client: bool,
}

const SEVERED: Wanted = Wanted {
    finding: "severed",
    code: "stdin_no_writer",
    text: "no process has it open for writing",
    client: false,
};
const BY_THREAD: Wanted = Wanted {
    finding: "attached",
    code: "client_holds",
    text: "which has descriptors of its own",
    client: true,
};
const PEER_CLOSED: Wanted = Wanted {
    code: "stdin_peer_closed",
    text: "peer closed",
    ..SEVERED
};

fn trial(wire: &'static str, place: &'static str, state: &'static str, wanted: Wanted) -> Trial {
    let name = format!("{}_when_the_{wire}_is_{state}_in_a_{place}", wanted.finding);
    Trial::test(name, move || judged([wire, place, state], &wanted))
}

pub(crate) fn trials() -> Vec<Trial> {
    let unlisted = |code, text| Wanted {
        finding: "unknown",
        code,
        text,
        client: false,
    };
    let registered = "registered with the io_uring on its fd";
    vec![
        trial("pipe", "ring", "open", unlisted("registered_file", registered)),
        trial("pipe", "ring", "closed", SEVERED),
        trial("socket", "ring", "open", unlisted("hidden_holder", registered)),
        trial("socket", "ring", "closed", PEER_CLOSED),
        trial("pipe", "queue", "closed", SEVERED),
        trial("socket", "queue", "closed", PEER_CLOSED),
        trial("pipe", "thread", "open", BY_THREAD),
        trial("pipe", "thread", "closed", SEVERED),
        trial("socket", "thread", "open", BY_THREAD),
        trial("socket", "thread", "closed", PEER_CLOSED),
        trial("pipe", "thread-alone", "open", BY_THREAD),
        trial("pipe", "thread-alone", "closed", SEVERED),
    ]
}

/// Those that nothing else may be judged beside: while a descriptor is in flight at a process of this user, it
/// may be any pipe's other end.
pub(crate) fn trials_alone() -> Vec<Trial> {
    let in_flight = |code| Wanted {
        finding: "unknown",
        code,
        text: "1 descriptor in flight at the unix socket on fd",
        client: false,
    };
    vec![
        trial("pipe", "queue", "open", in_flight("descriptors_in_flight")),
        trial("socket", "queue", "open", in_flight("hidden_holder")),
    ]
}

#[expect(clippy::print_stdout, reason = "a test that is not tried says why")]
fn judged([wire, place, state]: [&str; 3], wanted: &Wanted) -> Result<(), Failed> {
    if hides_writers() {
        println!("not tried: processes that may hold the end cannot be looked into here");
        return Ok(());
    }
    let script: Script = script();
    let mut python = Command::new("python3");
    python
        .args(["-c", CLIENT])
        .arg(&script.path)
        .args([wire, place, state])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut client = Ward(python.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(client.0.stdout.take().unwrap()).read_line(&mut line)?;
    let server = line.split_whitespace().last().ok_or("no line from the client")?;
    let server = Watched::new(server.parse()?);
    let told = if line.starts_with("refused") {
        println!("not tried: {line}");
        Ok(())
    } else {
        samples((client.0.id(), server.pid()), place == "thread-alone", wanted)
    };
    drop(client);
    take_down([&server].into_iter());
    told
}

fn samples((client, server): (u32, u32), without_main: bool, wanted: &Wanted) -> Result<(), Failed> {
    let mut collector = collector()?;
    let mut left = SAMPLES;
    while left > 0 {
        let world = collector.next(None)?;
        let mut processes = world.sample.processes.values().map(AsRef::as_ref);
        let ready = !without_main
            || processes.any(|one: &Process| one.key.pid.get() == client && one.lost_main_thread());
        if !ready {
            continue;
        }
        left -= 1;
        check(instance(&world, server)?, client, wanted)?;
    }
    Ok(())
}

fn check(instance: &Instance, client: u32, wanted: &Wanted) -> Result<(), Failed> {
    let mut facts = instance.facts.iter();
    let told = facts.any(|fact| fact.code == wanted.code && fact.text.contains(wanted.text));
    let named = instance
        .client
        .as_ref()
        .is_some_and(|one| one.process.pid.get() == client);
    if instance.finding.word() == wanted.finding && told && (named || !wanted.client) {
        return Ok(());
    }
    Err(format!(
        "wanted {}, {}: {:?}: {instance:#?}",
        wanted.finding, wanted.code, wanted.text
    )
    .into())
}
