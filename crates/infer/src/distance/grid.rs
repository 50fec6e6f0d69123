//! The transform of one and of two dimensions: rows first, then columns.

use std::fmt::Display;

use super::line::{Envelope, Spring};
use crate::error::Error;

/// The transform with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct Transform {
    envelope: Envelope,
    /// Rows transformed, with the column of each minimum, row-major.
    rows: Vec<f64>,
    columns: Vec<u32>,
    /// A column before and after, with the row of each minimum.
    column: Vec<f64>,
    transformed: Vec<f64>,
    places: Vec<u32>,
}

impl Transform {
    /// Writes `out[q] = min_p from[p] + a (p - q)^2 + b (p - q)` and the minimising p. Energies of `+inf` are no choice; where
    /// all are, `out` is `+inf` and the place 0. O(n).
    ///
    /// ```
    /// use multiplane_infer::distance::{Spring, Transform};
    /// let (mut out, mut places) = (Vec::new(), Vec::new());
    /// let spring = Spring { a: 1.0, b: 0.0 };
    /// Transform::default().line(&[9.0, 0.0, 9.0, 9.0], spring, &mut out, &mut places)?;
    /// assert_eq!((out, places), (vec![1.0, 0.0, 1.0, 4.0], vec![1, 1, 1, 1]));
    /// # Ok::<(), multiplane_infer::Error>(())
    /// ```
    ///
    /// # Errors
    /// a that is not above 0, a or b that is not finite; an energy that is NaN or `-inf`.
    pub fn line(
        &mut self,
        from: &[f64],
        spring: Spring,
        out: &mut Vec<f64>,
        places: &mut Vec<u32>,
    ) -> Result<(), Error> {
        spring.check("the transform")?;
        check(from, "the transform")?;
        out.resize(from.len(), 0.0);
        places.resize(from.len(), 0);
        self.envelope.transform(from, spring, out, places);
        Ok(())
    }

    /// Writes the same on a grid of rows of `width` energies: `out[q] = min_p from[p] + down(row of p - row of q) +
    /// across(column of p - column of q)`, and the place p as its index in `from`. O(n).
    ///
    /// # Errors
    /// Those of [`line`](Transform::line); rows that are not full.
    pub fn grid(
        &mut self,
        from: &[f64],
        width: usize,
        [down, across]: [Spring; 2],
        out: &mut Vec<f64>,
        places: &mut Vec<u32>,
    ) -> Result<(), Error> {
        down.check("the transform, down")?;
        across.check("the transform, across")?;
        check(from, "the transform")?;
        if !from.is_empty() && (width == 0 || !from.len().is_multiple_of(width)) {
            let found = from.len();
            return Err(Error::invalid(format!(
                "the transform: found {found} energies, expected full rows of {width}"
            )));
        }
        out.resize(from.len(), 0.0);
        places.resize(from.len(), 0);
        self.checked_grid(from, width, [down, across], out, places);
        Ok(())
    }

    /// The same of what is sound.
    pub(super) fn checked_grid(
        &mut self,
        from: &[f64],
        width: usize,
        [down, across]: [Spring; 2],
        out: &mut [f64],
        places: &mut [u32],
    ) {
        if from.is_empty() {
            return;
        }
        let height = from.len() / width;
        self.rows.resize(from.len(), 0.0);
        self.columns.resize(from.len(), 0);
        for vector in [&mut self.column, &mut self.transformed] {
            vector.resize(height, 0.0);
        }
        self.places.resize(height, 0);
        let rows = self.rows.chunks_exact_mut(width).zip(self.columns.chunks_exact_mut(width));
        for (from, (row, columns)) in from.chunks_exact(width).zip(rows) {
            self.envelope.transform(from, across, row, columns);
        }
        for x in 0..width {
            let column = self.rows[x..].iter().step_by(width);
            self.column.iter_mut().zip(column).for_each(|(to, from)| *to = *from);
            self.envelope.transform(&self.column, down, &mut self.transformed, &mut self.places);
            for (y, (&value, &row)) in self.transformed.iter().zip(&self.places).enumerate() {
                out[y * width + x] = value;
                places[y * width + x] = row * width as u32 + self.columns[row as usize * width + x];
            }
        }
    }
}

/// Refuses what is no energy.
pub(super) fn check(energies: &[f64], what: impl Display) -> Result<(), Error> {
    match energies.iter().position(|energy| energy.is_nan() || *energy == f64::NEG_INFINITY) {
        None => Ok(()),
        Some(at) => {
            let found = energies[at];
            Err(Error::invalid(format!("{what}: found energy {found} at place {at}, expected a finite number or +inf")))
        }
    }
}
