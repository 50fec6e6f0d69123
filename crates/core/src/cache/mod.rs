//! Dial 3: the planes kept per example, and the policies that use them.
//!
//! The ground truth's plane (zero) is always in the working set without being stored. Storage comes from pools,
//! so that keeping and dropping planes does not touch the allocator once the run is warm.

mod check;
mod gap_cache;
mod multi_plane;
mod pool;

pub use gap_cache::GapCache;
pub use multi_plane::{MultiPlane, Recombine, Slope};

use crate::linalg;
use crate::oracle::{NoSource, PlaneSource};
use crate::plane::{Plane, PlaneView, Star};
use crate::qp::Gram;
use crate::regularizer::Sign;
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

/// Planes that an example with inner products gets room for when it keeps its first.
const USUAL_PLANES: usize = 16;

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

    /// Keeps `plane` (unless it is kept already) and marks it active now. Returns its number, `None` for the
    /// truth's plane, which is not stored.
    pub fn keep(&mut self, block: usize, plane: &Plane, now: u32) -> Option<usize> {
        self.keep_outside(block, plane, now, None, &mut NoSource)
    }

    /// The same; inner products leave out the coordinates that must stay `>= 0`, and planes that `source` knows are
    /// kept by their codes (where there are inner products and no such coordinates).
    pub fn keep_outside(
        &mut self,
        block: usize,
        plane: &Plane,
        now: u32,
        signs: Option<&[Sign]>,
        source: &mut impl PlaneSource,
    ) -> Option<usize> {
        let (code, plane) = (plane.code(), plane.view());
        if plane == PlaneView::ZERO {
            return None;
        }
        self.by_code = !self.spread.is_empty() && signs.is_none() && source.knows_planes();
        let set = &self.sets[block];
        let known = if self.by_code {
            set.codes.chunks_exact(code.len().max(1)).position(|other| other == code)
        } else {
            set.kept.iter().position(|kept| self.view(kept) == plane)
        };
        if let Some(k) = known {
            self.touch(block, k, now);
            return Some(k);
        }
        if !self.spread.is_empty() {
            self.take_inner_products(block, plane, signs, source);
        }
        self.sets[block].codes.extend_from_slice(code);
        let plane = if self.by_code { PlaneView { circ: plane.circ, ..PlaneView::ZERO } } else { plane };
        let (indices, values) = match plane.star {
            Star::Sparse { indices, values } => (Some(self.indices.store(indices)), values),
            Star::Dense(values) => (None, values),
        };
        let kept = Kept { indices, values: self.values.store(values), circ: plane.circ, last_active: now };
        self.sets[block].kept.push(kept);
        self.sets[block].alphas.push(0.0);
        self.planes += 1;
        self.bytes += self.bytes_of(block, self.sets[block].kept.len() - 1);
        Some(self.sets[block].kept.len() - 1)
    }

    /// Appends the inner products of `plane` with the planes of `block` and with itself.
    fn take_inner_products(
        &mut self,
        block: usize,
        plane: PlaneView<'_>,
        signs: Option<&[Sign]>,
        source: &mut impl PlaneSource,
    ) {
        let set = &mut self.sets[block];
        if set.kept.capacity() == 0 {
            set.kept.reserve(USUAL_PLANES);
            set.alphas.reserve(USUAL_PLANES);
            set.gram.reserve(USUAL_PLANES * (USUAL_PLANES + 1) / 2);
        }
        let mut spread = std::mem::take(&mut self.spread);
        plane.add_to(1.0, &mut spread);
        if let Some(signs) = signs {
            let out = |(value, sign): (&mut f64, &Sign)| {
                if *sign == Sign::NonNegative {
                    *value = 0.0;
                }
            };
            match plane.star {
                Star::Sparse { indices, .. } => {
                    indices.iter().for_each(|&k| out((&mut spread[k as usize], &signs[k as usize])));
                }
                Star::Dense(_) => spread.iter_mut().zip(signs).for_each(out),
            }
        }
        let mut gram = std::mem::take(&mut self.sets[block].gram);
        if self.by_code {
            let set = &self.sets[block];
            self.row.resize(set.kept.len(), 0.0);
            source.linear_scores(block, &spread, &set.codes, &mut self.row);
            gram.extend_from_slice(&self.row);
        } else {
            gram.extend(self.sets[block].kept.iter().map(|kept| self.view(kept).linear(&spread)));
        }
        gram.push(plane.linear(&spread));
        self.sets[block].gram = gram;
        match plane.star {
            Star::Sparse { indices, .. } => indices.iter().for_each(|&index| spread[index as usize] = 0.0),
            Star::Dense(_) => spread.fill(0.0),
        }
        self.spread = spread;
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
    pub fn scores(&self, block: usize, w: &[f64], source: &mut impl PlaneSource, out: &mut Vec<f64>) {
        out.clear();
        if self.by_code {
            let set = &self.sets[block];
            out.resize(set.kept.len(), 0.0);
            source.linear_scores(block, w, &set.codes, out);
            out.iter_mut().zip(&set.kept).for_each(|(score, kept)| *score += kept.circ);
            return;
        }
        out.extend(self.sets[block].kept.iter().map(|kept| self.view(kept).score(w)));
    }

    /// Marks plane `k` active now.
    pub fn touch(&mut self, block: usize, k: usize, now: u32) {
        self.sets[block].kept[k].last_active = now;
    }

    /// Drops the planes last active before `oldest`, then the longest inactive ones until at most `limit` stay.
    /// Planes that carry mass always stay.
    pub fn prune(&mut self, block: usize, oldest: u32, limit: usize) {
        let mut k = 0;
        while k < self.sets[block].kept.len() {
            let set = &self.sets[block];
            if set.kept[k].last_active < oldest && set.alphas[k] == 0.0 {
                self.drop_plane(block, k);
            } else {
                k += 1;
            }
        }
        while self.sets[block].kept.len() > limit {
            let set = &self.sets[block];
            let free = (0..set.kept.len()).filter(|&k| set.alphas[k] == 0.0);
            let Some(idle) = free.min_by_key(|&k| set.kept[k].last_active) else { return };
            self.drop_plane(block, idle);
        }
    }

    /// Drops planes without mass, those of the lowest score at `w` first, until at most `limit` stay.
    pub fn prune_lowest(&mut self, block: usize, w: &[f64], limit: usize) {
        while self.sets[block].kept.len() > limit {
            let set = &self.sets[block];
            let mut lowest = (None, f64::INFINITY);
            for k in (0..set.kept.len()).filter(|&k| set.alphas[k] == 0.0) {
                let score = self.view(&set.kept[k]).score(w);
                if score < lowest.1 {
                    lowest = (Some(k), score);
                }
            }
            let Some(lowest) = lowest.0 else { return };
            self.drop_plane(block, lowest);
        }
    }

    /// Like [`prune_lowest`](WorkingSets::prune_lowest) where the scores are at hand; they follow.
    pub fn prune_scored(&mut self, block: usize, scores: &mut Vec<f64>, limit: usize) {
        while self.sets[block].kept.len() > limit {
            let alphas = &self.sets[block].alphas;
            let free = (0..alphas.len()).filter(|&k| alphas[k] == 0.0);
            let Some(lowest) = free.min_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { return };
            self.drop_plane(block, lowest);
            scores.remove(lowest);
        }
    }

    fn drop_plane(&mut self, block: usize, k: usize) {
        self.bytes -= self.bytes_of(block, k);
        let set = &mut self.sets[block];
        let code = set.codes.len() / set.kept.len();
        set.codes.drain(k * code..(k + 1) * code);
        let kept = set.kept.remove(k);
        set.alphas.remove(k);
        if !set.gram.is_empty() {
            let mut at = (0, 0);
            set.gram.retain(|_| {
                let (i, j) = at;
                at = if j == i { (i + 1, 0) } else { (i, j + 1) };
                i != k && j != k
            });
        }
        if let Some(slot) = kept.indices {
            self.indices.release(slot);
        }
        self.values.release(kept.values);
        self.planes -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
