//! Sets of labels by enumeration: `phi(x, y)` is x in the block of every label of y, and 1 for every pair of them. An
//! oracle call costs one product of x with the weight matrix and O(2^k k^2) for k labels.
//!
//! Weights: `unary[label][feature]`, then `pair[j < k]`.

use multiplane_core::linalg;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Call, Question, Task, TaskLabel};
use multiplane_tasks::builtin::vocabulary_match::{cut_rows, unseen_features, unseen_labels};
use multiplane_tasks::builtin::{BuiltinTask, Reading};
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::{TaskEntry, TaskSpec};
use multiplane_tasks::metrics::{Counts, Evaluation, EvaluationMetric, Measure};
use multiplane_tasks::problem::{OpenError, Problem, TaskVocabulary, Vocabulary, check_dim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::label_sets::{self, LabelSets};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MultilabelSpec>("multilabel")
    .summary("sets of a few labels")
    .reads(&[&label_sets::FORMAT])
    .layout("unary[label][feature], pair[j < k]")
    .oracle("enumeration");

/// Most labels: beyond, enumeration takes too long.
const MOST_LABELS: usize = 12;

/// Stands for all labels that training never saw.
const UNSEEN: u32 = 31;

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MultilabelSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
}

/// What a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetVocabulary {
    labels: Vec<String>,
    features: usize,
}

impl TaskVocabulary for SetVocabulary {}

/// A set of labels: bit k stands for label k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelSet(u32);

impl LabelSet {
    fn members(self) -> impl Iterator<Item = u32> {
        (0..32).filter(move |label| self.0 >> label & 1 == 1)
    }

    fn pairs(self) -> impl Iterator<Item = (u32, u32)> {
        self.members().flat_map(move |k| self.members().take_while(move |&j| j < k).map(move |j| (j, k)))
    }
}

/// A set is no list of numbers.
impl TaskLabel for LabelSet {}

/// Sizes of intersection and union.
fn overlap(a: LabelSet, b: LabelSet) -> (u32, u32) {
    ((a.0 & b.0).count_ones(), (a.0 | b.0).count_ones())
}

/// The task: labels and features.
pub struct Multilabel {
    labels: usize,
    features: usize,
}

impl Multilabel {
    fn pair_index(&self, (j, k): (u32, u32)) -> usize {
        self.labels * self.features + (k * k.saturating_sub(1) / 2 + j) as usize
    }

    /// All sets, in the order of their bits.
    fn sets(&self) -> impl Iterator<Item = LabelSet> + use<> {
        (0..1 << self.labels).map(LabelSet)
    }
}

impl Task for Multilabel {
    type Input = SparseRows;
    type Label = LabelSet;
    type Scratch = Vec<f64>;
    type Memory = ();

    fn dim(&self) -> usize {
        self.labels * self.features + self.labels * self.labels.saturating_sub(1) / 2
    }

    fn features(&self, x: &SparseRows, y: &LabelSet, scale: f64, out: &mut Plane) {
        let row = x.row(0);
        y.members().for_each(|k| out.extend_scaled(k * self.features as u32, row.indices, scale, row.values));
        y.pairs().for_each(|pair| out.push(self.pair_index(pair) as u32, scale));
    }

    /// 1 - intersection / union: no sum over labels, so no table.
    fn loss(&self, truth: &LabelSet, y: &LabelSet) -> f64 {
        let (common, all) = overlap(*truth, *y);
        if all == 0 { 0.0 } else { 1.0 - f64::from(common) / f64::from(all) }
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut LabelSet) -> Result<Quality, String> {
        let Question { input: x, truth, w, .. } = call.question;
        let (row, scores) = (x.row(0), call.scratch);
        scores.clear();
        scores.resize(self.labels, 0.0);
        let unary = &w[..self.labels * self.features];
        linalg::sparse_row_scores(row.indices, row.values, unary, self.features, scores);
        let mut best = f64::NEG_INFINITY;
        for y in self.sets() {
            let unary: f64 = y.members().map(|k| scores[k as usize]).sum();
            let pairs: f64 = y.pairs().map(|pair| w[self.pair_index(pair)]).sum();
            let score = unary + pairs + truth.map_or(0.0, |truth| self.loss(truth, &y));
            if score > best {
                (best, *out) = (score, y); // ties go to the lower bits
            }
        }
        Ok(Quality::Exact)
    }
}

