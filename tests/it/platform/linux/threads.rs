//! A process whose main thread has exited: its own directory looks empty, its threads' do not.

use std::process::Command;

use mcpwake::model::bytes::OsBytes;
use mcpwake::model::descriptor::{Access, Holder};
use mcpwake::model::process::Process;

use super::support::{Ward, inode, look, open, own_pid, sample_until, source};

/// Ends the main thread alone (`exit`(2), by its number on this machine) while another one waits.
const SCRIPT: &str = "
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print('ready', flush=True)
exit = {'x86_64': 60}.get(os.uname().machine, 93)
ctypes.CDLL(None).syscall(exit, 0)
";

#[test]
fn a_process_without_its_main_thread_shows_what_it_has() {
    let mut ward = Ward::start(Command::new("python3").args(["-c", SCRIPT]));
    ward.wait_for_line();
    let mut source = source();
    sample_until(&mut source, ward.pid(), Process::lost_main_thread);
    let sample = look(&mut source, &[ward.pid(), own_pid()]);
    let process = sample.process(ward.pid()).unwrap();
    assert_eq!((process.state, process.is_zombie()), ('Z', false));
    assert_eq!(process.args()[1], OsBytes::from("-c"));
    assert!(!process.argv_kept);
    assert!(
        process
            .exe
            .value()
            .is_some_and(|exe| exe.lossy().contains("python"))
    );
    assert!(process.environment.value().is_some() && process.net_namespace.value().is_some());
    assert_eq!(
        open(&sample, ward.pid())
            .iter()
            .map(|one| one.fd)
            .collect::<Vec<_>>()[..3],
        [0, 1, 2]
    );
    let stdout = inode(&sample, ward.pid(), 1);
    let writers: Vec<&Holder> = sample.holders[&stdout]
        .iter()
        .filter(|holder| holder.access == Access::Write)
        .collect();
    assert_eq!(
        writers
            .iter()
            .map(|holder| holder.process.pid)
            .collect::<Vec<_>>(),
        [ward.pid()]
    );
    assert!(sample.unsearched.iter().all(|one| one.process != process.key));
}

#[test]
fn it_shows_the_same_to_who_has_never_seen_it_before() {
    let mut ward = Ward::start(Command::new("python3").args(["-c", SCRIPT]));
    ward.wait_for_line();
    sample_until(&mut source(), ward.pid(), Process::lost_main_thread);
    let sample = look(&mut source(), &[ward.pid()]);
    let process = sample.process(ward.pid()).unwrap();
    assert_eq!(process.args()[1], OsBytes::from("-c"));
}
