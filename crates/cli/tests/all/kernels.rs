//! Kernels from end to end: trained, certified, verified, resumed and used on other data; what cannot be is refused.

use crate::common::samples::{letters, rings};
use crate::common::{Scratch, describe, number};

/// A kernel separates the rings; bounds hold and are verified; a run that was cut goes on to the same bytes; losses on test
/// data while training are those of the model afterwards; rows of support are those of the file alone.
#[test]
fn rings_are_told_apart() {
    let scratch = rings();
    let kernels = [
        "rbf --set task.kernel.gamma=2",
        "polynomial --set task.kernel.degree=2 --set task.kernel.coef0=1",
        "rbf --set task.bias=true --set task.scale=max-abs --set task.kernel_rows.storage=f64",
    ];
    for (task, data, least) in [("binary", "two", 0.95), ("multiclass", "three", 0.85), ("multiclass", "two", 0.95)] {
        for kernel in kernels {
            let what = format!("{task}, {data}, {kernel}");
            let train = format!(
                "train --task {task} --data train.{data} --test test.{data} --set task.kernel={kernel} --lambda c:10 \
                 --gap 1% --clock work"
            );
            let found = scratch.json(&format!("{train} --out m"));
            assert_eq!(found["certified"], true, "{what}: {found:?}");
            assert!(number(&found, "gap") <= 0.01 * number(&found, "primal") * (1.0 + 1e-12), "{what}: {found:?}");
            let evaluated = scratch.json(&format!("evaluate --model m --data test.{data}"));
            assert_eq!(evaluated["loss"], found["test_loss"], "{what}");
            assert!(number(&evaluated, "accuracy") >= least, "{what}: {evaluated:?}");
            assert_eq!(scratch.json(&format!("evaluate --model m --data train.{data}"))["loss"], found["train_loss"]);
            let verified = scratch.json(&format!("verify --model m --data train.{data}"));
            assert_eq!(verified["verified"], true, "{what}: {verified:?}");
            scratch.json(&format!("{train} --passes 3 --checkpoint c --out early"));
            scratch.json("train --resume c --passes 1000 --gap 1% --out again");
            let again = scratch.json(&format!("verify --model again --data train.{data}"));
            assert_eq!(again["verified"], true, "{what}: {again:?}");
        }
    }
    let linear = scratch.json("train --task binary --data train.two --set task.bias=true --gap 5% --out l");
    assert!(number(&linear, "train_loss") > 0.2, "{linear:?}");
}

/// Sequences with a kernel on their positions: bounds hold and are verified, a run that was cut goes on, other data get the
/// losses that training told, budgets hold, and the linear kernel comes to the optimum of no kernel.
#[test]
fn chains_have_kernels() {
    let scratch = Scratch::new().with("words", letters(30, 8)).with("others", letters(14, 8));
    let options = "--task chain --data words --test others --lambda c:1 --clock work";
    for kernel in [
        "rbf --set task.kernel.gamma=0.5",
        "polynomial --set task.kernel.degree=2 --set task.kernel.coef0=1 --set task.ends=true --set task.bias=true",
        "intersection --set task.kernel_rows.storage=f64 --set task.kernel_rows.cache_mb=0 --solver one-slack",
        "rbf --set task.kernel.gamma=0.2 --set task.bias=true --solver bcfw-gap",
    ] {
        let train = format!("train {options} --gap 1% --set task.kernel={kernel}");
        let found = scratch.json(&format!("{train} --out m"));
        assert!(found["certified"] == true && number(&found, "support_vectors") > 1.0, "{kernel}: {found:?}");
        for (data, loss) in [("words", "train_loss"), ("others", "test_loss")] {
            let evaluated = scratch.json(&format!("evaluate --model m --data {data}"));
            assert_eq!(evaluated["loss"], found[loss], "{kernel}");
        }
        let verified = scratch.json("verify --model m --data words");
        assert_eq!(verified["verified"], true, "{kernel}: {verified:?}");
        scratch.json(&format!("{train} --passes 3 --checkpoint c --out early"));
        let again = scratch.json("train --resume c --passes 1000 --gap 1% --out again");
        let verified = scratch.json("verify --model again --data words");
        assert!(again["certified"] == true && verified["verified"] == true, "{kernel}: {again:?}, {verified:?}");
    }
    let reduced = "--set task.kernel=rbf --set task.ends=true --set task.kernel_budget=20";
    let found = scratch.json(&format!("train {options} --gap 1% {reduced} --out m"));
    assert!(number(&found, "support_vectors") <= 20.0, "{found:?}");
    let verified = scratch.json("verify --model m --data words");
    assert_eq!(verified["verified"], true, "{verified:?}");
    assert_eq!(scratch.json("evaluate --model m --data others")["loss"], found["test_loss"]);
    for more in ["", "--set task.ends=true --set task.bias=true"] {
        let plain = scratch.json(&format!("train {options} --gap 0.1% {more} --out m"));
        let kernel = scratch.json(&format!("train {options} --gap 0.1% {more} --set task.kernel=linear --out m"));
        let (low, high) = (number(&plain, "dual"), number(&plain, "primal"));
        assert!(number(&kernel, "dual") <= high && number(&kernel, "primal") >= low, "{plain:?}, {kernel:?}");
    }
    let ran = scratch.run(&format!("train {options} --set task.kernel=precomputed --out out"));
    assert!(ran.code == Some(2) && ran.stderr.contains("is for rows, found sequences"), "{}", ran.stderr);
}

