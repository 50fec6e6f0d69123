//! Models: weights with their provenance, predictions, files.

use std::path::PathBuf;

use multiplane::oracle::OracleError;
use multiplane::{
    MarginPrediction, MarginalPrediction, Model, ModelFile, PathModel, Problem, ReadyModel, Suspect, SuspectPlan,
    TopPrediction, suspects, threads_for,
};
use multiplane_core::observe::Certificate;
use multiplane_tasks::builtin::unused_columns::used_columns;
use multiplane_tasks::problem::Vocabulary;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::dataset::DatasetObject;
use crate::errors::{guarded, raised, unread, value_error};
use crate::interrupt::{Interrupt, interruptible};

/// Weights of one lambda.
#[pyclass(frozen, name = "Model", module = "multiplane._core")]
pub(crate) struct ModelObject {
    pub(crate) inner: ReadyModel,
}

impl From<Model> for ModelObject {
    fn from(model: Model) -> Self {
        ModelObject { inner: model.into() }
    }
}

/// Loss, accuracy and chunk F1, where there is a truth to measure by, and examples without one.
type Measured = (Option<f64>, Option<f64>, Option<f64>, usize);

/// Example, part, score, given label and rival.
type Doubt = (usize, Option<usize>, f64, String, String);

/// Arrays as bytes.
type Buffers<'py, const N: usize> = [Bound<'py, PyBytes>; N];

/// Numbers as the bytes of a float64 array.
pub(crate) fn floats<'py>(py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * numbers.len(), |bytes| {
        bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(chunk, number)| *chunk = number.to_ne_bytes());
        Ok(())
    })
}

/// Gives labels other names, with their kinds if names do not say them.
fn rename(vocabulary: &mut Vocabulary, names: Vec<String>, kinds: &[String]) -> PyResult<()> {
    let labels = vocabulary.labels.len();
    if names.len() != labels || !(kinds.is_empty() || kinds.len() == labels) {
        return Err(value_error("one name per label is needed"));
    }
    let kinds = serde_json::from_value(kinds.into()).map_err(|error| value_error(error.to_string()))?;
    (vocabulary.labels, vocabulary.label_kinds) = (names, kinds);
    Ok(())
}

/// The kinds of a vocabulary's labels, by name.
fn kinds_of(vocabulary: &Vocabulary) -> PyResult<Vec<String>> {
    let kinds = serde_json::to_value(&vocabulary.label_kinds).and_then(serde_json::from_value);
    kinds.map_err(|error| value_error(error.to_string()))
}

