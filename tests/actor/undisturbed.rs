//! A server that is at work does not notice that it is looked at.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use rustix::net::{RecvFlags, recv};

use crate::programs::{Ward, collector, instance, script};

/// Sends back each line.
const ECHO: &str = "process.stdin.on('data', (data) => process.stdout.write(data));";
const REQUESTS: u32 = 1_000;
/// Looks that must fall into the work.
const LOOKS: u32 = 5;
/// Longest that an answer may take, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same where it must not come.
const SHORT: Duration = Duration::from_secs(1);

pub(crate) fn trials() -> Vec<Trial> {
    let undisturbed = || served(PATIENCE, |_| {}).map_err(Failed::from);
    let robbed = || match served(SHORT, rob) {
        Err(why) if why.starts_with("request") => Ok(()),
        other => Err(format!("requests were read beside the server: {other:?}").into()),
    };
    vec![
        Trial::test("answers_on_socket_pairs_while_it_is_looked_at", undisturbed),
        Trial::test("control_a_request_that_is_taken_away_is_missed", robbed),
    ]
}

/// Reads what waits at the server's end.
fn rob(stdin: &OwnedFd) {
    let _ = recv(stdin, &mut [0_u8; 64][..], RecvFlags::DONTWAIT);
}

/// Puts requests to a server while another thread looks at it as fast as it can; `beside` is done after each.
fn served(patience: Duration, beside: impl Fn(&OwnedFd)) -> Result<(), String> {
    let script = script();
    std::fs::write(&script.path, ECHO).unwrap();
    let (mut to, stdin) = UnixStream::pair().unwrap();
    let (from, stdout) = UnixStream::pair().unwrap();
    let stdin = OwnedFd::from(stdin);
    let mut node = Command::new("node");
    node.arg(&script.path)
        .stdin(stdin.try_clone().unwrap())
        .stdout(OwnedFd::from(stdout));
    let server = Ward(node.spawn().unwrap());
    // The command keeps the server's end of its stdout.
    drop(node);
    from.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut from = BufReader::new(from);
    ask(&mut to, &mut from, "first")?;
    from.get_ref().set_read_timeout(Some(patience)).unwrap();
    let (looks, over) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let looked = look(server.0.id(), &looks, &over);
            over.store(true, Ordering::Relaxed);
            looked
        });
        let mut number = 0;
        let mut asked = Ok(());
        while asked.is_ok()
            && !over.load(Ordering::Relaxed)
            && (number < REQUESTS || looks.load(Ordering::Relaxed) < LOOKS)
        {
            number += 1;
            asked = write(&mut to, &number.to_string());
            beside(&stdin);
            asked = asked.and_then(|()| read(&mut from, &number.to_string()));
        }
        over.store(true, Ordering::Relaxed);
        looking.join().unwrap().and(asked)
    })
}

fn look(server: u32, looks: &AtomicU32, over: &AtomicBool) -> Result<(), String> {
    let text = |failed: Failed| failed.message().unwrap_or_default().to_owned();
    let mut collector = collector().map_err(text)?;
    while !over.load(Ordering::Relaxed) {
        let world = collector.next(None).map_err(|error| error.to_string())?;
        let judged = instance(&world, server).map_err(text)?;
        if judged.stdio.is_none() {
            return Err(format!("its wire was not looked at: {judged:#?}"));
        }
        looks.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn ask(to: &mut UnixStream, from: &mut BufReader<UnixStream>, request: &str) -> Result<(), String> {
    write(to, request).and_then(|()| read(from, request))
}

fn write(to: &mut UnixStream, request: &str) -> Result<(), String> {
    writeln!(to, "{request}").map_err(|error| format!("request {request}: {error}"))
}

fn read(from: &mut BufReader<UnixStream>, request: &str) -> Result<(), String> {
    let mut answer = String::new();
    let read = from.read_line(&mut answer);
    match read {
        Ok(_) if answer.trim_end() == request => Ok(()),
        other => Err(format!("request {request}: answered {answer:?}, {other:?}")),
    }
}
