//! The chain on text: columns (conll) and tagged rows (hmm), from training to F1, and what is refused.

use crate::common::{Running, Scratch, assert_keys, number};

/// Synthetic sentences and a model trained on them.
fn trained() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("data make chunks --out train.conll --n 120 --seed 1");
    scratch.succeed("data make chunks --out test.conll --n 60 --seed 2");
    scratch.succeed("train --task chain --data train.conll --passes 15 --quiet --out model");
    scratch
}

/// From columns to F1: the model reads new text, and its primal value is confirmed on the old.
#[test]
fn train_evaluate_predict_verify() {
    let scratch = trained();
    let found = scratch.json("evaluate --model model --data test.conll");
    assert_keys(
        &found,
        "task n loss accuracy exact chunks precision recall f1 \
         strict_chunks strict_precision strict_recall strict_f1",
    );
    let (precision, recall, f1) = (number(&found, "precision"), number(&found, "recall"), number(&found, "f1"));
    assert!((f1 - 2.0 * precision * recall / (precision + recall)).abs() < 1e-12);
    assert!(f1 > 0.9 && number(&found, "accuracy") > 0.9, "{found:?}");
    let text = scratch.succeed("evaluate --model model --data test.conll").stdout;
    assert!(text.contains("chunk F1"), "{text}");

    let predicted = scratch.succeed("predict --model model --data test.conll").stdout;
    let truth = scratch.text("test.conll");
    let mut right = 0;
    let mut tokens = 0;
    assert_eq!(predicted.lines().count(), 60);
    for (line, sentence) in predicted.lines().zip(truth.split("\n\n")) {
        assert_eq!(line.split(' ').count(), sentence.lines().count());
        tokens += sentence.lines().count();
        right += line
            .split(' ')
            .zip(sentence.lines())
            .filter(|(label, token)| token.ends_with(&format!(" {label}")))
            .count();
    }
    assert!((number(&found, "accuracy") - right as f64 / tokens as f64).abs() < 1e-12);

    assert_eq!(scratch.json("verify --model model --data train.conll")["verified"], true);
    scratch.write(
        "train.gz",
        crate::common::samples::gzip(scratch.text("train.conll").replace('\n', "\r\n").replace(' ', "\t")),
    );
    assert_eq!(scratch.json("verify --model model --data train.gz")["verified"], true, "same text, other wrapping");
}

/// Under a rule of steps no answer breaks it, also of a solver of expectations, and the model is verified; training
/// data that breaks it is refused with its line.
#[test]
fn transitions() {
    let scratch = Scratch::new();
    scratch.succeed("data make chunks --out train.conll --n 60 --seed 1");
    scratch.succeed("data make chunks --out test.conll --n 60 --seed 2");
    // So little is seen of words that answers break the scheme without a rule.
    let train =
        "train --task chain --data train.conll --set task.template=suffix(w[0],1) --passes 3 --clock work --quiet";
    let broken = |more: &str| {
        scratch.succeed(&format!("{train} {more} --out m"));
        assert_eq!(scratch.json("verify --model m --data train.conll")["verified"], true, "{more}");
        let answers = scratch.succeed("predict --model m --data test.conll --top 3").stdout;
        let labellings = answers.lines().map(|line| line.rsplit('\t').next().unwrap());
        let broken = |line: &&str| {
            let tags: Vec<&str> = std::iter::once("O").chain(line.split(' ')).collect();
            tags.windows(2).any(|two| two[1].starts_with("I-") && (two[0] == "O" || two[0][2..] != two[1][2..]))
        };
        labellings.filter(broken).count()
    };
    assert!(broken("") > 0, "there is nothing to forbid");
    assert_eq!(
        ["", " --solver bcpl", " --solver n-slack"].map(|more| broken(&format!("--set task.transitions=bio{more}"))),
        [0; 3]
    );

    scratch.write("bad.conll", "a O\nb O\n\nc B-X\nd O\ne I-X\n");
    for (rule, fault) in [
        ("bio", "bad.conll:6:1: found `I-X` after `O`, which task.transitions forbids"),
        (">O", "bad.conll:1:1: found `O` at the start, which task.transitions forbids"),
        ("O>", "bad.conll:2:1: found `O` at the end, which task.transitions forbids"),
        ("O=>O", "bad.conll:2:1: found `O` at the end, which task.transitions forbids"),
        ("O>X", "found `O>X`, expected bio, bioes, bilou, `A>B`"),
        ("bilou", "the labels are no tags of this scheme: B-X, I-X, O"),
    ] {
        let told = scratch.run(&format!("train --task chain --data bad.conll --set task.transitions={rule} --quiet"));
        assert!(told.code == Some(2) && told.stderr.contains(fault), "{rule}: {}", told.stderr);
    }
}

