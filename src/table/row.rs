//! Rows of the tree: what they stand for, and the figures that are summed up in them.

use crate::model::bytes::OsBytes;
use crate::model::finding::{Finding, Lead, LeadKind};
use crate::model::identity::{InstanceId, Pid, ProcessKey};
use crate::model::instance::{Instance, OwnerKey, Role};
use crate::model::process::Process;
use crate::model::world::World;

/// What a row stands for; stays the same from sample to sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowId {
    /// A client process, the process that adopted instances, or a user that cannot be read.
    Owner(OwnerKey),
    /// The servers of one name under an owner.
    Kind(OwnerKey, OsBytes),
    /// An instance: its server.
    Instance(InstanceId),
    /// One process.
    Process(ProcessKey),
}

/// Leads counted by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    counts: [u32; LEADS.len()],
    /// Instances that nobody looked at.
    pub unread: u32,
}

/// The kinds of leads in the order of the REACH column, with their short words. The same word
/// twice is counted together.
const LEADS: [(LeadKind, &str); 10] = [
    (LeadKind::Tcp, "tcp"),
    (LeadKind::Udp, "udp"),
    (LeadKind::Ssh, "ssh"),
    (LeadKind::Listener, "lsn"),
    (LeadKind::UnixSocket, "unix"),
    (LeadKind::CredentialName, "tok"),
    (LeadKind::CredentialArgument, "tok"),
    (LeadKind::CredentialFile, "tok"),
    (LeadKind::File, "file"),
    (LeadKind::Child, "chld"),
];

impl Reach {
    /// Counts leads.
    pub fn of<'a>(leads: impl IntoIterator<Item = &'a Lead>) -> Self {
        let mut reach = Self::default();
        for lead in leads {
            if let Some(at) = LEADS.iter().position(|(kind, _)| *kind == lead.kind) {
                reach.counts[at] += 1;
            }
        }
        reach
    }

    /// Returns what is known of an instance that nobody looked at.
    pub fn not_read() -> Self {
        Self {
            unread: 1,
            ..Self::default()
        }
    }

    /// Returns the number of leads.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Returns `3tcp ssh tok`; `?` where nobody looked, `none seen` where there is none.
    pub fn words(&self) -> String {
        let mut words: Vec<(&str, u32)> = Vec::new();
        for ((_, word), count) in LEADS.iter().zip(self.counts) {
            match words.iter_mut().find(|(known, _)| known == word) {
                Some((_, sum)) => *sum += count,
                None => words.push((word, count)),
            }
        }
        let mut parts: Vec<String> = words
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(word, count)| match count {
                1 => word.to_owned(),
                _ if word == "tok" => word.to_owned(),
                _ => format!("{count}{word}"),
            })
            .collect();
        if self.unread > 0 {
            parts.push("?".to_owned());
        }
        if parts.is_empty() {
            "none seen".to_owned()
        } else {
            parts.join(" ")
        }
    }

    fn add(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
        self.unread += other.unread;
    }
}

/// Figures of a row: of one process, or summed over what it stands for.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Instances in it.
    pub instances: u32,
    /// How many of them have each finding, in the order of `Finding::ALL`.
    pub findings: [u32; Finding::ALL.len()],
    /// Instances of which a younger twin exists.
    pub older: u32,
    /// Start of the oldest, in the kernel's unit.
    pub start: Option<u64>,
    /// Time since then, milliseconds.
    pub elapsed_ms: Option<u64>,
    /// CPU use in tenths of a per cent.
    pub cpu_permille: Option<u32>,
    /// Resident memory.
    pub rss_bytes: Option<u64>,
    /// Leads; `None` for what has no leads of its own.
    pub reach: Option<Reach>,
}

impl Figures {
    /// Returns the figures of a process by itself.
    pub fn of_process(world: &World, process: &Process) -> Self {
        Self {
            start: Some(process.key.start.0),
            elapsed_ms: Some(world.sample.elapsed_ms(process)),
            cpu_permille: process.cpu_permille,
            rss_bytes: Some(process.rss_bytes),
            ..Self::default()
        }
    }

