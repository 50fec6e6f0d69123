//! The working sets `W_i`: the planes kept of every example, with masses and inner products where they are asked for.
//!
//! The ground truth's plane (zero) is always in the working set without being stored. Storage comes from pools, so
//! that keeping and dropping planes does not touch the allocator once the run is warm.

use super::store::{PlaneMeta, PlaneStore, Set};
use crate::iterate::Iterate;
use crate::linalg;
use crate::metric::Metric;
use crate::oracle::{Capabilities, Coded, NoCapabilities};
use crate::plane::{Plane, PlaneView, Star};
use crate::plane_sum::PlaneSum;
use crate::qp::Gram;
use crate::regularizer::Constraint;
use crate::rounding::TermSizes;
use crate::state::{StateError, ensure, finite};

/// Bytes of a plane beside its numbers, code and inner products.
const PLANE_BYTES: usize = std::mem::size_of::<PlaneMeta>() + 8;

/// The working sets `W_i` of all examples.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WorkingSets {
    sets: Vec<Set>,
    store: PlaneStore,
    planes: usize,
    /// Of all planes: numbers, codes, what is compiled of these, and inner products.
    bytes: usize,
    /// The newest plane spread over all coordinates, while its inner products are taken; `None` without them.
    spread: Option<Spread>,
    #[serde(skip)]
    metric: Metric,
    /// If planes are kept by code where the oracle knows them.
    prefers_codes: bool,
    #[serde(skip)]
    products: Vec<f64>,
    /// The change of a sum, while its image is taken; `None` before the first.
    #[serde(skip)]
    moved: Option<PlaneSum>,
}

/// Room for one plane at all coordinates; zero between uses.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Spread(#[serde(with = "crate::state::blank")] Vec<f64>);

impl WorkingSets {
    /// Returns empty sets (but for the truth) of `blocks` examples.
    pub fn new(blocks: usize) -> Self {
        let sets = vec![Set::default(); blocks];
        WorkingSets {
            sets,
            store: PlaneStore::new(),
            planes: 0,
            bytes: 0,
            spread: None,
            metric: Metric::default(),
            prefers_codes: false,
            products: Vec::new(),
            moved: None,
        }
    }

    /// Returns empty sets whose planes are kept by code where the oracle knows them.
    pub fn by_codes(blocks: usize) -> Self {
        WorkingSets { prefers_codes: true, ..WorkingSets::new(blocks) }
    }

    /// Returns empty sets that also keep all inner products of an example's planes, in dimension `dim`.
    pub fn with_inner_products(blocks: usize, dim: usize, metric: Metric) -> Self {
        let prefers_codes = !metric.has_kernel(); // what is compiled of codes adds to weights straight
        WorkingSets { spread: Some(Spread(vec![0.0; dim])), metric, prefers_codes, ..WorkingSets::new(blocks) }
    }

    /// Takes a metric in the place of the one that no file holds.
    pub(crate) fn attach(&mut self, metric: &Metric) {
        self.metric = metric.clone();
    }

    /// Keeps `plane` (unless it is kept already) and marks it active now. Returns its number, `None` for the truth's
    /// plane, which is not stored.
    ///
    /// Inner products leave out the coordinates that must stay `>= 0`. Planes that `source` knows may be kept by their
    /// codes where there are no `constraints`.
    pub fn insert(
        &mut self,
        block: usize,
        plane: &Plane,
        now: u32,
        constraints: Option<&[Constraint]>,
        source: &mut impl Capabilities,
    ) -> Option<usize> {
        if plane.view() == PlaneView::ZERO {
            return None;
        }
        if self.planes == 0 {
            // By code a score costs the labels, by numbers these.
            let can =
                self.prefers_codes && constraints.is_none() && plane.code().len() < plane.view().star.values().len();
            self.store.settle(can && source.coded_planes().is_some());
        }
        if let Some(k) = self.store.find(&self.sets[block], plane) {
            self.touch(block, k, now);
            return Some(k);
        }
        self.sets[block].reserve(self.spread.is_some(), plane.code().len());
        self.take_inner_products(block, (plane.view(), plane.code()), constraints, source);
        let set = &mut self.sets[block];
        self.store.insert(set, plane.view(), now);
        set.codes.extend_from_slice(plane.code());
        set.alphas.push(0.0);
        set.forget_compiled();
        let k = set.kept.len() - 1;
        self.planes += 1;
        self.bytes += self.bytes_of(block, k);
        Some(k)
    }

