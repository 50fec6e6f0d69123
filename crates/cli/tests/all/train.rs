//! `train` as it is meant to be used: what it reports and records, its certificate, its stops.

use crate::common::{Scratch, assert_keys, number, samples};
use serde_json::{Value, json};

/// Keys of the final object, by the contract.
const SUMMARY: &str = "task solver n d lambda primal dual gap certified oracle_calls evaluation_calls cached_steps \
    passes iterations train_seconds oracle_seconds wall_seconds stop_reason train_loss test_loss seed threads clock \
    planes model version";

/// Keys of a record, by the contract.
const RECORD: &str = "pass iterations approximate_passes oracle_calls cached_steps seconds oracle_seconds primal dual \
    gap certified planes train_loss test_loss";

/// What records have beside where evaluation is part of the run.
const FORECAST: &str = "gap_estimate evaluation_calls evaluation_seconds";

/// Solvers with a dual value.
const CERTIFYING: [&str; 8] = ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg", "auto", "one-slack", "n-slack"];

fn words() -> Scratch {
    Scratch::new().with("letter.data", samples::letters(60, 128)).with("test.data", samples::letters(25, 128))
}

/// The final object has the keys of the contract and no other, alone on standard output, with the right facts and
/// defaults; the gap is certified and no larger than was asked for.
#[test]
fn the_summary_is_complete_and_certified() {
    let scratch = words();
    let ran = scratch.succeed("train --task chain --data letter.data --test test.data --gap 20% --out model --json");
    assert_eq!(ran.stderr, "");
    let summary = ran.object();
    assert_keys(&summary, SUMMARY);
    for (key, value) in [
        ("task", json!("chain")),
        ("solver", json!("auto")),
        ("n", json!(60)),
        ("d", json!(4004)),
        ("lambda", json!(1.0 / 60.0)),
        ("certified", json!(true)),
        ("stop_reason", json!("gap")),
        ("seed", json!(0)),
        ("threads", json!(1)),
        ("clock", json!("wall")),
        ("model", json!("model")),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }
    let of = |key| number(&summary, key);
    assert!(of("gap") <= 0.2 * of("primal"));
    assert!((of("gap") - (of("primal") - of("dual"))).abs() <= 1e-12);
    assert_eq!(of("passes"), of("oracle_calls") / 60.0);
    assert!((0.0..=1.0).contains(&of("train_loss")) && (0.0..=1.0).contains(&of("test_loss")));
    assert!(of("oracle_seconds") <= of("train_seconds") && of("train_seconds") <= of("wall_seconds"));
    assert_eq!(scratch.weights("model").len(), 4004);
    assert_eq!(scratch.snapshot().len(), 3, "the model is the only new file");
}

/// Whatever the solver: a record has the keys of the contract, F never falls, the primal is that of the best weights
/// so far, no primal lies below a dual, the gap is their difference, counts and clocks only grow, and the last record
/// agrees with the final object.
#[test]
fn records_are_sound() {
    let scratch = words();
    let (lower, upper) = optimum(&scratch);
    for solver in CERTIFYING {
        let train = format!("train --task chain --data letter.data --test test.data --lambda 1 --solver {solver}");
        let summary = scratch.json(&format!("{train} --gap 0.02 --passes 40 --record record"));
        let records = scratch.records("record");
        assert!(!records.is_empty(), "{solver}");
        let best_dual = records.iter().map(|record| number(record, "dual")).fold(f64::MIN, f64::max);
        for record in &records {
            let more = match (solver, record.contains_key("answer")) {
                ("auto", true) => "answer decisions",
                ("auto", false) => "decisions",
                ("one-slack" | "n-slack", _) => "feature_seconds master_seconds",
                _ => "",
            };
            assert_keys(record, &format!("{RECORD} {FORECAST} {more}"));
            let of = |key| number(record, key);
            if record.contains_key("master_seconds") {
                assert!(of("master_seconds") <= of("seconds"), "{solver}: {record:?}");
                assert!(of("feature_seconds") <= of("oracle_seconds"), "{solver}: {record:?}");
            }
            assert!(of("primal") >= best_dual, "{solver}: {record:?}");
            assert!((of("gap") - (of("primal") - of("dual"))).abs() <= 1e-9, "{solver}: {record:?}");
            assert_eq!(of("pass"), of("oracle_calls") / 60.0);
            assert_eq!(record["certified"], true);
            assert!((0.0..=1.0).contains(&of("train_loss")) && (0.0..=1.0).contains(&of("test_loss")));
        }
        for pair in records.windows(2) {
            let grows = |key: &str| number(&pair[0], key) <= number(&pair[1], key);
            for key in "pass iterations approximate_passes cached_steps seconds oracle_seconds dual".split(' ') {
                assert!(grows(key), "{solver}: {key} falls: {pair:?}");
            }
            assert!(number(&pair[0], "primal") >= number(&pair[1], "primal"), "{solver}: {pair:?}");
        }
        let last = records.last().unwrap();
        for key in "primal dual gap certified oracle_calls cached_steps iterations planes".split(' ') {
            assert_eq!(summary[key], last[key], "{solver}: {key}");
        }
        // Every bracket holds the optimum, so any two must meet.
        assert!(number(&summary, "dual") <= upper && number(&summary, "primal") >= lower, "{solver}");
    }
}

