//! The metric between directions of phi: how far a direction moves the weights, and what two directions have in common.
//!
//! Usually it is the identity: weights and directions have the same coordinates, and a *point* is d numbers, the
//! weights. A kernel on parts makes it `M = (K x I) + I` over coefficients of rows and linear coordinates (ADR 0041):
//! then a point is 2 d numbers, the image `M u`, which oracles are handed as weights, and the coefficients u.
//! Everything that is linear in points (steps, averages, mixtures) need not know. Whatever moves points or measures one
//! asks here.

mod kernel;
mod waiting;

pub use kernel::{KernelMetric, KernelTable};
pub use waiting::Waiting;

use std::sync::Arc;

use crate::kernel::{KernelCache, KernelCounts};
use crate::linalg;
use crate::plane::Star;

/// The identity, or a kernel's metric; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Metric {
    kernel: Option<Arc<KernelMetric>>,
    /// If blocks are sums over all examples, whose planes have all rows.
    of_sums: bool,
}

/// Two metrics are the same if points and tables are alike; which numbers a kernel has is not compared.
impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        match (&self.kernel, &other.kernel) {
            (None, None) => true,
            (Some(one), Some(other)) => one.table() == other.table(),
            _ => false,
        }
    }
}

impl Metric {
    /// Returns the metric of a kernel.
    pub fn of_kernel(kernel: KernelMetric) -> Self {
        Metric { kernel: Some(Arc::new(kernel)), of_sums: false }
    }

    /// Returns the same metric for blocks that are sums over all examples: an image has all rows then.
    pub fn of_sums(&self) -> Self {
        Metric { kernel: self.kernel.clone(), of_sums: true }
    }

    /// Returns whether there is a kernel, and blocks are sums over all examples.
    pub fn has_dear_images(&self) -> bool {
        self.kernel.is_some() && self.of_sums
    }

    /// Returns true if there is a kernel.
    pub fn has_kernel(&self) -> bool {
        self.kernel.is_some()
    }

    /// Returns how many numbers a point is, for `dim` weights.
    pub fn size(&self, dim: usize) -> usize {
        if self.kernel.is_some() { 2 * dim } else { dim }
    }

