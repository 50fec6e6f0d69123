//! A finished model on data without labels, on streams, and on the files that people have: what goes in, what comes out.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use crate::common::{Scratch, samples};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// The first `n` sentences with their last column, and without it.
fn sentences(scratch: &Scratch) -> (String, String) {
    scratch.succeed("data make chunks --out train.conll --n 60 --seed 1");
    scratch.succeed("data make chunks --out new.conll --n 5 --seed 2");
    scratch.succeed("train --task chain --data train.conll --passes 5 --quiet --out model");
    let text = scratch.text("new.conll");
    let bare: String =
        text.lines().map(|line| format!("{}\n", line.rsplit_once(' ').map_or(line, |(words, _)| words))).collect();
    scratch.write("bare.conll", &bare);
    (text, bare)
}

/// Runs a command with a file as its standard input.
fn piped(scratch: &Scratch, arguments: &str, file: &str) -> (String, String) {
    let mut command = scratch.command(arguments);
    let done = command.stdin(File::open(scratch.path(file)).unwrap()).output().unwrap();
    assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

/// The message of a run that is refused.
fn refused(scratch: &Scratch, arguments: &str) -> String {
    let ran = scratch.run(arguments);
    assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.stderr);
    ran.stderr
}

/// Asserts that a command is refused with this message.
fn told(scratch: &Scratch, arguments: &str, message: &str) {
    let found = refused(scratch, arguments);
    assert!(found.contains(message), "{arguments}: {found}");
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Text with one column fewer than training's has no labels: same predictions, no truth, nothing measured.
#[test]
fn text_without_labels() {
    let scratch = Scratch::new();
    let (_, bare) = sentences(&scratch);
    let plain = scratch.succeed("predict --model model --data new.conll").stdout;
    let found = scratch.succeed("predict --model model --data bare.conll");
    assert_eq!(found.stdout, plain);
    assert!(!found.stderr.contains("label"), "{}", found.stderr);
    let objects = objects(&scratch.succeed("predict --model model --data bare.conll --json").stdout);
    assert_eq!(objects.len(), 5);
    for (k, (object, line)) in objects.iter().zip(plain.lines()).enumerate() {
        assert_eq!((&object["example"], &object["prediction"]), (&json!(k), &json!(line)));
        assert_eq!((&object["truth"], &object["loss"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(scratch.json("evaluate --model model --data bare.conll")["loss"], Value::Null);

    // The columns of the input, then the prediction; blank lines stay.
    let columns = scratch.succeed("predict --model model --data bare.conll --columns").stdout;
    let mut labels = plain.split_whitespace();
    let expected = |line: &str| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{line} {}\n", labels.next().unwrap()),
    };
    assert_eq!(columns, bare.lines().map(expected).collect::<String>());
    told(
        &scratch,
        "evaluate --model model --data train.conll --set data.label_column=1",
        "data.label_column is for tables (csv), found format conll",
    );
}

/// Objects have truth, loss and score where there is a truth; the scores are those of `--top`.
#[test]
fn objects_hold_truth_loss_and_score() {
    let scratch = Scratch::new();
    let (text, _) = sentences(&scratch);
    let found = objects(&scratch.succeed("predict --model model --data new.conll --json").stdout);
    let top = objects(&scratch.succeed("predict --model model --data new.conll --top 1 --json").stdout);
    let mut losses = 0.0;
    for ((object, top), sentence) in found.iter().zip(&top).zip(text.split("\n\n")) {
        let truth: Vec<&str> = sentence.lines().map(|line| line.rsplit_once(' ').unwrap().1).collect();
        assert_eq!(object["truth"], json!(truth.join(" ")));
        assert_eq!(object["score"], top["top"][0]["score"]);
        losses += object["loss"].as_f64().unwrap();
    }
    let mean = scratch.json("evaluate --model model --data new.conll")["loss"].as_f64().unwrap();
    assert!((losses / 5.0 - mean).abs() < 1e-12);
}

/// Standard input gives what the file gives, in every form; a sentence is answered before the next one comes.
#[test]
fn streams_are_answered_as_they_come() {
    let scratch = Scratch::new();
    let (_, bare) = sentences(&scratch);
    for form in ["", " --columns", " --json", " --top 2", " --confidence"] {
        let whole = scratch.succeed(&format!("predict --model model --data bare.conll{form}")).stdout;
        let (stream, _) = piped(&scratch, &format!("predict --model model --data -{form}"), "bare.conll");
        assert_eq!(stream, whole, "{form}");
    }
    let mut child = scratch
        .command("predict --model model --data -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(from));
    for sentence in bare.trim_end().split("\n\n") {
        write!(to, "{sentence}\n\n").unwrap();
        let answer = answers.next().unwrap().unwrap(); // would wait for ever
        assert_eq!(answer.split(' ').count(), sentence.lines().count());
    }
    drop(to);
    assert!(child.wait().unwrap().success());

    // What comes before a fault is answered, and the fault names its line.
    scratch.write("broken.conll", "a DT\nb NN\n\nc NN\nd NN x y\n");
    let mut command = scratch.command("predict --model model --data - --threads 1");
    let done = command.stdin(File::open(scratch.path("broken.conll")).unwrap()).output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 1);
    assert!(error.contains("stdin:5:6: found 4 columns, expected 2 as on line 1"), "{error}");
}

/// Lines of JSON are the same examples as lines of CRFsuite's format, of columns, and of rows: one model, one answer;
/// with labels and without, plain or gzip, as a file and as a stream.
#[test]
fn json_lines_of_sequences() {
    let crfsuite = "DT\tw=the\tcap\tn:3\nNN\tw=cat\tn:3.5\n\nNN\tw=dogs\tcap\nVB\tw=bark\tnear\\:w=dogs\ttags\\:x\n";
    let objects_of = [
        r#"{"tokens": [{"w": "the", "cap": true, "n": 3}, {"w": "cat", "cap": false, "n": 3.5}], "labels": ["DT", "NN"]}"#,
        r#"{"tokens": [{"w": "dogs", "cap": true}, {"w": "bark", "near": {"w": "dogs"}, "tags": ["x"]}], "labels": ["NN", "VB"]}"#,
    ];
    let lines: String = objects_of.iter().map(|line| format!("{line}\n")).collect();
    let bare: String =
        objects_of.iter().map(|line| format!("{}}}\n", line.split(", \"labels\"").next().unwrap())).collect();
    let scratch = Scratch::new()
        .with("a.crfsuite", crfsuite)
        .with("a.jsonl", &lines)
        .with("a.gz", samples::gzip(lines.as_bytes()))
        .with("bare.jsonl", &bare);
    let train = "train --task chain --clock work --gap 1% --quiet --data";
    scratch.succeed(&format!("{train} a.crfsuite --out model"));
    for data in ["a.jsonl", "a.gz"] {
        scratch.succeed(&format!("{train} {data} --out of.jsonl"));
        assert!(scratch.bytes("of.jsonl") == scratch.bytes("model"), "{data}: one set of examples, one model");
    }
    let plain = scratch.succeed("predict --model model --data a.crfsuite").stdout;
    for data in ["a.jsonl", "bare.jsonl"] {
        assert_eq!(scratch.succeed(&format!("predict --model model --data {data}")).stdout, plain, "{data}");
        assert_eq!(piped(&scratch, "predict --model model --data -", data).0, plain, "{data}");
    }
    let found = objects(&scratch.succeed("predict --model model --data a.jsonl --json").stdout);
    assert_eq!((&found[0]["truth"], &found[0]["prediction"]), (&json!("DT NN"), &json!("DT NN")));
    assert!(found[0]["loss"] == json!(0.0) && found[0]["score"].is_f64(), "{found:?}");
    assert_eq!(scratch.json("evaluate --model model --data a.jsonl")["loss"], json!(0.0));
    assert_eq!(scratch.json("evaluate --model model --data bare.jsonl")["loss"], Value::Null);
    assert_eq!(scratch.json("verify --model model --data a.jsonl")["verified"], json!(true));
    told(
        &scratch,
        "train --task chain --data bare.jsonl --out out",
        "bare.jsonl:1:1: found no key `labels`, expected it",
    );
    told(
        &scratch,
        "predict --model model --data a.jsonl --columns",
        "--columns: format jsonl has no columns to append to",
    );

    // Columns of text, for templates.
    let (text, _) = sentences(&scratch);
    let (mut columns, mut bare) = (String::new(), String::new());
    for sentence in text.trim_end().split("\n\n") {
        let tokens: Vec<Vec<&str>> = sentence.lines().map(|line| line.split(' ').collect()).collect();
        let words: Vec<&[&str]> = tokens.iter().map(|token| &token[..token.len() - 1]).collect();
        let labels: Vec<&str> = tokens.iter().map(|token| token[token.len() - 1]).collect();
        columns += &format!("{}\n", json!({ "columns": words, "labels": labels }));
        bare += &format!("{}\n", json!({ "columns": words }));
    }
    scratch.write("columns.jsonl", columns);
    scratch.write("bare.jsonl", bare);
    let plain = scratch.succeed("predict --model model --data new.conll").stdout;
    for data in ["columns.jsonl", "bare.jsonl"] {
        assert_eq!(scratch.succeed(&format!("predict --model model --data {data}")).stdout, plain, "{data}");
        assert_eq!(piped(&scratch, "predict --model model --data -", data).0, plain, "{data}");
    }
    for data in ["new.conll", "columns.jsonl"] {
        scratch
            .succeed(&format!("train --task chain --data {data} --passes 3 --clock work --quiet --out {data}.model"));
    }
    assert!(scratch.bytes("new.conll.model") == scratch.bytes("columns.jsonl.model"), "one text, one model");
    // Words with labels are not columns without: the model's second column is missing.
    scratch.write("words.jsonl", "{\"tokens\": [\"a\"], \"labels\": [\"B-NP\"]}\n");
    told(&scratch, "predict --model model --data words.jsonl", "looks at column 1 (from 0)");

    // A sequence is answered before the next one comes, and what stands before a fault.
    scratch.write("broken.jsonl", format!("{}\n{{\"columns\": 3}}\n", json!({ "columns": [["a", "DT"]] })));
    let mut command = scratch.command("predict --model model --data - --threads 1");
    let done = command.stdin(File::open(scratch.path("broken.jsonl")).unwrap()).output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert_eq!((done.status.code(), String::from_utf8(done.stdout).unwrap().lines().count()), (Some(2), 1));
    assert!(error.contains("stdin:2:13: found integer `3`, expected a sequence"), "{error}");
}

/// Letters and tagged rows come as streams, too: a word is answered at its last letter, a sequence when the next qid
/// begins.
#[test]
fn streams_of_letters_and_rows() {
    let scratch = Scratch::new();
    scratch.succeed("data make letters --out words.data --n 40");
    scratch.succeed("train --task chain --data words.data --passes 2 --quiet --out letters");
    let whole = scratch.succeed("predict --model letters --data words.data --json").stdout;
    assert_eq!(piped(&scratch, "predict --model letters --data - --json", "words.data").0, whole);
    let rows: String =
        (0..30).map(|k| format!("{} qid:{} {}:1 5:{}\n", ["N", "V"][k % 2], k / 4, 1 + k % 3, k % 7)).collect();
    scratch.write("rows.hmm", &rows);
    scratch.write("bare.hmm", rows.replace("N ", "").replace("V ", ""));
    scratch.succeed("train --task chain --data rows.hmm --passes 5 --quiet --out rows");
    for data in ["rows.hmm", "bare.hmm"] {
        let whole = scratch.succeed(&format!("predict --model rows --data {data} --json")).stdout;
        assert_eq!(objects(&whole).len(), 8);
        assert_eq!(piped(&scratch, "predict --model rows --data - --json --format hmm", data).0, whole, "{data}");
    }
    let words = scratch.text("words.data");
    let first_word = 1 + words.lines().position(|line| line.split('\t').nth(2) == Some("-1")).unwrap();
    for (model, lines, count) in [("letters", words, first_word), ("rows --format hmm", rows, 5)] {
        let mut command = scratch.command(&format!("predict --model {model} --data -"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut answers = std::io::BufRead::lines(std::io::BufReader::new(from));
        lines.lines().take(count).for_each(|line| writeln!(to, "{line}").unwrap());
        answers.next().unwrap().unwrap(); // would wait for ever
        drop(to);
        child.wait().unwrap();
    }
    // The stream ends in mid-word.
    let cut: String = scratch.text("words.data").lines().take(1).map(|line| format!("{line}\n")).collect();
    scratch.write("cut.data", cut);
    let mut command = scratch.command("predict --model letters --data -");
    let done = command.stdin(File::open(scratch.path("cut.data")).unwrap()).output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(2) && error.contains("stdin:1:") && error.contains("mid-word"), "{error}");
}

/// A table with names, labels that are names, semicolons: trained, used with columns in another order and without labels.
#[test]
fn tables_as_people_have_them() {
    let rows =
        [("1", "0.1", "setosa"), ("0.9", "0", "setosa"), ("0", "1", "iris, other"), ("0.2", "1.5", "iris, other")];
    let table = |separator: &str| -> String {
        let row = |(a, b, label): &(&str, &str, &str)| format!("{a}{separator}{b}{separator}\"{label}\"\n");
        format!("width{separator}length{separator}species\n{}", rows.iter().map(row).collect::<String>())
    };
    let scratch = Scratch::new().with("a.csv", table(",")).with("b.csv", table(";")).with("c.tsv", table("\t"));
    for name in ["a.csv", "b.csv", "c.tsv"] {
        scratch.succeed(&format!("train --task multiclass --data {name} --clock work --quiet --out {name}.model"));
    }
    assert!(scratch.bytes("a.csv.model") == scratch.bytes("b.csv.model"), "one table, one model");
    assert!(scratch.bytes("a.csv.model") == scratch.bytes("c.tsv.model"), "one table, one model");
    let plain = scratch.succeed("predict --model a.csv.model --data a.csv").stdout;
    assert_eq!(plain, "setosa\nsetosa\niris, other\niris, other\n");
    assert_eq!(scratch.json("evaluate --model a.csv.model --data b.csv")["loss"], json!(0.0));
    assert_eq!(scratch.json("verify --model a.csv.model --data c.tsv")["verified"], json!(true));

    scratch.write("new.csv", "length,width\n1,0\n0,1\n");
    let columns = "length,width,prediction\n1,0,\"iris, other\"\n0,1,setosa\n";
    assert_eq!(scratch.succeed("predict --model a.csv.model --data new.csv --columns").stdout, columns);
    assert_eq!(piped(&scratch, "predict --model a.csv.model --data - --columns", "new.csv").0, columns);
    scratch.write("other.csv", "length,height\n1,0\n");
    told(&scratch, "predict --model a.csv.model --data other.csv", "other.csv:1:14: found no column `width`");

    // The label in another column; a wrong one is refused with those that there are.
    scratch.write(
        "first.csv",
        "species,width,length\nsetosa,1,0.1\nsetosa,0.9,0\n\"iris, other\",0,1\n\"iris, other\",0.2,1.5\n",
    );
    for column in ["species", "1", "-3"] {
        let train = "train --task multiclass --data first.csv --clock work --quiet --out first.model";
        scratch.succeed(&format!("{train} --set data.label_column={column}"));
        assert!(scratch.bytes("first.model") == scratch.bytes("a.csv.model"), "{column}");
    }
    told(
        &scratch,
        "train --task multiclass --data first.csv --set data.label_column=kind",
        "found no column `kind` (data.label_column), expected `species`, `width`, `length`",
    );
}

/// Rows of libsvm whose labels are names, used without them.
#[test]
fn rows_without_labels() {
    let scratch =
        Scratch::new().with("a.svm", "cat 1:1 2:1\ndog 2:1 3:1\ncat 1:1\n").with("new.svm", "1:1\n2:1 3:1\ndog 3:1\n");
    scratch.succeed("train --task binary --data a.svm --quiet --out model");
    let found = objects(&scratch.succeed("predict --model model --data new.svm --json").stdout);
    let shown: Vec<_> = found.iter().map(|object| (&object["prediction"], &object["truth"], &object["loss"])).collect();
    let (cat, dog, null) = (json!("cat"), json!("dog"), Value::Null);
    assert_eq!(shown, [(&cat, &null, &null), (&dog, &null, &null), (&dog, &dog, &json!(0.0))]);
    told(
        &scratch,
        "train --task binary --data new.svm",
        "new.svm:1:1: found `1:1` as label, expected an integer or a name",
    );
}

/// CRFsuite's files: the same model as that of the same features by number, and new data without labels.
#[test]
fn attributes_of_crfsuite() {
    let scratch = Scratch::new()
        .with("a.crfsuite", "B\tw=x\tcap:2\nI\tw=y\n\nO\tw=z\n\nB\tw=x\nO\tw=z\n")
        .with("a.hmm", "B qid:1 1:1 2:2\nI qid:1 3:1\nO qid:2 4:1\nB qid:3 1:1\nO qid:3 4:1\n")
        .with("new.crfsuite", "\tw=x\tnew=1\n\tw=y\n\n\tw=z\n");
    for name in ["a.crfsuite", "a.hmm"] {
        scratch.succeed(&format!("train --task chain --data {name} --clock work --quiet --out {name}.model"));
    }
    let (a, b) = (scratch.bytes("a.crfsuite.model"), scratch.bytes("a.hmm.model"));
    let w = |bytes: &[u8]| {
        let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
        tensors.tensor("w").unwrap().data().to_vec()
    };
    assert_eq!(w(&a), w(&b));
    assert_eq!(scratch.json("verify --model a.crfsuite.model --data a.crfsuite")["verified"], json!(true));
    let found = scratch.succeed("predict --model a.crfsuite.model --data new.crfsuite");
    assert_eq!(found.stdout, "B I\nO\n");
    assert!(found.stderr.contains("1 feature was never seen in training: ignored"), "{}", found.stderr);
    let columns = "\tw=x\tnew=1\tB\n\tw=y\tI\n\n\tw=z\tO\n";
    assert_eq!(piped(&scratch, "predict --model a.crfsuite.model --data - --columns", "new.crfsuite").0, columns);
    told(
        &scratch,
        "predict --model a.crfsuite.model --data a.hmm",
        "the model was trained on attributes (crfsuite, jsonl), found tagged rows (hmm, jsonl)",
    );
}

/// A first line with a field that is empty or stands for a missing number is no header but a fault.
#[test]
fn missing_numbers_are_no_header() {
    let scratch = Scratch::new();
    for first in ["NA,?,spam", ",,spam", "x,null,kind"] {
        scratch.write("t.csv", format!("{first}\n1,2,spam\n3,4,ham\n"));
        let told = refused(&scratch, "train --task multiclass --data t.csv --out m");
        assert!(told.starts_with("error: t.csv:1:"), "{told}");
    }
    scratch.write("t.csv", "0.5,1,\ta\n0.25,1,b\n");
    scratch.succeed("train --task multiclass --data t.csv --passes 1 --out m");
}

/// Labels that look like chunk tags and one that training never saw: a report without a panic.
#[test]
fn unseen_labels_among_tags_are_reported() {
    let scratch = Scratch::new().with("t.csv", "1,0,O\n0,1,B-NP\n1,1,I-NP\n");
    scratch.write("u.csv", "1,0,O\n0,1,B-NP\n1,1,I-VP\n");
    scratch.succeed("train --task multiclass --data t.csv --passes 5 --out m");
    scratch.succeed("evaluate --model m --data u.csv --report");
}

/// Labels that training never saw are errors, whatever the rescaling: every command says so, none panics.
#[test]
fn unseen_labels_are_errors_under_slack() {
    let tree = |labels: [&str; 2]| {
        let [a, b] = labels;
        format!("{{\"nodes\":[{{\"label\":\"{a}\",\"features\":{{\"a\":1}}}},{{\"label\":\"{b}\",\"parent\":0}}]}}\n")
    };
    for (task, format, known, new) in [
        ("binary", "libsvm", "-1 1:1\n1 2:1\n".to_owned(), "-1 1:1\n7 2:1\n".to_owned()),
        ("multiclass", "libsvm", "0 1:1\n1 2:1\n".into(), "0 1:1\n7 2:1\n".into()),
        ("multilabel", "multilabel", "a 1:1\na,b 2:1\n".into(), "a,q 1:1\nq 2:1\n".into()),
        ("chain", "conll", "w A\nv B\n\nw A\n\n".into(), "w A\nv Q\n\nz Q\n\n".into()),
        ("tree", "tree", tree(["A", "B"]).repeat(2), tree(["A", "Q"])),
    ] {
        let scratch = Scratch::new().with("known", known).with("new", new);
        scratch.succeed(&format!(
            "train --task {task} --format {format} --data known --set task.rescaling=slack --passes 5 --quiet --out m"
        ));
        for command in ["predict", "predict --json", "predict --top 2", "predict --confidence", "evaluate --report"] {
            let ran = scratch.run(&format!("{command} --model m --data new --format {format}"));
            assert_eq!(ran.code, Some(0), "{task}, {command}: {}", ran.stderr);
            assert!(ran.stderr.contains("training never saw"), "{task}, {command}: {}", ran.stderr);
        }
        if !["multilabel", "tree"].contains(&format) {
            piped(&scratch, &format!("predict --model m --data - --format {format}"), "new");
        }
        let told = refused(&scratch, &format!("verify --model m --data new --format {format}"));
        assert!(told.contains("not the data that the model was trained on"), "{task}: {told}");
    }
}

/// A table has all columns of the model, with or without a label, by name or not, of a file and of a stream; rows of
/// libsvm may leave out what is zero.
#[test]
fn tables_are_as_wide_as_the_model() {
    let scratch = Scratch::new()
        .with("a.csv", "5,3,1,0,x\n6,2,4,1,y\n5,3,1,1,x\n6,3,5,2,y\n")
        .with("a.svm", "-1 1:1 256:1\n1 2:1\n")
        .with("four.csv", "5,3,1,0\n")
        .with("five.csv", "5,3,1,0,x\n")
        .with("few.svm", "1:1\n");
    scratch.succeed("train --task multiclass --data a.csv --quiet --out model");
    scratch.succeed("train --task multiclass --data a.svm --quiet --out wide");
    for name in ["four.csv", "five.csv"] {
        assert_eq!(scratch.succeed(&format!("predict --model model --data {name}")).stdout, "x\n");
    }
    scratch.succeed("predict --model wide --data few.svm");
    for text in ["5,3,1\n", "5,3\n", "5,3,1,0,9,x\n"] {
        scratch.write("new.csv", text);
        let width = text.matches(',').count() + 1;
        let rule = "expected 4, the features of the model, or 5 with a label, separated by commas";
        for command in ["predict", "evaluate"] {
            let found = refused(&scratch, &format!("{command} --model model --data new.csv"));
            assert_eq!(found, format!("error: new.csv:1:{}: found {width} columns, {rule}\n", text.len()));
        }
        let mut command = scratch.command("predict --model model --data -");
        let done = command.stdin(File::open(scratch.path("new.csv")).unwrap()).output().unwrap();
        let error = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0));
        assert_eq!(error, format!("error: stdin:1:{}: found {width} columns, {rule}\n", text.len()));
    }
    told(
        &scratch,
        "predict --model wide --data five.csv",
        "found 5 columns, expected 256, the features of the model, or 257 with a label",
    );
}

/// What is compressed is known by the line that it holds, not by the bytes that hold it.
#[test]
fn compressed_streams_are_known_by_their_first_line() {
    let scratch = Scratch::new()
        .with("a.svm", "cat 1:1 2:1\ndog 2:1 3:1\ncat 1:1\n")
        .with("a.csv", "1,0,x\n0,1,y\n1,1,x\n")
        .with("new.csv", "1,0\n0,1\n")
        .with("new.svm", "# rows\n\n2:1 3:1\n1:1\n");
    sentences(&scratch);
    scratch.succeed("train --task binary --data a.svm --quiet --out rows.st");
    scratch.succeed("train --task multiclass --data a.csv --quiet --out table.st");
    for (model, name) in [("rows.st", "new.svm"), ("table.st", "new.csv"), ("model", "bare.conll")] {
        let plain = scratch.succeed(&format!("predict --model {model} --data {name}")).stdout;
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&scratch.bytes(name)).unwrap();
        scratch.write("packed", packed.finish().unwrap());
        assert_eq!(piped(&scratch, &format!("predict --model {model} --data -"), "packed").0, plain, "{name}");
    }
}

/// A file of another kind is told as `train` tells it, and not read as what it is not.
#[test]
fn files_of_another_kind_are_refused() {
    let scratch = Scratch::new()
        .with("rows.csv", "5,3,1,0,x\n6,2,4,1,y\n")
        .with("named.csv", "a,b,kind\n5,3,x\n6,2,y\n")
        .with("tags.txt", "dog NN\nruns VB\n\n");
    scratch.succeed("data make letters --out words.data --n 5");
    scratch.succeed("train --task multiclass --data rows.csv --quiet --out rows.st");
    scratch.succeed("train --task multiclass --data named.csv --quiet --out named.st");
    scratch.succeed("train --task chain --data tags.txt --quiet --out tags.st");
    scratch.succeed("train --task chain --data words.data --passes 2 --quiet --out words.st");
    let rows = "found labelled rows (libsvm or csv)";
    let letters = "task `multiclass` reads libsvm or csv, found words (letter.data)";
    for (model, data, message) in [
        ("tags.st", "named.csv", rows),
        ("tags.st", "rows.csv", rows),
        ("words.st", "named.csv", rows),
        ("rows.st", "words.data", letters),
        ("named.st", "words.data", letters),
    ] {
        for command in ["predict", "evaluate"] {
            told(&scratch, &format!("{command} --model {model} --data {data}"), message);
        }
    }
}
