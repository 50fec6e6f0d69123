//! Shards of a data set, and their coordinator. Messages cross as bytes, facts and settings as JSON text.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use multiplane::dataset::Dataset;
use multiplane::observe::Certificate;
use multiplane::regularizer::Regularizer;
use multiplane::sharding::{Coordinator, Demand, ShardOrder, ShardRequest, Sharding};
use multiplane::{
    Error, RunSpec, ShardFacts, ShardPrimal, ShardSession, format_by_name, read_shard, threads_for, verify_shards,
};
use multiplane_core::state;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::dataset::DatasetObject;
use crate::errors::{guarded, raised, tree_of, unread, value_error};
use crate::model::ModelObject;

fn encoded<'py, T: Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    state::encode(value, &mut bytes).map_err(|error| value_error(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    state::decode(bytes, |_| Ok(())).map_err(|error| value_error(error.to_string()))
}

fn json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| value_error(error.to_string()))
}

fn facts_of(text: &str) -> PyResult<ShardFacts> {
    serde_json::from_str(text).map_err(|error| value_error(error.to_string()))
}

/// Unlocks what a panic has left locked, too.
fn lock<T>(inner: &Mutex<T>) -> MutexGuard<'_, T> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The examples of a shard, read.
#[pyclass(frozen, module = "multiplane._core")]
pub(crate) struct ShardData {
    spec: RunSpec,
    data: Dataset,
    path: Option<PathBuf>,
}

#[pymethods]
impl ShardData {
    /// Reads a file, or takes a data set; `spec` is the tree of a run as JSON text.
    #[new]
    #[pyo3(signature = (spec, source, format=None))]
    fn new(py: Python<'_>, spec: &str, source: &Bound<'_, PyAny>, format: Option<&str>) -> PyResult<ShardData> {
        let spec = RunSpec::from_tree(&tree_of(spec)?).map_err(raised)?;
        if let Ok(data) = source.cast::<DatasetObject>() {
            return Ok(ShardData { data: data.get().data()?.clone(), spec, path: None });
        }
        let (path, format) = (source.extract::<PathBuf>()?, format.map(format_by_name).transpose().map_err(raised)?);
        let read = guarded(|| py.detach(|| read_shard(&spec, &path, format)).map_err(|error| unread(&path, error)));
        Ok(ShardData { data: read?, spec, path: Some(path) })
    }

    /// What the other shards have to know of it, as JSON text.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        let facts = || ShardFacts::of(&self.spec, self.data.clone(), self.path.as_deref());
        json(&guarded(|| py.detach(facts).map_err(raised))?)
    }

    /// The part of the primal value of a model that this shard has, recomputed by plain code, as JSON text.
    fn primal(&self, py: Python<'_>, model: &ModelObject) -> PyResult<String> {
        let work = || {
            let problem = model.inner.open_with(self.data.clone(), &Map::new())?;
            ShardPrimal::of(&model.inner, &*problem, None, threads_for(0, &*problem)?)
        };
        json(&guarded(|| py.detach(work).map_err(raised))?)
    }

    /// Opens the task by the facts of all shards together.
    fn open(&self, all: &str) -> PyResult<ShardObject> {
        let all = facts_of(all)?;
        let open = || ShardSession::open(self.spec.clone(), self.data.clone(), &all).map_err(raised);
        Ok(ShardObject { inner: guarded(open)?, all })
    }
}

/// The facts of all shards together, of those of each.
#[pyfunction]
pub(crate) fn merge_facts(facts: Vec<String>) -> PyResult<String> {
    let mut merged: Option<ShardFacts> = None;
    for (shard, text) in facts.iter().enumerate() {
        let next = facts_of(text)?;
        match &mut merged {
            Some(all) => all.merge(&next).map_err(|reason| value_error(format!("shards 0 and {shard}: {reason}")))?,
            None => merged = Some(next),
        }
    }
    json(&merged.ok_or_else(|| value_error("there is no shard"))?)
}

/// Judges the primal value of a model by the parts that its shards have recomputed, in their order. Returns the value
/// found, the one reported, their relative difference, if all claims hold, and the first fault.
#[pyfunction]
pub(crate) fn verify_parts(model: &ModelObject, parts: Vec<String>) -> PyResult<(f64, f64, f64, bool, Option<String>)> {
    let model = &model.inner;
    if !model.info.provenance.spec["regularizer"].is_null() {
        return Err(value_error(
            "the model was trained toward prior weights, which it does not hold: multiplane verify --shards --prior",
        ));
    }
    let parts = parts.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<ShardPrimal>, _>>();
    let parts = parts.map_err(|error| value_error(error.to_string()))?;
    let (claim, fault) = verify_shards(model, None, &parts).map_err(raised)?;
    let holds = claim.holds() && fault.is_none();
    Ok((claim.found, claim.reported, claim.relative_difference(), holds, fault))
}

/// A shard at work, on the thread that opened it.
#[pyclass(unsendable, name = "Shard", module = "multiplane._core")]
pub(crate) struct ShardObject {
    inner: ShardSession,
    all: ShardFacts,
}

