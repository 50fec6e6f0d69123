//! Prior and frozen weights: the same as in the library, recorded, checked, resumed, and refused where they do not fit.

use crate::common::refusals::{assert_all_refused, assert_refused};
use crate::common::{Scratch, number, samples};
use multiplane::regularizer::Constraint;
use multiplane::{Model, RunOptions, RunSpec, Session};
use serde_json::json;

const TRAIN: &str = "train --task chain --data new.data --clock work --lambda 0.05";

/// Words with a model of some of them, and other words to train on.
fn trained() -> Scratch {
    let scratch = Scratch::new().with("old.data", samples::letters(30, 16)).with("new.data", samples::letters(9, 16));
    scratch.succeed("train --task chain --data old.data --gap 5% --clock work --quiet --out old.model");
    scratch
}

/// The command trains what the library does with the same prior and the same frozen weights; frozen weights keep the
/// prior's bits, and the primal value is found again by `verify`.
#[test]
fn the_command_does_what_the_library_does() {
    let scratch = trained();
    let pairs = 26 * 16..26 * 16 + 26 * 26;
    let old = Model::load(&scratch.path("old.model")).unwrap().w;
    for (freeze, solver) in [(None, "auto"), (Some("pair"), "mp-bcfw"), (Some("416..1092"), "mp-bcfw")] {
        let arguments = freeze.map_or(String::new(), |freeze| format!("--freeze {freeze}"));
        let summary =
            scratch.json(&format!("{TRAIN} --solver {solver} --prior old.model {arguments} --gap 1% --out new.model"));
        let spec = json!({"task": "chain", "solver": solver, "lambda": 0.05, "clock": "work", "stop": {"gap": "1%"},
                          "data": {"path": scratch.path("new.data")}});
        let session = Session::open(RunSpec::from_tree(spec.as_object().unwrap()).unwrap()).unwrap();
        let mut marks = vec![0.0; old.len()];
        if freeze.is_some() {
            marks[pairs.clone()].fill(1.0);
        }
        let marks = session.problem().from_file_layout(&marks);
        let signs = marks.iter().map(|&mark| if mark == 1.0 { Constraint::Frozen } else { Constraint::Free }).collect();
        let prior = session.problem().from_file_layout(&old);
        let (model, found) = session.with_prior(prior, signs).unwrap().run(RunOptions::default()).unwrap();
        let weights = scratch.weights("new.model");
        assert!(weights == model.w, "{freeze:?}: other weights than the library's");
        assert_eq!((number(&summary, "primal"), summary["certified"].clone()), (found.certificate.primal, json!(true)));
        assert_eq!(weights[pairs.clone()] == old[pairs.clone()], freeze.is_some(), "{freeze:?}");
        let verified = scratch.json("verify --model new.model --data new.data --prior old.model");
        assert_eq!(verified["verified"], true, "{freeze:?}: {verified:?}");
    }
    // Without a prior frozen weights are 0.
    scratch.succeed(&format!("{TRAIN} --freeze 0..26,30 --passes 3 --quiet --out zero.model"));
    let weights = scratch.weights("zero.model");
    assert!(weights[..26].iter().chain(&weights[30..31]).all(|&w| w == 0.0) && weights[26..30] != [0.0; 4]);
    assert_eq!(scratch.json("verify --model zero.model --data new.data")["verified"], true);
}

/// A run with a prior goes on from its checkpoint to the same bytes, and not with other prior weights.
#[test]
fn runs_with_a_prior_are_resumed() {
    let scratch = trained();
    let train = format!("{TRAIN} --prior old.model --freeze pair --quiet");
    scratch.succeed(&format!("{train} --passes 6 --out whole.model"));
    scratch.succeed(&format!("{train} --passes 3 --checkpoint run.ckpt --out half.model"));
    scratch.succeed("train --resume run.ckpt --passes 6 --quiet --out resumed.model");
    assert!(scratch.bytes("whole.model") == scratch.bytes("resumed.model"));
    std::fs::copy(scratch.path("old.model"), scratch.path("moved.model")).unwrap();
    scratch.succeed("train --resume run.ckpt --prior moved.model --passes 7 --quiet");
    assert_refused(
        &scratch,
        "train --resume run.ckpt --prior whole.model --passes 8",
        "prior whole.model: these are not the weights of before",
    );
    assert_refused(&scratch, "train --resume run.ckpt --freeze unary", "--freeze: the checkpoint has");
    let verify = "verify --model resumed.model --data new.data --prior old.model --checkpoint run.ckpt";
    assert_refused(&scratch, verify, "dual values of runs with prior or frozen weights are not recomputed");
}

