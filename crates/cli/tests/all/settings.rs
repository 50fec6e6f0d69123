//! Ways to say what to train: tasks, formats, folds, lambda, layouts, run files and overrides.

use crate::common::{Scratch, describe, number, samples};
use serde_json::json;

/// Binary and multi-class problems train to a certificate with the dimensions of the contract, from LIBSVM or CSV.
#[test]
fn rows_of_every_kind() {
    let scratch = Scratch::new()
        .with("two.svm", samples::rows(60, &[-1, 1], 4))
        .with("three.svm", samples::rows(60, &[7, -2, 30], 4))
        .with("three.csv", "a,b,label\n0.5,1,3\n-1,0.25,-7\n2,2,0\n0.5,0.75,3\n");
    for (arguments, n, d) in [
        ("--task binary --data two.svm", 60, 4),
        ("--task binary --data two.svm --set task.bias=true", 60, 5),
        ("--task multiclass --data two.svm", 60, 8),
        ("--task multiclass --data three.svm", 60, 12),
        ("--task multiclass --data three.svm --set task.bias=true", 60, 15),
        ("--task multiclass --data three.csv", 4, 6),
    ] {
        let summary = scratch.json(&format!("train {arguments} --gap 1% --out model"));
        assert_eq!((&summary["n"], &summary["d"]), (&json!(n), &json!(d)), "{arguments}");
        assert_eq!((&summary["certified"], &summary["stop_reason"]), (&json!(true), &json!("gap")), "{arguments}");
        assert!(number(&summary, "gap") <= 0.01 * number(&summary, "primal"), "{arguments}");
        assert_eq!(scratch.weights("model").len(), d, "{arguments}");
    }
}

/// With one class only there is nothing to learn: a warning, and a model all the same.
#[test]
fn one_class_warns_and_trains() {
    let scratch = Scratch::new();
    for label in [1, -1, 0, 5] {
        scratch.write("one.svm", format!("{label} 1:1 2:1\n{label} 1:-1 2:3\n"));
        for task in ["binary", "multiclass"] {
            let train = format!("train --task {task} --data one.svm --gap 1% --out model --json");
            let ran = scratch.succeed(&train);
            let warning = format!("warning: all examples have the label {label}: there is nothing to learn");
            assert_eq!(ran.complaints(""), [warning]);
            assert_eq!(ran.object()["certified"], true, "{task}, label {label}");
            let labels = scratch.succeed("predict --model model --data one.svm").stdout;
            assert_eq!(labels, format!("{label}\n{label}\n"), "{task}");
            scratch.succeed("verify --model model --data one.svm");
        }
    }
}

/// Weights of a chain by the contract: unary, pair, then a bias feature and start and end weights where asked for;
/// the summary names their number.
#[test]
fn chain_layouts() {
    let scratch = Scratch::new().with("letter.data", samples::letters(20, 128));
    for (settings, d) in [
        ("", 26 * 128 + 26 * 26),
        ("--set task.bias=true", 26 * 129 + 26 * 26),
        ("--set task.ends=true", 26 * 128 + 26 * 26 + 2 * 26),
        ("--set task.bias=true --set task.ends=true", 26 * 129 + 26 * 26 + 2 * 26),
    ] {
        let train = format!("train --task chain --data letter.data --lambda 1 --gap 10% {settings}");
        assert_eq!(scratch.json(&format!("{train} --out model"))["d"], d, "{settings}");
        assert_eq!(scratch.weights("model").len(), d, "{settings}");
        let text = scratch.succeed(&train).stdout;
        assert!(text.contains(&format!("20 examples, {d} weights")), "{text}");
        scratch.succeed("verify --model model --data letter.data");
    }
}

/// lambda is 1/n unless given, as a number or by C = 1/(lambda n); equal ones give equal models.
#[test]
fn lambda_in_three_notations() {
    let scratch = Scratch::new().with("good.svm", samples::rows(50, &[-1, 1], 4));
    for (setting, lambda) in
        [("", 0.02), ("--lambda 1/n", 0.02), ("--lambda c:4", 0.005), ("--lambda 0.005", 0.005), ("--lambda 1e1", 10.0)]
    {
        let summary = scratch.json(&format!("train --task binary --data good.svm {setting}"));
        assert_eq!(number(&summary, "lambda"), lambda, "{setting}");
    }
    let train = "train --task binary --data good.svm --clock work --quiet";
    scratch.assert_same_weights(train, ["--lambda c:4", "--lambda 0.005"]);
}

