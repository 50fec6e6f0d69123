//! Forms of the tokens of a file: attributes, columns of text, or rows of numbers; and a sequence of one of these.

use super::line::{LineLabel, SequenceLine, Token};
use super::names::{Attributes, has_breaks};
use crate::columns::Columns;
use crate::json_text::elements;
use crate::tagged::Tagged;
use crate::text::Line;
use multiplane_infer::file::{DataError, quote};

/// The form of all tokens of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Attributes,
    /// Columns of text, without the label's.
    Columns(usize),
    /// Rows of so many numbers.
    Numbers(usize),
}

impl Form {
    /// Returns the form of a token; `None` of a list that is empty, which may be attributes only.
    fn of(token: &Token) -> Option<Form> {
        match token {
            Token::Word(_) => Some(Form::Columns(1)),
            Token::Numbers(numbers) => Some(Form::Numbers(numbers.len())),
            Token::Names(names) if names.is_empty() => None,
            Token::Named(_) | Token::Names(_) => Some(Form::Attributes),
        }
    }

    fn describe(self) -> String {
        let several = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Form::Attributes => "attributes".to_owned(),
            Form::Columns(count) => format!("{count} column{} of text", several(count)),
            Form::Numbers(count) => format!("{count} number{}", several(count)),
        }
    }
}

/// A sequence that fits its file.
pub(super) struct FormedSequence {
    pub(super) form: Form,
    tokens: FormedTokens,
    /// The key of the list of tokens.
    key: &'static str,
    /// Labels, if the line has some; those that are not known are `None`.
    pub(super) labels: Option<Vec<Option<LineLabel>>>,
}

enum FormedTokens {
    Attributes(Vec<Vec<(String, f64)>>),
    Columns(Vec<Vec<String>>),
    Numbers(Vec<Vec<f64>>),
}

impl FormedSequence {
    /// Makes a sequence of a line; `expected` is what tokens are, and the line that set it.
    ///
    /// # Errors
    ///
    /// Tokens of another form, labels that are not as many, texts that no example may have; with their place.
    pub(super) fn new(
        line: &Line<'_>,
        parts: SequenceLine,
        expected: Option<(Form, u64)>,
    ) -> Result<FormedSequence, DataError> {
        let (key, forms): (_, Vec<Option<Form>>) = match (&parts.tokens, &parts.columns) {
            (Some(tokens), None) => ("tokens", tokens.iter().map(Form::of).collect()),
            (None, Some(rows)) => ("columns", rows.iter().map(|row| Some(Form::Columns(row.len()))).collect()),
            (None, None) => return Err(line.error(0, "found no key `tokens`, expected it, or `columns`")),
            (Some(_), Some(_)) => return Err(line.error(0, "found `tokens` and `columns`, expected one of them")),
        };
        let first = || (forms.iter().flatten().next().copied().unwrap_or(Form::Attributes), line.number);
        let (form, setter) = expected.unwrap_or_else(first);
        for (token, &found) in forms.iter().enumerate() {
            let rule = match found {
                Some(Form::Columns(0)) => "at least one".to_owned(),
                None if form == Form::Attributes => continue,
                _ if found == Some(form) => continue,
                _ => format!("{} as on line {setter}", form.describe()),
            };
            let found = found.map_or("an empty list".to_owned(), Form::describe);
            return Err(line.error(place(line, key, token), format!("token {token}: found {found}, expected {rule}")));
        }
        let tokens = match parts.columns {
            Some(rows) => FormedTokens::Columns(rows),
            None => FormedTokens::of(line, form, parts.tokens.unwrap_or_default())?,
        };
        let sequence = FormedSequence { form, tokens, key, labels: parts.labels };
        sequence.check_texts(line)?;
        sequence.check_labels(line, forms.len())?;
        Ok(sequence)
    }

    fn check_texts(&self, line: &Line<'_>) -> Result<(), DataError> {
        let FormedTokens::Columns(rows) = &self.tokens else { return Ok(()) };
        for (token, row) in rows.iter().enumerate() {
            if let Some(text) = row.iter().find(|text| has_breaks(text)) {
                let rule = "a text without tabs and line breaks";
                let message = format!("token {token}: found {}, expected {rule}", quote(text));
                return Err(line.error(place(line, self.key, token), message));
            }
        }
        Ok(())
    }

    fn check_labels(&self, line: &Line<'_>, tokens: usize) -> Result<(), DataError> {
        let Some(labels) = &self.labels else { return Ok(()) };
        if labels.len() != tokens {
            let at = place(line, "labels", tokens.min(labels.len().saturating_sub(1)));
            let found = if labels.len() == 1 { "1 label".to_owned() } else { format!("{} labels", labels.len()) };
            return Err(line.error(at, format!("found {found}, expected {tokens}: one for each token")));
        }
        match self.known_labels().find(|(_, label)| label.name.is_empty() || has_breaks(&label.name)) {
            None => Ok(()),
            Some((at, label)) => {
                let rule = "a text without tabs and line breaks, or null";
                Err(line.bad(place(line, "labels", at), &label.name, "label", rule))
            }
        }
    }