/// A treebank is read for tagging, of which the model remembers the label's column, and for trees and parsing; words
/// without labels are tagged, also from a pipe.
#[test]
fn treebanks() {
    let scratch = Scratch::new();
    let text = "# text = Dogs bark.\n1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n\
        2-3\tbark.\t_\t_\t_\t_\t_\t_\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No\n\
        3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n";
    scratch.write("t.txt", text.repeat(3)); // known by its content
    let chain = "train --task chain --data t.txt --lambda 0.01 --clock work --quiet --out m --set data.label_column";
    for (label, expected) in [("upos", "NOUN VERB PUNCT"), ("xpos", "NNS VBP ."), ("deprel", "nsubj root punct")] {
        scratch.succeed(&format!("{chain}={label}"));
        assert_eq!(number(&scratch.json("evaluate --model m --data t.txt"), "accuracy"), 1.0, "{label}");
        let mut bare = String::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let kept = |(place, field): (usize, &&str)| {
                if place == 0 || place == 1 { (*field).to_owned() } else { "_".into() }
            };
            bare += &fields.iter().enumerate().map(kept).collect::<Vec<_>>().join("\t");
            bare.push('\n');
        }
        scratch.write("bare.conllu", &bare);
        assert_eq!(scratch.succeed("predict --model m --data bare.conllu").stdout.trim_end(), expected);
        let file = std::fs::File::open(scratch.path("bare.conllu")).unwrap();
        let piped = Running::start_on(&mut scratch.command("predict --model m --data -"), file).finish();
        assert_eq!(piped.stdout.trim_end(), expected, "{}", piped.stderr);
    }
    scratch.succeed("train --task tree --data t.txt --quiet --out t");
    assert_eq!(scratch.succeed("predict --model t --data t.txt").stdout.lines().count(), 3);
    let parser = "--set task.structure=arborescence --set data.label_column=deprel --set data.ignore=form,lemma,feats";
    scratch.succeed(&format!("train --task tree {parser} --data t.txt --quiet --out p"));
    assert_eq!(number(&scratch.json("evaluate --model p --data t.txt"), "uas"), 1.0);
    let told = scratch.run("train --task chain --data t.txt --quiet --set data.label_column=tag");
    assert!(told.stderr.contains("found data.label_column=tag, expected one of form, upos"), "{}", told.stderr);
}

