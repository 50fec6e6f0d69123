//! Dial 3: the planes kept per example, and the policies that use them.
//!
//! The ground truth's plane (zero) is always in the working set without being stored. Storage comes from pools,
//! so that keeping and dropping planes does not touch the allocator once the run is warm.

mod check;
mod gap_cache;
mod keep;
mod multi_plane;
mod pool;
mod prune;

pub use gap_cache::GapCache;
pub use multi_plane::{MultiPlane, Recombine, Slope};

use crate::linalg;
use crate::oracle::Capabilities;
use crate::parameter::{ParameterError, not_negative};
use crate::plane::{PlaneView, Star};
use crate::qp::Gram;
use pool::{Pool, Slot};

/// Dial 3.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Planes {
    /// Every corner comes from the oracle: plain BCFW.
    #[default]
    None,
    /// Working sets with approximate passes between the exact ones (MP-BCFW, Alg. 3).
    MultiPlane(MultiPlane),
    /// A cached corner replaces the oracle's while its gap is large enough (Osokin et al. 2016, 3.2).
    GapCache(GapCache),
}

impl Planes {
    /// Checks the parameters that come with the choice.
    pub(crate) fn validate(self) -> Result<(), ParameterError> {
        let Planes::GapCache(cache) = self else { return Ok(()) };
        not_negative("factor", cache.factor)?;
        not_negative("nu", cache.nu)
    }
}

/// A plane kept.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Kept {
    indices: Option<Slot>,
    values: Slot,
    circ: f64,
    last_active: u32,
}

/// The working set of one example.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Set {
    kept: Vec<Kept>,
    /// Mass on each plane, for solvers that remember what a block consists of.
    alphas: Vec<f64>,
    /// Inner products, lower triangle by rows; only where they are asked for.
    gram: Vec<f64>,
    /// What the oracle attached to the planes, one after the other, all of one length.
    codes: Vec<u32>,
}

/// The working sets `W_i` of all examples.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WorkingSets {
    sets: Vec<Set>,
    indices: Pool<u32>,
    values: Pool<f64>,
    planes: usize,
    /// Of all planes: numbers, codes and inner products.
    bytes: usize,
    /// The newest plane spread over all coordinates, while its inner products are taken; empty without them.
    #[serde(with = "crate::state::blank")]
    spread: Vec<f64>,
    /// Whether planes are kept by their codes alone: the oracle knows their numbers.
    by_code: bool,
    #[serde(skip)]
    row: Vec<f64>,
}

impl WorkingSets {
    /// Empty sets (but for the truth) of `blocks` examples.
    pub fn new(blocks: usize) -> Self {
        WorkingSets::with_inner_products(blocks, 0)
    }

    /// Empty sets that also keep all inner products of an example's planes, in dimension `dim`.
    pub fn with_inner_products(blocks: usize, dim: usize) -> Self {
        WorkingSets {
            sets: vec![Set::default(); blocks],
            indices: Pool::new(),
            values: Pool::new(),
            planes: 0,
            bytes: 0,
            spread: vec![0.0; dim],
            by_code: false,
            row: Vec::new(),
        }
    }

    /// Planes stored over all examples.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Planes stored for one example.
    pub fn len(&self, block: usize) -> usize {
        self.sets[block].kept.len()
    }

    /// Whether an example has no plane but the truth's.
    pub fn is_empty(&self, block: usize) -> bool {
        self.sets[block].kept.is_empty()
    }

