//! CoNLL-U, the text of Universal Dependencies: ten columns divided by tabs, one word per line, comments with `#`, a
//! blank line after each sentence. Ranges of words (`1-2`) and empty nodes (`1.1`) are skipped.
//!
//! A sentence is columns of text (form, upos, xpos, lemma, feats, the label) and a tree. `data.label_column` says which
//! column is the label: it holds `_` in its own place. A label `_` is one that is not known, unless `data.underscore`
//! says that it is a label, as it is of feats and lemma, where it says that there is nothing, or is the lemma of `_`.

use super::columns::Columns;
use super::example_windows::{LinePlace, ReadExamples, format_by_lines};
use super::format::{FirstLine, FormatEntry};
use super::rules::ReadRules;
use super::text::Line;
use super::trees::{NodeFeatures, TreeParts, Trees};
use crate::dataset::{Data, Dataset};
use multiplane_infer::file::DataError;
use sha2::Sha256;
use std::path::PathBuf;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["conllu"],
    known_by: Some((8, is_word)),
    ..format_by_lines::<WordLines>(
        "conllu",
        "CoNLL-U: for chains columns form, upos, xpos, lemma, feats, of which data.label_column is the label (default \
         upos); for trees these as features, heads and relations",
    )
};

/// The columns of a word that are features: names, and their places among the fields.
const FEATURES: [(&str, usize); 5] = [("form", 1), ("upos", 3), ("xpos", 4), ("lemma", 2), ("feats", 5)];
const HEAD: usize = 6;
const RELATION: usize = 7;

/// Ten fields, the first a 1 (perhaps of a range), the fourth a part of speech, the seventh a head.
fn is_word(line: &FirstLine<'_>) -> bool {
    let fields: Vec<&str> = line.text.split('\t').collect();
    let is_tag = |tag: &str| tag == "_" || tag.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_head = |head: &str| head == "_" || head.parse::<u32>().is_ok();
    fields.len() == 10
        && matches!(fields[0].as_bytes(), [b'1'] | [b'1', b'-', ..])
        && is_tag(fields[3])
        && is_head(fields[HEAD])
        && fields[RELATION].parse::<f64>().is_err()
}

/// Sentences of a treebank, as sequences and as trees.
#[derive(Clone, Debug)]
pub struct Treebank {
    /// Columns of text.
    pub sentences: Dataset,
    /// The trees, or what is wrong with the first that is none.
    pub trees: Result<Dataset, DataError>,
}

impl Data for Treebank {
    fn len(&self) -> usize {
        self.sentences.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let trees = self.trees.as_ref().map(|trees| trees.subset(examples)).map_err(DataError::clone);
        Dataset::new(Treebank { sentences: self.sentences.subset(examples), trees })
    }
    fn describe(&self) -> &'static str {
        "a treebank (conllu)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        self.sentences.hash_into(sha);
        self.trees.iter().for_each(|trees| trees.hash_into(sha));
    }
}

/// The state of a reader between lines.
pub(super) struct WordLines {
    label: Option<String>,
    ignored: Vec<String>,
    /// If `_` is a label.
    underscore: bool,
    unlabelled: bool,
    file: PathBuf,
    /// Words of the sentence in hand.
    words: usize,
}

/// Sentences under way, with the tree in hand.
pub(super) struct Underway {
    columns: Columns,
    trees: Result<Trees, DataError>,
    tree: TreeParts,
    line: u64,
    fault: Option<DataError>,
}

impl WordLines {
    /// The place of the label among the fields, `None` if there is no such column; its name, or its number from 1.
    fn label_place(&self) -> Option<usize> {
        let Some(label) = &self.label else { return Some(3) };
        let named = |(name, place): &(&str, usize)| name == label || (place + 1).to_string() == *label;
        FEATURES.iter().chain(&[("deprel", RELATION)]).find(|column| named(column)).map(|(_, place)| *place)
    }