/// `_` in the place of a treebank's label is one that is not known, but of features; `data.underscore` says otherwise, and
/// the model remembers it.
#[test]
fn missing_labels_of_treebanks() {
    let scratch = Scratch::new();
    let text = "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2\tbark\tbark\t_\tVBP\t_\t0\troot\t_\t_\n\
        3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n";
    scratch.write("t.conllu", text.repeat(3));
    let labels = |model: &str| -> Vec<String> {
        let told = scratch.json(&format!("show {model}"));
        serde_json::from_value(told["labels"].clone()).unwrap()
    };
    let train = "--data t.conllu --lambda 0.01 --quiet --out m";
    for task in ["chain", "tree"] {
        for (options, expected) in [
            ("", &["NOUN", "PUNCT"][..]),
            ("--set data.underscore=false", &["NOUN", "PUNCT"]),
            ("--set data.underscore=true", &["NOUN", "PUNCT", "_"]),
            ("--set data.label_column=feats", &["Number=Plur", "_"]),
            ("--set data.label_column=feats --set data.underscore=false", &["Number=Plur"]),
        ] {
            scratch.succeed(&format!("train --task {task} {train} {options}"));
            assert_eq!(labels("m"), expected, "{task} {options}");
            let told = scratch.succeed("evaluate --model m --data t.conllu");
            assert!(
                told.stdout.contains("variables right       100.00 %") && told.stderr.is_empty(),
                "{} {}",
                told.stdout,
                told.stderr
            );
            let again = scratch.json("evaluate --model m --data t.conllu --set data.underscore=true");
            assert_eq!(number(&again, "accuracy") < 1.0, !expected.contains(&"_"), "{task} {options}");
        }
    }
    scratch.write("t.conll", "a O\nb O\n");
    let told = scratch.run("train --task chain --data t.conll --set data.underscore=true --out n");
    let refused = "data.underscore is for CoNLL-U (conllu), found format conll";
    assert!(told.code == Some(2) && told.stderr.contains(refused), "{}", told.stderr);
}

/// The same command gives the same bytes, and `w` has a row of features for each label.
#[test]
fn models_repeat_and_keep_the_layout() {
    let scratch = trained();
    let train = "train --task chain --data train.conll --clock work --passes 3 --quiet --set task.ends=true --set task.bias=true";
    scratch.succeed(&format!("{train} --set task.template=w[0]|p[0] --out a"));
    scratch.succeed(&format!("{train} --set task.template=[\"%x[0,0]/%x[0,1]\"] --out b"));
    let (a, b) = (scratch.bytes("a"), scratch.bytes("b"));
    let tensors = safetensors::SafeTensors::deserialize(&a).unwrap();
    let features = tensors.tensor("features.ends").unwrap().shape()[0] + 1;
    let labels = 8; // O, and B- and I- of NP, VP, ADVP; of PP only B-
    assert_eq!(scratch.weights("a").len(), labels * (features + labels + 2));
    assert_eq!(scratch.weights("a"), scratch.weights("b"));
    let names = |bytes: &[u8]| {
        let tensors = safetensors::SafeTensors::deserialize(bytes).unwrap();
        tensors.tensor("features.names").unwrap().data().to_vec()
    };
    assert_eq!(names(&a), names(&b));
    assert!(names(&a).starts_with(b"w[0]|p[0]\t"));
    // The feature `w[0]|p[0] . .` must speak for O: its weight stands in O's row, the last in sorted order.
    let found = names(&a);
    let ends: Vec<u64> = tensors
        .tensor("features.ends")
        .unwrap()
        .data()
        .as_chunks::<8>()
        .0
        .iter()
        .map(|c| u64::from_le_bytes(*c))
        .collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let stop =
        starts.zip(&ends).position(|(from, to)| &found[from as usize..*to as usize] == b"w[0]|p[0]\t.\t.").unwrap();
    let w = scratch.weights("a");
    let row: Vec<f64> = (0..labels).map(|label| w[label * features + stop]).collect();
    assert!(row[..7].iter().all(|other| *other < row[7]), "{row:?}");
}

/// Unseen words are ignored and unseen labels are errors, true chunks included; one warning each.
#[test]
fn what_training_never_saw() {
    let scratch = trained();
    scratch.write("new.conll", "the DT B-NP\nplatypus NN I-NP\n. . B-XX\n");
    let ran = scratch.succeed("evaluate --model model --data new.conll --json");
    let warnings = ran.complaints("warning:");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(warnings[0], "warning: 1 token has a label that training never saw: no answer can be right there");
    assert!(warnings[1].ends_with("features were never seen in training: ignored"), "{}", warnings[1]);
    let found = ran.object();
    assert_eq!((number(&found, "chunks"), number(&found, "loss")), (2.0, 1.0 / 3.0), "{found:?}");
    assert_eq!((number(&found, "precision"), number(&found, "recall")), (1.0, 0.5), "{found:?}");
    scratch.succeed("data make letters --out words.data --n 20");
    scratch.succeed("train --task chain --data words.data --passes 2 --quiet --out letters");
    let ran = scratch.run("predict --model letters --data new.conll");
    let message = "the model was trained on letters or tagged rows, found columns of text (conll, jsonl)";
    assert!(ran.code == Some(2) && ran.stderr.contains(message), "{}", ran.stderr);
    scratch.succeed("train --task chain --data train.conll --set task.min_count=3 --passes 2 --quiet --out rare");
    let ran = scratch.succeed("evaluate --model rare --data train.conll");
    assert!(ran.complaints("warning:")[0].contains("fewer than 3 times or never: ignored"), "{}", ran.stderr);
}

