//! Sentences made ready for the task: features by number, parents as heads.

use multiplane_core::parameter::require;
use multiplane_infer::score_tree::ROOT;

use super::input::Sentence;
use super::layout::{ArborescenceTask, UNKNOWN};
use super::spec::{ArborescenceSpec, RootChildren};
use crate::builtin::reading::Reading;
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::tree::reading::{TreeVocabulary, dictionary, fault, one_root, rows, trees_of};
use crate::data::Trees;
use crate::data::trees::TreeFault;
use crate::dataset::Dataset;
use crate::problem::{FeatureSpace, MAX_DIM, OpenError, Vocabulary, check_dim};

/// Most words of a sentence: it takes tables of words times words numbers, some of them for as long as a run lasts.
const MOST_WORDS: usize = 4096;

/// Reads `data`; with a vocabulary (that of a model) features that it lacks get one warning, and parents may be
/// missing.
///
/// # Errors
///
/// The data are no trees, have several roots where one is demanded, lack parents in training, are longer than sentences
/// get, do not fit the model, or need more weights than there may be; distances that do not ascend.
pub(super) fn read(
    spec: &ArborescenceSpec,
    data: &Dataset,
    (bias, scale): (bool, ScaleSpec),
    vocabulary: Option<&Vocabulary>,
) -> Result<Reading<Sentence, Vec<u32>, TreeVocabulary>, OpenError> {
    let ascending = spec.distances.is_sorted_by(|a, b| a < b) && spec.distances.first().is_none_or(|first| *first > 0);
    let shown = || format!("{:?}", spec.distances);
    require(ascending, "structure.distances", shown(), "must be whole numbers from 1, in ascending order")?;
    let trees = trees_of(data)?;
    if spec.root == RootChildren::Single {
        one_root(trees)?;
    }
    if let Some(tree) = (0..trees.len()).find(|&tree| trees.range(tree).len() > MOST_WORDS) {
        let message = format!("found {} words, expected at most {MOST_WORDS} in a sentence", trees.range(tree).len());
        return Err(fault(trees, tree, &TreeFault::tree(message)));
    }
    let unknown = (0..trees.len()).find(|&tree| !trees.has_parents(tree));
    if let (Some(tree), None) = (unknown, vocabulary) {
        let nodes = trees.range(tree).len();
        let message = format!("found {nodes} nodes without any parent, expected the parents of training data");
        return Err(fault(trees, tree, &TreeFault::tree(message)));
    }
    let known = match vocabulary {
        Some(vocabulary) => {
            let known: TreeVocabulary = vocabulary.read()?;
            check_size(spec, known.features)?;
            known
        }
        None => learn(spec, trees, bias)?,
    };
    let rows = rows(trees, bias, known, vocabulary.is_some())?;
    let Reading { inputs, vocabulary, warnings, .. } = rows.scaled(scale, vocabulary)?;
    let head = |&parent: &u32| if parent == ROOT { 0 } else { parent + 1 };
    let heads = |tree: usize| match trees.has_parents(tree) {
        true => trees.parents[trees.range(tree)].iter().map(head).collect(),
        false => vec![UNKNOWN; trees.range(tree).len()],
    };
    let labels = (0..trees.len()).map(heads).collect();
    let inputs = inputs.into_iter().map(Sentence::new).collect();
    Ok(Reading { inputs, labels, vocabulary, fingerprint: data.fingerprint(), warnings })
}

/// Refuses dimensions for which w would not fit.
fn check_size(spec: &ArborescenceSpec, features: usize) -> Result<(), OpenError> {
    check_dim(features, 1)?;
    let weights = ArborescenceTask::weights(features, spec.distances.len());
    if weights.is_none_or(|weights| weights > MAX_DIM) {
        return Err(OpenError::new(format!(
            "{features} features of words make more pairs of features than the {MAX_DIM} weights there may be: leave out \
             rare ones, as names of words that come once"
        )));
    }
    Ok(())
}

/// The vocabulary of training data: features alone.
fn learn(spec: &ArborescenceSpec, trees: &Trees, bias: bool) -> Result<TreeVocabulary, OpenError> {
    let dictionary = trees.is_named().then(|| dictionary(trees)).transpose()?;
    let columns = dictionary.as_ref().map_or(trees.rows.columns(), |names| names.len());
    let features = columns + usize::from(bias);
    check_size(spec, features)?;
    let space = FeatureSpace { dictionary, ..FeatureSpace::default() };
    Ok(TreeVocabulary { features, space, ..TreeVocabulary::default() })
}
