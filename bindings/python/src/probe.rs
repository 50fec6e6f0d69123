//! A user's task as the oracle doctor asks it: every answer as it came, every exception as text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use multiplane::doctor::{Decoded, ExaminationPlan, Probe, RawFeatures, examine};
use multiplane::oracle::Quality;
use multiplane::{RunSpec, Session};
use multiplane_core::rng::Rng;
use multiplane_tasks::foreign::DeclaredQuality;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::dataset::DatasetObject;
use crate::errors::{guarded, raised, tree_of, value_error};
use crate::features;
use crate::parts::{Label, Parts};
use crate::task::UserTask;

/// Labellings of other examples that an example is asked about, at most: each takes up to four decodings.
const OTHERS: usize = 16;

/// A user's task under examination.
pub(crate) struct PythonProbe {
    parts: Arc<Parts>,
    /// `multiplane._doctor` and its `Neighbours` of this task.
    helper: Py<PyAny>,
    neighbours: Py<PyAny>,
    /// The labellings of other examples that an example was asked about, and whether it has them.
    asked: HashMap<usize, Vec<(Label, bool)>>,
    /// What stopped the examination: an exception that is none of the task's faults, as that of Ctrl-C.
    stopped: Option<PyErr>,
}

impl PythonProbe {
    pub(crate) fn new(py: Python<'_>, parts: Arc<Parts>, task: &Bound<'_, PyAny>) -> PyResult<Self> {
        let helper = py.import("multiplane._doctor")?;
        let truths: Vec<_> = parts.ys.iter().map(|y| y.clone_ref(py)).collect();
        let neighbours = helper.getattr("Neighbours")?.call1((task, truths))?.unbind();
        Ok(PythonProbe { parts, helper: helper.into_any().unbind(), neighbours, asked: HashMap::new(), stopped: None })
    }

    /// Runs Python code; an exception becomes its text.
    fn ask<T>(&mut self, work: impl FnOnce(Python<'_>, &Parts) -> PyResult<T>) -> Result<T, String> {
        if self.stopped.is_some() {
            return Err("the examination was stopped".into());
        }
        Python::attach(|py| {
            work(py, &self.parts).map_err(|error| {
                let text = error.to_string();
                if !error.is_instance_of::<PyException>(py) {
                    self.stopped = Some(error);
                }
                text
            })
        })
    }

    /// True if decoding returns a labelling where the weights speak for it, with `opposites` also where they speak
    /// against it, as a sign may be the fault that is looked for. Only then is one that was guessed known to be a
    /// labelling of the example: labellings may be constrained in ways that the task does not say.
    fn is_reached(&mut self, example: usize, label: &Label, change: &Label, opposites: bool) -> bool {
        let (Ok(there), Ok(here)) = (self.dense(example, change), self.dense(example, label)) else { return false };
        let away = there.iter().zip(&here).map(|(there, here)| there - here).collect();
        let mut asked = vec![away, there];
        if opposites {
            asked.extend(asked.clone().iter().map(|w| w.iter().map(|number| -number).collect()));
        }
        asked.iter().any(|w| self.decode(example, w, false).is_ok_and(|(answer, _)| self.same(&answer, change)))
    }

    /// True if a labelling of the type and shape of the truth is a labelling of the example. Only some are asked about,
    /// and none where several examples have the same object as their truth.
    fn has(&mut self, example: usize, truth: &Label, label: &Label) -> bool {
        if self.same(truth, label) {
            return true;
        }
        if self.parts.ys.iter().filter(|y| y.is(&**truth)).count() != 1 {
            return false;
        }
        let asked = self.asked.get(&example).cloned().unwrap_or_default();
        if let Some((_, found)) = asked.iter().find(|(other, _)| self.same(other, label)) {
            return *found;
        }
        if asked.len() >= OTHERS {
            return false;
        }
        let found = self.is_reached(example, truth, label, true);
        self.asked.entry(example).or_default().push((label.clone(), found));
        found
    }

    fn dense(&mut self, example: usize, label: &Label) -> Result<Vec<f64>, String> {
        let mut all = vec![0.0; self.dim()];
        match self.features(example, label)? {
            RawFeatures::Dense(values) if values.len() == all.len() => all = values,
            RawFeatures::Dense(_) => return Err("its length is wrong".into()),
            RawFeatures::Pairs(pairs) => {
                for (index, value) in pairs {
                    let place = usize::try_from(index).ok().and_then(|index| all.get_mut(index));
                    *place.ok_or("an index is wrong")? += value;
                }
            }
        }
        if !all.iter().all(|number| number.is_finite()) {
            return Err("a number is not finite".into());
        }
        Ok(all)
    }

    /// Asks a function of the helper about labellings. Returns the default if it raises.
    fn helped<T: Default + for<'py> FromPyObjectOwned<'py>>(&mut self, function: &str, labels: &[&Label]) -> T {
        let helper = Python::attach(|py| self.helper.clone_ref(py));
        let found = self.ask(|py, _| {
            let labels = PyTuple::new(py, labels.iter().map(|label| label.bind(py)))?;
            helper.bind(py).call_method1(function, labels)?.extract().map_err(Into::into)
        });
        found.unwrap_or_default()
    }
}

impl Probe for PythonProbe {
    type Label = Label;

    fn examples(&self) -> usize {
        self.parts.xs.len()
    }

    fn dim(&self) -> usize {
        self.parts.shape.dim
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.parts.shape.nonnegative.clone()
    }

