//! Learners of streams: examples come in windows, each a problem of its own, and none comes back.
//!
//! A window is an oracle over its examples; the learner visits them in their order and goes on from where the window before it
//! has led. Between windows w may get further columns. What is kept is a few vectors of d numbers, however long the stream.

use crate::context::Ctx;
use crate::oracle::{BoxedOracle, OracleError};
use crate::solver::SfdStep;
use crate::state::StateError;

/// What is known of a stream before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamFacts {
    /// Strength of the regulariser, a finite number above 0.
    pub lambda: Option<f64>,
    /// How many examples there will be.
    pub examples: Option<u64>,
    /// Examples of a window, of which a size below 1 is a share; of shorter windows steps are as long.
    pub window: usize,
}

/// How w grows: tables of columns, one after the other, of which each gets further columns. Columns at the end of a table that
/// stand for no feature of the data (a bias) stay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Tables in w.
    pub tables: usize,
    /// Columns of a table before, and after.
    pub from: usize,
    /// Columns of a table after; not fewer.
    pub to: usize,
    /// Columns that stay at a table's end.
    pub kept: usize,
}

impl Growth {
    /// Gives a vector in the layout of w its new columns, which are 0. O(d).
    pub fn apply(&self, w: &mut Vec<f64>) {
        w.resize(self.tables * self.to, 0.0);
        for table in (0..self.tables).rev() {
            let (old, new) = (table * self.from, table * self.to);
            let (old_end, new_end) = (old + self.from, new + self.to);
            // From the end on, so that nothing is overwritten that is still to move.
            w.copy_within(old_end - self.kept..old_end, new_end - self.kept);
            w.copy_within(old..old_end - self.kept, new);
            w[new + self.from - self.kept..new_end - self.kept].fill(0.0);
        }
    }
}

/// A learner of streams.
pub trait Online: Send {
    /// Learns from a window: the `blocks` examples of the oracle of `ctx`, which has as many weights as the learner.
    ///
    /// # Errors
    ///
    /// Those of the oracle. What was learned before stays.
    fn learn(&mut self, blocks: usize, ctx: &mut Ctx<'_, BoxedOracle>) -> Result<(), OracleError>;

    /// Returns the weights that would be answered now, up to date at least where scores of this window read them: for
    /// predicting it before it is learned.
    fn shown(&mut self, blocks: usize, ctx: &mut Ctx<'_, BoxedOracle>) -> &[f64];

    /// Writes the weights that would be answered now. Changes no bit of what follows. O(d).
    fn answer(&self, w: &mut Vec<f64>);

    /// Returns the weights there are.
    fn dim(&self) -> usize;

    /// Takes further columns.
    fn grow(&mut self, growth: &Growth);

    /// Returns the steps made.
    fn steps(&self) -> u64;

    /// Whether lambda is used; see [`SolverFacts::minimises`](crate::solver::SolverFacts::minimises).
    fn minimises(&self) -> bool;

    /// Whether steps go by the number of examples that [`StreamFacts`] has announced.
    fn goes_by_examples(&self) -> bool {
        false
    }

    /// Returns what the last step of functional descent did; `None` before it, after a restored state, and of other learners.
    fn descent(&self) -> Option<SfdStep> {
        None
    }

    /// Appends the state to `out`.
    ///
    /// # Errors
    ///
    /// A state that cannot be written.
    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError>;

    /// Takes the place of the learner that wrote `state`, which was made with the same parameters.
    ///
    /// # Errors
    ///
    /// A state of another learner, or a damaged one.
    fn restore(&mut self, state: &[u8]) -> Result<(), StateError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables keep their numbers, new columns are 0, and a bias stays last.
    #[test]
    fn tables_grow() {
        let grown = |growth: Growth, w: &[f64]| {
            let mut w = w.to_vec();
            growth.apply(&mut w);
            w
        };
        let one = Growth { tables: 1, from: 2, to: 4, kept: 0 };
        assert_eq!(grown(one, &[1.0, 2.0]), [1.0, 2.0, 0.0, 0.0]);
        let biased = Growth { tables: 2, from: 3, to: 5, kept: 1 };
        let found = grown(biased, &[1.0, 2.0, 9.0, 3.0, 4.0, 8.0]);
        assert_eq!(found, [1.0, 2.0, 0.0, 0.0, 9.0, 3.0, 4.0, 0.0, 0.0, 8.0]);
        let by_one = Growth { tables: 3, from: 2, to: 3, kept: 1 };
        assert_eq!(grown(by_one, &[1.0, 9.0, 2.0, 8.0, 3.0, 7.0]), [1.0, 0.0, 9.0, 2.0, 0.0, 8.0, 3.0, 0.0, 7.0]);
        assert_eq!(grown(Growth { tables: 2, from: 0, to: 1, kept: 0 }, &[]), [0.0, 0.0]);
    }
}
