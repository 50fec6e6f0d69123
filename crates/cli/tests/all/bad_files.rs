//! Models that are damaged or belong to other data, and outputs that cannot be written: refused with exit code 2
//! before any work is done, and what was there before stays.

use crate::common::refusals::{TRAIN, assert_all_refused, assert_refused, folder};
use crate::common::{Scratch, samples};

/// The three commands that read a model refuse this pair of model and data with the same words.
fn assert_unusable(scratch: &Scratch, model: &str, data: &str, message: &str) {
    for command in ["predict --out labels", "evaluate --json", "verify --json"] {
        assert_refused(scratch, &format!("{command} --model {model} --data {data}"), message);
    }
}

/// A model with one changed byte, in the length, the header or the weights, is refused; so is one cut short, one
/// with something appended, and any file that is no model.
#[test]
fn damaged_models() {
    let scratch = folder();
    let whole = scratch.bytes("svm.model");
    let header = u64::from_le_bytes(*whole.first_chunk().unwrap()) as usize;
    let primal = whole.windows(8).position(|window| window == b"\"primal\\".as_slice()).unwrap() + 12; // a digit
    for (place, flip, message) in [
        (2, 0x40, "it is not a model file, or it was cut short"),
        (primal, 0x01, "its checksum does not match: the file is damaged"),
        (8 + header + 3, 0x10, "its checksum does not match: the file is damaged"),
        (whole.len() - 1, 0x80, "its checksum does not match: the file is damaged"),
    ] {
        let mut damaged = whole.clone();
        damaged[place] ^= flip;
        scratch.write("bad.model", damaged);
        assert_unusable(&scratch, "bad.model", "good.svm", &format!("error: bad.model: {message}"));
    }

    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &[0; 8]).unwrap();
    let foreign = safetensors::serialize([("w", tensor)], None).unwrap();
    for (content, message) in [
        (&whole[..whole.len() - 1], "it is not a sound safetensors file"),
        (&whole[..header], "it is not a model file, or it was cut short"),
        (&[whole.as_slice(), &[0]].concat(), "it is not a sound safetensors file"),
        (b"", "it is not a model file, or it was cut short"),
        (b"{\"w\": [1, 2, 3]}", "it is not a model file, or it was cut short"),
        (&foreign, "it is a safetensors file, but not one of multiplane's"),
    ] {
        scratch.write("bad.model", content);
        assert_unusable(&scratch, "bad.model", "good.svm", &format!("error: bad.model: {message}"));
    }
    assert_unusable(&scratch, "missing.model", "good.svm", "error: missing.model: the model could not be read");
    assert_unusable(&scratch, "folder", "good.svm", "error: folder: the model could not be read");
}

/// A model and data that do not belong together are refused with both paths and what differs.
#[test]
fn model_and_data_must_match() {
    let scratch = folder().with("wide.letter", samples::letters(12, 17)).with("narrow.letter", samples::letters(12, 1));
    for (model, data, message) in [
        (
            "letter.model",
            "good.svm",
            "task `chain` reads letter (letter.data), conll, conllu, hmm, crfsuite or jsonl, found labelled rows \
             (libsvm or csv)",
        ),
        ("svm.model", "letter.data", "task `binary` reads libsvm or csv, found words (letter.data)"),
        ("letter.model", "wide.letter", "the model was trained on letters of 16 pixels, these have 17"),
        ("letter.model", "narrow.letter", "the model was trained on letters of 16 pixels, these have 1"),
    ] {
        let message = format!("error: model {model} and data {data} do not match: {message}");
        assert_unusable(&scratch, model, data, &message);
    }
    assert_unusable(&scratch, "svm.model", "good.svm --set data.folds=0", "error: good.svm: data.folds: ");
    assert_unusable(&scratch, "letter.model", "letter.data --set data.folds=77", "error: letter.data: ");
    assert_unusable(&scratch, "letter.model", "letter.data --format libsvm", "error: letter.data:1:");
    let inside = "--set task: only data.* can be set here, the rest is in the model";
    assert_unusable(&scratch, "svm.model", "good.svm --set task.bias=true", inside);
}

