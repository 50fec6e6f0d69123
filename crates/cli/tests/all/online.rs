//! `train` with solvers that learn online: what is saved where P is above that of w = 0, and what has no effect.

use crate::common::{Scratch, number, samples};

fn scratch() -> Scratch {
    Scratch::new().with("rows.svm", samples::rows(300, &[-1, 1], 5)).with("few.svm", samples::rows(30, &[-1, 1], 5))
}

/// Weights are the latest and not 0, and that is said, as P is.
#[test]
fn the_latest_weights_are_saved_and_told() {
    let scratch = scratch();
    for solver in ["pegasos", "pegasos-avg"] {
        let ran = scratch
            .succeed(&format!("train --task binary --data rows.svm --solver {solver} --lambda 1e-7 --out model"));
        assert!(scratch.weights("model").iter().any(|&weight| weight != 0.0), "{solver}");
        assert!(ran.stdout.contains("(above that of w = 0, 1)"), "{}", ran.stdout);
        let told = ran.complaints("warning: the primal value of these weights is ");
        assert_eq!(told.len(), 1, "{}", ran.stderr);
        assert!(told[0].contains(&format!("and w = 0 has 1: they are the latest, as solver `{solver}` learns online")));
        let found = scratch.json("verify --model model --data rows.svm");
        assert_eq!(found["verified"], true, "{found:?}");
    }
    let ran = scratch.succeed("train --task binary --data rows.svm --solver ssg --passes 1 --lambda 1e-7 --out model");
    assert!(scratch.weights("model").iter().any(|&weight| weight != 0.0));
    let told = ran.complaints("warning: no iterate was better than w = 0, whose primal value is 1: these weights are ");
    assert_eq!(told.len(), 1, "{}", ran.stderr);
    assert_eq!(scratch.json("verify --model model --data rows.svm")["verified"], true);
    let ran =
        scratch.succeed("train --task binary --data rows.svm --solver n-slack --passes 1 --lambda 1e-9 --out model");
    let is_zero = scratch.weights("model").iter().all(|&weight| weight == 0.0);
    let told = if is_zero { "nothing better than w = 0 was found, so all" } else { "no iterate was better than w = 0" };
    assert_eq!(ran.complaints(&format!("warning: {told}")).len(), 1, "{}", ran.stderr);
    let ran = scratch.succeed("train --task binary --data rows.svm --gap 1%");
    assert_eq!(ran.stderr, "");
}

