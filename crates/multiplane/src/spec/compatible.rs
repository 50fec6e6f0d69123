//! Differences allowed between a checkpoint and the command that resumes it: stops, threads and where the data lies.

use serde_json::{Value, json};

use super::outer::Outer;
use super::params::shown;
use super::run::RunSpec;
use crate::error::Error;

impl RunSpec {
    /// Refuses a specification that would not continue the run of `original`. Stops, threads
    /// and the place and format of the data may differ (their content is checked by its fingerprint).
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what differs, before and now.
    pub fn check_continues(&self, original: &RunSpec) -> Result<(), Error> {
        // By name, or as `balanced`, they are a list only once the data is there; what is checked then is that.
        let weights = self.task.params.get("class_weights");
        let is_listed = weights.is_none_or(|weights| weights.is_array() || weights.is_null());
        let bare = |spec: &RunSpec| {
            let mut tree = spec.provenance();
            tree["stop"] = Value::Null;
            tree["data"]["test"] = spec.data.test.is_some().into();
            tree["data"]["folds"] = json!(spec.data.folds);
            tree["data"]["test_folds"] = json!(spec.data.test_folds);
            tree["data"]["holdout"] = json!(spec.data.holdout);
            if !is_listed {
                tree["task"]["class_weights"] = Value::Null;
            }
            tree
        };
        match first_difference("", &bare(original), &bare(self)) {
            None => Ok(()),
            Some((key, before, after)) => Err(Error::input(format!(
                "{key}: the checkpoint has {before}, found {after}: a run is resumed as it was begun, but for new stops, \
                 outputs, threads or moved data"
            ))),
        }
    }
}

impl Outer {
    /// Refuses a loop that would not continue `original`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what differs, before and now.
    pub fn check_continues(&self, original: &Outer) -> Result<(), Error> {
        let (name, found) = (original.name(), self.name());
        let tree = |outer: &Outer| match outer {
            Outer::Path(path) => json!(path),
            Outer::Grid(grid) => json!(grid),
        };
        if name != found {
            return Err(Error::input(format!("it is the checkpoint of a {name}, not of a {found}")));
        }
        match first_difference("", &tree(original), &tree(self)) {
            None => Ok(()),
            Some((key, before, after)) => Err(Error::input(format!(
                "{key}: the checkpoint has {before}, found {after}: a {name} is resumed as it was begun, but for new \
                 stops, outputs, threads or moved data"
            ))),
        }
    }
}

/// The dotted name of the first value that differs, and both values.
fn first_difference(path: &str, before: &Value, after: &Value) -> Option<(String, String, String)> {
    if let (Value::Object(before), Value::Object(after)) = (before, after) {
        let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
        // The name of a choice says more than its fields.
        let (names, others): (Vec<&String>, Vec<&String>) = keys.partition(|key| *key == "name");
        return names.into_iter().chain(others).find_map(|key| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = |table: &serde_json::Map<String, Value>| table.get(key).cloned().unwrap_or(Value::Null);
            first_difference(&path, &value(before), &value(after))
        });
    }
    (before != after).then(|| (path.trim_end_matches(".name").to_string(), shown(before), shown(after)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::StopSpec;
    use multiplane_core::run::{GapTarget, StopReason};

    fn spec(tree: Value) -> RunSpec {
        RunSpec::from_tree(tree.as_object().unwrap()).unwrap()
    }

    /// A new stop stands beside the old ones, but not beside the one that ended the run, nor beside defaults.
    #[test]
    fn new_stops_beside_old_ones() {
        let stops = |tree: Value, reason| spec(tree).stops_beside_new(reason);
        let tree = json!({"task": "chain", "stop": {"gap": 0.5, "passes": 3}});
        let both = StopSpec { gap: Some(GapTarget::Absolute(0.5)), passes: Some(3.0), ..StopSpec::default() };
        assert_eq!(stops(tree.clone(), None), both);
        assert_eq!(stops(tree.clone(), Some(StopReason::Passes)), StopSpec { passes: None, ..both.clone() });
        assert_eq!(stops(tree, Some(StopReason::Gap)), StopSpec { gap: None, ..both });
        assert_eq!(stops(json!({"task": "chain"}), None), StopSpec::default());
        // Patience stays where it did not end the run, alone where nothing else was named.
        let alone = json!({"task": "chain", "stop": {"patience": 5}});
        let patience = StopSpec { patience: Some(5), ..StopSpec::default() };
        assert_eq!(stops(alone.clone(), Some(StopReason::Passes)), patience);
        assert_eq!(stops(alone, Some(StopReason::Patience)), StopSpec::default());
    }

    /// Every difference that matters is named with both values; stops, threads and paths do not matter. What is
    /// written as a tree is read back the same.
    #[test]
    fn differences_are_named() {
        let data = json!({"path": "a", "test": "t", "folds": [0, 3]});
        let original = spec(json!({"task": "chain", "solver": "mp-bcfw", "data": data, "seed": 1}));
        let tree = original.to_tree();
        assert_eq!(spec(tree.clone()).to_tree(), tree);
        let change = |key: &str, value: Value| {
            let mut tree = tree.as_object().unwrap().clone();
            crate::spec::params::set(&mut tree, key, value);
            spec(Value::Object(tree)).check_continues(&original).map_err(|error| error.to_string())
        };
        for (key, value) in [
            ("stop.passes", json!(7)),
            ("stop.gap", json!("3%")),
            ("threads", json!(2)),
            ("data.path", json!("b")),
            ("data.test", json!("u")),
            ("data.format", json!("letter")),
        ] {
            assert_eq!(change(key, value), Ok(()), "{key}");
        }
        for (key, value, message) in [
            ("seed", json!(2), "seed: the checkpoint has 1, found 2"),
            ("lambda", json!(0.5), "lambda: the checkpoint has 1/n, found 0.5"),
            ("clock", json!("work"), "clock: the checkpoint has wall, found work"),
            ("data.folds", json!([1]), "data.folds: the checkpoint has [0,3], found [1]"),
            ("solver.order", json!("gap"), "solver.order: the checkpoint has permutation, found gap"),
            ("solver.planes.max_planes", json!(3), "solver.planes.max_planes: the checkpoint has 1000, found 3"),
            ("task.ends", json!(true), "task.ends: the checkpoint has false, found true"),
            ("oracle.delay_us", json!(5), "oracle.delay_us: the checkpoint has 0.0, found 5.0"),
        ] {
            let error = change(key, value).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
