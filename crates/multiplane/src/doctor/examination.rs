//! The probe under observation: every question goes through here, is timed, and its answer checked.

use multiplane_core::clock::Stopwatch;
use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_tasks::foreign::LOSS_ROUNDING;
use multiplane_tasks::probe::Probe;

use super::features::{CheckedFeatures, Fault, check};
use super::finding::{ExaminationPlan, FindingLog, Kind};
use super::profile::Meter;

/// The origin of a labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabellingOrigin {
    Truth,
    Answer,
    /// An answer or the truth with one variable changed.
    Near,
    /// Another example's.
    Other,
}

impl LabellingOrigin {
    pub(super) fn text(self) -> &'static str {
        match self {
            LabellingOrigin::Truth => "the truth",
            LabellingOrigin::Answer => "an answer to another question",
            LabellingOrigin::Near => "a labelling with one variable changed",
            LabellingOrigin::Other => "another example's labelling",
        }
    }
}

/// A labelling of an example with all that is known of it.
pub(super) struct KnownLabelling<L> {
    pub(super) label: L,
    pub(super) origin: LabellingOrigin,
    pub(super) features: CheckedFeatures,
    pub(super) loss: f64,
    /// The part of the score that no weight multiplies.
    pub(super) fixed: f64,
    /// Place of the first labelling of the example that competes with it: competitors have the same.
    pub(super) group: usize,
}

impl<L> ExampleRecord<L> {
    /// Returns the labellings that compete with the one at this place, itself included, with their places.
    pub(super) fn rivals(&self, place: usize) -> impl Iterator<Item = (usize, &KnownLabelling<L>)> {
        let group = self.labellings[place].group;
        self.labellings.iter().enumerate().filter(move |(_, seen)| seen.group == group)
    }
}

impl<L> KnownLabelling<L> {
    /// Returns the score, plus the loss if `augmented`.
    pub(super) fn score(&self, w: &[f64], augmented: bool) -> f64 {
        self.features.score(w) + self.fixed + if augmented { self.loss } else { 0.0 }
    }
}

/// One example, with the labellings seen so far; the truth comes first.
pub(super) struct ExampleRecord<L> {
    pub(super) example: usize,
    pub(super) labellings: Vec<KnownLabelling<L>>,
}

/// An answer of decode.
pub(super) struct DecodedAnswer {
    pub(super) record: usize,
    /// Place of its w in the list.
    pub(super) at: usize,
    pub(super) augmented: bool,
    /// Place of its labelling in the record's list.
    pub(super) chosen: usize,
    /// The claim of the task about it.
    pub(super) claim: Option<Quality>,
}

/// The task that is asked, its examples that are looked at, and what was found.
pub(super) struct Examination<'p, P: Probe + ?Sized> {
    pub(super) probe: &'p mut P,
    pub(super) dim: usize,
    pub(super) records: Vec<ExampleRecord<P::Label>>,
    pub(super) log: FindingLog,
    pub(super) meter: Meter,
    pub(super) rng: Rng,
    watch: Stopwatch,
    seconds: f64,
}