/// Training and test data that do not fit the task, or each other, are refused before training.
#[test]
fn task_and_data_must_match() {
    let scratch = folder()
        .with("three.svm", samples::rows(30, &[1, 2, 3], 4))
        .with("hollow.svm", "1\n-1\n")
        .with("wide.letter", samples::letters(12, 17));
    for (arguments, message) in [
        (
            "--task chain --data good.svm",
            "task `chain` reads letter (letter.data), conll, conllu, hmm, crfsuite or jsonl, found labelled rows",
        ),
        ("--task multiclass --data letter.data", "task `multiclass` reads libsvm or csv, found words"),
        ("--task binary --data three.svm", "task `binary` needs two labels, found 3 (1, 2, 3): use --task multiclass"),
        ("--task binary --data hollow.svm", "the data has no feature at all: there is nothing to learn from"),
        ("--task binary --data good.svm --test letter.data", "task `binary` reads libsvm or csv, found words"),
        ("--task chain --data letter.data --test good.svm", "task `chain` reads letter"),
        ("--task chain --data letter.data --test wide.letter", "letters of 16 pixels, these have 17"),
        ("--task binary --data good.svm --format letter", "error: good.svm:1:"),
        ("--task chain --data letter.data --format csv", "error: letter.data:"),
    ] {
        assert_refused(&scratch, &format!("train {arguments} --out out --record record"), message);
    }
}

/// An output that cannot be written is found before training, not after: a run that would last minutes is refused
/// within two seconds.
#[test]
fn unwritable_outputs_are_found_first() {
    let scratch = folder();
    let slow = "train --task chain --data letter.data --set oracle.delay_us=1e6 --passes 100";
    for (arguments, message) in [
        ("--out nowhere/model", "error: nowhere/model: cannot be written: "),
        ("--out folder", "error: folder: cannot be written: it is a directory"),
        ("--out folder/", "error: folder/: cannot be written: it is a directory"),
        ("--out new/", "error: new/: cannot be written: it is a directory"),
        ("--out letter.data/model", "error: letter.data/model: cannot be written: "),
        ("--out out --record nowhere/record", "error: nowhere/record: cannot be written: "),
        ("--out out --record folder", "error: folder: cannot be written: it is a directory"),
        ("--out nowhere/model --record record", "error: nowhere/model: cannot be written: "),
    ] {
        let before = std::time::Instant::now();
        assert_refused(&scratch, &format!("{slow} {arguments}"), message);
        assert!(before.elapsed().as_secs_f64() < 2.0, "{arguments} took {:?}", before.elapsed());
    }
    let predict = "predict --model svm.model --data good.svm --out";
    assert_refused(&scratch, &format!("{predict} nowhere/labels"), "error: nowhere/labels: cannot be written: ");
    assert_refused(&scratch, &format!("{predict} folder"), "error: folder: cannot be written: it is a directory");
}

/// An output that is the same file as another output or as an input is refused before anything is touched.
#[test]
fn outputs_do_not_overwrite_what_the_command_uses() {
    let scratch = folder();
    let before = scratch.bytes("good.svm");
    for arguments in ["--out good.svm", "--record good.svm", "--out same --record same", "--out ./x --record x"] {
        let ran = scratch.run(&format!("train --task binary --data good.svm {arguments}"));
        assert_eq!(ran.code, Some(2), "`{arguments}`: {}", ran.stderr);
        assert!(ran.stderr.contains("would overwrite"), "`{arguments}`: {}", ran.stderr);
    }
    for output in ["good.svm", "svm.model"] {
        let ran = scratch.run(&format!("predict --model svm.model --data good.svm --out {output}"));
        assert_eq!(ran.code, Some(2), "predict --out {output}: {}", ran.stderr);
    }
    assert!(scratch.bytes("good.svm") == before);
}

/// A solver without a dual needs a stop that it can reach; a delay must be one that can be waited for.
#[test]
fn runs_that_could_not_end_are_refused() {
    let scratch = folder();
    assert_all_refused(
        &scratch,
        TRAIN,
        [
            ("--solver ssg --gap 1%", "no gap to stop at: give --passes"),
            ("--set oracle.delay_us=1e300", "must be between 0 and"),
        ],
    );
}
