//! Abilities that only some oracles have: methods of [`Capabilities`], or traits that these hand out.
//!
//! The currency is the *code*: what an oracle attached to a plane ([`Plane::code`]) to know its labelling again.
//! A solver asks for a capability where it can use one and does without where there is none.

use super::answer::{OracleError, OracleResult, Quality};
use crate::plane::Plane;
use crate::rng::Rng;
use crate::rounding::Magnitudes;

/// The capabilities of one oracle. Every method says "no" by default; a new capability is one more method here, and no
/// wrapper needs to know of it.
pub trait Capabilities {
    /// Whether `code` could be what this oracle attached to a plane of `block`: asked of codes that come from a file.
    fn is_code(&self, _block: usize, code: &[u32]) -> bool {
        code.is_empty()
    }

    /// Returns the hinge of `block` at w = 0, which is its largest loss, where that is known without a search.
    fn hinge_at_zero(&mut self, _block: usize) -> Option<f64> {
        None
    }

    /// Putting the best labelling together from parts of labellings seen before.
    fn recombination(&mut self) -> Option<&mut dyn Recombination> {
        None
    }

    /// Scoring and adding planes by their codes alone.
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        None
    }

    /// The planes of the best labellings, and not of the best one alone, and of good labellings that differ from given
    /// ones.
    fn kbest_planes(&mut self) -> Option<&mut dyn KBestPlanes> {
        None
    }

    /// Returns bounds on the terms of all scores, from which bounds on rounding follow. Costs O(data).
    fn magnitudes(&self) -> Option<Magnitudes> {
        None
    }

    /// Returns the mean seconds of a call in which the labelling found is made a plane: what is left is inference.
    /// `None` where nobody knows.
    fn plane_seconds(&self) -> Option<f64> {
        None
    }

    /// Expected planes under a Gibbs distribution over labellings.
    fn marginals(&mut self) -> Option<&mut dyn MarginalPlanes> {
        None
    }
}

/// What a solver may need of an oracle, or a user of a task, beside answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Listing the best labellings: [`KBestPlanes::top`].
    Top,
    /// Finding good labellings that differ from given ones: [`KBestPlanes::apart`].
    Diverse,
    /// Summing over labellings: [`MarginalPlanes`].
    Marginals,
}

impl Ability {
    /// Returns whether what has these capabilities has the ability.
    pub fn is_had_by(self, known: &mut dyn Capabilities) -> bool {
        match self {
            Ability::Top | Ability::Diverse => known.kbest_planes().is_some(),
            Ability::Marginals => known.marginals().is_some(),
        }
    }

    /// Says what it is, as what a task must do: "list the best labellings".
    pub fn name(self) -> &'static str {
        match self {
            Ability::Top => "list the best labellings",
            Ability::Diverse => "find labellings that differ from given ones",
            Ability::Marginals => "sum over labellings",
        }
    }
}

/// No capability at all: what stands in where planes are stored with their numbers and nothing is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCapabilities;

impl Capabilities for NoCapabilities {}

/// Borrowed capabilities are handed on.
impl<C: Capabilities + ?Sized> Capabilities for &mut C {
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        (**self).is_code(block, code)
    }
    fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
        (**self).hinge_at_zero(block)
    }
    fn recombination(&mut self) -> Option<&mut dyn Recombination> {
        (**self).recombination()
    }
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        (**self).coded_planes()
    }
    fn kbest_planes(&mut self) -> Option<&mut dyn KBestPlanes> {
        (**self).kbest_planes()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        (**self).magnitudes()
    }
    fn plane_seconds(&self) -> Option<f64> {
        (**self).plane_seconds()
    }
    fn marginals(&mut self) -> Option<&mut dyn MarginalPlanes> {
        (**self).marginals()
    }
}

/// Recombines labellings (MP-BCFW paper, future work; [ADR 0014](../../../docs/adr/0014-the-automatic-solver.md)).
pub trait Recombination {
    /// Writes into `out` (sealed) the plane of the best labelling that can be put together from parts of labellings
    /// seen before: at every variable one of the labels that `codes` (of planes of this block, one after the other,
    /// all of one length) or the truth have there. At least as good as the best of these planes, and much cheaper
    /// than [`maximize`](super::MaxOracle::maximize).
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<(), OracleError>;
}

/// Planes of one block that the oracle knows by their codes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coded<'a> {
    /// Their codes, one after the other, all of one length.
    pub codes: &'a [u32],
    /// What the oracle has [compiled](CodedPlanes::compile) of these very codes; empty where it was not asked to, or
    /// needs nothing.
    pub compiled: &'a [u32],
}

impl<'a> Coded<'a> {
    /// Returns planes of which nothing is compiled.
    pub fn new(codes: &'a [u32]) -> Self {
        Coded { codes, compiled: &[] }
    }
}

/// Knows planes by their codes, so that solvers need not store their numbers: pays where the planes of an example
/// share its features.
pub trait CodedPlanes {
    /// Writes into `compiled` what makes the methods below faster for the planes of `block` with these `codes`: a
    /// function of block and codes. It is no part of a saved state, and may be left empty.
    fn compile(&mut self, block: usize, codes: &[u32], compiled: &mut Vec<u32>);