impl ModelObject {
    /// Asks the model's problem on `data`, with the weights in the problem's layout and the threads that it can use.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        data: &DatasetObject,
        threads: usize,
        question: impl FnOnce(&dyn Problem, &[f64], usize) -> Result<T, OracleError> + Send,
    ) -> PyResult<T> {
        let work = || {
            let problem = self.inner.open(data.data()?.clone().anonymous()).map_err(raised)?;
            let threads = threads_for(threads, &*problem).map_err(raised)?;
            question(&*problem, &self.inner.weights(&*problem), threads)
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))
        };
        guarded(|| py.detach(work))
    }

    /// As [`ask`](ModelObject::ask), with arrays as bytes for an answer.
    fn buffers<'py, const N: usize>(
        &self,
        py: Python<'py>,
        data: &DatasetObject,
        threads: usize,
        question: impl FnOnce(&dyn Problem, &[f64], usize) -> Result<[Vec<u8>; N], OracleError> + Send,
    ) -> PyResult<Buffers<'py, N>> {
        Ok(self.ask(py, data, threads, question)?.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

#[pymethods]
impl ModelObject {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<ModelObject> {
        guarded(|| {
            Model::from_bytes(bytes)
                .map(ModelObject::from)
                .map_err(|reason| value_error(format!("this is no model: {reason}")))
        })
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &guarded(|| self.inner.to_bytes().map_err(raised))?))
    }

    /// Writes the file, durably; `narrow` with weights of 32 bits and without a certificate.
    #[pyo3(signature = (path, narrow=false))]
    fn save(&self, path: PathBuf, narrow: bool) -> PyResult<()> {
        guarded(|| match narrow {
            false => self.inner.save(&path).map_err(raised),
            true => self.inner.narrowed().and_then(|model| model.save(&path)).map_err(raised),
        })
    }

    /// The weights in the layout of files, as bytes of float64.
    fn w<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        floats(py, &self.inner.w)
    }

    /// The weights that give the same scores on features as they are, as bytes of float64.
    fn unscaled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        floats(py, &self.inner.unscaled())
    }

    /// What the features were divided by, as bytes of float64; None where they were not.
    fn scale<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let scale = self.inner.info.provenance.vocabulary.scale.as_ref();
        scale.map(|scale| floats(py, scale.divisors())).transpose()
    }

    /// Names of the labels in the order of the layout.
    fn labels(&self) -> Vec<String> {
        self.inner.info.provenance.vocabulary.labels.clone()
    }

    /// Kinds of the labels: `bool`, `int`, `float` or `text` for each; empty if their names say them.
    fn label_kinds(&self) -> PyResult<Vec<String>> {
        kinds_of(&self.inner.info.provenance.vocabulary)
    }

    /// The same model with other names, and kinds, for its labels.
    #[pyo3(signature = (labels, kinds=Vec::new()))]
    fn with_labels(&self, labels: Vec<String>, kinds: Vec<String>) -> PyResult<ModelObject> {
        let mut inner = Model::clone(&self.inner);
        rename(&mut inner.info.provenance.vocabulary, labels, &kinds)?;
        Ok(inner.into())
    }

    /// The same model with the name of the class that its only label is not.
    fn with_other(&self, other: String) -> ModelObject {
        let mut inner = Model::clone(&self.inner);
        inner.info.provenance.vocabulary.own.insert("other".into(), other.into());
        inner.into()
    }

    /// The same model with a field that only its estimator understands, given as JSON text.
    fn with_own(&self, field: String, text: &str) -> PyResult<ModelObject> {
        let value = serde_json::from_str(text).map_err(|error| value_error(error.to_string()))?;
        let mut inner = Model::clone(&self.inner);
        inner.info.provenance.vocabulary.own.insert(field, value);
        Ok(inner.into())
    }

    /// The same model with a calibration of its scores, as JSON text.
    fn with_calibration(&self, text: &str) -> PyResult<ModelObject> {
        let value = serde_json::from_str(text).map_err(|error| value_error(error.to_string()))?;
        let mut inner = Model::clone(&self.inner);
        inner.info.provenance.vocabulary.calibration = Some(value);
        Ok(inner.into())
    }

    /// The calibration of its scores, as JSON text; None without one.
    fn calibration(&self) -> Option<String> {
        self.inner.info.provenance.vocabulary.calibration.as_ref().map(Value::to_string)
    }

    /// The same model with the labels that stand for one that is not known, as JSON text.
    fn with_unknown(&self, text: &str) -> PyResult<ModelObject> {
        let mut inner = Model::clone(&self.inner);
        inner.info.provenance.vocabulary.unknown =
            Some(serde_json::from_str(text).map_err(|error| value_error(error.to_string()))?);
        Ok(inner.into())
    }

    /// The same model with all weights moved by these, and its bounds by so much.
    fn moved(&self, by: Vec<f64>, bounds: (f64, f64)) -> PyResult<ModelObject> {
        let mut inner = Model::clone(&self.inner);
        if by.len() != inner.w.len() {
            return Err(value_error(format!("found {} numbers for {} weights", by.len(), inner.w.len())));
        }
        inner.w.iter_mut().zip(&by).for_each(|(weight, by)| *weight += by);
        let Certificate { primal, dual, certified, .. } = inner.info.certificate;
        inner.info.certificate = Certificate::new(primal + bounds.0, dual.map(|dual| dual + bounds.1), certified);
        Ok(inner.into())
    }

    /// Features per variable, a bias feature included.
    fn features(&self) -> usize {
        self.inner.info.provenance.vocabulary.features
    }

    /// Whether features are known by name.
    fn is_named(&self) -> bool {
        let vocabulary = &self.inner.info.provenance.vocabulary;
        vocabulary.dictionary.is_some() && used_columns(vocabulary).is_none()
    }

    /// Columns of the training data, without the bias feature that there is with `bias`.
    fn columns(&self, bias: bool) -> usize {
        let vocabulary = &self.inner.info.provenance.vocabulary;
        used_columns(vocabulary).map_or(vocabulary.features - usize::from(bias), |(width, _)| width)
    }

    /// Numbers of the columns that have weights, as bytes of uint32; None where all have.
    fn used_columns<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let (_, used) = used_columns(&self.inner.info.provenance.vocabulary)?;
        Some(PyBytes::new(py, &used.iter().flat_map(|column| column.to_ne_bytes()).collect::<Vec<u8>>()))
    }

    /// Everything that the file says about its weights, as JSON text.
    fn info(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner.info).map_err(|error| value_error(error.to_string()))
    }

    /// A field of [`info`](ModelObject::info) that only the task understands, as JSON text; None where there is none.
    fn own(&self, field: &str) -> Option<String> {
        self.inner.info.provenance.vocabulary.own.get(field).map(Value::to_string)
    }

    /// Predicts every example of `data`: numbers of the labels, one per variable, as bytes of uint32.
    fn predict<'py>(&self, py: Python<'py>, data: &DatasetObject, threads: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.ask(py, data, threads, |problem, w, threads| {
            let mut bytes = Vec::new();
            let mut each = |numbers: &[u32]| bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
            problem.predictor().predict_numbers(w, threads, &mut each)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Lists the `count` best labellings of every example of `data`: how many there are of each and whether they are proven,
    /// as uint32; their scores as float64; numbers of the labels, labelling by labelling, as uint32.
    fn top<'py>(
        &self,
        py: Python<'py>,
        data: &DatasetObject,
        count: usize,
        threads: usize,
    ) -> PyResult<Buffers<'py, 4>> {
        self.buffers(py, data, threads, |problem, w, threads| {
            let [mut counts, mut exact, mut scores, mut numbers] = [const { Vec::new() }; 4];
            let mut each = |found: TopPrediction| {
                counts.extend((found.labellings.len() as u32).to_ne_bytes());
                exact.extend(u32::from(found.exact).to_ne_bytes());
                for one in &found.labellings {
                    scores.extend(one.score.to_ne_bytes());
                    numbers.extend(one.numbers.iter().flat_map(|number| number.to_ne_bytes()));
                }
            };
            problem.predictor().predict_top(w, count, threads, &mut each)?;
            Ok([counts, exact, scores, numbers])
        })
    }

    /// The max-marginals of every example of `data`: numbers of the predicted labels and of the labels there are, variable
    /// by variable, as uint32; the highest scores with each label as float64; margins, variable by variable, as float64;
    /// whether those of an example are exact, or bounds, as uint32; and numbers of the true labels, as uint32: 2^32 - 1 if
    /// unknown, or not known to the model.
    fn max_marginals<'py>(&self, py: Python<'py>, data: &DatasetObject, threads: usize) -> PyResult<Buffers<'py, 6>> {
        self.buffers(py, data, threads, |problem, w, threads| {
            let [mut numbers, mut counts, mut scores, mut margins, mut exact, mut truth] = [const { Vec::new() }; 6];
            let mut each = |found: MarginPrediction| {
                numbers.extend(found.numbers.iter().flat_map(|number| number.to_ne_bytes()));
                counts.extend(found.counts.iter().flat_map(|&count| (count as u32).to_ne_bytes()));
                scores.extend(found.max_marginals.iter().flat_map(|score| score.to_ne_bytes()));
                margins.extend(found.margins().iter().flat_map(|margin| margin.to_ne_bytes()));
                exact.extend(u32::from(found.score.is_none()).to_ne_bytes());
                for (variable, &count) in found.counts.iter().enumerate() {
                    let label = found.truth.as_ref().and_then(|labels| labels.get(variable)).copied();
                    let known = label.filter(|&label| (label as usize) < count);
                    truth.extend(known.unwrap_or(u32::MAX).to_ne_bytes());
                }
            };
            problem.predictor().predict_margins(w, 0.0, threads, &mut each)?;
            Ok([numbers, counts, scores, margins, exact, truth])
        })
    }

    /// How probable each label of every variable of every example of `data` is: how many labels there are, variable by
    /// variable, as uint32, and the probabilities as float64.
    fn marginals<'py>(&self, py: Python<'py>, data: &DatasetObject, threads: usize) -> PyResult<Buffers<'py, 2>> {
        self.buffers(py, data, threads, |problem, w, threads| {
            let [mut counts, mut shares] = [const { Vec::new() }; 2];
            let mut each = |found: MarginalPrediction| {
                counts.extend(found.counts.iter().flat_map(|&count| (count as u32).to_ne_bytes()));
                shares.extend(found.probabilities.iter().flat_map(|share| share.to_ne_bytes()));
            };
            problem.predictor().predict_marginals(w, threads, &mut each)?;
            Ok([counts, shares])
        })
    }

    /// Judges every label of `data`, the most suspicious first: example, part, score, given label and rival; with the
    /// number of models that judged, 0 for this one. `folds` is that number, if the data is not to decide.
    fn suspects(
        &self,
        py: Python<'_>,
        data: &DatasetObject,
        folds: Option<usize>,
        threads: usize,
    ) -> PyResult<(usize, Vec<Doubt>)> {
        let interrupt = Interrupt::default();
        let plan = SuspectPlan { folds, threads, interrupt: Some(interrupt.flag.clone()), ..SuspectPlan::default() };
        let data = data.data()?.clone();
        let found = guarded(|| interruptible(py, &interrupt, || suspects(&self.inner, &data, &plan).map_err(raised)))?;
        if let Some(error) = interrupt.take() {
            return Err(error);
        }
        let found = found?;
        let doubt = |one: Suspect| (one.example, one.part, one.score, one.given, one.rival);
        Ok((found.folds, found.labels.into_iter().map(doubt).collect()))
    }

    /// What a user should know of `data` beside this model.
    fn warnings(&self, data: &DatasetObject) -> PyResult<Vec<String>> {
        guarded(|| Ok(self.inner.open(data.data()?.clone()).map_err(raised)?.warnings().to_vec()))
    }

    /// On `data`: mean task loss, share of right variables, chunk F1 where there are chunks, and the number of examples of
    /// whose truth nothing is known, which all means leave out.
    fn evaluate(&self, py: Python<'_>, data: &DatasetObject, threads: usize) -> PyResult<Measured> {
        self.ask(py, data, threads, |problem, w, threads| {
            let found = problem.predictor().evaluate(w, threads)?;
            Ok((found.loss, found.get("accuracy"), found.get("f1"), problem.predictor().unlabelled()))
        })
    }
}

