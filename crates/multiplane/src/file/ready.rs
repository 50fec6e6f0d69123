//! A model that answers again and again: what does not depend on the data is prepared at the first call.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskConfig;
use multiplane_tasks::problem::Problem;
use serde_json::{Map, Value};

use super::model::Model;
use crate::error::Error;

/// A model kept open. It never changes, so any number of threads may share it.
#[derive(Debug)]
pub struct ReadyModel {
    model: Model,
    /// Local parameters of the task, which no model holds.
    local: Map<String, Value>,
    config: OnceLock<Box<dyn TaskConfig>>,
    /// The weights as predictions take them.
    weights: OnceLock<Vec<f64>>,
}

impl From<Model> for ReadyModel {
    fn from(model: Model) -> Self {
        ReadyModel::new(model, Map::new())
    }
}

impl Deref for ReadyModel {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

impl ReadyModel {
    /// Keeps a model, with the [local parameters](multiplane_tasks::entry::TaskEntry::local) of its task.
    pub fn new(model: Model, local: Map<String, Value>) -> Self {
        ReadyModel { model, local, config: OnceLock::new(), weights: OnceLock::new() }
    }

    /// Opens data as [`Model::open_with`] does.
    ///
    /// # Errors
    ///
    /// As of [`Model::open_with`].
    pub fn open(&self, data: Dataset) -> Result<Box<dyn Problem>, Error> {
        let config = match self.config.get() {
            Some(config) => config,
            None => {
                let config = self.model.config(&self.local)?;
                self.config.get_or_init(|| config)
            }
        };
        self.model.open_by(&**config, data)
    }

    /// Returns the weights in the layout of a problem that this model has opened. They are laid out once, unless a
    /// kernel makes them of the data.
    pub fn weights(&self, problem: &dyn Problem) -> Cow<'_, [f64]> {
        match problem.kernel() {
            Some(_) => problem.from_file_layout(&self.model.w).into(),
            None => self.weights.get_or_init(|| problem.from_file_layout(&self.model.w)).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, RunSpec, Session};
    use multiplane_tasks::synth::synthetic_words;
    use serde_json::json;
    use std::thread;

    /// Threads that ask at the same time share one layout of the weights, which is that of the problem.
    #[test]
    fn weights_are_laid_out_once() {
        let spec = json!({"task": "chain", "stop": {"passes": 1}, "clock": "work"});
        let spec = RunSpec::from_tree(spec.as_object().unwrap()).unwrap();
        let data = |seed| Dataset::new(synthetic_words(3, seed));
        let (model, _) = Session::on(spec, data(0), None).unwrap().run(RunOptions::default()).unwrap();
        let ready = ReadyModel::from(model);
        let ask = |seed| {
            let problem = ready.open(data(seed)).unwrap();
            let w = ready.weights(&*problem);
            assert_eq!(*w, problem.from_file_layout(&ready.w));
            assert!(matches!(w, Cow::Borrowed(_)));
            w.as_ptr() as usize
        };
        let places: Vec<usize> = thread::scope(|scope| {
            let asked: Vec<_> = (0..4).map(|seed| scope.spawn(move || ask(seed))).collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(places.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