/// The linear kernel comes to the optimum of no kernel.
#[test]
fn linear_kernels_are_linear() {
    let scratch = rings();
    let train =
        "train --task multiclass --data train.three --lambda 0.01 --gap 0.01% --clock work --set task.bias=true";
    let plain = scratch.json(&format!("{train} --out m"));
    let kernel = scratch.json(&format!("{train} --out m --set task.kernel=linear"));
    let (low, high) = (number(&plain, "dual"), number(&plain, "primal"));
    assert!(number(&kernel, "dual") <= high && number(&kernel, "primal") >= low, "{plain:?}, {kernel:?}");
}

/// What a kernel cannot do is refused with its name, and nothing is written.
#[test]
fn what_cannot_be_is_refused() {
    let scratch = rings();
    scratch.write("bad.svm", "1 1:-0.5 2:1\n-1 1:2 2:3\n");
    for (arguments, message) in [
        ("--data train.two --set task.kernel=rbf --set task.kernel.gamma=0", "must be a number > 0"),
        ("--data train.two --set task.kernel=rbf --set task.kernel.gamma=wide", "must be a number > 0"),
        ("--data train.two --set task.kernel=gauss", "unknown kernel `gauss`: did you mean `rbf`?"),
        ("--data train.two --set task.kernel=polynomial --set task.kernel.degree=0", "degree = 0: must be at least 1"),
        ("--data bad.svm --set task.kernel=chi-square", "found -0.5 in row 1, column 1"),
        ("--data bad.svm --set task.kernel=intersection", "found -0.5 in row 1, column 1"),
        ("--data train.two --set task.kernel=rbf --freeze 0", "--freeze: not with a kernel (task.kernel=rbf)"),
        ("--data train.two --set task.kernel=rbf --solver fw", "kernel"),
        ("--data train.two --set task.kernel=rbf --solver bcpl", "kernel"),
    ] {
        let ran = scratch.run(&format!("train --task binary {arguments} --passes 2 --quiet --out out"));
        let told = ran.complaints("error:");
        assert!(ran.code == Some(2) && told.len() == 1, "{arguments}: {:?} {}", ran.code, ran.stderr);
        assert!(told[0].contains(message), "{arguments}: {}", ran.stderr);
        assert!(!scratch.path("out").exists());
    }
    scratch.succeed(
        "train --task binary --data train.two --set task.kernel=rbf --passes 5 --checkpoint c --quiet --out m",
    );
    // Neither a prior for a kernel nor one with a kernel.
    for kernel in ["--set task.kernel=rbf", ""] {
        let ran = scratch.run(&format!("train --task binary --data train.two {kernel} --prior m --passes 2 --out out"));
        let told = "priors do without kernels, expected task.kernel = none";
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{}", ran.stderr);
    }
    let budget = "--set task.kernel_budget=9";
    for points in ["--grid 1,0.1", "--eps 0.1 --lambda-min 0.1"] {
        let path = format!("path --task binary --data train.two --set task.kernel=rbf {budget} {points} --out out");
        let ran = scratch.run(&path);
        assert!(ran.code == Some(2) && ran.stderr.contains("task.kernel_budget: a "), "{}", ran.stderr);
    }
    assert!(!scratch.path("out").exists());
    // Data that the kernel of a model is not defined on are refused as those of training are.
    scratch.write("good.svm", "1 1:0.5 2:1\n-1 1:2 2:3\n");
    for kernel in ["chi-square", "intersection"] {
        scratch.succeed(&format!(
            "train --task binary --data good.svm --set task.kernel={kernel} --passes 5 --quiet --out m"
        ));
        for command in ["predict", "evaluate", "verify"] {
            let ran = scratch.run(&format!("{command} --model m --data bad.svm"));
            assert!(
                ran.code == Some(2) && ran.stderr.contains("found -0.5 in row 1, column 1"),
                "{command}: {}",
                ran.stderr
            );
        }
    }
}

