//! The iterate: weights, their dual value, and running averages. The only code that moves the weights of a dual point.
//!
//! `v = w0 - phi_star / lambda` are the free weights, w is v within its constraints, and F the dual value at phi
//! (see [`crate::regularizer`]), where phi is the sum of all examples' planes.

mod constrained;
mod rounded;

use crate::average::{Averages, Averaging, MovingAverage, UpdateKind};
use crate::certificate::{CertificatePart, DualCertificate};
use crate::linalg;
use crate::metric::{Metric, Waiting};
use crate::plane::Star;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure, finite};
use constrained::Bounded;

/// Weights, dual value and averages.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Iterate {
    regularizer: Regularizer,
    /// The point (see [`Metric`]): the weights, with a kernel their coefficients as well.
    weights: Vec<f64>,
    /// The free weights, where there are constraints; else w is free itself.
    free: Option<Vec<f64>>,
    circ: f64,
    value: f64,
    averages: Option<Averages>,
    recent: Option<MovingAverage>,
    /// Additions that a weight went through at most: since it was rebuilt, and since the averages began.
    additions: Additions,
    /// The bounds of the constraints on steps, once there was one.
    #[serde(skip)]
    bounded: Option<Bounded>,
    /// Moves of a kernel's image that wait; none are left after a [`catch_up`](Iterate::catch_up).
    #[serde(skip)]
    waiting: Waiting,
}

impl Iterate {
    /// The origin: phi = 0, w = w0.
    pub fn new(dim: usize, regularizer: impl Into<Regularizer>, averaging: Averaging) -> Self {
        let regularizer = regularizer.into();
        let free = regularizer.constraints().map(|_| vec![0.0; dim]);
        let averages = (averaging == Averaging::Weighted).then(|| Averages::new(regularizer.metric().size(dim)));
        let recent = if let Averaging::Recent(config) = averaging { Some(MovingAverage::new(config)) } else { None };
        let mut iterate = Iterate {
            weights: vec![0.0; regularizer.metric().size(dim)],
            regularizer,
            free,
            circ: 0.0,
            value: 0.0,
            averages,
            recent,
            additions: Additions::default(),
            bounded: None,
            waiting: Waiting::default(),
        };
        iterate.rebuild(|_| (0.0, 0.0));
        iterate
    }

    /// Strength, prior and constraints.
    pub fn regularizer(&self) -> &Regularizer {
        &self.regularizer
    }

