//! A journal and a desk in memory, for the tests of what is kept.

use crate::app::effect::{Effect, Opened, Order, Outcome};
use crate::app::testkit::{NOW, press};
use crate::app::{App, Event, update};
use crate::journal::line::{Joint, Line, Sealed};
use crate::journal::{Entry, Operator};
use crate::model::time::UnixMillis;
use crate::model::world::World;

/// A journal that is written in memory.
pub(crate) struct Journal {
    joint: Joint,
    operator: Operator,
}

impl Journal {
    pub(crate) fn of(world: &World) -> Self {
        Self {
            joint: Joint::START,
            operator: Operator::from(&world.sample.observer),
        }
    }

    pub(crate) fn add(&mut self, entry: &Entry) -> Line {
        let at = UnixMillis(NOW + 1000);
        let sealed =
            Sealed::new(self.joint, at, &self.operator, entry).expect("an entry that can be written");
        self.joint = sealed.joint;
        Line::read(&sealed.bytes).expect("a line that was just written")
    }
}

/// Opens an incident in memory.
pub(crate) fn opened(journal: &mut Journal, title: Option<String>, on: &World) -> (Entry, Opened) {
    let title = title.unwrap_or_else(|| "OPEN-1".to_owned());
    let entry = Entry::Opened {
        format: "mcpwake.journal/1".to_owned(),
        incident: "0".repeat(32),
        title: title.clone(),
        host: on.sample.host.hostname.lossy().into_owned(),
        boot_id: on.sample.host.boot_id.clone(),
        program: "mcpwake 0.1.0".to_owned(),
    };
    let line = journal.add(&entry);
    let answer = Opened {
        title,
        path: "/var/lib/mcpwake/incidents/one".to_owned(),
        lines: vec![line],
        shown: std::collections::BTreeMap::new(),
        copied: Vec::new(),
        evidence: Vec::new(),
        problem: None,
        faults: Vec::new(),
    };
    (entry, answer)
}

/// Answers every order as a desk does whose disk is well.
pub(crate) fn serve(app: &mut App, journal: &mut Journal, effects: Vec<Effect>) -> Vec<Entry> {
    let mut written = Vec::new();
    for effect in effects {
        let Effect::Desk(job, order) = effect else {
            continue;
        };
        let outcome = match order {
            Order::Open { title, on, .. } => {
                let (entry, answer) = opened(journal, title, &on);
                written.push(entry);
                Outcome::Opened(Ok(answer))
            }
            Order::Append(entry) => {
                let line = journal.add(&entry);
                written.push(*entry);
                Outcome::Written(Ok(vec![line]))
            }
            Order::Run(_) | Order::FindOpen(_) | Order::Follow | Order::Leave(_) => continue,
            Order::Save { .. } | Order::Attach(_) | Order::Copy(_) | Order::Look(_) | Order::Signal(_) => {
                continue;
            }
        };
        update(app, Event::Done(job, outcome));
    }
    written
}

/// Presses keys and serves what they order.
pub(crate) fn served(app: &mut App, journal: &mut Journal, script: &str) -> Vec<Entry> {
    let effects = press(app, script);
    serve(app, journal, effects)
}
