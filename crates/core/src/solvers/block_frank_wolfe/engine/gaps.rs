//! What the engine knows of the block gaps: at the last call of the oracle, over the planes kept, and means.

/// What is known of the block gaps.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Gaps {
    /// At the last oracle call, by block; infinite before the first.
    pub(super) exact: Vec<f64>,
    /// Over the planes kept at the last visit, by block; ages while a block is left out.
    pub(super) cached: Vec<f64>,
    /// Mean at the last gap pass; until then the largest loss seen, which bounds it.
    pub(super) mean_exact: f64,
    pub(super) measured: bool,
    /// Mean over the visits of the last pass.
    pub(super) mean_visited: f64,
    pub(super) sum: f64,
    pub(super) visits: usize,
}

impl Gaps {
    pub(super) fn new(blocks: usize) -> Self {
        let unknown = vec![f64::INFINITY; blocks];
        Gaps {
            exact: unknown.clone(),
            cached: unknown,
            mean_exact: 0.0,
            measured: false,
            mean_visited: 0.0,
            sum: 0.0,
            visits: 0,
        }
    }

    pub(super) fn visit(&mut self, block: usize, gap: f64) {
        self.cached[block] = gap;
        self.sum += gap;
        self.visits += 1;
    }

    pub(super) fn end_pass(&mut self) -> f64 {
        if self.visits == 0 {
            return self.mean_visited; // nothing was learned
        }
        let mean = self.sum / self.visits as f64;
        (self.sum, self.visits) = (0.0, 0);
        mean
    }

    /// Whether the gaps seen last sum to less than `below` while a gap pass has not measured that yet.
    pub(super) fn fell_below(&self, below: f64) -> bool {
        let measured = self.mean_exact * self.exact.len() as f64;
        below > 0.0 && measured >= below && self.exact.iter().sum::<f64>() < below
    }
}
