//! Labels of variables: those that are used, those that are drawn anew.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;

use crate::builtin::pairwise::UNLABELLED;

/// Labellings to keep apart from: labels that they have score less.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::builtin) struct Apart<'a> {
    /// The encoded labellings, one after the other.
    pub(in crate::builtin) codes: &'a [u32],
    /// What a label of each costs.
    pub(in crate::builtin) penalties: &'a [f64],
}

impl Apart<'_> {
    /// Whether there is none.
    pub(in crate::builtin) fn is_empty(self) -> bool {
        self.penalties.is_empty()
    }

    /// Calls `lower(variable, label, penalty)` for every label of labellings of so many variables; variables that are not
    /// labelled are left out.
    pub(in crate::builtin) fn each(self, variables: usize, mut lower: impl FnMut(usize, u32, f64)) {
        for (code, &penalty) in self.codes.chunks_exact(variables.max(1)).zip(self.penalties) {
            let labelled = code.iter().enumerate().filter(|(_, label)| **label != UNLABELLED);
            labelled.for_each(|(variable, &label)| lower(variable, label, penalty));
        }
    }
}

/// Turns the quality of an answer to lowered scores into that of one to scores with rewards for differing: these are
/// higher by all penalties of all variables.
pub(in crate::builtin) fn with_rewards(quality: Quality, penalties: &[f64], variables: usize) -> Quality {
    match quality {
        Quality::UpperBound(bound) => Quality::UpperBound(bound + variables as f64 * penalties.iter().sum::<f64>()),
        other => other,
    }
}

/// Returns `code` with another label at `changes` of the variables that have more than one, or at all of them; variable v
/// has `labels(v)`, 0 where it is none.
pub(in crate::builtin) fn relabelled(
    code: &[u32],
    labels: impl Fn(usize) -> usize,
    changes: usize,
    rng: &mut Rng,
) -> Vec<u32> {
    let mut free: Vec<usize> = (0..code.len()).filter(|&variable| labels(variable) > 1).collect();
    rng.shuffle(&mut free);
    free.truncate(changes);
    let mut changed = code.to_vec();
    for variable in free {
        let old = code[variable];
        let known = (old as usize) < labels(variable);
        let drawn = rng.below(labels(variable) as u64 - u64::from(known)) as u32;
        changed[variable] = drawn + u32::from(known && drawn >= old);
    }
    changed
}

/// Brings the labelling that the decoder answers to the front of a list of `count` at most: where several are equally
/// good, lists may begin with another one.
pub(in crate::builtin) fn put_first<L: PartialEq>(first: L, count: usize, list: &mut Vec<L>) {
    match list.iter().position(|other| *other == first) {
        Some(place) => list[..=place].rotate_right(1),
        None => {
            list.truncate(count.saturating_sub(1));
            list.insert(0, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many variables change as may, to each of their other labels, and variables of one label or none do not.
    #[test]
    fn variables_are_relabelled() {
        let (code, labels) = ([0, 2, 0, u32::MAX - 1, 1], [1, 3, 2, 0, 2]);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            let changes = (seed % 5) as usize;
            let found = relabelled(&code, |variable| labels[variable], changes, &mut Rng::new(seed, 0));
            assert_eq!(found.iter().zip(&code).filter(|(a, b)| a != b).count(), changes.min(3), "{found:?}");
            assert!((found[0], found[3]) == (0, u32::MAX - 1) && found[1] < 3 && found[2] < 2 && found[4] < 2);
            seen.insert(found);
        }
        assert_eq!(seen.len(), 3 * 2 * 2, "every labelling of the free variables comes up");
    }

    /// What is in the list moves, what is not comes in at the cost of the last.
    #[test]
    fn answers_come_first() {
        let mut list = vec![1, 2, 3];
        put_first(3, 3, &mut list);
        assert_eq!(list, [3, 1, 2]);
        put_first(9, 3, &mut list);
        assert_eq!(list, [9, 3, 1]);
        put_first(7, 5, &mut list);
        assert_eq!(list, [7, 9, 3, 1]);
    }
}
