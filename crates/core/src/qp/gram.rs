//! Inner products of the planes of one block.

/// Inner products of planes, lower triangle by rows: entry (i, j), j <= i, at `i (i + 1) / 2 + j`.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a>(pub &'a [f64]);

impl Gram<'_> {
    /// The inner product of planes `i` and `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.0[i * (i + 1) / 2 + j]
    }

    /// The same with `None` for the truth's zero plane.
    pub(super) fn between(&self, p: Option<usize>, q: Option<usize>) -> f64 {
        match (p, q) {
            (Some(p), Some(q)) => self.at(p, q),
            _ => 0.0,
        }
    }

    /// Adds `factor` times the inner products of all planes with `vertex` to `out`; those with the truth are zero.
    pub(super) fn add_row(&self, vertex: Option<usize>, factor: f64, out: &mut [f64]) {
        let Some(vertex) = vertex else { return };
        let start = vertex * (vertex + 1) / 2;
        let (row, column) = out.split_at_mut(vertex + 1);
        row.iter_mut().zip(&self.0[start..]).for_each(|(out, product)| *out += factor * product);
        let mut at = start + vertex;
        for (below, out) in column.iter_mut().enumerate() {
            at += vertex + 1 + below;
            *out += factor * self.0[at];
        }
    }
}