#[pymethods]
impl ShardObject {
    /// The regulariser and the number of weights, for a coordinator.
    fn setup<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        encoded(py, &(self.inner.regularizer().clone(), self.inner.problem().dim()))
    }

    /// sha256 of the examples.
    fn fingerprint(&self) -> &str {
        self.inner.problem().fingerprint()
    }

    /// Answers a request; returns the seconds of oracle calls and all seconds by the clock of the run, too.
    fn answer<'py>(&mut self, py: Python<'py>, request: &[u8]) -> PyResult<(Bound<'py, PyBytes>, f64, f64)> {
        let (request, before): (ShardRequest, _) = (decoded(request)?, self.inner.seconds());
        let answer = guarded(|| self.inner.answer(&request).map_err(raised))?;
        let after = self.inner.seconds();
        Ok((encoded(py, &answer)?, after.0 - before.0, after.1 - before.1))
    }

    /// The state as bytes.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = guarded(|| self.inner.save().map_err(raised))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Goes on from what `save` has returned.
    fn restore(&mut self, state: &[u8]) -> PyResult<()> {
        guarded(|| self.inner.restore(state).map_err(raised))
    }

    /// The model of weights (float64) with this certificate.
    fn model(&self, w: &[u8], certificate: &str) -> PyResult<ModelObject> {
        let w: Vec<f64> = decoded(w)?;
        let (primal, dual, certified): (f64, Option<f64>, bool) =
            serde_json::from_str(certificate).map_err(|error| value_error(error.to_string()))?;
        let certificate = Certificate::new(primal, dual, certified);
        Ok(self.inner.model(&w, certificate, &self.all).into())
    }
}

/// The coordinator of a run on shards.
#[pyclass(frozen, name = "Coordinator", module = "multiplane._core")]
pub(crate) struct CoordinatorObject {
    inner: Mutex<Coordinator>,
}

#[pymethods]
impl CoordinatorObject {
    /// Begins; `settings` as JSON text, `setup` of a shard, the facts of each shard.
    #[new]
    fn new(spec: &str, settings: &str, setup: &[u8], facts: Vec<String>) -> PyResult<CoordinatorObject> {
        let mut sharding: Sharding = serde_json::from_str(settings).map_err(|error| value_error(error.to_string()))?;
        let spec = RunSpec::from_tree(&tree_of(spec)?).map_err(raised)?;
        sharding.target = spec.stop.gap;
        let (regularizer, dim): (Regularizer, usize) = decoded(setup)?;
        let facts = facts.iter().map(|text| facts_of(text)).collect::<PyResult<Vec<_>>>()?;
        let weight: f64 = facts.iter().map(|facts| facts.weight).sum();
        let shares = facts.iter().map(|facts| facts.weight / weight).collect();
        let examples = facts.iter().map(|facts| facts.examples).sum();
        let inner = Coordinator::new(sharding, regularizer, dim, shares, examples).map_err(value_error)?;
        Ok(CoordinatorObject { inner: Mutex::new(inner) })
    }

    /// What is wanted next: `work`, `floor`, `evaluate` of every shard; `reached`, `spent` at the end.
    fn demand(&self) -> &'static str {
        match lock(&self.inner).demand() {
            Demand::Answers(ShardOrder::Work { .. }) => "work",
            Demand::Answers(ShardOrder::Floor) => "floor",
            Demand::Answers(ShardOrder::Evaluate) => "evaluate",
            Demand::Reached => "reached",
            Demand::Spent => "spent",
        }
    }

    /// The request to a shard; None if it has answered, and others have not.
    fn request<'py>(&self, py: Python<'py>, shard: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        lock(&self.inner).request(shard).map(|request| encoded(py, &request)).transpose()
    }

    /// Takes answers, None of shards without one; returns the report of the round as JSON text.
    fn take(&self, py: Python<'_>, answers: Vec<Option<Bound<'_, PyBytes>>>) -> PyResult<String> {
        let decode = |answer: Option<Bound<'_, PyBytes>>| answer.map(|bytes| decoded(bytes.as_bytes())).transpose();
        let answers = answers.into_iter().map(decode).collect::<PyResult<Vec<_>>>()?;
        let take = || lock(&self.inner).take(answers).map_err(|error| Error::failed(error.to_string()));
        json(&guarded(|| py.detach(take).map_err(raised))?)
    }

    /// Asks for an evaluation next.
    fn evaluate(&self) {
        lock(&self.inner).evaluate();
    }

    /// P, F and whether they are proven, as JSON text.
    fn certificate(&self) -> PyResult<String> {
        let found = lock(&self.inner).certificate();
        json(&(found.primal.is_finite().then_some(found.primal), found.dual, found.certified))
    }

    /// The best weights.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        encoded(py, &lock(&self.inner).weights())
    }

    /// The state as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        encoded(py, &*lock(&self.inner))
    }

    /// Goes on from what `save` has returned, with other stops.
    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let state: Coordinator = decoded(state)?;
        let mut inner = lock(&self.inner);
        let restored = inner.continued(state).map_err(value_error)?;
        *inner = restored;
        Ok(())
    }
}
