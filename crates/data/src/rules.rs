//! Rules of a reader: parameters of users, and facts of the model that the data is for.

use std::path::PathBuf;
use std::sync::Arc;

use super::strings::Strings;

/// The rules of a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadRules {
    /// The separator of a table's columns (`data.separator`); by default its first line decides.
    pub separator: Option<char>,
    /// The label's column of a table or a treebank (`data.label_column`); by default the last, or upos.
    pub label_column: Option<Column>,
    /// True if this is the label that a model was trained on, and users named none.
    pub label_by_model: bool,
    /// If `_` is a label of a treebank, rather than none (`data.underscore`); by default of feats and lemma.
    pub underscore: Option<bool>,
    /// True if the labels that a model was trained on say so, and users said nothing.
    pub underscore_by_model: bool,
    /// Columns of a table that are neither features nor the label (`data.ignore`).
    pub ignored: Vec<Column>,
    /// True if these are the columns that a model was trained without, and users named none.
    pub ignored_by_model: bool,
    /// True if examples may lack labels, as they may where a model is used.
    pub unlabelled: bool,
    /// Features of a row, where a model says.
    pub features: Option<usize>,
    /// Names of the features, where a model has them.
    pub names: Option<Arc<Strings>>,
    /// A file with the weight of each example (`data.weights`).
    pub weights: Option<PathBuf>,
    /// True if labels are names even where they are integers, as those of a model that knows names.
    pub named_labels: bool,
}

impl ReadRules {
    /// The name of a parameter for tables, if users gave one.
    pub(super) fn of_tables(&self) -> Option<&'static str> {
        [
            ("data.separator", self.separator.is_some()),
            ("data.label_column", self.label_column.is_some() && !self.label_by_model),
            ("data.ignore", !self.ignored.is_empty() && !self.ignored_by_model),
        ]
        .into_iter()
        .find_map(|(name, is_said)| is_said.then_some(name))
    }
}

/// A column of a table, as users name it: by a name of the header, or by its number, from 1, or from -1 for the last
/// one backwards. What is a name of the header is that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column(pub String);
