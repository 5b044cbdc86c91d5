//! Takes secrets out of everything in a world that another process or a file wrote.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::model::bytes::OsBytes;
use crate::model::descriptor::Target;
use crate::model::finding::{Fact, Lead};
use crate::model::instance::{Instance, Judged};
use crate::model::known::ConfiguredServer;
use crate::model::process::{Environment, Process};
use crate::model::reading::Reading;
use crate::model::sample::{Problem, Sample};
use crate::model::world::World;
use crate::text::redact::Redactor;

/// Remembers what was looked at: a machine has few different paths and names.
pub(super) struct Removal<'a> {
    redactor: &'a Redactor,
    seen: HashMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Removal<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self {
            redactor,
            seen: HashMap::new(),
        }
    }

    /// Returns the world without secrets. Processes that hold none stay shared.
    pub(super) fn world(&mut self, world: &World) -> World {
        World {
            seq: world.seq,
            sample: self.sample(&world.sample),
            judged: self.judged(&world.judged),
            complete: world.complete,
        }
    }

    /// Returns the entry without secrets. A value is judged by the name of its variable too.
    pub(super) fn configured(&mut self, entry: &ConfiguredServer) -> ConfiguredServer {
        let mut entry = entry.clone();
        let argv: Vec<&str> = std::iter::once(entry.command.as_str())
            .chain(entry.args.iter().map(String::as_str))
            .collect();
        let mut redacted = self.redactor.argv(&argv).into_iter().map(text);
        entry.command = redacted.next().unwrap_or_default();
        entry.args = redacted.collect();
        for (name, value) in &mut entry.env {
            let line = self.redactor.line(&format!("{name}={value}"));
            if let Some(redacted) = line.strip_prefix(&format!("{name}=")) {
                redacted.clone_into(value);
            } else {
                value.clear();
            }
        }
        self.bytes(&mut entry.file);
        self.bytes(&mut entry.name);
        self.some(&mut entry.project);
        if let Some(cwd) = &mut entry.cwd {
            self.text(cwd);
        }
        entry
    }

    fn line(&mut self, bytes: &[u8]) -> Vec<u8> {
        if let Some(redacted) = self.seen.get(bytes) {
            return redacted.clone();
        }
        let redacted = self.redactor.bytes(bytes);
        self.seen.insert(bytes.to_vec(), redacted.clone());
        redacted
    }

    fn bytes(&mut self, bytes: &mut OsBytes) {
        let redacted = self.line(bytes.as_bytes());
        if redacted != bytes.as_bytes() {
            *bytes = redacted.into();
        }
    }

    fn text(&mut self, line: &mut String) {
        *line = text(self.line(line.as_bytes()));
    }

    fn some(&mut self, bytes: &mut Option<OsBytes>) {
        if let Some(bytes) = bytes {
            self.bytes(bytes);
        }
    }

    fn read(&mut self, reading: &mut Reading<OsBytes>) {
        if let Reading::Value(bytes) = reading {
            self.bytes(bytes);
        }
    }

    fn sample(&mut self, sample: &Sample) -> Sample {
        let mut sample = sample.clone();
        for process in sample.processes.values_mut() {
            let redacted = self.process(process);
            if redacted != **process {
                *process = Arc::new(redacted);
            }
        }
        if let Reading::Value(sockets) = &mut sample.sockets {
            for socket in sockets.unix.values_mut() {
                self.some(&mut socket.path);
            }
        }
        for unit in &mut sample.units {
            self.text(&mut unit.name);
        }
        self.bytes(&mut sample.observer.program);
        self.problems(&mut sample.problems);
        sample
    }

    fn process(&mut self, process: &Process) -> Process {
        let mut process = process.clone();
        if let Reading::Value(argv) = &mut process.argv {
            let raw: Vec<&[u8]> = argv.iter().map(OsBytes::as_bytes).collect();
            *argv = self.redactor.argv(&raw).into_iter().map(OsBytes::from).collect();
        }
        self.bytes(&mut process.comm);
        self.read(&mut process.exe);
        self.read(&mut process.cwd);
        self.read(&mut process.cgroup);
        if let Reading::Value(environment) = &mut process.environment {
            self.environment(environment);
        }
        if let Reading::Value(descriptors) = &mut process.descriptors {
            for descriptor in descriptors {
                match &mut descriptor.target {
                    Target::Fifo { path, .. } | Target::Terminal { path, .. } | Target::File { path, .. } => {
                        self.bytes(path);
                    }
                    Target::Anonymous { name, .. } => self.bytes(name),
                    Target::Other { link } => self.bytes(link),
                    Target::Pipe { .. } | Target::Socket { .. } | Target::PtyMaster { .. } | Target::Null => {
                    }
                }
            }
        }
        for lock in &mut process.locks {
            self.some(&mut lock.path);
        }
        process
    }

    /// Identifiers are kept as they are, session ids above all: a random look is their nature. In a URL
    /// anything may stand.
    fn environment(&mut self, environment: &mut Environment) {
        let urls = environment
            .identifiers
            .values_mut()
            .filter(|value| value.lossy().contains("://"));
        for value in urls {
            self.bytes(value);
        }
    }

    fn problems(&mut self, problems: &mut [Problem]) {
        for problem in problems {
            self.text(&mut problem.what);
            self.text(&mut problem.detail);
        }
    }

    fn judged(&mut self, judged: &Judged) -> Judged {
        let mut judged = judged.clone();
        for instance in &mut judged.instances {
            self.instance(instance);
        }
        let clients: BTreeMap<_, _> = judged
            .clients
            .into_iter()
            .map(|(key, mut client)| {
                self.text(&mut client.because);
                (key, client)
            })
            .collect();
        judged.clients = clients;
        self.problems(&mut judged.problems);
        judged
    }

    fn instance(&mut self, instance: &mut Instance) {
        self.bytes(&mut instance.name);
        let identified = &mut instance.identified_by;
        self.text(&mut identified.because);
        self.some(&mut identified.file);
        self.some(&mut identified.server_name);
        if let Some(client) = &mut instance.client {
            self.bytes(&mut client.name);
        }
        if let Some(adopter) = &mut instance.adopter {
            self.bytes(&mut adopter.name);
            self.text(&mut adopter.because);
        }
        if let Some(managed) = &mut instance.managed {
            self.text(&mut managed.unit);
        }
        if let Some(network) = &mut instance.network {
            network.listens.iter_mut().for_each(|line| self.text(line));
            network.peers.iter_mut().for_each(|line| self.text(line));
        }
        instance
            .reach
            .iter_mut()
            .flatten()
            .for_each(|lead| self.lead(lead));
        self.facts(&mut instance.acts_now);
        self.facts(&mut instance.facts);
    }

    fn lead(&mut self, lead: &mut Lead) {
        self.bytes(&mut lead.target);
        self.text(&mut lead.meaning);
        if let Some(advice) = &mut lead.advice {
            self.text(advice);
        }
    }

    fn facts(&mut self, facts: &mut [Fact]) {
        for fact in facts {
            self.text(&mut fact.text);
            self.text(&mut fact.source);
        }
    }
}

/// Redaction keeps UTF-8 as it is; what came from text is text.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
