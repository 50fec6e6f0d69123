//! What goes with a kernel beside a single run: paths, grids and cross-validation, dual values in `verify`, the doctor.

use crate::common::number;
use crate::common::samples::{letters, rings};

/// Paths and grids: losses and bounds are those of the models that the file gives, rows of support stand in it once, and
/// `verify` finds it true, at its points and between them.
#[test]
fn paths_and_grids_have_kernels() {
    let scratch = rings();
    for (task, data) in [("binary", "two"), ("multiclass", "three")] {
        let path = format!(
            "path --task {task} --data train.{data} --test test.{data} --set task.kernel=rbf --set task.kernel.gamma=2 \
             --set task.bias=true --clock work --out m"
        );
        for (what, solver) in [
            ("--eps 0.05 --lambda-min 0.01", "auto"),
            ("--eps 0.05 --lambda-min 0.01", "one-slack"),
            ("--grid 1,0.1,0.02 --gap 1%", "auto"),
            ("--grid 1,0.1,0.02 --gap 1% --warm-start keep-primal --cv 3", "mp-bcfw"),
            ("--grid 1,0.1 --gap 5% --warm-start none", "lasvm"),
            ("--grid 1,0.1 --warm-start none --passes 20", "ssg"),
        ] {
            let found = scratch.json(&format!("{path} {what} --solver {solver}"));
            assert!(found["certified"] == true || solver == "ssg", "{task}, {what}, {solver}: {found:?}");
            let rows = number(&found, "support_vectors");
            assert!(rows > 1.0 && rows <= number(&found, "kernel_rows"), "{task}, {what}, {solver}: {found:?}");
            let points = found["breakpoints"].as_array().unwrap();
            for point in points {
                let at = format!("--lambda {}", point["lambda"]);
                for (on, loss) in [("train", "train_loss"), ("test", "test_loss")] {
                    let evaluated = scratch.json(&format!("evaluate --model m --data {on}.{data} {at}"));
                    assert_eq!(evaluated["loss"], point[loss], "{task}, {what}, {solver}, {at}");
                }
            }
            let verified = scratch.json(&format!("verify --model m --data train.{data}"));
            assert_eq!(verified["verified"], true, "{task}, {what}, {solver}: {verified:?}");
            let at = format!("--lambda {}", points[points.len() - 1]["lambda"]);
            let predicted = scratch.succeed(&format!("predict --model m --data test.{data} {at}")).stdout;
            assert_eq!(predicted.lines().count(), 80);
            if what.contains("--eps") {
                for lambda in [0.011, 0.0333, 0.0777] {
                    let verified = scratch.json(&format!("verify --model m --data train.{data} --lambda {lambda}"));
                    assert_eq!(verified["verified"], true, "{task}, {solver}, {lambda}: {verified:?}");
                }
            }
            if what.contains("--cv") {
                let losses = found["cross_validation"]["losses"].as_array().unwrap();
                assert_eq!(losses.len(), 3, "{found:?}");
                assert!(losses[2]["mean_loss"].as_f64().unwrap() < 0.3, "{found:?}");
                scratch.json(&format!("evaluate --model m --data test.{data}")); // at the lambda chosen
            }
        }
    }
}

/// `verify` recomputes the dual value of a run by values of the kernel, pair by pair; with a coefficient off it would not.
#[test]
fn dual_values_of_kernels_are_recomputed() {
    let scratch = rings().with("words", letters(20, 8));
    for (task, data) in [("binary", "train.two"), ("multiclass", "train.three"), ("chain", "words")] {
        for (solver, more) in [
            ("auto", "--set task.kernel_rows.storage=f64"),
            ("mp-bcfw", ""),
            ("bcfw-avg", "--set task.bias=true"),
            ("one-slack", ""),
            ("n-slack", "--set task.rescaling=slack"),
        ] {
            let train = format!(
                "train --task {task} --data {data} --set task.kernel=rbf --set task.kernel.gamma=0.5 {more} --solver \
                 {solver} --lambda c:1 --gap 1% --clock work --checkpoint c --out m"
            );
            let found = scratch.json(&train);
            let verified = scratch.json(&format!("verify --model m --data {data} --checkpoint c"));
            assert_eq!(verified["verified"], true, "{task}, {solver}: {verified:?}");
            let (dual, stated) = (number(&verified, "dual"), number(&found, "dual"));
            assert!(dual >= stated - 1e-9 && dual - stated <= 1e-5 * stated, "{task}, {solver}: {dual}, {stated}");
            let planes = number(&verified, "planes_rebuilt") + number(&verified, "planes_bounded");
            assert!(planes > 0.0, "{task}, {solver}: {verified:?}");
        }
    }
    // The checkpoint of another kernel is not this run's.
    let train = "train --task binary --data train.two --set task.kernel=rbf --passes 5 --quiet";
    scratch.succeed(&format!("{train} --set task.kernel.gamma=0.5 --checkpoint c --out m"));
    scratch.succeed(&format!("{train} --set task.kernel.gamma=2 --out other"));
    let ran = scratch.run("verify --model other --data train.two --checkpoint c");
    assert!(ran.code == Some(2) && ran.stderr.contains("a checkpoint of another run"), "{}", ran.stderr);
}

/// The doctor examines tasks with kernels as they are trained, on rows by number.
#[test]
fn the_doctor_looks_at_kernels() {
    let scratch = rings().with("words", letters(10, 8));
    for (task, data) in [("binary", "train.two"), ("multiclass", "train.three"), ("chain", "words")] {
        let ran = scratch.run(&format!("check --task {task} --data {data} --set task.kernel=rbf --json"));
        assert_eq!(ran.code, Some(0), "{task}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("\"sound\":true"), "{task}: {}", ran.stdout);
    }
}