/// Compressed data is read directly, a format may be given instead of guessed, and folds select words.
#[test]
fn gzip_format_and_folds() {
    let text = samples::letters(40, 16);
    let scratch = Scratch::new()
        .with("words", &text)
        .with("words.gz", samples::gzip(&text))
        .with("misnamed.csv", samples::rows(30, &[-1, 1], 4));
    let train = |arguments: &str| scratch.json(&format!("train --task chain --lambda 1 --gap 10% --data {arguments}"));
    assert_eq!(train("words")["n"], 40);
    assert_eq!(train("words.gz")["n"], 40);
    assert_eq!(train("words.gz --format letter")["n"], 40);
    assert_eq!(train("words --set data.format=letter")["n"], 40);
    assert_eq!(train("words --set data.folds=0")["n"], 4);
    assert_eq!(train("words.gz --set data.folds=0,3,9")["n"], 12);
    let summary = scratch.json("train --task binary --format libsvm --data misnamed.csv");
    assert_eq!(summary["n"], 30);
}

/// A run file says all that flags say; flags and `--set` override it, the rest of it stays.
#[test]
fn run_files_and_overrides() {
    let scratch = Scratch::new().with("letter.data", samples::letters(20, 16)).with(
        "run.toml",
        "task = \"chain\"\nlambda = 0.5\nseed = 3\nclock = \"work\"\n\n[data]\npath = \"letter.data\"\nfolds = [0, 1]\n\n\
         [stop]\npasses = 7\n\n[solver]\nname = \"bcfw\"\norder = \"uniform\"\n",
    );
    let summary = scratch.json("train run.toml");
    for (key, value) in [
        ("n", json!(4)),
        ("lambda", json!(0.5)),
        ("seed", json!(3)),
        ("clock", json!("work")),
        ("solver", json!("bcfw")),
        ("stop_reason", json!("passes")),
        ("oracle_calls", json!(28)),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }
    let flags = "--lambda 0.25 --seed 4 --passes 2 --set data.folds=2 --set task.ends=true";
    let summary = scratch.json(&format!("train run.toml {flags}"));
    for (key, value) in [
        ("n", json!(2)),
        ("d", json!(26 * 16 + 26 * 26 + 52)),
        ("lambda", json!(0.25)),
        ("seed", json!(4)),
        ("clock", json!("work")),
        ("solver", json!("bcfw")),
        ("oracle_calls", json!(4)),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }

    // The same run told by flags alone: the same bytes.
    scratch.succeed("train run.toml --quiet --out by-file");
    scratch.succeed(
        "train --task chain --lambda 0.5 --seed 3 --clock work --data letter.data --set data.folds=0,1 --passes 7 \
         --solver bcfw --set solver.order=uniform --quiet --out by-flags",
    );
    assert!(scratch.bytes("by-file") == scratch.bytes("by-flags"));
}

/// A parameter of a solver reaches it by its dotted name, with or without the name of the choice it belongs to.
#[test]
fn dotted_parameters_reach_the_solver() {
    let scratch = Scratch::new().with("letter.data", samples::letters(20, 16));
    let train = |settings: &str| {
        let train = "train --task chain --data letter.data --solver mp-bcfw --passes 5 --gap 0 --clock work";
        scratch.json(&format!("{train} {settings}"))
    };
    let free = train("");
    assert!(number(&free, "planes") > 1.0 && number(&free, "cached_steps") > 0.0);
    let one = train("--set solver.planes.max_planes=1");
    assert!((0.0..=1.0).contains(&number(&one, "planes")));
    let once = train("--set solver.planes.max_passes=1");
    assert_eq!(once["cached_steps"], 80, "20 after every exact pass but the last, which spends the budget");
    let none = train("--set solver.planes=none");
    assert_eq!((number(&none, "planes"), number(&none, "cached_steps")), (0.0, 0.0));
    assert_ne!(train("--set solver.order=uniform")["primal"], free["primal"]);
}