    /// The features of a word in order, `_` in the place of the label and of what is left out.
    fn features<'a>(&self, fields: &[&'a str]) -> impl Iterator<Item = (&'static str, &'a str)> {
        let label = self.label_place();
        FEATURES
            .map(|(name, place)| {
                let is_left_out = label == Some(place) || self.ignored.iter().any(|ignored| ignored == name);
                (name, if is_left_out { "_" } else { fields[place] })
            })
            .into_iter()
    }
}

impl ReadExamples for WordLines {
    type Of = Underway;

    const EXPECTED: &'static str = "lines of ten columns divided by tabs (CoNLL-U)";

    fn new(rules: &ReadRules) -> Self {
        let label = rules.label_column.as_ref().map(|column| column.0.as_str());
        WordLines {
            underscore: rules.underscore.unwrap_or(matches!(label, Some("feats" | "lemma" | "6" | "3"))),
            label: rules.label_column.as_ref().map(|column| column.0.clone()),
            ignored: rules.ignored.iter().map(|column| column.0.clone()).collect(),
            unlabelled: rules.unlabelled,
            file: PathBuf::new(),
            words: 0,
        }
    }

    fn begin(&self) -> Underway {
        Underway {
            columns: Columns::told(FEATURES.len() + 1, true),
            trees: Ok(Trees::new(Some(self.file.clone()))),
            tree: TreeParts::default(),
            line: 0,
            fault: None,
        }
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        if line.text.trim_ascii().is_empty() {
            self.words = 0;
            return Ok(LinePlace::Between);
        }
        if line.text.starts_with('#') {
            return Ok(LinePlace::Nowhere);
        }
        let columns = "form, upos, xpos, lemma, feats";
        if self.label_place().is_none() {
            let label = self.label.as_deref().unwrap_or_default();
            return Err(line.error(0, format!("found data.label_column={label}, expected one of {columns}, deprel")));
        }
        if let Some(odd) = self.ignored.iter().find(|name| !FEATURES.iter().any(|(known, _)| known == name)) {
            return Err(line.error(0, format!("found data.ignore={odd}, expected some of {columns}")));
        }
        let found = line.text.split('\t').count();
        if found != 10 {
            return Err(line.error(0, format!("found {found} columns, expected the 10 of CoNLL-U, divided by tabs")));
        }
        let id = line.text.split('\t').next().unwrap_or_default();
        if id.contains(['-', '.']) {
            return Ok(LinePlace::Nowhere);
        }
        if self.file.as_os_str().is_empty() {
            self.file = line.path.to_path_buf();
        }
        self.words += 1;
        match id == self.words.to_string() {
            true => Ok(LinePlace::Within),
            false => Err(line.bad(0, id, "number of a word", &format!("{}: words count from 1", self.words))),
        }
    }

    fn push(&mut self, line: &Line<'_>, data: &mut Underway) -> Result<(), DataError> {
        let fields: Vec<&str> = line.text.split('\t').map(str::trim_ascii).collect();
        let label = fields[self.label_place().unwrap_or_default()];
        let label = if label == "_" && !self.underscore { "" } else { label };
        data.columns.push_token(self.features(&fields).map(|(_, text)| text).chain([label]));
        let tree = &mut data.tree;
        if tree.features.is_empty() {
            data.line = line.number;
        }
        let mut named = Vec::new();
        for (name, text) in self.features(&fields).filter(|(_, text)| *text != "_") {
            match name {
                "feats" => named.extend(text.split('|').map(|feature| (feature.to_owned(), 1.0))),
                name => named.push((format!("{name}={text}"), 1.0)),
            }
        }
        tree.features.push(Some(NodeFeatures::Named(named)));
        tree.labels.push((!label.is_empty()).then(|| label.to_owned()));
        tree.types.push((fields[RELATION] != "_").then(|| fields[RELATION].to_owned()));
        match (fields[HEAD], fields[HEAD].parse::<i64>()) {
            ("_", _) => {}
            (_, Ok(head)) => tree.parents.get_or_insert_default().push((head != 0).then_some(head.saturating_sub(1))),
            (head, _) => {
                let at = fields[..HEAD].iter().map(|field| field.len() + 1).sum();
                let fault = line.bad(at, head, "head", "the number of a word, 0 at the root, or _");
                data.fault.get_or_insert(fault);
            }
        }
        Ok(())
    }

