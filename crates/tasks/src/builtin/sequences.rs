//! Sequences of rows with labels, from letters, columns of text or tagged rows: what `chain` and other tasks on
//! sequences read.

use std::sync::Arc;

use multiplane_core::parameter::require;
use serde::{Deserialize, Serialize};

use crate::builtin::kernelized::{KernelFacts, KernelVocabulary};
use crate::builtin::pairwise::{Labelling, UNLABELLED, bare};
use crate::builtin::reading::Reading;
use crate::builtin::unused_columns::{KnownColumns, UsedColumns, is_zero};
use crate::builtin::vocabulary_match::{cut_rows, unseen_labels};
use crate::data::{Columns, SparseRows, Strings, Tagged, Words};
use crate::dataset::Dataset;
use crate::kernel::Kernel;
use crate::problem::{
    FeatureSpace, LabelKind, MAX_DICTIONARY_BYTES, MAX_DIM, OpenError, TaskVocabulary, Vocabulary, check_dim,
};
use crate::text::{Features, Template, TemplateList};

/// Most bytes that all label names together may have: they go into a model's header.
pub(super) const MAX_LABEL_BYTES: usize = 1 << 19;

/// The facts that a task on sequences remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SequenceVocabulary {
    /// Names of the labels: whole numbers by value, other names in alphabetical order.
    pub labels: Vec<String>,
    /// Features of a position, a bias feature included.
    pub features: usize,
    /// Columns of the text, the label's among them; 0 where features are not made of text, or a model does not say.
    #[serde(skip_serializing_if = "is_zero")]
    pub columns: usize,
    /// How features are made of text, where they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub template: Vec<String>,
    /// Columns of the training data where w has weights only for those that some example has, whose numbers are the
    /// names of the features then; 0 where it has weights for all.
    #[serde(skip_serializing_if = "is_zero")]
    pub width: usize,
    /// Facts of the features: their names, what they were divided by, the rows of a kernel.
    #[serde(skip)]
    pub space: FeatureSpace,
    /// Labels of this data that training never saw, numbered after the others; no model holds them.
    #[serde(skip)]
    pub unseen: Vec<String>,
    /// Names of labels that stand for one that is not known; see [`Vocabulary::unknown`].
    #[serde(skip)]
    pub unknown: Vec<String>,
    /// Kinds of the labels of training data, if their names do not say them.
    #[serde(skip)]
    pub label_kinds: Vec<LabelKind>,
    /// The kernel, its gamma a number, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
}

impl TaskVocabulary for SequenceVocabulary {
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        Some(&mut self.space)
    }

    fn label_kinds(&self) -> &[LabelKind] {
        &self.label_kinds
    }

    fn has_numbers(&self) -> bool {
        self.width > 0 || self.space.dictionary.is_none()
    }
}

impl KernelVocabulary for SequenceVocabulary {
    fn of_kernel(&mut self) -> KernelFacts<'_> {
        KernelFacts { features: self.features, width: self.width, kernel: &mut self.kernel, space: &mut self.space }
    }
}

impl SequenceVocabulary {
    /// Labels and a number of features, which have no names.
    fn new(labels: Vec<String>, features: usize) -> Self {
        SequenceVocabulary { labels, features, ..SequenceVocabulary::default() }
    }

    /// Returns the name of a label; `?` for one that training never saw.
    pub fn label(&self, label: u32) -> &str {
        self.labels.get(label as usize).map_or("?", String::as_str)
    }
}

/// How sequences are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceOptions<'a> {
    /// Adds a feature that is always 1.
    pub bias: bool,
    /// How features are made of text.
    pub template: Option<&'a TemplateList>,
    /// Features of text that fewer tokens have are left out.
    pub min_count: u32,
}

/// Sequences made ready.
pub type Sequences = Reading<SparseRows, Labelling, SequenceVocabulary>;