/// Another choice replaces the one of the file with all its fields, by flag or by `--set`; the same choice keeps them,
/// and fields given beside the new name are applied.
#[test]
fn choices_are_replaced() {
    let file = "task = \"binary\"\nclock = \"work\"\n[data]\npath = \"good.svm\"\n\
                [solver]\nname = \"mp-bcfw\"\norder = { name = \"gap\", degree = 2.0 }\nplanes = { name = \"multi-plane\", max_planes = 7 }\n";
    let scratch = Scratch::new().with("good.svm", samples::rows(50, &[-1, 1], 4)).with("run.toml", file);
    let solver = |arguments: &str| {
        scratch.succeed(&format!("train {arguments} --gap 5% --quiet --out model"));
        let bytes = scratch.bytes("model");
        let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        let info: serde_json::Value =
            serde_json::from_str(&metadata.metadata().as_ref().unwrap()["multiplane"]).unwrap();
        info["spec"]["solver"].clone()
    };
    let plain = |name: &str| solver(&format!("--task binary --data good.svm --clock work --solver {name}"));
    for choice in ["--solver bcfw", "--set solver=bcfw", "--set solver.name=bcfw"] {
        assert_eq!(solver(&format!("run.toml {choice}")), plain("bcfw"), "{choice}");
    }
    for (choice, order, planes) in [
        ("--set solver=mp-bcfw", json!({"name": "gap", "degree": 2.0}), 7),
        ("--set solver.order=gap", json!({"name": "gap", "degree": 2.0}), 7),
        ("--set solver.order=lipschitz", json!({"name": "lipschitz"}), 7),
        ("--set solver.order.aging=3 --set solver.order=shrinking", json!({"name": "shrinking", "aging": 3}), 7),
        ("--set solver.order=shrinking --set solver.order.aging=3", json!({"name": "shrinking", "aging": 3}), 7),
        ("--set solver.planes.max_planes=9", json!({"name": "gap", "degree": 2.0}), 9),
    ] {
        let found = solver(&format!("run.toml {choice}"));
        assert_eq!(found["planes"]["max_planes"], planes, "{choice}");
        for (key, value) in order.as_object().unwrap() {
            assert_eq!(found["order"][key], *value, "{choice}: {key}");
        }
    }
}

/// Work seconds are called so, and `describe` knows the default of choices that are bare names.
#[test]
fn words_of_reports() {
    let scratch = Scratch::new().with("good.svm", samples::rows(50, &[-1, 1], 4));
    let train = "train --task binary --data good.svm --gap 5%";
    assert!(scratch.succeed(&format!("{train} --clock work")).stdout.contains(" work seconds, "));
    assert!(!scratch.succeed(train).stdout.contains("work seconds"));
    let text = describe("solver auto --all");
    assert!(text.contains("solver.planes.recombine = when-cheap"), "{text}");
    let brief = describe("solver auto");
    assert!(brief.contains("solver.planes = multi-plane") && brief.contains("auto --all"), "{brief}");
    assert!(!brief.contains("solver.planes.") && 2 * brief.lines().count() < text.lines().count(), "{brief}");
    let text = describe("task chain");
    assert!(text.contains("task.loss.matrix=[[0, 1]"), "{text}");
}

/// What all runs share is described like everything else: in the list, as a kind, by name alone, and in the JSON.
#[test]
fn parameters_of_runs_are_described() {
    let scratch = Scratch::new();
    let list = describe("");
    assert!(list.contains("\nrun\n") && list.contains("\n  evaluate ") && list.contains("\n  stop "), "{list}");
    for stop in ["describe stop", "describe run stop"] {
        let text = scratch.succeed(stop).stdout;
        assert!(text.contains("  stop.estimated = false  (boolean)") && text.contains("  stop.gap = null"), "{text}");
    }
    let text = describe("evaluate");
    assert!(text.contains("\n  evaluate = auto\n") && text.contains("pass: After every outer iteration"), "{text}");
    let all: serde_json::Value = serde_json::from_str(&describe("--json")).unwrap();
    let names: Vec<&str> = all["run"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["clock", "data", "evaluate", "lambda", "regularizer", "seed", "stop", "threads"]);
    let help = scratch.succeed("train --help").stdout;
    assert!(help.contains("evaluate=pass") && help.contains("stop.estimated=true"), "{help}");
    assert!(scratch.run("describe nothign").stderr.contains("unknown kind `nothign`"));
}

