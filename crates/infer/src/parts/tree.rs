//! Max-product on a tree of parts.

use super::envelope::{Parabolas, Spring};
use crate::error::InferError;

/// The offset at rest and the springs of a child of one type. The offset of a child in column c from a parent in column
/// p is `c - p - anchor`, in rows likewise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rest {
    /// The offset at rest, columns then rows, in cells.
    pub anchor: [f64; 2],
    /// The scores of offsets, columns then rows.
    pub springs: [Spring; 2],
}

/// A part tied to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb<'a> {
    /// The part at its end, from 0.
    pub child: usize,
    /// The part that it hangs on.
    pub parent: usize,
    /// One for each type of the child.
    pub rests: &'a [Rest],
    /// A score for each pair of types at its ends, `[type of the parent][type of the child]`.
    pub pairs: &'a [f64],
}

/// The place of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartPlace {
    /// Its cell, counted row by row.
    pub cell: u32,
    /// Its type, from 0.
    pub kind: u8,
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct PartTree {
    parabolas: Parabolas,
    /// The transform of the rows, `[column][row]`, with the column of each child.
    turned: Vec<f64>,
    columns: Vec<u32>,
    /// `[limb][type of the child][cell]`: the best cell of the child for every cell of its parent.
    cells: Vec<u32>,
    /// `[limb][type of the parent][cell]`: the best type of the child for every cell of its parent.
    kinds: Vec<u8>,
    /// `[type of the parent][cell]`: the message along a limb.
    best: Vec<f64>,
}

impl PartTree {
    /// Writes the best place of each part and returns the score of all. `scores[part][type][cell]` are those of the
    /// parts at all cells, in rows of `width`; `-inf` forbids a cell. They are overwritten: by the best
    /// scores of each part with all below it. Limbs are listed from the leaves on: a part hangs on its parent after all
    /// others hang on it; those that hang on none are roots, in trees of their own. If all is forbidden the score
    /// is `-inf` and the places mean nothing. Cost: `O(parts cells types^2)`.
    ///
    /// ```
    /// use multiplane_infer::parts::{Limb, PartPlace, PartTree, Rest, Spring};
    /// // A head, and a hand that likes to be one column to the right of it: -(d - 1)^2.
    /// let mut scores = [0.0, -5.0, -5.0, -5.0, -9.0, -9.0, 0.0, -9.0];
    /// let rests = [Rest { anchor: [1.0, 0.0], springs: [Spring { stiffness: 1.0, slope: 0.0 }; 2] }];
    /// let hand = Limb { child: 1, parent: 0, rests: &rests, pairs: &[0.0] };
    /// let mut places = [PartPlace::default(); 2];
    /// assert_eq!(PartTree::default().solve(&mut scores, (4, 1), &[hand], &mut places)?, -1.0);
    /// assert_eq!(places.map(|place| place.cell), [0, 2]);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The scores are not full rows of `width` for each type of each part, limbs are no forest from the leaves on, or
    /// their rests and pairs are not those of `types` types, 1 to 256.
    pub fn solve(
        &mut self,
        scores: &mut [f64],
        (width, types): (usize, usize),
        limbs: &[Limb<'_>],
        out: &mut [PartPlace],
    ) -> Result<f64, InferError> {
        let (units, found) = (out.len() * types, scores.len());
        if width == 0 || units == 0 || found == 0 || !found.is_multiple_of(width * units) {
            let parts = out.len();
            return Err(InferError::invalid(format!(
                "found {found} scores of {parts} parts and {types} types, expected full rows of {width} for each"
            )));
        }
        let size = found / units;
        check(limbs, out.len(), types)?;
        self.cells.resize(limbs.len() * types * size, 0);
        // With one type all stays 0.
        self.kinds.clear();
        self.kinds.resize(limbs.len() * types * size, 0);
        let memory = self.cells.chunks_exact_mut(types * size).zip(self.kinds.chunks_exact_mut(types * size));
        for (limb, (cells, kinds)) in limbs.iter().zip(memory) {
            let (first, second) = scores.split_at_mut(limb.child.max(limb.parent) * types * size);
            let low = limb.child.min(limb.parent) * types * size;
            let (low, high) = (&mut first[low..low + types * size], &mut second[..types * size]);
            let (child, parent) = if limb.child < limb.parent { (low, high) } else { (high, low) };
            let (turned, columns, best, height) = (&mut self.turned, &mut self.columns, &mut self.best, size / width);
            turned.resize(size, 0.0);
            columns.resize(size, 0);
            if types > 1 {
                best.clear();
                best.resize(types * size, f64::NEG_INFINITY);
            }
            for (kind, (child, cells)) in child.chunks_exact(size).zip(cells.chunks_exact_mut(size)).enumerate() {
                let Rest { anchor, springs } = limb.rests[kind];
                for (y, row) in child.chunks_exact(width).enumerate() {
                    self.parabolas.transform(row, springs[0], anchor[0], |x, best, from| {
                        (turned[x * height + y], columns[x * height + y]) = (best, from as u32);
                    });
                }
                for (x, (line, columns)) in turned.chunks_exact(height).zip(columns.chunks_exact(height)).enumerate() {
                    self.parabolas.transform(line, springs[1], anchor[1], |y, score, from| {
                        let cell = y * width + x;
                        cells[cell] = (from * width) as u32 + columns[from];
                        if let [pair] = limb.pairs {
                            parent[cell] += score + pair;
                            return;
                        }
                        for (of_parent, pairs) in limb.pairs.chunks_exact(types).enumerate() {
                            let (at, score) = (of_parent * size + cell, score + pairs[kind]);
                            if score > best[at] {
                                (best[at], kinds[at]) = (score, kind as u8);
                            }
                        }
                    });
                }
            }
            if types > 1 {
                parent.iter_mut().zip(&*best).for_each(|(score, message)| *score += message);
            }
        }
        let mut total = 0.0;
        for (part, scores) in scores.chunks_exact(types * size).enumerate() {
            if limbs.iter().all(|limb| limb.child != part) {
                let best = (1..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
                total += scores[best];
                out[part] = PartPlace { cell: (best % size) as u32, kind: (best / size) as u8 };
            }
        }
        for (k, limb) in limbs.iter().enumerate().rev() {
            let own = |of_type: u8, cell: u32| (k * types + usize::from(of_type)) * size + cell as usize;
            let parent = out[limb.parent];
            let kind = self.kinds[own(parent.kind, parent.cell)];
            out[limb.child] = PartPlace { cell: self.cells[own(kind, parent.cell)], kind };
        }
        Ok(total)
    }
}

/// Refuses limbs that are no forest from the leaves on, and tables of other sizes.
fn check(limbs: &[Limb<'_>], parts: usize, types: usize) -> Result<(), InferError> {
    for (k, &Limb { child, parent, rests, pairs }) in limbs.iter().enumerate() {
        if (rests.len(), pairs.len()) != (types, types * types) || types > 256 {
            let (rests, pairs) = (rests.len(), pairs.len());
            return Err(InferError::invalid(format!(
                "limb {k}: found {rests} rests and {pairs} pairs of types, expected those of {types} types, at most 256"
            )));
        }
        let hangs = |part: usize| limbs[..k].iter().any(|limb| limb.child == part);
        if child.max(parent) >= parts || child == parent || hangs(child) || hangs(parent) {
            return Err(InferError::invalid(format!(
                "limb {k}: found part {child} on part {parent}, expected two of {parts} parts that hang on none yet"
            )));
        }
    }
    Ok(())
}
