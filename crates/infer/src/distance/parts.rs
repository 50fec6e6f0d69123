//! Pictorial structures: parts on the places of a grid, each tied to another by springs.
//!
//! Max-product in O(parts * places), where plain tables take O(parts * places^2). Felzenszwalb and Huttenlocher, "Pictorial
//! structures for object recognition" (IJCV 61, 2005).

use super::grid::{Transform, check};
use super::line::Spring;
use crate::error::Error;

/// How a part is tied to its parent: `springs[0]` (rows) and `springs[1]` (columns) of the part's place less the parent's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Index of the parent, below the part's own.
    pub parent: u32,
    /// Costs of the difference in rows and in columns.
    pub springs: [Spring; 2],
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct PartTree {
    transform: Transform,
    /// `[parts][places]`: least energy of each part with all below it.
    below: Vec<f64>,
    /// `[parts][places]`: the best place of each part for every place of its parent.
    places: Vec<u32>,
    message: Vec<f64>,
}

impl PartTree {
    /// Writes the best place of each part, as index in the grid, and returns the energy. `unary[parts][places]` are the
    /// energies of the parts at all places, row by row of `width`; `parts` ties all but the first, which is the root, part
    /// 1 first. Energy `+inf`, and places that mean nothing, where everything is forbidden.
    ///
    /// ```
    /// use multiplane_infer::distance::{Part, PartTree, Spring};
    /// // A head, and a hand that likes to be one column to the right of it: (d - 1)^2 - 1.
    /// let unary = [0.0, 5.0, 5.0, 5.0, 9.0, 9.0, 0.0, 9.0];
    /// let hand = Part { parent: 0, springs: [Spring { a: 1.0, b: 0.0 }, Spring { a: 1.0, b: -2.0 }] };
    /// let mut places = Vec::new();
    /// assert_eq!(PartTree::default().solve(&unary, 4, &[hand], &mut places)?, 0.0);
    /// assert_eq!(places, [0, 2]);
    /// # Ok::<(), multiplane_infer::Error>(())
    /// ```
    ///
    /// # Errors
    /// A parent that is not before its part, springs and energies that [`Transform`] refuses, a number of energies that is
    /// not that of full rows for every part.
    pub fn solve(&mut self, unary: &[f64], width: usize, parts: &[Part], places: &mut Vec<u32>) -> Result<f64, Error> {
        let count = parts.len() + 1;
        if width == 0 || unary.is_empty() || !unary.len().is_multiple_of(width * count) {
            let found = unary.len();
            return Err(Error::invalid(format!(
                "found {found} energies of {count} parts, expected full rows of {width} for each"
            )));
        }
        for (part, tie) in (1..).zip(parts) {
            if tie.parent >= part {
                let parent = tie.parent;
                return Err(Error::invalid(format!("part {part}: found parent {parent}, expected one before it")));
            }
            tie.springs[0].check(format_args!("part {part}, rows"))?;
            tie.springs[1].check(format_args!("part {part}, columns"))?;
        }
        let size = unary.len() / count;
        for (part, energies) in unary.chunks_exact(size).enumerate() {
            check(energies, format_args!("part {part}"))?;
        }
        unary.clone_into(&mut self.below);
        self.places.resize(unary.len(), 0);
        self.message.resize(size, 0.0);
        for (part, tie) in (1..count).zip(parts).rev() {
            let (before, below) = self.below.split_at_mut(part * size);
            let best = &mut self.places[part * size..(part + 1) * size];
            self.transform.checked_grid(&below[..size], width, tie.springs, &mut self.message, best);
            let parent = &mut before[tie.parent as usize * size..][..size];
            parent.iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent);
        }
        let root = crate::messages::first_smallest(&self.below[..size]);
        places.clear();
        places.push(root as u32);
        for (part, tie) in (1..).zip(parts) {
            places.push(self.places[part * size + places[tie.parent as usize] as usize]);
        }
        Ok(self.below[root])
    }
}
