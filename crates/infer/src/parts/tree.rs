//! Max-product on a tree of parts.

use super::envelope::{Parabolas, Spring};
use crate::error::InferError;

/// A part tied to its parent. The offset of a child in column c from a parent in column p is `c - p - anchor`, in rows
/// likewise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// The part at its end, from 0.
    pub child: usize,
    /// The part that it hangs on.
    pub parent: usize,
    /// The offset at rest, columns then rows, in cells.
    pub anchor: [f64; 2],
    /// The scores of offsets, columns then rows.
    pub springs: [Spring; 2],
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct PartTree {
    parabolas: Parabolas,
    /// The transform of the rows, `[column][row]`, with the column of each child.
    turned: Vec<f64>,
    columns: Vec<u32>,
    /// `[limb][cell]`: the best cell of the child for every cell of its parent.
    cells: Vec<u32>,
}

impl PartTree {
    /// Writes the best cell of each part, counted row by row, and returns the score of all. `scores[part][cell]` are
    /// those of the parts at all cells, in rows of `width`; `-inf` forbids a cell. They are overwritten: by the best
    /// scores of each part with all below it. Limbs are listed from the leaves on: a part hangs on its parent after all
    /// others hang on it; those that hang on none are roots, in trees of their own. If all is forbidden the score
    /// is `-inf` and the cells mean nothing.
    ///
    /// ```
    /// use multiplane_infer::parts::{Limb, PartTree, Spring};
    /// // A head, and a hand that likes to be one column to the right of it: -(d - 1)^2.
    /// let mut scores = [0.0, -5.0, -5.0, -5.0, -9.0, -9.0, 0.0, -9.0];
    /// let springs = [Spring { stiffness: 1.0, slope: 0.0 }; 2];
    /// let hand = Limb { child: 1, parent: 0, anchor: [1.0, 0.0], springs };
    /// let mut cells = [0; 2];
    /// assert_eq!(PartTree::default().solve(&mut scores, 4, &[hand], &mut cells)?, -1.0);
    /// assert_eq!(cells, [0, 2]);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The scores are not full rows of `width` for each part, or limbs are no forest from the leaves on.
    pub fn solve(
        &mut self,
        scores: &mut [f64],
        width: usize,
        limbs: &[Limb],
        out: &mut [u32],
    ) -> Result<f64, InferError> {
        let (parts, found) = (out.len(), scores.len());
        if width == 0 || parts == 0 || found == 0 || !found.is_multiple_of(width * parts) {
            return Err(InferError::invalid(format!(
                "found {found} scores of {parts} parts, expected full rows of {width} for each"
            )));
        }
        let size = found / parts;
        check(limbs, parts)?;
        self.cells.resize(limbs.len() * size, 0);
        for (limb, cells) in limbs.iter().zip(self.cells.chunks_exact_mut(size)) {
            let (first, second) = scores.split_at_mut(limb.child.max(limb.parent) * size);
            let low = limb.child.min(limb.parent) * size;
            let (low, high) = (&mut first[low..low + size], &mut second[..size]);
            let (child, parent) = if limb.child < limb.parent { (low, high) } else { (high, low) };
            let (turned, columns, height) = (&mut self.turned, &mut self.columns, size / width);
            turned.resize(size, 0.0);
            columns.resize(size, 0);
            for (y, row) in child.chunks_exact(width).enumerate() {
                self.parabolas.transform(row, limb.springs[0], limb.anchor[0], |x, best, from| {
                    (turned[x * height + y], columns[x * height + y]) = (best, from as u32);
                });
            }
            for (x, (line, columns)) in turned.chunks_exact(height).zip(columns.chunks_exact(height)).enumerate() {
                self.parabolas.transform(line, limb.springs[1], limb.anchor[1], |y, best, from| {
                    parent[y * width + x] += best;
                    cells[y * width + x] = (from * width) as u32 + columns[from];
                });
            }
        }
        let mut total = 0.0;
        for (part, scores) in scores.chunks_exact(size).enumerate() {
            if limbs.iter().all(|limb| limb.child != part) {
                let best = (1..size).fold(0, |best, cell| if scores[cell] > scores[best] { cell } else { best });
                total += scores[best];
                out[part] = best as u32;
            }
        }
        for (limb, cells) in limbs.iter().zip(self.cells.chunks_exact(size)).rev() {
            out[limb.child] = cells[out[limb.parent] as usize];
        }
        Ok(total)
    }
}

/// Refuses limbs that are no forest from the leaves on.
fn check(limbs: &[Limb], parts: usize) -> Result<(), InferError> {
    for (k, &Limb { child, parent, .. }) in limbs.iter().enumerate() {
        let hangs = |part: usize| limbs[..k].iter().any(|limb| limb.child == part);
        if child.max(parent) >= parts || child == parent || hangs(child) || hangs(parent) {
            return Err(InferError::invalid(format!(
                "limb {k}: found part {child} on part {parent}, expected two of {parts} parts that hang on none yet"
            )));
        }
    }
    Ok(())
}
