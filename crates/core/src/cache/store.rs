//! The storage of the linear parts of planes kept: as numbers in pools, or with the oracle, which knows them by code.
//!
//! Which of the two is settled when the first plane comes. Nothing else of the project asks how a plane is stored.

use super::pool::{Pool, Slot};
use crate::linalg;
use crate::oracle::{Capabilities, Coded};
use crate::plane::{Plane, PlaneView, Star};

/// A plane kept: its constant part, and when it was last active.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PlaneMeta {
    pub(super) circ: f64,
    pub(super) last_active: u32,
}

/// The storage of the numbers of a plane.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PlaneSlots {
    indices: Option<Slot>,
    values: Slot,
}

/// Planes that a set gets more room for at a time, at least: an AVX2 register of inner products.
const MORE_PLANES: usize = 4;

/// The planes kept of one example.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Set {
    pub(super) kept: Vec<PlaneMeta>,
    /// The places of the numbers of each plane; empty if planes are known by code.
    pub(super) places: Vec<PlaneSlots>,
    /// Mass on each plane, for solvers that remember what a block consists of.
    pub(super) alphas: Vec<f64>,
    /// Inner products: a square matrix of `room` rows, so that steps work on it where it is. Only where they are asked
    /// for.
    pub(super) gram: Vec<f64>,
    pub(super) room: u32,
    /// The codes of the planes, one after the other, all of one length.
    pub(super) codes: Vec<u32>,
    /// The form that the oracle compiled of these codes, unless they have changed since.
    #[serde(skip)]
    compiled: Vec<u32>,
    /// If it was asked.
    #[serde(skip)]
    is_compiled: bool,
    /// Numbers of 32 bits that the oracle compiled the last time.
    pub(super) compiled_len: u32,
}

impl Set {
    /// Returns the code of plane `k`.
    pub(super) fn code(&self, k: usize) -> &[u32] {
        let size = self.codes.len() / self.kept.len();
        &self.codes[k * size..(k + 1) * size]
    }

    /// Makes room for one more plane, so that it needs no other allocation.
    pub(super) fn reserve(&mut self, inner_products: bool, code: usize) {
        let planes = self.kept.len();
        if planes < self.kept.capacity() && (!inner_products || planes < self.room as usize) {
            return;
        }
        let room = planes + MORE_PLANES.max(planes);
        self.kept.reserve_exact(room - planes);
        self.alphas.reserve_exact(room - planes);
        self.codes.reserve_exact(room * code - self.codes.len());
        if inner_products && room > self.room as usize {
            let mut gram = vec![0.0; room * room];
            let rows = self.gram.chunks_exact((self.room as usize).max(1));
            gram.chunks_exact_mut(room).zip(rows).for_each(|(new, old)| new[..old.len()].copy_from_slice(old));
            (self.gram, self.room) = (gram, room as u32);
        }
    }

    /// Writes the inner products of the plane that comes next with the planes and with itself.
    pub(super) fn add_products(&mut self, products: &[f64]) {
        let (room, plane) = (self.room as usize, products.len() - 1);
        for (other, &product) in products.iter().enumerate() {
            self.gram[plane * room + other] = product;
            self.gram[other * room + plane] = product;
        }
    }

    /// Takes the inner products of plane `k` out; there are `planes` with it.
    pub(super) fn remove_products(&mut self, k: usize, planes: usize) {
        let room = self.room as usize;
        if room == 0 {
            return;
        }
        for row in 0..planes - 1 {
            let (from, first) = if row < k { (row, k) } else { (row + 1, 0) };
            self.gram.copy_within(from * room + first..from * room + k.max(first), row * room + first);
            self.gram.copy_within(from * room + k + 1..from * room + planes, row * room + k);
        }
    }

    /// Returns the planes as the oracle knows them.
    pub(super) fn coded(&self) -> Coded<'_> {
        Coded { codes: &self.codes, compiled: if self.is_compiled { &self.compiled } else { &[] } }
    }

    /// Says that the codes have changed; returns the bytes that this frees, as they were counted.
    pub(super) fn forget_compiled(&mut self) -> usize {
        self.is_compiled = false;
        if self.kept.is_empty() { 4 * std::mem::take(&mut self.compiled_len) as usize } else { 0 }
    }
}

/// The linear parts of all planes kept.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PlaneStore {
    indices: Pool<u32>,
    values: Pool<f64>,
    by_code: bool,
    #[serde(skip)]
    scratch: Vec<u32>,
}

impl PlaneStore {
    /// Returns an empty store of numbers.
    pub(super) fn new() -> Self {
        PlaneStore { indices: Pool::new(), values: Pool::new(), by_code: false, scratch: Vec::new() }
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
        (0..set.kept.len()).find(|&k| self.view(set, k) == plane)
    }

