//! How large the terms of a problem's scores can get, from its data alone.

use crate::layout::Layout;

/// Columns that are looked at together, so that every row of a table is read in stretches.
const TILE: usize = 64;

/// Roundings more of a term where planes are slack-rescaled: of a loss that is taken back out of 1/n, of weights and of
/// coefficients that are multiplied, and of the bound that a line gives, which is told from its corner up to 16.
const RESCALING: f64 = 32.0;

/// Weights that labels have for columns: a labelling gives each occurrence of a column to one label.
#[derive(Clone, Debug, PartialEq)]
struct ColumnMagnitudes {
    start: usize,
    labels: usize,
    layout: Layout,
    /// Mean over the examples of the sum of a column's absolute values in one example.
    columns: Vec<f64>,
}

impl ColumnMagnitudes {
    /// Returns `sum_j columns[j] fold_y |w_yj|`, the fold beginning with 0.
    fn weigh(&self, w: &[f64], fold: impl Fn(f64, f64) -> f64) -> f64 {
        let (labels, width) = (self.labels, self.columns.len());
        let weights = &w[self.start..][..labels * width];
        let product = |column: f64, weight: f64| if weight == 0.0 { 0.0 } else { column * weight };
        match self.layout {
            Layout::ColumnMajor => {
                let rows = weights.chunks_exact(labels.max(1));
                let of_row = |row: &[f64]| row.iter().fold(0.0, |found, w| fold(found, w.abs()));
                self.columns.iter().zip(rows).map(|(&column, row)| product(column, of_row(row))).sum()
            }
            Layout::LabelMajor => {
                let mut sum = 0.0;
                for (tile, columns) in self.columns.chunks(TILE).enumerate() {
                    let mut found = [0.0; TILE];
                    for label in 0..labels {
                        let row = &weights[label * width + tile * TILE..][..columns.len()];
                        found.iter_mut().zip(row).for_each(|(found, w)| *found = fold(*found, w.abs()));
                    }
                    sum += columns.iter().zip(&found).map(|(&column, &found)| product(column, found)).sum::<f64>();
                }
                sum
            }
        }
    }
}

/// Bounds on the terms of all scores of a problem: `A_k = 1/n sum_i max_y |phi(x_i, y)_k|`, as tables in which every
/// label has the same column sums. Made once per data set, O(data).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Magnitudes {
    tables: Vec<ColumnMagnitudes>,
    loss: f64,
    fixed: f64,
    additions: f64,
    rows: f64,
    /// The largest factor of linear parts, if they have one.
    factor: f64,
}

impl Magnitudes {
    /// Begins with scores of no terms. `loss` bounds the mean over the examples of the largest loss; `additions` the
    /// roundings that any one term of a decoder's score or of a plane's goes through; `rows` those of a coefficient of
    /// a plane, which is the sum of so many numbers.
    pub fn new(loss: f64, additions: usize, rows: usize) -> Self {
        Magnitudes { tables: Vec::new(), loss, fixed: 0.0, additions: additions as f64, rows: rows as f64, factor: 1.0 }
    }

