//! CRFsuite's attributes: `label TAB attribute TAB attribute:weight ...`, one token per line, a blank line after each
//! sequence. Attributes are any words; their weight is 1 unless given. In names `\\:` is a colon and `\\\\` a
//! backslash.

use super::example_windows::{LinePlace, ReadExamples, format_by_lines};
use super::format::{Appended, FirstLine, FormatEntry};
use super::rules::ReadRules;
use super::tagged::Tagged;
use super::text::{Line, keep_mark, push_number};
use crate::dataset::Dataset;
use multiplane_infer::file::DataError;
use std::io::{self, Write};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    appended: Some(Appended::Tokens),
    names: &["crfsuite"],
    known_by: Some((37, is_token)),
    ..format_by_lines::<AttributeLines>(
        "crfsuite",
        "label, TAB, attributes `name` or `name:weight` divided by tabs; a blank line ends a sequence (CRFsuite)",
    )
};

/// A label, then an attribute of the usual look `what=value`.
fn is_token(line: &FirstLine<'_>) -> bool {
    let mut fields = line.text.split('\t');
    let label = fields.next().is_some_and(|label| !label.contains('='));
    label && fields.next().is_some_and(|field| field.find('=').is_some_and(|at| at > 0))
}

/// Writes sequences so that [`read`](super::read) gives them back; attributes that no token has are not written.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` for rows whose columns have no names.
pub fn write(data: &Tagged, out: &mut dyn Write) -> io::Result<()> {
    let Some(names) = &data.attributes else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "found rows of numbers, expected attributes with names",
        ));
    };
    let mut line = String::new();
    for sequence in 0..data.len() {
        for token in data.range(sequence) {
            line.clear();
            let tag = data.tag(token).unwrap_or_default();
            line.push_str(if tag.starts_with('@') { "\\" } else { "" });
            push_escaped(&mut line, tag);
            for (attribute, weight) in data.rows.row(token).iter() {
                line.push('\t');
                push_escaped(&mut line, names.get(attribute));
                if weight != 1.0 {
                    line.push(':');
                    push_number(&mut line, weight);
                }
            }
            keep_mark(&mut line);
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn push_escaped(line: &mut String, name: &str) {
    for character in name.chars() {
        if matches!(character, ':' | '\\') {
            line.push('\\');
        }
        line.push(character);
    }
}

/// The state of a reader between lines.
pub(super) struct AttributeLines {
    /// True if labels may be missing.
    unlabelled: bool,
    /// True if the sequence in hand has labels, once it has a token.
    labelled: Option<bool>,
    /// The attributes of the token in hand.
    found: Vec<(String, f64)>,
}

impl ReadExamples for AttributeLines {
    type Of = Tagged;

    const EXPECTED: &'static str = "lines of a label and attributes, divided by tabs";

    fn new(rules: &ReadRules) -> Self {
        AttributeLines { unlabelled: rules.unlabelled, labelled: None, found: Vec::new() }
    }

    fn begin(&self) -> Tagged {
        Tagged::of_attributes()
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        Ok(if line.text.trim_ascii().is_empty() { LinePlace::Between } else { LinePlace::Within })
    }

    fn push(&mut self, line: &Line<'_>, data: &mut Tagged) -> Result<(), DataError> {
        let text = line.text.trim_end_matches('\r'); // of a last line that is cut off in the middle of its end
        if let Some(at) = text.find('\r') {
            return Err(line.error(at, "found a carriage return within a line, expected lines that end in LF or CRLF"));
        }
        let mut fields = text.split('\t');
        let label = fields.next().unwrap_or_default();
        if label.starts_with('@') {
            return Err(line.bad(
                0,
                label,
                "label",
                "a name: weights of sequences are not read (a label `@...` is `\\@...`)",
            ));
        }
        let (name, rest) = unescaped(line, 0, label, false)?;
        if name.is_empty() && !self.unlabelled {
            return Err(line.bad(rest, "", "label", "a name, then a tab"));
        }
        if *self.labelled.get_or_insert(!name.is_empty()) == name.is_empty() {
            let rule =
                if name.is_empty() { "one as the tokens before it have" } else { "none as the tokens before it" };
            return Err(line.bad(0, label, "label", rule));
        }
        self.found.clear();
        let mut at = label.len() + 1;
        for field in fields {
            if !field.trim_ascii().is_empty() {
                let (attribute, end) = unescaped(line, at, field, true)?;
                if attribute.is_empty() {
                    return Err(line.bad(at, field, "attribute", "name or name:weight"));
                }
                let weight = match field.get(end + 1 - at..) {
                    None => 1.0,
                    Some(weight) => {
                        let rule = "a finite number (a colon in a name is written `\\:`)";
                        let number = weight.trim_ascii().parse::<f64>().ok().filter(|weight| weight.is_finite());
                        number.ok_or_else(|| line.bad(end + 1, weight, "weight", rule))?
                    }
                };
                self.found.push((attribute, weight));
            }
            at += field.len() + 1;
        }
        let tag = (!name.is_empty()).then_some(&*name);
        let attributes = self.found.iter().map(|(attribute, weight)| (attribute.as_str(), *weight));
        data.push_attributes(tag, attributes).map_err(|fault| line.error(0, fault))
    }

    fn end(&mut self, data: &mut Tagged) {
        data.end_sequence();
        self.labelled = None;
    }

    fn size(data: &Tagged) -> (usize, usize) {
        (data.len(), data.tags.len())
    }

    fn take_dataset(&mut self, data: Tagged) -> Dataset {
        Dataset::new(data)
    }
}

/// A field without its escapes, up to its first colon where that ends it; and the byte of the line where it ends.
fn unescaped(line: &Line<'_>, at: usize, field: &str, divided: bool) -> Result<(String, usize), DataError> {
    let mut name = String::with_capacity(field.len());
    let mut characters = field.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            ':' if divided => return Ok((name, at + place)),
            '\\' => match characters.next() {
                Some((_, escaped)) => name.push(escaped),
                None => return Err(line.bad(at + place, "\\", "escape", "`\\:` or `\\\\`")),
            },
            other => name.push(other),
        }
    }
    Ok((name, at + field.len()))
}