    /// Returns the weights of a point, which oracles are handed.
    pub fn weights<'a>(&self, point: &'a [f64]) -> &'a [f64] {
        if self.kernel.is_some() { &point[..point.len() / 2] } else { point }
    }

    /// Returns the coefficients of a point.
    pub fn coefficients<'a>(&self, point: &'a [f64]) -> &'a [f64] {
        if self.kernel.is_some() { &point[point.len() / 2..] } else { point }
    }

    /// Returns the coefficients of a point, whose weights follow with [`renew`](Metric::renew).
    pub fn coefficients_mut<'a>(&self, point: &'a mut [f64]) -> &'a mut [f64] {
        let middle = point.len() / 2;
        if self.kernel.is_some() { &mut point[middle..] } else { point }
    }

    /// Computes the weights of a point from its coefficients. With a kernel it costs O(R) for each row that has any.
    pub fn renew(&self, point: &mut [f64]) {
        if let Some(kernel) = &self.kernel {
            let (weights, coefficients) = halves(point);
            kernel.image(coefficients, weights);
        }
    }

    /// Adds `alpha` times a direction to a point. Costs O(stored coefficients), with a kernel O(R) for each row among
    /// them. Returns how many additions this counts as, in units of [`slack`](Metric::slack): one, with a kernel one
    /// for each row.
    pub fn add(&self, alpha: f64, direction: Star<'_>, point: &mut [f64]) -> f64 {
        match &self.kernel {
            None => {
                direction.add_to(alpha, point);
                1.0
            }
            Some(kernel) => {
                let (weights, coefficients) = halves(point);
                direction.add_to(alpha, coefficients);
                let rows = kernel.add(alpha, direction, weights);
                rows.max(1) as f64
            }
        }
    }

    /// As [`add`](Metric::add), but a kernel's rows may wait before they are added to the image.
    pub fn add_later(&self, alpha: f64, direction: Star<'_>, point: &mut [f64], waiting: &mut Waiting) -> f64 {
        match &self.kernel {
            None => self.add(alpha, direction, point),
            Some(kernel) => {
                let (weights, coefficients) = halves(point);
                direction.add_to(alpha, coefficients);
                let rows = kernel.add_later(alpha, direction, weights, waiting);
                rows.max(1) as f64
            }
        }
    }

    /// Brings the weights of an example up to date, as they are to be read next.
    pub fn open(&self, block: usize, point: &mut [f64], waiting: &mut Waiting) {
        if let Some(kernel) = &self.kernel {
            kernel.open(block, halves(point).0, waiting);
        }
    }

    /// Lets the example in hand go: no weight is read before the next [`open`](Metric::open) or
    /// [`flush`](Metric::flush).
    pub fn close(&self, point: &mut [f64], waiting: &mut Waiting) {
        if let Some(kernel) = &self.kernel {
            kernel.close(halves(point).0, waiting);
        }
    }

    /// Adds all that waits to the image.
    pub fn flush(&self, point: &mut [f64], waiting: &mut Waiting) {
        if let Some(kernel) = &self.kernel {
            kernel.flush(halves(point).0, waiting);
        }
    }

    /// Adds the image of a direction of example `block`, or of a sum, to `image` (`[d]`), at the coordinates of this
    /// block's own planes at least.
    pub fn add_image(&self, block: usize, direction: Star<'_>, image: &mut [f64]) {
        match &self.kernel {
            None => direction.add_to(1.0, image),
            Some(kernel) if self.of_sums => _ = kernel.add(1.0, direction, image),
            Some(kernel) => kernel.add_within(block, direction, image),
        }
    }

    /// Sets to zero what [`add_image`](Metric::add_image) added.
    pub fn clear_image(&self, block: usize, direction: Star<'_>, image: &mut [f64]) {
        direction.clear_in(image);
        match &self.kernel {
            None => {}
            Some(_) if self.of_sums => image.fill(0.0),
            Some(kernel) => kernel.clear_within(block, image),
        }
    }

    /// Returns the squared length `<d, M d>` of a direction of example `block`, or of a sum.
    pub fn square(&self, block: usize, direction: Star<'_>) -> f64 {
        match &self.kernel {
            None => linalg::sum_squares(direction.values()),
            Some(kernel) if self.of_sums => kernel.square_of_sum(direction),
            Some(kernel) => kernel.square(block, direction),
        }
    }

    /// Returns the inner product `<p, M q>` of direction p with one whose image `M q` is at hand, all coordinates of p.
    pub fn inner(&self, p: Star<'_>, image: &[f64]) -> f64 {
        p.dot(image)
    }

    /// Returns the squared length `<u, M u>` of a point.
    pub fn norm(&self, point: &[f64]) -> f64 {
        if self.kernel.is_none() { linalg::sum_squares(point) } else { self.product(point, point) }
    }

    /// Returns the terms of [`norm`](Metric::norm) without signs.
    pub fn norm_terms(&self, point: &[f64]) -> f64 {
        match &self.kernel {
            None => linalg::sum_squares(point),
            Some(_) => self.coefficients(point).iter().zip(self.weights(point)).map(|(u, f)| (u * f).abs()).sum(),
        }
    }

    /// Returns the inner product of two points.
    pub fn product(&self, one: &[f64], other: &[f64]) -> f64 {
        linalg::dot(self.coefficients(one), self.weights(other))
    }

    /// Returns what the scores of labellings are off by at most in the mean, at a point of any planes, beside the
    /// rounding that all scores have: with a kernel, weights are sums that steps have added to. `loss` is the mean of
    /// the largest losses, `additions` those that the image went through.
    pub fn slack(&self, lambda: f64, loss: f64, additions: f64) -> f64 {
        self.kernel.as_ref().map_or(0.0, |kernel| kernel.slack(lambda, loss, additions, self.of_sums))
    }

    /// Returns bounds on the differences between a point's weights and the exact image of its coefficients (`[d]`);
    /// `None` without a kernel. Costs as much as [`renew`](Metric::renew).
    pub fn errors(&self, point: &[f64]) -> Option<Vec<f64>> {
        Some(self.kernel.as_ref()?.errors(self.coefficients(point), self.weights(point)))
    }

    /// Returns a bound on the squared length of any direction over the sum of its squares: 1 without a kernel.
    pub fn stretch(&self) -> f64 {
        self.kernel.as_ref().map_or(1.0, |kernel| kernel.stretch())
    }

    /// Returns the kernel's training rows; `None` without one.
    pub fn rows(&self) -> Option<usize> {
        self.kernel.as_ref().map(|kernel| kernel.table().rows())
    }

    /// Returns how many rows carry a coefficient of a point; `None` without a kernel. O(rows).
    pub fn support(&self, point: &[f64]) -> Option<usize> {
        let table = self.kernel.as_ref()?.table();
        Some(table.carrying(self.coefficients(point)).count())
    }

    /// Returns how many additions may go by before the image must be renewed, which [`slack`](Metric::slack) counts on.
    pub fn most_additions(&self) -> f64 {
        if self.kernel.is_some() { kernel::MOST_ADDITIONS } else { f64::INFINITY }
    }

    /// Projects a point's weights onto the span of at most `most` rows, chosen one by one; returns the new coefficients
    /// (`[d]`). Returns `None` without a kernel, or if no more rows carry coefficients. Takes as many numbers of memory
    /// as rows that carry coefficients times `most`, and as many operations times `most`.
    pub fn projected(&self, most: usize, point: &[f64]) -> Option<Vec<f64>> {
        let (weights, coefficients) = point.split_at(point.len() / 2);
        self.kernel.as_ref()?.projected(most, weights, coefficients)
    }

    /// Returns the values of the kernel computed and read so far; `None` without one.
    pub fn counts(&self) -> Option<KernelCounts> {
        self.kernel.as_ref().map(|kernel| kernel.counts())
    }

    /// Returns what the kernel has counted and which rows of it are cached; `None` without one.
    pub(crate) fn cache(&self) -> Option<KernelCache> {
        self.kernel.as_ref().map(|kernel| kernel.cache())
    }

    /// Has the kernel go on from there.
    pub(crate) fn take_over(&self, cache: &KernelCache) {
        if let Some(kernel) = &self.kernel {
            kernel.take_over(cache);
        }
    }
}

/// The weights and the coefficients of a kernel's point.
fn halves(point: &mut [f64]) -> (&mut [f64], &mut [f64]) {
    point.split_at_mut(point.len() / 2)
}
