//! Labels that may be wrong: the model scores a labelling with another label there higher.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Rival};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::cross_validation::{assign_folds, known_of, leaving_out};
use super::score_correction::corrected;
use crate::error::Error;
use crate::file::Model;
use crate::session::{RunOptions, threads_for, training_part};
use crate::spec::{RunSpec, find_task};

/// A label that is given, with the one that the model would rather have there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    /// The example, from 0.
    pub example: usize,
    /// The token, node or label of the example, from 0; nothing for the whole of it.
    pub part: Option<usize>,
    /// By how much the best labelling with the rival there scores higher than the best with the given label, if labels
    /// given elsewhere are trusted in part: above 0 if the model would change it, infinite if it allows no labelling
    /// with it. Of rows of 2 to 64 labels that other models judge, the log-odds that the label is wrong, by a logistic
    /// regression on the scores of all labels. Of whole examples the task loss of the prediction.
    pub score: f64,
    /// The label in the data.
    pub given: String,
    /// The label that the model scores highest beside it, corrected scores where there are such.
    pub rival: String,
}

/// How labels are judged.
#[derive(Default)]
pub struct SuspectPlan {
    /// The number of models that are trained as the one given was, each to judge the examples it was trained without.
    /// 0: the one given judges. `None`: 5 where it was trained on the data, whose mistakes it agrees with.
    pub folds: Option<usize>,
    /// Threads; 0 is as many as pay.
    pub threads: usize,
    /// The [local parameters](multiplane_tasks::entry::TaskEntry::local) of the task.
    pub local: Map<String, Value>,
    /// Ends it early.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Labels, the most suspicious first.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspects {
    /// The number of models that judged; 0 if it was the one given.
    pub folds: usize,
    /// Every known label that has a rival.
    pub labels: Vec<Suspect>,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

/// A label given elsewhere adds this share of the median size of all scores to labellings with it. Most labels are
/// right, so they tell more of their neighbours than predictions do; but a model that trusts them fully sees no error
/// that extends over several variables.
const TRUST: f64 = 0.5;

/// Models that judge the data that the one given was trained on.
const FOLDS: usize = 5;

/// The most labels whose scores are corrected: it takes their square in products for each row, some hundred times.
const MOST_CORRECTED: usize = 64;

/// The scores of rows, as long as each has one for the same labels.
#[derive(Default)]
struct RowScores {
    names: Vec<String>,
    given: Vec<u32>,
    scores: Vec<f64>,
}

/// Judges every label of data that a model's task takes: labels of a task without max-marginals example by example. A
/// label that training never saw has no rival.
///
/// # Errors
///
/// Model and data do not fit together, folds are no number of parts of the data, an example cannot be decoded;
/// [`Error::Failed`] after an interrupt.
pub fn suspects(model: &Model, data: &Dataset, plan: &SuspectPlan) -> Result<Suspects, Error> {
    let problem = model.open_with(data.clone(), &plan.local)?;
    let trained_on = &model.info.provenance;
    let is_own = problem.fingerprint() == trained_on.fingerprint || training_part(data, trained_on).is_some();
    let folds = plan.folds.unwrap_or(if is_own && data.len() > 1 { FOLDS.min(data.len()) } else { 0 });
    let mut labels = Vec::new();
    if folds == 0 {
        let w = problem.weights_of_model(&model.w, &model.info.provenance.vocabulary)?;
        judge(&*problem, &w, threads_for(plan.threads, &*problem)?, &mut labels, &mut None)?;
    } else {
        judge_by_folds(model, data, folds, plan, &mut labels)?;
    }
    labels.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.example, a.part).cmp(&(b.example, b.part))));
    Ok(Suspects { folds, labels, warnings: problem.warnings().to_vec() })
}

/// Adds the labels of each fold, judged by a model that was trained on the others as the one given was, at its lambda.
fn judge_by_folds(
    model: &Model,
    data: &Dataset,
    count: usize,
    plan: &SuspectPlan,
    found: &mut Vec<Suspect>,
) -> Result<(), Error> {
    let mut tree = model.info.provenance.spec.as_object().cloned().unwrap_or_default();
    tree.retain(|key, _| !["path", "grid"].contains(&key.as_str())); // of a row of it, the run alone
    tree.extend([("lambda".into(), json!(model.info.lambda)), ("threads".into(), json!(plan.threads))]);
    if let Some(task) = tree.get_mut("task").and_then(Value::as_object_mut) {
        task.extend(plan.local.clone());
    }
    let spec = RunSpec::from_tree(&tree)?;
    let (known, folds) = (known_of(&spec, data)?, assign_folds(data.len(), count, spec.seed)?);
    let mut rows = Some(RowScores::default());
    for fold in 0..count as u32 {
        let Some(session) = leaving_out(&spec, data, known.as_ref(), &folds, fold)? else { continue };
        let interrupt = plan.interrupt.clone();
        let (model, _) = session.run(RunOptions { interrupt, ..RunOptions::default() })?;
        if plan.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
            return Err(Error::failed(format!("interrupted in fold {} of {count}", fold + 1)));
        }
        let Some(test) = session.test() else { continue };
        let (before, w) = (found.len(), test.weights_of_model(&model.w, &model.info.provenance.vocabulary)?);
        judge(test, &w, session.threads(), found, &mut rows)?;
        let of_fold: Vec<usize> = (0..folds.len()).filter(|&i| folds[i] == fold).collect();
        found[before..].iter_mut().for_each(|suspect| suspect.example = of_fold[suspect.example]);
    }
    rows.iter().for_each(|rows| rows.correct(found));
    Ok(())
}

