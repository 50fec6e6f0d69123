//! Inner products of the planes of one block.

/// Inner products of planes: a square matrix, of which the first rows and columns are in use.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a> {
    products: &'a [f64],
    stride: usize,
}

impl<'a> Gram<'a> {
    /// Returns the matrix whose entry (i, j) stands at `i * stride + j`.
    pub fn new(products: &'a [f64], stride: usize) -> Self {
        Gram { products, stride }
    }

    /// Returns the inner product of planes `i` and `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.products[i * self.stride + j]
    }

    /// The same with `None` for the truth's zero plane.
    pub(super) fn between(&self, p: Option<usize>, q: Option<usize>) -> f64 {
        match (p, q) {
            (Some(p), Some(q)) => self.at(p, q),
            _ => 0.0,
        }
    }

    /// Subtracts `scale (<p, to> - <p, from>)` from the score of every plane p.
    pub(super) fn follow(&self, to: Option<usize>, from: Option<usize>, scale: f64, scores: &mut [f64]) {
        let row = |vertex: usize| &self.products[vertex * self.stride..][..self.stride];
        let scores = scores.iter_mut();
        match (to.map(row), from.map(row)) {
            (Some(to), Some(from)) => {
                scores.zip(to).zip(from).for_each(|((score, to), from)| *score -= scale * (to - from));
            }
            (Some(to), None) => scores.zip(to).for_each(|(score, to)| *score -= scale * to),
            (None, Some(from)) => scores.zip(from).for_each(|(score, from)| *score += scale * from),
            (None, None) => {}
        }
    }
}
