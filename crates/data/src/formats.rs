//! The registry of data formats: each is a file or folder of this crate and one line below. A file's format is judged
//! by its tensor names or first line, else by its name, else by the task's `likely` rules.

use std::path::Path;

use multiplane_infer::file::{DataError, quote};

use super::format::{Format, GuessRule};
use super::rules::ReadRules;
use super::text::{Line, Lines};
use super::{
    boxes, conll, conllu, container, crfsuite, csv, graphs, hmm, jsonl, letter, libsvm, mrf, multilabel, opaque, poses,
    trees,
};
use crate::dataset::Dataset;

/// All formats, in the order in which they are listed to users.
pub static FORMATS: &[Format] = &[
    &libsvm::FORMAT,
    &letter::FORMAT,
    &csv::FORMAT,
    &conll::FORMAT,
    &conllu::FORMAT,
    &crfsuite::FORMAT,
    &hmm::FORMAT,
    &multilabel::FORMAT,
    &trees::FORMAT,
    &jsonl::FORMAT,
    &graphs::FORMAT,
    &mrf::FORMAT,
    &boxes::FORMAT,
    &poses::FORMAT,
    #[cfg(feature = "highs")]
    &super::programmes::FORMAT,
    &opaque::FORMAT,
];

/// Returns the format of that name.
pub fn find(name: &str) -> Option<Format> {
    FORMATS.iter().find(|format| format.name == name).copied()
}

/// Reads `path`, in the format given or guessed.
///
/// # Errors
///
/// The file cannot be read, is not of that format, or its format cannot be guessed.
pub fn read(path: &Path, format: Option<Format>) -> Result<Dataset, DataError> {
    read_with(path, format, &ReadRules::default())
}

/// Reads `path` by rules, in the format given or guessed.
///
/// # Errors
///
/// Those of [`read`], and a rule for tables where the format is none.
pub fn read_with(path: &Path, format: Option<Format>, rules: &ReadRules) -> Result<Dataset, DataError> {
    let format = match format {
        Some(format) => format,
        None if is_stream(path) => {
            return Err(DataError::file(
                path,
                "the format of a pipe or device cannot be guessed: name it as data.format",
            ));
        }
        None => guess(path)?,
    };
    if rules.underscore.is_some() && !rules.underscore_by_model && *format != conllu::FORMAT {
        let found = format.name;
        return Err(DataError::file(path, format!("data.underscore is for CoNLL-U (conllu), found format {found}")));
    }
    let takes = |name: &str| format.is_table() || *format == conllu::FORMAT && name != "data.separator";
    match rules.of_tables().filter(|name| !takes(name)) {
        Some(name) => Err(DataError::file(path, format!("{name} is for tables (csv), found format {}", format.name))),
        None => (format.read)(path, rules),
    }
}

/// Tells the format of a stream by how it begins: lines of which the last one may be the first that is neither blank
/// nor a comment. `None` where that says nothing.
pub fn guess_line(name: &Path, head: &[u8]) -> Option<Format> {
    classify(Lines::from_bytes(name, head).ok()?, None).ok()
}

/// Returns true if `path` can be read only once.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// A task, and the formats that it reads.
pub type Readable<'a> = (&'a str, &'a [Format]);

/// Returns the format of a file, plain or gzip.
///
/// # Errors
///
/// The file cannot be read or is empty, or its first line that is neither blank nor a comment looks like none of the
/// formats and the name does not tell either.
pub fn guess(path: &Path) -> Result<Format, DataError> {
    guess_for(path, None)
}

/// As [`guess`], for a task, which may recognise an ambiguous line.
///
/// # Errors
///
/// As there.
pub fn guess_for(path: &Path, task: Option<Readable<'_>>) -> Result<Format, DataError> {
    if let Some(names) = container::tensor_names(path) {
        let holds = |format: &&Format| format.tensor.is_some_and(|tensor| names.iter().any(|name| name == tensor));
        if let Some(format) = FORMATS.iter().find(holds) {
            return Ok(*format);
        }
        container::Container::open(path)?; // reports damage
        return Err({
            let names = names.join(", ");
            DataError::file(path, format!("a safetensors file with these tensors is none of our data: {names}"))
        });
    }
    container::refuse_compressed(path)?;
    classify(Lines::open(path)?, task)
}

