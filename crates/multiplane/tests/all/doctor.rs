//! The oracle doctor: every planted fault is named, with its cause, and sound tasks get a clean bill.

use multiplane::dataset::Dataset;
use multiplane::doctor::{Decoded, DecodedTogether, Diagnosis, ExaminationPlan, Kind, Probe, RawFeatures, examine};
use multiplane::oracle::Quality;
use multiplane::synth::{synthetic_scenes, synthetic_trees, synthetic_words};
use multiplane_core::rng::Rng;
use multiplane_tasks::data::{Classified, SparseRows};
use multiplane_tasks::registry::find;
use serde_json::json;

/// What is wrong with the patient.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Sound,
    SoundBound,
    Heuristic,
    NotANumber,
    WrongLength,
    OffByOneIndex,
    NegativeLoss,
    LossOfTruth,
    SubOptimal,
    SecondBest,
    LossLeftOut,
    LossSubtracted,
    LossDoubled,
    WrongSign,
    MissingTerm,
    SignOfATerm,
    ShiftedWeights,
    NonDeterministic,
    Exception,
    WrongType,
    Refused,
    UnsoundBound,
    NeverTheTruth,
    NotThreadSafe,
}

const CLASSES: usize = 4;
const WIDTH: usize = 5;

/// Multi-class classification with a bias per class, as a text label where it is wrong.
struct Classes {
    inputs: Vec<Vec<f64>>,
    truths: Vec<usize>,
    fault: Fault,
    calls: usize,
    claim: Option<Quality>,
}

impl Classes {
    fn new(fault: Fault, seed: u64) -> Classes {
        let mut rng = Rng::new(seed, 3);
        let truths: Vec<usize> = (0..30).map(|_| rng.below(CLASSES as u64) as usize).collect();
        let input = |truth: &usize, rng: &mut Rng| {
            (0..WIDTH - 1).map(|k| rng.unit() + if k == *truth { 0.5 } else { -0.2 }).collect::<Vec<f64>>()
        };
        let inputs = truths.iter().map(|truth| input(truth, &mut rng)).collect();
        let claim = match fault {
            Fault::Heuristic => Some(Quality::Heuristic),
            _ if seed.is_multiple_of(2) => None,
            _ => Some(Quality::Exact),
        };
        Classes { inputs, truths, fault, calls: 0, claim }
    }

    fn weight(&self, w: &[f64], class: usize, k: usize) -> f64 {
        let at = class * WIDTH + k;
        match self.fault {
            Fault::MissingTerm if k == WIDTH - 1 => 0.0,
            Fault::SignOfATerm if k == 1 => -w[at],
            Fault::ShiftedWeights => w.get(at + 1).copied().unwrap_or(0.0),
            Fault::WrongSign => -w[at],
            _ => w[at],
        }
    }

    fn score(&self, example: usize, w: &[f64], class: usize) -> f64 {
        let x = self.inputs[example].iter().copied().chain([1.0]);
        x.enumerate().map(|(k, x)| x * self.weight(w, class, k)).sum()
    }

    fn delta(&self, example: usize, class: usize) -> f64 {
        if class == self.truths[example] { 0.0 } else { 1.0 + 0.25 * class as f64 }
    }

    /// The classes from the best to the worst.
    fn ranked(&self, example: usize, w: &[f64], augmented: bool) -> Vec<(f64, usize)> {
        let factor = match self.fault {
            _ if !augmented => 0.0,
            Fault::LossLeftOut => 0.0,
            Fault::LossSubtracted => -1.0,
            Fault::LossDoubled => 2.0,
            _ => 1.0,
        };
        let score = |class| self.score(example, w, class) + factor * self.delta(example, class);
        let mut ranked: Vec<(f64, usize)> = (0..CLASSES).map(|class| (score(class), class)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        if self.fault == Fault::NeverTheTruth {
            ranked.retain(|(_, class)| *class != self.truths[example]);
        }
        ranked
    }
}

impl Probe for Classes {
    type Label = String;