/// SVM-hmm text: sequences by qid, labels sorted as numbers, and w as wide as the largest index says.
#[test]
fn tagged_rows() {
    let mut text = String::new();
    for sequence in 1..=30 {
        for token in 0..4 {
            let tag = [2, 10, 9][(sequence + token) % 3];
            text += &format!("{tag} qid:{sequence} {}:1 5:0.{token} # token\n", (sequence + token) % 3 + 1);
        }
    }
    let scratch = Scratch::new().with("train.hmm", &text);
    let summary = scratch.json("train --task chain --data train.hmm --gap 5% --out model");
    assert_eq!((&summary["n"], &summary["d"]), (&30.into(), &(3 * 5 + 9).into()));
    let found = scratch.json("evaluate --model model --data train.hmm");
    assert_keys(&found, "task n loss accuracy exact");
    assert_eq!(number(&found, "accuracy"), 1.0);
    assert_eq!(scratch.json("verify --model model --data train.hmm")["verified"], true);
    let predicted = scratch.succeed("predict --model model --data train.hmm").stdout;
    assert_eq!(predicted.lines().next(), Some("10 9 2 10"));
    scratch.write("new.hmm", "7 qid:1 900:1\n2 qid:1 3:1\n");
    let ran = scratch.succeed("evaluate --model model --data new.hmm");
    assert_eq!(ran.complaints("warning:").len(), 2, "{}", ran.stderr);
}

/// Bad input is refused with its place and the rule, exit code 2, and nothing is written.
#[test]
fn bad_input_is_refused() {
    let scratch = trained();
    for (name, content, message) in [
        ("ragged.conll", &b"the DT B-NP\n\ncat NN\n"[..], "ragged.conll:3:7: found 2 columns, expected 3 as on line 1"),
        ("one.conll", b"word\n", "one.conll:1:5: found 1 column, expected at least 2"),
        ("blank.conll", b"\n\n \n", "blank.conll: found only blank lines"),
        ("bytes.conll", b"a b O\n\xe9 c O\n", "bytes.conll:2:1: found byte 0xe9, expected UTF-8 text"),
        ("order.hmm", b"1 qid:2 1:1\n1 qid:1 1:1\n", "order.hmm:2:7: found qid `1` after 2"),
        ("index.hmm", b"1 qid:1 999999999:1\n", "index.hmm:1:9: found index `999999999`, expected at most"),
        ("hollow.hmm", b"1 qid:1\n", "the data has no feature at all"),
    ] {
        scratch.write(name, content);
        let ran = scratch.run(&format!("train --task chain --data {name} --out new"));
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{name}: {}", ran.stderr);
        assert!(!scratch.path("new").exists());
    }
    let train = "train --task chain --data train.conll --passes 1 --out new";
    for (setting, message) in [
        (
            "task.template=c2[0]",
            "`c2[0]` looks at column 2 (from 0), the data has 3 columns, the last of them the label",
        ),
        ("task.template=word", "found `word`, expected words, tags, chunking, forms, tagging, or columns"),
        ("task.template=7", "task.template = 7"),
        ("task.min_count=0", "task.min_count = 0: must be at least 1"),
        ("task.min_count=100000", "the data has no feature at all"),
    ] {
        let ran = scratch.run(&format!("{train} --set {setting}"));
        assert_eq!(ran.code, Some(2), "{setting}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{setting}: {}", ran.stderr);
    }
    scratch.succeed("data make letters --out letter.data --n 5");
    for (arguments, message) in [
        ("train --task chain --data letter.data --set task.template=words", "task.template is for columns of text"),
        (
            "predict --model model --data letter.data",
            "the model was trained on columns of text (conll, jsonl), found words",
        ),
        ("train --task multiclass --data train.conll", "task `multiclass` reads libsvm or csv, found columns of text"),
        ("train --task chain --data train.conll --set data.folds=0", "this format has no folds"),
    ] {
        let ran = scratch.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments}: {}", ran.stderr);
    }
    scratch.write("one.conll", "the\n"); // two columns are those of training without the label
    let ran = scratch.run("predict --model model --data one.conll");
    assert!(ran.code == Some(2) && ran.stderr.contains("the data has 1 columns"), "{}", ran.stderr);
}

