//! Trees made ready for the task: features and labels by number, and what a model remembers of them.

use std::sync::Arc;

use multiplane_core::task::UNLABELLED;
use multiplane_infer::InferError;
use multiplane_infer::score_tree::ROOT;
use serde::{Deserialize, Serialize};

use super::input::TreeInput;
use crate::builtin::pairwise::{Labelling, bare};
use crate::builtin::reading::Reading;
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::sequences::{MAX_LABEL_BYTES, numbers, sorted};
use crate::builtin::vocabulary_match::{cut_rows, unseen_features, unseen_labels};
use crate::data::trees::{TreeFault, TreePlace};
use crate::data::{DataError, SparseRows, Strings, Trees};
use crate::dataset::Dataset;
use crate::problem::{
    FeatureSpace, LabelKind, MAX_DICTIONARY_BYTES, MAX_DIM, OpenError, TaskVocabulary, Vocabulary, check_dim,
};

/// The facts that a task on trees remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeVocabulary {
    /// Names of the labels: whole numbers by value, other names in alphabetical order.
    pub labels: Vec<String>,
    /// Names of the types of edges, in alphabetical order; that of edges without a type is empty.
    pub types: Vec<String>,
    /// Features of a node, a bias feature included.
    pub features: usize,
    /// Kinds of the labels of training data, if their names do not say them.
    #[serde(skip)]
    pub label_kinds: Vec<LabelKind>,
    /// Facts of the features: their names, what they were divided by, the rows of a kernel.
    #[serde(skip)]
    pub space: FeatureSpace,
    /// Labels of this data that training never saw, numbered after the others; no model holds them.
    #[serde(skip)]
    pub unseen: Vec<String>,
}

impl TaskVocabulary for TreeVocabulary {
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        Some(&mut self.space)
    }

    fn label_kinds(&self) -> &[LabelKind] {
        &self.label_kinds
    }

    fn has_numbers(&self) -> bool {
        self.space.dictionary.is_none()
    }
}

impl TreeVocabulary {
    /// Returns the name of a label; none of a node without one.
    pub fn label(&self, label: u32) -> Option<&str> {
        let place = label as usize;
        self.labels.get(place).or_else(|| self.unseen.get(place.checked_sub(self.labels.len())?)).map(String::as_str)
    }
}

/// Trees made ready.
pub(super) type ReadTrees = Reading<TreeInput, Labelling, TreeVocabulary>;

