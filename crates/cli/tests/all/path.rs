//! `path` from end to end: what it saves, says and refuses, and what the other commands make of it.

use crate::common::refusals::{assert_all_refused, assert_refused};
use serde_json::Value;

use crate::common::{Running, Scratch, has_begun, number, samples};

/// A short path on words, under the work clock.
const PATH: &str = "path --task chain --data letter.data --clock work --lambda-min 0.01 --quiet";

fn words() -> Scratch {
    Scratch::new().with("letter.data", samples::letters(40, 24)).with("test.data", samples::letters(20, 24))
}

/// The numbers of a tensor of a model file.
fn tensor(scratch: &Scratch, model: &str, name: &str) -> (Vec<usize>, Vec<f64>) {
    let bytes = scratch.bytes(model);
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let found = tensors.tensor(name).unwrap();
    (found.shape().to_vec(), found.data().as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect())
}

/// One object with falling, certified breakpoints; the file holds them; the same command gives the same bytes.
#[test]
fn a_path_is_saved_and_reported() {
    let scratch = words();
    let command = format!("{PATH} --eps 0.1 --test test.data --out model --svg curves.svg --record record");
    let summary = scratch.json(&command);
    let points = summary["breakpoints"].as_array().unwrap();
    assert_eq!((&summary["kind"], &summary["stop_reason"]), (&"path".into(), &"lambda-min".into()));
    assert!(points.len() > 3 && summary["certified"] == true);
    let lambdas: Vec<f64> = points.iter().map(|point| point["lambda"].as_f64().unwrap()).collect();
    assert!(lambdas.is_sorted_by(|a, b| a > b), "{lambdas:?}");
    for point in points {
        assert!(point["gap"].as_f64().unwrap() <= 0.09 * (1.0 + 1e-12), "{point}");
        assert!(point["test_loss"].is_f64() && point["train_loss"].is_f64(), "{point}");
    }
    assert_eq!(tensor(&scratch, "model", "lambdas"), (vec![lambdas.len()], lambdas.clone()));
    let (shape, w) = tensor(&scratch, "model", "w");
    assert_eq!((shape, w.len()), (vec![lambdas.len(), 1300], 1300 * lambdas.len()));
    let svg = scratch.text("curves.svg");
    assert!(svg.contains("train loss") && svg.contains("test loss") && svg.matches("<svg").count() == 4);
    let records = scratch.records("record");
    assert!(records.iter().all(|record| record["lambda"].is_f64() && record["certified"] == true));
    scratch.succeed(&format!("{command} --seed 0").replace("--out model", "--out again"));
    assert_eq!(scratch.bytes("model"), scratch.bytes("again"));
    let text = scratch.succeed(&command.replace("--quiet", "").replace("--test test.data", "")).stdout;
    assert!(text.contains("train loss    passes"), "no column for what is not measured: {text}");
    let text = scratch.succeed(&command.replace("--quiet", "")).stdout;
    assert!(text.contains("train loss  test loss    passes"), "{text}");
    assert!(text.contains("breakpoints; certified gap of at most 0.1") && text.contains("stopped: complete"), "{text}");
}

