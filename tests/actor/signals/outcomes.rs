//! What a signal does to processes of each kind, and what the signaller says of it.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use libtest_mimic::Trial;
use mcpwake::model::act::{Difference, Sent, Signal, Standing, Target, Way};
use mcpwake::model::identity::{ProcessKey, StartKey};

use super::kit::{Bench, LONG, SHORT, Ward, pid_of, stat, trial, until, until_state};
use crate::common::watched::Watched;
use crate::public::Public;

/// Pid of the process that a child of another user tries to signal.
const ANOTHER_USER: &str = "MCPWAKE_ACTOR_SIGNALS";
/// Bit of TERM in a mask.
const TERM_BIT: u64 = 1 << 14;
const TERM: Option<i32> = Some(15);
const KILL: Option<i32> = Some(9);

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("signal_one_that_exits_on_term", exits_on_term),
        trial("signal_one_that_ignores_term", ignores_term),
        trial("signal_one_that_is_stopped", is_stopped),
        trial("signal_a_zombie", is_a_zombie),
        trial("signal_one_that_is_gone", is_gone),
        trial("signal_one_that_ran_exec", ran_exec),
        trial("signal_one_that_rewrote_its_title", rewrote_its_title),
        trial("signal_one_whose_main_thread_has_exited", main_thread_has_exited),
        trial("signal_one_that_a_supervisor_starts_again", is_started_again),
        trial("signal_the_number_of_a_thread", is_a_thread),
        trial("signal_another_users", is_another_users),
    ]
}

fn exits_on_term() {
    let mut ward = Ward::sleeper();
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    let look = bench.look(&target);
    assert_eq!(look.way, Way::KeptPidfd);
    let process = bench.same(&target);
    assert_eq!(
        (process.key, &process.argv, &process.exe),
        (target.key, &target.argv, &target.exe)
    );
    assert_eq!(process.pidfd_inode, target.pidfd_inode);
    assert_eq!(
        process.signals.value().map(|masks| masks.ignored & TERM_BIT),
        Some(0)
    );
    let watch = bench.watch(&target);
    assert!(!watch.exited(SHORT));
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert!(watch.exited(LONG));
    // Its parent has not waited for it yet.
    assert_eq!(bench.same(&target).state, 'Z');
    assert_eq!(ward.end().signal(), TERM);
    assert_eq!(bench.look(&target).standing, Standing::Gone);
    assert_eq!(bench.send(&target, Signal::Kill), Sent::Withheld(Standing::Gone));
}

fn ignores_term() {
    let mut ward = Ward::script("trap '' TERM; echo ready; read x");
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    let masks = bench.same(&target).signals.value().copied().unwrap();
    assert_eq!(masks.ignored & TERM_BIT, TERM_BIT);
    let watch = bench.watch(&target);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert!(!watch.exited(SHORT));
    assert_eq!(bench.same(&target).key, target.key);
    assert_eq!(bench.send(&target, Signal::Kill), Sent::Accepted);
    assert!(watch.exited(LONG));
    assert_eq!(ward.end().signal(), KILL);
}

fn is_stopped() {
    let mut ward = Ward::sleeper();
    Watched::new(ward.pid()).stop();
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    assert!(bench.same(&target).is_stopped());
    let watch = bench.watch(&target);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert!(!watch.exited(SHORT));
    let process = bench.same(&target);
    let pending = process.signals.value().map(|masks| masks.pending & TERM_BIT);
    assert_eq!((process.is_stopped(), pending), (true, Some(TERM_BIT)));
    assert_eq!(bench.send(&target, Signal::Cont), Sent::Accepted);
    assert!(watch.exited(LONG));
    assert_eq!(ward.end().signal(), TERM);
}

fn is_a_zombie() {
    let mut ward = Ward::start(Command::new("sh").args(["-c", "exit 3"]));
    until_state(ward.pid(), 'Z');
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    let process = bench.same(&target);
    assert!(process.is_zombie());
    assert!(bench.watch(&target).exited(LONG));
    for signal in [Signal::Term, Signal::Kill, Signal::Cont] {
        let sent = bench.send(&target, signal);
        assert!(
            matches!(&sent, Sent::Withheld(Standing::Same(process)) if process.is_zombie()),
            "{sent:?}"
        );
    }
    assert_eq!(ward.end().code(), Some(3));
    assert_eq!(bench.look(&target).standing, Standing::Gone);
}

fn is_gone() {
    // Gone between seeing and looking.
    let ward = Ward::sleeper();
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    drop(ward);
    assert_eq!(bench.look(&target).standing, Standing::Gone);
    assert!(matches!(bench.send(&target, Signal::Term), Sent::Withheld(_)));
    // Gone between looking and sending; and never looked at closely by the sampler.
    let ward = Ward::sleeper();
    let sample = bench.sample(&[]);
    let key = sample.process(pid_of(ward.pid())).unwrap().key;
    let target = Target::of(&sample, key, None).unwrap();
    assert_eq!(target.pidfd_inode, None);
    assert_eq!(bench.look(&target).way, Way::NewPidfd);
    bench.same(&target);
    drop(ward);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Withheld(Standing::Gone));
}

fn ran_exec() {
    let mut ward = Ward::script("echo ready; read x; exec sleep 300");
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    bench.same(&target);
    ward.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let comm = format!("/proc/{}/comm", ward.pid());
    until(|| std::fs::read(&comm).is_ok_and(|comm| comm == b"sleep\n"));
    let wanted = [Difference::Argv, Difference::Program];
    for standing in [
        bench.look(&target).standing,
        withheld(bench.send(&target, Signal::Term)),
    ] {
        assert!(
            matches!(&standing, Standing::Changed(now, found) if found[..] == wanted && now.key == target.key),
            "{standing:?}"
        );
    }
    assert!(ward.lives());
    // Whoever has seen it as it is now may end it.
    let target = bench.see(ward.pid());
    bench.same(&target);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert_eq!(ward.end().signal(), TERM);
}