impl ReadTrees {
    /// Reads `data`; with a vocabulary (that of a model) labels, features and types that it lacks get one warning each.
    ///
    /// # Errors
    ///
    /// The data are no trees, lack parents or, in training, any label, do not fit the model, or need more weights than
    /// there may be.
    pub(super) fn read(
        data: &Dataset,
        (bias, scale): (bool, ScaleSpec),
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Self, OpenError> {
        let (trees, is_training) = (trees_of(data)?, vocabulary.is_none());
        if let Some(tree) = (0..trees.len()).find(|&tree| !trees.has_parents(tree)) {
            let nodes = trees.range(tree).len();
            return Err(fault(
                trees,
                tree,
                &TreeFault::tree(format!("found {nodes} nodes without any parent, expected a tree")),
            ));
        }
        one_root(trees)?;
        let names: Vec<String> = trees.names.iter().map(str::to_owned).collect();
        let unknown = vocabulary.map(Vocabulary::unknown_names).unwrap_or_default();
        let known = match vocabulary {
            Some(vocabulary) => known_vocabulary(vocabulary)?,
            None => learn(trees, bias)?,
        };
        let rows = rows(trees, bias, known, !is_training)?;
        let Reading { inputs, mut vocabulary, mut warnings, .. } = rows.scaled(scale, vocabulary)?;
        let (numbers, unseen) = numbers(&names, &vocabulary.labels, &unknown);
        let number = |label: &u32| numbers.get(*label as usize).copied().unwrap_or(UNLABELLED);
        let labels = (0..trees.len()).map(|tree| trees.labels[trees.range(tree)].iter().map(number).collect());
        let labels: Vec<Vec<u32>> = labels.collect();
        let is_unseen = |label: &&u32| **label != UNLABELLED && **label as usize >= vocabulary.labels.len();
        let count = labels.iter().flatten().filter(is_unseen).count();
        let (inputs, cut) = shaped(trees, inputs, &labels, &vocabulary.types)?;
        warnings.extend(unseen_labels(count, "node"));
        warnings.extend(bare(&labels, ("trees", "node")).filter(|_| is_training));
        let noun = if cut == 1 { "edge has" } else { "edges have" };
        let text = || format!("{cut} {noun} a type that training never saw: left out");
        warnings.extend((cut > 0).then(text));
        vocabulary.unseen = unseen;
        let labels = labels.into_iter().map(Labelling::new).collect();
        Ok(Reading { inputs, labels, vocabulary, fingerprint: data.fingerprint(), warnings })
    }
}

/// The trees that data are.
pub(super) fn trees_of(data: &Dataset) -> Result<&Trees, OpenError> {
    let found = data.describe();
    data.get::<Trees>().ok_or_else(|| OpenError::new(format!("task `tree` reads trees, found {found}")))
}

/// The error about a tree, with its place.
pub(super) fn fault(trees: &Trees, tree: usize, fault: &TreeFault) -> OpenError {
    let node = if let TreePlace::Node(node) = fault.place { Some(node) } else { None };
    match trees.origin(tree, node.unwrap_or_default()) {
        Some((file, line, column)) => DataError::at(file, line, node.map_or(1, |_| column), fault.to_string()).into(),
        None => OpenError::new(format!("X[{tree}]: {fault}")),
    }
}

/// Refuses trees of several roots.
pub(super) fn one_root(trees: &Trees) -> Result<(), OpenError> {
    for tree in (0..trees.len()).filter(|&tree| trees.has_parents(tree)) {
        let mut roots = trees.roots(tree);
        if let (Some(first), Some(second)) = (roots.next(), roots.next()) {
            return Err(fault(trees, tree, &TreeFault::second_root(first, second)));
        }
    }
    Ok(())
}

/// Rows with their trees. Edges of unknown types are left out: they would add nothing to any score; how many there are
/// is returned.
fn shaped(
    trees: &Trees,
    rows: Vec<SparseRows>,
    labels: &[Vec<u32>],
    known: &[String],
) -> Result<(Vec<TreeInput>, usize), OpenError> {
    let number = |name: &str| known.iter().position(|known| known == name).map(|number| number as u32);
    let numbers: Vec<Option<u32>> = trees.type_names.iter().map(number).collect();
    let mut cut = 0;
    let input = |(tree, rows): (usize, SparseRows)| {
        let range = trees.range(tree);
        let types = trees.types[range.clone()].iter().map(|&name| numbers[name as usize]);
        let edges = trees.parents[range].iter().zip(types).map(|(&parent, of)| match of {
            Some(of) => (parent, of),
            None => {
                cut += usize::from(parent != ROOT);
                (ROOT, 0)
            }
        });
        let (parents, types): (Vec<u32>, Vec<u32>) = edges.unzip();
        let mut input = TreeInput::new(rows, &parents, types)?;
        input.take_truth(&labels[tree])?;
        Ok(input)
    };
    let inputs = rows.into_iter().enumerate().map(input).collect::<Result<_, InferError>>();
    Ok((inputs.map_err(|error| OpenError::new(error.to_string()))?, cut))
}

/// The vocabulary of a model, if its parts fit together.
fn known_vocabulary(vocabulary: &Vocabulary) -> Result<TreeVocabulary, OpenError> {
    let vocabulary: TreeVocabulary = vocabulary.read()?;
    let sound = !vocabulary.labels.is_empty()
        && !vocabulary.types.is_empty()
        && vocabulary.labels == sorted(vocabulary.labels.iter().cloned())
        && vocabulary.types.is_sorted_by(|a, b| a < b);
    if !sound {
        return Err(OpenError::new("the model has no labels or no types of edges, or they are not in ascending order"));
    }
    check_size(&vocabulary.labels, &vocabulary.types, vocabulary.features)?;
    Ok(vocabulary)
}

/// Refuses dimensions for which w would not fit, pairs of labels included, and names that are no names.
fn check_size(labels: &[String], types: &[String], features: usize) -> Result<(), OpenError> {
    check_dim(features, labels.len())?;
    let count = labels.len();
    let pairs = count.checked_mul(count).and_then(|pairs| pairs.checked_mul(types.len()));
    if pairs.and_then(|pairs| pairs.checked_add(count * features)).is_none_or(|dim| dim > MAX_DIM) {
        return Err(OpenError::new(format!(
            "{count} labels and {} types of edges need more weights for pairs than {} GiB hold",
            types.len(),
            MAX_DIM / (1 << 27)
        )));
    }
    let bytes: usize = labels.iter().chain(types).map(String::len).sum();
    if bytes > MAX_LABEL_BYTES {
        return Err(OpenError::new(format!(
            "the names of labels and types have {bytes} bytes, expected at most {MAX_LABEL_BYTES}"
        )));
    }
    Ok(())
}

/// The vocabulary of training data.
fn learn(trees: &Trees, bias: bool) -> Result<TreeVocabulary, OpenError> {
    let distinct = |numbers: &mut dyn Iterator<Item = u32>, names: &Strings| {
        let mut there = vec![false; names.len()];
        numbers.for_each(|number| there[number as usize] = true);
        names.iter().zip(there).filter(|(_, there)| *there).map(|(name, _)| name.to_owned()).collect::<Vec<String>>()
    };
    let mut known = trees.labels.iter().copied().filter(|label| *label != Trees::NO_LABEL);
    let labels = sorted(distinct(&mut known, &trees.names).into_iter());
    if labels.is_empty() {
        return Err(OpenError::new("no node has a label: there is nothing to learn from"));
    }
    let edges = trees.types.iter().zip(&trees.parents).filter(|(_, parent)| **parent != ROOT);
    let mut types = distinct(&mut edges.map(|(&of, _)| of), &trees.type_names);
    types.sort_unstable();
    if types.is_empty() {
        types.push(String::new()); // so that w has the same parts
    }
    let dictionary = trees.is_named().then(|| dictionary(trees)).transpose()?;
    let columns = dictionary.as_ref().map_or(trees.rows.columns(), |names| names.len());
    let features = columns + usize::from(bias);
    check_size(&labels, &types, features)?;
    let space = FeatureSpace { dictionary, ..FeatureSpace::default() };
    let label_kinds = LabelKind::of_texts(&labels); // the format takes no others
    Ok(TreeVocabulary { labels, label_kinds, types, features, space, ..TreeVocabulary::default() })
}

/// The names of all features that some node has, in the order of first appearance.
pub(super) fn dictionary(trees: &Trees) -> Result<Arc<Strings>, OpenError> {
    let mut there = vec![false; trees.columns.len()];
    for node in 0..trees.rows.len() {
        trees.rows.row(node).indices.iter().for_each(|&column| there[column as usize] = true);
    }
    let mut names = Strings::new();
    trees.columns.iter().zip(there).filter(|(_, there)| *there).for_each(|(name, _)| {
        names.intern(name);
    });
    let bytes = names.bytes().len() + 8 * names.len();
    if bytes > MAX_DICTIONARY_BYTES {
        return Err(OpenError::new(format!(
            "the names of the features take {bytes} bytes, expected at most {MAX_DICTIONARY_BYTES}"
        )));
    }
    Ok(Arc::new(names))
}

/// The features of every tree, by the numbers of the vocabulary; labels are left to the caller.
pub(super) fn rows(
    trees: &Trees,
    bias: bool,
    vocabulary: TreeVocabulary,
    used: bool,
) -> Result<Reading<SparseRows, Vec<u32>, TreeVocabulary>, OpenError> {
    let features = vocabulary.features;
    if vocabulary.space.dictionary.as_ref().is_some_and(|names| names.len() + usize::from(bias) != features) {
        return Err(OpenError::new("the names and the number of the features of the model do not fit together"));
    }
    let of_tree = |rows: &SparseRows, tree: usize| cut_rows(rows, trees.range(tree), features, bias);
    let (inputs, warning) = match &vocabulary.space.dictionary {
        None if trees.is_named() => {
            return Err(OpenError::new("the model was trained on lists of features, found features by name"));
        }
        None => {
            let inputs = (0..trees.len()).map(|tree| of_tree(&trees.rows, tree)).collect();
            (inputs, unseen_features(trees.rows.columns(), features, bias).filter(|_| used))
        }
        Some(_) if !trees.is_named() && trees.rows.columns() > 0 => {
            return Err(OpenError::new("the model was trained on features by name, found lists of features"));
        }
        Some(names) => {
            let (all, unknown) = renumbered(trees, names);
            let noun = if unknown == 1 { "feature was" } else { "features were" };
            let text = || format!("{unknown} {noun} never seen in training: ignored");
            ((0..trees.len()).map(|tree| of_tree(&all, tree)).collect(), (unknown > 0 && used).then(text))
        }
    };
    let warnings = warning.into_iter().collect();
    Ok(Reading { inputs, labels: Vec::new(), vocabulary, fingerprint: String::new(), warnings })
}

/// The rows by the numbers that names have in a dictionary, and the number of distinct features that it lacks.
fn renumbered(trees: &Trees, names: &Strings) -> (SparseRows, usize) {
    let numbers: Vec<Option<u32>> = trees.columns.iter().map(|name| names.find(name)).collect();
    let mut unknown = vec![false; numbers.len()];
    let mut rows = SparseRows::new(names.len());
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for node in 0..trees.rows.len() {
        entries.clear();
        for (column, value) in trees.rows.row(node).iter() {
            match numbers[column as usize] {
                Some(number) => entries.push((number, value)),
                None => unknown[column as usize] = true,
            }
        }
        entries.sort_unstable_by_key(|&(number, _)| number);
        let (indices, values): (Vec<u32>, Vec<f64>) = entries.iter().copied().unzip();
        rows.push(&indices, &values);
    }
    (rows, unknown.into_iter().filter(|unknown| *unknown).count())
}