/// Every solver that takes kernels trains with one, to a bracket of one optimum where it certifies.
#[test]
fn solvers_with_kernels() {
    let scratch = rings();
    let kernel = "--set task.kernel=rbf --set task.kernel.gamma=2 --lambda c:1 --clock work";
    let best = scratch.json(&format!("train --task binary --data train.two {kernel} --gap 0.1% --out m"));
    let listed = describe("solver");
    let mut seen = 0;
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")).filter_map(|line| line.split(' ').next());
    for solver in names.filter(|name| !name.is_empty()) {
        let train =
            format!("train --task binary --data train.two {kernel} --solver {solver} --passes 40 --quiet --out m");
        let ran = scratch.run(&format!("{train} --json"));
        if ["fw", "bcpl", "pl", "oeg", "eg"].contains(&solver) {
            assert!(ran.code == Some(2) && ran.stderr.contains("kernel"), "{solver}: {}", ran.stderr);
            continue;
        }
        assert_eq!(ran.code, Some(0), "{solver}: {}", ran.stderr);
        let found: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&ran.stdout).unwrap();
        assert!(number(&found, "primal") >= number(&best, "dual"), "{solver}: {found:?}");
        if found["certified"] == true {
            assert!(number(&found, "dual") <= number(&best, "primal"), "{solver}: {found:?}");
        }
        let verified = scratch.run("verify --model m --data train.two");
        assert_eq!(verified.code, Some(0), "{solver}: {}{}", verified.stdout, verified.stderr);
        seen += 1;
    }
    assert!(seen >= 20, "{seen} solvers");
}

/// The rows of a file of `rings`, and the classes that they have.
fn points(scratch: &Scratch, name: &str) -> (Vec<[f64; 2]>, Vec<String>) {
    let text = std::fs::read_to_string(scratch.path(name)).unwrap();
    let row = |line: &str| {
        let mut words = line.split(' ');
        let class = words.next().unwrap().to_owned();
        let numbers: Vec<f64> = words.map(|word| word[2..].parse().unwrap()).collect();
        ([numbers[0], numbers[1]], class)
    };
    text.lines().map(row).unzip()
}

/// Rows of the Gaussian kernel's matrix, gamma = 2, with the training rows as columns.
fn gaussian(rows: &(Vec<[f64; 2]>, Vec<String>), columns: &[[f64; 2]]) -> String {
    let mut text = String::new();
    for (row, class) in rows.0.iter().zip(&rows.1) {
        text += class;
        for (k, column) in columns.iter().enumerate() {
            let square: f64 = row.iter().zip(column).map(|(a, b)| (a - b) * (a - b)).sum();
            text += &format!(" {}:{}", k + 1, (-2.0 * square).exp());
        }
        text += "\n";
    }
    text
}

