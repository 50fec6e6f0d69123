//! Features of different scales: the hint that says so, `task.scale`, and what is said where 64 bits do not suffice.

use crate::common::{Scratch, number, samples};

/// Rows of three classes whose third feature is 10^4 times as large as the others, and an `hmm` file of the same rows.
fn raw() -> Scratch {
    let (mut rows, mut tagged) = (String::new(), String::new());
    for i in 0..90_u32 {
        let class = i % 3;
        let noise = |k: u32| f64::from((i * 7919 + k * 104_729) % 1000) / 1000.0 - 0.5;
        let of = |k: u32| if class == k { 1.0 } else { 0.0 } + 0.8 * noise(k);
        let values = format!("1:{} 2:{} 3:{}", of(0), of(1), 1e4 * of(2));
        rows += &format!("{} {values}\n", class + 1);
        tagged += &format!("{} qid:{} {values}\n", class + 1, i / 3 + 1);
    }
    let test = rows.lines().step_by(4).map(|line| format!("{line}\n")).collect::<String>();
    Scratch::new().with("raw.svm", &rows).with("test.svm", test).with("raw.hmm", tagged)
}

/// A hint comes where scaling makes training fast, with the command that does it; that command is right, and then there is
/// no hint, as there is none on data of one scale.
#[test]
fn hints_come_with_the_command_that_helps() {
    let scratch = raw().with("ones.svm", samples::rows(50, &[1, 2, 3], 4));
    let blockwise = "--set solver.planes.joint=never"; // all masses at once need no scaling
    let train =
        format!("train --task multiclass --data raw.svm --gap 1% --passes 200 {blockwise} --clock work --json --out m");
    let raw = scratch.succeed(&train);
    let hints = raw.complaints("hint: ");
    assert_eq!(hints.len(), 1, "{}", raw.stderr);
    assert!(hints[0].contains("(feature 3; in the median"), "{}", hints[0]);
    let (_, command) = hints[0].split_once("scale them by ").unwrap();
    let scaled = scratch.succeed(&format!("{train} {command}"));
    assert!(!scaled.stderr.contains("scale them by"), "{}", scaled.stderr);
    let percent = |ran: &crate::common::Ran| 100.0 * number(&ran.object(), "gap") / number(&ran.object(), "primal");
    assert!(percent(&scaled) <= 1.0 && percent(&raw) > 10.0, "{} {}", percent(&scaled), percent(&raw));
    for quiet in ["--data raw.svm --quiet", "--data ones.svm", "--data raw.svm --lambda 1e9"] {
        let ran = scratch.succeed(&format!("train --task multiclass {quiet} --passes 2 --out n"));
        assert!(ran.complaints("hint").is_empty(), "{quiet}: {}", ran.stderr);
    }
}

/// Examples of many parts are the reason where the columns are not.
#[test]
fn hints_name_long_examples() {
    let token = |i: usize, of: usize| format!("{} qid:{} 1:{} 2:{}\n", 1 + i % 2, 1 + i / of, i % 2, (i * 7) % 5);
    let text = |of: usize| (0..4000).map(|i| token(i, of)).collect::<String>();
    let scratch = Scratch::new().with("long.hmm", text(1000)).with("short.hmm", text(10));
    let said = |file: &str| {
        scratch.succeed(&format!("train --task chain --data {file} --lambda 1/n --passes 2 --out m")).stderr
    };
    let long = said("long.hmm");
    assert!(long.contains("hint: an example has 1000 parts in the mean") && long.contains("a larger lambda"), "{long}");
    assert!(!said("short.hmm").contains("parts"));
}

/// Columns with names are told by them.
#[test]
fn hints_name_the_columns() {
    let scratch = raw();
    let row = |line: &str| {
        let mut fields: Vec<&str> = line.split([' ', ':']).collect();
        let label = fields.remove(0);
        format!("{},{},{},{label}\n", fields[1], fields[3], fields[5])
    };
    let rows: String = scratch.text("raw.svm").lines().map(row).collect();
    scratch.write("raw.csv", format!("near,far,petal width,kind\n{rows}"));
    let ran = scratch.succeed("train --task multiclass --data raw.csv --passes 2 --json --out m");
    let hints = ran.complaints("hint: ");
    assert!(hints[0].contains("(feature `petal width`; in the median"), "{}", ran.stderr);
}

