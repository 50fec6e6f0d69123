//! Reads the format `jsonl`, a sequence a line.

use std::collections::HashMap;

use multiplane_infer::file::{DataError, quote};

use super::form::{Form, FormedSequence, FormedSequences, place};
use super::line::{LineLabel, SequenceLine};
use crate::dataset::Dataset;
use crate::example_windows::{LinePlace, ReadExamples, format_by_lines};
use crate::format::{FirstLine, FormatEntry};
use crate::json_text::complaint;
use crate::rules::ReadRules;
use crate::tagged::Tagged;
use crate::text::Line;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["jsonl"],
    known_by: Some((4, is_sequence)),
    ..format_by_lines::<JsonReader>(
        "jsonl",
        "a line `{\"tokens\": [{\"name\": value, ...} or \"word\", ...], \"labels\": [...]}` a sequence",
    )
};

/// An object that begins with a key of ours; in a file of the right name it may come later.
fn is_sequence(line: &FirstLine<'_>) -> bool {
    let rest = line.text.trim_start().strip_prefix('{').map(str::trim_start);
    let key = |key: &&str| rest.is_some_and(|rest| rest.starts_with(key) || line.is_named && rest.contains(key));
    ["\"tokens\"", "\"columns\"", "\"labels\""].iter().any(key)
}

/// The state of a reader between lines.
pub(crate) struct JsonReader {
    /// True if labels may be missing.
    unlabelled: bool,
    /// The form of tokens, and the line that set it.
    form: Option<(Form, u64)>,
    /// True if sentences of text have labels, and the line that set it.
    labelled: Option<(bool, u64)>,
    /// The line in hand.
    sequence: Option<FormedSequence>,
    /// Labels that are whole numbers, or texts that look like one; true for texts, and the line of the first.
    numbers: HashMap<String, (bool, u64)>,
    /// True if there are labels, and all are texts.
    text_labels: Option<bool>,
}

impl JsonReader {
    /// Refuses sequences without labels if there must be some, and a number beside the text that looks the same. Text
    /// has a column of labels or none.
    fn check_labels(&mut self, line: &Line<'_>, sequence: &FormedSequence) -> Result<(), DataError> {
        let labelled = sequence.labels.is_some();
        if !labelled && !self.unlabelled {
            return Err(line.error(0, "found no key `labels`, expected it"));
        }
        for (at, LineLabel { name, is_text }) in sequence.known_labels() {
            self.text_labels = Some(*is_text && self.text_labels.unwrap_or(true));
            if !is_text || name.parse::<i64>().is_ok() {
                let (first, number) = *self.numbers.entry(name.clone()).or_insert((*is_text, line.number));
                if first != *is_text {
                    let [found, other] = match is_text {
                        true => [format!("the text {}", quote(name)), format!("the number {name}")],
                        false => [format!("the number {name}"), format!("the text {}", quote(name))],
                    };
                    let message =
                        format!("found {found} as label, expected {other} as on line {number}, or another name");
                    return Err(line.error(place(line, "labels", at), message));
                }
            }
        }
        if sequence.is_empty() {
            return Ok(());
        }
        let (expected, setter) = *self.labelled.get_or_insert((labelled, line.number));
        match (sequence.form, labelled) {
            (Form::Columns(_), true) if !expected => {
                Err(line.error(0, format!("found labels, expected none as on line {setter}")))
            }
            (Form::Columns(_), false) if expected => {
                Err(line.error(0, format!("found no labels, expected them as on line {setter}")))
            }
            _ => Ok(()),
        }
    }
}

impl ReadExamples for JsonReader {
    type Of = FormedSequences;

    const EXPECTED: &'static str = "a line `{\"tokens\": [...], \"labels\": [...]}` for each sequence";

    fn new(rules: &ReadRules) -> Self {
        let numbers = HashMap::new();
        let unlabelled = rules.unlabelled;
        JsonReader { unlabelled, form: None, labelled: None, sequence: None, numbers, text_labels: None }
    }

    fn begin(&self) -> FormedSequences {
        FormedSequences::Empty(0)
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        if line.text.trim_ascii().is_empty() {
            return Ok(LinePlace::Nowhere);
        }
        if !line.text.trim_ascii_start().starts_with('{') {
            return Err(line.bad(0, line.text, "sequence", "an object `{\"tokens\": [...], \"labels\": [...]}`"));
        }
        let parts: SequenceLine = serde_json::from_str(line.text).map_err(|error| complaint(line, &error))?;
        let sequence = FormedSequence::new(line, parts, self.form)?;
        if sequence.is_empty() && !self.unlabelled {
            return Err(line.error(0, "found a sequence without tokens, expected at least one"));
        }
        self.check_labels(line, &sequence)?;
        if !sequence.is_empty() {
            self.form.get_or_insert((sequence.form, line.number));
        }
        self.sequence = Some(sequence);
        Ok(LinePlace::Last)
    }

