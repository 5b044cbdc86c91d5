//! What only a runtime of its own can play: a title that is overwritten, a main thread that exits alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use mcpwake::catalog::Catalog;
use mcpwake::model::instance::Instance;
use mcpwake::model::world::World;
use mcpwake::runtime::collector::Collector;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tempfile::TempDir;

use crate::common::watched::{Watched, take_down};

/// Leaves when its stdin ends, or never; overwrites its title when told to.
const SERVER: &str = "
if (process.env.STAYS) setInterval(() => {}, 1e6);
else {
process.stdin.on('data', () => { process.title = 'idle'; console.log('titled'); });
process.stdin.on('end', () => process.exit());
}
console.log('ready');
";

/// Starts a server, keeps the writing end of its stdin, and ends its main thread alone (`exit`(2), by its
/// number on this machine).
const CLIENT: &str = "
import ctypes, os, subprocess, sys, threading, time
server = subprocess.Popen(['node', sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
threading.Thread(target=time.sleep, args=(600,)).start()
print(server.pid, flush=True)
exit = {'x86_64': 60}.get(os.uname().machine, 93)
ctypes.CDLL(None).syscall(exit, 0)
";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("attached_under_an_overwritten_title", stays_under_another_title),
        Trial::test(
            "attached_to_a_client_whose_main_thread_has_exited",
            client_without_its_main_thread,
        ),
        Trial::test("unknown_on_connections_that_are_no_wire", on_a_connection),
    ]
}

/// A server script where a package manager would put it.
pub(crate) struct Script {
    _home: TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn script() -> Script {
    let home = tempfile::tempdir().unwrap();
    let folder = home
        .path()
        .join("node_modules/@modelcontextprotocol/server-everything/dist");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("index.js");
    std::fs::write(&path, SERVER).unwrap();
    Script { _home: home, path }
}

pub(crate) fn collector() -> Result<Collector, Failed> {
    let catalog = Arc::new(Catalog::builtin().map_err(|error| error.to_string())?);
    let system = mcpwake::platform::system(mcpwake::platform::Ability::Looks)?;
    Ok(Collector::at_once(system.source, catalog, system.os))
}

pub(crate) fn instance(world: &World, server: u32) -> Result<&Instance, Failed> {
    let mut instances = world.judged.instances.iter();
    let ours = instances.find(|one| one.server.is_some_and(|key| key.pid.get() == server));
    ours.ok_or_else(|| format!("no instance of {server}").into())
}

fn line(from: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Kills and reaps a child when it goes out of scope.
pub(crate) struct Ward(pub(crate) Child);

impl Drop for Ward {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn stays_under_another_title() -> Result<(), Failed> {
    let script = script();
    let mut node = Command::new("node");
    node.arg(&script.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut server = Ward(node.spawn().unwrap());
    let mut out = BufReader::new(server.0.stdout.take().unwrap());
    line(&mut out);
    let mut collector = collector()?;
    let pid = server.0.id();
    let before = instance(&*collector.next(None)?, pid)?.clone();
    server.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    line(&mut out);
    for _ in 0..3 {
        let world = collector.next(None)?;
        let after = instance(&world, pid)?;
        let process = world.sample.get(after.lead_process()).unwrap();
        let title: Vec<_> = process.args().iter().map(|one| one.lossy()).collect();
        let overwritten = after.facts.iter().any(|fact| fact.code == "title_overwritten");
        let same = (&after.name, after.finding, &after.identified_by)
            == (&before.name, before.finding, &before.identified_by);
        if title != ["idle"] || !overwritten || !same {
            return Err(format!("{title:?}: {after:#?}").into());
        }
    }
    Ok(())
}

/// As inetd(8) and socket activation start a server: never severed, whoever holds the other end.
fn on_a_connection() -> Result<(), Failed> {
    let script = script();
    let place = crate::short::directory();
    let path = place.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let accepted = || {
        let there = OwnedFd::from(UnixStream::connect(&path).unwrap());
        (OwnedFd::from(listener.accept().unwrap().0), there)
    };
    let packets = || {
        socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap()
    };
    for ((stdin, there), kind) in [
        (accepted(), "a unix stream socket bound to"),
        (packets(), "a unix seqpacket socket"),
    ] {
        let mut sleeper = Command::new("node");
        sleeper
            .arg(&script.path)
            .env("STAYS", "1")
            .stdin(stdin)
            .stdout(Stdio::piped());
        let mut server = Ward(sleeper.spawn().unwrap());
        line(&mut BufReader::new(server.0.stdout.take().unwrap()));
        let mut there = Some(there);
        for other in ["other end held by", "other end closed"] {
            let world = collector()?.next(None)?;
            let judged = instance(&world, server.0.id())?;
            let text = &judged.facts[0].text;
            if judged.finding.word() != "unknown" || !text.contains(kind) || !text.contains(other) {
                return Err(format!("{kind}, {other}: {judged:#?}").into());
            }
            drop(there.take());
        }
    }
    Ok(())
}

fn client_without_its_main_thread() -> Result<(), Failed> {
    let script = script();
    let mut python = Command::new("python3");
    python
        .args(["-c", CLIENT])
        .arg(&script.path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut client = Ward(python.spawn().unwrap());
    let pid: u32 = line(&mut BufReader::new(client.0.stdout.take().unwrap())).parse()?;
    let server = Watched::new(pid);
    let mut collector = collector()?;
    let key = client.0.id();
    let judged = loop {
        let world = collector.next(None)?;
        let lost = |one: &Arc<_>| mcpwake::model::process::Process::lost_main_thread(one);
        if world
            .sample
            .processes
            .values()
            .any(|one| one.key.pid.get() == key && lost(one))
        {
            break instance(&world, pid).cloned();
        }
    };
    drop(client);
    take_down([&server].into_iter());
    let judged = judged?;
    let found = (
        judged.finding.word(),
        judged.client.map(|client| client.process.pid.get()),
    );
    if found == ("attached", Some(key)) {
        return Ok(());
    }
    Err(format!("{found:?}, wanted attached to {key}").into())
}