    fn examples(&self) -> usize {
        self.inputs.len()
    }
    fn dim(&self) -> usize {
        CLASSES * WIDTH
    }
    fn truth(&mut self, example: usize) -> Result<String, String> {
        Ok(self.truths[example].to_string())
    }
    fn features(&mut self, example: usize, label: &String) -> Result<RawFeatures, String> {
        let class: usize = label.parse().map_err(|_| format!("KeyError: {label}"))?;
        let mut dense = vec![0.0; CLASSES * WIDTH];
        dense[class * WIDTH..][..WIDTH - 1].copy_from_slice(&self.inputs[example]);
        dense[class * WIDTH + WIDTH - 1] = 1.0;
        match self.fault {
            Fault::NotANumber if example == 17 && class == 2 => dense[3] = f64::NAN,
            Fault::WrongLength => dense.truncate(CLASSES * WIDTH - 1),
            Fault::OffByOneIndex => {
                return Ok(RawFeatures::Pairs(dense.iter().enumerate().map(|(k, v)| (k as i64 + 1, *v)).collect()));
            }
            _ => {}
        }
        Ok(RawFeatures::Dense(dense))
    }
    fn loss(&mut self, example: usize, label: &String) -> Result<f64, String> {
        let class: usize = label.parse().map_err(|_| format!("KeyError: {label}"))?;
        Ok(match self.fault {
            Fault::NegativeLoss => -self.delta(example, class),
            Fault::LossOfTruth if example == 4 => 0.5 + self.delta(example, class),
            _ => self.delta(example, class),
        })
    }
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<String>, String> {
        self.calls += 1;
        if self.fault == Fault::Exception && example == 11 && !augmented {
            return Err("Traceback (most recent call last):\n  File \"x.py\", line 3\nIndexError: out of range".into());
        }
        let ranked = self.ranked(example, w, augmented);
        let chosen = match self.fault {
            // A hash of the question, so that the same question always gets the same answer.
            Fault::SubOptimal => {
                let bits = w
                    .iter()
                    .fold(example as u64 + 7, |hash, w| (hash ^ w.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                usize::from((bits >> 32).is_multiple_of(10))
            }
            Fault::SecondBest => usize::from(ranked[1].0 > 0.9 * ranked[0].0 && ranked[0].0 > 0.0),
            Fault::NonDeterministic => usize::from(self.calls.is_multiple_of(3)),
            Fault::UnsoundBound if example.is_multiple_of(5) => 1,
            _ => 0,
        };
        let label = match self.fault {
            Fault::WrongType => format!("[{}]", ranked[chosen].1),
            Fault::Refused if example == 9 => "-1".into(),
            _ => ranked[chosen].1.to_string(),
        };
        let claim = match self.fault {
            Fault::UnsoundBound => Some(Quality::UpperBound(ranked[chosen].0)),
            Fault::SoundBound => Some(Quality::UpperBound(ranked[0].0 + 0.01)),
            _ => self.claim,
        };
        Ok((label, claim))
    }
    fn decode_together(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> DecodedTogether<String> {
        let shift = usize::from(self.fault == Fault::NotThreadSafe);
        let asked = (0..examples.len()).map(|k| examples[(k + shift) % examples.len()]);
        Some(asked.map(|example| self.decode(example, w, augmented)).collect())
    }
    fn is_labelling_of(&mut self, _: usize, label: &String) -> bool {
        label.parse::<usize>().is_ok()
    }
    fn same(&mut self, one: &String, other: &String) -> bool {
        one == other
    }
    fn kind(&mut self, label: &String) -> String {
        if label.starts_with('[') { "a list".into() } else { "a number".into() }
    }
    fn show(&mut self, label: &String) -> String {
        label.clone()
    }
}

fn examined(fault: Fault, seed: u64) -> Diagnosis {
    examine(&mut Classes::new(fault, seed), &ExaminationPlan { seed, ..ExaminationPlan::default() })
}

/// Every fault is reported with its kind and cause, and nothing else is: whatever the seed, declared exact or nothing.
#[test]
fn planted_faults_are_named() {
    for (fault, kind, cause) in [
        (Fault::NotANumber, Kind::FeatureNotFinite, "missing value"),
        (Fault::WrongLength, Kind::FeatureLength, "another dimension"),
        (Fault::OffByOneIndex, Kind::IndexOutOfRange, "off by one"),
        (Fault::NegativeLoss, Kind::NegativeLoss, "gain instead of a loss"),
        (Fault::LossOfTruth, Kind::LossOfTruth, "adds a constant"),
        (Fault::SubOptimal, Kind::SubOptimal, "search is not exact"),
        (Fault::SecondBest, Kind::SubOptimal, "search is not exact"),
        (Fault::LossLeftOut, Kind::LossIgnored, "loss is left out"),
        (Fault::LossSubtracted, Kind::LossIgnored, "subtracted"),
        (Fault::LossDoubled, Kind::LossIgnored, "another factor than 1"),
        (Fault::WrongSign, Kind::ScoreMismatch, "a sign"),
        (Fault::MissingTerm, Kind::ScoreMismatch, "disagree about coordinates"),
        (Fault::SignOfATerm, Kind::ScoreMismatch, "disagree about coordinates"),
        (Fault::ShiftedWeights, Kind::ScoreMismatch, "off by one"),
        (Fault::NonDeterministic, Kind::NonDeterministic, "depends on chance"),
        (Fault::Exception, Kind::OracleError, "raised an error"),
        (Fault::WrongType, Kind::WrongLabelType, "another form"),
        (Fault::Refused, Kind::LabelRefused, "not a labelling"),
        (Fault::UnsoundBound, Kind::UnsoundBound, "bound is that of the answer"),
        (Fault::NeverTheTruth, Kind::SubOptimal, "never returns the truth"),
        (Fault::NotThreadSafe, Kind::NotThreadSafe, "share something"),
    ] {
        for seed in 0..10 {
            let findings = examined(fault, seed).findings;
            let found = findings.iter().find(|finding| finding.kind == kind);
            let found = found.unwrap_or_else(|| panic!("{fault:?}, seed {seed}: {findings:#?}"));
            assert!(found.cause.contains(cause), "{fault:?}, seed {seed}: {found:#?}");
            let example = found.example.unwrap();
            assert!(found.count > 0 && found.message.contains(&format!("example {example}")), "{found:#?}");
            // A loss that is negative or wrong at the truth is not what decode adds; a random answer is not the best.
            let follows = match fault {
                Fault::NegativeLoss | Fault::LossOfTruth => Some(Kind::LossIgnored),
                _ => None,
            };
            let others = findings.iter().filter(|finding| {
                finding.kind != kind && finding.kind != Kind::SubOptimal && Some(finding.kind) != follows
            });
            assert_eq!(others.count(), 0, "{fault:?}, seed {seed}: {findings:#?}");
        }
    }
}

/// What the message of an exception says is its text, on one line.
#[test]
fn exceptions_keep_their_text() {
    let found = &examined(Fault::Exception, 0).findings[0];
    assert!(found.message.contains("decoding of example 11 failed"), "{}", found.message);
    assert!(found.message.ends_with("IndexError: out of range") && !found.message.contains('\n'), "{}", found.message);
}

/// Sound patients, exact or with sound bounds or heuristic as they say, have no finding.
#[test]
fn sound_patients_have_no_finding() {
    for seed in 0..60 {
        for fault in [Fault::Sound, Fault::SoundBound, Fault::Heuristic] {
            let findings = examined(fault, seed).findings;
            assert!(findings.is_empty(), "{fault:?}, seed {seed}: {findings:#?}");
        }
    }
}

fn random_rows(seed: u64, classes: u64) -> Dataset {
    let mut rng = Rng::new(seed, 9);
    let mut data = Classified { rows: SparseRows::new(0), ..Classified::default() };
    for _ in 0..12 {
        let indices: Vec<u32> = (0..6).filter(|_| rng.below(3) > 0).collect();
        let values: Vec<f64> = indices.iter().map(|_| 4.0 * rng.unit() - 2.0).collect();
        data.rows.push(&indices, &values);
        data.labels.push(rng.below(classes) as i64);
    }
    data.labels[..2].copy_from_slice(&[0, 1]);
    Dataset::new(data)
}

/// The built-in tasks are sound, on random small problems.
#[test]
fn built_in_tasks_have_no_finding() {
    for seed in 0..40 {
        let problems = [
            ("binary", json!({"bias": seed % 2 == 1}), random_rows(seed, 2)),
            ("multiclass", json!({"class_weights": null}), random_rows(seed, 4)),
            ("chain", json!({"ends": seed % 2 == 1}), Dataset::new(synthetic_words(6, seed))),
            ("multilabel", json!({"bias": seed % 2 == 1}), Dataset::new(synthetic_scenes(12, seed))),
            ("tree", json!({"bias": seed % 2 == 1}), Dataset::new(synthetic_trees(12, seed))),
            (
                "tree",
                json!({"structure": {"name": "arborescence", "root": if seed % 2 == 1 { "any" } else { "single" }}}),
                Dataset::new(synthetic_trees(12, seed)),
            ),
            ("multilabel", json!({"pairwise": {"name": "tree"}}), Dataset::new(synthetic_scenes(12, seed))),
        ];
        for (task, parameters, data) in problems {
            let problem = find(task).unwrap().open(&parameters, data, None).unwrap();
            let mut probe = problem.oracles().probe().unwrap().unwrap();
            let diagnosis = examine(&mut *probe, &ExaminationPlan { seed, ..ExaminationPlan::default() });
            assert!(diagnosis.findings.is_empty(), "{task}, seed {seed}: {:#?}", diagnosis.findings);
            let profile = diagnosis.profile;
            assert!(profile.decode_calls > 50 && profile.plane_entries_mean > 0.0, "{task}: {profile:?}");
            assert_eq!(profile.forecast.calls, 50.0 * problem.blocks() as f64);
        }
    }
}