/// Row k answers for lambdas[k] >= lambda > lambdas[k+1]; above the first breakpoint w is scaled; the others refuse.
#[test]
fn the_row_of_a_lambda_predicts() {
    let scratch = words();
    scratch.succeed(&format!("{PATH} --eps 0.1 --out model"));
    let (_, lambdas) = tensor(&scratch, "model", "lambdas");
    let predict = |lambda: f64| scratch.succeed(&format!("predict --model model --data letter.data --lambda {lambda}"));
    let rows = scratch.json("evaluate --model model --data letter.data")["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), lambdas.len());
    for k in [1, lambdas.len() / 2, lambdas.len() - 1] {
        let end = lambdas.get(k + 1).copied().unwrap_or(0.01);
        let inside = end + 0.5 * (lambdas[k] - end);
        assert_eq!(predict(lambdas[k]).stdout, predict(inside).stdout, "row {k}");
        let found = scratch.json(&format!("evaluate --model model --data letter.data --lambda {inside}"));
        assert_eq!(found["loss"], rows[k]["loss"], "row {k}");
        let found = scratch.json(&format!("verify --model model --data letter.data --lambda {inside}"));
        assert_eq!(found["verified"], true, "row {k}: the primal between breakpoints");
    }
    assert_eq!(predict(10.0 * lambdas[0]).stdout, predict(lambdas[0]).stdout, "scaled weights predict the same");
    assert_eq!(scratch.json("verify --model model --data letter.data")["verified"], true);
    scratch.succeed("train --task chain --data letter.data --passes 2 --quiet --out plain");
    assert_all_refused(
        &scratch,
        "",
        [
            ("predict --model model --data letter.data", "choose one with --lambda"),
            ("predict --model model --data letter.data --lambda 0.001", "the path ends at 0.01"),
            ("predict --model model --data letter.data --lambda 0", "must be a finite number > 0"),
            ("evaluate --model model --data letter.data --lambda x", "must be a number"),
            ("verify --model model --data letter.data --lambda 1e9", "above its first breakpoint"),
            ("predict --model plain --data letter.data --lambda 0.1", "is a model at one lambda"),
        ],
    );
}

/// Grids train every point to the gap, from all three starts; only their own lambdas predict.
#[test]
fn grids_answer_for_their_points() {
    let scratch = words();
    for start in ["keep-primal", "keep-dual", "none"] {
        let summary = scratch.json(&format!("{PATH} --grid 1,0.1,0.02 --gap 0.02 --warm-start {start} --out model"));
        assert_eq!((&summary["kind"], &summary["certified"]), (&"grid".into(), &true.into()));
        let gaps: Vec<f64> =
            summary["breakpoints"].as_array().unwrap().iter().map(|point| point["gap"].as_f64().unwrap()).collect();
        assert!(gaps.len() == 3 && gaps.iter().all(|gap| *gap <= 0.02), "{start}: {gaps:?}");
        assert_eq!(tensor(&scratch, "model", "lambdas").1, [1.0, 0.1, 0.02]);
        scratch.succeed("predict --model model --data letter.data --lambda 0.1");
        assert_refused(&scratch, "predict --model model --data letter.data --lambda 0.2", "the grid has no such point");
    }
    let even = scratch.json(&format!("{PATH} --grid 4 --lambda 10 --warm-start keep-dual"));
    let lambdas: Vec<f64> =
        even["breakpoints"].as_array().unwrap().iter().map(|point| point["lambda"].as_f64().unwrap()).collect();
    assert!([10.0, 1.0, 0.1, 0.01].iter().zip(&lambdas).all(|(a, b)| (a / b - 1.0).abs() < 1e-12), "{lambdas:?}");
    let rising = scratch.json(&format!("{PATH} --grid 0.1,1 --warm-start keep-dual"));
    assert_eq!(rising["breakpoints"][0]["lambda"], 1.0, "a file's lambdas fall, however the grid was run");
}

/// Cross-validation chooses a lambda, which is then the model's own.
#[test]
fn cross_validation_chooses() {
    let scratch = words();
    let summary = scratch.json(&format!("{PATH} --eps 0.2 --cv 4 --out model"));
    let validation = &summary["cross_validation"];
    let losses = validation["losses"].as_array().unwrap();
    let mean = |row: &serde_json::Value| row["mean_loss"].as_f64().unwrap();
    let best = losses.iter().map(mean).fold(f64::INFINITY, f64::min);
    let chosen = losses.iter().find(|row| row["lambda"] == validation["best_lambda"]).unwrap();
    assert_eq!((mean(chosen), validation["folds"].as_u64()), (best, Some(4)));
    let lambda = validation["best_lambda"].as_f64().unwrap();
    let own = scratch.succeed("predict --model model --data letter.data").stdout;
    assert_eq!(own, scratch.succeed(&format!("predict --model model --data letter.data --lambda {lambda}")).stdout);
    let folds = scratch.json(&format!("{PATH} --grid 1,0.1 --cv folds"));
    assert_eq!(folds["cross_validation"]["folds"], 10, "the folds of letter.data");
}

/// Without cross-validation test data choose, where there are any: the smallest loss, of equals the largest lambda.
#[test]
fn test_data_choose() {
    let scratch = words();
    for outer in ["--eps 0.2", "--grid 1,0.1,0.01"] {
        let command = format!("{PATH} {outer} --test test.data --out model --svg curves.svg");
        let points = scratch.json(&command)["breakpoints"].as_array().unwrap().clone();
        let loss = |point: &serde_json::Value| point["test_loss"].as_f64().unwrap();
        let least = points.iter().map(loss).fold(f64::INFINITY, f64::min);
        let best = points.iter().find(|point| loss(point) == least).unwrap()["lambda"].as_f64().unwrap();
        assert_eq!(scratch.json("show model")["path"]["chosen"].as_f64(), Some(best), "{outer}");
        let own = scratch.succeed("predict --model model --data letter.data").stdout;
        assert_eq!(own, scratch.succeed(&format!("predict --model model --data letter.data --lambda {best}")).stdout);
        assert!(scratch.text("curves.svg").contains("chosen: lambda "));
        let told = scratch.succeed(&command.replace("--quiet", "")).stdout;
        assert!(told.contains("  smallest test loss ") && told.contains(" at lambda = "), "{told}");
    }
}

/// What a path prints is all in: the calls that looked at gaps, too; and the lambda that cross-validation chose has a row with
/// its loss, also where the table leaves most rows out.
#[test]
fn what_a_path_prints_is_all_in() {
    let scratch = words();
    let path = format!("{} --eps 0.03 --cv 4 --out model", PATH.replace(" --quiet", ""));
    let (summary, text) = (scratch.json(&path), scratch.succeed(&path).stdout);
    let validation = &summary["cross_validation"];
    let (losses, best) = (validation["losses"].as_array().unwrap(), validation["best_lambda"].as_f64().unwrap());
    assert!(losses.len() > 16, "{}", losses.len());
    let (_, table) = text.split_once("cross-validation, 4 folds").unwrap();
    let rows: Vec<Vec<f64>> = table
        .lines()
        .filter_map(|line| line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>())
        .filter(|row| row.len() == 3)
        .collect();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs();
    let row = rows.iter().find(|row| near(row[0], best)).unwrap_or_else(|| panic!("{best} is not in {table}"));
    let (_, chosen) = table.split_once("smallest mean loss ").unwrap();
    assert!(near(chosen.split(' ').next().unwrap().parse().unwrap(), row[1]), "{chosen}");
    assert!((16..=17).contains(&rows.len()) && rows.is_sorted_by(|a, b| a[0] > b[0]), "{rows:?}");
    let all = (number(&summary, "oracle_calls") + number(&summary, "evaluation_calls")) / number(&summary, "n");
    assert!(text.contains(&format!("  passes  {all:.1} all in: ")), "{all}: {text}");
}

/// Budgets end a path early with what is certified by then.
#[test]
fn budgets_end_a_path_early() {
    let scratch = words();
    let summary = scratch.json(&format!("{PATH} --eps 0.05 --passes 30 --out model"));
    assert_eq!(summary["stop_reason"], "passes");
    let (end, last) = (number(&summary, "lambda_end"), summary["breakpoints"].as_array().unwrap().last().unwrap());
    assert!(end > 0.01 && end < last["lambda"].as_f64().unwrap());
    scratch.succeed(&format!("predict --model model --data letter.data --lambda {end}"));
    let below = format!("predict --model model --data letter.data --lambda {}", 0.99 * end);
    assert_refused(&scratch, &below, "the path ends at");
}

/// A signal saves the path so far.
#[test]
#[cfg(unix)]
fn a_signal_saves_the_path_so_far() {
    let scratch = words();
    let slow = "path --task chain --data letter.data --eps 1e-4 --lambda-min 1e-5 --set oracle.delay_us=20";
    let mut running = Running::start(&mut scratch.command(&format!("{slow} --out model --record record --json")));
    running.wait_until(|| scratch.path("record").exists() && has_begun(&scratch.text("record")));
    running.signal("INT");
    let ran = running.finish();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{}", ran.stdout);
    let summary = ran.object();
    assert_eq!((&summary["stop_reason"], &summary["certified"]), (&"interrupt".into(), &true.into()));
    assert_eq!(scratch.json("verify --model model --data letter.data")["verified"], true);
}

/// Mistakes are refused before anything is written.
#[test]
fn mistakes_are_refused() {
    let scratch = words().with("old", "an old model");
    for (arguments, message) in [
        ("--eps 0", "eps = 0: must be a number > 0"),
        ("--eps nan", "eps = nan: must be a number > 0"),
        ("--eps x", "eps = x: must be a number"),
        ("--eps 1e-18", "eps = 1e-18 is too small for 64-bit numbers: at lambda = "),
        ("--eps 1e-300 --solver bcfw", "the rule is a gap of kappa eps = 9.0e-301, where rounding is "),
        ("--stream", "--stream: a path goes over its data many times"),
        ("--kappa 1", "kappa = 1: must be greater than 0 and less than 1"),
        ("--lambda-min 0", "lambda-min = 0: must be a number > 0"),
        ("--lambda-min -1", "lambda-min = -1: must be a number > 0"),
        ("--lambda-min 1e9", "lambda-min = 1000000000: the path begins at lambda = "),
        ("--gap 1%", "--gap goes with --grid"),
        ("--set stop.estimated=true", "stop.estimated = true: the gap of every point of a path is proven"),
        ("--lambda 0.1", "--lambda goes with --grid"),
        ("--warm-start none", "--warm-start goes with --grid"),
        ("--solver ssg --passes 5", "has no dual value"),
        ("--solver fw", "solver `fw` cannot go on at another lambda, as a path has to: expected one of auto, bcfw, "),
        ("--grid 0.1,1", "grid = 0.1,1: lambdas must fall"),
        ("--grid 0.1,0.1", "two points are the same"),
        ("--grid 1,-1", "lambda = -1: must be a finite number > 0"),
        ("--grid 1", "a grid of 1 points"),
        ("--grid 1,x", "grid = x: must be a number"),
        ("--grid 1,0.1 --warm-start keep", "unknown warm start `keep`"),
        ("--grid 1,0.1 --solver fw", "solver `fw` cannot start warm"),
        ("--grid 1,0.1 --solver sfd1 --warm-start none --passes 5", "ignores lambda"),
        ("--cv 1", "1 folds of 40 examples"),
        ("--cv many", "expected a number of folds"),
        ("--svg old", "which the same command uses"),
    ] {
        assert_refused(&scratch, &format!("{} {arguments} --out old", PATH.replace("--lambda-min 0.01", "")), message);
    }
}

/// With `--eps 10%` every gap is at most that share of the primal, and `verify` holds the rows to it; `--lambda-max` begins
/// the path, and an even grid.
#[test]
fn relative_gaps_and_beginnings_of_ones_own() {
    let scratch = words();
    let path = format!("{PATH} --eps 10% --lambda-max 3 --out model");
    let summary = scratch.json(&path);
    let points = summary["breakpoints"].as_array().unwrap();
    assert_eq!(
        (&points[0]["lambda"], &summary["eps"], &summary["certified"]),
        (&3.0.into(), &Value::Null, &true.into())
    );
    assert!((number(&summary, "relative_eps") - 0.1).abs() < 1e-12);
    for point in points {
        let (gap, primal) = (point["gap"].as_f64().unwrap(), point["primal"].as_f64().unwrap());
        assert!(gap <= 0.09 * primal * (1.0 + 1e-12), "{point}");
    }
    assert_eq!(scratch.json("verify --model model --data letter.data")["verified"], true);
    for lambda in [0.011, 0.1, 1.0, 2.9] {
        let here = scratch.json(&format!("verify --model model --data letter.data --lambda {lambda}"));
        assert_eq!(here["verified"], true, "{lambda}");
        let stated = scratch.json(&format!("show model --lambda {lambda}"));
        let gap = number(&stated, "gap");
        assert!(gap <= 0.1 * number(&here, "primal") * (1.0 + 1e-9), "{lambda}: {stated:?}");
    }
    let text = scratch.succeed(&path.replace(" --quiet", "")).stdout;
    assert!(text.contains("certified gap of at most 10 % of the primal at every lambda between"), "{text}");
    let grid = scratch.json(&format!("{PATH} --grid 3 --lambda-max 1"));
    assert_eq!(grid["breakpoints"][0]["lambda"], 1.0);
    assert_all_refused(
        &scratch,
        PATH,
        [
            ("--eps 0%", "eps = 0%: must be greater than 0% and less than 100%"),
            ("--eps 100%", "eps = 100%: must be greater than 0% and less than 100%"),
            ("--lambda-max 0.001", "lambda-max = 0.001: must be greater than lambda_min = 0.01"),
            ("--lambda 1", "--lambda-max says where it begins"),
        ],
    );
}

/// The help of `path` is its own where it means something else by an option, and leaves out what it does not have.
#[test]
fn the_help_of_paths_is_theirs() {
    let scratch = Scratch::new();
    let (path, train) = (scratch.succeed("path --help").stdout, scratch.succeed("train --help").stdout);
    for (text, is_of_path) in
        [("or auto (searched for", false), ("--stream", false), ("--freeze", false), ("--lambda-max", true)]
    {
        assert_eq!((path.contains(text), train.contains(text)), (is_of_path, !is_of_path), "{text}");
    }
    assert!(path.contains("Of a grid, train each point to a gap of at most X"), "{path}");
}

/// The picture marks the lambda that cross-validation chose and the spread over folds, and its panels have lambda at the
/// same places.
#[test]
fn pictures_mark_what_was_chosen() {
    let scratch = words();
    scratch.json(&format!("{PATH} --eps 0.2 --cv 4 --svg curves.svg"));
    let svg = scratch.text("curves.svg");
    assert!(svg.contains("chosen: lambda ") && svg.contains("deviation over folds"), "{svg}");
    let panels: Vec<&str> = svg.split("<svg y=").skip(1).collect();
    let ticks = |panel: &str| -> Vec<String> {
        let middle = panel.lines().filter(|line| line.contains(r#"y="404" text-anchor="middle""#));
        middle.map(str::to_owned).collect()
    };
    assert_eq!(panels.len(), 3);
    assert!(ticks(panels[0]).len() > 2 && panels.iter().all(|panel| ticks(panel) == ticks(panels[0])), "{svg}");
}

/// A point of a grid that a budget has cut short says so wherever it answers; others do not.
#[test]
fn points_cut_short_are_told() {
    let scratch = words();
    scratch.succeed(&format!("{PATH} --grid 1,0.01 --gap 1e-3 --passes 12 --out model"));
    let (_, lambdas) = tensor(&scratch, "model", "lambdas");
    let last = lambdas[lambdas.len() - 1];
    for command in ["predict --model model --data test.data", "evaluate --model model --data test.data", "show model"] {
        let told = scratch.succeed(&format!("{command} --lambda {last}")).stderr;
        assert!(told.contains("the grid was cut short at this point"), "{command}: {told}");
    }
    scratch.succeed(&format!("{PATH} --grid 1,0.5 --gap 0.1 --out whole"));
    let told = scratch.succeed("predict --model whole --data test.data --lambda 0.5").stderr;
    assert!(!told.contains("cut short"), "{told}");
}