fn rewrote_its_title() {
    // Writes over its own argument area, as programs that show their state there do.
    let script = "import ctypes,sys\n\
         argc=ctypes.c_int();argv=ctypes.POINTER(ctypes.c_char_p)()\n\
         raw=open('/proc/self/stat').read().rsplit(')',1)[1].split()\n\
         start=int(raw[45])\n\
         print('ready',flush=True)\n\
         sys.stdin.readline()\n\
         ctypes.memset(start,ord('x'),5)\n\
         print('rewritten',flush=True)\n\
         sys.stdin.readline()";
    let mut ward = Ward::python(script);
    let mut bench = Bench::new();
    let target = bench.see(ward.pid());
    bench.same(&target);
    ward.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(ward.line(), "rewritten");
    let standing = withheld(bench.send(&target, Signal::Term));
    assert!(
        matches!(&standing, Standing::Changed(_, found) if found[..] == [Difference::Argv]),
        "{standing:?}"
    );
    assert!(ward.lives());
}

fn main_thread_has_exited() {
    let script = "import ctypes,os,sys,threading\n\
         def rest():\n\
         \x20   print('ready',flush=True)\n\
         \x20   os.read(0,1)\n\
         \x20   os._exit(0)\n\
         threading.Thread(target=rest).start()\n\
         number={'x86_64':60,'aarch64':93}[os.uname().machine]\n\
         ctypes.CDLL(None).syscall(number,0)";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    let mut bench = Bench::new();
    ward.line();
    until_state(ward.pid(), 'Z');
    let target = bench.see(ward.pid());
    let standing = bench.look(&target).standing;
    assert!(
        matches!(&standing, Standing::Unread(why) if why.contains("main thread")),
        "{standing:?}"
    );
    assert!(matches!(bench.send(&target, Signal::Kill), Sent::Withheld(_)));
    ward.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(ward.end().code(), Some(0));
}

/// A pid that has become the number of another process's thread is not that process.
fn is_a_thread() {
    let script = "import os,threading\n\
         def rest():\n\
         \x20   print(threading.get_native_id(),flush=True)\n\
         \x20   os.read(0,1)\n\
         threading.Thread(target=rest).start()";
    let mut ward = Ward::start(Command::new("python3").args(["-c", script]));
    let thread: u32 = ward.line().parse().unwrap();
    let mut bench = Bench::new();
    let (_, start) = stat(thread).unwrap();
    let target = Target {
        key: ProcessKey {
            pid: pid_of(thread),
            start: StartKey(start),
        },
        pidfd_inode: None,
        ..bench.see(ward.pid())
    };
    assert_eq!(bench.look(&target).standing, Standing::Replaced);
    assert!(matches!(bench.send(&target, Signal::Kill), Sent::Withheld(_)));
    assert!(ward.lives());
}

fn is_started_again() {
    let supervisor = "for turn in 1 2; do sleep 300 & echo $!; wait $!; done";
    let mut ward = Ward::start(Command::new("sh").args(["-c", supervisor]));
    let first: u32 = ward.line().parse().unwrap();
    let comm = |pid: u32| std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    until(|| comm(first) == b"sleep\n");
    let mut bench = Bench::new();
    let target = bench.see(first);
    bench.same(&target);
    let watch = bench.watch(&target);
    assert_eq!(bench.send(&target, Signal::Term), Sent::Accepted);
    assert!(watch.exited(LONG));
    let second: u32 = ward.line().parse().unwrap();
    until(|| comm(second) == b"sleep\n");
    let again = bench.see(second);
    assert_eq!(again.argv, target.argv);
    assert_ne!(again.key, target.key);
    // What was confirmed for the first is nothing for the second.
    assert_eq!(bench.look(&target).standing, Standing::Gone);
    assert!(matches!(bench.send(&target, Signal::Term), Sent::Withheld(_)));
    assert!(stat(second).is_some_and(|(state, _)| state != 'Z'));
    Watched::new(second).kill();
}

fn is_another_users() {
    let another = match Public::copy(&std::env::current_exe().unwrap(), "--list") {
        Ok(another) => another,
        Err(why) => {
            println!("not tried: {why}");
            return;
        }
    };
    let mut ward = Ward::sleeper();
    let output = another
        .command()
        .env(ANOTHER_USER, ward.pid().to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let pid = ward.pid();
    for wanted in [
        &format!("EPERM: pidfd_send_signal {pid}: it belongs to root (uid 0), mcpwake runs with uid 65534"),
        "start mcpwake as its owner or as root",
    ] {
        assert!(said.contains(wanted), "{said}");
    }
    assert!(ward.lives());
}

/// Signals a process of another user and prints what came of it, where the environment says so; returns
/// whether it did.
pub(super) fn play_another_user() -> bool {
    let Ok(pid) = std::env::var(ANOTHER_USER) else {
        return false;
    };
    let mut bench = Bench::new();
    let target = bench.see(pid.parse().unwrap());
    // Its program file was not readable, and is not.
    assert!(target.exe.is_denied());
    bench.same(&target);
    for signal in [Signal::Term, Signal::Kill] {
        match bench.send(&target, signal) {
            Sent::Refused(why) => println!("{why}"),
            other => panic!("{other:?}"),
        }
    }
    true
}

fn withheld(sent: Sent) -> Standing {
    match sent {
        Sent::Withheld(standing) => standing,
        other => panic!("{other:?}"),
    }
}
