//! A metric, the measure of labellings that counts for it, and the evaluation in which both end.

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share, 0 to 1.
    Share,
    /// A whole number of things.
    Count,
}

/// A number that an evaluation reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationMetric {
    /// Its name for programs: the key in JSON.
    pub name: &'static str,
    /// The meaning of its value.
    pub unit: Unit,
}

/// Share of variables predicted rightly.
pub const ACCURACY: EvaluationMetric = EvaluationMetric::share("accuracy");

/// Share of examples with no wrong variable.
pub const EXACT: EvaluationMetric = EvaluationMetric::share("exact");

impl EvaluationMetric {
    /// Makes a metric that is a share, 0 to 1.
    pub const fn share(name: &'static str) -> Self {
        EvaluationMetric { name, unit: Unit::Share }
    }

    /// Makes a metric that is a whole number of things.
    pub const fn count(name: &'static str) -> Self {
        EvaluationMetric { name, unit: Unit::Count }
    }
}

/// Totals over a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Examples of whose truth something is known.
    pub n: usize,
    /// Mean task loss over these; `None` where there are none, and then no metric has a value.
    pub loss: Option<f64>,
    /// Every metric with its value.
    pub metrics: Vec<(EvaluationMetric, f64)>,
    /// The same for people: lines of what and how much.
    pub lines: Vec<(&'static str, String)>,
}

impl Evaluation {
    /// Returns the value of a metric, where there is one of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|(metric, _)| metric.name == name).map(|(_, value)| *value)
    }
}

/// The counts of a measure on one example; it reports sums of these over all examples.
pub type Counts = [f64; 4];

/// A way to measure answers: counts on each example, and what the sums of the counts say.
pub trait Measure<L: ?Sized>: Send + Sync {
    /// Counts on one example. The truth may hold labels that training never saw.
    fn count(&self, truth: &L, answer: &L) -> Counts;

    /// Returns if answers are counted whole, also where the truth leaves a part out.
    fn counts_all(&self) -> bool {
        false
    }

    /// Adds metrics and lines to an evaluation, given the sums of the counts.
    fn report(&self, sums: &Counts, evaluation: &mut Evaluation);
}