/// A model of text is used on files whose first line no format is known by, as it is itself trained with the format
/// named: the tags are parts of speech, and a first line may look like one of another format. Tagged rows likewise.
#[test]
fn models_know_their_format() {
    let rows = |folds: std::ops::Range<usize>| {
        let sentence = |k: usize| format!("the DT\ncat{k} NN\nsees VB\n{k}:30 CD\n\n");
        folds.map(sentence).collect::<String>()
    };
    let time_first = format!("12:30 CD\nthe DT\n\n{}", rows(0..3));
    let scratch = Scratch::new().with("train", rows(0..40)).with("test", rows(40..50)).with("time", time_first);
    let train = "train --task chain --data train --passes 5 --quiet --clock work --out model --checkpoint c";
    scratch.succeed(train); // two words a line are text to this task
    let guessed = scratch.bytes("model");
    scratch.succeed(&format!("{train} --format conll"));
    assert!(scratch.bytes("model") == guessed);
    for data in ["train", "test", "time"] {
        let given = scratch.json(&format!("evaluate --model model --data {data} --format conll"));
        assert_eq!(scratch.json(&format!("evaluate --model model --data {data}")), given, "{data}");
        let predicted = scratch.succeed(&format!("predict --model model --data {data}")).stdout;
        assert_eq!(predicted.lines().count() as f64, given["n"].as_f64().unwrap(), "{data}");
    }
    assert_eq!(scratch.json("verify --model model --data train")["verified"], true);
    assert_eq!(scratch.json("verify --model model --data train --checkpoint c")["verified"], true);
    let ran = scratch.run("predict --model model --data missing");
    assert_eq!((ran.code, ran.stderr.contains("missing: found no such file")), (Some(2), true), "{}", ran.stderr);

    // Numbers for tags: such rows are taken for LIBSVM text, but not by a model of sequences.
    scratch.write("rows", "1 qid:1 1:1\n2 qid:1 2:1\n1 qid:2 1:1\n2 qid:2 2:1\n");
    scratch.succeed("train --task chain --data rows --format hmm --passes 5 --quiet --out tagged");
    assert_eq!(scratch.succeed("predict --model tagged --data rows").stdout, "1 2\n1 2\n");
}

/// Functions with a length come through `--set` as they come from a file: commas within brackets divide no list.
#[test]
fn functions_of_templates_by_set() {
    let scratch = trained();
    for template in ["suffix(w[0],2)", "words suffix(w[0],2)", "words,suffix(w[0],2)"] {
        let train = "train --task chain --data train.conll --passes 1 --quiet --out set --set";
        let mut command = scratch.command(train);
        let ran = crate::common::run(command.arg(format!("task.template={template}")));
        assert_eq!(ran.code, Some(0), "{template}: {}", ran.stderr);
    }
    let mut command = scratch.command("train --task chain --data train.conll --passes 1 --set");
    let ran = crate::common::run(command.arg("task.template=suffix(w[0],33)"));
    assert!(ran.code == Some(2) && ran.stderr.contains("a length from 1 to 20"), "{}", ran.stderr);
}
