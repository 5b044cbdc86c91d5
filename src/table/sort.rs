//! The order of rows: trouble first, then by start, unless a column is asked for.

use super::cells;
use super::column::{COLUMNS, ColumnId};
use super::index::Shown;
use super::row::{Node, RowId};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::OwnerKey;

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column; `None`: trouble first, then by start. Rows do not jump in that order.
    pub column: Option<ColumnId>,
    /// Whether the order is turned round.
    pub inverted: bool,
}

/// Columns that rows can be sorted by: those whose cells have an order of their own.
const SORTABLE: [ColumnId; 10] = [
    ColumnId::Name,
    ColumnId::Pid,
    ColumnId::Ppid,
    ColumnId::Pgid,
    ColumnId::User,
    ColumnId::Finding,
    ColumnId::Elapsed,
    ColumnId::Cpu,
    ColumnId::Mem,
    ColumnId::Reach,
];

impl Sort {
    /// Returns the order by the next column, or by the previous one; behind the last comes the
    /// first order again.
    #[must_use]
    pub fn step(self, forward: bool) -> Self {
        let order: Vec<Option<ColumnId>> = std::iter::once(None)
            .chain(
                COLUMNS
                    .iter()
                    .map(|column| column.id)
                    .filter(|id| SORTABLE.contains(id))
                    .map(Some),
            )
            .collect();
        let at = order.iter().position(|one| *one == self.column).unwrap_or(0);
        let step = if forward { 1 } else { order.len() - 1 };
        Self {
            column: order[(at + step) % order.len()],
            inverted: false,
        }
    }

    /// Returns the order as the screen names it.
    pub fn words(self) -> String {
        let inverted = if self.inverted { ", inverted" } else { "" };
        match self.column {
            None => format!("trouble, then start{inverted}"),
            Some(id) => format!("{}{inverted}", id.column().title),
        }
    }
}

/// Sorts rows that hang from the same row.
pub(super) fn order(shown: Shown<'_>, nodes: &[Node], rows: &mut [usize], sort: Sort) {
    match sort.column {
        None => rows.sort_by_cached_key(|at| {
            let node = &nodes[*at];
            (
                owner_class(shown, node),
                trouble_rank(node),
                node.figures.start,
                pid(shown, node),
                node.id.clone(),
            )
        }),
        Some(ColumnId::Name) => {
            rows.sort_by_cached_key(|at| (cells::name(shown, &nodes[*at]).as_str().to_lowercase(), *at));
        }
        Some(ColumnId::User) => {
            rows.sort_by_cached_key(|at| {
                (
                    cells::cell(shown, &nodes[*at], ColumnId::User),
                    tie(shown, &nodes[*at]),
                )
            });
        }
        Some(id) => rows.sort_by(|a, b| {
            let (a, b) = (&nodes[*a], &nodes[*b]);
            let order = number(shown, a, id).cmp(&number(shown, b, id));
            let order = if id.column().biggest_first {
                order.reverse()
            } else {
                order
            };
            order.then_with(|| tie(shown, a).cmp(&tie(shown, b)))
        }),
    }
    if sort.inverted {
        rows.reverse();
    }
}

fn tie(shown: Shown<'_>, node: &Node) -> (Option<u64>, Option<Pid>) {
    (node.figures.start, pid(shown, node))
}

/// Adopters without a live client, then clients, then other parents, then users that cannot be
/// read.
fn owner_class(shown: Shown<'_>, node: &Node) -> u8 {
    match &node.id {
        RowId::Owner(OwnerKey::Process(key)) if cells::is_client(shown, *key) => 1,
        RowId::Owner(OwnerKey::Process(_)) => 2,
        RowId::Owner(OwnerKey::User(_)) => 3,
        RowId::Owner(OwnerKey::Adopter(_)) | RowId::Kind(..) | RowId::Instance(_) | RowId::Process(_) => 0,
    }
}

fn trouble_rank(node: &Node) -> usize {
    match node.figures.worst() {
        Some(finding) if finding.is_trouble() => finding as usize,
        _ => usize::MAX,
    }
}

fn pid(shown: Shown<'_>, node: &Node) -> Option<Pid> {
    key(shown, node).map(|key| key.pid)
}

/// Returns the process that a row stands for.
pub(super) fn key(shown: Shown<'_>, node: &Node) -> Option<ProcessKey> {
    match &node.id {
        RowId::Owner(OwnerKey::Adopter(key) | OwnerKey::Process(key)) | RowId::Process(key) => Some(*key),
        RowId::Instance(id) => shown
            .instance(*id)
            .map(crate::model::instance::Instance::lead_process),
        RowId::Owner(OwnerKey::User(_)) | RowId::Kind(..) => None,
    }
}

fn number(shown: Shown<'_>, node: &Node, id: ColumnId) -> Option<u64> {
    let process = || key(shown, node).and_then(|key| shown.process(key));
    match id {
        ColumnId::Pid => pid(shown, node).map(|pid| u64::from(pid.get())),
        ColumnId::Ppid => process().and_then(|one| one.ppid).map(|pid| u64::from(pid.get())),
        ColumnId::Pgid => process().and_then(|one| one.pgid).map(|pid| u64::from(pid.get())),
        ColumnId::Finding => Some(node.figures.worst().map_or(u64::MAX, |finding| finding as u64)),
        ColumnId::Elapsed => node.figures.elapsed_ms,
        ColumnId::Cpu => node.figures.cpu_permille.map(u64::from),
        ColumnId::Mem => node.figures.rss_bytes,
        ColumnId::Reach => node.figures.reach.map(|reach| u64::from(reach.total())),
        ColumnId::Name
        | ColumnId::User
        | ColumnId::Stat
        | ColumnId::Wire
        | ColumnId::Command
        | ColumnId::Why => None,
    }
}
