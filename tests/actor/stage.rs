//! Brings a situation up, and takes everything of it down again, by pid.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, waitpid,
};
use tempfile::TempDir;

use crate::part::{self, Part};

/// Longer than a start takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// Makes this process the one that adopts orphans below it, so that it can reap them.
pub(crate) fn adopt_orphans() {
    set_child_subreaper(Some(getpid())).unwrap();
}

/// A situation that is up.
pub(crate) struct Stage {
    home: TempDir,
    /// In the order of `Part::all`: a parent before its children.
    actors: Vec<Actor>,
}

struct Actor {
    role: String,
    pid: Pid,
    descriptor: OwnedFd,
}

impl Stage {
    /// Starts every part, and waits until all of them have said that they are there.
    pub(crate) fn up(mut scene: Part) -> Self {
        let home = tempfile::tempdir().unwrap();
        place(&mut scene, home.path());
        let report = home.path().join("report");
        let listener = UnixListener::bind(&report).unwrap();
        let mut command = part::command(&scene, &report.display().to_string(), std::process::id());
        command
            .env_clear_but_ours()
            .env("HOME", home.path())
            .current_dir(home.path())
            .spawn()
            .unwrap();
        let roles: Vec<String> = scene.all().iter().map(|part| part.role.clone()).collect();
        let (tell, reports) = channel();
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let line = BufReader::new(socket).lines().next().unwrap().unwrap();
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let mut found = BTreeMap::new();
        while found.len() < roles.len() {
            let line = reports.recv_timeout(DEADLINE).expect("every part reports");
            let (role, pid) = line.split_once(' ').unwrap();
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            let descriptor = pidfd_open(pid, PidfdFlags::empty()).unwrap();
            found.insert(
                role.to_owned(),
                Actor {
                    role: role.to_owned(),
                    pid,
                    descriptor,
                },
            );
        }
        let actors = roles.iter().map(|role| found.remove(role).unwrap()).collect();
        Self { home, actors }
    }

    /// Returns the pid of a role.
    pub(crate) fn pid(&self, role: &str) -> u32 {
        self.actor(role).pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    fn actor(&self, role: &str) -> &Actor {
        self.actors.iter().find(|actor| actor.role == role).unwrap()
    }

    /// Kills one process, and waits until it is gone; its children are adopted.
    pub(crate) fn kill(&self, role: &str) {
        let actor = self.actor(role);
        pidfd_send_signal(&actor.descriptor, Signal::KILL).unwrap();
        gone(&actor.descriptor);
        // Only a child of this process can be waited for; another's stays its parent's zombie.
        let _ = waitpid(Some(actor.pid), WaitOptions::NOHANG);
    }

    /// Stops one process, and waits until it has stopped.
    pub(crate) fn stop(&self, role: &str) {
        let actor = self.actor(role);
        pidfd_send_signal(&actor.descriptor, Signal::STOP).unwrap();
        while state(actor.pid) != Some('T') {
            std::thread::yield_now();
        }
    }
}

fn state(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Waits until the process of a pidfd has exited.
fn gone(descriptor: &OwnedFd) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let wait = Timespec {
        tv_sec: 30,
        tv_nsec: 0,
    };
    let ready = poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&wait)).unwrap();
    assert_eq!(ready, 1, "a killed process is gone in time");
}

impl Drop for Stage {
    fn drop(&mut self) {
        for actor in &self.actors {
            // It may have gone by itself.
            let _ = pidfd_send_signal(&actor.descriptor, Signal::KILL);
        }
        // Parents first: what they leave is adopted by this process, and reaped next.
        for actor in &self.actors {
            gone(&actor.descriptor);
            let _ = waitpid(Some(actor.pid), WaitOptions::empty());
        }
    }
}

/// Gives every part a link to this binary under the name of its program.
fn place(part: &mut Part, home: &Path) {
    let link = home.join("bin").join(&part.program);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    if !link.exists() {
        symlink(std::env::current_exe().unwrap(), &link).unwrap();
    }
    part.program = link.display().to_string();
    for child in &mut part.children {
        place(child, home);
    }
}

/// Removes what the test's own environment would tell about the parts.
trait Bare {
    fn env_clear_but_ours(&mut self) -> &mut Self;
}

impl Bare for std::process::Command {
    fn env_clear_but_ours(&mut self) -> &mut Self {
        for (name, _) in std::env::vars_os() {
            self.env_remove(name);
        }
        self
    }
}
