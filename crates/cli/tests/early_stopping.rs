//! `--patience`: training ends once the loss on held-out data does not fall any more, and the best weights are saved.

mod common;

use common::refusals::assert_all_refused;
use common::{Scratch, number, samples};

const TRAIN: &str = "train --task chain --data words.data --clock work --quiet";

fn words() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("data make letters --out words.data --n 120");
    scratch
}

/// The report is that of the weights saved: their losses, their P, which `verify` recomputes, and the lowest held-out loss of
/// all records. Records or none, one thread or two: the model's bytes are the same.
#[test]
fn the_best_weights_are_saved() {
    for solver in ["auto", "mp-bcfw-avg", "ssg-avg"] {
        let scratch = words();
        let train = format!("{TRAIN} --solver {solver} --holdout 25% --gap 0 --passes 60 --patience 3");
        let train = if solver == "ssg-avg" { train.replace("--gap 0 ", "") } else { train };
        let found = scratch.json(&format!("{train} --out a --record record --checkpoint c"));
        assert_eq!(found["stop_reason"], "patience", "{solver}");
        let early = &found["early_stopping"];
        assert_eq!((&early["since"], &early["loss"]), (&3.into(), &found["test_loss"]));
        assert!(early["pass"].as_f64().unwrap() < number(&found, "passes") && number(&found, "passes") < 60.0);
        let (primal, dual, gap) = (number(&found, "primal"), &found["dual"], &found["gap"]);
        match dual.as_f64() {
            Some(dual) => assert_eq!((gap.as_f64(), &found["certified"]), (Some(primal - dual), &true.into())),
            None => assert!(gap.is_null() && found["certified"] == false),
        }
        assert!(number(&found, "evaluation_calls") >= number(&found, "n"));
        let records = scratch.records("record");
        let losses: Vec<f64> = records.iter().filter_map(|record| record["test_loss"].as_f64()).collect();
        assert_eq!(losses.iter().copied().fold(f64::INFINITY, f64::min), number(&found, "test_loss"));
        let last = records.last().unwrap();
        assert_eq!((number(last, "primal"), number(last, "test_loss")), (primal, number(&found, "test_loss")));
        assert_eq!(&last["early_stopping"], early);
        let checkpoint = if solver == "ssg-avg" { "" } else { "--checkpoint c" };
        assert_eq!(scratch.json(&format!("verify --model a --data words.data {checkpoint}"))["verified"], true);
        scratch.succeed(&format!("{train} --out b --threads 2"));
        assert!(scratch.bytes("a") == scratch.bytes("b"), "{solver}");
    }
}

/// The summary says why it ended and what was saved, and a RUN.toml says as much as the flag.
#[test]
fn it_is_said() {
    let scratch = words();
    let toml =
        "task = \"chain\"\nclock = \"work\"\n[data]\npath = \"words.data\"\nholdout = \"25%\"\n[stop]\npatience = 3\n";
    scratch.write("run.toml", toml);
    let ran = scratch.succeed("train run.toml --out a");
    assert!(
        ran.stdout.contains("  stopped: held-out loss has not fallen for 3 measurements; saved: pass "),
        "{}",
        ran.stdout
    );
    scratch.succeed(&format!("{TRAIN} --holdout 25% --patience 3 --out b"));
    assert!(scratch.bytes("a") == scratch.bytes("b"));
    let ran = scratch.succeed(&format!("{} --holdout 25% --patience 50 --passes 3", TRAIN.replace(" --quiet", "")));
    let expected = "  stopped: the passes are spent; saved: the lowest held-out loss, pass ";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

/// With test data of either kind, and where lambda is chosen before.
#[test]
fn anything_held_out_will_do() {
    let scratch = words();
    let rows = samples::rows(90, &[-1, 1], 6);
    let test: String = rows.lines().take(30).map(|line| format!("{line}\n")).collect();
    let scratch = scratch.with("rows.svm", &rows).with("test.svm", test);
    for held_out in ["--set data.test_folds=0", "--holdout 20 --lambda cv:2", "--holdout 20 --solver sfd1"] {
        let found = scratch.json(&format!("{TRAIN} {held_out} --patience 2"));
        assert_eq!(found["early_stopping"]["loss"], found["test_loss"], "{held_out}");
    }
    let found = scratch.json(
        "train --task binary --data rows.svm --test test.svm --set task.kernel=rbf --patience 2 --clock work --quiet --out k",
    );
    assert_eq!(found["early_stopping"]["loss"], found["test_loss"]);
    assert_eq!(scratch.json("verify --model k --data rows.svm")["verified"], true);
}

/// A run that was ended early goes on to the same bytes as one that was not, with the patience of its checkpoint; one that
/// patience has ended goes on with more of it.
#[test]
fn resumed_runs_end_the_same() {
    let scratch = words();
    let train = format!("{TRAIN} --holdout 25% --gap 0");
    scratch.succeed(&format!("{train} --patience 4 --passes 60 --out plain --record plain.record"));
    scratch.succeed(&format!("{train} --patience 4 --passes 5 --out a --record a.record --checkpoint c"));
    scratch.succeed("train --resume c --passes 60 --quiet");
    assert!(scratch.bytes("a") == scratch.bytes("plain"));
    assert!(scratch.bytes("a.record") == scratch.bytes("plain.record"));
    scratch.succeed(&format!("{train} --patience 1 --passes 60 --out b --checkpoint d"));
    let found = scratch.json("train --resume d --quiet");
    assert_eq!((&found["stop_reason"], &found["early_stopping"]["since"]), (&"patience".into(), &1.into()));
    scratch.succeed("train --resume d --patience 4 --quiet");
    // The specification of the model is that of a run with these stops.
    assert!(scratch.bytes("b") == scratch.bytes("plain"));
}

/// Where nothing is held out, or patience makes no sense, it is refused with what to give.
#[test]
fn nonsense_is_refused() {
    let scratch =
        Scratch::new().with("letter.data", samples::letters(12, 8)).with("rows.svm", samples::rows(12, &[-1, 1], 3));
    let chain = "train --task chain --data letter.data --out new";
    let rows = "train --task binary --data rows.svm --out new";
    assert_all_refused(
        &scratch,
        "",
        [
            (
                format!("{chain} --patience 3"),
                "--patience 3: there are no test data whose loss could be watched; give --holdout",
            ),
            (format!("{chain} --set stop.patience=3"), "give --holdout 20%, --test FILE or --set data.test_folds=.."),
            (format!("{chain} --holdout 20% --patience 0"), "stop.patience = 0: must be at least 1"),
            (format!("{chain} --holdout 20% --patience -1"), "stop.patience = -1"),
            (format!("{chain} --holdout 20% --patience 1.5"), "stop.patience = 1.5"),
            (
                "path --task chain --data letter.data --holdout 20% --set stop.patience=2 --out new".into(),
                "--patience 2: a path or grid trains each of its models to a gap; `train` has patience",
            ),
            (format!("{rows} --stream --test rows.svm --patience 2"), "of a stream it is stream.patience"),
        ],
    );
}
