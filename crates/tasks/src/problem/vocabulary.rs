//! The memory of a model of its training data: typed for the task that it belongs to, and as the model file holds it.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::{SparseRows, Strings};
use crate::problem::error::OpenError;
use crate::problem::scale::FeatureScale;

/// Most bytes that a dictionary may have.
pub const MAX_DICTIONARY_BYTES: usize = 1 << 30;

/// The facts of its training data that a model needs to read other data in the same way: the vocabulary of a task of
/// any kind, as the model file holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Names of the labels, in the order of the weight layout; empty where labellings are not made of labels.
    pub labels: Vec<String>,
    /// Kinds of the labels, one each; empty if their names say them: whole numbers if all are written so, else texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_kinds: Vec<LabelKind>,
    /// The label, or the list of labels, that stands for one that is not known; nothing if users named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Value>,
    /// How probabilities follow from scores, as a Python estimator learned it; it alone reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Value>,
    /// Features per variable, a bias feature included; 0 where only the task knows.
    pub features: usize,
    /// The part that only the task understands. In a file its fields stand beside others, so the reader must sort them
    /// out.
    #[serde(flatten, skip_deserializing)]
    pub own: Map<String, Value>,
    /// Names of the features, where they have any. The model file keeps them apart from the rest.
    #[serde(skip)]
    pub dictionary: Option<Arc<Strings>>,
    /// The divisors of the features, if there are any; kept apart in the same way.
    #[serde(skip)]
    pub scale: Option<FeatureScale>,
    /// Rows that a kernel compares others with; kept apart in the same way.
    #[serde(skip)]
    pub support: Option<Arc<SparseRows>>,
}

/// The kind of a label whose name does not say it. Python labels are of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelKind {
    /// `True` or `False`.
    Bool,
    /// A whole number.
    Int,
    /// A number in floating point.
    Float,
    /// A text, of digits too.
    Text,
}

impl LabelKind {
    /// Returns the kinds of labels that are texts: nothing, if their names say so.
    pub fn of_texts(names: &[String]) -> Vec<LabelKind> {
        let is_number = |name: &String| name.parse::<i64>().is_ok_and(|number| number.to_string() == *name);
        if names.iter().all(is_number) { vec![LabelKind::Text; names.len()] } else { Vec::new() }
    }
}

/// The vocabulary of one task. Its fields `labels` (a list of names) and `features` (a number), where it has them, are
/// what other parts of the program show to users; every other field is the task's own affair.
pub trait TaskVocabulary: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Returns what is known of the features, where that is more than their number.
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        None
    }

    /// Returns the kinds of the labels; see [`Vocabulary::label_kinds`].
    fn label_kinds(&self) -> &[LabelKind] {
        &[]
    }

    /// If features are numbers of the data, whatever their names, and not made of text.
    fn has_numbers(&self) -> bool {
        true
    }
}

/// Facts of features beyond their number; fields of a [`Vocabulary`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureSpace {
    /// Names of the features, where they have any.
    pub dictionary: Option<Arc<Strings>>,
    /// The divisors of the features, if they were scaled.
    pub scale: Option<FeatureScale>,
    /// Rows that a kernel compares others with, where there is one.
    pub support: Option<Arc<SparseRows>>,
}

impl Vocabulary {
    /// Takes the vocabulary of a task; what does not become a JSON object is empty.
    pub fn of(mut typed: impl TaskVocabulary) -> Self {
        let Ok(Value::Object(mut own)) = serde_json::to_value(&typed) else { return Vocabulary::default() };
        let labels = own.remove("labels").and_then(|labels| serde_json::from_value(labels).ok());
        let features = own.remove("features").and_then(|features| serde_json::from_value(features).ok());
        let FeatureSpace { dictionary, scale, support } = typed.space().map(std::mem::take).unwrap_or_default();
        let (labels, features) = (labels.unwrap_or_default(), features.unwrap_or_default());
        let label_kinds = typed.label_kinds().to_vec();
        Vocabulary { labels, label_kinds, unknown: None, calibration: None, features, own, dictionary, scale, support }
    }

    /// Returns the names of the labels that stand for one that is not known.
    pub fn unknown_names(&self) -> Vec<String> {
        let given = self.unknown.iter().flat_map(|given| given.as_array().map_or(std::slice::from_ref(given), |of| of));
        given.map(|label| label.as_str().map_or_else(|| label.to_string(), str::to_owned)).collect()
    }

    /// Reads it as the vocabulary of a task.
    ///
    /// # Errors
    ///
    /// A field is missing, of the wrong type, or not one of that task.
    pub fn read<V: TaskVocabulary>(&self) -> Result<V, OpenError> {
        let mut fields = self.own.clone();
        if !self.labels.is_empty() {
            fields.insert("labels".into(), self.labels.clone().into());
        }
        if self.features > 0 {
            fields.insert("features".into(), self.features.into());
        }
        let mut typed: V = serde_json::from_value(Value::Object(fields))
            .map_err(|error| OpenError::new(format!("the model does not fit its task: {error}")))?;
        if let Some(space) = typed.space() {
            let Vocabulary { dictionary, scale, support, .. } = self.clone();
            *space = FeatureSpace { dictionary, scale, support };
        }
        Ok(typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Shapes {
        labels: Vec<String>,
        counts: Vec<usize>,
    }

    impl TaskVocabulary for Shapes {}

    /// A task's vocabulary survives the way into a model file and back; fields of another task are refused.
    #[test]
    fn vocabularies_come_back() {
        let shapes = Shapes { labels: vec!["a".into()], counts: vec![2, 3] };
        let text = serde_json::to_string(&Vocabulary::of(shapes.clone())).unwrap();
        assert_eq!(text, r#"{"labels":["a"],"features":0,"counts":[2,3]}"#);
        let kinds = Vocabulary { label_kinds: vec![LabelKind::Bool], ..Vocabulary::of(shapes.clone()) };
        let text_of_kinds = serde_json::to_string(&kinds).unwrap();
        assert!(text_of_kinds.contains(r#""label_kinds":["bool"]"#) && kinds.read::<Shapes>().unwrap() == shapes);
        let Value::Object(own) = serde_json::json!({"counts": [2, 3]}) else { unreachable!() };
        let vocabulary = Vocabulary { own, ..serde_json::from_str(&text).unwrap() };
        assert_eq!(vocabulary.read::<Shapes>().unwrap(), shapes);
        let names = |unknown| Vocabulary { unknown: Some(unknown), ..vocabulary.clone() }.unknown_names();
        assert_eq!((names(255.into()), names(["?", "1"].into())), (vec!["255".into()], vec!["?".into(), "1".into()]));
        let other = Vocabulary { features: 3, ..vocabulary };
        assert!(other.read::<Shapes>().unwrap_err().to_string().contains("unknown field `features`"));
    }
}
