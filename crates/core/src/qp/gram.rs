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
}
