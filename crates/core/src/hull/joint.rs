//! All masses at once: the joint master over the planes kept.

use super::state::HullState;
use crate::dual::DualPoint;
use crate::oracle::Capabilities;
use crate::plane_sum::PlaneSum;
use crate::qp::{JointQp, joint_work};

/// Iterations that a solution takes, as far as is known before.
const LIKELY_ITERATIONS: usize = 15;

/// A mass below this share of the largest of its example goes to that one: the method leaves none at 0.
const LEAST_SHARE: f64 = 1e-6;

impl HullState {
    /// Returns the seconds that moving all masses at once is likely to take, by the count of products; `None` with a
    /// kernel, whose weights are too many.
    pub fn joint_price(&self) -> Option<f64> {
        (!self.iterate.metric().has_kernel()).then(|| self.joint_seconds(LIKELY_ITERATIONS))
    }

    fn joint_seconds(&self, iterations: usize) -> f64 {
        joint_work(iterations, self.sets.planes() + self.truths.len(), self.iterate.weights().len())
    }

    /// Moves the masses of all examples to the optimum over the planes kept, to `tolerance`; returns the
    /// seconds that this takes, by the count of products. F does not fall: where it would, nothing moves. Planes with
    /// mass become active at iteration `now`.
    pub fn solve_jointly(&mut self, tolerance: f64, now: u32, source: &mut impl Capabilities) -> f64 {
        debug_assert!(!self.iterate.metric().has_kernel(), "a kernel's weights are too many");
        self.rebuild(source);
        let before = self.iterate.value();
        let dim = self.iterate.weights().len();
        let used: Vec<usize> = (0..self.truths.len()).filter(|&block| !self.sets.is_empty(block)).collect();
        let mut qp = JointQp::new(self.iterate.regularizer(), dim);
        let (mut plane, mut masses) = (PlaneSum::new(dim), Vec::new());
        for &block in &used {
            plane.clear();
            qp.push(plane.star(), 0.0);
            masses.push(self.truths[block]);
            for (k, &mass) in self.sets.alphas(block).iter().enumerate() {
                plane.clear();
                self.sets.add_plane(block, k, source, &mut plane);
                qp.push(plane.star(), plane.circ());
                masses.push(mass);
            }
            qp.end_block();
        }
        let old = masses.clone();
        let iterations = qp.solve(&mut masses, tolerance).iterations;
        let seconds = self.joint_seconds(iterations);
        self.take_masses(&used, &mut masses, LEAST_SHARE);
        self.rebuild(source);
        if self.iterate.value() < before {
            masses.copy_from_slice(&old);
            self.take_masses(&used, &mut masses, 0.0);
            self.rebuild(source);
        }
        for &block in &used {
            let active = |k: &usize| self.sets.alphas(block)[*k] > 0.0;
            let active: Vec<usize> = (0..self.sets.len(block)).filter(active).collect();
            active.into_iter().for_each(|k| self.sets.touch(block, k, now));
        }
        seconds
    }

    /// Sets the masses of these blocks, each block's truth first; those below a share of the largest go to it.
    fn take_masses(&mut self, used: &[usize], masses: &mut [f64], least_share: f64) {
        let mut rest = masses;
        for &block in used {
            let (own, others) = rest.split_at_mut(self.sets.len(block) + 1);
            let best = (0..own.len()).fold(0, |best, p| if own[p] > own[best] { p } else { best });
            let least = least_share * own[best];
            own.iter_mut().for_each(|mass| *mass = if *mass < least { 0.0 } else { *mass });
            let others_sum: f64 = (0..own.len()).filter(|&p| p != best).map(|p| own[p]).sum();
            own[best] = 1.0 - others_sum;
            self.truths[block] = own[0];
            self.sets.gram_and_alphas(block).1.copy_from_slice(&own[1..]);
            rest = others;
        }
    }
}