/// Weights are matched by name, the bias's apart from a feature's that has its name. Names in another order are nothing
/// to tell of; weights that are not as many as their names are refused.
#[test]
fn names_are_matched() {
    let scratch = Scratch::new()
        .with("old", "A\tbias:1\tx:1\nB\ty:2\n\nB\tx:1\ty:1\n\n")
        .with("new", "B\ty:2\nA\tbias:1\tx:1\n\nB\ty:1\tx:1\n\n");
    let train = "train --task chain --format crfsuite --set task.bias=true --lambda 0.05 --clock work";
    scratch.succeed(&format!("{train} --data old --passes 5 --quiet --out m"));
    let told = scratch.succeed(&format!("{train} --data new --prior m --freeze unary --passes 1 --out n")).stderr;
    assert!(!told.contains("the training data does not have"), "{told}");
    let [old, new] = ["m", "n"].map(|name| Model::load(&scratch.path(name)).unwrap());
    let of = |model: &Model, label: usize, name: &str| {
        let names = model.info.provenance.vocabulary.dictionary.as_ref().unwrap();
        let at = (0..names.len()).find(|&at| names.get(at as u32) == name).unwrap_or(names.len());
        model.w[label * (names.len() + 1) + at]
    };
    for label in [0, 1] {
        for name in ["bias", "x", "y", "the bias itself"] {
            assert_eq!(of(&new, label, name), of(&old, label, name), "{label}, {name}");
        }
    }
    assert_ne!(of(&old, 0, "bias"), of(&old, 0, "the bias itself"));
    let mut short = old;
    short.w.pop();
    short.save(&scratch.path("short")).unwrap();
    let refused = format!("{train} --data new --prior short --passes 1");
    assert_refused(&scratch, &refused, "prior short: its weights are not those of its labels and features");
}

/// A prior that does not fit is refused with the reason, and so are weights that there are not.
#[test]
fn what_does_not_fit_is_refused() {
    let scratch =
        trained().with("two.svm", samples::rows(20, &[-1, 1], 4)).with("other.svm", samples::rows(20, &[1, 2], 4));
    scratch.write("wide.data", samples::letters(9, 20));
    scratch.succeed("train --task binary --data two.svm --quiet --out two.model");
    scratch.succeed("train --task chain --data wide.data --passes 2 --quiet --out wide.model");
    scratch.succeed("train --task chain --data new.data --set task.ends=true --passes 2 --quiet --out ends.model");
    scratch.succeed("path --task binary --data two.svm --lambda-min 0.1 --quiet --out path.model");
    scratch.succeed(&format!("{TRAIN} --prior old.model --passes 2 --quiet --out new.model"));
    assert_all_refused(
        &scratch,
        &format!("{TRAIN} --passes 2"),
        [
            ("--prior two.model", "prior two.model: it is a model of task `binary`, expected `chain`"),
            ("--prior wide.model", "prior wide.model: its features are not those of the training data"),
            ("--prior ends.model", "prior ends.model: it was trained with task.ends = true, expected false"),
            ("--prior path.model", "prior path.model: it is a path or grid, expected a model at one lambda"),
            ("--prior missing", "missing: "),
            ("--prior old.model --out old.model", "it would overwrite old.model"),
            ("--freeze pairs", "unknown block of weights `pairs`: did you mean `pair`?"),
            ("--freeze start", "unknown block of weights `start`"),
            ("--freeze 5..5", "freeze = 5..5: must be an index or a range as in 0..128, of weights 0..1092"),
            ("--freeze 1092", "freeze = 1092: must be"),
            ("--freeze 0..2000", "freeze = 0..2000: must be"),
            ("--freeze 0..1092", "freeze = 0..1092: must leave a weight free"),
            ("--freeze pair,unary --prior old.model", "freeze = pair,unary: must leave a weight free"),
        ],
    );
    let train = "train --task binary --data other.svm --prior two.model";
    assert_refused(&scratch, train, "prior two.model: its labels are not those of the training data");
    assert_refused(&scratch, "path --task binary --data two.svm --prior two.model", "goes from w = 0");
    let verify = "verify --model new.model --data new.data";
    assert_refused(&scratch, verify, "new.model was trained toward prior weights (sha256");
    assert_refused(&scratch, &format!("{verify} --prior new.model"), "these are not the weights of before");
    let verify = "verify --model old.model --data old.data --prior old.model";
    assert_refused(&scratch, verify, "--prior: old.model was trained without one");
}
