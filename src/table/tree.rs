//! Builds the tree of one world: owners with their servers, every ancestor, or a flat list.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::index::Shown;
use super::processes;
use super::row::{Figures, Node, Reach, RowId};
use super::sort::{self, Sort};
use crate::model::identity::{Pid, ProcessKey};
use crate::model::instance::{Instance, OwnerKey, Role};

/// What the tree is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breadth {
    /// Owners, and below them their servers.
    #[default]
    Owners,
    /// The process tree: members of instances and every ancestor.
    Ancestors,
    /// A flat list.
    Flat,
}

impl Breadth {
    /// Returns the next one.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Owners => Self::Ancestors,
            Self::Ancestors => Self::Flat,
            Self::Flat => Self::Owners,
        }
    }
}

/// Which processes the tree is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// MCP servers and what belongs to them.
    #[default]
    Servers,
    /// Every process of the machine.
    Everything,
}

/// How the tree is to be built.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What it is made of.
    pub breadth: Breadth,
    /// Which processes.
    pub scope: Scope,
    /// The order of rows.
    pub sort: Sort,
    /// Only this user's rows; text as the USER column shows it.
    pub user: Option<String>,
}

/// All rows of one world, folded or not.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    roots: Vec<usize>,
    by_id: HashMap<RowId, usize>,
}

impl Tree {
    /// Builds the tree.
    pub fn build(shown: Shown<'_>, plan: &Plan) -> Self {
        let mut tree = match (plan.scope, plan.breadth) {
            (Scope::Servers, Breadth::Owners) => owners(shown, plan),
            (Scope::Servers, Breadth::Flat) => instances(shown, plan),
            (Scope::Servers, Breadth::Ancestors) => processes::with_ancestors(shown, plan),
            (Scope::Everything, Breadth::Flat) => processes::flat(shown, plan),
            (Scope::Everything, _) => processes::all(shown, plan),
        };
        tree.order(shown, plan.sort);
        tree
    }

    /// Returns a row.
    pub fn node(&self, at: usize) -> Option<&Node> {
        self.nodes.get(at)
    }

    /// Returns the place of a row.
    pub fn find(&self, id: &RowId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the number of rows, folded or not.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns whether a row is that of an instance in trouble.
    pub fn any_trouble(&self) -> bool {
        self.nodes.iter().any(Node::is_trouble)
    }

    /// Returns the rows from the top down. Below a row for which `open` answers no, and among rows
    /// for which `keep` does, nothing is returned.
    pub fn walk(&self, keep: impl Fn(usize) -> bool, open: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut rows = Vec::new();
        let mut waiting: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            if !keep(at) {
                continue;
            }
            rows.push(at);
            if open(at) {
                waiting.extend(self.nodes[at].children.iter().rev());
            }
        }
        rows
    }

    /// Returns the rows that a row hangs from, nearest first.
    pub fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes.get(at).and_then(|node| node.parent), |at| {
            self.nodes[*at].parent
        })
    }

    /// Returns for each row whether it matches or holds a row that does; a row below a matching
    /// instance is kept with it.
    pub fn matching(&self, matches: impl Fn(&Node) -> bool) -> Vec<bool> {
        let mut kept = vec![false; self.nodes.len()];
        for at in self.walk(|_| true, |_| true) {
            let node = &self.nodes[at];
            let below_instance = node
                .parent
                .is_some_and(|parent| kept[parent] && matches!(self.nodes[parent].id, RowId::Instance(_)))
                || node.parent.is_some_and(|parent| {
                    kept[parent] && node.role.is_some() && self.nodes[parent].role.is_some()
                });
            if below_instance || matches(node) {
                kept[at] = true;
                for ancestor in self.ancestors(at) {
                    kept[ancestor] = true;
                }
            }
        }
        kept
    }

    /// Adds a row below another one, or at the top.
    pub(super) fn add(&mut self, parent: Option<usize>, mut node: Node) -> usize {
        let at = self.nodes.len();
        node.parent = parent;
        node.depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        self.by_id.entry(node.id.clone()).or_insert(at);
        self.nodes.push(node);
        match parent {
            Some(parent) => self.nodes[parent].children.push(at),
            None => self.roots.push(at),
        }
        at
    }

    /// Adds a row at a place among those that hang from another one, or among those at the top.
    pub fn insert(&mut self, parent: Option<usize>, rank: usize, node: Node) -> usize {
        let at = self.add(parent, node);
        let siblings = match parent {
            Some(parent) => &mut self.nodes[parent].children,
            None => &mut self.roots,
        };
        siblings.pop();
        siblings.insert(rank.min(siblings.len()), at);
        at
    }

    /// Returns the place of a row among those that hang from the same one.
    pub fn rank(&self, at: usize) -> usize {
        let parent = self.nodes.get(at).and_then(|node| node.parent);
        let siblings = parent.map_or(&self.roots, |parent| &self.nodes[parent].children);
        siblings.iter().position(|one| *one == at).unwrap_or(0)
    }

    fn order(&mut self, shown: Shown<'_>, by: Sort) {
        let mut roots = std::mem::take(&mut self.roots);
        sort::order(shown, &self.nodes, &mut roots, by);
        self.roots = roots;
        for at in 0..self.nodes.len() {
            if self.nodes[at].children.len() > 1 {
                let mut children = std::mem::take(&mut self.nodes[at].children);
                // Members of one instance stay in the order in which they started each other.
                let by = if self.nodes[at].instance.is_some() {
                    Sort::default()
                } else {
                    by
                };
                sort::order(shown, &self.nodes, &mut children, by);
                self.nodes[at].children = children;
            }
        }
    }
}