    /// Returns the figures of an instance: CPU and memory of all members, start of its server.
    pub fn of_instance(world: &World, instance: &Instance) -> Self {
        let mut figures = Self {
            instances: 1,
            older: u32::from(instance.older_twin),
            reach: Some(match &instance.reach {
                Some(leads) => Reach::of(leads),
                None => Reach::not_read(),
            }),
            ..Self::default()
        };
        figures.findings[position(instance.finding)] = 1;
        for (key, _) in instance.members() {
            let Some(process) = world.sample.get(key) else {
                continue;
            };
            figures.cpu_permille = sum(figures.cpu_permille, process.cpu_permille);
            figures.rss_bytes = Some(figures.rss_bytes.unwrap_or(0).saturating_add(process.rss_bytes));
        }
        if let Some(process) = world.sample.get(instance.lead_process()) {
            figures.start = Some(process.key.start.0);
            figures.elapsed_ms = Some(world.sample.elapsed_ms(process));
        }
        figures
    }

    /// Adds the figures of a part; the oldest start counts.
    pub fn add(&mut self, part: &Self) {
        self.instances += part.instances;
        for (sum, count) in self.findings.iter_mut().zip(part.findings) {
            *sum += count;
        }
        self.older += part.older;
        self.start = [self.start, part.start].into_iter().flatten().min();
        self.elapsed_ms = self.elapsed_ms.max(part.elapsed_ms);
        self.cpu_permille = sum(self.cpu_permille, part.cpu_permille);
        if let Some(bytes) = part.rss_bytes {
            self.rss_bytes = Some(self.rss_bytes.unwrap_or(0).saturating_add(bytes));
        }
        if let Some(reach) = &part.reach {
            self.reach.get_or_insert_default().add(reach);
        }
    }

    /// Returns how many instances have a finding.
    pub fn count(&self, finding: Finding) -> u32 {
        self.findings[position(finding)]
    }

    /// Returns the worst finding.
    pub fn worst(&self) -> Option<Finding> {
        Finding::ALL.into_iter().find(|finding| self.count(*finding) > 0)
    }

    /// Returns how many instances are in trouble.
    pub fn trouble(&self) -> u32 {
        Finding::ALL
            .into_iter()
            .filter(|finding| finding.is_trouble())
            .map(|finding| self.count(finding))
            .sum()
    }
}

fn position(finding: Finding) -> usize {
    Finding::ALL.iter().position(|one| *one == finding).unwrap_or(0)
}

fn sum(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, other) => one.or(other),
    }
}

/// One row with its place in the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it stands for.
    pub id: RowId,
    /// The row it hangs from.
    pub parent: Option<usize>,
    /// Steps from the top.
    pub depth: u16,
    /// The rows below it.
    pub children: Vec<usize>,
    /// Its figures.
    pub figures: Figures,
    /// Whether its children are shown before anybody folds or unfolds it.
    pub open: bool,
    /// The instance that it is, or is a member of.
    pub instance: Option<InstanceId>,
    /// Its part in that instance, where it is a process of its own.
    pub role: Option<Role>,
    /// Whether what it stands for is gone: it shows what was seen last.
    pub gone: bool,
}

impl Node {
    /// Returns a node without a place.
    pub fn new(id: RowId, figures: Figures) -> Self {
        Self {
            id,
            parent: None,
            depth: 0,
            children: Vec::new(),
            figures,
            open: false,
            instance: None,
            role: None,
            gone: false,
        }
    }

    /// Returns whether it is the row of an instance in trouble.
    pub fn is_trouble(&self) -> bool {
        !self.gone
            && self.role.is_none()
            && matches!(self.id, RowId::Instance(_))
            && self.figures.trouble() > 0
    }
}

/// Returns the pid that an owner has.
pub fn owner_pid(owner: &OwnerKey) -> Option<Pid> {
    match owner {
        OwnerKey::Adopter(key) | OwnerKey::Process(key) => Some(key.pid),
        OwnerKey::User(_) => None,
    }
}
