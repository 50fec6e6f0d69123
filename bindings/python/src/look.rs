//! Models laid open: tables and names of weights, as `multiplane show` has them, and features as weights meet them.

use multiplane::data::SparseRows;
use multiplane::model_report::{ModelReport, readable as to_be_read};
use multiplane::oracle::OracleError;
use multiplane::{Detections, threads_for};
use multiplane_cli::{evaluation_json, evaluation_text};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::dataset::{DatasetObject, Parts, csr};
use crate::errors::{guarded, raised, value_error};
use crate::model::ModelObject;

/// What `multiplane show --json` says of a model, as JSON text: of every table, and of every label in tables with a row for
/// each, at most `top` weights are named.
#[pyfunction]
pub(crate) fn look(model: &ModelObject, top: usize) -> PyResult<String> {
    guarded(|| {
        let look = ModelReport::of(&model.inner, top).map_err(raised)?;
        serde_json::to_string(&look).map_err(|error| value_error(error.to_string()))
    })
}

/// Names of a model's features, a bias apart, where it knows them: of text as the file has them, template and values divided
/// by tabs, or to be read, as in `template=value|value`. With `places` those of some columns alone, a bias among them.
#[pyfunction]
#[pyo3(signature = (model, readable, places=None))]
pub(crate) fn feature_names(model: &ModelObject, readable: bool, places: Option<Vec<usize>>) -> Option<Vec<String>> {
    let names = model.inner.info.provenance.vocabulary.dictionary.as_ref()?;
    let shown = |name: &str| if readable { to_be_read(name) } else { name.to_owned() };
    let Some(places) = places else { return Some(names.iter().map(shown).collect()) };
    let name = |place: usize| if place < names.len() { shown(names.get(place as u32)) } else { "bias".into() };
    Some(places.into_iter().map(name).collect())
}

/// The features of the variables of all examples of `data` as the weights of `model` meet them, a bias among them, as the
/// parts of sequences without labels; None where examples are not made of rows, and with a kernel.
#[pyfunction]
pub(crate) fn feature_rows<'py>(
    py: Python<'py>,
    model: &ModelObject,
    data: &DatasetObject,
) -> PyResult<Option<Parts<'py>>> {
    let problem = guarded(|| model.inner.open(data.data()?.clone().anonymous()).map_err(raised))?;
    let (mut rows, mut ends) = (SparseRows::new(model.inner.info.provenance.vocabulary.features), Vec::new());
    for block in 0..problem.blocks() {
        let Some(of_example) = problem.layout().rows(block) else { return Ok(None) };
        rows.append(of_example, 0..of_example.len());
        ends.push(rows.len());
    }
    Ok(Some(csr(py, &rows, ends, Vec::new())))
}

/// Reports on a model of boxes on `data` as `multiplane evaluate --top` does, as JSON text and for people.
#[pyfunction]
pub(crate) fn detections(
    py: Python<'_>,
    model: &ModelObject,
    data: &DatasetObject,
    count: usize,
    threads: usize,
) -> PyResult<(String, String)> {
    let work = || {
        let problem = model.inner.open(data.data()?.clone().anonymous()).map_err(raised)?;
        let threads = threads_for(threads, &*problem).map_err(raised)?;
        let w = model.inner.weights(&*problem);
        let failed = |error: OracleError| PyRuntimeError::new_err(error.to_string());
        let mut evaluation = problem.predictor().evaluate(&w, threads).map_err(failed)?;
        let lists = Detections::of(&*problem, &w, count, threads).map_err(failed)?;
        lists.report(&mut evaluation);
        let mut json = evaluation_json(&*problem, &evaluation, None);
        json["detections"] = lists.json();
        Ok((json.to_string(), evaluation_text(&*problem, &evaluation, None)))
    };
    guarded(|| py.detach(work))
}

/// Reports on a model on `data` as `multiplane evaluate --report` does, as JSON text and for people, with other names
/// for the labels if some are given; None if labellings are not made of labels that all variables share.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    model: &ModelObject,
    data: &DatasetObject,
    threads: usize,
    names: Option<Vec<String>>,
) -> PyResult<Option<(String, String)>> {
    let work = || {
        let problem = model.inner.open(data.data()?.clone().anonymous()).map_err(raised)?;
        let threads = threads_for(threads, &*problem).map_err(raised)?;
        let found = problem.predictor().evaluate_labels(&model.inner.weights(&*problem), threads);
        Ok(found.map_err(|error| PyRuntimeError::new_err(error.to_string()))?.map(|(evaluation, report)| {
            let report = names.iter().fold(report, |report, names| report.renamed(names));
            let json = evaluation_json(&*problem, &evaluation, Some(&report));
            (json.to_string(), evaluation_text(&*problem, &evaluation, Some(&report)))
        }))
    };
    guarded(|| py.detach(work))
}
