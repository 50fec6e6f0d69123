//! The capability of oracles that can sum over labellings where others maximise.

use super::answer::OracleError;
use crate::plane::Plane;

/// Knows distributions over the labellings of a block, written as *marginals*: the probabilities of every label at every
/// variable and of what else features depend on, in a layout that is the oracle's own. Expectations of planes are linear
/// in them, so mixtures of distributions are mixtures of marginals.
pub trait Marginals {
    /// Returns how many numbers the marginals of `block` are: always the same. 0 where the block has no variable.
    fn len(&mut self, block: usize) -> usize;

    /// Writes into `to` the marginals of the distribution that is all on the truth of `block`; its expected plane is zero.
    fn on_truth(&mut self, block: usize, to: &mut [f64]);

    /// Writes into `to` the marginals of `p(y) ~ q(y) exp(n score(y) / tau)` with scores at `w`, the loss added, and
    /// returns `tau log sum_y q(y) exp(n score(y) / tau)`, where score is relative to the truth as in planes. `q` is the
    /// distribution of largest entropy that has the marginals `from`; uniform (1 for every labelling, not normalised)
    /// where `from` is empty. `tau > 0`; infinite leaves `q` as it is, normalised, and returns 0.
    ///
    /// Marginals in `from` are floored within logarithms alone (BCPL, Mohapatra et al. 2016), at 1e-12. What is written to
    /// `to` are the marginals of some distribution up to the last digits, however large scores are.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn gibbs(&mut self, block: usize, w: &[f64], tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, OracleError>;

    /// Writes into `out` (sealed) the expected plane under `marginals`.
    fn expected(&mut self, block: usize, marginals: &[f64], out: &mut Plane);

    /// Returns the entropy, in nats, of the distribution of largest entropy that has these marginals.
    fn entropy(&mut self, block: usize, marginals: &[f64]) -> f64;
}