    /// Stores the numbers of a plane, which becomes the last of `set`, where they are kept.
    pub(super) fn insert(&mut self, set: &mut Set, plane: PlaneView<'_>, now: u32) {
        set.kept.push(PlaneMeta { circ: plane.circ, last_active: now });
        if self.by_code {
            return;
        }
        let (indices, values) = match plane.star {
            Star::Sparse { indices, values } => (Some(self.indices.store(indices)), values),
            Star::Dense(values) => (None, values),
        };
        set.places.push(PlaneSlots { indices, values: self.values.store(values) });
    }

    /// Takes plane `k` out of a set and gives its room back.
    pub(super) fn remove(&mut self, set: &mut Set, k: usize) {
        set.kept.remove(k);
        if self.by_code {
            return;
        }
        let place = set.places.remove(k);
        if let Some(slot) = place.indices {
            self.indices.release(slot);
        }
        self.values.release(place.values);
    }

    /// Returns plane `k` of a set as it is stored: by code, its linear part is with the oracle and 0 here.
    pub(super) fn view(&self, set: &Set, k: usize) -> PlaneView<'_> {
        let star = set.places.get(k).map_or(PlaneView::ZERO.star, |place| self.star(place));
        PlaneView { star, circ: set.kept[k].circ }
    }

    fn star(&self, place: &PlaneSlots) -> Star<'_> {
        let values = self.values.get(place.values);
        match place.indices {
            Some(slot) => Star::Sparse { indices: self.indices.get(slot), values },
            None => Star::Dense(values),
        }
    }

    /// Has the oracle compile the planes of a block, if their codes have changed; returns by how many bytes what it
    /// keeps has grown.
    pub(super) fn compile(&mut self, block: usize, set: &mut Set, source: &mut impl Capabilities) -> isize {
        if !self.by_code || set.is_compiled || set.kept.is_empty() {
            return 0;
        }
        let Some(coded) = source.coded_planes() else { return 0 };
        coded.compile(block, &set.codes, &mut self.scratch);
        set.compiled.clear();
        set.compiled.extend_from_slice(&self.scratch);
        let before = std::mem::replace(&mut set.compiled_len, self.scratch.len() as u32);
        set.is_compiled = true;
        4 * (set.compiled_len as isize - before as isize)
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
            out.extend(set.places.iter().map(|place| self.star(place).dot(w)));
            return;
        }
        let from = out.len();
        out.resize(from + set.kept.len(), 0.0);
        if let Some(coded) = source.coded_planes() {
            coded.linear_scores(block, w, set.coded(), &mut out[from..]);
        }
    }

    /// Brings the planes of a block nearer that is about to be visited.
    pub(super) fn prefetch(&self, set: &Set) {
        linalg::prefetch(&set.kept);
        linalg::prefetch(&set.alphas);
        linalg::prefetch(&set.gram[..set.kept.len() * set.room as usize]);
        linalg::prefetch(&set.compiled);
        for place in &set.places {
            if let Some(slot) = place.indices {
                linalg::prefetch(self.indices.get(slot));
            }
            linalg::prefetch(self.values.get(place.values));
        }
    }

    /// Returns the bytes of the numbers of plane `k`, and of what finds them.
    pub(super) fn bytes(set: &Set, k: usize) -> usize {
        let numbers = |place: &PlaneSlots| 8 * place.values.len() + 4 * place.indices.map_or(0, |slot| slot.len());
        let of_place = |place: &PlaneSlots| numbers(place) + std::mem::size_of::<PlaneSlots>();
        set.places.get(k).map_or(0, of_place)
    }

    /// Returns whether a restored store holds together.
    pub(super) fn is_sound(&self) -> bool {
        self.indices.is_sound() && self.values.is_sound()
    }

    /// Returns whether the planes of a restored set have their places here, within `dim` coordinates and with finite
    /// numbers.
    pub(super) fn has(&self, set: &Set, dim: usize) -> bool {
        let in_place = |place: &PlaneSlots| {
            place.indices.is_none_or(|slot| self.indices.has(slot)) && self.values.has(place.values)
        };
        let fits = |place: &PlaneSlots| match self.star(place) {
            Star::Sparse { indices, values } => {
                indices.len() == values.len() && indices.iter().all(|&k| (k as usize) < dim)
            }
            Star::Dense(values) => values.len() == dim,
        };
        let sound =
            |place: &PlaneSlots| in_place(place) && fits(place) && crate::state::finite(self.star(place).values());
        let stored = if self.by_code { 0 } else { set.kept.len() };
        set.places.len() == stored && set.places.iter().all(sound)
    }
}