    fn push(&mut self, line: &Line<'_>, data: &mut FormedSequences) -> Result<(), DataError> {
        self.sequence.take().map_or(Ok(()), |sequence| data.push(line, sequence))
    }

    fn size(data: &FormedSequences) -> (usize, usize) {
        match data {
            FormedSequences::Empty(count) => (*count, *count),
            FormedSequences::Columns(data) => (data.len(), data.tokens()),
            FormedSequences::Tagged(data) => (data.len(), data.tags.len()),
        }
    }

    fn take_dataset(&mut self, data: FormedSequences) -> Dataset {
        let text_labels = self.text_labels == Some(true);
        match data {
            FormedSequences::Empty(count) => {
                let mut data = Tagged::default();
                (0..count).for_each(|_| data.push_end());
                Dataset::new(data)
            }
            FormedSequences::Columns(mut data) => {
                data.text_labels = text_labels;
                Dataset::new(data)
            }
            FormedSequences::Tagged(mut data) => {
                data.text_labels = text_labels;
                Dataset::new(data)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;
    use crate::Columns;
    use crate::conll::ColumnLines;
    use crate::crfsuite::AttributeLines;
    use crate::example_windows::read_lines;
    use crate::hmm::HmmLines;
    use crate::text::{Lines, assert_errors, gzip};
    fn parse(lines: Lines) -> Result<Dataset, DataError> {
        read_lines::<JsonReader>(lines, &ReadRules::default())
    }

    /// Reads text of a good file.
    fn of<R: ReadExamples>(text: &str) -> Dataset {
        read_lines::<R>(lines(text), &ReadRules::default()).unwrap()
    }

    fn lines(text: &str) -> Lines {
        Lines::from_bytes("f", text.as_bytes()).unwrap()
    }

    /// Each form is what another format says, whatever the order of keys; what is written is read back.
    #[test]
    fn forms_are_those_of_other_formats() {
        let attributes = of::<JsonReader>(
            r#"
{"tokens": [{"w": "the", "cap": true, "length": 3}, {"w": "cat", "cap": false, "length": 3.5}, ["w=sat", "x"]], "labels": ["DT", "NN", "VB"]}
{"labels": [1, -2, "VB"], "tokens": [{"w": "bark", "near": {"w": "dogs", "n": {"a": 2}}, "tags": ["x", "y"]}, {}, []]}
{"tokens": [{"v": [0.5, -1]}], "labels": ["NN"]}
"#,
        );
        let same = of::<AttributeLines>(
            "DT\tw=the\tcap\tlength:3\nNN\tw=cat\tlength:3.5\nVB\tw=sat\tx\n\n\
             1\tw=bark\tnear\\:w=dogs\tnear\\:n\\:a:2\ttags\\:x\ttags\\:y\n-2\nVB\n\nNN\tv\\:0:0.5\tv\\:1:-1\n",
        );
        assert_eq!(attributes.fingerprint(), same.fingerprint());
        let words = of::<JsonReader>("{\"tokens\": [\"the\", \"cat\"], \"labels\": [\"DT\", \"NN\"]}");
        let same = of::<ColumnLines>("the DT\ncat NN\n");
        assert_eq!(words.fingerprint(), same.fingerprint());
        let columns =
            of::<JsonReader>("{\"columns\": [[\"the\", \"DT\"], [\"#\", \"NN\"]], \"labels\": [\"B\", \"I\"]}");
        let same = of::<ColumnLines>("the DT B\n# NN I\n");
        assert_eq!(columns.fingerprint(), same.fingerprint());
        let numbers = of::<JsonReader>("{\"tokens\": [[0.5, 0, 1], [0, -2e-3, 0]], \"labels\": [\"a\", \"b\"]}");
        let same = of::<HmmLines>("a qid:1 1:0.5 3:1\nb qid:1 2:-0.002\n");
        assert_eq!(numbers.fingerprint(), same.fingerprint());
        for data in [attributes, words, columns, numbers] {
            let mut file = Vec::new();
            write(&data, &mut file).unwrap();
            let again = parse(Lines::from_bytes("f", &gzip(&file)).unwrap()).unwrap();
            assert_eq!(again.fingerprint(), data.fingerprint(), "{}", String::from_utf8_lossy(&file));
        }
    }

    /// If labels may be missing, sequences of attributes may lack theirs one by one, text as a whole.
    #[test]
    fn labels_may_be_missing() {
        let rules = ReadRules { unlabelled: true, ..ReadRules::default() };
        let read = |text: &str| read_lines::<JsonReader>(lines(text), &rules);
        let data = read("{\"tokens\": [{\"a\": 1}]}\n{\"tokens\": [[\"a\"]], \"labels\": [\"x\"]}\n").unwrap();
        assert_eq!((data.len(), data.get::<Tagged>().unwrap().tags.len()), (2, 2));
        let text = read("{\"tokens\": [\"a\"], \"labels\": null}").unwrap();
        let text = text.get::<Columns>().unwrap();
        assert_eq!((text.width(), text.labelled()), (1, Some(false)));
        let mixed = "{\"tokens\": [\"a\"]}\n{\"tokens\": [\"a\"], \"labels\": [\"x\"]}";
        assert_eq!(read(mixed).unwrap_err().to_string(), "f:2:1: found labels, expected none as on line 1");
        let mixed = "{\"tokens\": [\"a\"], \"labels\": [\"x\"]}\n{\"tokens\": [\"a\"]}";
        assert_eq!(read(mixed).unwrap_err().to_string(), "f:2:1: found no labels, expected them as on line 1");
    }

    /// A label may be `null`, which is written again; a number and the text that looks the same are two labels.
    #[test]
    fn labels_have_kinds() {
        for text in [
            "{\"tokens\": [\"a\", \"b\"], \"labels\": [\"1\", null]}",
            "{\"tokens\": [{\"a\": 1}, {}], \"labels\": [null, \"1\"]}",
        ] {
            let data = parse(lines(text)).unwrap();
            let mut file = Vec::new();
            write(&data, &mut file).unwrap();
            assert_eq!(String::from_utf8_lossy(&file).matches("null").count(), 1, "{text}");
            let again = parse(Lines::from_bytes("f", &file).unwrap()).unwrap();
            assert_eq!(again.fingerprint(), data.fingerprint());
            let is_text = |data: &Dataset| match data.get::<Tagged>() {
                Some(data) => data.text_labels,
                None => data.get::<Columns>().unwrap().text_labels,
            };
            assert!(is_text(&data) && is_text(&data.subset(&[0])));
            assert!(!is_text(&parse(lines(&text.replace("\"1\"", "1"))).unwrap()));
        }
        let clash = "{\"tokens\": [\"a\"], \"labels\": [1]}\n{\"tokens\": [\"a\"], \"labels\": [\"1\"]}";
        let told = "f:2:30: found the text `1` as label, expected the number 1 as on line 1, or another name";
        assert_eq!(parse(lines(clash)).unwrap_err().to_string(), told);
    }

    /// Sequences without tokens are read where answers are wanted, whatever the others are made of.
    #[test]
    fn sequences_may_be_empty() {
        let rules = ReadRules { unlabelled: true, ..ReadRules::default() };
        let read = |text: &str| read_lines::<JsonReader>(lines(text), &rules).unwrap();
        for token in ["\"a\"", "{\"a\": 1}", "[0.5, 1]"] {
            let (none, one) = ("{\"tokens\": []}", format!("{{\"tokens\": [{token}]}}"));
            let data = read(&[none, none, &one, none, &one].join("\n"));
            assert_eq!(data.len(), 5);
            assert_eq!(data.subset(&[0, 4]).len(), 2);
            let of_one = |data: &Dataset| data.subset(&[2]).fingerprint();
            assert_eq!(of_one(&data), of_one(&read(&[one.as_str(); 3].join("\n"))));
        }
        assert_eq!(read("{\"tokens\": []}").get::<Tagged>().unwrap().len(), 1);
        let told = "f:1:1: found a sequence without tokens, expected at least one";
        assert_eq!(parse(lines("{\"tokens\": []}")).unwrap_err().to_string(), told);
    }

    /// Names within names may not make of a line what is out of all proportion.
    #[test]
    fn names_are_bounded() {
        let rule =
            "token 0: found names of attributes that come to more than 16 times the line, expected shorter names";
        for value in ["1", "{}"] {
            let below = (0..1000).map(|k| format!("\"{k}\": {value}")).collect::<Vec<_>>().join(", ");
            let line = format!("{{\"tokens\": [{{\"{}\": {{{below}}}}}], \"labels\": [\"x\"]}}", "n".repeat(5000));
            let error = parse(lines(&line)).unwrap_err().to_string();
            assert_eq!(error, format!("f:1:13: {rule} above others"), "{value}");
        }
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        let nothing = "expected a line `{\"tokens\": [...], \"labels\": [...]}` for each sequence";
        let whole: [(&[u8], String); 2] = [
            (b"", format!("f: found an empty file, {nothing}")),
            (b"\n \n", format!("f: found only blank lines or comments, {nothing}")),
        ];
        whole.iter().for_each(|(bytes, error)| assert_errors(parse, &[(bytes, error)]));
        assert_errors(
            parse,
            &[
                (b"[1]", "f:1:1: found `[1]` as sequence, expected an object `{\"tokens\": [...], \"labels\": [...]}`"),
                (
                    b"{\"tokens\": [",
                    "f:1:12: found the end of the line within JSON, expected all of an object: EOF while parsing a \
                     list",
                ),
                (b"{\"tokens\": [{\"a\": NaN}]}", "f:1:19: found no JSON at `NaN`: expected value"),
                (b"{\"tokens\": [{\"a\": 1e999}]}", "f:1:23: found no JSON at `1e999`: number out of range"),
                (b"{\"labels\": []}", "f:1:1: found no key `tokens`, expected it, or `columns`"),
                (b"{\"tokens\": [], \"labels\": []}", "f:1:1: found a sequence without tokens, expected at least one"),
                (
                    b"{\"tokens\": [\"a\"], \"columns\": [[\"a\"]]}",
                    "f:1:1: found `tokens` and `columns`, expected one of them",
                ),
                (b"{\"tokens\": [\"a\"]}", "f:1:1: found no key `labels`, expected it"),
                (
                    b"{\"tokens\": [\"a\"], \"label\": []}",
                    "f:1:25: found the key `label`, expected one of `tokens`, `columns`, `labels`",
                ),
                (
                    b"{\"tokens\": [null]}",
                    "f:1:16: found null, expected a token: an object of features, a text, or a list of names or \
                     numbers",
                ),
                (
                    b"{\"tokens\": [{\"a\": null}]}",
                    "f:1:22: found null, expected a number, a text, true or false, or an object or a list of names",
                ),
                (
                    b"{\"tokens\": [{\"a\": 1, \"a\": 2}]}",
                    "f:1:28: found the name \"a\" twice in an object, expected it once",
                ),
                (
                    b"{\"tokens\": [[\"a\", 1]]}",
                    "f:1:20: found texts and numbers in one list, expected names or numbers",
                ),
                (b"{\"tokens\": [[\"a\", []]]}", "f:1:20: found sequence, expected a name or a number"),
                (
                    b"{\"tokens\": [\"a\", {}], \"labels\": [\"x\", \"y\"]}",
                    "f:1:18: token 1: found attributes, expected 1 column of text as on line 1",
                ),
                (
                    b"{\"tokens\": [[1, 2]], \"labels\": [0]}\n{\"tokens\": [[1, 2], []], \"labels\": [0, 1]}",
                    "f:2:21: token 1: found an empty list, expected 2 numbers as on line 1",
                ),
                (
                    b"{\"columns\": [[]], \"labels\": [0]}",
                    "f:1:14: token 0: found 0 columns of text, expected at least one",
                ),
                (
                    b"{\"columns\": [[\"a\", \"b\\n\"]], \"labels\": [0]}",
                    "f:1:14: token 0: found `b\\n`, expected a text without tabs and line breaks",
                ),
                (
                    b"{\"tokens\": [{\"a\": \"\\t\"}], \"labels\": [0]}",
                    "f:1:13: token 0: found the attribute `a=\\t`, expected a name without tabs and line breaks",
                ),
                (
                    b"{\"tokens\": [{\"a\": 1e308, \"b\": {\"c\": 1}}, {\"a:b\": 1e308, \"a\": {\"b\": 1e308}}], \
                        \"labels\": [0, 0]}",
                    "f:1:42: token 1: found weights of attribute `a:b` that add up to inf, expected a finite number",
                ),
                (
                    b"{\"tokens\": [\"a\", \"b\"], \"labels\": [\"x\"]}",
                    "f:1:35: found 1 label, expected 2: one for each token",
                ),
                (
                    b"{\"tokens\": [\"a\"], \"labels\": [\"x\", \"y\"]}",
                    "f:1:35: found 2 labels, expected 1: one for each token",
                ),
                (
                    b"{\"tokens\": [\"a\"], \"labels\": [\"\"]}",
                    "f:1:30: found nothing as label, expected a text without tabs and line breaks, or null",
                ),
                (
                    b"{\"tokens\": [\"a\"], \"labels\": [1.5]}",
                    "f:1:32: found floating point `1.5`, expected a label: a text or a whole number",
                ),
            ],
        );
    }
}