    /// Appends the inner products of `plane`, whose code this is, with the planes of `block` and with itself, where
    /// they are kept.
    fn take_inner_products(
        &mut self,
        block: usize,
        (plane, code): (PlaneView<'_>, &[u32]),
        constraints: Option<&[Constraint]>,
        source: &mut impl Capabilities,
    ) {
        let Some(Spread(image)) = &mut self.spread else { return };
        let set = &mut self.sets[block];
        self.products.clear();
        if self.store.by_code()
            && let Some(coded) = source.coded_planes()
            && coded.inner_products(block, Coded::new(&set.codes), code, &mut self.products)
        {
            return set.add_products(&self.products);
        }
        self.metric.add_image(block, plane.star, image);
        if let Some(constraints) = constraints {
            leave_out(plane.star, constraints, image);
        }
        self.store.products(block, set, image, source, &mut self.products);
        self.products.push(self.metric.inner(plane.star, image));
        set.add_products(&self.products);
        self.metric.clear_image(block, plane.star, image);
    }

    /// Drops the planes last active before `oldest`, then the longest inactive ones until at most `limit` stay.
    /// Planes that carry mass always stay.
    pub fn prune(&mut self, block: usize, oldest: u32, limit: usize) {
        let mut k = 0;
        while k < self.sets[block].kept.len() {
            let set = &self.sets[block];
            if set.kept[k].last_active < oldest && set.alphas[k] == 0.0 {
                self.remove(block, k);
            } else {
                k += 1;
            }
        }
        while self.sets[block].kept.len() > limit {
            let set = &self.sets[block];
            let free = (0..set.kept.len()).filter(|&k| set.alphas[k] == 0.0);
            let Some(idle) = free.min_by_key(|&k| set.kept[k].last_active) else { return };
            self.remove(block, idle);
        }
    }

    /// Drops planes without mass, those of the lowest of `scores` first, until at most `limit` stay; scores follow.
    pub fn prune_lowest(&mut self, block: usize, scores: &mut Vec<f64>, limit: usize) {
        while self.sets[block].kept.len() > limit {
            let alphas = &self.sets[block].alphas;
            let free = (0..alphas.len()).filter(|&k| alphas[k] == 0.0);
            let Some(lowest) = free.min_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { return };
            self.remove(block, lowest);
            scores.remove(lowest);
        }
    }

    fn remove(&mut self, block: usize, k: usize) {
        self.bytes -= self.bytes_of(block, k);
        let set = &mut self.sets[block];
        let code = set.codes.len() / set.kept.len();
        set.codes.drain(k * code..(k + 1) * code);
        self.store.remove(set, k);
        set.alphas.remove(k);
        set.remove_products(k, set.kept.len() + 1);
        self.bytes -= set.forget_compiled();
        self.planes -= 1;
    }

    /// Bytes that the newest of an example's planes added, or that dropping plane `k` gives back.
    fn bytes_of(&self, block: usize, k: usize) -> usize {
        let set = &self.sets[block];
        let planes = set.kept.len();
        let gram = if set.gram.is_empty() { 0 } else { 8 * (2 * planes - 1) };
        PlaneStore::bytes(set, k) + gram + 4 * (set.codes.len() / planes) + PLANE_BYTES
    }

    /// Returns the number of planes stored over all examples.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Returns the number of planes stored for one example.
    pub fn len(&self, block: usize) -> usize {
        self.sets[block].kept.len()
    }

    /// Returns whether an example has no plane but the truth's.
    pub fn is_empty(&self, block: usize) -> bool {
        self.sets[block].kept.is_empty()
    }

    /// Returns the bytes that the planes take with their codes and inner products, without what storage leaves free.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether planes are kept by their codes alone.
    pub fn by_code(&self) -> bool {
        self.store.by_code()
    }

    /// Returns plane `k` of example `block` where its numbers are stored, `None` where it is known by code.
    pub fn stored(&self, block: usize, k: usize) -> Option<PlaneView<'_>> {
        (!self.store.by_code()).then(|| self.plane(block, k))
    }