/// Columns that vary little beside their size stay large under `standard`: the hint then names `max-abs`, which mends it,
/// and not scaling as such, which there is.
#[test]
fn standard_that_does_not_help_is_told() {
    let value = |i: u32| 1.6e18 + 1e12 * f64::from(i * 7919 % 1000) / 1000.0;
    let row = |i: u32| format!("{} 1:{} 2:{}\n", i % 3, f64::from(i * 31 % 17) / 8.0 - 1.0, value(i));
    let scratch = Scratch::new().with("ts.svm", (0..300).map(row).collect::<String>());
    let train = "train --task multiclass --data ts.svm --passes 40 --clock work --out m --set task.scale=";
    let standard = scratch.succeed(&format!("{train}standard"));
    let hints = standard.complaints("hint: ");
    assert!(hints.len() == 1 && !hints[0].contains("scale them by"), "{}", standard.stderr);
    assert!(hints[0].contains("does not centre") && hints[0].ends_with("--set task.scale=max-abs"), "{}", hints[0]);
    let scaled = scratch.succeed(&format!("{train}max-abs"));
    assert_eq!(scaled.complaints(""), Vec::<&str>::new(), "{}", scaled.stderr);
}

/// A run says that it stands still only where nothing moves: not of Frank-Wolfe, which is slow, nor of raw features, while
/// their dual value rises; and of a gap of rounding it says so, without a word of scale.
#[test]
fn what_moves_does_not_stand_still() {
    let scratch = raw();
    let stopped = |rest: &str| {
        let ran = scratch.succeed(&format!("train --task multiclass --data raw.svm --clock work --out m {rest}"));
        ran.stdout.lines().find(|line| line.contains("stopped: ")).unwrap().to_string()
    };
    for moving in ["--solver fw --passes 12", "--solver bcfw --passes 40"] {
        assert!(!stopped(moving).contains("moved"), "{moving}: {}", stopped(moving));
    }
    let still = stopped("--set task.scale=max-abs --gap 1e-300 --passes 600 --lambda 0.1");
    assert!(still.contains("hardly moved since pass") && still.contains("as small as rounding"), "{still}");
}

/// An absolute gap that w = 0 has already is warned of once, with the one that was meant.
#[test]
fn a_gap_without_its_percent_sign_is_warned_of() {
    let scratch = raw();
    for (gap, count) in [("5", 1), ("5%", 0), ("0.5", 0)] {
        let ran = scratch.succeed(&format!("train --task multiclass --data raw.svm --gap {gap} --passes 3 --out m"));
        let warnings = ran.complaints("warning: a gap of 5 is absolute");
        assert_eq!(warnings.len(), count, "{gap}: {}", ran.stderr);
        assert!(warnings.iter().all(|warning| warning.contains("5% is relative")), "{}", ran.stderr);
    }
}

/// A model's scale is part of it: everything that uses it divides data in the same way, `w` belongs to the scaled features,
/// and the tensor `features.scale` turns it into weights of the raw ones.
#[test]
fn scaled_models_are_used_as_they_were_trained() {
    for (task, data, test) in
        [("multiclass", "raw.svm", "test.svm"), ("binary", "two.svm", "two.svm"), ("chain", "raw.hmm", "raw.hmm")]
    {
        let scratch = raw();
        let rows = scratch.text("raw.svm");
        let two = rows.lines().filter(|line| !line.starts_with('3'));
        scratch.write("two.svm", two.map(|line| line.to_string() + "\n").collect::<String>());
        for scale in ["max-abs", "standard"] {
            let name = format!("{task}, {scale}");
            let found = scratch.json(&format!(
                "train --task {task} --data {data} --test {test} --set task.scale={scale} --passes 60 --clock work \
                 --checkpoint c --out m"
            ));
            let on = format!("--model m --data {data}");
            assert_eq!(
                number(&scratch.json(&format!("evaluate {on}")), "loss"),
                number(&found, "train_loss"),
                "{name}"
            );
            let loss = number(&scratch.json(&format!("evaluate --model m --data {test}")), "loss");
            assert_eq!(loss, number(&found, "test_loss"), "{name}");
            let verified = scratch.json(&format!("verify {on} --checkpoint c"));
            assert_eq!(verified["verified"], true, "{name}: {verified:?}");
            let again = scratch.json("train --resume c --passes 80 --out again");
            assert!(number(&again, "dual") >= number(&found, "dual") - 1e-12, "{name}");
            let ran = scratch.run(&format!("train --task {task} --data {data} --prior m --passes 2 --out n"));
            assert_eq!((ran.code, ran.stderr.contains("task.scale")), (Some(2), true), "{name}: {}", ran.stderr);
            scratch.succeed(&format!(
                "train --task {task} --data {data} --prior m --set task.scale={scale} --passes 2 --quiet --out n"
            ));
            if task != "multiclass" {
                continue;
            }
            let (w, divisors) = (scratch.weights("m"), scratch.tensor("m", "features.scale"));
            let predicted = scratch.succeed(&format!("predict {on}")).stdout;
            for (row, label) in scratch.text(data).lines().zip(predicted.lines()) {
                let values: Vec<f64> =
                    row.split(' ').skip(1).map(|word| word.split_once(':').unwrap().1.parse().unwrap()).collect();
                let score = |class: usize| -> f64 { (0..3).map(|k| values[k] * w[3 * class + k] / divisors[k]).sum() };
                let best = (0..3).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
                assert_eq!(label, (best + 1).to_string(), "{name}: {row}");
            }
        }
    }
}

