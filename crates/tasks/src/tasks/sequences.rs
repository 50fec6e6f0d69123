//! What the chain reads: letters, columns of text or tagged rows, turned into sequences of rows with labels.

use std::sync::Arc;

use multiplane_core::example::Examples;

use crate::data::{Columns, SparseRows, Strings, Tagged, Words};
use crate::dataset::Dataset;
use crate::problem::{MAX_DIM, OpenError, Vocabulary, check_dim};
use crate::tasks::chain::ChainSpec;
use crate::text::{Template, build, look_up};

/// Most bytes that all label names together may have: they go into a model's header.
const MAX_LABEL_BYTES: usize = 1 << 19;

/// Most bytes that a dictionary may have.
pub const MAX_DICTIONARY_BYTES: usize = 1 << 30;

/// Sequences made ready.
pub(super) struct Sequences {
    pub(super) examples: Examples<SparseRows, Vec<u32>>,
    pub(super) vocabulary: Vocabulary,
    /// Labels that the vocabulary lacks, numbered after its own.
    pub(super) unseen: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Reads `data`; with a vocabulary (that of a model) labels and features that it lacks get one warning each.
pub(super) fn open(spec: &ChainSpec, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Sequences, OpenError> {
    if let Some(vocabulary) = vocabulary {
        check_vocabulary(spec, vocabulary)?;
    }
    if matches!(data, Dataset::Columns(_)) {
        if vocabulary.is_some_and(|vocabulary| vocabulary.dictionary.is_none()) {
            let found = data.describe();
            return Err(OpenError::new(format!("the model was trained on letters or tagged rows, found {found}")));
        }
    } else {
        let of_text = if spec.template.is_some() { "task.template" } else { "task.min_count" };
        if spec.template.is_some() || spec.min_count != 1 {
            return Err(OpenError::new(format!("{of_text} is for columns of text (conll), found {}", data.describe())));
        }
        if vocabulary.is_some_and(|vocabulary| vocabulary.dictionary.is_some()) {
            let found = data.describe();
            return Err(OpenError::new(format!("the model was trained on columns of text (conll), found {found}")));
        }
    }
    match data {
        Dataset::Words(words) => letters(spec, &words, vocabulary),
        Dataset::Tagged(tagged) => tagged_rows(spec, &tagged, vocabulary),
        Dataset::Columns(columns) => text(spec, &columns, vocabulary),
        Dataset::Classified(_) | Dataset::Opaque(_) => Err(OpenError::new(format!(
            "task `chain` reads letter (letter.data), conll or hmm, found {}",
            data.describe()
        ))),
    }
}

/// Whether the parts of a model's vocabulary fit together.
fn check_vocabulary(spec: &ChainSpec, vocabulary: &Vocabulary) -> Result<(), OpenError> {
    let named = vocabulary.dictionary.as_ref().map_or(0, |names| names.len() + usize::from(spec.bias));
    let sound = !vocabulary.labels.is_empty()
        && vocabulary.features >= usize::from(spec.bias)
        && vocabulary.dictionary.is_some() != vocabulary.template.is_empty()
        && (vocabulary.dictionary.is_none() || named == vocabulary.features);
    sound
        .then_some(())
        .ok_or_else(|| OpenError::new("the labels, templates and features of the model do not fit together".into()))
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
fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    let value = |name: &String| name.parse::<i64>().ok();
    if names.iter().all(|name| value(name).is_some()) {
        names.sort_by_key(|name| (value(name), name.clone()));
    } else {
        names.sort_unstable();
    }
    names
}

/// Numbers of the labels called `names`: those of `known`, then those of unseen ones, which are returned too.
fn numbers(names: &[String], known: &[String]) -> (Vec<u32>, Vec<String>) {
    let mut unseen = Vec::new();
    let mut index = Strings::new();
    for name in known {
        index.intern(name);
    }
    let number = |name: &String| {
        index.find(name).unwrap_or_else(|| {
            unseen.push(name.clone());
            (known.len() + unseen.len() - 1) as u32
        })
    };
    (names.iter().map(number).collect(), unseen)
}

/// Puts sequences together; `labels` are numbers of `names`.
fn sequences(
    inputs: Vec<SparseRows>,
    labels: Vec<Vec<u32>>,
    names: &[String],
    vocabulary: Vocabulary,
    mut warnings: Vec<String>,
) -> Sequences {
    let (numbers, unseen) = numbers(names, &vocabulary.labels);
    let mut labels = labels;
    labels.iter_mut().flatten().for_each(|label| *label = numbers[*label as usize]);
    let count = labels.iter().flatten().filter(|label| **label as usize >= vocabulary.labels.len()).count();
    if count > 0 {
        let noun = if count == 1 { "token has" } else { "tokens have" };
        warnings.insert(0, format!("{count} {noun} a label that training never saw: no answer can be right there"));
    }
    Sequences { examples: Examples { inputs, labels }, vocabulary, unseen, warnings }
}

/// Each word as rows of pixels and its letters; all of a to z are labels, whether or not they occur.
fn letters(spec: &ChainSpec, words: &Words, vocabulary: Option<&Vocabulary>) -> Result<Sequences, OpenError> {
    let found = words.pixels.columns() + usize::from(spec.bias);
    let names: Vec<String> = (b'a'..=b'z').map(|letter| char::from(letter).to_string()).collect();
    let vocabulary = match vocabulary {
        Some(vocabulary) if vocabulary.features != found => {
            return Err(OpenError::new(format!(
                "the model was trained on letters of {} pixels, these have {}",
                vocabulary.features - usize::from(spec.bias),
                words.pixels.columns()
            )));
        }
        Some(vocabulary) => vocabulary.clone(),
        None => {
            check_size(&names, found)?;
            Vocabulary::new(names.clone(), found)
        }
    };
    let inputs = (0..words.len()).map(|word| rows(&words.pixels, words.range(word), found, spec.bias)).collect();
    let of_word = |word: usize| words.letters[words.range(word)].iter().map(|&letter| u32::from(letter)).collect();
    let labels = (0..words.len()).map(of_word).collect();
    Ok(sequences(inputs, labels, &names, vocabulary, Vec::new()))
}

/// Tagged rows as they are, cut to the features of the vocabulary.
fn tagged_rows(spec: &ChainSpec, data: &Tagged, vocabulary: Option<&Vocabulary>) -> Result<Sequences, OpenError> {
    let names: Vec<String> = data.names.iter().map(str::to_owned).collect();
    let vocabulary = match vocabulary {
        Some(vocabulary) => vocabulary.clone(),
        None => {
            let labels = sorted(names.iter().cloned());
            let features = data.rows.columns() + usize::from(spec.bias);
            check_size(&labels, features)?;
            Vocabulary::new(labels, features)
        }
    };
    let known = vocabulary.features - usize::from(spec.bias);
    let mut warnings = Vec::new();
    if data.rows.columns() > known {
        let extra = data.rows.columns() - known;
        let (first, last) = (known + 1, known + extra);
        warnings.push(format!("features {first} to {last} ({extra} in all) were never seen in training: ignored"));
    }
    let features = vocabulary.features;
    let inputs = (0..data.len()).map(|i| rows(&data.rows, data.range(i), features, spec.bias)).collect();
    let labels = (0..data.len()).map(|i| data.tags[data.range(i)].to_vec()).collect();
    Ok(sequences(inputs, labels, &names, vocabulary, warnings))
}

/// Some rows alone, cut to `features` columns of which the last is the bias, where there is one.
fn rows(all: &SparseRows, range: std::ops::Range<usize>, features: usize, bias: bool) -> SparseRows {
    let mut rows = SparseRows::new(features);
    let known = features - usize::from(bias);
    for i in range {
        let (mut indices, mut values): (Vec<u32>, Vec<f64>) =
            all.row(i).iter().filter(|&(index, _)| (index as usize) < known).unzip();
        if bias {
            indices.push(known as u32);
            values.push(1.0);
        }
        rows.push(&indices, &values);
    }
    rows
}

/// Text by way of templates and the dictionary.
fn text(spec: &ChainSpec, data: &Columns, vocabulary: Option<&Vocabulary>) -> Result<Sequences, OpenError> {
    let label_column = data.width() - 1;
    let mut name_of = vec![u32::MAX; data.strings().len()]; // of a string, among the labels
    let mut names = Vec::new();
    let mut labels = Vec::with_capacity(data.len());
    for sentence in 0..data.len() {
        let tokens = data.range(sentence).map(|token| {
            let name = &mut name_of[data.cell(token, label_column) as usize];
            if *name == u32::MAX {
                *name = names.len() as u32;
                names.push(data.text(token, label_column).to_owned());
            }
            *name
        });
        labels.push(tokens.collect());
    }
    let (template, vocabulary, fresh) = match vocabulary {
        Some(vocabulary) => (Template::of(&vocabulary.template, data.width())?, vocabulary.clone(), false),
        None => {
            let template = Template::new(spec.template.as_ref(), data.width())?;
            (template.clone(), learn(spec, data, &template, sorted(names.iter().cloned()))?, true)
        }
    };
    let dictionary = vocabulary.dictionary.clone().unwrap_or_default();
    let features = look_up(&template, data, &dictionary, spec.bias);
    let mut warnings = Vec::new();
    if features.unknown > 0 && !fresh {
        let unknown = features.unknown;
        let noun = if unknown == 1 { "feature was" } else { "features were" };
        let seen = match spec.min_count {
            1 => "never seen in training".to_owned(),
            count => format!("seen in training fewer than {count} times or never"),
        };
        warnings.push(format!("{unknown} {noun} {seen}: ignored"));
    }
    Ok(sequences(features.sentences, labels, &names, vocabulary, warnings))
}

/// The vocabulary of training text.
fn learn(spec: &ChainSpec, data: &Columns, template: &Template, labels: Vec<String>) -> Result<Vocabulary, OpenError> {
    if spec.min_count == 0 {
        return Err(OpenError::new("task.min_count = 0: must be at least 1".into()));
    }
    let dictionary = build(template, data, spec.min_count);
    let features = dictionary.len() + usize::from(spec.bias);
    check_size(&labels, features)?;
    let bytes = dictionary.bytes().len() + 8 * dictionary.len();
    if bytes > MAX_DICTIONARY_BYTES {
        return Err(OpenError::new(format!(
            "the names of the features take {bytes} bytes, expected at most {MAX_DICTIONARY_BYTES}: use fewer templates or a higher task.min_count"
        )));
    }
    Ok(Vocabulary {
        labels,
        features,
        template: template.names(),
        dictionary: Some(Arc::new(dictionary)),
        memory: None,
    })
}
