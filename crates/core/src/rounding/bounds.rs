//! Bounds on the errors of P and F.

use super::magnitudes::Magnitudes;
use super::rounded::Rounded;
use crate::linalg;
use crate::regularizer::Regularizer;

/// The unit roundoff u: one operation is off by at most this share of its result.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Roundings of a sum that no caller counts: the factor 1/n, products, folds of accumulators.
const USUAL: f64 = 32.0;

/// Those of a coefficient: the factor 1/n, the loss, the product with a mass, division by lambda.
const COEFFICIENT: f64 = 10.0;

/// Scores in P or F that are off by the metric's slack: those of a decoder and of a plane, twice each, and the penalty.
const OFF: f64 = 5.0;

/// Images are measured if the bound that holds for any is more than this share of the value. Above it, a gap that is
/// lost in rounding is not certified.
const MEASURED: f64 = 1e-6;

/// The smallest number above 0, which a product that underflows is off by at most.
const TINY: f64 = f64::from_bits(1);

/// The sizes of terms by the planes in hand, if the task says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TermSizes {
    /// Sum over the examples of the terms of a score, without sign.
    pub score: f64,
    /// Sum over the examples of the length of a plane's linear part.
    pub length: f64,
    /// Sum over the examples of the constant parts, without sign.
    pub constant: f64,
}

impl TermSizes {
    /// Counts `mass` of a plane at `w`. Costs O(stored coefficients).
    pub fn add(&mut self, mass: f64, plane: crate::plane::PlaneView<'_>, w: &[f64]) {
        self.score += mass * plane.star.absolute_dot(w);
        self.length += mass * linalg::sum_squares(plane.star.values()).sqrt();
        self.constant += mass * plane.circ.abs();
    }

    /// Counts what was seen elsewhere.
    pub fn add_terms(&mut self, other: TermSizes) {
        self.score += other.score;
        self.length += other.length;
        self.constant += other.constant;
    }
}

/// A dual point whose value was computed from its free weights and constant part.
#[derive(Clone, Copy, Debug)]
pub struct PointTerms<'a> {
    /// The free weights.
    pub free: &'a [f64],
    /// The constant part.
    pub circ: f64,
    /// Roundings that a coordinate of phi went through since it was exact: each off by at most u times the terms in it.
    pub additions: f64,
    /// Additions that the image of the point went through, where a kernel makes one.
    pub image: f64,
    /// If the terms are those of planes that have mass now, example by example; else those of any that ever had.
    pub present: bool,
}

/// How far a sum of planes may be from the exact one.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PhiError {
    /// Of its score at some weights.
    pub score: f64,
    /// The length of the error of its linear part.
    pub length: f64,
    /// The same as a share of the terms.
    pub share: f64,
}

/// The known terms of a problem, and the bounds that follow.
#[derive(Clone, Debug, Default)]
pub struct Rounding {
    magnitudes: Option<Magnitudes>,
    blocks: usize,
}

impl Rounding {
    /// Returns the bounds for a problem of `blocks` examples. Without `magnitudes` they are taken from planes seen:
    /// they cover sums over these planes then, not a decoder that rounding made choose another one.
    pub fn new(blocks: usize, magnitudes: Option<Magnitudes>) -> Self {
        Rounding { magnitudes, blocks }
    }

    /// Returns true if the planes of an evaluation must be looked at.
    pub fn needs_planes(&self) -> bool {
        self.magnitudes.is_none()
    }

    /// Returns what P is of the order of where nothing is known: the mean of the largest losses; 0 where the task does
    /// not say.
    pub fn scale(&self) -> f64 {
        self.magnitudes.as_ref().map_or(0.0, Magnitudes::constant)
    }

    /// Returns P with its bound: the penalty at `w` plus a sum of hinges. An answer is off by the error of its score,
    /// and as much below the best labelling as the decoder's scores of the two are off. Costs O(d), or with a kernel an
    /// image if its rounding may be too much for a certificate.
    pub fn primal(&self, regularizer: &Regularizer, w: &[f64], hinges: f64, seen: TermSizes) -> Rounded {
        self.primal_by(self.of_images(regularizer, regularizer.penalty(w)), regularizer, w, hinges, seen)
    }

    /// Returns [`primal`](Rounding::primal) if a kernel's image adds at most `slack`: infinity, if `w` is no solver's.
    pub fn primal_by(&self, slack: f64, regularizer: &Regularizer, w: &[f64], hinges: f64, seen: TermSizes) -> Rounded {
        let (penalty, of_hinges) = (regularizer.penalty(w), self.hinges(w, hinges, seen).rounding);
        let lanes = if regularizer.prior().is_some() { 1.0 } else { 16.0 };
        // With a kernel the terms have signs.
        let terms = if regularizer.metric().has_kernel() { regularizer.dual_terms(w, w) } else { penalty };
        let penalty_terms = (w.len() as f64 / lanes + USUAL) * terms;
        let underflow = TINY * w.len() as f64 * (1.0 + regularizer.lambda());
        let slack = self.measured(slack, regularizer, (w, penalty + hinges), |m, errors| 3.0 * m.most(errors));
        Rounded::new(penalty + hinges, of_hinges + UNIT * penalty_terms + underflow + slack)
    }

