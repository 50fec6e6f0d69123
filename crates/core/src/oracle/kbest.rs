//! The capability of oracles that know more good labellings than the best one.

use super::answer::{OracleError, OracleResult, Quality};
use crate::plane::Plane;
use crate::rng::Rng;

/// Knows the planes of the M best labellings, and of good labellings that differ from given ones (Guzman-Rivera et al. 2014,
/// Eq. 2-4).
pub trait KBestPlanes {
    /// Writes into `out` (sealed) the planes of the best labellings at `w` with the loss added, the best first, and
    /// returns how many there are: fewer than asked for where the block has no more labellings. The first is what
    /// [`maximize`](super::MaxOracle::maximize) would answer, with its quality.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn top(&mut self, block: usize, w: &[f64], out: &mut [Plane]) -> Result<(usize, Quality), OracleError>;

    /// Writes into `out` (sealed) the plane of a labelling that maximises `n score + sum_m penalties[m] d(y, y^m)`: score
    /// as in planes, `d` the number of variables labelled otherwise, `y^m` the labellings that `codes` (one after the
    /// other, all of one length) encode. As many penalties as codes, each finite and at least 0.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn apart(&mut self, block: usize, w: &[f64], codes: &[u32], penalties: &[f64], out: &mut Plane) -> OracleResult;

    /// Writes into `out` (sealed) the plane of a labelling that differs from the one that `code` encodes in `changes`
    /// variables drawn by chance, or in all where there are fewer: the baseline of diversity without quality.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn relabelled(
        &mut self,
        block: usize,
        code: &[u32],
        changes: usize,
        rng: &mut Rng,
        out: &mut Plane,
    ) -> Result<(), OracleError>;
}
