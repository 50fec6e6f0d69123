//! Whether working sets that were restored hold together: every place in range, every number finite.

use super::{Set, WorkingSets};
use crate::plane::{PlaneView, Star};
use crate::state::{expect, finite};

impl WorkingSets {
    /// Whether all codes are of planes that the oracle knows: `is_code` says so of a block and a code.
    pub(crate) fn has_only(&self, is_code: impl Fn(usize, &[u32]) -> bool) -> bool {
        (0..self.sets.len()).all(|block| (0..self.len(block)).all(|k| is_code(block, self.code(block, k))))
    }

    /// What is wrong with sets that were restored, for `blocks` examples and `dim` weights.
    pub(crate) fn fault(&self, blocks: usize, dim: usize, inner_products: bool) -> Option<String> {
        let spread = if inner_products { dim.max(1) } else { 0 };
        let planes: usize = self.sets.iter().map(|set| set.kept.len()).sum();
        expect(self.sets.len() == blocks && self.spread.len() == spread, "the number of examples or weights")
            .or_else(|| expect(self.indices.is_sound() && self.values.is_sound(), "the storage of planes"))
            .or_else(|| expect(self.planes == planes, "the number of planes"))
            .or_else(|| expect(self.sets.iter().all(|set| self.is_sound(set, dim)), "a plane kept"))
    }

    fn is_sound(&self, set: &Set, dim: usize) -> bool {
        let (planes, products) = (set.kept.len(), set.gram.len());
        let whole = products == if self.spread.is_empty() { 0 } else { planes * (planes + 1) / 2 };
        let in_place =
            |kept: &super::Kept| kept.indices.is_none_or(|slot| self.indices.has(slot)) && self.values.has(kept.values);
        let fits = |kept: &super::Kept| match self.view(kept).star {
            Star::Sparse { indices, values } => {
                indices.len() == values.len() && indices.iter().all(|&k| (k as usize) < dim) && finite(values)
            }
            Star::Dense(values) => values.len() == dim && finite(values),
        };
        let sound = |kept: &super::Kept| in_place(kept) && fits(kept) && kept.circ.is_finite();
        let stored = |kept: &super::Kept| self.view(kept).star != PlaneView::ZERO.star;
        let codes = if planes == 0 { set.codes.is_empty() } else { set.codes.len().is_multiple_of(planes) };
        let by_code = !self.by_code || (!self.spread.is_empty() && (planes == 0 || !set.codes.is_empty()));
        let whole = whole && codes && by_code;
        whole
            && set.alphas.len() == planes
            && finite(&set.alphas)
            && finite(&set.gram)
            && set.kept.iter().all(sound)
            && !(self.by_code && set.kept.iter().any(stored))
    }
}