/// A matrix that was given makes the model of the kernel that it was computed with, on other data too.
#[test]
fn given_matrices_are_kernels() {
    let scratch = rings();
    for (task, data) in [("binary", "two"), ("multiclass", "three")] {
        let (train, test) = (points(&scratch, &format!("train.{data}")), points(&scratch, &format!("test.{data}")));
        scratch.write("train.k", gaussian(&train, &train.0));
        scratch.write("test.k", gaussian(&test, &train.0));
        let options = "--lambda c:10 --gap 0.1% --clock work --set task.kernel_rows.storage=f64 --set task.bias=true";
        let budget = "--set task.kernel_budget=10";
        let run = |name: &str, kernel: &str| {
            let of = format!("--task {task} --data train.{name} --test test.{name} --set task.kernel={kernel}");
            let reduced = scratch.json(&format!("train {of} {options} {budget} --out m.{name}"));
            let verified = scratch.json(&format!("verify --model m.{name} --data train.{name}"));
            assert!(verified["verified"] == true && number(&reduced, "support_vectors") <= 10.0, "{reduced:?}");
            scratch.json(&format!("train {of} {options} --out m.{name}"))
        };
        let (computed, given) = (run(data, "rbf --set task.kernel.gamma=2"), run("k", "precomputed"));
        for key in ["primal", "dual"] {
            let (one, other) = (number(&computed, key), number(&given, key));
            assert!((one - other).abs() <= 1e-3 * one, "{task}, {key}: {one}, {other}");
        }
        assert_eq!(computed["test_loss"], given["test_loss"], "{task}");
        assert!(given["certified"] == true && number(&given, "support_vectors") < 120.0, "{given:?}");
        let evaluated = scratch.json("evaluate --model m.k --data test.k");
        assert_eq!(evaluated["loss"], given["test_loss"], "{task}");
        let verified = scratch.json("verify --model m.k --data train.k");
        assert_eq!(verified["verified"], true, "{verified:?}");
    }
}

/// A matrix must be square, symmetric and finite; new rows have a value for every training row.
#[test]
fn given_matrices_are_checked() {
    let scratch = rings();
    scratch.write("good", "1 1:1 2:0.5\n-1 1:0.5 2:1\n");
    scratch.succeed("train --task binary --data good --set task.kernel=precomputed --quiet --out m");
    for (rows, message) in [
        ("1 1:1 2:0.5 3:0\n-1 1:0.5 2:1 3:0\n", "found 2 rows of 3 columns, expected 2 columns"),
        ("1 1:1\n-1 1:0.5\n", "found 2 rows of 1 columns, expected 2 columns"),
        ("1 1:1 2:0.5\n-1 1:0.25 2:1\n", "the matrix must be symmetric"),
        ("1 1:-1 2:0.5\n-1 1:0.5 2:1\n", "no number below 0 on the diagonal"),
        ("1 1:1 2:2\n-1 1:2 2:1\n", "the matrix must be positive semidefinite"),
        ("1 1:0 2:2\n-1 1:2 2:1\n", "the matrix must be positive semidefinite"),
        (
            "1 1:1 2:0.9 3:-0.9\n-1 1:0.9 2:1 3:0.9\n1 1:-0.9 2:0.9 3:1\n",
            "positive semidefinite: elimination leaves -1.520e1 of row 2, expected at least -1.0e-5",
        ),
        ("1 1:1 2:nan\n-1 1:nan 2:1\n", "nan"),
        ("1 1:1 2:1e39\n-1 1:1e39 2:1\n", "no number beyond 32 bits"),
    ] {
        scratch.write("bad", rows);
        let ran = scratch.run("train --task binary --data bad --set task.kernel=precomputed --quiet --out out");
        let told = ran.complaints("error:");
        assert!(ran.code == Some(2) && told.len() == 1 && told[0].contains(message), "{rows}: {}", ran.stderr);
        assert!(!scratch.path("out").exists());
    }
    let ran = scratch.run(
        "train --task binary --data good --set task.kernel=precomputed --set task.scale=max-abs --quiet --out out",
    );
    assert!(ran.code == Some(2) && ran.stderr.contains("task.scale=none"), "{}", ran.stderr);
    scratch.write("new", "1 1:0.3 2:0.5 3:0.2\n");
    for command in ["predict", "evaluate"] {
        let ran = scratch.run(&format!("{command} --model m --data new"));
        assert!(ran.code == Some(2) && ran.stderr.contains("expected 2 columns"), "{command}: {}", ran.stderr);
    }
}