/// Weights of several lambdas.
#[pyclass(frozen, name = "PathModel", module = "multiplane._core")]
pub(crate) struct PathModelObject {
    pub(crate) inner: PathModel,
}

#[pymethods]
impl PathModelObject {
    /// Reads the bytes of a path's file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<PathModelObject> {
        guarded(|| match ModelFile::from_bytes(bytes) {
            Ok(ModelFile::Path(inner)) => Ok(PathModelObject { inner }),
            Ok(ModelFile::Model(_)) => Err(value_error("this is the model of one lambda, no path")),
            Err(reason) => Err(value_error(format!("this is no path: {reason}"))),
        })
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &guarded(|| self.inner.to_bytes().map_err(raised))?))
    }

    /// Writes the file, durably.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        guarded(|| self.inner.save(&path).map_err(raised))
    }

    /// Breakpoints, falling; primal and dual values there; weights row by row; each as bytes of float64.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let path = &self.inner;
        [&path.lambdas, &path.primal, &path.dual, &path.w].into_iter().map(|numbers| floats(py, numbers)).collect()
    }

    /// Everything that the file says about its weights, as JSON text.
    fn info(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner.info).map_err(|error| value_error(error.to_string()))
    }

    /// Names of the labels, as a model has them.
    fn labels(&self) -> Vec<String> {
        self.inner.info.provenance.vocabulary.labels.clone()
    }

    /// Kinds of the labels, as a model has them.
    fn label_kinds(&self) -> PyResult<Vec<String>> {
        kinds_of(&self.inner.info.provenance.vocabulary)
    }

    /// The same path with other names, and kinds, for its labels.
    #[pyo3(signature = (labels, kinds=Vec::new()))]
    fn with_labels(&self, labels: Vec<String>, kinds: Vec<String>) -> PyResult<PathModelObject> {
        let mut inner = self.inner.clone();
        rename(&mut inner.info.provenance.vocabulary, labels, &kinds)?;
        Ok(PathModelObject { inner })
    }

    /// The same path with the name of the class that its only label is not.
    fn with_other(&self, other: String) -> PathModelObject {
        let mut inner = self.inner.clone();
        inner.info.provenance.vocabulary.own.insert("other".into(), other.into());
        PathModelObject { inner }
    }

    /// The same path with the labels that stand for one that is not known, as JSON text.
    fn with_unknown(&self, text: &str) -> PyResult<PathModelObject> {
        let mut inner = self.inner.clone();
        inner.info.provenance.vocabulary.unknown =
            Some(serde_json::from_str(text).map_err(|error| value_error(error.to_string()))?);
        Ok(PathModelObject { inner })
    }

    /// The model that answers for a lambda.
    fn at(&self, lambda: f64) -> PyResult<ModelObject> {
        guarded(|| self.inner.at(lambda).map(ModelObject::from).map_err(|reason| value_error(reason.to_string())))
    }

    /// Returns a warning about the weights at a lambda, if there is one.
    fn warning_at(&self, lambda: f64) -> Option<String> {
        self.inner.warning_at(lambda)
    }
}

/// Reads the file of a model or of a path; one of the two is None.
#[pyfunction]
pub(crate) fn load(path: PathBuf) -> PyResult<(Option<ModelObject>, Option<PathModelObject>)> {
    guarded(|| match ModelFile::load(&path).map_err(|error| unread(&path, error))? {
        ModelFile::Model(inner) => Ok((Some(inner.into()), None)),
        ModelFile::Path(inner) => Ok((None, Some(PathModelObject { inner }))),
    })
}
