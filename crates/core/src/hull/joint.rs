//! All masses at once: the joint master over the planes kept.

use super::state::HullState;
use crate::dual::DualPoint;
use crate::oracle::Capabilities;
use crate::plane_sum::PlaneSum;
use crate::qp::JointQp;

/// Weights at most: the Newton system has a number for each pair of them.
const MOST_WEIGHTS: usize = 4096;

/// Seconds and bytes of a solution at most: nothing interrupts it.
const MOST: (f64, f64) = (5.0, 1e9);

/// Examples whose planes the first price is told from.
const SAMPLE: usize = 16;

/// Iterations that the first solution takes, as far as is known before.
const LIKELY_ITERATIONS: f64 = 15.0;

/// Seconds that a product of the Newton system takes.
const PRODUCT: f64 = 2.5e-10;

/// A mass below this share of the largest of its example goes to that one: the method leaves none at 0.
const LEAST_SHARE: f64 = 1e-6;

impl HullState {
    /// Returns the seconds that moving all masses at once is likely to take, by the count of products; `None` where
    /// that cannot be done (with a kernel, or a weighted average, which has to see each step) or takes too much. The
    /// first time it looks at the planes of some examples.
    pub fn joint_price(&mut self, source: &mut impl Capabilities) -> Option<f64> {
        let dim = self.iterate.weights().len();
        let planes = self.sets.planes();
        let cannot = self.iterate.metric().has_kernel() || self.iterate.has_weighted_average();
        if cannot || dim > MOST_WEIGHTS || planes == 0 {
            return None;
        }
        if self.joint_products == 0.0 {
            let used: Vec<usize> = (0..self.truths.len()).filter(|&block| !self.sets.is_empty(block)).collect();
            let sample: Vec<usize> = used.iter().step_by(used.len().div_ceil(SAMPLE)).copied().collect();
            let products = self.joint_qp(&sample, source).0.products_of_iteration() - cube(dim);
            let planes: usize = sample.iter().map(|&block| self.sets.len(block)).sum();
            self.joint_products = (products / planes as f64).max(1.0);
            self.joint_iterations = LIKELY_ITERATIONS;
        }
        let price = PRODUCT * self.joint_iterations * (self.joint_products * planes as f64 + cube(dim));
        // Half the square of the coordinates of an example are the products of a plane.
        let bytes = 8.0 * (2.0 * self.joint_products).sqrt() * planes as f64;
        (price <= MOST.0 && bytes <= MOST.1).then_some(price)
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
        let (iterations, products) = (qp.solve(&mut masses, tolerance).0 as f64, qp.products_of_iteration());
        self.joint_iterations = iterations;
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
        PRODUCT * iterations * products
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
