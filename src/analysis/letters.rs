//! The letters of leads: within a run a lead keeps its letter while files and connections come and go,
//! so that what somebody wrote down a minute ago still names the same thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::bytes::OsBytes;
use crate::model::finding::{Lead, LeadKind};
use crate::model::identity::InstanceId;
use crate::model::instance::Instance;

use super::reach::letter;

/// What each lead of each instance was called, by its place in the alphabet. Of several with one kind and
/// one target the first, the second and so on are told apart by their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Letters(BTreeMap<InstanceId, BTreeMap<(LeadKind, OsBytes, usize), usize>>);

impl Letters {
    /// Names the leads of all instances as in the samples before; a new one gets the next letter, never
    /// that of a lead that has gone. What is no instance any more is forgotten.
    pub(crate) fn name(&mut self, instances: &mut [Instance]) {
        let mut earlier = std::mem::take(&mut self.0);
        for instance in instances {
            let mut known = earlier.remove(&instance.id).unwrap_or_default();
            if let Some(leads) = &mut instance.reach {
                name(leads, &mut known);
            }
            self.0.insert(instance.id, known);
        }
    }
}

/// So many are remembered, `a` to `zz`; then those that are gone are forgotten, and their letters are free.
const MOST: usize = 26 + 26 * 26;

fn name(leads: &mut [Lead], known: &mut BTreeMap<(LeadKind, OsBytes, usize), usize>) {
    if known.len() >= MOST {
        let is_here = |kind: LeadKind, target: &OsBytes| {
            leads
                .iter()
                .any(|lead| lead.kind == kind && lead.target == *target)
        };
        known.retain(|(kind, target, _), _| is_here(*kind, target));
    }
    let taken: BTreeSet<usize> = known.values().copied().collect();
    let mut free = (0..).filter(|index| !taken.contains(index));
    let mut seen: BTreeMap<(LeadKind, OsBytes), usize> = BTreeMap::new();
    for lead in leads {
        let like_it = seen.entry((lead.kind, lead.target.clone())).or_default();
        let index = known
            .entry((lead.kind, lead.target.clone(), *like_it))
            .or_insert_with(|| free.next().unwrap_or_default());
        lead.letter = letter(*index);
        *like_it += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::identity::Pid;

    fn lead(kind: LeadKind, target: &str) -> Lead {
        Lead {
            letter: String::new(),
            kind,
            target: target.into(),
            state: None,
            pid: Pid::INIT,
            fd: None,
            meaning: String::new(),
            advice: None,
            last_sent_ms: None,
            last_received_ms: None,
        }
    }

    #[test]
    fn a_letter_stays_with_its_lead_while_others_come_and_go() {
        let mut known = BTreeMap::new();
        let mut named = |targets: &[(LeadKind, &str)]| {
            let mut leads: Vec<Lead> = targets.iter().map(|(kind, target)| lead(*kind, target)).collect();
            name(&mut leads, &mut known);
            let words = leads
                .iter()
                .map(|lead| format!("{} {}", lead.letter, lead.target.lossy()));
            words.collect::<Vec<_>>().join(", ")
        };
        let (tcp, file) = (LeadKind::Tcp, LeadKind::File);
        assert_eq!(named(&[(tcp, "x:1"), (file, "a.db")]), "a x:1, b a.db");
        assert_eq!(
            named(&[(tcp, "y:2"), (tcp, "x:1"), (file, "a.db")]),
            "c y:2, a x:1, b a.db",
            "a new one in front takes no other's letter"
        );
        assert_eq!(named(&[(file, "a.db")]), "b a.db", "its neighbour is gone");
        assert_eq!(
            named(&[(tcp, "x:1"), (tcp, "x:1"), (tcp, "z:3"), (file, "x:1")]),
            "a x:1, d x:1, e z:3, f x:1",
            "one that comes back is itself; a second one like it, and another kind, are not it"
        );
        assert_eq!(named(&[(tcp, "x:1"), (tcp, "x:1")]), "a x:1, d x:1");
    }

    #[test]
    fn letters_do_not_grow_without_end() {
        let mut known = BTreeMap::new();
        for at in 0..5 * MOST {
            let mut leads = [
                lead(LeadKind::Tcp, "stays:1"),
                lead(LeadKind::File, &format!("{at}.db")),
            ];
            name(&mut leads, &mut known);
            assert_eq!(leads[0].letter, "a", "{at}");
            assert!(leads[1].letter != "a" && leads[1].letter.len() <= 3, "{at}");
            assert!(known.len() <= MOST + 1);
        }
    }
}