    fn truth(&mut self, example: usize) -> Result<Label, String> {
        self.ask(|py, parts| Ok(Arc::new(parts.ys[example].clone_ref(py))))
    }

    fn features(&mut self, example: usize, label: &Label) -> Result<RawFeatures, String> {
        self.ask(|py, parts| {
            let vector = parts.features.bind(py).call1((parts.xs[example].bind(py), label.bind(py)))?;
            features::raw(&vector, parts.shape.dim)
        })
    }

    fn fixed_score(&mut self, example: usize, label: &Label) -> Result<f64, String> {
        self.ask(|py, parts| parts.fixed_score(py, example, label))
    }

    fn loss(&mut self, example: usize, label: &Label) -> Result<f64, String> {
        self.ask(|py, parts| {
            let loss = parts.loss.bind(py).call1((parts.ys[example].bind(py), label.bind(py)))?;
            loss.extract().map_err(|_| value_error(format!("loss returned {loss}: expected a number")))
        })
    }

    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<Label>, String> {
        self.ask(|py, parts| {
            let numpy = py.import("numpy")?;
            let bytes: Vec<u8> = w.iter().flat_map(|number| number.to_ne_bytes()).collect();
            // A view of bytes is read-only, as in training.
            let weights = numpy.call_method1("frombuffer", (PyBytes::new(py, &bytes), "float64"))?;
            let (decode, x) = (parts.decode.bind(py), parts.xs[example].bind(py));
            let answer = if augmented {
                decode.call1((x, weights, parts.ys[example].bind(py)))?
            } else {
                decode.call1((x, weights))?
            };
            // Answers are compared with each other, and the next may be written over this one.
            let answer = py.import("multiplane._tasks")?.call_method1("kept", (answer,))?;
            let (label, bound) = parts.split(answer)?;
            let quality = |declared: DeclaredQuality| declared.of_answer(bound).unwrap_or(Quality::Heuristic);
            Ok((Arc::new(label), parts.declared.map(quality)))
        })
    }

    fn neighbours(&mut self, example: usize, label: &Label, most: usize, rng: &mut Rng) -> Vec<Label> {
        let seed = rng.below(u64::from(u32::MAX));
        let neighbours = Python::attach(|py| self.neighbours.clone_ref(py));
        let found = self.ask(|py, parts| {
            let (x, neighbours) = (parts.xs[example].bind(py), neighbours.bind(py));
            let found = neighbours.call_method1("changes", (x, label.bind(py), most, seed))?;
            Ok((neighbours.getattr("own")?.is_none(), found.extract::<Vec<Py<PyAny>>>()?))
        });
        let (guessed, found) = found.unwrap_or_default();
        let found = found.into_iter().map(Arc::new);
        if guessed {
            found.filter(|change| self.is_reached(example, label, change, false)).collect()
        } else {
            found.collect()
        }
    }

    fn is_labelling_of(&mut self, example: usize, label: &Label) -> bool {
        let Ok(truth) = self.truth(example) else { return false };
        self.helped("is_alike", &[&truth, label]) && self.has(example, &truth, label)
    }

    fn same(&mut self, one: &Label, other: &Label) -> bool {
        self.helped("same", &[one, other])
    }

    fn kind(&mut self, label: &Label) -> String {
        self.helped("kind", &[label])
    }

    fn show(&mut self, label: &Label) -> String {
        let text = self.ask(|py, _| Ok(label.bind(py).repr()?.to_string())).unwrap_or_else(|_| "?".into());
        if text.len() <= 120 { text } else { format!("{}...", text.chars().take(117).collect::<String>()) }
    }
}

/// How much is examined: the dict that Python gives.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Extent {
    examples: usize,
    seed: u64,
    seconds: f64,
    passes: f64,
}

impl Extent {
    fn plan(&self) -> ExaminationPlan {
        let Extent { examples, seed, seconds, passes } = *self;
        ExaminationPlan { examples, seed, seconds, passes, planes: 10 }
    }
}

/// Examines a user's task: the findings and the profile, as JSON text.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    task: &Bound<'_, PyAny>,
    xs: &Bound<'_, PyList>,
    ys: &Bound<'_, PyList>,
    extent: Extent,
) -> PyResult<String> {
    let user = UserTask::new(task, xs, ys, String::new(), None, 1, 0.0, true)?;
    let mut probe = PythonProbe::new(py, user.parts.clone(), task)?;
    let diagnosis = guarded(|| Ok(examine(&mut probe, &extent.plan())))?;
    match probe.stopped {
        Some(error) => Err(error),
        None => serde_json::to_string(&diagnosis).map_err(|error| value_error(error.to_string())),
    }
}

/// Examines a built-in task on data: `spec` is the run's specification as JSON text.
#[pyfunction]
pub(crate) fn check_data(py: Python<'_>, spec: &str, data: &DatasetObject, extent: Extent) -> PyResult<String> {
    let (tree, data) = (tree_of(spec)?, data.data()?.clone());
    let work = || {
        let session = Session::on(RunSpec::from_tree(&tree).map_err(raised)?, data, None).map_err(raised)?;
        let problem = session.problem();
        let probe = problem.oracles().probe().map_err(|error| value_error(error.to_string()))?;
        let mut probe = probe.ok_or_else(|| value_error(format!("task {} cannot be examined", problem.task())))?;
        let diagnosis = examine(&mut *probe, &extent.plan());
        serde_json::to_string(&diagnosis).map_err(|error| value_error(error.to_string()))
    };
    guarded(|| py.detach(work))
}
