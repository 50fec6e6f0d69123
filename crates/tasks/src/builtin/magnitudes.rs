//! How large the terms of scores get where all there is are rows of numbers, given to labels.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::rounding::Magnitudes;

use crate::data::SparseRows;

/// Roundings of a position beside its row: loss, neighbours, ends, the best of the labels before.
const PER_ROW: usize = 4;

/// Sums that a plane's score is added up in; see `linalg::sparse_dot`.
const LANES: usize = 8;

/// Sums that the product of a dense row is added up in, and additions that put them together; see `linalg::dot`.
const DENSE: (usize, usize) = (16, 5);

/// The sizes of the terms of a data set's scores.
pub struct RowSizes {
    /// Mean over the examples of `sum |x_j|` in one example, by column.
    pub(super) columns: Vec<f64>,
    /// Mean over the examples of the largest loss.
    pub(super) loss: f64,
    /// Roundings of a term of a score at most: in a decoder, then in a plane, then in the plane's score.
    pub(super) additions: usize,
    /// Rows of an example at most.
    pub(super) rows: usize,
}

impl RowSizes {
    /// Bounds the terms of rows given to `labels` labels at `[feature][label]`.
    pub(super) fn by_column(self, labels: usize) -> Magnitudes {
        let magnitudes = Magnitudes::new(self.loss, self.additions, self.rows);
        magnitudes.with_table(0, labels, Layout::ColumnMajor, self.columns)
    }
}

/// Measures the examples of a task with `width` features a row; `rows` are those of an input, `loss` is the
/// largest of a truth. `dense` says whether rows without zeros are scored as dense ones.
pub(super) fn sizes<'a, X, Y>(
    examples: &'a Examples<X, Y>,
    width: usize,
    rows: impl Fn(&'a X) -> &'a SparseRows,
    loss: impl Fn(&'a Y) -> f64,
    dense: bool,
) -> RowSizes {
    let n = examples.labels.len() as f64;
    let mut sizes = RowSizes { columns: vec![0.0; width], loss: 0.0, additions: 0, rows: 0 };
    for (x, y) in examples.inputs.iter().zip(&examples.labels) {
        let x = rows(x);
        let mut longest = 0;
        for row in (0..x.len()).map(|t| x.row(t)) {
            row.iter().for_each(|(index, value)| sizes.columns[index as usize] += value.abs() / n);
            let is_dense = dense && row.indices.len() == width;
            longest = longest.max(if is_dense { width / DENSE.0 + DENSE.1 } else { row.indices.len() });
        }
        sizes.loss += loss(y) / n;
        let additions = longest + PER_ROW * x.len() + 2 * x.nonzeros() / LANES;
        sizes.additions = sizes.additions.max(additions);
        sizes.rows = sizes.rows.max(x.len());
    }
    sizes
}
