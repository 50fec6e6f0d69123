//! Labellings as JSON: their type in words, and what may stand near them.

use multiplane_core::rng::Rng;
use serde_json::Value;

/// Says of which type a labelling is.
pub(super) fn kind(label: &Value) -> &'static str {
    match label {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The values that variables may have.
pub(super) enum LabelValues<'a> {
    /// Any of these, in any combination.
    Declared(&'a [Value]),
    /// Those seen in these labellings; there may be rules that were not told.
    Seen(Vec<&'a Value>),
}

/// Returns at most `most` labellings that differ from `label` in one variable: an entry of a list, or the whole.
pub(super) fn changes(label: &Value, values: &LabelValues<'_>, most: usize, rng: &mut Rng) -> Vec<Value> {
    let values: Vec<Value> = match values {
        LabelValues::Declared(values) => values.to_vec(),
        LabelValues::Seen(seen) => {
            let entries = seen.iter().flat_map(|label| match label {
                Value::Array(items) => items.as_slice(),
                other => std::slice::from_ref(*other),
            });
            let mut distinct: Vec<Value> = Vec::new();
            entries.for_each(|entry| {
                if !distinct.contains(entry) {
                    distinct.push(entry.clone());
                }
            });
            distinct
        }
    };
    let places = label.as_array().map_or(1, Vec::len);
    let mut all: Vec<(usize, usize)> =
        (0..places).flat_map(|place| (0..values.len()).map(move |k| (place, k))).collect();
    rng.shuffle(&mut all);
    let changed = all.into_iter().map(|(place, k)| match label {
        Value::Array(items) => {
            let mut items = items.clone();
            items[place] = values[k].clone();
            Value::Array(items)
        }
        _ => values[k].clone(),
    });
    changed.filter(|changed| changed != label).take(most).collect()
}

/// Returns true if lists of this kind look like free combinations: an entry occurs twice in a list, and some list is
/// not sorted. A permutation, a set or a path in order is none.
pub(super) fn look_free(labels: &[&Value]) -> bool {
    let lists = || labels.iter().filter_map(|label| label.as_array()).filter(|list| list.len() > 1);
    let scalar = |entry: &Value| !entry.is_array() && !entry.is_object();
    let repeats = |list: &Vec<Value>| list.iter().enumerate().any(|(k, entry)| list[..k].contains(entry));
    let unsorted = |list: &Vec<Value>| {
        list.windows(2).any(|pair| match (pair[0].as_f64(), pair[1].as_f64()) {
            (Some(one), Some(next)) => one > next,
            _ => pair[0].as_str() > pair[1].as_str(),
        })
    };
    lists().all(|list| list.iter().all(scalar)) && lists().any(repeats) && lists().any(unsorted)
}

/// Counts wrong variables and variables in all: entries of lists of one length, or the whole.
pub(super) fn errors(truth: &Value, label: &Value, loss: f64) -> (usize, usize) {
    match (truth, label) {
        (Value::Array(truth), Value::Array(label)) if truth.len() == label.len() && !truth.is_empty() => {
            (truth.iter().zip(label).filter(|(truth, label)| truth != label).count(), truth.len())
        }
        _ => (usize::from(loss != 0.0), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Changes differ in one entry, each from the values given, none twice, the label itself never.
    #[test]
    fn changes_are_of_one_variable() {
        let mut rng = Rng::new(1, 0);
        let declared = [json!(0), json!(1), json!("x")];
        let found = changes(&json!([0, 1]), &LabelValues::Declared(&declared), 10, &mut rng);
        assert_eq!(found.len(), 4, "{found:?}");
        for label in [json!([1, 1]), json!(["x", 1]), json!([0, 0]), json!([0, "x"])] {
            assert!(found.contains(&label), "{label}");
        }
        assert_eq!(changes(&json!([0, 1]), &LabelValues::Declared(&declared), 3, &mut rng).len(), 3);
        let seen = [json!("a"), json!("b"), json!("a")];
        assert_eq!(changes(&json!("a"), &LabelValues::Seen(seen.iter().collect()), 9, &mut rng), [json!("b")]);
    }

    /// Permutations, sorted sets and nested lists are no free combinations; tags of sentences are.
    #[test]
    fn structure_is_respected() {
        let free = |labels: &[Value]| look_free(&labels.iter().collect::<Vec<_>>());
        assert!(free(&[json!(["a", "b", "a"]), json!(["a", "a"])]));
        assert!(!free(&[json!([2, 0, 1]), json!([1, 0, 2])]));
        assert!(!free(&[json!([0, 1, 1]), json!([2, 2])]));
        assert!(!free(&[json!([[0], [1], [0]])]));
        assert!(!free(&[]));
    }

    /// Lists of one length are counted by entry, anything else as a whole.
    #[test]
    fn errors_are_counted() {
        assert_eq!(errors(&json!([1, 2, 3]), &json!([1, 0, 0]), 0.5), (2, 3));
        assert_eq!(errors(&json!([1, 2]), &json!([1]), 0.5), (1, 1));
        assert_eq!(errors(&json!("a"), &json!("a"), 0.0), (0, 1));
    }
}