impl BuiltinTask for Multilabel {
    type Vocabulary = SetVocabulary;

    fn show(&self, y: &LabelSet, vocabulary: &SetVocabulary) -> String {
        let name = |k: u32| vocabulary.labels.get(k as usize).map_or("?", String::as_str);
        y.members().map(name).collect::<Vec<_>>().join(",")
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &LabelSet, w: &[f64]) -> f64 {
        let score = |y: &LabelSet| {
            let of_label = |k: u32| x.row(0).iter().map(move |(i, v)| v * w[k as usize * self.features + i as usize]);
            let pairs: f64 = y.pairs().map(|pair| w[self.pair_index(pair)]).sum();
            y.members().flat_map(of_label).sum::<f64>() + pairs
        };
        let augmented = self.sets().map(|y| score(&y) + self.loss(truth, &y));
        augmented.fold(f64::NEG_INFINITY, f64::max) - score(truth)
    }

    fn errors(&self, truth: &LabelSet, y: &LabelSet) -> (usize, usize) {
        ((truth.0 ^ y.0).count_ones() as usize, self.labels)
    }

    fn measures(&self, _: &SetVocabulary) -> Vec<Box<dyn Measure<LabelSet>>> {
        vec![Box::new(SetF1)]
    }

    fn neighbours(&self, _: &SparseRows, y: &LabelSet, most: usize, rng: &mut Rng) -> Vec<LabelSet> {
        let mut near: Vec<LabelSet> = (0..self.labels).map(|k| LabelSet(y.0 ^ 1 << k)).collect();
        rng.shuffle(&mut near);
        near.truncate(most);
        near
    }

    fn is_labelling_of(&self, _: &SparseRows, _: &LabelSet) -> bool {
        true
    }
}

/// F1 of all labels of all examples together.
struct SetF1;

impl Measure<LabelSet> for SetF1 {
    fn count(&self, truth: &LabelSet, answer: &LabelSet) -> Counts {
        let (common, all) = overlap(*truth, *answer);
        [f64::from(common), f64::from(all), 0.0, 0.0]
    }

    fn report(&self, [common, all, ..]: &Counts, evaluation: &mut Evaluation) {
        let f1 = if *all == 0.0 { 1.0 } else { 2.0 * common / (common + all) };
        evaluation.metrics.push((EvaluationMetric::share("f1"), f1));
        evaluation.lines.push(("F1 of labels", format!("{:.2} %", 100.0 * f1)));
    }
}

impl TaskSpec for MultilabelSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let Some(sets) = data.get::<LabelSets>() else {
            return Err(OpenError::new(format!("task `multilabel` reads sets, found {}", data.describe())));
        };
        let vocabulary: SetVocabulary = match vocabulary {
            Some(vocabulary) => vocabulary.read()?,
            None => {
                let mut labels: Vec<String> = sets.names.iter().map(str::to_owned).collect();
                labels.sort_unstable();
                SetVocabulary { labels, features: sets.rows.columns() + usize::from(self.bias) }
            }
        };
        let (labels, features) = (vocabulary.labels.len(), vocabulary.features);
        check_dim(features, labels)?;
        if labels > MOST_LABELS {
            return Err(OpenError::new(format!("found {labels} labels, expected at most {MOST_LABELS}")));
        }
        let number = |name: &str| vocabulary.labels.iter().position(|known| known == name).map_or(UNSEEN, |k| k as u32);
        let bits = |set: &Vec<u32>| set.iter().fold(0, |bits, &label| bits | 1 << number(sets.names.get(label)));
        let truths: Vec<LabelSet> = sets.sets.iter().map(|set| LabelSet(bits(set))).collect();
        let unseen = truths.iter().filter(|truth| truth.0 >> UNSEEN == 1).count();
        let warnings = [unseen_labels(unseen, "example"), unseen_features(sets.rows.columns(), features, self.bias)];
        let inputs = (0..sets.rows.len()).map(|i| cut_rows(&sets.rows, i..i + 1, features, self.bias)).collect();
        let warnings = warnings.into_iter().flatten().collect();
        Reading { inputs, labels: truths, vocabulary, fingerprint: data.fingerprint(), warnings }
            .into_problem(ENTRY.name, Multilabel { labels, features })
    }
}