    /// Returns bounds for slack-rescaled planes, whose linear parts are multiplied by losses of at most `largest`, and
    /// for their maxima by way of margin oracles ([`SlackOracle`](crate::oracle::SlackOracle)). There must be no fixed
    /// scores.
    pub fn rescaled(mut self, largest: f64) -> Self {
        self.tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|column| *column *= largest);
        self.additions += RESCALING;
        self.factor = self.factor.max(largest);
        self
    }

    /// Returns bounds for examples of which none counts more than `most` times as much as in the mean.
    pub fn weighted(mut self, most: f64) -> Self {
        if most != 1.0 {
            self.tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|column| *column *= most);
            (self.loss, self.fixed) = (most * self.loss, most * self.fixed);
        }
        self
    }

    /// Adds fixed scores, whose largest absolute value is this in the mean over the examples.
    pub fn with_fixed(mut self, fixed: f64) -> Self {
        self.fixed = fixed;
        self
    }

    /// Adds a table of weights that begins at `start`: `labels` weights for each of `columns`, whose values are the
    /// mean over the examples of `sum |x_j|` in one example.
    pub fn with_table(mut self, start: usize, labels: usize, layout: Layout, columns: Vec<f64>) -> Self {
        self.tables.push(ColumnMagnitudes { start, labels, layout, columns });
        self
    }

    /// Returns an upper bound of `1/n sum_i max_y sum_k |phi(x_i, y)_k w_k|`. Costs O(d).
    pub fn most(&self, w: &[f64]) -> f64 {
        self.tables.iter().map(|table| table.weigh(w, f64::max)).sum()
    }

    /// Returns `sum_k A_k |w_k|`, whatever labels occur together. Costs O(d).
    pub fn all(&self, w: &[f64]) -> f64 {
        self.tables.iter().map(|table| table.weigh(w, |sum, w| sum + w)).sum()
    }

    /// Returns `sum_k A_k^2`.
    pub fn squares(&self) -> f64 {
        let of = |table: &ColumnMagnitudes| {
            table.labels as f64 * table.columns.iter().map(|column| column * column).sum::<f64>()
        };
        self.tables.iter().map(of).sum()
    }

    /// Returns the terms of constant parts: the mean over the examples of the largest loss, with twice the fixed score.
    pub fn constant(&self) -> f64 {
        self.loss + 2.0 * self.fixed
    }

    /// Returns the terms of constant parts that add up to `circ`, where `folded` more of either sign is in it: losses
    /// are never negative, so they do not cancel.
    pub fn constant_within(&self, circ: f64, folded: f64) -> f64 {
        let losses = self.loss.min(circ.abs() + 2.0 * self.fixed + folded);
        losses + 2.0 * self.fixed
    }

    /// Returns the numbers that a plane's coefficient is the sum of at most.
    pub fn rows(&self) -> f64 {
        self.rows
    }

    /// Returns what scores, and steps, are longer by at most than those of margins: 1, or the largest loss that they
    /// are multiplied by.
    pub fn stretch(&self) -> f64 {
        self.factor.max(1.0)
    }

    /// Returns the roundings that a term of a score goes through at most.
    pub fn additions(&self) -> f64 {
        self.additions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Both layouts give what the definition says, for widths within and beyond a tile; no weight, no term, however
    /// large the column.
    #[test]
    fn tables_are_weighed_by_the_definition() {
        let mut rng = Rng::new(1, 0);
        for (labels, width) in [(1, 1), (3, 5), (2, 64), (4, 130), (0, 3)] {
            let columns: Vec<f64> = (0..width).map(|_| rng.unit()).collect();
            let by_label: Vec<f64> = (0..labels * width + 2).map(|_| rng.unit() - 0.5).collect();
            let at = |label: usize, column: usize| by_label[2 + label * width + column].abs();
            let of = |fold: fn(f64, f64) -> f64| -> f64 {
                (0..width).map(|j| columns[j] * (0..labels).map(|y| at(y, j)).fold(0.0, fold)).sum()
            };
            let mut by_column = by_label.clone();
            for (y, j) in (0..labels).flat_map(|y| (0..width).map(move |j| (y, j))) {
                by_column[2 + j * labels + y] = by_label[2 + y * width + j];
            }
            for (layout, w) in [(Layout::LabelMajor, &by_label), (Layout::ColumnMajor, &by_column)] {
                let found = Magnitudes::new(1.0, 2, 1).with_table(2, labels, layout, columns.clone());
                assert!((found.most(w) - of(f64::max)).abs() < 1e-12, "{layout:?} {labels} x {width}");
                assert!((found.all(w) - of(|a, b| a + b)).abs() < 1e-12, "{layout:?} {labels} x {width}");
            }
        }
        let infinite = Magnitudes::new(0.0, 1, 1).with_table(0, 1, Layout::ColumnMajor, vec![f64::INFINITY, 2.0]);
        assert_eq!((infinite.most(&[0.0, -3.0]), infinite.all(&[0.0, -3.0])), (6.0, 6.0));
    }
}