/// A word finds what has it as a name, or the parameters with it; descriptions have 80 columns without a terminal.
#[test]
fn words_find_parameters() {
    let scratch = Scratch::new();
    for (word, found) in [
        ("bias", "  task.bias = false\n"),
        ("task.bias", "  task.bias = false\n"),
        ("gap", "  stop.gap = null\n"),
        ("rbf", "  task.kernel.gamma"),
        ("bcfw", "certificate: primal, dual and gap"),
    ] {
        let ran = scratch.run(&format!("describe {word}"));
        assert!(ran.stdout.contains(found), "{word}: {}{}", ran.stdout, ran.stderr);
    }
    let by_text = scratch.succeed("describe affixes --json");
    assert!(by_text.object()["parameters"].as_array().is_some_and(|found| !found.is_empty()), "{}", by_text.stdout);
    for call in ["describe", "describe gap", "describe solver auto --all", "describe task chain", "describe run stop"] {
        let text = scratch.succeed(call).stdout;
        let too_long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(too_long, None, "{call}");
    }
}

/// A task that alone reads the format of the data need not be named; which it is is said.
#[test]
fn tasks_are_guessed() {
    let scratch = Scratch::new().with("rows.svm", "1 1:1\n2 2:1\n");
    for (kind, task) in [("trees", "tree"), ("rotamers", "mrf"), ("letters", "chain")] {
        scratch.succeed(&format!("data make {kind} --out {kind} --n 5"));
        for command in ["train --passes 1", "check --examples 1"] {
            let told = format!("task {task}, the one that reads data in the format ");
            let ran = scratch.run(&format!("{command} --data {kind}"));
            assert!(ran.code == Some(0) && ran.stderr.starts_with(&told), "{kind}: {}", ran.stderr);
        }
    }
    for (data, error) in [
        ("rows.svm", "no task given: --task is one of binary, multiclass for data in the format libsvm"),
        ("missing", "missing: "),
    ] {
        let ran = scratch.run(&format!("train --data {data}"));
        assert!(ran.code == Some(2) && ran.stderr.starts_with(&format!("error: {error}")), "{}", ran.stderr);
    }
}