pub(super) fn classify(mut lines: Lines, task: Option<Readable<'_>>) -> Result<Format, DataError> {
    let path = lines.path().to_owned();
    let by_name = FORMATS.iter().find(|format| format.is_name(&path)).copied();
    let mut readable: Vec<(u8, GuessRule, Format)> =
        FORMATS.iter().filter_map(|format| format.known_by.map(|(rank, rule)| (rank, rule, *format))).collect();
    readable.sort_by_key(|(rank, ..)| *rank);
    while let Some(line) = lines.next_line()? {
        let content = line.text.split('#').next().unwrap_or_default();
        if content.trim().is_empty() {
            continue;
        }
        if let Some((.., format)) = readable.iter().find(|(_, rule, format)| format.takes(Some(*rule), content, &path))
        {
            return Ok(*format);
        }
        let by_task = task.and_then(|(_, formats)| {
            formats.iter().find(|format| format.takes(format.likely, content, &path)).copied()
        });
        return by_name.or(by_task).ok_or_else(|| unlike(&line, task));
    }
    Err(lines.nothing("a data file"))
}

/// Says that a line is none of the formats, lists them, and shows how to name one.
fn unlike(line: &Line<'_>, task: Option<Readable<'_>>) -> DataError {
    let (of, formats) = task.map_or((String::new(), FORMATS), |(task, formats)| (format!(" of task {task}"), formats));
    let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
    let named = formats.iter().find(|format| format.likely.is_some()).or(formats.first());
    let example = named.map_or(String::new(), |format| format!(", e.g. data.format={}", format.name));
    let (found, names) = (quote(line.text), names.join(", "));
    line.error(0, format!("found {found}, which is none of the formats{of} ({names}): name it as data.format{example}"))
}

#[cfg(test)]
mod tests {
    use super::super::text::{assert_errors, gzip};
    use super::*;

