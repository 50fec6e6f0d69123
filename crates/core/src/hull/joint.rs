//! All masses at once: the joint master over the planes kept.

use super::state::HullState;
use crate::dual::DualPoint;
use crate::oracle::Capabilities;
use crate::plane_sum::PlaneSum;
use crate::qp::JointQp;

/// Most weights: the Newton system has a number for each pair.
const MOST_WEIGHTS: usize = 4096;

/// Largest estimates of seconds and of bytes of planes: a solution cannot be interrupted.
const MOST: (f64, f64) = (5.0, 1e9);

/// Examples whose planes the first price is told from.
const SAMPLE: usize = 16;

/// Iterations that the first solution takes, as far as is known before.
const LIKELY_ITERATIONS: f64 = 15.0;

/// Seconds that a multiplication for the Newton system takes.
const MULTIPLICATION: f64 = 2.5e-10;

/// A mass below this share of the largest of its example is moved to that one: the method leaves no mass at exactly 0.
/// The first share is taken at which F loses little.
const LEAST_SHARES: [f64; 4] = [1e-6, 1e-9, 1e-12, 0.0];

/// F may lose so many times the tolerance by that: masses on their way to 0 carry about the tolerance together.
const LOSS: f64 = 10.0;

impl HullState {
    /// Returns the estimated seconds of a joint solve. `None` with a kernel, with a weighted average (it must see each
    /// step), or above the limits. The first call reads the planes of some examples to set the price.
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
            let multiplications = self.joint_qp(&sample, source).0.multiplications();
            let planes: usize = sample.iter().map(|&block| self.sets.len(block)).sum();
            self.joint_products = (multiplications / planes as f64).max(1.0);
            self.joint_iterations = LIKELY_ITERATIONS;
        }
        let of_iteration = self.joint_products * planes as f64 + JointQp::factor_multiplications(dim);
        let price = MULTIPLICATION * self.joint_iterations * of_iteration;
        // A plane takes half the square of the coordinates of its example.
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

    /// Moves the masses of all examples to within `tolerance` of the optimum over the planes kept; returns the modelled
    /// seconds. If F would fall, the old masses are restored. Planes with mass become active at iteration `now`.
    pub fn solve_jointly(&mut self, tolerance: f64, now: u32, source: &mut impl Capabilities) -> f64 {
        self.rebuild(source);
        let before = self.iterate.value();
        let used: Vec<usize> = (0..self.truths.len()).filter(|&block| !self.sets.is_empty(block)).collect();
        let (qp, mut old) = self.joint_qp(&used, source);
        let (found, multiplications) = (qp.solve(tolerance), qp.multiplications());
        let iterations = found.iterations.max(1) as f64; // without any, the planes are read all the same
        self.joint_iterations = iterations;
        let dim = self.iterate.weights().len();
        self.joint_products = (multiplications / self.sets.planes() as f64).max(1.0);
        for least_share in LEAST_SHARES {
            self.take_masses(&used, &mut found.masses.clone(), least_share);
            self.rebuild(source);
            if self.iterate.value() >= found.value - LOSS * tolerance {
                break;
            }
        }
        if self.iterate.value() < before {
            self.take_masses(&used, &mut old, 0.0);
            self.rebuild(source);
        }
        for &block in &used {
            for k in 0..self.sets.len(block) {
                if self.sets.alphas(block)[k] > 0.0 {
                    self.sets.touch(block, k, now);
                }
            }
        }
        MULTIPLICATION * iterations * (multiplications + JointQp::factor_multiplications(dim))
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