impl Sequences {
    /// Reads `data` for `task`; with a vocabulary (that of a model) labels and features that it lacks get one warning
    /// each.
    ///
    /// # Errors
    ///
    /// The data are no sequences, do not fit the options or the model, or need more weights than there may be.
    pub fn read(
        task: &str,
        data: &Dataset,
        options: &SequenceOptions<'_>,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Self, OpenError> {
        let known = vocabulary.map(|vocabulary| known_vocabulary(options, vocabulary)).transpose()?;
        let found = data.describe();
        let kind = Made::of_data(data);
        if let (Some(known), Some(none)) = (&known, data.get::<Tagged>().filter(|tagged| tagged.tags.is_empty())) {
            let inputs = vec![SparseRows::new(known.features); none.len()];
            let sequences = sequences(inputs, vec![Vec::new(); none.len()], &[], known.clone(), None);
            return Ok(Sequences { fingerprint: data.fingerprint(), ..sequences });
        }
        if kind != Made::Text && options.template.is_some() {
            return Err(OpenError::new(format!("task.template is for columns of text (conll, jsonl), found {found}")));
        }
        if kind == Made::Numbers && options.min_count != 1 {
            return Err(OpenError::new(format!(
                "task.min_count is for columns of text (conll, jsonl) or attributes, found {found}"
            )));
        }
        if let Some(trained) = known.as_ref().map(Made::of_model).filter(|trained| *trained != kind) {
            let trained = trained.describe();
            return Err(OpenError::new(format!("the model was trained on {trained}, found {found}")));
        }
        let mut sequences = if let Some(words) = data.get::<Words>() {
            letters(options, words, known)?
        } else if let Some((tagged, names)) =
            data.get::<Tagged>().and_then(|data| Some((data, data.attributes.as_ref()?)))
        {
            attributes(options, tagged, names, known)?
        } else if let Some(tagged) = data.get::<Tagged>() {
            tagged_rows(options, tagged, known)?
        } else if let Some(columns) = data.get::<Columns>() {
            text(options, columns, known)?
        } else {
            return Err(OpenError::new(format!(
                "task `{task}` reads letter (letter.data), conll, conllu, hmm, crfsuite or jsonl, found {found}"
            )));
        };
        sequences.fingerprint = data.fingerprint();
        if vocabulary.is_some() {
            return Ok(sequences);
        }
        if sequences.vocabulary.labels.is_empty() {
            return Err(OpenError::new("no token has a label: there is nothing to learn from"));
        }
        let of_rows = data.get().is_some_and(|data: &Tagged| data.text_labels);
        if of_rows || data.get().is_some_and(|data: &Columns| data.text_labels) {
            sequences.vocabulary.label_kinds = LabelKind::of_texts(&sequences.vocabulary.labels);
        }
        sequences.warnings.extend(bare(&sequences.labels, ("sequences", "token")));
        Ok(sequences)
    }
}

/// The origin of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Numbers,
    Text,
    Attributes,
}

impl Made {
    fn of_data(data: &Dataset) -> Made {
        let named = data.get::<Tagged>().is_some_and(|data| data.attributes.is_some());
        match (data.get::<Columns>().is_some(), named) {
            (true, _) => Made::Text,
            (_, true) => Made::Attributes,
            _ => Made::Numbers,
        }
    }

    fn of_model(known: &SequenceVocabulary) -> Made {
        match (&known.space.dictionary, known.template.is_empty()) {
            _ if known.width > 0 => Made::Numbers,
            (None, _) => Made::Numbers,
            (Some(_), false) => Made::Text,
            (Some(_), true) => Made::Attributes,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Made::Numbers => "letters or tagged rows",
            Made::Text => "columns of text (conll, jsonl)",
            Made::Attributes => "attributes (crfsuite, jsonl)",
        }
    }
}

/// The vocabulary of a model, if its parts fit together.
fn known_vocabulary(options: &SequenceOptions<'_>, vocabulary: &Vocabulary) -> Result<SequenceVocabulary, OpenError> {
    let unknown = vocabulary.unknown_names();
    let vocabulary = SequenceVocabulary { unknown, ..vocabulary.read()? };
    let named = vocabulary.space.dictionary.as_ref().map_or(0, |names| names.len() + usize::from(options.bias));
    let sound = !vocabulary.labels.is_empty()
        && vocabulary.labels == sorted(vocabulary.labels.iter().cloned())
        && vocabulary.features >= usize::from(options.bias)
        && (vocabulary.space.dictionary.is_some() || vocabulary.template.is_empty())
        && (vocabulary.space.dictionary.is_none() || named == vocabulary.features);
    if !sound {
        return Err(OpenError::new("the labels, templates and features of the model do not fit together"));
    }
    check_size(&vocabulary.labels, vocabulary.features)?;
    Ok(vocabulary)
}