    fn classified(name: &str, bytes: &[u8]) -> Result<&'static str, DataError> {
        Lines::from_bytes(name, bytes).and_then(|lines| classify(lines, None)).map(|format| format.name)
    }

    /// The first line tells the format, whatever the name and whether or not it is compressed.
    #[test]
    fn content_tells() {
        let cases: [(&str, &[u8], &str); 29] = [
            ("f", b"# text = a b\n\n1\ta\ta\tDET\tDT\tN=S|P=3\t2\tdet\t_\t_\n", "conllu"),
            ("f", b"1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n", "conllu"),
            ("f.tsv", b"1\t2\t3\t4\t5\t6\t7\t8\t9\t10\n", "csv"),
            ("f", b"B-NP\tw=a\tp=b\n", "crfsuite"),
            ("f", b"\tw=a,b\n", "crfsuite"),
            ("f.tsv", b"1\t2\tx\n", "csv"),
            ("f", b"# note\n\n+1 1:0.5\n", "libsvm"),
            ("f", b"-1\n", "libsvm"),
            ("f", b"0,4 1:0.5 2:0.5\n", "multilabel"),
            ("f.multilabel", b"4 1:0.5 2:0.5\n", "multilabel"),
            ("f.multilabel", b" 1:0.5 2:0.5\n", "multilabel"),
            ("f.csv", b"3 qid:1\n", "libsvm"),
            ("letter.gz", b"4 1:4 2:6\n", "libsvm"),
            ("f", b"1\to\t2\t1\t1\t0\t0\n", "letter"),
            ("f", b"0,1.5,7\n", "csv"),
            ("f", b"first pixel, second, label\n", "csv"),
            ("f", b"Confidence NN B-NP\nin IN B-PP\n", "conll"),
            ("f.csv", b"\n, , O\n", "conll"),
            ("f", b"12:30\tCD\tI-NP\n", "conll"),
            ("f.conll", b"the DT\n", "conll"),
            ("f", b"NN qid:1 1:1\n", "hmm"),
            ("f.hmm", b"3 qid:1 1:1\n", "hmm"),
            ("f", b"\n {\"nodes\": [{\"label\": \"a,b # c\"}]}\n", "tree"),
            ("f.jsonl", b"{\"node\": []}\n", "tree"),
            ("f.conll", b"{ ( B-NP\n", "conll"),
            ("f", b"{ \"tokens\": [\"a\"]}\n", "jsonl"),
            ("f", b"\n{\"labels\":[\"#\"]}\n", "jsonl"),
            ("f.jsonl", b"{\"columns\": [}\n", "jsonl"),
            ("f.jsonl", b"{\"id\": 1, \"tokens\": []}\n", "jsonl"),
        ];
        for (name, bytes, format) in cases {
            assert_eq!(classified(name, bytes), Ok(format), "{name} {bytes:?}");
            assert_eq!(classified(name, &gzip(bytes)), Ok(format), "{name} {bytes:?} gz");
        }
    }

    /// If a first line is spoilt, the name still finds the reader that can say how.
    #[test]
    fn name_tells_where_content_does_not() {
        assert_eq!(classified("a/letter.data.gz", b"1\t\t2\t1\t1\t0\t0\n"), Ok("letter"));
        assert_eq!(classified("a/B.CSV", b"1;2;3\n"), Ok("csv"));
        assert_eq!(classified("a.svm", b"x y z\n"), Ok("libsvm"));
    }

    /// A file of another kind is not guessed at, and the error lists what could be read.
    #[test]
    fn unknown_files_are_refused() {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let unlike = format!(
            "f:2:1: found `It was a dark night`, which is none of the formats ({}): name it as data.format, e.g. \
             data.format=conll",
            names.join(", ")
        );
        assert!(names.starts_with(&["libsvm", "letter", "csv", "conll"]) && names.ends_with(&["opaque"]));
        assert_errors(
            |lines| classify(lines, None),
            &[
                (b"", "f: found an empty file, expected a data file"),
                (b"\n#\n", "f: found only blank lines or comments, expected a data file"),
                (b"\nIt was a dark night\n", &unlike),
            ],
        );
    }

    /// A task may settle an ambiguous line; errors list the formats that it reads.
    #[test]
    fn tasks_tell_what_lines_do_not() {
        let chain: Readable<'_> = ("chain", &[&letter::FORMAT, &conll::FORMAT, &crfsuite::FORMAT, &hmm::FORMAT]);
        let found = |bytes: &[u8]| {
            let format = Lines::from_bytes("f", bytes).and_then(|lines| classify(lines, Some(chain)));
            format.map(|format| format.name).map_err(|error| error.to_string())
        };
        for line in ["dog NN\nruns VB\n\n", "# words\n\n: :\n", "12:30 CD\n"] {
            assert_eq!(found(line.as_bytes()), Ok("conll"), "{line}");
            assert!(classified("f", line.as_bytes()).is_err(), "{line}");
        }
        assert_eq!(found(b"1 1:0.5\n"), Ok("libsvm"), "another task's is told by the task");
        for line in ["dog\tNN", "dog 3", "the dog NN"] {
            let text = quote(line);
            let rule = "none of the formats of task chain (letter, conll, crfsuite, hmm): name it as data.format, e.g. \
                        data.format=conll";
            assert_eq!(found(line.as_bytes()), Err(format!("f:1:1: found {text}, which is {rule}")));
        }
    }

    /// Names and formats correspond, and no two formats have one rank.
    #[test]
    fn names_come_back() {
        assert!(FORMATS.iter().all(|format| find(format.name) == Some(*format)));
        assert_eq!(find("LIBSVM"), None);
        let mut ranks: Vec<_> = FORMATS.iter().filter_map(|format| format.known_by.map(|(rank, _)| rank)).collect();
        let count = ranks.len();
        ranks.sort_unstable();
        ranks.dedup();
        assert_eq!(ranks.len(), count);
    }
}
