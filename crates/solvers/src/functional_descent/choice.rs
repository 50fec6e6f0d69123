//! Active selection: which of some candidates a step is about, by what the oracle says of them at w_t. A call for each.

use serde::{Deserialize, Serialize};

use crate::order::Prefer;
use crate::state::{StateError, ensure};

/// Candidates, and what was found of those that were asked about; none between choices.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ExampleChoice {
    pub(super) candidates: Vec<u32>,
    /// Ranks of those asked about: the lowest are taken.
    ranks: Vec<f64>,
}

/// Ranks a candidate by its hinge and by what the scores alone say of the labelling found, in units of the loss.
pub(super) fn rank(prefer: Prefer, hinge: f64, margin: f64) -> f64 {
    match prefer {
        _ if hinge <= 0.0 => f64::INFINITY,
        Prefer::Largest => -hinge,
        Prefer::Violating => 0.0,
        Prefer::Boundary => margin.abs(),
    }
}

impl ExampleChoice {
    /// Returns true if a choice is under way.
    pub(super) fn is_open(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// Returns the candidates that are still to be asked about.
    pub(super) fn to_ask(&self) -> &[u32] {
        &self.candidates[self.ranks.len()..]
    }

    /// Learns the rank of the next candidate; returns whether all were asked about.
    pub(super) fn learn(&mut self, rank: f64) -> bool {
        self.ranks.push(rank);
        self.ranks.len() == self.candidates.len()
    }

    /// Ends a choice: writes the `size` candidates of the lowest ranks into `out`, of equals those that were drawn
    /// first.
    pub(super) fn end(&mut self, size: usize, out: &mut Vec<u32>) {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|&a, &b| self.ranks[a].total_cmp(&self.ranks[b]));
        out.clear();
        out.extend(order[..size].iter().map(|&at| self.candidates[at]));
        self.candidates.clear();
        self.ranks.clear();
    }

    /// Refuses a choice that was restored and is none of `most` candidates among `blocks` examples.
    pub(super) fn check(&self, most: usize, blocks: usize) -> Result<(), StateError> {
        let whole = !self.is_open() || self.candidates.len() == most;
        let known = self.candidates.iter().all(|&block| (block as usize) < blocks);
        let asked = self.ranks.len() < self.candidates.len() || self.ranks.is_empty();
        ensure(whole && known && asked, "the candidates")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each rule takes what it says, examples without a hinge last, and of equals those drawn first.
    #[test]
    fn rules_take_what_they_say() {
        let found = [(7, 0.0, 0.1), (3, 2.0, -1.0), (5, 0.5, 0.4), (1, 0.5, -0.2), (2, 0.0, 3.0), (9, 1.0, 0.0)];
        for (prefer, size, expected) in [
            (Prefer::Largest, 3, vec![3, 9, 5]),
            (Prefer::Violating, 3, vec![3, 5, 1]),
            (Prefer::Boundary, 3, vec![9, 1, 5]),
            (Prefer::Largest, 5, vec![3, 9, 5, 1, 7]),
        ] {
            let mut choice = ExampleChoice { candidates: found.iter().map(|one| one.0).collect(), ranks: Vec::new() };
            let ends = found.map(|(_, hinge, margin)| choice.learn(rank(prefer, hinge, margin)));
            assert_eq!(ends.iter().filter(|end| **end).count(), 1);
            let mut sample = Vec::new();
            choice.end(size, &mut sample);
            assert!(sample == expected && !choice.is_open(), "{prefer:?}: {sample:?}");
        }
    }
}