/// A tight bracket of the optimal value on `letter.data` at lambda = 1.
fn optimum(scratch: &Scratch) -> (f64, f64) {
    let summary = scratch.json("train --task chain --data letter.data --lambda 1 --gap 0.1%");
    assert_eq!(summary["stop_reason"], "gap");
    (number(&summary, "dual"), number(&summary, "primal"))
}

/// Each stop ends the run for its own reason, and the first hit wins.
#[test]
fn every_stop_stops() {
    let scratch = words();
    let train = |stops: &str| scratch.json(&format!("train --task chain --data letter.data {stops}"));

    let gap = train("--gap 0.1");
    assert_eq!(gap["stop_reason"], "gap");
    assert!(number(&gap, "gap") <= 0.1);

    let passes = train("--gap 0 --passes 2");
    assert_eq!((&passes["stop_reason"], &passes["oracle_calls"]), (&json!("passes"), &json!(120)));
    assert_eq!(number(&passes, "passes"), 2.0);

    let half = train("--passes 0.5");
    assert_eq!((&half["stop_reason"], &half["oracle_calls"]), (&json!("passes"), &json!(30)));

    let calls = train("--passes 2 --calls 77");
    assert_eq!((&calls["stop_reason"], &calls["oracle_calls"]), (&json!("calls"), &json!(77)));

    let seconds = train("--seconds 0.05 --set oracle.delay_us=5000");
    assert_eq!(seconds["stop_reason"], "seconds");
    assert!((0.05..5.0).contains(&number(&seconds, "train_seconds")));

    let work = train("--seconds 0.05 --set oracle.delay_us=5000 --clock work");
    assert_eq!(work["stop_reason"], "seconds");
    assert!((0.05..0.06).contains(&number(&work, "train_seconds")), "the delay counts on the work clock");
    for summary in [passes, calls] {
        assert_eq!(summary["certified"], true, "a short run has a wide gap, but a proven one");
        assert!(number(&summary, "primal") >= number(&summary, "dual"));
    }
    for summary in [half, seconds, work] {
        let certificate = (&summary["primal"], &summary["gap"], &summary["certified"]);
        assert_eq!(certificate, (&Value::Null, &Value::Null, &json!(false)), "no budget for a pass over the examples");
    }
}