/// What cannot be scaled is refused, and so is a scale that there is not.
#[test]
fn what_has_no_scale_is_refused() {
    let scratch = raw().with("words.conll", "a B-X\nb O\n\nb O\n");
    for (run, message) in [
        (
            "train --task chain --data words.conll --set task.scale=max-abs",
            "task.scale is for features that are numbers",
        ),
        ("train --task multiclass --data raw.svm --set task.scale=robust", "max-abs"),
    ] {
        let ran = scratch.run(&format!("{run} --passes 2 --out m"));
        assert_eq!((ran.code, ran.stderr.contains(message)), (Some(2), true), "{run}: {}", ran.stderr);
    }
}

/// Timestamps in nanoseconds beside numbers of order 1: no false certificate, and the run says which feature it is and what
/// to do, which helps; `verify` finds the values true.
#[test]
fn timestamps_are_named() {
    let mut rows = String::new();
    for (i, label) in [2, 1, 1, 2, 3, 1].into_iter().enumerate() {
        let time = 1.6e18 + 1e12 * f64::from([37, 911, 4, 650, 222, 801][i]);
        rows += &format!("{label} 1:{} 2:{time} 3:{}\n", 0.3 * i as f64 - 0.7, [1.1, -0.4, 0.2, 0.9, -1.3, 0.5][i]);
    }
    let scratch = Scratch::new().with("ts.svm", rows);
    for solver in ["bcfw", "auto", "bcpfw-gap", "fw"] {
        let train = format!(
            "train --task multiclass --data ts.svm --lambda 1 --solver {solver} --passes 300 --clock work --json --out m"
        );
        let ran = scratch.succeed(&train);
        let found = ran.object();
        assert_eq!(found["certified"], false, "{solver}: {found:?}");
        let warnings = ran.complaints("warning: 64-bit numbers do not suffice here");
        assert_eq!(warnings.len(), 1, "{solver}: {}", ran.stderr);
        assert!(warnings[0].contains("feature 2 (up to 1.60e18) spans too much"), "{}", warnings[0]);
        assert!(warnings[0].contains("the median feature goes up to 1.3"), "{}", warnings[0]);
        assert!(!warnings[0].contains("of the gap"), "rounding is no part of a smaller gap: {}", warnings[0]);
        assert!(ran.complaints("hint: ").iter().all(|hint| hint.contains("lost in rounding")), "{}", ran.stderr);
        let words = scratch.succeed(&train.replace(" --json", "")).stdout;
        assert!(words.contains("not certified: lost in rounding"), "{solver}: {words}");
        assert!(!words.contains("the oracle proves nothing"), "{solver}: {words}");
        let (_, command) = warnings[0].split_once("scale them by ").unwrap();
        assert_eq!(scratch.json("verify --model m --data ts.svm")["verified"], true, "{solver}");
        let scaled = scratch.succeed(&format!("{train} {command}"));
        assert!(scaled.complaints("warning").is_empty(), "{solver}: {}", scaled.stderr);
        assert_eq!(scaled.object()["certified"], true, "{solver}");
    }
}

/// `verify` grants what rounding explains: where features are so long that the optimum is tiny beside the losses, honest
/// runs are found true, their checkpoints too, by every kind of dual point.
#[test]
fn honest_runs_are_true_at_any_scale() {
    for (exponent, scratch) in [(8, Scratch::new()), (10, Scratch::new())] {
        let noise = |i: u32, k: u32| f64::from((i * 7919 + k * 104_729 + i * i * 31) % 1000) / 500.0 - 1.0;
        let value = |i: u32, k: u32| noise(i, k) * 10_f64.powi(exponent);
        let row = |i: u32| format!("{} 1:{} 2:{} 3:{}\n", i % 3, value(i, 0), value(i, 1), value(i, 2));
        scratch.write("big.svm", (0..40).map(row).collect::<String>());
        for solver in ["auto", "bcfw", "bcpfw", "mp-bcfw"] {
            scratch.succeed(&format!(
                "train --task multiclass --data big.svm --lambda 1 --solver {solver} --passes 300 --clock work --quiet \
                 --checkpoint {solver}.c --out {solver}"
            ));
            let found = scratch.json(&format!("verify --model {solver} --data big.svm --checkpoint {solver}.c"));
            assert_eq!(found["verified"], true, "10^{exponent}, {solver}: {found:?}");
        }
    }
}