    /// Strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer.lambda()
    }

    /// The weights w.
    pub fn weights(&self) -> &[f64] {
        debug_assert!(self.waiting.is_readable(), "weights that are behind");
        self.metric().weights(&self.weights)
    }

    /// Returns the point: the weights, with a kernel their coefficients as well.
    pub fn point(&self) -> &[f64] {
        debug_assert!(self.waiting.is_empty(), "a point that is behind");
        &self.weights
    }

    /// The free weights v; w itself where nothing is constrained. With a kernel, the point.
    pub fn free(&self) -> &[f64] {
        debug_assert!(self.waiting.is_empty(), "a point that is behind");
        self.free.as_deref().unwrap_or(&self.weights)
    }

    /// Returns what inner products of directions are taken with.
    pub fn metric(&self) -> &Metric {
        self.regularizer.metric()
    }

    /// Returns the curvature of F along a direction of example `block`: its squared length over lambda.
    pub fn curvature(&self, block: usize, direction: Star<'_>) -> f64 {
        self.metric().square(block, direction) / self.lambda()
    }

    /// The dual value F.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Adds `amount` times a linear part (and `circ`) to phi; w moves against it. F is for the caller to
    /// [`gain`](Iterate::gain). Returns the surplus of a step over its quadratic model: 0 without constraints.
    pub fn add(&mut self, amount: f64, star: Star<'_>, circ: f64) -> f64 {
        let alpha = -amount / self.lambda();
        self.circ += circ;
        if let Some(averages) = &mut self.averages {
            averages.follow(self.regularizer.metric(), star, alpha, circ);
        }
        if let (Some(free), Some(constraints)) = (&mut self.free, self.regularizer.constraints()) {
            self.additions.count(1.0);
            let bounded = self.bounded.get_or_insert_with(|| Bounded::new(constraints));
            return bounded.step(&self.regularizer, (free, &mut self.weights), alpha, star);
        }
        let (metric, waiting) = (self.regularizer.metric(), &mut self.waiting);
        let additions = metric.add_later(alpha, star, &mut self.weights, waiting);
        self.count_additions(additions);
        if self.additions.since_rebuild > self.metric().most_additions() {
            self.renew();
        }
        0.0
    }

    /// Takes example `block` in hand until [`close`](Iterate::close): of the weights only those of its rows and those
    /// that belong to none are read meanwhile, so that with a kernel its steps move the others when there are some
    /// together.
    pub fn open(&mut self, block: usize) {
        self.regularizer.metric().open(block, &mut self.weights, &mut self.waiting);
    }

    /// Lets the example in hand go. Before anything but the next example is asked for, there is
    /// [`catch_up`](Iterate::catch_up).
    pub fn close(&mut self) {
        self.regularizer.metric().close(&mut self.weights, &mut self.waiting);
    }

    /// Returns true if no weight is behind.
    pub fn is_up_to_date(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether there is an average that has to see each step.
    pub fn has_weighted_average(&self) -> bool {
        self.averages.is_some()
    }

    /// Moves all weights that are behind.
    pub fn catch_up(&mut self) {
        self.regularizer.metric().flush(&mut self.weights, &mut self.waiting);
    }

    /// Like [`add`](Iterate::add) where nothing is constrained: `add` adds its first argument times the change of
    /// `phi_star` to the vector that it is given, no coordinate more than `additions` times.
    pub fn add_with(&mut self, circ: f64, additions: f64, mut add: impl FnMut(f64, &mut [f64])) {
        debug_assert!(self.free.is_none() && !self.metric().has_kernel(), "these weights move plane by plane");
        let alpha = -1.0 / self.lambda();
        self.circ += circ;
        self.count_additions(additions);
        if let Some(averages) = &mut self.averages {
            averages.follow_with(circ, |weight, lag| add(weight * alpha, lag));
        }
        add(alpha, &mut self.weights);
    }

    /// Takes a metric in the place of the one that no file holds.
    pub(crate) fn attach(&mut self, metric: &Metric) {
        self.regularizer = std::mem::replace(&mut self.regularizer, 1.0.into()).with_metric(metric.clone());
    }

    /// Counts additions that a weight may have gone through.
    pub fn count_additions(&mut self, additions: f64) {
        self.additions.count(additions);
    }

    /// Returns the additions that a weight may have gone through since w was made anew.
    pub fn additions(&self) -> f64 {
        self.additions.since_rebuild
    }

    /// Books the rise of F that the last additions made.
    pub fn gain(&mut self, gain: f64) {
        self.value += gain;
    }

    /// Frank-Wolfe step of phi as a whole toward `corners`, the sum of one plane per example, with exact line search
    /// (MP-BCFW paper, Alg. 1). `corners` becomes the direction. Returns the length of the step: every example's plane
    /// moves by this share toward its own corner. F never falls. Costs O(d).
    pub fn step_together(&mut self, corners: &mut [f64], circ: f64) -> f64 {
        debug_assert!(!self.metric().has_kernel(), "with a kernel blocks move one by one");
        linalg::axpy(self.lambda(), self.free(), corners); // phi = lambda (w0 - v)
        if let Some(prior) = self.regularizer.prior() {
            linalg::axpy(-self.lambda(), prior, corners);
        }
        let circ = circ - self.circ;
        let slope = linalg::dot(corners, &self.weights) + circ;
        let curvature = linalg::sum_squares(corners) / self.lambda();
        let gamma = linalg::step_length(slope, curvature, 1.0);
        if gamma > 0.0 {
            let surplus = self.add(gamma, Star::Dense(corners), gamma * circ);
            self.gain(gamma * slope - 0.5 * gamma * gamma * curvature + surplus);
        }
        self.count(UpdateKind::Exact);
        gamma
    }

    /// Counts the iterate as it is now in the average of its kind.
    pub fn count(&mut self, kind: UpdateKind) {
        if let Some(averages) = &mut self.averages {
            averages.count(kind);
        }
    }

    /// Counts the iterate as it is now in the moving average: the exact pass with all that follows it has ended.
    pub fn end_pass(&mut self) {
        if let Some(recent) = &mut self.recent {
            let additions = self.additions.since_rebuild;
            recent.take(self.free.as_deref().unwrap_or(&self.weights), self.circ, additions);
        }
    }

    /// Writes the moving average's weights into `out`, where one is kept, and returns its dual value.
    pub fn alternative(&self, out: &mut Vec<f64>) -> Option<f64> {
        let value = self.recent.as_ref()?.point(&self.regularizer, out)?;
        self.regularizer.clip_all(out);
        Some(value)
    }

    /// Recomputes w and F from phi: `add_phi` adds the linear part of every example's plane to the vector that it
    /// is given and returns the sum of the constant parts, and how many additions a coordinate took at most.
    pub fn rebuild(&mut self, add_phi: impl FnOnce(&mut [f64]) -> (f64, f64)) {
        self.waiting = Waiting::default(); // what waits is in phi
        let free = self.free.as_mut().unwrap_or(&mut self.weights);
        free.fill(0.0);
        let metric = self.regularizer.metric();
        (self.circ, self.additions.since_rebuild) = add_phi(metric.coefficients_mut(free));
        self.regularizer.free_point(free);
        self.value = self.regularizer.dual(free, self.circ);
        if let Some(free) = &self.free {
            self.weights.copy_from_slice(free);
            self.regularizer.clip_all(&mut self.weights);
        }
    }

    /// Makes the image of the coefficients anew: it has been added to for long.
    fn renew(&mut self) {
        self.catch_up();
        self.regularizer.metric().renew(&mut self.weights);
        self.additions.since_rebuild = 0.0;
    }

    /// Goes on at another lambda; averages start anew. w and F are true again after a [`rebuild`](Iterate::rebuild).
    pub fn set_lambda(&mut self, lambda: f64) {
        self.regularizer = self.regularizer.with_lambda(lambda);
        if self.averages.is_some() {
            self.averages = Some(Averages::new(self.weights.len()));
        }
        self.additions.in_all = 0.0;
        if let Some(recent) = &mut self.recent {
            recent.forget();
        }
    }

    /// Goes on at another strength and prior mean (`[d]`), as [`set_lambda`](Iterate::set_lambda) does.
    pub fn relocate(&mut self, lambda: f64, prior: &[f64]) {
        self.set_lambda(lambda);
        self.regularizer.move_to(lambda, prior);
    }

    /// Begins anew at phi = 0 with another strength and prior mean: w is the prior, within the constraints. Without
    /// averages.
    pub fn begin_at(&mut self, lambda: f64, prior: &[f64]) {
        debug_assert!(self.averages.is_none() && self.recent.is_none(), "averages of another problem");
        self.regularizer.move_to(lambda, prior);
        self.additions = Additions::default();
        self.rebuild(|_| (0.0, 0.0));
    }

    /// How far w and F have drifted from phi, relative; `add_phi` as in [`rebuild`](Iterate::rebuild). For tests.
    pub fn drift(&self, add_phi: impl FnOnce(&mut [f64]) -> f64) -> (f64, f64) {
        let mut fresh = self.clone();
        fresh.rebuild(|sum| (add_phi(sum), 0.0));
        let norm = linalg::sum_squares(&fresh.weights).sqrt();
        let scale = fresh.value.abs() + fresh.circ.abs() + 1.0;
        let value = (self.value - fresh.value).abs() / scale;
        linalg::axpy(-1.0, &self.weights, &mut fresh.weights);
        (linalg::sum_squares(&fresh.weights).sqrt() / (norm + 1.0), value)
    }

    /// The averaged points, where averages are kept: sums of planes and dual values.
    pub fn averaged_points(&self) -> Vec<DualCertificate<'static>> {
        let point = |mut phi: Vec<f64>, circ: f64, value: f64| {
            if let Some(prior) = self.regularizer.prior() {
                linalg::axpy(-1.0, prior, &mut phi);
            }
            linalg::scale(-self.lambda(), &mut phi);
            let phi = self.metric().coefficients(&phi).to_vec();
            DualCertificate { value, parts: vec![CertificatePart::Sum(phi, circ)] }
        };
        let mut free = Vec::new();
        let best = |averages: &Averages| averages.best(self.free(), self.circ, &self.regularizer, &mut free);
        let weighted = self.averages.as_ref().and_then(best).map(|(value, circ)| point(free, circ, value));
        let recent = self.recent.as_ref().and_then(MovingAverage::average);
        let recent = recent.map(|(free, circ)| point(free.to_vec(), circ, self.regularizer.dual(free, circ)));
        weighted.into_iter().chain(recent).collect()
    }

    /// Refuses an iterate that was restored and does not fit `dim` weights.
    pub(crate) fn check(&self, dim: usize) -> Result<(), StateError> {
        let sound = |weights: &[f64]| weights.len() == self.metric().size(dim) && finite(weights);
        ensure(sound(&self.weights) && sound(self.free()), "the weights")?;
        ensure(self.free.is_some() == self.regularizer.constraints().is_some(), "the free weights")?;
        ensure(self.circ.is_finite() && self.value.is_finite(), "the dual value")?;
        ensure(self.regularizer.misfit(dim).is_none(), "the regulariser")?;
        self.averages.as_ref().map_or(Ok(()), |averages| averages.check(self.metric().size(dim)))?;
        self.recent.as_ref().map_or(Ok(()), |recent| recent.check(self.metric().size(dim)))
    }

    /// Writes the answer so far into `out`, the averaged point where averages are kept, and returns that point's
    /// dual value.
    pub fn answer(&self, out: &mut Vec<f64>) -> f64 {
        if let Some(averages) = &self.averages
            && let Some((value, _)) = averages.best(self.free(), self.circ, &self.regularizer, out)
        {
            self.regularizer.clip_all(out);
            return value;
        }
        out.clear();
        out.extend_from_slice(&self.weights);
        self.value
    }
}

/// Additions that a weight went through at most.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Additions {
    /// Since it was rebuilt.
    pub(super) since_rebuild: f64,
    /// Since the averages began.
    pub(super) in_all: f64,
}

impl Additions {
    /// Counts further ones.
    pub(super) fn count(&mut self, additions: f64) {
        self.since_rebuild += additions;
        self.in_all += additions;
    }
}