/// The baseline without a certificate says so: no dual, no gap, not certified, and a warning that a gap cannot stop
/// it; its records too.
#[test]
fn subgradient_certifies_nothing() {
    let scratch = words();
    for solver in ["ssg", "ssg-avg"] {
        let train =
            format!("train --task chain --data letter.data --solver {solver} --record record --out model --json");
        let ran = scratch.succeed(&format!("{train} --gap 1% --passes 3"));
        let told = ran.complaints("warning:");
        assert!(told[0].contains("has no dual value"), "{}", ran.stderr);
        assert!(told[1..].iter().all(|told| told.contains("better than w = 0")), "{}", ran.stderr);
        assert!(told.len() < 3 && scratch.weights("model").iter().any(|&weight| weight != 0.0), "{}", ran.stderr);
        let summary = ran.object();
        assert_keys(&summary, SUMMARY);
        assert_eq!((&summary["dual"], &summary["gap"], &summary["planes"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!((&summary["certified"], &summary["stop_reason"]), (&json!(false), &json!("passes")));
        for record in scratch.records("record") {
            assert_keys(&record, &format!("{RECORD} {FORECAST} subgradient"));
            assert_eq!((&record["dual"], &record["gap"]), (&Value::Null, &Value::Null));
            assert_eq!(record["certified"], false);
        }
        let silent = scratch.succeed(&format!("train --task chain --data letter.data --solver {solver} --passes 3"));
        assert!(!silent.stderr.contains("has no dual value"), "without a gap there is nothing to warn of it");
        assert!(silent.stdout.contains("gap     none: this solver has no dual value"), "{}", silent.stdout);
    }
}

/// Without `--json` the summary is for people: it names the bracket, the proof and the file; `--quiet` leaves
/// nothing, not even warnings, and still writes the model.
#[test]
fn people_get_a_summary_and_quiet_is_silent() {
    let scratch = words().with("one.svm", "2 1:1\n2 2:1\n");
    let ran = scratch.succeed("train --task chain --data letter.data --lambda 0.1 --gap 50% --out model");
    for part in ["chain on 60 examples, 4004 weights", "primal", "dual", "certified", "saved to model"] {
        assert!(ran.stdout.contains(part), "{part} is missing in: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "", "no progress bar where nobody looks");

    let ran = scratch.succeed("train --task binary --data one.svm --gap 5% --quiet --out quiet.model");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_eq!(scratch.weights("quiet.model").len(), 2);
}

/// A flag that names another solver drops the fields that the file gave to its own.
#[test]
fn a_solver_flag_replaces_the_solver_of_the_file() {
    let scratch = words();
    let file = "task = \"chain\"\n[solver]\nname = \"mp-bcfw\"\nplanes.max_idle = 5\n[stop]\npasses = 1\n";
    scratch.write("run.toml", file);
    for solver in ["bcfw", "ssg", "mp-bcfw"] {
        let summary = scratch.json(&format!("train run.toml --data letter.data --solver {solver}"));
        assert_eq!(summary["solver"], solver);
    }
}

/// `--lambda cv` says what it went by, in text, JSON and a picture, and trains the model of the lambda that it chose.
#[test]
fn lambda_is_chosen() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run("data make letters --out words.data --n 80 --seed 3").code, Some(0));
    let train = "train --task chain --data words.data --clock work";
    let ran = scratch.run(&format!("{train} --lambda cv --json --svg losses.svg --out chosen"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let choice = &report["lambda_choice"];
    let rows = choice["losses"].as_array().unwrap();
    let least = rows.iter().map(|row| row["mean_loss"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    let chosen = rows.iter().find(|row| row["mean_loss"].as_f64() == Some(least)).unwrap();
    assert_eq!((&chosen["lambda"], &choice["lambda"]), (&report["lambda"], &report["lambda"]));
    assert_eq!((choice["folds"].as_u64(), choice["held_out"].as_u64()), (Some(5), Some(80)));
    let picture = std::fs::read_to_string(scratch.path("losses.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("first fold") && picture.contains("chosen: lambda"));
    let given = format!("{train} --lambda {} --out given --quiet", report["lambda"]);
    assert_eq!(scratch.run(&given).code, Some(0));
    assert_eq!(std::fs::read(scratch.path("chosen")).unwrap(), std::fs::read(scratch.path("given")).unwrap());
    let text = scratch.run(&format!("{train} --lambda cv:3")).stdout;
    assert!(text.contains("chosen by its loss on 80 examples held out in 3 folds, 0."), "{text}");
    assert!(text.contains(" after training on a part; "), "{text}");
    for (arguments, message) in [
        (format!("{train} --svg x.svg"), "--svg: draws what `--lambda cv` went by"),
        (format!("{train} --lambda cv:folds"), "10 folds of"),
        (format!("{train} --lambda cv:1"), "`cv:K` with K > 1"),
        ("path --task chain --data words.data --lambda cv".into(), "a path has all of them"),
    ] {
        let ran = scratch.run(&arguments);
        assert!(ran.code == Some(2) || arguments.ends_with("folds"), "{arguments}: {}", ran.stderr);
        assert!(ran.code == Some(0) || ran.stderr.contains(message), "{arguments}: {}", ran.stderr);
    }
}

/// Weights of examples come from a file, count as copies, and are asked for again where the model is verified.
#[test]
fn examples_have_weights() {
    let scratch = Scratch::new();
    scratch.write("rows.svm", b"1 1:1 2:2\n-1 1:2\n1 2:1\n");
    scratch.write("copies.svm", b"1 1:1 2:2\n1 1:1 2:2\n1 2:1\n");
    scratch.write("weights", b"2\n0\n1 # once\n");
    let train = "train --task binary --clock work --json --gap 1e-9";
    let primal = |arguments: &str| {
        let ran = scratch.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()["primal"].as_f64().unwrap()
    };
    let weighted = primal(&format!("{train} --data rows.svm --set data.weights=weights --checkpoint run --out model"));
    let copied = primal(&format!("{train} --data copies.svm"));
    assert!((weighted - copied).abs() < 2e-9, "{weighted} {copied}");
    let verify = "verify --model model --data rows.svm --checkpoint run";
    let ran = scratch.run(&format!("{verify} --set data.weights=weights"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_ne!(
        scratch.run("verify --model model --data rows.svm").code,
        Some(0),
        "without its weights it is another problem"
    );
    scratch.write("few", b"1\n");
    let ran = scratch.run(&format!("{train} --data rows.svm --set data.weights=few"));
    assert_eq!((ran.code, ran.stderr.trim()), (Some(2), "error: few: 1 weights for 3 examples"));
}
