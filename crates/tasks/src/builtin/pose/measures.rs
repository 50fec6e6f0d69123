//! Measures of poses besides the loss.

use super::place::Pose;
use crate::metrics::{Counts, Evaluation, EvaluationMetric, Measure};

/// The share of a torso within which a joint counts as found.
pub(super) const FOUND: f64 = 0.2;

/// The length that a distance is compared with.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Yardstick {
    /// The torso (percentage of detected joints).
    Torso,
    /// The longer side of the box of the marked joints (percentage of correct keypoints).
    Body,
}

/// The share of marked joints that are nearer to the truth than a share of a yardstick.
#[derive(Clone, Copy)]
pub(super) struct Detected {
    name: &'static str,
    yardstick: Yardstick,
    at: f64,
    line: Option<&'static str>,
}

const fn detected(name: &'static str, yardstick: Yardstick, at: f64) -> Detected {
    Detected { name, yardstick, at, line: None }
}

/// The curves, from 0.05 to 0.5.
pub(super) const CURVES: [Detected; 12] = [
    Detected { line: Some("PDJ at 0.2"), ..detected("pdj", Yardstick::Torso, FOUND) },
    detected("pdj_0.05", Yardstick::Torso, 0.05),
    detected("pdj_0.1", Yardstick::Torso, 0.1),
    detected("pdj_0.3", Yardstick::Torso, 0.3),
    detected("pdj_0.4", Yardstick::Torso, 0.4),
    detected("pdj_0.5", Yardstick::Torso, 0.5),
    Detected { line: Some("PCK at 0.2"), ..detected("pck", Yardstick::Body, 0.2) },
    detected("pck_0.05", Yardstick::Body, 0.05),
    detected("pck_0.1", Yardstick::Body, 0.1),
    detected("pck_0.3", Yardstick::Body, 0.3),
    detected("pck_0.4", Yardstick::Body, 0.4),
    detected("pck_0.5", Yardstick::Body, 0.5),
];

/// Counts the marked joints that are at most `at` torsos away, and all marked ones.
pub(super) fn found(truth: &Pose, y: &Pose, yardstick: Yardstick, at: f64) -> (usize, usize) {
    let Some(marks) = &truth.marks else { return (0, 0) };
    let length = match yardstick {
        Yardstick::Torso => marks.torso,
        Yardstick::Body => {
            let side = |axis: usize| {
                let places = || marks.joints.iter().flatten().map(|joint| joint[axis]);
                f64::from(places().max().unwrap_or(0) - places().min().unwrap_or(0))
            };
            side(0).max(side(1))
        }
    };
    let near = truth.distances(y).filter(|distance| *distance <= at * length).count();
    (near, marks.joints.iter().flatten().count())
}

impl Measure<Pose> for Detected {
    fn count(&self, truth: &Pose, answer: &Pose) -> Counts {
        let (near, all) = found(truth, answer, self.yardstick, self.at);
        [near as f64, all as f64, 0.0, 0.0]
    }

    /// A joint without a type is left out, but its mark stays.
    fn counts_all(&self) -> bool {
        true
    }

    fn report(&self, &[near, all, ..]: &Counts, evaluation: &mut Evaluation) {
        evaluation.metrics.push((EvaluationMetric::share(self.name), near / all));
        if let Some(line) = self.line {
            evaluation.lines.push((line, format!("{:.2} %", 100.0 * near / all)));
        }
    }
}
