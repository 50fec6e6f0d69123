//! The score tables of a chain: what [`viterbi`](crate::viterbi) maximises.

use crate::error::InferError;
use crate::mrf::Mrf;
use crate::term::{Table, Term};

/// A chain of `len` variables with `labels` labels each; all tables row-major.
#[derive(Clone, Copy, Debug)]
pub struct ChainView<'a> {
    /// Labels per variable, at least 1.
    pub labels: usize,
    /// `[len][labels]`: score of each label at each position; start and end scores, if any, are added in here.
    pub unary: &'a [f64],
    /// `[labels][labels]`: score of (label, next label).
    pub pair: &'a [f64],
}

impl ChainView<'_> {
    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.unary.len() / self.labels
    }

    /// Returns whether there is no variable.
    pub fn is_empty(&self) -> bool {
        self.unary.is_empty()
    }

    /// Returns the chain as a [`Mrf`], whose energies are these scores negated: for engines that the chain has no own
    /// one of, like the M best labellings.
    ///
    /// # Errors
    /// A score that is NaN or `+inf`; a position that has no label with a finite score.
    ///
    /// ```
    /// use multiplane_infer::{chain::ChainView, engine::unwatched, several, brute::Brute};
    /// let chain = ChainView { labels: 2, unary: &[0.0, 1.0, 0.0, 0.5], pair: &[0.0, 0.0, 2.0, 0.0] };
    /// let best = several::best(&mut Brute, &chain.to_mrf()?, 2, &mut unwatched)?;
    /// assert_eq!((best[0].answer.energy, best[1].answer.energy), (-3.0, -1.5));
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    pub fn to_mrf(&self) -> Result<Mrf, InferError> {
        let mut mrf = Mrf::new();
        let negated = |scores: &[f64]| scores.iter().map(|score| 0.0 - score).collect::<Vec<f64>>();
        for scores in self.unary.chunks_exact(self.labels) {
            mrf.add_node(&negated(scores))?;
        }
        if self.len() > 1 {
            let term = mrf.add_term(Term::Table(Table::new(self.labels, negated(self.pair))?))?;
            for tail in 0..self.len() as u32 - 1 {
                mrf.add_edge(tail, tail + 1, term, 1.0)?;
            }
        }
        Ok(mrf)
    }

    /// Returns the score of a labelling: its unary and pair entries summed.
    pub fn score(&self, path: &[u32]) -> f64 {
        let unary: f64 = path.iter().enumerate().map(|(t, &y)| self.unary[t * self.labels + y as usize]).sum();
        let pair: f64 = path.windows(2).map(|p| self.pair[p[0] as usize * self.labels + p[1] as usize]).sum();
        unary + pair
    }
}