/// Refuses dimensions for which w would not fit, pairs of labels included, and names that a header cannot hold.
fn check_size(labels: &[String], features: usize) -> Result<(), OpenError> {
    check_dim(features, labels.len())?;
    let count = labels.len();
    if count.checked_mul(features + count + 2).is_none_or(|dim| dim > MAX_DIM) {
        return Err(OpenError::new(format!(
            "{count} labels need {count} x {count} weights for pairs, expected at most {} GiB of weights in all",
            MAX_DIM / (1 << 27)
        )));
    }
    let bytes: usize = labels.iter().map(String::len).sum();
    if bytes > MAX_LABEL_BYTES {
        return Err(OpenError::new(format!(
            "the names of the {count} labels have {bytes} bytes, expected at most {MAX_LABEL_BYTES}: is the last column the label?"
        )));
    }
    Ok(())
}

/// The labels of training in order: by value where all are whole numbers, else by name.
pub(super) fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    let value = |name: &String| name.parse::<i64>().ok();
    if names.iter().all(|name| value(name).is_some()) {
        names.sort_by_key(|name| (value(name), name.clone()));
    } else {
        names.sort_unstable();
    }
    names
}

/// Numbers of the labels called `names`: those of `known`, then those of unseen ones, which are returned too;
/// [`UNLABELLED`] for `unknown` ones.
pub(super) fn numbers(names: &[String], known: &[String], unknown: &[String]) -> (Vec<u32>, Vec<String>) {
    let mut unseen = Vec::new();
    let mut index = Strings::new();
    for name in known {
        index.intern(name);
    }
    let number = |name: &String| match index.find(name) {
        Some(number) => number,
        None if unknown.contains(name) => UNLABELLED,
        None => {
            unseen.push(name.clone());
            (known.len() + unseen.len() - 1) as u32
        }
    };
    (names.iter().map(number).collect(), unseen)
}

/// Puts sequences together; `labels` are numbers of `names`, or [`UNLABELLED`].
fn sequences(
    inputs: Vec<SparseRows>,
    mut labels: Vec<Vec<u32>>,
    names: &[String],
    mut vocabulary: SequenceVocabulary,
    about_features: Option<String>,
) -> Sequences {
    let (numbers, unseen) = numbers(names, &vocabulary.labels, &vocabulary.unknown);
    let given = |label: &&mut u32| **label != UNLABELLED;
    labels.iter_mut().flatten().filter(given).for_each(|label| *label = numbers[*label as usize]);
    let known = vocabulary.labels.len();
    let count = labels.iter().flatten().filter(|&&label| label != UNLABELLED && label as usize >= known).count();
    let warnings = unseen_labels(count, "token").into_iter().chain(about_features).collect();
    vocabulary.unseen = unseen;
    let labels = labels.into_iter().map(Labelling::new).collect();
    Reading { inputs, labels, vocabulary, fingerprint: String::new(), warnings }
}

/// Each word as rows of pixels and its letters; all of a to z are labels, whether or not they occur.
fn letters(
    options: &SequenceOptions<'_>,
    words: &Words,
    vocabulary: Option<SequenceVocabulary>,
) -> Result<Sequences, OpenError> {
    let found = words.pixels.columns() + usize::from(options.bias);
    let names: Vec<String> = (b'a'..=b'z').map(|letter| char::from(letter).to_string()).collect();
    let vocabulary = match vocabulary {
        Some(vocabulary) if vocabulary.features != found => {
            return Err(OpenError::new(format!(
                "the model was trained on letters of {} pixels, these have {}",
                vocabulary.features - usize::from(options.bias),
                words.pixels.columns()
            )));
        }
        Some(vocabulary) => vocabulary,
        None => {
            check_size(&names, found)?;
            SequenceVocabulary::new(names.clone(), found)
        }
    };
    let inputs = (0..words.len()).map(|word| cut_rows(&words.pixels, words.range(word), found, options.bias)).collect();
    let of_word = |word: usize| words.letters[words.range(word)].iter().map(|&letter| u32::from(letter)).collect();
    let labels = (0..words.len()).map(of_word).collect();
    Ok(sequences(inputs, labels, &names, vocabulary, None))
}