/// Adds the labels of a problem, in order, and to `rows` all scores, if these are rows.
fn judge(
    problem: &dyn Problem,
    w: &[f64],
    threads: usize,
    found: &mut Vec<Suspect>,
    rows: &mut Option<RowScores>,
) -> Result<(), Error> {
    if !find_task(problem.task()).is_ok_and(|task| task.several) {
        *rows = None;
        let mut example = 0;
        return Ok(problem.predictor().predict(w, threads, &mut |one| {
            let suspect = |(given, score)| Suspect { example, part: None, score, given, rival: one.text };
            found.extend(one.truth.zip(one.loss).map(suspect));
            example += 1;
        })?);
    }
    let start = found.len();
    add_rivals(problem, w, 0.0, threads, found, rows)?;
    if found[start..].iter().all(|suspect| suspect.part == Some(0)) {
        return Ok(()); // there is no label elsewhere
    }
    *rows = None;
    let trust = TRUST * median_size(&found[start..]);
    found.truncate(start);
    add_rivals(problem, w, trust, threads, found, rows)
}

/// Adds the labels of a problem with max-marginals, scored with this trust in the labels elsewhere.
fn add_rivals(
    problem: &dyn Problem,
    w: &[f64],
    trust: f64,
    threads: usize,
    found: &mut Vec<Suspect>,
    rows: &mut Option<RowScores>,
) -> Result<(), Error> {
    let (labels, mut example) = (&problem.vocabulary().labels, 0);
    rows.take_if(|rows| !rows.has_names(labels));
    Ok(problem.predictor().predict_margins(w, trust, threads, &mut |one| {
        let suspect = |Rival { variable, labels: numbers, lead }| {
            let is_shared = one.counts[variable] == labels.len();
            let name = |number: u32| match labels.get(number as usize) {
                Some(name) if is_shared => name.clone(),
                _ => number.to_string(),
            };
            let [given, rival] = numbers.map(name);
            Suspect { example, part: Some(variable), score: lead, given, rival }
        };
        let rivals = one.rivals();
        if let (Some(rows), [rival]) = (&mut *rows, &rivals[..]) {
            rows.given.push(rival.labels[0]);
            rows.scores.extend(&one.max_marginals);
        }
        found.extend(rivals.into_iter().map(suspect));
        example += 1;
    })?)
}

impl RowScores {
    /// Returns true if scores of these labels can join those that are there.
    fn has_names(&mut self, labels: &[String]) -> bool {
        if self.given.is_empty() {
            self.names = labels.to_vec();
        }
        self.names == labels
    }

    /// Corrects the suspects that these scores are of.
    fn correct(&self, found: &mut [Suspect]) {
        let (labels, count) = (self.names.len(), found.len());
        if !(2..=MOST_CORRECTED).contains(&labels) || self.given.len() != count || self.scores.len() != count * labels {
            return;
        }
        let unit = median_size(found);
        if unit <= 0.0 || self.scores.iter().any(|score| !score.is_finite()) {
            return;
        }
        let scores = corrected(&self.scores, &self.given, unit);
        for ((suspect, &given), scores) in found.iter_mut().zip(&self.given).zip(scores.chunks_exact(labels)) {
            let others = (0..labels).filter(|&label| label != given as usize);
            let Some(rival) = others.clone().max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a))) else {
                continue;
            };
            // The log-odds of the label given being wrong; relative to the best rival, so that nothing overflows.
            let odds: f64 = others.map(|label| (scores[label] - scores[rival]).exp()).sum();
            suspect.score = scores[rival] - scores[given as usize] + odds.ln();
            suspect.rival.clone_from(&self.names[rival]);
        }
    }
}

/// Returns the median size of finite scores; 0 if there are none.
fn median_size(found: &[Suspect]) -> f64 {
    let sizes = found.iter().map(|suspect| suspect.score.abs());
    let mut sizes: Vec<f64> = sizes.filter(|size| size.is_finite()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(0.0)
}