    /// Writes the scores `<star, w>` of some planes of one block into `out`, one for each.
    fn linear_scores(&mut self, block: usize, w: &[f64], planes: Coded<'_>, out: &mut [f64]);

    /// Adds `scale * amounts[k]` times the linear part of plane k to `target` (`[d]`), for all k.
    fn add_planes(&mut self, block: usize, planes: Coded<'_>, amounts: &[f64], scale: f64, target: &mut [f64]);

    /// Appends to `out` the inner products of the linear part of the plane with `code` with those of `planes`, then
    /// with itself. Returns false if they are not known without numbers; then nothing is appended.
    fn inner_products(&mut self, _block: usize, _planes: Coded<'_>, _code: &[u32], _out: &mut Vec<f64>) -> bool {
        false
    }

    /// Answers for `block` once more without a search. Must follow [`maximize`](super::MaxOracle::maximize) or
    /// `answer_after` of the same block, with no other question between; since then the weights have moved by the sum
    /// of `amounts[k]` times the linear parts of `planes`. Writes the best plane into `out` (sealed) and returns its
    /// score, if it is known and `above` this.
    fn answer_after(
        &mut self,
        _block: usize,
        _planes: Coded<'_>,
        _amounts: &[f64],
        _above: f64,
        _out: &mut Plane,
    ) -> Option<f64> {
        None
    }
}

/// Knows the planes of the M best labellings, and of good labellings that differ from given ones (Guzman-Rivera et al.
/// 2014, Eq. 2-4).
pub trait KBestPlanes {
    /// Writes into `out` (sealed) the planes of the best labellings at `w` with the loss added, the best first, and
    /// returns how many there are: fewer than asked for where the block has no more labellings. The first is what
    /// [`maximize`](super::MaxOracle::maximize) would answer, with its quality.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn top(&mut self, block: usize, w: &[f64], out: &mut [Plane]) -> Result<(usize, Quality), OracleError>;

    /// Writes into `out` (sealed) the plane of a labelling that maximises `n score + sum_m penalties[m] d(y, y^m)`:
    /// score as in planes, `d` the number of variables labelled otherwise, `y^m` the labellings that `codes` (one after
    /// the other, all of one length) encode. As many penalties as codes, each finite and at least 0.
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

/// Knows distributions over the labellings of a block, written as *marginals*: the probabilities of every label at
/// every variable and of what else features depend on, in a layout that is the oracle's own. Expectations of planes are
/// linear in them, so mixtures of distributions are mixtures of marginals.
pub trait MarginalPlanes {
    /// Returns how many numbers the marginals of `block` are: always the same. 0 where the block has no variable.
    ///
    /// # Errors
    ///
    /// The reason why the block has none.
    fn len(&mut self, block: usize) -> Result<usize, OracleError>;

    /// Writes into `to` the marginals of the distribution that is all on the truth of `block`; its expected plane is
    /// zero.
    fn on_truth(&mut self, block: usize, to: &mut [f64]);

    /// Writes into `to` the marginals of `p(y) ~ q(y) exp(n score(y) / tau)` with scores at `w`, the loss added, and
    /// returns `tau log sum_y q(y) exp(n score(y) / tau)`, where score is relative to the truth as in planes. `q` is
    /// the distribution of largest entropy that has the marginals `from`; uniform (1 for every labelling, not
    /// normalised) where `from` is empty. `tau > 0`; infinite leaves `q` as it is, normalised, and returns 0.
    ///
    /// Marginals in `from` are floored within logarithms alone (BCPL, Mohapatra et al. 2016), at 1e-12. What is written
    /// to `to` are the marginals of some distribution up to the last digits, however large scores are.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block.
    fn gibbs(&mut self, block: usize, w: &[f64], tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, OracleError>;

    /// Writes into `out` (sealed) the expected plane under `marginals`.
    fn expected(&mut self, block: usize, marginals: &[f64], out: &mut Plane);

    /// Returns the price of a sum and its expected plane, in calls of the oracle.
    fn calls(&self) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct LossesAlone;

    impl Capabilities for LossesAlone {
        fn is_code(&self, block: usize, code: &[u32]) -> bool {
            code.len() == block
        }
        fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
            Some(block as f64)
        }
        fn magnitudes(&self) -> Option<Magnitudes> {
            Some(Magnitudes::default())
        }
    }

    fn asked<C: Capabilities>(mut known: C) -> (bool, Option<f64>, bool) {
        (known.is_code(2, &[0, 0]), known.hinge_at_zero(3), known.magnitudes().is_some())
    }

    /// What an oracle knows it knows through a borrow as well.
    #[test]
    fn borrowed_capabilities_know_the_same() {
        assert_eq!(asked(LossesAlone), (true, Some(3.0), true));
        assert_eq!(asked(&mut LossesAlone), asked(LossesAlone));
    }
}
