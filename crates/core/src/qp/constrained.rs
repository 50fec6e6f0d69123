//! Coordinates of a simplex QP whose weights must stay `>= 0`: carried beside the inner products.

use crate::regularizer::Regularizer;

/// The coordinates of a block's planes whose weights must stay `>= 0`: there w is not linear in phi, so inner
/// products do not tell how scores move, and the numbers themselves are carried. Work space: nothing of it is saved.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ConstrainedPart {
    /// Which coordinates, ascending.
    #[serde(skip)]
    pub coordinates: Vec<u32>,
    /// Values of the planes there, row by row `[plane][coordinate]`.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// The free weights there.
    #[serde(skip)]
    pub free: Vec<f64>,
    /// The direction of the step in hand.
    #[serde(skip)]
    direction: Vec<f64>,
}

impl ConstrainedPart {
    fn row(&self, vertex: usize) -> &[f64] {
        let width = self.coordinates.len();
        &self.values[vertex * width..][..width]
    }

    /// Sets the direction to `sum_p coefficient(p) p` and returns its squared length.
    pub(super) fn direct(&mut self, planes: usize, coefficient: impl Fn(usize) -> f64) -> f64 {
        let mut direction = std::mem::take(&mut self.direction);
        direction.clear();
        direction.resize(self.coordinates.len(), 0.0);
        for p in 0..planes {
            let c = coefficient(p);
            if c != 0.0 {
                direction.iter_mut().zip(self.row(p)).for_each(|(sum, value)| *sum += c * value);
            }
        }
        self.direction = direction;
        self.direction.iter().map(|value| value * value).sum()
    }

    /// Moves phi by `gamma` times the direction; scores follow, and what F rises beyond the model is returned.
    pub(super) fn follow(&mut self, gamma: f64, lambda: f64, scores: &mut [f64]) -> f64 {
        let regularizer = Regularizer::from(lambda);
        let mut surplus = 0.0;
        for k in 0..self.free.len() {
            let (from, to) = (self.free[k], self.free[k] - gamma * self.direction[k] / lambda);
            self.free[k] = to;
            surplus += regularizer.surplus(from, to);
            self.direction[k] = to.max(0.0) - from.max(0.0); // now the change of w
        }
        for (p, score) in scores.iter_mut().enumerate() {
            let moved: f64 = self.row(p).iter().zip(&self.direction).map(|(value, change)| value * change).sum();
            *score += moved;
        }
        surplus
    }
}