    /// Returns plane `k` of example `block` as it is stored: without a linear part where it is known by code.
    pub fn plane(&self, block: usize, k: usize) -> PlaneView<'_> {
        self.store.view(&self.sets[block], k)
    }

    /// Returns the constant part of plane `k` of example `block`.
    pub fn circ(&self, block: usize, k: usize) -> f64 {
        self.sets[block].kept[k].circ
    }

    /// Returns what the oracle attached to plane `k` of an example.
    pub fn code(&self, block: usize, k: usize) -> &[u32] {
        self.sets[block].code(k)
    }

    /// Returns what the oracle attached to the planes of an example, one after the other.
    pub fn codes(&self, block: usize) -> &[u32] {
        &self.sets[block].codes
    }

    /// Returns the mass on each plane of an example.
    pub fn alphas(&self, block: usize) -> &[f64] {
        &self.sets[block].alphas
    }

    /// Returns inner products and masses of an example's planes.
    pub fn gram_and_alphas(&mut self, block: usize) -> (Gram<'_>, &mut [f64]) {
        let set = &mut self.sets[block];
        (Gram::new(&set.gram, set.room as usize), &mut set.alphas)
    }

    /// Marks plane `k` active now.
    pub fn touch(&mut self, block: usize, k: usize, now: u32) {
        self.sets[block].kept[k].last_active = now;
    }

    /// Brings the planes of a block nearer that is about to be visited; returns whether there are planes
    /// whose numbers are with the oracle, which may do so too.
    pub fn prefetch(&self, block: usize) -> bool {
        self.store.prefetch(&self.sets[block]);
        self.store.by_code() && !self.is_empty(block)
    }

    /// Brings what finds the planes of a block nearer.
    pub fn prefetch_early(&self, block: usize) {
        linalg::prefetch(std::slice::from_ref(&self.sets[block]));
    }

    /// Writes the scores of an example's planes at `w` into `out`.
    pub fn scores(&mut self, block: usize, w: &[f64], source: &mut impl Capabilities, out: &mut Vec<f64>) {
        let set = &mut self.sets[block];
        self.bytes = self.bytes.saturating_add_signed(self.store.compile(block, set, source));
        out.clear();
        self.store.products(block, set, w, source, out);
        out.iter_mut().zip(&set.kept).for_each(|(score, kept)| *score += kept.circ);
    }

    /// Moves phi by the change of a block's masses since `before`, and w with it; `before` becomes the change. What F
    /// rises is for the caller to book.
    pub fn move_iterate(
        &mut self,
        block: usize,
        before: &mut [f64],
        iterate: &mut Iterate,
        source: &mut impl Capabilities,
    ) {
        let set = &self.sets[block];
        before.iter_mut().zip(&set.alphas).for_each(|(before, now)| *before = now - *before);
        if self.metric.has_dear_images() {
            self.move_at_once(block, before, iterate);
            return;
        }
        if !self.store.by_code() {
            for (k, &change) in before.iter().enumerate().filter(|(_, change)| **change != 0.0) {
                let plane = self.store.view(set, k);
                iterate.add(change, plane.star, change * plane.circ);
            }
            return;
        }
        let Some(coded) = source.coded_planes() else { return };
        let circ = set.kept.iter().zip(before.iter()).map(|(kept, change)| change * kept.circ).sum();
        let additions = code_len(set) * set.kept.len() as f64;
        iterate.add_with(circ, additions, |scale, target| coded.add_planes(block, set.coded(), before, scale, target));
    }

    /// As [`move_iterate`](WorkingSets::move_iterate), with one image for the changes of all planes together.
    fn move_at_once(&mut self, block: usize, changes: &[f64], iterate: &mut Iterate) {
        let mut direction = self.moved.take().unwrap_or_else(|| PlaneSum::new(iterate.weights().len()));
        direction.clear();
        for (k, &change) in changes.iter().enumerate().filter(|(_, change)| **change != 0.0) {
            direction.add(change, self.store.view(&self.sets[block], k));
        }
        iterate.count_additions(direction.additions()); // those of the coefficients, beside the image's
        iterate.add(1.0, Star::Dense(direction.star()), direction.circ());
        self.moved = Some(direction);
    }

    /// Adds plane `k` of an example to `sum`.
    pub fn add_plane(&self, block: usize, k: usize, source: &mut impl Capabilities, sum: &mut PlaneSum) {
        if !self.store.by_code() {
            sum.add(1.0, self.plane(block, k));
        } else if let Some(coded) = source.coded_planes() {
            let plane = Coded::new(self.code(block, k));
            let additions = self.code(block, k).len() as f64;
            sum.add_with(self.circ(block, k), additions, |star| coded.add_planes(block, plane, &[1.0], 1.0, star));
        }
    }

    /// Adds the linear parts of all planes, each times its mass, to `sum` and returns the sum of the constant parts.
    pub fn add_phi(&self, source: &mut impl Capabilities, sum: &mut [f64]) -> f64 {
        let mut circ = 0.0;
        for (block, set) in self.sets.iter().enumerate() {
            let coded = if self.store.by_code() { source.coded_planes() } else { None };
            if let Some(coded) = coded {
                coded.add_planes(block, set.coded(), &set.alphas, 1.0, sum);
                circ += set.kept.iter().zip(&set.alphas).map(|(kept, alpha)| alpha * kept.circ).sum::<f64>();
                continue;
            }
            for (k, &alpha) in set.alphas.iter().enumerate().filter(|(_, alpha)| **alpha != 0.0) {
                let plane = self.store.view(set, k);
                plane.star.add_to(alpha, sum);
                circ += alpha * plane.circ;
            }
        }
        circ
    }

    /// Returns the additions that a coordinate goes through at most when all planes with mass are added up: one a
    /// plane, or one for each of its variables where planes are known by their labels.
    pub fn additions(&self) -> f64 {
        let of_set = |set: &Set| set.alphas.iter().filter(|alpha| **alpha != 0.0).count() as f64 * code_len(set);
        self.sets.iter().map(of_set).sum()
    }

    /// Returns the planes of the example that has most.
    pub fn most_planes(&self) -> usize {
        self.sets.iter().map(|set| set.kept.len()).max().unwrap_or(0)
    }

    /// Returns the size of the terms of all planes with mass at `w`, as far as their numbers are stored.
    pub fn seen(&self, w: &[f64]) -> TermSizes {
        let mut seen = TermSizes::default();
        for set in &self.sets {
            let masses = set.alphas.iter().enumerate();
            masses.for_each(|(k, &alpha)| seen.add(alpha, self.store.view(set, k), w));
        }
        seen
    }

    /// Refuses sets that were restored with codes that their oracle, which can do this, does not know.
    ///
    /// # Errors
    ///
    /// A code that the oracle does not know.
    pub fn check_codes(&self, source: Option<&mut dyn Capabilities>) -> Result<(), StateError> {
        let mut none = NoCapabilities;
        let source = source.unwrap_or(&mut none);
        let knows_numbers = source.coded_planes().is_some();
        let is_known = |block: usize| (0..self.len(block)).all(|k| source.is_code(block, self.code(block, k)));
        ensure(knows_numbers || !self.by_code(), "planes whose numbers the oracle does not know")?;
        ensure((0..self.sets.len()).all(is_known), "a labelling that the oracle does not know")
    }

    /// Refuses sets that were restored and do not fit `blocks` examples and `dim` weights.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, blocks: usize, dim: usize, inner_products: bool) -> Result<(), StateError> {
        let spread = self.spread.as_ref().map(|Spread(image)| image.len());
        let planes: usize = self.sets.iter().map(|set| set.kept.len()).sum();
        let same_shape = self.sets.len() == blocks && spread == inner_products.then_some(dim);
        ensure(same_shape, "the number of examples or weights")?;
        ensure(self.store.is_sound(), "the storage of planes")?;
        ensure(self.planes == planes, "the number of planes")?;
        ensure(self.sets.iter().all(|set| self.is_sound(set, dim)), "a plane kept")?;
        let bytes: usize = self.sets.iter().map(bytes_of_set).sum();
        ensure(self.bytes == bytes, "the room that planes take")
    }

    fn is_sound(&self, set: &Set, dim: usize) -> bool {
        let (planes, room) = (set.kept.len(), set.room as usize);
        let least = if self.spread.is_some() { planes } else { 0 };
        let whole = room.checked_mul(room) == Some(set.gram.len()) && room >= least;
        let codes = if planes == 0 { set.codes.is_empty() } else { set.codes.len().is_multiple_of(planes) };
        let known = self.prefers_codes && (planes == 0 || !set.codes.is_empty());
        whole
            && codes
            && (!self.store.by_code() || known)
            && set.alphas.len() == planes
            && finite(&set.alphas)
            && finite(&set.gram)
            && set.kept.iter().all(|kept| kept.circ.is_finite())
            && self.store.has(set, dim)
    }
}