/// An error as one line.
fn one_line(reason: &str) -> String {
    reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

impl<'p, P: Probe + ?Sized> Examination<'p, P> {
    pub(super) fn new(probe: &'p mut P, plan: &ExaminationPlan) -> Self {
        Examination {
            dim: probe.dim(),
            probe,
            records: Vec::new(),
            log: FindingLog::default(),
            meter: Meter::default(),
            rng: Rng::new(plan.seed, 0),
            watch: Stopwatch::start(),
            seconds: plan.seconds,
        }
    }

    /// Returns true if the time for this examination is over.
    pub(super) fn is_late(&self) -> bool {
        self.watch.seconds() > self.seconds
    }

    pub(super) fn error(&mut self, example: usize, question: &str, reason: &str) {
        self.log.add(Kind::OracleError, example, || {
            let reason = one_line(reason);
            (format!("{question} of example {example} failed: {reason}"), "the task's own code raised an error".into())
        });
    }

    /// Asks for truth, features and loss of an example, all checked; `None` where they cannot be had.
    pub(super) fn add_example(&mut self, example: usize) -> Option<usize> {
        let truth = match self.probe.truth(example) {
            Ok(truth) => truth,
            Err(reason) => {
                self.error(example, "the truth", &reason);
                return None;
            }
        };
        let labelling = self.inspect(example, truth, LabellingOrigin::Truth)?;
        if labelling.loss.abs() > LOSS_ROUNDING {
            let loss = labelling.loss;
            self.log.add(Kind::LossOfTruth, example, || {
                let message = format!("example {example}: Delta(truth, truth) is {loss}, expected 0");
                (message, "the loss compares something else than the two labellings, or adds a constant".into())
            });
        }
        self.records.push(ExampleRecord { example, labellings: vec![labelling] });
        Some(self.records.len() - 1)
    }

    /// Asks for features and loss of a labelling, checked. What is only presumed to be one may be refused in silence.
    pub(super) fn inspect(
        &mut self,
        example: usize,
        label: P::Label,
        origin: LabellingOrigin,
    ) -> Option<KnownLabelling<P::Label>> {
        let presumed = matches!(origin, LabellingOrigin::Near | LabellingOrigin::Other);
        let start = Stopwatch::start();
        let (raw, loss) = (self.probe.features(example, &label), self.probe.loss(example, &label));
        let fixed = self.probe.fixed_score(example, &label);
        self.meter.described(start.seconds());
        let (raw, loss, fixed) = match (raw, loss, fixed) {
            (Ok(raw), Ok(loss), Ok(fixed)) => (raw, loss, fixed),
            (Err(reason), ..) | (_, Err(reason), _) | (.., Err(reason)) => {
                match origin {
                    LabellingOrigin::Truth => self.error(example, "features or loss of the truth", &reason),
                    LabellingOrigin::Answer => self.refused(example, &label, &reason),
                    LabellingOrigin::Near | LabellingOrigin::Other => {}
                }
                return None;
            }
        };
        let sound_loss = self.check_loss(example, &label, origin, loss);
        match check(&raw, self.dim) {
            Ok(features) => sound_loss.then_some(KnownLabelling { label, origin, features, loss, fixed, group: 0 }),
            Err(fault) if presumed && !matches!(fault, Fault::NotFinite { .. }) => None,
            Err(fault) => {
                self.bad_features(example, &label, &fault);
                None
            }
        }
    }

    /// Features and loss refuse what decode returned.
    fn refused(&mut self, example: usize, label: &P::Label, reason: &str) {
        let shown = self.probe.show(label);
        self.log.add(Kind::LabelRefused, example, || {
            let reason = one_line(reason);
            let message =
                format!("example {example}: decode returned {shown}, which features or loss refuse: {reason}");
            (message, "decode returns something that is not a labelling of this example".into())
        });
    }

    fn check_loss(&mut self, example: usize, label: &P::Label, origin: LabellingOrigin, loss: f64) -> bool {
        let kind = match loss {
            loss if !loss.is_finite() => Kind::LossNotFinite,
            loss if loss < -LOSS_ROUNDING => Kind::NegativeLoss,
            _ => return true,
        };
        let shown = self.probe.show(label);
        self.log.add(kind, example, || {
            let message = format!(
                "example {example}: Delta(truth, y) is {loss} for y = {shown} ({}), expected a number >= 0",
                origin.text()
            );
            let cause = match kind {
                Kind::NegativeLoss => "a gain instead of a loss, or the arguments have changed places",
                _ => "a division by 0, or numbers that were never set",
            };
            (message, cause.into())
        });
        loss.is_finite()
    }

    fn bad_features(&mut self, example: usize, label: &P::Label, fault: &Fault) {
        let (shown, dim) = (self.probe.show(label), self.dim);
        self.log.add(fault.kind(), example, || {
            let (what, cause) = fault.text(dim);
            (format!("example {example}: features of y = {shown}: {what}"), cause)
        });
    }

    /// Asks for features and loss of a labelling again, which must be the same.
    pub(super) fn inspect_again(&mut self, record: usize, place: usize) {
        let (example, label) = (self.records[record].example, self.records[record].labellings[place].label.clone());
        let (raw, loss) = (self.probe.features(example, &label), self.probe.loss(example, &label));
        let seen = &self.records[record].labellings[place];
        let same_features = raw.is_ok_and(|raw| check(&raw, self.dim).is_ok_and(|again| again == seen.features));
        let same_loss = loss.as_ref().is_ok_and(|loss| *loss == seen.loss);
        if same_features && same_loss {
            return;
        }
        let what = if same_features { "loss" } else { "features" };
        let shown = self.probe.show(&label);
        self.log.add(Kind::NonDeterministic, example, || {
            let message = format!("example {example}: the {what} of y = {shown} came out differently the second time");
            (message, "it depends on chance, on earlier calls, or on something that decode changes".into())
        });
    }

    /// Decodes; the answer's labelling is looked at and kept. `None` where there is none that can be used.
    pub(super) fn decode(&mut self, record: usize, w: &[f64], at: usize, augmented: bool) -> Option<DecodedAnswer> {
        let example = self.records[record].example;
        let start = Stopwatch::start();
        let answer = self.probe.decode(example, w, augmented);
        self.meter.decoded(start.seconds());
        match answer {
            Ok((label, claim)) => {
                let chosen = self.keep(record, label, LabellingOrigin::Answer)?;
                let labellings = &self.records[record].labellings;
                self.meter.plane(labellings[chosen].features.difference(&labellings[0].features));
                Some(DecodedAnswer { record, at, augmented, chosen, claim })
            }
            Err(reason) => {
                let question = if augmented { "loss-augmented decoding" } else { "decoding" };
                self.error(example, question, &reason);
                None
            }
        }
    }

    /// Returns the place of a labelling among those seen of an example; looked at if it is new.
    pub(super) fn keep(&mut self, record: usize, label: P::Label, origin: LabellingOrigin) -> Option<usize> {
        let (probe, labellings) = (&mut *self.probe, &mut self.records[record].labellings);
        if let Some(place) = labellings.iter().position(|labelling| probe.same(&labelling.label, &label)) {
            if origin == LabellingOrigin::Answer && labellings[place].origin != LabellingOrigin::Truth {
                labellings[place].origin = origin; // no longer presumed
            }
            return Some(place);
        }
        if origin == LabellingOrigin::Answer && !self.is_of_type(record, &label) {
            return None;
        }
        let mut labelling = self.inspect(self.records[record].example, label, origin)?;
        let (probe, labellings) = (&mut *self.probe, &mut self.records[record].labellings);
        let rival = labellings.iter().position(|seen| probe.same_variables(&seen.label, &labelling.label));
        labelling.group = rival.unwrap_or(labellings.len());
        labellings.push(labelling);
        Some(labellings.len() - 1)
    }

    fn is_of_type(&mut self, record: usize, label: &P::Label) -> bool {
        let found = self.probe.kind(label);
        let expected = self.probe.kind(&self.records[record].labellings[0].label);
        if found == expected {
            return true;
        }
        let (example, shown) = (self.records[record].example, self.probe.show(label));
        self.log.add(Kind::WrongLabelType, example, || {
            let message =
                format!("example {example}: decode returned {shown}, which is {found}; the truth is {expected}");
            (message, "decode returns the label in another form than the data has it".into())
        });
        false
    }
}

/// Rounding that is forgiven, in parts of the numbers that were added up: single precision passes.
const ROUNDING: f64 = 1e-6;

/// Violations from which on a systematic cause is believed.
pub(super) const FEW: usize = 3;

/// An answer that another labelling beats.
pub(super) struct Violation<'a> {
    pub(super) answer: &'a DecodedAnswer,
    /// Place of the better labelling.
    pub(super) better: usize,
}

/// Returns what rounding can amount to in comparing two scores.
pub(super) fn tolerance<L>(one: &KnownLabelling<L>, other: &KnownLabelling<L>, w: &[f64]) -> f64 {
    let sizes = one.features.magnitude(w)
        + other.features.magnitude(w)
        + one.loss.abs()
        + other.loss.abs()
        + one.fixed.abs()
        + other.fixed.abs();
    ROUNDING * sizes + f64::MIN_POSITIVE
}
