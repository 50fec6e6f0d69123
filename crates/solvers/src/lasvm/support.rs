//! The examples that carry weight, or did a moment ago: those that have planes kept.
//!
//! Looking at all of them is what REPROCESS costs, so an example with one short plane (two labels and a kernel) stands
//! here with all that its violation takes: a look is a stretch of memory and one weight for each of its coefficients.
//! Without a kernel single planes are laid out beside ([`LaSvmRows`]). Others are scored where their planes are kept.

use serde::{Deserialize, Serialize};

use super::rows::{LaSvmRows, violation};
use crate::dual::DualPoint;
use crate::hull::HullState;
use crate::oracle::Capabilities;
use crate::plane::Star;
use crate::state::{StateError, ensure};

/// Coefficients of a short plane: a row of a kernel, and a constant feature.
const SHORT: usize = 2;

/// Says that an example is not listed.
const NONE: u32 = u32::MAX;

/// An example with planes kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct SupportEntry {
    block: u32,
    /// True if it has one plane, which is short; the rest is about this plane, and zero without it.
    is_short: bool,
    /// True if the truth has mass; true if the plane has.
    masses: [bool; 2],
    indices: [u32; SHORT],
    values: [f64; SHORT],
    circ: f64,
}

impl SupportEntry {
    /// Returns the example as it is now.
    fn of(block: usize, dual: &HullState) -> Self {
        let (mut indices, mut values) = ([0; SHORT], [0.0; SHORT]);
        let long =
            SupportEntry { block: block as u32, is_short: false, masses: [false; 2], indices, values, circ: 0.0 };
        let sets = dual.sets();
        let plane = if sets.len(block) == 1 { sets.stored(block, 0) } else { None };
        let Some(plane) = plane else { return long };
        let Star::Sparse { indices: at, values: of } = plane.star else { return long };
        if at.len() > SHORT {
            return long;
        }
        indices[..at.len()].copy_from_slice(at);
        values[..of.len()].copy_from_slice(of);
        let masses = [dual.truth(block) > 0.0, sets.alphas(block)[0] > 0.0];
        SupportEntry { is_short: true, masses, indices, values, circ: plane.circ, ..long }
    }

    /// Returns what [`HullState::violation`] does, of an example with one short plane.
    fn violation(&self, w: &[f64]) -> f64 {
        let terms = self.indices.iter().zip(&self.values);
        let score = self.circ + terms.map(|(&at, value)| value * w[at as usize]).sum::<f64>();
        violation(self.masses, score)
    }

    /// Returns true if a plane has no mass.
    fn has_idle(&self, dual: &HullState) -> bool {
        if self.is_short { !self.masses[1] } else { dual.sets().alphas(self.block as usize).contains(&0.0) }
    }
}

/// The examples with planes kept, in no order that matters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Support {
    entries: Vec<SupportEntry>,
    /// The place of each example.
    places: Vec<u32>,
    /// Laid out where there are as many as entries.
    #[serde(skip)]
    rows: LaSvmRows,
}

impl Support {
    pub(super) fn new(blocks: usize) -> Self {
        Support { entries: Vec::new(), places: vec![NONE; blocks], rows: LaSvmRows::default() }
    }

    /// Learns that the planes or masses of an example have changed.
    pub(super) fn learn(&mut self, block: usize, dual: &HullState, source: &mut impl Capabilities) {
        if dual.sets().is_empty(block) {
            return;
        }
        let entry = SupportEntry::of(block, dual);
        let is_laid_out = self.rows.len() == self.entries.len();
        match self.places[block] {
            NONE => {
                self.places[block] = self.entries.len() as u32;
                self.entries.push(entry);
                if is_laid_out {
                    self.rows.push(block, dual, source);
                }
            }
            at => {
                self.entries[at as usize] = entry;
                if is_laid_out {
                    self.rows.learn(at as usize, block, dual, source);
                }
            }
        }
    }

    /// The same of all that are listed.
    pub(super) fn learn_all(&mut self, dual: &HullState) {
        self.rows.clear();
        self.entries.iter_mut().for_each(|entry| *entry = SupportEntry::of(entry.block as usize, dual));
    }

    /// Returns the example that violates most, the lowest of equals, if it does by more than `tau`. Lets go the planes
    /// without mass of those that do not, and with them the examples that have lost all weight.
    pub(super) fn most_violating(
        &mut self,
        dual: &mut HullState,
        tau: f64,
        source: &mut impl Capabilities,
    ) -> Option<usize> {
        if self.rows.len() != self.entries.len() {
            self.rows.clear();
            self.entries.iter().for_each(|entry| self.rows.push(entry.block as usize, dual, source));
        }
        let (mut most, mut found, mut at) = (tau, None, 0);
        while let Some(&entry) = self.entries.get(at) {
            let block = entry.block;
            let violation = if entry.is_short {
                entry.violation(dual.weights())
            } else if let Some(violation) = self.rows.violation(at, dual.weights()) {
                violation
            } else {
                dual.violation(block as usize, 0.0, source)
            };
            if violation > most || (violation == most && found.is_some_and(|found| block < found)) {
                (most, found) = (violation, Some(block));
            }
            at += usize::from(violation > tau || !entry.has_idle(dual) || self.prune(at, dual, source));
        }
        found.map(|block| block as usize)
    }

    /// Lets go the planes without mass of the example at a place; returns whether any are left, else the example has
    /// left.
    fn prune(&mut self, at: usize, dual: &mut HullState, source: &mut impl Capabilities) -> bool {
        let block = self.entries[at].block as usize;
        dual.sets_mut().prune(block, u32::MAX, usize::MAX);
        if !dual.sets().is_empty(block) {
            self.entries[at] = SupportEntry::of(block, dual);
            self.rows.learn(at, block, dual, source);
            return true;
        }
        self.places[block] = NONE;
        self.entries.swap_remove(at);
        self.rows.swap_remove(at);
        if let Some(moved) = self.entries.get(at) {
            self.places[moved.block as usize] = at as u32;
        }
        false
    }

    /// Returns how many examples are listed.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Refuses a list that was restored and is not that of `dual`.
    pub(super) fn check(&self, dual: &HullState) -> Result<(), StateError> {
        let blocks = dual.blocks();
        let in_place = |block: usize| match self.places[block] {
            NONE => dual.sets().is_empty(block),
            at => self.entries.get(at as usize).is_some_and(|entry| entry.block as usize == block),
        };
        let whole = self.places.len() == blocks && (0..blocks).all(in_place);
        ensure(whole, "the examples with weight")?;
        let listed = self.places.iter().filter(|&&at| at != NONE).count();
        let as_is = |entry: &SupportEntry| {
            (entry.block as usize) < blocks && *entry == SupportEntry::of(entry.block as usize, dual)
        };
        ensure(listed == self.entries.len() && self.entries.iter().all(as_is), "the examples with weight")
    }
}
