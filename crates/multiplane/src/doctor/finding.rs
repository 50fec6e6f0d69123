//! The plan of an examination and what it finds: of each kind the first finding is kept, the others are counted.

use std::fmt;

use serde::Serialize;

/// The kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A question got an error instead of an answer.
    OracleError,
    /// A labelling that decoding returned is not of the truth's type.
    WrongLabelType,
    /// A labelling that decoding returned is refused by features or loss.
    LabelRefused,
    /// A dense feature vector has not the length d.
    FeatureLength,
    /// A feature has an index below 0, or d or more.
    IndexOutOfRange,
    /// A feature is NaN or infinite.
    FeatureNotFinite,
    /// A loss is NaN or infinite.
    LossNotFinite,
    /// A loss is below 0.
    NegativeLoss,
    /// The truth has a loss.
    LossOfTruth,
    /// The same question was answered differently.
    NonDeterministic,
    /// Questions asked at the same time were answered differently than one by one.
    NotThreadSafe,
    /// Loss-augmented decoding does not add the loss, or adds it wrongly.
    LossIgnored,
    /// Decoding maximises another score than that of the features.
    ScoreMismatch,
    /// Decoding returned a labelling that scores lower than another one.
    SubOptimal,
    /// A labelling scores above the declared upper bound.
    UnsoundBound,
}

impl fmt::Display for Kind {
    /// Writes the name, as it is in the JSON too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One fault; of many of one kind the first, with their number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The kind of fault.
    pub kind: Kind,
    /// The example that shows it, from 0.
    pub example: Option<usize>,
    /// The question, the answer and the rule, with the numbers.
    pub message: String,
    /// The probable cause.
    pub cause: String,
    /// How often it was seen.
    pub count: usize,
}

/// The cost of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Examples looked at.
    pub examples: usize,
    /// Decodings asked for.
    pub decode_calls: usize,
    /// Decodings per second.
    pub decodes_per_second: f64,
    /// Share of the time that went into features.
    pub features_share: f64,
    /// Entries of a plane, on average.
    pub plane_entries_mean: f64,
    /// Entries of the largest plane.
    pub plane_entries_max: usize,
    /// The forecast for the planned run.
    pub forecast: CostEstimate,
}

/// The probable cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CostEstimate {
    /// Passes over the data that it was made for.
    pub passes: f64,
    /// Oracle calls.
    pub calls: f64,
    /// Seconds in the oracle on one thread.
    pub seconds: f64,
    /// Planes kept per example that it was made for.
    pub planes: usize,
    /// Memory of planes and weights.
    pub megabytes: f64,
}

/// The result of an examination.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The faults found; none if all seems sound.
    pub findings: Vec<Finding>,
    /// The cost of calls.
    pub profile: Profile,
}

/// Findings so far, in the order in which their kinds were first seen.
#[derive(Default)]
pub(super) struct FindingLog {
    findings: Vec<Finding>,
}

impl FindingLog {
    /// Notes a fault; message and cause are only made for the first of its kind.
    pub(super) fn add(&mut self, kind: Kind, example: usize, text: impl FnOnce() -> (String, String)) {
        if let Some(known) = self.findings.iter_mut().find(|finding| finding.kind == kind) {
            known.count += 1;
            return;
        }
        let (message, cause) = text();
        self.findings.push(Finding { kind, example: Some(example), message, cause, count: 1 });
    }

    /// Returns true if there is a fault of this kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// Counts as many more of this kind.
    pub(super) fn count(&mut self, kind: Kind, count: usize) {
        if let Some(known) = self.findings.iter_mut().find(|finding| finding.kind == kind) {
            known.count = known.count.max(count);
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}

/// How thorough an examination is, and for which run the forecast is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExaminationPlan {
    /// Examples that are decoded.
    pub examples: usize,
    /// Seed of the choice of examples and weights.
    pub seed: u64,
    /// Seconds after which no further example is begun.
    pub seconds: f64,
    /// Passes of the run that is planned.
    pub passes: f64,
    /// Planes that it keeps per example.
    pub planes: usize,
}

impl Default for ExaminationPlan {
    fn default() -> Self {
        ExaminationPlan { examples: 50, seed: 0, seconds: 120.0, passes: 50.0, planes: 10 }
    }
}
