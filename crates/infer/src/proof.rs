//! When a bound meets an energy, so that a labelling is proven optimal.
//!
//! Bounds and energies are sums in floating point, so equality would be chance. Closeness is measured against what is
//! left to decide, the energy above the sum of the lowest energies of all nodes and edges, which neither the size of
//! all energies nor a constant changes.

use crate::engine::Answer;
use crate::mrf::Mrf;
use crate::sum::Sum;

/// A bound that leaves less than this share of what there was to decide meets the energy.
const CLOSE: f64 = 1e-10;

/// Largest sum of sizes for which sums of integers are exact, with room.
const EXACT_SUMS: f64 = (1u64 << 50) as f64;

/// The measure of a model for how close is close.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// All energies of labellings are integers, and exact.
    integral: bool,
    /// Not above the sum of the lowest energies of all nodes and edges.
    lowest: f64,
    constant: f64,
    /// Sum of the largest sizes of all energies.
    sizes: f64,
}

impl Proof {
    /// Reads off a model what proofs need: O(energies of nodes + edges).
    pub(crate) fn of(problem: &Mrf) -> Self {
        let mut lowest = Sum::default();
        let mut sizes = problem.constant().abs();
        lowest.add(problem.constant());
        for node in 0..problem.nodes() as u32 {
            let finite = problem.unary(node).iter().copied().filter(|energy| energy.is_finite());
            let (least, most) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| (a.min(e), b.max(e)));
            lowest.add(least);
            sizes += least.abs().max(most.abs());
        }
        for edge in problem.edges() {
            let most_labels = problem.labels(edge.tail).max(problem.labels(edge.head));
            let (least, most) = problem.term(edge).range(most_labels);
            let (a, b) = (edge.weight * least, edge.weight * most);
            lowest.add(a.min(b));
            sizes += a.abs().max(b.abs());
        }
        let integral = sizes < EXACT_SUMS && problem.is_integral();
        Proof { integral, lowest: lowest.floor(), constant: problem.constant(), sizes }
    }

    /// Returns a lower bound on the minimum of the model that needs no engine.
    pub(crate) fn lowest(&self) -> f64 {
        self.lowest
    }

    /// Returns the largest difference of an energy and a bound that meets it. A bound that was lowered by `rounding` to
    /// be safe may have met the energy before; it gets that back, but no more than a billionth of what there is.
    fn slack(&self, energy: f64, rounding: f64) -> f64 {
        if self.integral {
            return 1.0 - 1e-6;
        }
        let decided = (energy - self.lowest).max(0.0);
        let rounding = rounding + f64::EPSILON * (energy.abs() + self.constant.abs());
        CLOSE * decided + (2.0 * rounding).min(1e-9 * decided.max(energy.abs()))
    }

    /// Returns whether a bound, which was lowered by `rounding` to be safe, proves that no energy is lower.
    pub(crate) fn meets(&self, energy: f64, bound: f64, rounding: f64) -> bool {
        energy == bound || (energy.is_finite() && energy - bound <= self.slack(energy, rounding))
    }

    /// Returns what a bound proves: where energies are integral, the next integer.
    pub(crate) fn sharpened(&self, bound: f64) -> f64 {
        if self.integral && bound.is_finite() { (bound - 1e-6).ceil() + 0.0 } else { bound }
    }

    /// Returns the answer that an energy and a proven bound make.
    pub(crate) fn answer(&self, energy: f64, bound: f64, rounding: f64, iterations: u64) -> Answer {
        let met = self.meets(energy, bound, rounding);
        let bound = if met { energy } else { self.sharpened(bound).min(energy) };
        Answer { energy, bound, iterations }
    }
}

/// Returns whether a bound of an exact algorithm, of which rounding may have taken so much, meets an energy; all above
/// `lowest` was to decide.
pub(crate) fn is_close(energy: f64, bound: f64, lowest: f64, rounding: f64) -> bool {
    energy - bound <= CLOSE * (energy - lowest).max(0.0) + rounding
}

/// Returns the answer of an exact algorithm whose bound may be off by what rounding does to sums of all energies.
pub(crate) fn exact_answer(problem: &Mrf, energy: f64, bound: f64, iterations: u64) -> Answer {
    let proof = Proof::of(problem);
    let rounding = 4.0 * f64::EPSILON * proof.sizes;
    let met = energy.is_finite() && energy - bound <= rounding;
    proof.answer(energy, if met { energy } else { bound }, 0.0, iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Term;

    /// Two nodes that disagree, with energies of a size and a constant.
    fn model(size: f64, constant: f64) -> Mrf {
        let mut mrf = Mrf::new();
        mrf.add_node(&[0.0, 0.7 * size]).unwrap();
        mrf.add_node(&[0.9 * size, 0.0]).unwrap();
        let potts = mrf.add_term(Term::Potts).unwrap();
        mrf.add_edge(0, 1, potts, 0.5 * size).unwrap();
        mrf.add_constant(constant).unwrap();
        mrf
    }

    /// Closeness follows the energies' size, and no constant widens it beyond its own rounding.
    #[test]
    fn closeness_scales() {
        for size in [1e-12, 1.0, 1e12 / 7.0] {
            let proof = Proof::of(&model(size, 0.0));
            assert!(proof.meets(0.5 * size, 0.5 * size * (1.0 - 1e-11), 0.0), "size {size}");
            assert!(!proof.meets(0.5 * size, 0.5 * size * (1.0 - 1e-8), 0.0), "size {size}");
        }
        let proof = Proof::of(&model(1.0, 1e8));
        assert!(!proof.meets(1e8 + 0.5, 1e8 + 0.499, 1e-8));
        assert_eq!(proof.answer(1e8 + 0.5, 1e8, 0.0, 1), Answer { energy: 1e8 + 0.5, bound: 1e8, iterations: 1 });
    }

    /// Between integers there is nothing, as long as sums of them are exact.
    #[test]
    fn integers_are_rounded_up() {
        let mut mrf = Mrf::new();
        mrf.add_node(&[0.0, 3.0]).unwrap();
        assert_eq!(Proof::of(&mrf).answer(3.0, 1.2, 0.0, 1).bound, 2.0);
        assert!(Proof::of(&mrf).answer(3.0, 2.1, 0.0, 1).is_exact());
        mrf.add_node(&[1e17, 0.0]).unwrap();
        assert!(!Proof::of(&mrf).answer(3.0, 2.1, 0.0, 1).is_exact());
    }
}