/// Tagged rows as they are, cut to the features of the vocabulary.
fn tagged_rows(
    options: &SequenceOptions<'_>,
    data: &Tagged,
    vocabulary: Option<SequenceVocabulary>,
) -> Result<Sequences, OpenError> {
    let names: Vec<String> = data.names.iter().map(str::to_owned).collect();
    let vocabulary = match vocabulary {
        Some(vocabulary) => vocabulary,
        None => {
            let labels = sorted(names.iter().cloned());
            let used = UsedColumns::learn(&data.rows, labels.len());
            let features = used.as_ref().map_or(data.rows.columns(), UsedColumns::len) + usize::from(options.bias);
            check_size(&labels, features)?;
            let width = used.as_ref().map_or(0, |_| data.rows.columns());
            let dictionary = used.map(|used| Arc::new(used.names()));
            let space = FeatureSpace { dictionary, ..FeatureSpace::default() };
            SequenceVocabulary { width, space, ..SequenceVocabulary::new(labels, features) }
        }
    };
    let columns =
        KnownColumns::new(vocabulary.width, vocabulary.space.dictionary.as_deref(), vocabulary.features, options.bias)?;
    let warning = columns.unseen(&data.rows);
    let inputs = (0..data.len()).map(|i| columns.cut(&data.rows, data.range(i))).collect();
    Ok(sequences(inputs, tags(data), &names, vocabulary, warning))
}

/// The tags of all sequences, by number.
fn tags(data: &Tagged) -> Vec<Vec<u32>> {
    let number = |&tag: &u32| if tag == Tagged::NO_TAG { UNLABELLED } else { tag };
    (0..data.len()).map(|i| data.tags[data.range(i)].iter().map(number).collect()).collect()
}

/// Rows of attributes by way of the dictionary.
fn attributes(
    options: &SequenceOptions<'_>,
    data: &Tagged,
    names: &Strings,
    vocabulary: Option<SequenceVocabulary>,
) -> Result<Sequences, OpenError> {
    let labels: Vec<String> = data.names.iter().map(str::to_owned).collect();
    let fresh = vocabulary.is_none();
    let vocabulary = match vocabulary {
        Some(vocabulary) => vocabulary,
        None => {
            require(options.min_count > 0, "min_count", options.min_count, "must be at least 1")?;
            let mut counts = vec![0u32; names.len()];
            let entries = (0..data.rows.len()).flat_map(|token| data.rows.row(token).indices);
            entries.for_each(|&attribute| counts[attribute as usize] = counts[attribute as usize].saturating_add(1));
            let mut dictionary = Strings::new();
            for (name, _) in names.iter().zip(&counts).filter(|(_, count)| **count >= options.min_count) {
                dictionary.intern(name);
            }
            let labels = sorted(labels.iter().cloned());
            with_dictionary(dictionary.into(), labels, options, SequenceVocabulary::default())?
        }
    };
    let dictionary = vocabulary.space.dictionary.clone().unwrap_or_default();
    let places: Vec<Option<u32>> = names.iter().map(|name| dictionary.find(name)).collect();
    let mut inputs = Vec::with_capacity(data.len());
    let mut row = Vec::new();
    for sequence in 0..data.len() {
        let mut rows = SparseRows::new(vocabulary.features);
        for token in data.range(sequence) {
            row.clear();
            let known = data.rows.row(token).iter().filter_map(|(k, value)| Some((places[k as usize]?, value)));
            row.extend(known);
            row.sort_unstable_by_key(|(place, _)| *place);
            row.extend(options.bias.then_some((dictionary.len() as u32, 1.0)));
            let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().copied().unzip();
            rows.push(&indices, &values);
        }
        inputs.push(rows);
    }
    let unknown = places.iter().filter(|place| place.is_none()).count();
    let warning = unknown_features(if fresh { 0 } else { unknown }, options);
    Ok(sequences(inputs, tags(data), &labels, vocabulary, warning))
}