    fn end(&mut self, data: &mut Underway) {
        data.columns.end_sentence();
        let tree = std::mem::take(&mut data.tree);
        let words = tree.features.len();
        if let (Ok(trees), true) = (&mut data.trees, words > 0) {
            let pushed = match &tree.parents {
                Some(parents) if parents.len() != words => {
                    Err("found words without a head, expected all or none".into())
                }
                _ => trees.push(tree, data.line).map_err(|fault| fault.to_string()),
            };
            if let Err(message) = pushed {
                let fault = DataError::at(&self.file, data.line, 1, message);
                data.fault.get_or_insert(fault);
            }
        }
        if let (Some(fault), true) = (data.fault.take(), data.trees.is_ok()) {
            data.trees = Err(fault);
        }
    }

    fn size(data: &Underway) -> (usize, usize) {
        (data.columns.len(), data.columns.tokens())
    }

    fn take_dataset(&mut self, data: Underway) -> Dataset {
        let label = data.columns.width() - 1;
        let no_label = |token: usize| matches!(data.columns.text(token, label), "" | "_");
        let sentences = match self.unlabelled && (0..data.columns.tokens()).all(no_label) {
            true => data.columns.without_label(),
            false => data.columns,
        };
        Dataset::new(Treebank { sentences: Dataset::new(sentences), trees: data.trees.map(Dataset::new) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::Column;
    use super::super::text::{Lines, assert_errors, parse, parse_with};
    use super::*;

    const TEXT: &str = "# sent_id = 1\n1\tKirmizi\tkirmizi\tADJ\tAdj\t_\t2\tamod\t_\t_\n\
        2-3\telmaysa\t_\t_\t_\t_\t_\t_\t_\t_\n\
        2\telma\telma\tNOUN\tNoun\tCase=Nom|Number=Sing\t3\tnsubj\t_\t_\n\
        3\tdustu\tdus\tVERB\tVerb\t_\t0\troot\t_\tSpaceAfter=No\n\
        3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n# newdoc\n1\tB c\tb\tX\tY\t_\t0\troot\t_\t_\n\n";

    fn parsed(text: &str, rules: &ReadRules) -> Treebank {
        parse_with::<WordLines, Treebank>(Lines::from_bytes("f", text.as_bytes()).unwrap(), rules).unwrap()
    }

    fn tokens(bank: &Treebank) -> Vec<String> {
        let columns = bank.sentences.get::<Columns>().unwrap();
        let token = |token: usize| (0..columns.width()).map(|column| columns.text(token, column)).collect::<Vec<_>>();
        (0..columns.tokens()).map(|number| token(number).join(" ")).collect()
    }

    /// Words without comments, ranges and empty nodes: columns with the label last, trees with features by name.
    #[test]
    fn words_are_columns_and_nodes() {
        let bank = parsed(TEXT, &ReadRules::default());
        let expected = [
            "Kirmizi _ Adj kirmizi _ ADJ",
            "elma _ Noun elma Case=Nom|Number=Sing NOUN",
            "dustu _ Verb dus _ VERB",
            "B c _ Y b _ X",
        ];
        assert_eq!(tokens(&bank), expected);
        let trees = bank.trees.as_ref().unwrap().get::<Trees>().unwrap();
        assert_eq!((trees.len(), &trees.parents[..2]), (2, &[1, 2][..]));
        let names: Vec<&str> = trees.rows.row(1).indices.iter().map(|&column| trees.columns.get(column)).collect();
        assert_eq!(names, ["form=elma", "xpos=Noun", "lemma=elma", "Case=Nom", "Number=Sing"]);
        assert_eq!(trees.type_names.get(trees.types[1]), "nsubj");
        assert_eq!((trees.names.get(trees.labels[2]), bank.subset(&[1]).len()), ("VERB", 1));
    }

    /// Another label, columns left out, and text without labels.
    #[test]
    fn rules_choose_columns() {
        let column = |name: &str| Column(name.to_owned());
        let rules = ReadRules { label_column: Some(column("deprel")), ..ReadRules::default() };
        let rules = ReadRules { ignored: vec![column("lemma"), column("feats")], ..rules };
        let bank = parsed(TEXT, &rules);
        assert_eq!(tokens(&bank)[1], "elma NOUN Noun _ _ nsubj");
        let text = TEXT.replace("\tADJ\t", "\t_\t").replace("\tNOUN\t", "\t_\t").replace("\tVERB\t", "\t_\t");
        let rules = ReadRules { unlabelled: true, ..ReadRules::default() };
        let some = tokens(&parsed(&text, &rules));
        assert_eq!((&*some[2], &*some[3]), ("dustu _ Verb dus _ ", "B c _ Y b _ X"), "one word has a label");
        for (underscore, expected) in [(None, ""), (Some(false), ""), (Some(true), "_")] {
            let bank = parsed(&text, &ReadRules { underscore, ..ReadRules::default() });
            assert_eq!(tokens(&bank)[2], format!("dustu _ Verb dus _ {expected}"));
            let trees = bank.trees.unwrap();
            let trees = trees.get::<Trees>().unwrap();
            assert_eq!(trees.names.iter().any(|name| name == "_"), expected == "_");
        }
        for (column, word, expected) in [("feats", 0, "_"), ("xpos", 3, "Y"), ("lemma", 3, "b"), ("6", 0, "_")] {
            let rules = ReadRules { label_column: Some(Column(column.to_owned())), ..ReadRules::default() };
            assert!(tokens(&parsed(TEXT, &rules))[word].ends_with(&format!(" {expected}")), "{column}");
        }
        assert_eq!(tokens(&parsed(&text.replace("\tX\t", "\t_\t"), &rules))[3], "B c _ Y b _");
        let headless = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t_\t_\t_\t_\n";
        let bank = parsed(headless, &ReadRules::default());
        assert!(!bank.trees.unwrap().get::<Trees>().unwrap().has_parents(0));
    }

    /// Each fault is told with its place and the rule that it breaks; those of trees where trees are wanted.
    #[test]
    fn faults_are_named() {
        let nothing = "lines of ten columns divided by tabs (CoNLL-U)";
        assert_errors(
            parse::<WordLines, Treebank>,
            &[
                (b"# a\n", &format!("f: found only blank lines or comments, expected {nothing}")),
                (b"1\ta\tb\n", "f:1:1: found 3 columns, expected the 10 of CoNLL-U, divided by tabs"),
                (
                    b"1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n3\ta\t_\tX\t_\t_\t0\t_\t_\t_\n",
                    "f:2:1: found `3` as number of a word, expected 2: words count from 1",
                ),
            ],
        );
        for (head, fault) in [
            ("x", ":1:13: found `x` as head, expected the number of a word, 0 at the root, or _"),
            ("9", ":1:1: node 0: found parent 8, expected one of the 2 nodes, numbered from 0"),
            ("2", ":1:1: node 0: found the cycle 0 -> 1 -> 0 of parents, expected a tree"),
            ("_", ":1:1: found words without a head, expected all or none"),
        ] {
            let text = format!("1\ta\t_\tX\t_\t_\t{head}\t_\t_\t_\n2\tb\t_\tX\t_\t_\t1\t_\t_\t_\n");
            let told = parsed(&text, &ReadRules::default()).trees.unwrap_err().to_string();
            assert!(told.ends_with(fault), "{told}");
        }
        for (rules, fault) in [
            (ReadRules { label_column: Some(Column("tag".into())), ..ReadRules::default() }, "data.label_column=tag"),
            (ReadRules { ignored: vec![Column("head".into())], ..ReadRules::default() }, "data.ignore=head"),
        ] {
            let lines = Lines::from_bytes("f", TEXT.as_bytes()).unwrap();
            let told = parse_with::<WordLines, Treebank>(lines, &rules).unwrap_err().to_string();
            assert!(told.contains(fault), "{told}");
        }
    }
}