/// An answer that is better than w = 0 by less than the gap is told as one.
#[test]
fn answers_within_the_gap_of_w_0_are_told() {
    let scratch = scratch();
    let train = "train --task binary --data rows.svm --solver fw --lambda 0.001 --out model --gap";
    for (gap, told) in [("90%", 1), ("5%", 0)] {
        let ran = scratch.succeed(&format!("{train} {gap}"));
        assert_eq!(ran.complaints("warning: the primal value is ").len(), told, "{gap}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Parameters that are cut or without effect are told with both numbers, and what fits is not.
#[test]
fn what_has_no_effect_is_told() {
    let scratch = scratch();
    for (arguments, warning) in [
        ("--solver sfd1 --lambda 0.1", "solver `sfd1` ignores lambda: lambda = 0.1 changes no weight"),
        ("--solver sfd2 --lambda c:2", "solver `sfd2` ignores lambda: lambda = c:2 changes no weight"),
        ("--stream --solver sfd1 --lambda 0.1", "solver `sfd1` ignores lambda: lambda = 0.1 changes no weight"),
        ("--solver sfd1 --set solver.size=500", "solver.size = 500 is more than the 30 examples there are"),
        ("--solver pegasos --lambda 1 --set solver.size=31", "solver.size = 31 is more than the 30 examples there are"),
        (
            "--solver sampled-cuts --lambda 1 --set solver.size=31",
            "solver.size = 31 is more than the 30 examples there are",
        ),
        ("--solver lasvm --set solver.candidates=31", "solver.candidates = 31 is more than the 30 examples there are"),
        (
            "--solver sfd1 --set solver.schedule.name=geometric --set solver.schedule.ratio=0.1",
            "solver.schedule.ratio = 0.1: lambda_t is above 1e12 from step 13 on",
        ),
    ] {
        let ran = scratch.succeed(&format!("train --task binary --data few.svm {arguments}"));
        assert_eq!(ran.complaints(&format!("warning: {warning}")).len(), 1, "{arguments}: {}", ran.stderr);
    }
    for arguments in ["--solver sfd1", "--solver lasvm", "--stream --solver sfd1", "--solver pegasos --lambda 1"] {
        let ran = scratch.succeed(&format!("train --task binary --data few.svm {arguments}"));
        assert_eq!(ran.stderr, "", "{arguments}");
    }
}

/// Many examples without a kernel are slow, which is a hint; with one it is not given.
#[test]
fn lasvm_without_a_kernel_has_a_hint() {
    let scratch = Scratch::new().with("rows.svm", samples::rows(1000, &[-1, 1], 3));
    let hints = |arguments: &str| {
        let ran = scratch.succeed(&format!("train --task binary --data rows.svm --passes 0.1 {arguments}"));
        ran.complaints("hint: after every step solver `lasvm` scores all examples with weight anew").len()
    };
    assert_eq!(["--solver lasvm", "--solver lasvm --set task.kernel=linear", "--solver bcfw"].map(hints), [1, 0, 0]);
}

/// Records say how far LaSVM is and what the last subgradient step did.
#[test]
fn records_tell_of_steps() {
    let scratch = scratch();
    scratch.succeed("train --task binary --data rows.svm --solver lasvm --lambda 0.01 --record record --passes 3");
    let records = scratch.records("record");
    for record in &records {
        let ascent = record["ascent"].as_object().unwrap();
        assert!(number(ascent, "tau") > 0.0 && number(ascent, "tau") <= 0.001, "{ascent:?}");
        assert_eq!(ascent["reprocess_steps"], record["cached_steps"]);
        assert!(
            number(ascent, "support") <= 300.0 && number(ascent, "support") / 300.0 >= number(record, "planes") - 1e-12
        );
    }
    assert!(number(records.last().unwrap()["ascent"].as_object().unwrap(), "reprocess_steps") > 0.0);
    scratch.succeed("train --task binary --data rows.svm --solver pegasos --lambda 0.5 --record record --passes 2");
    let steps = |record: &serde_json::Map<String, serde_json::Value>| number(record, "oracle_calls") / 3.0;
    for record in &scratch.records("record") {
        let step = record["subgradient"].as_object().unwrap();
        assert!((number(step, "step_size") - 1.0 / (0.5 * steps(record))).abs() <= 1e-12, "{step:?}");
        assert!(number(step, "hinge") >= 0.0);
    }
    // The first step is at w = 0: every hinge is 1.
    scratch.succeed(
        "train --task binary --data rows.svm --solver pegasos --set solver.size=300 --record record --passes 1",
    );
    let first = &scratch.records("record")[0]["subgradient"];
    assert!((first["hinge"].as_f64().unwrap() - 1.0).abs() <= 1e-9, "{first:?}");
}

/// A stream that has ended says so, and one step is one.
#[test]
fn a_stream_ends_and_counts_in_words() {
    let scratch = scratch();
    let stream = "train --stream --task binary --data few.svm --solver sfd1";
    let ran = scratch.succeed(stream);
    assert!(ran.stdout.contains("  steps   3 steps in 1 window\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("on a stream of 30 examples, 5 weights, solver sfd1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  stopped: the stream has ended\n"), "{}", ran.stdout);
    assert_eq!(scratch.json(stream)["stop_reason"], "end");
    let ran = scratch.succeed(&format!("{stream} --set stream.window=10"));
    assert!(ran.stdout.contains("  steps   30 steps in 3 windows\n"), "{}", ran.stdout);
    let ran = scratch.succeed(&format!("{stream} --set solver.size=30"));
    assert!(ran.stdout.contains("  steps   1 step in 1 window\n"), "{}", ran.stdout);
}
