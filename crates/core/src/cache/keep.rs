//! A plane enters a working set: found again, or stored with its inner products.

use super::{Kept, WorkingSets};
use crate::oracle::{Capabilities, NoCapabilities};
use crate::plane::{Plane, PlaneView, Star};
use crate::regularizer::Sign;

/// Planes that an example with inner products gets room for when it keeps its first.
const USUAL_PLANES: usize = 16;

impl WorkingSets {
    /// Keeps `plane` (unless it is kept already) and marks it active now. Returns its number, `None` for the
    /// truth's plane, which is not stored.
    pub fn keep(&mut self, block: usize, plane: &Plane, now: u32) -> Option<usize> {
        self.keep_outside(block, plane, now, None, &mut NoCapabilities)
    }

    /// The same; inner products leave out the coordinates that must stay `>= 0`, and planes that `source` knows are
    /// kept by their codes (where there are inner products and no such coordinates).
    pub fn keep_outside(
        &mut self,
        block: usize,
        plane: &Plane,
        now: u32,
        signs: Option<&[Sign]>,
        source: &mut impl Capabilities,
    ) -> Option<usize> {
        let (code, plane) = (plane.code(), plane.view());
        if plane == PlaneView::ZERO {
            return None;
        }
        self.by_code = !self.spread.is_empty() && signs.is_none() && source.coded_planes().is_some();
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
        source: &mut impl Capabilities,
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
            if let Some(coded) = source.coded_planes() {
                coded.linear_scores(block, &spread, &set.codes, &mut self.row);
            }
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
}