    /// The labels that are known, with their places.
    pub(super) fn known_labels(&self) -> impl Iterator<Item = (usize, &LineLabel)> {
        let labels = self.labels.iter().flatten().enumerate();
        labels.filter_map(|(at, label)| Some((at, label.as_ref()?)))
    }

    /// Returns true without tokens.
    pub(super) fn is_empty(&self) -> bool {
        match &self.tokens {
            FormedTokens::Attributes(tokens) => tokens.is_empty(),
            FormedTokens::Columns(rows) => rows.is_empty(),
            FormedTokens::Numbers(rows) => rows.is_empty(),
        }
    }
}

/// The byte at which an element of a list begins.
pub(super) fn place(line: &Line<'_>, key: &str, number: usize) -> usize {
    elements(line.text, key).get(number).copied().unwrap_or_default()
}

impl FormedTokens {
    /// Tokens that are all of one form.
    fn of(line: &Line<'_>, form: Form, tokens: Vec<Token>) -> Result<FormedTokens, DataError> {
        match form {
            Form::Attributes => {
                let mut attributes = Attributes::of_line(line.text.len());
                let made = tokens.iter().enumerate().map(|(number, token)| {
                    let found = match token {
                        Token::Named(features) => attributes.of_features(features),
                        Token::Names(names) => attributes.of_names(names),
                        _ => Ok(Vec::new()),
                    };
                    found.map_err(|fault| line.error(place(line, "tokens", number), format!("token {number}: {fault}")))
                });
                made.collect::<Result<_, _>>().map(FormedTokens::Attributes)
            }
            Form::Columns(_) => {
                let word = |token| if let Token::Word(word) = token { vec![word] } else { Vec::new() };
                Ok(FormedTokens::Columns(tokens.into_iter().map(word).collect()))
            }
            Form::Numbers(_) => {
                let row = |token| if let Token::Numbers(row) = token { row } else { Vec::new() };
                Ok(FormedTokens::Numbers(tokens.into_iter().map(row).collect()))
            }
        }
    }
}

/// The sequences of a file, as the other formats of the same form have them.
#[derive(Debug)]
pub(crate) enum FormedSequences {
    /// So many sequences without tokens, which have no form.
    Empty(usize),
    Columns(Columns),
    Tagged(Tagged),
}

impl FormedSequences {
    /// Begins with so many sequences without tokens.
    fn new(form: Form, labelled: bool, empty: usize) -> Self {
        let mut data = match form {
            Form::Attributes => FormedSequences::Tagged(Tagged::of_attributes()),
            Form::Numbers(width) => FormedSequences::Tagged(Tagged::new(width)),
            Form::Columns(width) => FormedSequences::Columns(Columns::told(width + usize::from(labelled), labelled)),
        };
        (0..empty).for_each(|_| data.push_end());
        data
    }

    /// Ends a sequence.
    fn push_end(&mut self) {
        match self {
            FormedSequences::Empty(count) => *count += 1,
            FormedSequences::Columns(data) => data.push_end(),
            FormedSequences::Tagged(data) => data.push_end(),
        }
    }

    /// Appends a sequence of the same form, and ends it.
    ///
    /// # Errors
    ///
    /// Weights of an attribute that add up to no number, with the byte of their token.
    pub(super) fn push(&mut self, line: &Line<'_>, sequence: FormedSequence) -> Result<(), DataError> {
        if let (FormedSequences::Empty(count), false) = (&*self, sequence.is_empty()) {
            *self = Self::new(sequence.form, sequence.labels.is_some(), *count);
        }
        let labels = sequence.labels.as_ref();
        let label = |token: usize| labels.and_then(|labels| Some(labels[token].as_ref()?.name.as_str()));
        match (&mut *self, &sequence.tokens) {
            _ if sequence.is_empty() => {}
            (FormedSequences::Columns(data), FormedTokens::Columns(rows)) => {
                for (token, row) in rows.iter().enumerate() {
                    let label = labels.map(|_| label(token).unwrap_or_default());
                    data.push_token(row.iter().map(String::as_str).chain(label));
                }
            }
            (FormedSequences::Tagged(data), FormedTokens::Attributes(tokens)) => {
                for (token, attributes) in tokens.iter().enumerate() {
                    let weights = attributes.iter().map(|(name, weight)| (name.as_str(), *weight));
                    data.push_attributes(label(token), weights)
                        .map_err(|fault| line.error(place(line, "tokens", token), format!("token {token}: {fault}")))?;
                }
            }
            (FormedSequences::Tagged(data), FormedTokens::Numbers(rows)) => {
                for (token, row) in rows.iter().enumerate() {
                    let filled = |&(_, value): &(u32, f64)| value != 0.0;
                    let (indices, values): (Vec<u32>, Vec<f64>) = (0..).zip(row.iter().copied()).filter(filled).unzip();
                    match label(token) {
                        Some(label) => data.push(label, &indices, &values),
                        None => data.push_untagged(&indices, &values),
                    }
                }
            }
            _ => unreachable!("the form of a file's tokens is that of its first line"),
        }
        self.push_end();
        Ok(())
    }
}
