//! Where the linear parts of planes kept live: as numbers in pools, or with the oracle, which knows them by code.
//!
//! Which of the two is settled when the first plane comes. Nothing else of the project asks how a plane is stored.

use super::pool::{Pool, Slot};
use crate::linalg;
use crate::oracle::Capabilities;
use crate::plane::{Plane, PlaneView, Star};

/// A plane kept: its place in the store, its constant part, and when it was last active.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    indices: Option<Slot>,
    values: Slot,
    pub(super) circ: f64,
    pub(super) last_active: u32,
}

/// The planes kept of one example.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Set {
    pub(super) kept: Vec<Kept>,
    /// Mass on each plane, for solvers that remember what a block consists of.
    pub(super) alphas: Vec<f64>,
    /// Inner products, lower triangle by rows; only where they are asked for.
    pub(super) gram: Vec<f64>,
    /// What the oracle attached to the planes, one after the other, all of one length.
    pub(super) codes: Vec<u32>,
}

impl Set {
    /// Returns the code of plane `k`.
    pub(super) fn code(&self, k: usize) -> &[u32] {
        let size = self.codes.len() / self.kept.len();
        &self.codes[k * size..(k + 1) * size]
    }
}

/// The linear parts of all planes kept.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PlaneStore {
    indices: Pool<u32>,
    values: Pool<f64>,
    by_code: bool,
}

impl PlaneStore {
    /// Returns an empty store of numbers.
    pub(super) fn new() -> Self {
        PlaneStore { indices: Pool::new(), values: Pool::new(), by_code: false }
    }

    /// Settles, while the store is empty, whether planes are kept by their codes alone.
    pub(super) fn settle(&mut self, by_code: bool) {
        self.by_code = by_code;
    }

    /// Returns whether planes are kept by their codes alone.
    pub(super) fn by_code(&self) -> bool {
        self.by_code
    }

    /// Returns the number of the plane in `set` that is `plane`, if one is.
    pub(super) fn find(&self, set: &Set, plane: &Plane) -> Option<usize> {
        if self.by_code {
            return set.codes.chunks_exact(plane.code().len().max(1)).position(|code| code == plane.code());
        }
        let plane = plane.view();
        set.kept.iter().position(|kept| self.view(kept) == plane)
    }

    /// Stores a plane that is active now.
    pub(super) fn insert(&mut self, plane: PlaneView<'_>, now: u32) -> Kept {
        let star = if self.by_code { PlaneView::ZERO.star } else { plane.star };
        let (indices, values) = match star {
            Star::Sparse { indices, values } => (Some(self.indices.store(indices)), values),
            Star::Dense(values) => (None, values),
        };
        Kept { indices, values: self.values.store(values), circ: plane.circ, last_active: now }
    }

    /// Gives a plane's room back.
    pub(super) fn release(&mut self, kept: Kept) {
        if let Some(slot) = kept.indices {
            self.indices.release(slot);
        }
        self.values.release(kept.values);
    }

    /// Returns the plane as it is stored: by code, its linear part is with the oracle and 0 here.
    pub(super) fn view(&self, kept: &Kept) -> PlaneView<'_> {
        let values = self.values.get(kept.values);
        let star = match kept.indices {
            Some(slot) => Star::Sparse { indices: self.indices.get(slot), values },
            None => Star::Dense(values),
        };
        PlaneView { star, circ: kept.circ }
    }

    /// Appends the products of the linear parts of a block's planes with `w` to `out`: scores without their constant
    /// parts, or inner products where `w` is a direction's image.
    pub(super) fn products(
        &self,
        block: usize,
        set: &Set,
        w: &[f64],
        source: &mut impl Capabilities,
        out: &mut Vec<f64>,
    ) {
        if !self.by_code {
            out.extend(set.kept.iter().map(|kept| self.view(kept).star.dot(w)));
            return;
        }
        let from = out.len();
        out.resize(from + set.kept.len(), 0.0);
        if let Some(coded) = source.coded_planes() {
            coded.linear_scores(block, w, &set.codes, &mut out[from..]);
        }
    }

    /// Brings the planes of a block nearer that is about to be visited.
    pub(super) fn prefetch(&self, set: &Set) {
        if self.by_code {
            linalg::prefetch(&set.codes);
            linalg::prefetch(&set.gram);
            return;
        }
        for kept in &set.kept {
            if let Some(slot) = kept.indices {
                linalg::prefetch(self.indices.get(slot));
            }
            linalg::prefetch(self.values.get(kept.values));
        }
    }

    /// Returns the bytes of a plane's numbers.
    pub(super) fn bytes(kept: &Kept) -> usize {
        8 * kept.values.len() + 4 * kept.indices.map_or(0, |slot| slot.len())
    }

    /// Returns whether a restored store holds together.
    pub(super) fn is_sound(&self) -> bool {
        self.indices.is_sound() && self.values.is_sound()
    }

    /// Returns whether a restored plane has its place here, within `dim` coordinates and with finite numbers.
    pub(super) fn has(&self, kept: &Kept, dim: usize) -> bool {
        let in_place = kept.indices.is_none_or(|slot| self.indices.has(slot)) && self.values.has(kept.values);
        let fits = || match self.view(kept).star {
            Star::Sparse { indices, values } => {
                indices.len() == values.len() && indices.iter().all(|&k| (k as usize) < dim)
            }
            Star::Dense(values) => values.len() == dim,
        };
        let stored = || self.view(kept).star != PlaneView::ZERO.star;
        in_place && fits() && crate::state::finite(self.view(kept).star.values()) && !(self.by_code && stored())
    }
}