/// A model within a budget has no more rows, losses and bounds of its own that `verify` finds true, and the run's dual value;
/// a budget that is large enough changes nothing of the model.
#[test]
fn models_within_a_budget() {
    let scratch = rings();
    for (task, data, more) in [
        ("binary", "two", ""),
        ("multiclass", "three", "--set task.bias=true --set task.kernel_rows.storage=f64"),
        ("multiclass", "two", "--set task.scale=max-abs"),
    ] {
        let train = format!(
            "train --task {task} --data train.{data} --test test.{data} --set task.kernel=rbf --set task.kernel.gamma=2 {more} \
             --lambda c:10 --gap 1% --clock work --out m"
        );
        let whole = scratch.json(&train);
        let mut lost = Vec::new();
        for rows in [1, 3, 12, 200] {
            let what = format!("{task}, {data}, {rows}");
            let found = scratch.json(&format!("{train} --set task.kernel_budget={rows}"));
            assert!(number(&found, "support_vectors") <= f64::from(rows), "{what}: {found:?}");
            assert_eq!(found["dual"], whole["dual"], "{what}");
            assert!(number(&found, "gap") >= number(&whole, "primal") - number(&whole, "dual") - 1e-2, "{what}");
            let verified = scratch.run(&format!("verify --model m --data train.{data}"));
            assert_eq!(verified.code, Some(0), "{what}: {}{}", verified.stdout, verified.stderr);
            for (on, loss) in [("train", "train_loss"), ("test", "test_loss")] {
                let evaluated = scratch.json(&format!("evaluate --model m --data {on}.{data}"));
                assert_eq!(evaluated["loss"], found[loss], "{what}");
            }
            let before = found.get("gap_before_reduction");
            if f64::from(rows) >= number(&whole, "support_vectors") {
                assert_eq!(before, None, "{what}");
                for key in ["primal", "gap", "test_loss", "support_vectors", "kernel_evaluations", "evaluation_calls"] {
                    assert_eq!(found[key], whole[key], "{what}, {key}");
                }
            } else {
                assert_eq!(before, whole.get("gap"), "{what}");
                let [reduced, of_run] =
                    [&found, &whole].map(|run| number(run, "kernel_evaluations") + number(run, "kernel_reread"));
                assert!(reduced > of_run, "{what}: rows of the model are read again from those kept");
            }
            lost.push(number(&found, "primal"));
        }
        // Of twelve rows little is lost.
        assert!(lost[2] < 0.3, "{task}, {data}: {lost:?}");
    }
}

/// The summary tells the gap that ended the run from that of the model.
#[test]
fn gaps_of_reduced_models_are_told_apart() {
    let scratch = rings();
    let train = "train --task binary --data train.two --set task.kernel=rbf --set task.kernel.gamma=2 --lambda c:10 --gap 1% \
                 --clock work --out m --set task.kernel_budget=9";
    let found = scratch.succeed(train).stdout;
    let stopped = found.find("stopped: the gap is reached").unwrap_or_else(|| panic!("{found}"));
    assert!(found[stopped..].contains("after reduction to 9 rows: gap 0."), "{found}");
}

