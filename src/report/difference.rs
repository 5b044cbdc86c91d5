//! The published format `mcpwake.diff/1`: what `diff A B --json` prints.

use schemars::JsonSchema;
use serde::Serialize;

use super::publish::Secrets;
use crate::analysis::diff::{Change, Difference};
use crate::model::identity::InstanceId;
use crate::model::world::World;

/// Name of the format, in `schema`.
const SCHEMA: &str = "mcpwake.diff/1";

/// What changed between two snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "mcpwake.diff/1")]
pub struct Diff {
    /// Always `mcpwake.diff/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The first snapshot.
    pub earlier: Side,
    /// The second one.
    pub later: Side,
    /// Whether both are of one boot of one machine; else no process of one is one of the other, and
    /// everything is gone and new.
    pub same_boot: bool,
    /// Instances that only the second one has.
    pub appeared: Vec<Named>,
    /// Instances that only the first one has.
    pub gone: Vec<Named>,
    /// Instances that both have and that differ.
    pub changed: Vec<ChangedInstance>,
    /// Number of processes that only the second one has.
    pub processes_appeared: u64,
    /// Number of processes that only the first one has.
    pub processes_gone: u64,
}

/// One of the two snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Host name.
    pub hostname: String,
    /// Boot id of the host.
    pub boot_id: String,
    /// When its sample was begun, RFC 3339 UTC with milliseconds.
    pub taken_at: String,
}

/// An instance.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Named {
    /// Its id, as in `mcpwake.inventory/1`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its finding, in the snapshot that has it; of one that both have, in the second.
    #[schemars(extend("enum" = ["severed", "held", "wedged", "defunct", "unknown", "network", "attached"]))]
    pub finding: String,
}

/// An instance that is not as it was.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangedInstance {
    /// The instance.
    #[serde(flatten)]
    pub instance: Named,
    /// What differs.
    pub changes: Vec<OneChange>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OneChange {
    /// What: `finding`, `client`, `adopter`, `server`, `launchers`, `helpers`, `older twin`, `lead`.
    pub what: String,
    /// How it was; null: it was not there.
    pub from: Option<String>,
    /// How it is; null: it is not there.
    pub to: Option<String>,
}

impl Diff {
    /// Returns what is published of a difference of two worlds; secrets are removed.
    pub fn new(earlier: &World, later: &World, difference: &Difference, secrets: Secrets<'_>) -> Self {
        let named = |world: &World, id: InstanceId| {
            let instance = world.judged.instance(id)?;
            Some(Named {
                id: id.to_string(),
                name: secrets.line(&instance.name.lossy()),
                finding: instance.finding.word().to_owned(),
            })
        };
        let change = |change: &Change| OneChange {
            what: change.what.to_owned(),
            from: change.from.as_deref().map(|text| secrets.line(text)),
            to: change.to.as_deref().map(|text| secrets.line(text)),
        };
        let changed = difference.changed.iter().filter_map(|changed| {
            Some(ChangedInstance {
                instance: named(later, changed.id)?,
                changes: changed.changes.iter().map(change).collect(),
            })
        });
        Self {
            schema: SCHEMA,
            earlier: Side::of(earlier),
            later: Side::of(later),
            same_boot: difference.same_boot,
            appeared: difference
                .appeared
                .iter()
                .filter_map(|id| named(later, *id))
                .collect(),
            gone: difference
                .gone
                .iter()
                .filter_map(|id| named(earlier, *id))
                .collect(),
            changed: changed.collect(),
            processes_appeared: difference.processes_appeared,
            processes_gone: difference.processes_gone,
        }
    }
}

impl Side {
    fn of(world: &World) -> Self {
        let host = &world.sample.host;
        Self {
            hostname: host.hostname.lossy().into_owned(),
            boot_id: host.boot_id.clone(),
            taken_at: world.sample.taken_at.rfc3339(),
        }
    }
}