/// The warning about features with names that the model lacks.
fn unknown_features(unknown: usize, options: &SequenceOptions<'_>) -> Option<String> {
    let noun = if unknown == 1 { "feature was" } else { "features were" };
    let seen = match options.min_count {
        1 => "never seen in training".to_owned(),
        count => format!("seen in training fewer than {count} times or never"),
    };
    (unknown > 0).then(|| format!("{unknown} {noun} {seen}: ignored"))
}

/// Text by way of templates and the dictionary.
fn text(
    options: &SequenceOptions<'_>,
    data: &Columns,
    vocabulary: Option<SequenceVocabulary>,
) -> Result<Sequences, OpenError> {
    let unlabelled = match data.labelled() {
        Some(labelled) => !labelled,
        None => vocabulary.as_ref().is_some_and(|known| lacks_labels(known, data)),
    };
    let width = data.width() + usize::from(unlabelled);
    let label_column = width - 1;
    let mut name_of = vec![u32::MAX; data.strings().len()]; // of a string, among the labels
    let mut names = Vec::new();
    let mut labels = Vec::with_capacity(data.len());
    for sentence in 0..data.len() {
        let tokens = data.range(sentence).map(|token| {
            if unlabelled || data.text(token, label_column).is_empty() {
                return UNLABELLED;
            }
            let name = &mut name_of[data.cell(token, label_column) as usize];
            if *name == u32::MAX {
                *name = names.len() as u32;
                names.push(data.text(token, label_column).to_owned());
            }
            *name
        });
        labels.push(tokens.collect());
    }
    let fresh = vocabulary.is_none();
    let template = match &vocabulary {
        Some(vocabulary) => Template::of(&vocabulary.template, width)?,
        None => Template::new(options.template, width)?,
    };
    let features = Features::new(&template, data);
    let vocabulary = match vocabulary {
        Some(vocabulary) => vocabulary,
        None => {
            require(options.min_count > 0, "min_count", options.min_count, "must be at least 1")?;
            let (columns, template) = (data.width(), template.names());
            let made = SequenceVocabulary { columns, template, ..SequenceVocabulary::default() };
            with_dictionary(features.frequent(options.min_count), sorted(names.iter().cloned()), options, made)?
        }
    };
    let dictionary = vocabulary.space.dictionary.clone().unwrap_or_default();
    let (sentences, unknown) = features.rows(data, &dictionary, options.bias);
    let warning = unknown_features(if fresh { 0 } else { unknown }, options);
    Ok(sequences(sentences, labels, &names, vocabulary, warning))
}

/// Returns if text lacks the column of the labels: it has one column fewer than that of training or, of a model that
/// does not say how many that were, fewer than its templates need beside a label.
fn lacks_labels(known: &SequenceVocabulary, data: &Columns) -> bool {
    let fits = |width: usize| Template::of(&known.template, width).is_ok();
    match known.columns {
        0 => !fits(data.width()) && fits(data.width() + 1),
        columns => data.width() + 1 == columns,
    }
}

/// A vocabulary with names of features.
fn with_dictionary(
    dictionary: Arc<Strings>,
    labels: Vec<String>,
    options: &SequenceOptions<'_>,
    made: SequenceVocabulary,
) -> Result<SequenceVocabulary, OpenError> {
    let features = dictionary.len() + usize::from(options.bias);
    check_size(&labels, features)?;
    let bytes = dictionary.bytes().len() + 8 * dictionary.len();
    if bytes > MAX_DICTIONARY_BYTES {
        return Err(OpenError::new(format!(
            "the names of the features take {bytes} bytes, expected at most {MAX_DICTIONARY_BYTES}: use fewer templates or a higher task.min_count"
        )));
    }
    let space = FeatureSpace { dictionary: Some(dictionary), ..FeatureSpace::default() };
    Ok(SequenceVocabulary { labels, features, space, ..made })
}