/// Online solvers have the option too; what cannot be is refused in one line that says what can.
#[test]
fn budgets_are_for_kernels() {
    let scratch = rings();
    let train =
        "train --task binary --data train.two --set task.kernel=rbf --set task.kernel.gamma=2 --passes 4 --clock work";
    for solver in ["sfd1", "sfd2", "pegasos", "pegasos-avg", "ssg", "ssg-avg"] {
        let found = scratch.json(&format!("{train} --solver {solver} --set task.kernel_budget=4 --out m"));
        assert!(number(&found, "support_vectors") <= 4.0, "{solver}: {found:?}");
        let verified = scratch.run("verify --model m --data train.two");
        assert_eq!(verified.code, Some(0), "{solver}: {}", verified.stdout);
    }
    for (arguments, message) in [
        ("--set task.kernel=rbf --set task.kernel_budget=0", "kernel_budget = 0: must be at least 1"),
        ("--set task.kernel_budget=9", "kernel_budget = 9: needs a kernel"),
        ("--set task.kernel=rbf --set task.kernel_budget=projection", "task.kernel_budget = projection"),
        ("--set task.kernel=rbf --solver ssg --set solver.budget=removal", "budget"),
    ] {
        let ran =
            scratch.run(&format!("train --task binary --data train.two {arguments} --passes 2 --quiet --out out"));
        let told = ran.complaints("error:");
        assert!(ran.code == Some(2) && told.len() == 1, "{arguments}: {:?} {}", ran.code, ran.stderr);
        assert!(told[0].contains(message), "{arguments}: {}", ran.stderr);
        assert!(!scratch.path("out").exists());
    }
}

/// Curves of the SFD thesis (Fig. 5.3, 5.4) are in the records: test loss against examples drawn, rows that carry weight and values
/// of the kernel, with hinge and length of each step. Recording changes no bit of the model.
#[test]
fn records_tell_what_curves_are_of() {
    let scratch = rings();
    for (solver, own) in [("sfd1", true), ("pegasos-avg --lambda 0.01", false), ("ssg-avg --lambda 0.01", false)] {
        let train = format!(
            "train --task binary --data train.two --test test.two --set task.kernel=rbf --solver {solver} --passes 3 --clock work"
        );
        let said = scratch.json(&format!("{train} --record record --out m"));
        scratch.json(&format!("{train} --out other"));
        assert_eq!(scratch.bytes("other"), scratch.bytes("m"), "{solver}");
        let records = scratch.records("record");
        let of = |key: &str| -> Vec<f64> { records.iter().map(|record| number(record, key)).collect() };
        for key in ["kernel_evaluations", "support_vectors", "pass"] {
            assert!(of(key).is_sorted(), "{solver}, {key}: {:?}", of(key));
        }
        assert!(of("test_loss").iter().all(|loss| (0.0..=1.0).contains(loss)));
        let last = records.last().unwrap();
        assert!(number(last, "support_vectors") > 0.0, "{solver}: {last:?}");
        assert!(number(last, "kernel_evaluations") > 0.0);
        assert!(
            number(last, "kernel_evaluations") <= number(&said, "kernel_evaluations"),
            "{solver}: {last:?}, {said:?}"
        );
        if own {
            assert_eq!(number(last, "support_vectors"), number(&said, "support_vectors"), "{solver}");
            let drawn: Vec<f64> = of("pass").iter().map(|pass| (pass * 120.0).round()).collect();
            assert_eq!(of("examples_drawn"), drawn);
            assert_eq!(drawn[0], 1.0, "a row for each step");
            for record in &records {
                let step = record["descent"].as_object().unwrap();
                assert!(number(step, "update_square") <= number(step, "update_bound") * (1.0 + 1e-9));
                assert!(number(step, "hinge") >= 0.0 && (0.0..=1.0).contains(&number(step, "nonzero")));
            }
        }
    }
    let train = "train --task binary --data train.two --record record --out m --passes 2";
    scratch.succeed(train);
    let plain = &scratch.records("record")[0];
    assert!(["kernel_evaluations", "support_vectors", "examples_drawn"].iter().all(|key| !plain.contains_key(*key)));
    scratch.succeed(&format!("{train} --set task.kernel=rbf"));
    let dual = &scratch.records("record")[0];
    assert!(dual["support_vectors"].is_null() && number(dual, "kernel_evaluations") > 0.0, "{dual:?}");
}
