//! A model laid open: what it is, how it was trained, what is proven of it, and its strongest weights by name. All of
//! it is read off the model file; no data is needed.

mod spec;
mod weights;

use multiplane_core::observe::Certificate;
use multiplane_tasks::problem::Vocabulary;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::file::{Model, ModelInfo, Provenance};
use crate::spec::{find_solver, find_task};

pub use spec::changed_parameters;
pub(crate) use weights::declared_tables;
pub use weights::{AxisReport, ElementName, LabelWeights, NamedWeight, TableReport, readable};

/// The contents of a model file, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Name of the task.
    pub task: String,
    /// Formats that the task reads; a model does not know which of them its data had.
    pub reads: Vec<&'static str>,
    /// Training examples.
    pub n: usize,
    /// Weights.
    pub d: usize,
    /// Labels and features.
    #[serde(flatten)]
    pub features: FeatureReport,
    /// Name of the solver; none where the model was not trained by one of ours.
    pub solver: Option<String>,
    /// All parameters, by dotted name, that differ from the defaults of task and solver; lambda, stops, seed and clock
    /// stand by themselves.
    pub changed: Map<String, Value>,
    /// Strength of the regulariser.
    pub lambda: f64,
    /// The same as it was asked for, as in `1/n`; `null` at the lambdas of paths and grids.
    pub lambda_given: Value,
    /// Seed of all chance.
    pub seed: Value,
    /// The clock of the run.
    pub clock: Value,
    /// The stops of the run by name; those that were not asked for are left out.
    pub stop: Map<String, Value>,
    /// Version of the program that wrote the file.
    pub version: String,
    /// sha256 of the parsed training data.
    pub fingerprint: String,
    /// Bounds at the weights.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Why the gap is not certified, where it is not.
    pub uncertified: Option<String>,
    /// Weights other than 0.
    pub nonzero: usize,
    /// The tables of the weights, in their order.
    pub tables: Vec<TableReport>,
}

/// The labels and features of a model; the names are those of its report.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureReport {
    /// Names of the labels, in the order of the weights; empty where labellings are not made of labels.
    pub labels: Vec<String>,
    /// Features of a variable, a bias included; 0 where only the task knows.
    pub features: usize,
    /// If the model knows its features by name.
    pub named_features: bool,
    /// How features are made of text, where they are.
    pub template: Option<Value>,
    /// If features are divided by numbers in the model: weights are those of the divided features.
    pub scaled: bool,
    /// The kernel, where there is one: then weights are coefficients of rows.
    pub kernel: Option<Value>,
    /// Rows that the kernel compares others with.
    pub support_vectors: Option<usize>,
}

impl ModelReport {
    /// Looks into a model: of every table, and of every label in tables with a row for each, at most `top` weights are
    /// named.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the weights are not as many as task and vocabulary need.
    pub fn of(model: &Model, top: usize) -> Result<ModelReport, Error> {
        let provenance = &model.info.provenance;
        let Provenance { task, vocabulary, spec, fingerprint, n } = provenance;
        let Vocabulary {
            labels,
            features,
            own,
            dictionary,
            scale,
            support,
            label_kinds: _,
            unknown: _,
            calibration: _,
        } = vocabulary;
        let entry = find_task(task).ok();
        let stop = spec["stop"].as_object().cloned().unwrap_or_default();
        let is_given = |value: &Value| !value.is_null() && *value != Value::Bool(false);
        Ok(ModelReport {
            task: task.clone(),
            reads: entry.map_or(Vec::new(), |entry| entry.formats.iter().map(|format| format.name).collect()),
            n: *n,
            d: model.w.len(),
            features: FeatureReport {
                labels: labels.clone(),
                features: *features,
                named_features: dictionary.is_some(),
                template: own.get("template").cloned(),
                scaled: scale.is_some(),
                kernel: own.get("kernel").cloned(),
                support_vectors: support.as_ref().map(|rows| rows.len()),
            },
            solver: spec["solver"]["name"].as_str().map(str::to_owned),
            changed: changed_parameters(spec),
            lambda: model.info.lambda,
            lambda_given: spec["lambda"].clone(),
            seed: spec["seed"].clone(),
            clock: spec["clock"].clone(),
            stop: stop.into_iter().filter(|(_, value)| is_given(value)).collect(),
            version: model.info.version.clone(),
            fingerprint: fingerprint.clone(),
            certificate: model.info.certificate,
            uncertified: uncertified(&model.info),
            nonzero: weights::nonzero(&model.w),
            tables: weights::tables(model, top)?,
        })
    }
}

/// Why a gap is not certified.
fn uncertified(info: &ModelInfo) -> Option<String> {
    let ModelInfo { provenance, certificate, bits, .. } = info;
    if certificate.certified {
        return None;
    }
    let spec = &provenance.spec;
    let solver = spec["solver"]["name"].as_str().unwrap_or_default();
    let why = match certificate.gap {
        _ if bits.is_some() => "its weights were rounded to 32 bits".into(),
        _ if !certificate.primal.is_finite() && !spec["stream"].is_null() => {
            "it learned from a stream, of which nothing is left to evaluate".into()
        }
        _ if !certificate.primal.is_finite() => "the primal was not evaluated".into(),
        Some(gap) if gap < 0.0 => "the dual is above the primal: the oracle's answers are not the best ones".into(),
        Some(_) => "answers of the oracle are not all proven to be the best, or bounded; or rounding took it".into(),
        None if find_solver(solver).is_ok_and(|entry| !entry.has_dual) => {
            format!("solver {solver} has no dual value")
        }
        None => "there is no dual value".into(),
    };
    Some(why)
}

#[cfg(test)]
mod tests;
