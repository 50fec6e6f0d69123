//! All masses at once: the joint master over the planes kept.

use super::state::HullState;
use crate::dual::DualPoint;
use crate::oracle::Capabilities;
use crate::plane_sum::PlaneSum;
use crate::qp::JointQp;

/// Weights at most: the Newton system has a number for each pair of them.
const MOST_WEIGHTS: usize = 4096;

/// Iterations that a solution takes, as far as is known before.
const LIKELY_ITERATIONS: f64 = 15.0;

/// Seconds that a product of the Newton system takes.
const PRODUCT: f64 = 2.5e-10;

/// A mass below this share of the largest of its example goes to that one: the method leaves none at 0.
const LEAST_SHARE: f64 = 1e-6;

impl HullState {
    /// Returns the seconds that moving all masses at once is likely to take, by the count of products; `None` where the
    /// weights are too many, as with a kernel. The first time it looks at the planes of one example.
    pub fn joint_price(&mut self, source: &mut impl Capabilities) -> Option<f64> {
        let dim = self.iterate.weights().len();
        let planes = self.sets.planes();
        if self.iterate.metric().has_kernel() || dim > MOST_WEIGHTS || planes == 0 {
            return None;
        }
        if self.joint_products == 0.0 {
            let first = (0..self.truths.len()).find(|&block| !self.sets.is_empty(block))?;
            let products = self.joint_qp(&[first], source).0.products_of_iteration();
            let share = (self.sets.len(first) as f64).recip();
            self.joint_products = share * products - share * cube(dim);
        }
        Some(PRODUCT * LIKELY_ITERATIONS * (self.joint_products * planes as f64 + cube(dim)))
    }

    /// Returns the QP over the planes of these blocks, and their masses.
    fn joint_qp(&self, used: &[usize], source: &mut impl Capabilities) -> (JointQp<'_>, Vec<f64>) {
        let dim = self.iterate.weights().len();
        let mut qp = JointQp::new(self.iterate.regularizer(), dim);
        let (mut planes, mut masses): (Vec<PlaneSum>, _) = (Vec::new(), Vec::new());
        for &block in used {
            let count = self.sets.len(block);
            planes.resize_with(count.max(planes.len()), || PlaneSum::new(dim));
            for (k, plane) in planes[..count].iter_mut().enumerate() {
                plane.clear();
                self.sets.add_plane(block, k, source, plane);
            }
            qp.push(planes[..count].iter().map(|plane| (plane.star(), plane.circ())));
            masses.push(self.truths[block]);
            masses.extend_from_slice(self.sets.alphas(block));
        }
        (qp, masses)
    }

    /// Moves the masses of all examples to the optimum over the planes kept, to `tolerance`; returns the seconds that
    /// this takes, by the count of products. F does not fall: where it would, nothing moves. Planes with mass become
    /// active at iteration `now`.
    pub fn solve_jointly(&mut self, tolerance: f64, now: u32, source: &mut impl Capabilities) -> f64 {
        self.rebuild(source);
        let before = self.iterate.value();
        let used: Vec<usize> = (0..self.truths.len()).filter(|&block| !self.sets.is_empty(block)).collect();
        let (qp, mut masses) = self.joint_qp(&used, source);
        let old = masses.clone();
        let iterations = qp.solve(&mut masses, tolerance).iterations;
        let products = qp.products_of_iteration();
        let dim = self.iterate.weights().len();
        self.joint_products = ((products - cube(dim)) / self.sets.planes() as f64).max(1.0);
        self.take_masses(&used, &mut masses, LEAST_SHARE);
        self.rebuild(source);
        if self.iterate.value() < before {
            masses.copy_from_slice(&old);
            self.take_masses(&used, &mut masses, 0.0);
            self.rebuild(source);
        }
        for &block in &used {
            for k in 0..self.sets.len(block) {
                if self.sets.alphas(block)[k] > 0.0 {
                    self.sets.touch(block, k, now);
                }
            }
        }
        PRODUCT * iterations as f64 * products
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

/// Products of a factorisation.
fn cube(dim: usize) -> f64 {
    (dim as f64).powi(3) / 6.0
}