    /// Returns a sum of hinges at `w` with its bound.
    pub fn hinges(&self, w: &[f64], sum: f64, seen: TermSizes) -> Rounded {
        let (terms, additions) = match &self.magnitudes {
            Some(magnitudes) => (magnitudes.most(w) + magnitudes.constant(), magnitudes.additions()),
            None => (seen.score + seen.constant, self.usual_additions(w)),
        };
        let scores = 4.0 * (additions + USUAL) * terms + (self.blocks as f64 + 1.0) * sum.abs();
        Rounded::new(sum, UNIT * scores + TINY * self.blocks as f64 * (1.0 + additions))
    }

    /// Returns what the images of a kernel add to the bound on P where the penalty is at most `penalty`; 0 without a
    /// kernel.
    pub fn of_images(&self, regularizer: &Regularizer, penalty: f64) -> f64 {
        // Weights that no dual point gives may be longer than the losses say.
        let longest = self.scale().max(penalty);
        self.of_image(regularizer, longest, regularizer.metric().most_additions())
    }

    /// Returns `slack`, a bound on what images add to the error of `value` at a point, or a lower one by what the image
    /// of this point is off by, if `slack` could stand in the way of a certificate.
    ///
    /// Let e be bounds on the errors of weights. `<u, f>` is off by at most `sum |u_k| e_k`, and lambda/2 times that is
    /// the error of the penalty, or of F; twice that counts, for the rounding of the sum. `scores` gives the error of
    /// the rest.
    fn measured(
        &self,
        slack: f64,
        regularizer: &Regularizer,
        (point, value): (&[f64], f64),
        scores: impl FnOnce(&Magnitudes, &[f64]) -> f64,
    ) -> f64 {
        let (Some(magnitudes), None) = (&self.magnitudes, regularizer.prior()) else { return slack };
        if slack <= MEASURED * value.abs() {
            return slack;
        }
        let Some(errors) = regularizer.metric().errors(point) else { return slack };
        let terms = regularizer.metric().coefficients(point).iter().zip(&errors);
        let of_square: f64 = terms.map(|(u, error)| u.abs() * error).sum();
        slack.min(regularizer.lambda() * of_square + scores(magnitudes, &errors))
    }

    /// Returns what an image adds that has been added to so often; see [`Metric::slack`](crate::metric::Metric::slack).
    /// Planes, and steps, may be longer than those of margins.
    fn of_image(&self, regularizer: &Regularizer, loss: f64, additions: f64) -> f64 {
        let stretch = self.stretch();
        OFF * stretch * stretch * regularizer.metric().slack(regularizer.lambda(), loss, additions)
    }

    /// Returns what planes are longer by at most than those of margins.
    pub fn stretch(&self) -> f64 {
        self.magnitudes.as_ref().map_or(1.0, Magnitudes::stretch)
    }

    /// Returns F, which was computed as `value`, with its bound: `F(phi) >= F(phi') - <E, |w|> - |E|^2 / lambda` where
    /// phi' is off by at most E. Costs O(d). `seen` tells of the point's planes at its weights, and is asked only where
    /// the task says nothing.
    pub fn dual(
        &self,
        regularizer: &Regularizer,
        value: f64,
        point: PointTerms<'_>,
        seen: impl FnOnce(&[f64]) -> TermSizes,
    ) -> Rounded {
        let mut clipped = Vec::new();
        let w = if regularizer.constraints().is_some() {
            clipped.extend_from_slice(point.free);
            regularizer.clip_all(&mut clipped);
            &clipped
        } else {
            point.free
        };
        let error = self.phi_error(w, &point, regularizer.constraints().is_some(), seen);
        let quadratic = error.length * error.length * regularizer.metric().stretch() / regularizer.lambda();
        // Weights that were added up hold the prior's as well.
        let sums = if point.present { 0.0 } else { point.additions };
        let norms = (w.len() as f64 / 16.0 + USUAL + sums) * regularizer.dual_terms(w, point.free);
        let underflow = TINY * w.len() as f64 * (1.0 + regularizer.lambda());
        let slack = self.of_image(regularizer, self.scale(), point.image);
        let slack = self.measured(slack, regularizer, (w, value), |m, errors| 3.0 * error.share * m.all(errors));
        Rounded::new(value, error.score + quadratic + UNIT * norms + underflow + slack)
    }

    /// Returns how far the planes' sum of a point may be from the exact one, by its score at the weights `w`. `signs`:
    /// some weights are constrained.
    pub fn phi_error(
        &self,
        w: &[f64],
        point: &PointTerms<'_>,
        signs: bool,
        seen: impl FnOnce(&[f64]) -> TermSizes,
    ) -> PhiError {
        let (terms, length, additions) = match &self.magnitudes {
            Some(magnitudes) => {
                let scores = if point.present { magnitudes.most(w) } else { magnitudes.all(w) };
                let folded = if signs { 2.0 * scores } else { 0.0 };
                let terms = 2.0 * scores + magnitudes.constant_within(point.circ, folded);
                (terms, 2.0 * magnitudes.squares().sqrt(), magnitudes.rows())
            }
            None => {
                let seen = seen(w);
                (seen.score + seen.constant, seen.length, USUAL)
            }
        };
        let share = UNIT * (point.additions + additions + COEFFICIENT);
        PhiError { score: share * terms, length: share * length, share }
    }

    /// Roundings of a score where the task does not say how it is added up: over all coordinates, in eight sums.
    fn usual_additions(&self, w: &[f64]) -> f64 {
        w.len() as f64 / 8.0
    }
}
