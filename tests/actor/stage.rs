//! Brings a situation up, and takes everything of it down again, by pid.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use tempfile::TempDir;

use crate::common::watched::{Watched, take_down};
use crate::part::{self, Part};
use crate::short;

/// Longer than a start takes on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// A situation that is up.
pub(crate) struct Stage {
    home: TempDir,
    /// In the order of `Part::all`: a parent before its children.
    actors: Vec<(String, Watched)>,
}

impl Stage {
    /// Starts every part, and waits until all of them have said that they are there.
    #[expect(
        clippy::zombie_processes,
        reason = "it is waited for by its pid, with the others"
    )]
    pub(crate) fn up(mut scene: Part) -> Self {
        let home = tempfile::tempdir().unwrap();
        place(&mut scene, home.path());
        let place = short::directory();
        let report = place.path().join("report");
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
            found.insert(role.to_owned(), Watched::new(pid.parse().unwrap()));
        }
        let actors = roles
            .into_iter()
            .map(|role| {
                let actor = found.remove(&role).unwrap();
                (role, actor)
            })
            .collect();
        Self { home, actors }
    }

    /// Returns the pid of a role.
    pub(crate) fn pid(&self, role: &str) -> u32 {
        self.actor(role).pid()
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the process of a role.
    pub(crate) fn actor(&self, role: &str) -> &Watched {
        self.actors
            .iter()
            .find(|(known, _)| known == role)
            .map(|(_, actor)| actor)
            .unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        take_down(self.actors.iter().map(|(_, actor)| actor));
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
