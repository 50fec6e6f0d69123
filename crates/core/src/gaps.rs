//! The known block gaps: the one table that orders, caches and block solves read.

use crate::state::{StateError, ensure};

/// The known block gaps.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct GapTable {
    /// At the last oracle call, by block; infinite before the first.
    exact: Vec<f64>,
    /// The same, but grown at every exact pass that leaves the block out.
    exact_grown: Vec<f64>,
    /// Over the planes kept at the last visit, grown at every approximate pass that leaves the block out.
    kept_grown: Vec<f64>,
    /// Mean at the last gap pass; until then the largest loss seen, which bounds it.
    mean_exact: f64,
    measured: bool,
    /// Mean over the visits of the last pass.
    mean_visited: f64,
    sum: f64,
    visits: usize,
}

impl GapTable {
    /// Returns a table in which nothing is known of any block.
    pub fn new(blocks: usize) -> Self {
        let unknown = vec![f64::INFINITY; blocks];
        GapTable {
            exact: unknown.clone(),
            exact_grown: unknown.clone(),
            kept_grown: unknown,
            mean_exact: 0.0,
            measured: false,
            mean_visited: 0.0,
            sum: 0.0,
            visits: 0,
        }
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.exact.len()
    }

    /// Returns the gap of a block at its last oracle call; infinite before the first.
    pub fn exact(&self, block: usize) -> f64 {
        self.exact[block]
    }

    /// Returns the sum of the gaps, each at its block's last oracle call; `None` before all were called for.
    pub fn seen(&self) -> Option<f64> {
        Some(self.exact.iter().sum::<f64>()).filter(|sum| sum.is_finite())
    }

    /// Returns the mean gap at the last gap pass; until then the largest loss seen, which bounds it.
    pub fn mean_exact(&self) -> f64 {
        self.mean_exact
    }

    /// Returns the mean gap over the visits of the last pass.
    pub fn mean_visited(&self) -> f64 {
        self.mean_visited
    }

    /// Books what a call of the oracle taught: the block's gap, and the largest loss that it can have had.
    pub fn learn(&mut self, block: usize, gap: f64, loss: f64) {
        self.exact[block] = gap;
        self.exact_grown[block] = gap.max(0.0);
        if !self.measured {
            self.mean_exact = self.mean_exact.max(loss);
        }
    }

    /// Books the gap that a visit met, over whatever corners it had.
    pub fn visit(&mut self, block: usize, gap: f64) {
        self.kept_grown[block] = gap;
        self.sum += gap;
        self.visits += 1;
    }

    /// Ends a pass of visits.
    pub fn end_pass(&mut self) {
        self.mean_visited = self.take_mean();
    }

    /// Ends a pass that measured the gaps of all blocks.
    pub fn end_gap_pass(&mut self) {
        self.mean_exact = self.take_mean();
        self.measured = true;
    }

    fn take_mean(&mut self) -> f64 {
        if self.visits == 0 {
            return self.mean_visited; // nothing was learned
        }
        let mean = self.sum / self.visits as f64;
        (self.sum, self.visits) = (0.0, 0);
        mean
    }

    /// Returns whether the gaps seen last sum to less than `below` while a gap pass has not measured that yet.
    pub fn fell_below(&self, below: f64) -> bool {
        let measured = self.mean_exact * self.exact.len() as f64;
        below > 0.0 && measured >= below && self.exact.iter().sum::<f64>() < below
    }

    /// Returns this share of the mean gap that an exact pass goes by, over the blocks of which one is known.
    pub fn share_of_mean(&self, share: f64) -> f64 {
        let known = self.exact_grown.iter().filter(|gap| gap.is_finite());
        let (sum, count) = known.fold((0.0, 0usize), |(sum, count), gap| (sum + gap, count + 1));
        share * sum / count.max(1) as f64
    }

    /// Returns whether an exact pass leaves `block` out, as its gap is below `threshold`. A gap
    /// that waits grows by a factor, so that no block is forgotten.
    pub fn waits_for_call(&mut self, block: usize, threshold: f64, growth: f64) -> bool {
        waits(&mut self.exact_grown[block], threshold, growth, SMALLEST * threshold)
    }

    /// Returns whether an approximate pass leaves `block` out, as its gap is below `threshold`. A gap
    /// that waits grows by a factor, so that no block is forgotten.
    pub fn waits_for_step(&mut self, block: usize, threshold: f64) -> bool {
        waits(&mut self.kept_grown[block], threshold, KEPT_GROWTH, f64::NEG_INFINITY)
    }

    /// Adds to every gap what `rise` says of its block: lambda has changed and w stayed.
    pub fn raise(&mut self, mut rise: impl FnMut(usize) -> f64) {
        let mut sum = 0.0;
        for block in 0..self.exact.len() {
            let rise = rise(block);
            self.exact[block] += rise;
            self.kept_grown[block] += rise;
            sum += rise;
        }
        let mean = sum / self.exact.len() as f64;
        self.mean_exact = (self.mean_exact + mean).max(0.0);
        self.mean_visited = (self.mean_visited + mean).max(0.0);
        self.exact_grown.fill(f64::INFINITY); // every block is seen again before any is left out
    }

    /// Forgets the gaps: w has changed. The mean of the last gap pass stays as a guess.
    pub fn forget(&mut self) {
        *self = GapTable { mean_exact: self.mean_exact, ..GapTable::new(self.exact.len()) };
    }

    /// Refuses a table that was restored and does not fit `blocks` blocks.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, blocks: usize) -> Result<(), StateError> {
        let lengths = [self.exact.len(), self.exact_grown.len(), self.kept_grown.len()];
        ensure(lengths == [blocks; 3], "the number of gaps")
    }
}

/// Factor by which the gap of a block grows each time that an approximate pass leaves it out.
const KEPT_GROWTH: f64 = 1.3;

/// A gap of zero grows from this share of the threshold.
const SMALLEST: f64 = 1.0 / 64.0;

/// Returns true if a block of this gap waits: it is below the threshold. A gap that waits grows by a factor, from no
/// less than `floor`, so that no block is forgotten (in the manner of the shrinking of SVM solvers, e.g. LIBLINEAR).
fn waits(gap: &mut f64, threshold: f64, growth: f64, floor: f64) -> bool {
    let waits = *gap < threshold;
    *gap = if waits { growth * gap.max(floor) } else { *gap };
    waits
}