fn chosen<'a>(shown: Shown<'a>, plan: &Plan) -> impl Iterator<Item = &'a Instance> {
    let user = plan.user.clone();
    shown.world.judged.instances.iter().filter(move |instance| {
        user.as_deref().is_none_or(|user| {
            shown
                .process(instance.lead_process())
                .is_some_and(|process| processes::user_is(process, user))
        })
    })
}

fn owners(shown: Shown<'_>, plan: &Plan) -> Tree {
    let mut tree = Tree::default();
    let mut groups: BTreeMap<&OwnerKey, BTreeMap<&[u8], Vec<&Instance>>> = BTreeMap::new();
    for instance in chosen(shown, plan) {
        let kinds = groups.entry(&instance.owner).or_default();
        kinds.entry(instance.name.as_bytes()).or_default().push(instance);
    }
    for (owner, kinds) in groups {
        let mut figures = Figures::default();
        for instance in kinds.values().flatten() {
            figures.add(&Figures::of_instance(shown.world, instance));
        }
        own_start(shown, owner, &mut figures);
        let mut node = Node::new(RowId::Owner(owner.clone()), figures);
        node.open = node.figures.trouble() > 0;
        let top = tree.add(None, node);
        for (name, instances) in kinds {
            let parent = if instances.len() > 1 {
                kind(shown, &mut tree, top, owner, name, &instances)
            } else {
                top
            };
            for instance in instances {
                add_instance(shown, &mut tree, Some(parent), instance);
            }
        }
    }
    tree
}

/// A client's row shows since when the client runs, not the oldest of its servers.
fn own_start(shown: Shown<'_>, owner: &OwnerKey, figures: &mut Figures) {
    if let OwnerKey::Process(key) = owner
        && let Some(process) = shown.process(*key)
    {
        figures.start = Some(key.start.0);
        figures.elapsed_ms = Some(shown.world.sample.elapsed_ms(process));
    }
}

fn kind(
    shown: Shown<'_>,
    tree: &mut Tree,
    top: usize,
    owner: &OwnerKey,
    name: &[u8],
    instances: &[&Instance],
) -> usize {
    let mut figures = Figures::default();
    for instance in instances {
        figures.add(&Figures::of_instance(shown.world, instance));
    }
    let mut node = Node::new(RowId::Kind(owner.clone(), name.into()), figures);
    node.open = node.figures.trouble() > 0;
    tree.add(Some(top), node)
}

fn instances(shown: Shown<'_>, plan: &Plan) -> Tree {
    let mut tree = Tree::default();
    for instance in chosen(shown, plan) {
        add_instance(shown, &mut tree, None, instance);
    }
    tree
}

/// Adds the row of an instance with its members below: all of them by parent where launchers stay
/// in between, else the helpers alone, since the row stands for the server itself.
fn add_instance(shown: Shown<'_>, tree: &mut Tree, parent: Option<usize>, instance: &Instance) {
    let mut node = Node::new(
        RowId::Instance(instance.id),
        Figures::of_instance(shown.world, instance),
    );
    node.instance = Some(instance.id);
    node.open = instance.finding.is_trouble();
    let top = tree.add(parent, node);
    let all = !instance.launchers.is_empty() && instance.server.is_some();
    let members: BTreeMap<ProcessKey, Role> = instance
        .members()
        .filter(|(key, _)| all || *key != instance.lead_process())
        .collect();
    let mut placed: HashMap<Pid, usize> = HashMap::new();
    let mut left: Vec<(ProcessKey, Role)> = members.iter().map(|(key, role)| (*key, *role)).collect();
    let pids: HashSet<Pid> = left.iter().map(|(key, _)| key.pid).collect();
    while !left.is_empty() {
        let ready: Vec<(ProcessKey, Role)> = left
            .iter()
            .copied()
            .filter(|(key, _)| {
                let above = shown.process(*key).and_then(|process| process.ppid);
                above.is_none_or(|above| !pids.contains(&above) || placed.contains_key(&above))
            })
            .collect();
        // A cycle of parents (a pid reused within the sample): the rest hangs from the instance.
        let ready = if ready.is_empty() { left.clone() } else { ready };
        for (key, role) in &ready {
            let above = shown.process(*key).and_then(|process| process.ppid);
            let parent = above.and_then(|above| placed.get(&above).copied()).unwrap_or(top);
            placed.insert(
                key.pid,
                tree.add(Some(parent), member(shown, instance, *key, *role)),
            );
        }
        left.retain(|one| !ready.contains(one));
    }
}

/// Returns the row of a member.
pub(super) fn member(shown: Shown<'_>, instance: &Instance, key: ProcessKey, role: Role) -> Node {
    let mut figures = shown
        .process(key)
        .map(|process| Figures::of_process(shown.world, process))
        .unwrap_or_default();
    figures.reach = match &instance.reach {
        Some(leads) => Some(Reach::of(leads.iter().filter(|lead| lead.pid == key.pid))),
        None => Some(Reach::not_read()),
    };
    let mut node = Node::new(RowId::Process(key), figures);
    node.open = true;
    node.instance = Some(instance.id);
    node.role = Some(role);
    node
}