/// Class weights by name, as `balanced` and as a list that says the same are one run, whose model holds the list:
/// data that it is used on is not counted. What is no label is told, and where nothing can be counted a list is asked
/// for.
#[test]
fn class_weights_in_three_ways() {
    let scratch = Scratch::new()
        .with("rows.csv", "1,0,b\n0,1,a\n1,1,a\n0.5,0,b\n-1,2,a\n0,3,a\n2,1,b\n1,-1,a\n")
        .with("other.csv", "1,0,b\n0,1,b\n1,1,b\n")
        .with("words.conll", "the DT\ndog NN\nbarks VB\n\na DT\ncat NN\n\n");
    for (train, ways, other) in [
        (
            "--task multiclass --data rows.csv --lambda 0.1",
            [
                vec![
                    "task.class_weights=[1,3]",
                    "task.class_weights={\"b\":3}",
                    "task.class_weights=1,3",
                    "task.class_weights.b=3",
                ],
                vec!["task.class_weights=[0.8,1.3333333333333333]", "task.class_weights=balanced"],
            ],
            "other.csv",
        ),
        (
            "--task chain --format conll --data words.conll --lambda 0.1",
            [
                vec!["task.class_weights=[1,2,1]", "task.class_weights={NN=2}"],
                vec![
                    "task.class_weights=[0.8333333333333334,0.8333333333333334,1.6666666666666667]",
                    "task.class_weights=balanced",
                ],
            ],
            "words.conll",
        ),
    ] {
        let mut different = Vec::new();
        for way in &ways {
            let mut models = Vec::new();
            for setting in way {
                scratch.succeed(&format!("train {train} --clock work --out model --set {setting}"));
                models.push(scratch.bytes("model"));
                scratch.succeed(&format!("evaluate --model model --data {other}"));
            }
            assert!(models.windows(2).all(|pair| pair[0] == pair[1]), "{way:?}");
            different.push(models.swap_remove(0));
        }
        assert_ne!(different[0], different[1]);
    }
    for setting in ["task.class_weights.NN=3", "task.class_weights=balanced"] {
        // A fold lacks labels, and goes by the weights of all.
        let train =
            "train --task chain --format conll --data words.conll --lambda cv:2 --clock work --out chosen --set";
        scratch.succeed(&format!("{train} {setting}"));
        let resumed = scratch.run(&format!("{train} {setting} --checkpoint kept"));
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        scratch.succeed(&format!("train --resume kept --set {setting} --passes 2000 --out again"));
    }
    let refused = |setting: &str| {
        let ran = scratch.run(&format!("train --task multiclass --data rows.csv --set {setting}"));
        assert_eq!(ran.code, Some(2));
        ran.stderr.trim().to_owned()
    };
    assert_eq!(
        refused("task.class_weights={\"c\":2}"),
        "error: task.class_weights: `c` is no label of the data: these are `a`, `b`"
    );
    assert!(refused("task.class_weights=even").contains("must be a list, `balanced`, or factors by label"));
    assert!(refused("task.class_weights={\"a\":-1}").contains("must be a finite number >= 0"));
}

/// `balanced` counts a label as often as its examples weigh; one without weight keeps the factor 1 and is named.
#[test]
fn balanced_classes_of_weighted_examples() {
    let scratch = Scratch::new()
        .with("rows.csv", "1,0,b\n0,1,a\n1,1,a\n0.5,0,b\n-1,2,a\n0,3,c\n")
        .with("weights", "2\n1\n0\n4\n3\n2\n")
        .with("without", "2\n1\n0\n4\n1\n0\n")
        .with("words.conll", "the DT\ndog NN\nbarks VB\n\na DT\ncat NN\n\n")
        .with("sentences", "3\n1\n");
    let rows = "train --task multiclass --data rows.csv --lambda 0.1 --clock work --out model --set";
    let words = "train --task chain --format conll --data words.conll --lambda 0.1 --clock work --out model --set";
    let weights = |train: &str, file: &str, given: &str| {
        let ran = scratch.succeed(&format!("{train} data.weights={file} --set task.class_weights={given}"));
        (scratch.bytes("model"), ran.complaints("warning: no example").join(""))
    };
    for (train, file, listed) in [
        (rows, "weights", "[1,0.6666666666666666,2]"),
        (words, "sentences", "[0.9166666666666666,0.9166666666666666,1.2222222222222223]"),
    ] {
        assert_eq!(weights(train, file, "balanced"), weights(train, file, listed));
    }
    let (_, told) = weights(rows, "without", "balanced");
    assert!(told.contains("has the label `c`"), "{told}");
}

/// Losses that are all 0 leave nothing to learn, which is said; a file that is there and read-only is not replaced.
#[test]
fn nothing_to_learn_and_nowhere_to_write() {
    let scratch = Scratch::new().with("good.svm", samples::rows(50, &[-1, 1], 4)).with("kept", "kept");
    let train = "train --task binary --data good.svm --out";
    let ran = scratch.succeed(&format!("{train} model --set task.class_weights=0,0"));
    let warning = "warning: w = 0 has the primal value 0, so all weights are 0 and nothing is learned";
    assert_eq!(ran.complaints(warning).len(), 1, "{}", ran.stderr);
    let kept = scratch.path("kept");
    let mut permissions = std::fs::metadata(&kept).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&kept, permissions).unwrap();
    let ran = scratch.run(&format!("{train} kept"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("kept") && ran.stderr.contains("it is there and read-only"), "{}", ran.stderr);
    assert_eq!(scratch.text("kept"), "kept");
}