/// Variables of a labelling of this example, as far as its codes tell; at least 1.
fn code_len(set: &Set) -> f64 {
    (set.codes.len() / set.kept.len().max(1)).max(1) as f64
}

/// Bytes of all planes of a set, as they were counted when they came: a plane's inner products are a row and a column.
fn bytes_of_set(set: &Set) -> usize {
    let planes = set.kept.len();
    let numbers: usize = (0..planes).map(|k| PlaneStore::bytes(set, k)).sum();
    let gram = if set.gram.is_empty() { 0 } else { 8 * planes * planes };
    numbers + gram + 4 * (set.codes.len() + set.compiled_len as usize) + planes * PLANE_BYTES
}

/// Sets the coordinates of `image` to 0 that `plane` touches and whose weights must stay `>= 0`.
fn leave_out(plane: Star<'_>, constraints: &[Constraint], image: &mut [f64]) {
    let out = |(value, constraint): (&mut f64, &Constraint)| {
        if *constraint == Constraint::NonNegative {
            *value = 0.0;
        }
    };
    match plane {
        Star::Sparse { indices, .. } => {
            indices.iter().for_each(|&k| out((&mut image[k as usize], &constraints[k as usize])));
        }
        Star::Dense(_) => image.iter_mut().zip(constraints).for_each(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::NoCapabilities;
    use crate::plane::single;

    fn keep(sets: &mut WorkingSets, block: usize, plane: &Plane, now: u32) {
        sets.insert(block, plane, now, None, &mut NoCapabilities);
    }

    /// Equal planes are kept once, the truth's never; the longest idle go first, or those of the lowest score.
    #[test]
    fn sets_keep_find_and_drop() {
        let mut sets = WorkingSets::new(2);
        keep(&mut sets, 0, &Plane::new(), 1);
        assert!(sets.is_empty(0));
        keep(&mut sets, 0, &single(0, 1.0, 0.0), 1);
        keep(&mut sets, 0, &single(1, 1.0, 0.0), 2);
        keep(&mut sets, 0, &single(0, 1.0, 0.0), 3); // known: only touched
        keep(&mut sets, 1, &single(0, 1.0, 0.0), 1); // another example's
        assert_eq!((sets.len(0), sets.len(1), sets.planes()), (2, 1, 3));
        let mut scores = Vec::new();
        sets.scores(0, &[1.0, 2.0], &mut NoCapabilities, &mut scores);
        assert_eq!(scores, [1.0, 2.0]);
        sets.prune(0, 0, 1);
        assert_eq!(sets.plane(0, 0), single(0, 1.0, 0.0).view(), "the longest idle plane went");
        keep(&mut sets, 0, &single(1, 1.0, 0.0), 3);
        sets.prune_lowest(0, &mut scores, 1);
        assert_eq!((sets.plane(0, 0), scores.len()), (single(1, 1.0, 0.0).view(), 1), "the lowest went");
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
        keep(&mut sets, 0, &dense, 0);
        keep(&mut sets, 0, &dense, 0);
        assert_eq!((sets.planes(), sets.plane(0, 0)), (1, dense.view()));
    }
}