#[cfg(test)]
mod tests {
    use super::super::text::{Lines, assert_errors, parse, parse_with};
    use super::*;

    fn parsed(text: &str) -> Tagged {
        Lines::from_bytes("f", text.as_bytes()).and_then(parse::<AttributeLines, _>).unwrap()
    }

    /// Weights, escapes, an attribute that comes twice, tokens without any; what is written reads back.
    #[test]
    fn attributes_are_read() {
        let data = parsed("B-NP\tw=a\\:b\tp=\\\\:0.5\t\tw=a\\:b:2\r\nO\n \n\nO\tp=\\\\:-1e-3\n");
        assert_eq!((data.len(), data.range(0), data.range(1)), (2, 0..2, 2..3));
        assert_eq!(data.attributes.as_ref().unwrap().iter().collect::<Vec<_>>(), ["w=a:b", "p=\\"]);
        let row = |token: usize| data.rows.row(token).iter().collect::<Vec<_>>();
        assert_eq!((row(0), row(1), row(2)), (vec![(0, 3.0), (1, 0.5)], vec![], vec![(1, -1e-3)]));
        assert_eq!((data.tag(0), data.tag(1), data.tag(2)), (Some("B-NP"), Some("O"), Some("O")));
        let mut file = Vec::new();
        write(&data, &mut file).unwrap();
        assert_eq!(parsed(std::str::from_utf8(&file).unwrap()), data);
    }

    /// If labels may be missing, all of a sequence may.
    #[test]
    fn sequences_may_lack_labels() {
        let rules = ReadRules { unlabelled: true, ..ReadRules::default() };
        let read =
            |text: &str| parse_with::<AttributeLines, Tagged>(Lines::from_bytes("f", text.as_bytes()).unwrap(), &rules);
        let data = read("\ta=1\n\tb=1\n\nO\ta=1\n").unwrap();
        assert_eq!((data.tag(0), data.tag(1), data.tag(2)), (None, None, Some("O")));
        let found = read("O\ta=1\n\tb=1\n").unwrap_err().to_string();
        assert_eq!(found, "f:2:1: found nothing as label, expected one as the tokens before it have");
        let found = read("\ta=1\nO\tb=1\n").unwrap_err().to_string();
        assert_eq!(found, "f:2:1: found `O` as label, expected none as the tokens before it");
    }

    /// Windows together are the file, whatever their size; what stands before a fault comes first.
    #[test]
    fn windows_are_the_file() {
        use super::super::format::StreamRules;
        let text = "O\ta=1\n\n\nB\tb=1\nI\ta=1\n\nO\n";
        let begin = |text: &str, rules: StreamRules| {
            (FORMAT.windows.unwrap())(Lines::from_bytes("f", text.as_bytes()).unwrap(), rules)
        };
        for most in 1..5 {
            let rules = StreamRules { keep_text: true, ..StreamRules::default() };
            let (mut windows, mut sequences, mut kept) = (begin(text, rules), 0, String::new());
            while let Some(window) = windows.next(most).unwrap() {
                assert!(window.len() <= most);
                sequences += window.len();
                kept += &windows.take_text();
            }
            kept += &windows.take_text();
            assert_eq!((sequences, &kept[..]), (3, text));
        }
        let mut broken = begin("O\ta=1\n\nO\ta=1\nO\ta:x\n", StreamRules::default());
        assert_eq!(broken.next(9).unwrap().unwrap().len(), 1);
        assert!(broken.next(9).unwrap_err().to_string().starts_with("f:4:5: found `x` as weight"));
        assert!(broken.next(9).unwrap().is_none());
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse::<AttributeLines, Tagged>,
            &[
                (b"", "f: found an empty file, expected lines of a label and attributes, divided by tabs"),
                (b"\ta\n", "f:1:1: found nothing as label, expected a name, then a tab"),
                (
                    b"O\ta:\n",
                    "f:1:5: found nothing as weight, expected a finite number (a colon in a name is written `\\:`)",
                ),
                (
                    b"O\ta:b:1\n",
                    "f:1:5: found `b:1` as weight, expected a finite number (a colon in a name is written `\\:`)",
                ),
                (
                    b"O\ta:nan\n",
                    "f:1:5: found `nan` as weight, expected a finite number (a colon in a name is written `\\:`)",
                ),
                (b"O\t:1\n", "f:1:3: found `:1` as attribute, expected name or name:weight"),
                (b"O\ta\rb\n", "f:1:4: found a carriage return within a line, expected lines that end in LF or CRLF"),
                (b"O\ta\\\n", "f:1:4: found `\\` as escape, expected `\\:` or `\\\\`"),
                (
                    b"@weight:2\n",
                    "f:1:1: found `@weight:2` as label, expected a name: weights of sequences are not read (a label \
                     `@...` is `\\@...`)",
                ),
                (
                    b"O\ta:1e308\ta:1e308\n",
                    "f:1:1: found weights of attribute `a` that add up to inf, expected a finite number",
                ),
            ],
        );
    }
}