    /// Plane `k` of example `block`.
    pub fn plane(&self, block: usize, k: usize) -> PlaneView<'_> {
        self.view(&self.sets[block].kept[k])
    }

    fn view(&self, kept: &Kept) -> PlaneView<'_> {
        let values = self.values.get(kept.values);
        let star = match kept.indices {
            Some(slot) => Star::Sparse { indices: self.indices.get(slot), values },
            None => Star::Dense(values),
        };
        PlaneView { star, circ: kept.circ }
    }

    /// The best cached corner at `w`: its number, or `None` where no plane scores above the truth's 0.
    /// Ties go to the lower number.
    pub fn best(&self, block: usize, w: &[f64]) -> Option<usize> {
        let mut best = (None, 0.0);
        for (k, kept) in self.sets[block].kept.iter().enumerate() {
            let score = self.view(kept).score(w);
            if score > best.1 {
                best = (Some(k), score);
            }
        }
        best.0
    }

    /// Bytes that the planes take with their codes and inner products, without what storage leaves free.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that the newest of an example's planes added, or that dropping plane `k` gives back.
    fn bytes_of(&self, block: usize, k: usize) -> usize {
        let set = &self.sets[block];
        let (kept, planes) = (&set.kept[k], set.kept.len());
        let numbers = 8 * kept.values.len() + 4 * kept.indices.map_or(0, |slot| slot.len());
        let gram = if set.gram.is_empty() { 0 } else { 8 * planes };
        numbers + gram + 4 * (set.codes.len() / planes) + std::mem::size_of::<Kept>() + 8
    }

    /// Whether planes are kept by their codes alone.
    pub fn by_code(&self) -> bool {
        self.by_code
    }

    /// Brings the planes of a block nearer that is about to be visited.
    pub fn prefetch(&self, block: usize) {
        if self.by_code {
            let set = &self.sets[block];
            linalg::prefetch(&set.codes);
            linalg::prefetch(&set.gram);
            return;
        }
        for kept in &self.sets[block].kept {
            if let Some(slot) = kept.indices {
                linalg::prefetch(self.indices.get(slot));
            }
            linalg::prefetch(self.values.get(kept.values));
        }
    }

    /// Inner products and masses of an example's planes.
    pub fn gram_and_alphas(&mut self, block: usize) -> (Gram<'_>, &mut [f64]) {
        let set = &mut self.sets[block];
        (Gram(&set.gram), &mut set.alphas)
    }

    /// What the oracle attached to the planes of an example, one after the other.
    pub fn codes(&self, block: usize) -> &[u32] {
        &self.sets[block].codes
    }

    /// Constant part of plane `k` of example `block`.
    pub fn circ(&self, block: usize, k: usize) -> f64 {
        self.sets[block].kept[k].circ
    }

    /// What the oracle attached to plane `k` of an example.
    pub fn code(&self, block: usize, k: usize) -> &[u32] {
        let set = &self.sets[block];
        let size = set.codes.len() / set.kept.len();
        &set.codes[k * size..(k + 1) * size]
    }

    /// Mass on each plane of an example.
    pub fn alphas(&self, block: usize) -> &[f64] {
        &self.sets[block].alphas
    }

    /// Writes the scores of an example's planes at `w` into `out`.
    pub fn scores(&self, block: usize, w: &[f64], source: &mut impl Capabilities, out: &mut Vec<f64>) {
        out.clear();
        if self.by_code {
            let set = &self.sets[block];
            out.resize(set.kept.len(), 0.0);
            if let Some(coded) = source.coded_planes() {
                coded.linear_scores(block, w, &set.codes, out);
            }
            out.iter_mut().zip(&set.kept).for_each(|(score, kept)| *score += kept.circ);
            return;
        }
        out.extend(self.sets[block].kept.iter().map(|kept| self.view(kept).score(w)));
    }

    /// Marks plane `k` active now.
    pub fn touch(&mut self, block: usize, k: usize, now: u32) {
        self.sets[block].kept[k].last_active = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Plane;

    fn plane(index: u32, value: f64, circ: f64) -> Plane {
        let mut plane = Plane::new();
        plane.push(index, value);
        plane.set_circ(circ);
        plane.seal();
        plane
    }

    /// Equal planes are kept once, the truth's never; the best is found; the longest idle go first.
    #[test]
    fn sets_keep_find_and_drop() {
        let mut sets = WorkingSets::new(2);
        sets.keep(0, &Plane::new(), 1);
        assert!(sets.is_empty(0));
        sets.keep(0, &plane(0, 1.0, 0.0), 1);
        sets.keep(0, &plane(1, 1.0, 0.0), 2);
        sets.keep(0, &plane(0, 1.0, 0.0), 3); // known: only touched
        sets.keep(1, &plane(0, 1.0, 0.0), 1); // another example's
        assert_eq!((sets.len(0), sets.len(1), sets.planes()), (2, 1, 3));
        assert_eq!(sets.best(0, &[1.0, 2.0]), Some(1));
        assert_eq!(sets.best(0, &[1.0, 1.0]), Some(0), "ties go to the lower number");
        assert_eq!(sets.best(0, &[-1.0, 0.0]), None, "the truth is the best");
        sets.prune(0, 0, 1);
        assert_eq!(sets.plane(0, 0), plane(0, 1.0, 0.0).view(), "the longest idle plane went");
        sets.prune(0, 4, 10);
        assert_eq!((sets.len(0), sets.planes()), (0, 1));
        let left = sets.bytes();
        sets.prune(1, 9, 0);
        assert!(left > 0 && sets.bytes() == 0, "bytes are given back");
    }

    /// Dense planes are kept as they are.
    #[test]
    fn dense_planes_are_kept() {
        let mut sets = WorkingSets::new(1);
        let mut dense = Plane::new();
        dense.dense(3).copy_from_slice(&[1.0, 2.0, 3.0]);
        sets.keep(0, &dense, 0);
        sets.keep(0, &dense, 0);
        assert_eq!((sets.planes(), sets.plane(0, 0)), (1, dense.view()));
    }
}
