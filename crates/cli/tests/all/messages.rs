//! What cannot be meant is refused by its name: parameters with the rule they break, data with file and place.

use crate::common::refusals::assert_all_refused;
use crate::common::{Scratch, describe, samples};

/// Rows that kernels tell apart, and matrices that are none.
fn rows() -> Scratch {
    let (mut two, mut three) = (String::new(), String::new());
    for i in 0..40 {
        let (x, y) = (f64::from(i % 7) - 3.1, f64::from(i % 5) - 1.9);
        two += &format!("{} 1:{x} 2:{y}\n", if x * y > 0.0 { 1 } else { -1 });
        three += &format!("{} 1:{x} 2:{y}\n", i % 3);
    }
    let scratch = Scratch::new().with("a.svm", &two).with("three.svm", three);
    scratch.write("long.svm", format!("{two}\n1 3:1e308 4:1e308\n"));
    scratch.write("wide.svm", format!("# so far\n{two}1 3:1e200\n"));
    scratch
        .with("cut.svm", "1 1:1\n1 1:2\n-1 1:x\n")
        .with("asymmetric.svm", "1 1:1 2:0.5\n-1 1:0.2 2:1\n")
        .with("negative.svm", "1 1:1 2:0\n-1 1:0 2:-2\n")
        .with("indefinite.svm", "1 1:1 2:0.5 3:0.9\n-1 1:0.5 2:1 3:-0.5\n1 1:0.9 2:-0.5 3:1\n")
        .with("serial.svm", "1 0:1 1:1 2:0.5\n-1 0:2 1:0.5 2:1\n")
}

fn refused(scratch: &Scratch, table: &[(&str, &str)]) {
    for (arguments, expected) in table {
        let before = scratch.snapshot();
        let ran = scratch.run(&format!("{arguments} --out m"));
        assert_eq!(ran.code, Some(2), "{arguments}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr.trim_end(), format!("error: {expected}"), "{arguments}");
        assert!(scratch.snapshot() == before, "{arguments}: nothing is written");
    }
}

/// Parameters: without a kernel, of a variant that lacks them, out of range, and no file is blamed.
#[test]
fn parameters_are_named() {
    let gamma = "must be a number > 0, `scale` or `auto`";
    let needs = "needs a kernel, without one there are no rows of its matrix";
    let train = "train --task binary --data a.svm";
    let mut table = vec![
        (
            "--set task.kernel=rbf --freeze 0..30".to_string(),
            "--freeze: not with a kernel (task.kernel=rbf), whose weights are coefficients of rows".to_string(),
        ),
        ("--set task.kernel_rows.cache_mb=5".into(), format!("task.kernel_rows.cache_mb = 5: {needs}")),
        ("--set task.kernel_rows.storage=f64".into(), format!("task.kernel_rows.storage = f64: {needs}")),
        ("--set task.loss=cost-matrix".into(), "task.loss = cost-matrix: needs a value for `matrix`".into()),
        (
            "--set task.kernel.gamma=1".into(),
            "task.kernel.gamma needs a kernel that has it: rbf, polynomial, chi-square; found `none`".into(),
        ),
        (
            "--solver pegasos --passes 2 --set solver.averaging.eta=5".into(),
            "solver.averaging.eta needs an averaging that has it: polynomial; found `none`".into(),
        ),
        (
            "--set task.kernel=polynomial --set task.kernel.degree=0".into(),
            "task.kernel.degree = 0: must be at least 1".into(),
        ),
        ("--set task.class_weights=1,x".into(), "task.class_weights = 1,x: entry 1 must be a number".into()),
        (
            "--set task.class_weights=balanced --set task.class_weights.1=2".into(),
            "task.class_weights = balanced: give this or factors by label, not both".into(),
        ),
        (
            "--set stream.window=10".into(),
            "stream.window: it is for streams, which `train --stream` learns from".into(),
        ),
    ];
    for value in ["0", "nan", "inf", "1e400", "-1", "large"] {
        for kernel in ["rbf", "polynomial", "chi-square"] {
            let set = format!("--set task.kernel={kernel} --set task.kernel.gamma={value}");
            table.push((set, format!("task.kernel.gamma = {value}: {gamma}")));
        }
    }
    let scratch = rows();
    for (arguments, expected) in table {
        refused(&scratch, &[(&format!("{train} {arguments}"), &expected)]);
    }
}

/// A given matrix that is no kernel names its file, the place from 1, and by how much it is none.
#[test]
fn matrices_name_their_file() {
    let table = [
        (
            "asymmetric",
            ": kernel `precomputed`: found 0.5 in row 1, column 2, expected 0.2, which stands in row 2, column 1: the matrix \
             must be symmetric",
        ),
        ("negative", ": kernel `precomputed`: found -2 in row 2, column 2, expected no number below 0 on the diagonal"),
        (
            "indefinite",
            ": kernel `precomputed`: found 1 in row 3, column 3, expected a matrix that is positive semidefinite: \
             elimination leaves -1.013e0 of row 3, expected at least -1.0e-5, which rounding explains",
        ),
        (
            "serial",
            ":1:3: found index 0, expected indices from 1: leave out the column 0:serial that LIBSVM has before precomputed \
             values",
        ),
    ];
    let scratch = rows();
    for (name, expected) in table {
        let train = format!("train --task binary --data {name}.svm --set task.kernel=precomputed");
        refused(&scratch, &[(&train, &format!("{name}.svm{expected}"))]);
    }
}

/// What streams alone have says so without `--stream`; on a stream, what has no say and rows that no number can hold.
#[test]
fn streams_say_what_they_cannot() {
    let input = "--data -: standard input is read by `train --stream` alone, give a file";
    let long = "found features whose squares add up to more than numbers hold, expected at most 1e150 or so: scale them (what \
                the 40 rows before taught is lost: --checkpoint PATH would keep it)";
    let pegasos = "train --stream --task binary --solver pegasos --lambda 0.1";
    refused(
        &rows(),
        &[
            ("train --task binary --data -", input),
            ("path --task binary --data -", input),
            (
                "train --stream --task binary --data a.svm --svg x.svg",
                "--svg: a stream has no picture; `--record` has its curves",
            ),
            (
                "train --stream --task binary --data a.svm --set evaluate=pass",
                "evaluate = pass: a stream has no bounds to evaluate, as its examples do not come back",
            ),
            (
                "train --stream --task binary --data a.svm --set stream.test_every=2",
                "stream.test_every: there are no test data to look at (--test)",
            ),
            (
                &format!("{pegasos} --data a.svm --set solver.size=2000"),
                "solver.size = 2000: must be at most stream.window, as a step takes its examples from one window",
            ),
            (
                "train --stream --task binary --data three.svm",
                "task `binary` needs two labels, the first window has 3 (0, 1, 2): use --task multiclass",
            ),
            (
                "train --stream --task binary --data three.svm --set stream.labels=0,1,2",
                "task `binary` needs two labels, stream.labels has 3 (0, 1, 2): use --task multiclass",
            ),
            // The bad line ends the first window before its second label comes; after that window it is not known yet.
            (
                "train --stream --task binary --data cut.svm",
                "cut.svm:3:6: found `x` as value, expected a finite number",
            ),
            (
                "train --stream --task binary --data cut.svm --set stream.window=2",
                "the first window has 1 label (1), expected two: declare all by stream.labels, as in stream.labels=-1,1",
            ),
            ("train --stream --task binary --data long.svm", &format!("long.svm:42:1: {long}")),
            (&format!("{pegasos} --data wide.svm"), &format!("wide.svm:42:1: {long}")),
        ],
    );
}

/// A stream's model says why it is not verified; a parameter at the preset's value that has no say warns; lists are written with
/// commas.
#[test]
fn streams_of_lists() {
    let scratch = rows();
    let stream = "train --stream --task binary --data a.svm --solver pegasos --lambda 0.1 --clock work";
    let plain = scratch.succeed(&format!("{stream} --out m"));
    assert_eq!(plain.stderr, "");
    let ran = scratch.succeed(&format!("{stream} --set solver.order=uniform --out m"));
    let order = "warning: solver.order = uniform: has no say: rows of a stream are visited as they come";
    assert_eq!(ran.complaints(""), [order]);
    let ran = scratch.run("verify --model m --data a.svm");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: m: it was learned from a stream: it claims no bounds"), "{}", ran.stderr);
    scratch.succeed(&format!("{stream} --set stream.labels=-1,1 --set task.class_weights=1,5 --out comma"));
    scratch.succeed(&format!("{stream} --set stream.labels=[-1,1] --set task.class_weights=[1,5] --out list"));
    assert_eq!(scratch.weights("comma"), scratch.weights("list"));
    assert_ne!(scratch.weights("comma"), scratch.weights("m"));
}

/// A gap that unproven answers of a search keep open is not blamed on lambda.
#[test]
fn gaps_of_searches_are_told_apart() {
    let scratch = Scratch::new();
    scratch.succeed("data make letters --out words --n 60");
    let train =
        "train --task chain --data words --lambda 0.01 --gap 1% --passes 300 --clock work --set task.rescaling=slack";
    let ran = scratch.succeed(train);
    let stopped = ran.stdout.lines().find(|line| line.contains("stopped: ")).unwrap();
    assert!(
        stopped.contains("hardly moved since pass") && stopped.contains("answers of the search were proven"),
        "{stopped}"
    );
    assert!(!stopped.contains("lambda"), "{stopped}");
}

/// Kernels are described with their parameters, by the name of the parameter as well.
#[test]
fn kernels_are_described() {
    let scratch = Scratch::new();
    let described = describe("kernel polynomial");
    assert_eq!(describe("task.kernel polynomial"), described);
    let text = described.split_whitespace().collect::<Vec<_>>().join(" "); // lines may break anywhere
    for part in ["task.kernel.degree = 3", "task.kernel.gamma = \"scale\"", "`scale` for 1 / (features * variance"] {
        assert!(text.contains(part), "{described}");
    }
    let json: serde_json::Value = serde_json::from_str(&describe("kernel --json")).unwrap();
    let names: Vec<_> =
        json["kernel"].as_array().unwrap().iter().map(|kernel| kernel["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "linear", "rbf", "polynomial", "intersection", "chi-square", "precomputed"]);
    let found = scratch.run("describe kernel gauss");
    assert!(found.code == Some(2) && found.stderr.contains("unknown kernel `gauss`"), "{}", found.stderr);
}

/// What other programs have, what stands elsewhere and what is said twice is answered by what there is here.
#[test]
fn near_misses_are_recognised() {
    let scratch = Scratch::new()
        .with("letter.data", samples::letters(12, 16))
        .with("run.toml", "task = \"chain\" # not bias\n\n[data]\npath = \"letter.data\"\nfoldz = [1]\n");
    scratch.write("top.toml", "# bias\n  bias = true\n[task]\nname = \"chain\"\n");
    scratch.write("word.toml", "task = \"chainz\"\n");
    let train = "train --task chain --data letter.data";
    let cases = [
        (
            format!("{train} --set data.folds=8 --set data.folds=9"),
            "--set data.folds=8 and --set data.folds=9: expected one",
        ),
        (format!("{train} --set data.folds=7-0"), "must be fold numbers as in 0,3 or 0-7"),
        (format!("{train} --set data.folds=0-99999999"), "must be fold numbers as in 0,3 or 0-7"),
        (format!("{train} --set bias=true"), "unknown parameter `bias`: did you mean `task.bias`?"),
        (format!("{train} --set folds=1"), "unknown parameter `folds`: did you mean `data.folds`?"),
        (format!("{train} --set lamda=1"), "did you mean `lambda`?"),
        (format!("{train} -C 0.1"), "there is no option -C: give --lambda c:0.1 for C = 0.1"),
        (
            format!("{train} --executor ray"),
            "there is no option --executor: the command of the Python package has it, for --task external: pip install",
        ),
        (format!("{train} -v"), "there is no option -v: progress is shown on a terminal"),
        ("train no.toml".into(), "expected a run specification (RUN.toml); data is given by --data"),
        ("train run.toml".into(), "run.toml:5:1: unknown parameter of data: `foldz`: did you mean `folds`?"),
        (
            "train top.toml --data letter.data".into(),
            "top.toml:2:3: unknown parameter `bias`: did you mean `task.bias`?",
        ),
        ("train word.toml --data letter.data".into(), "word.toml:1:9: unknown task `chainz`: did you mean `chain`?"),
    ];
    assert_all_refused(&scratch, "", cases);
    let list = scratch.json(&format!("{train} --set data.folds=0,1,2,5 --clock work"));
    let range = scratch.json(&format!("{train} --set data.folds=0-2,5 --clock work"));
    assert_eq!((&list["n"], &list["primal"]), (&range["n"], &range["primal"]));
}

/// Who forgets --out is told so, whether the run was short or long; one of a thing is no plural.
#[test]
fn what_is_not_saved_is_told() {
    let scratch = Scratch::new().with("letter.data", samples::letters(12, 16)).with("one.svm", "1 1:1\n");
    let text = scratch.succeed("train --task chain --data letter.data").stdout;
    assert!(text.contains("  not saved: no --out\n"), "{text}");
    let text = scratch.succeed("train --task chain --data letter.data --out model").stdout;
    assert!(text.contains("  saved to model\n") && !text.contains("not saved"), "{text}");
    let text = scratch.succeed("train --task binary --data one.svm").stdout;
    assert!(text.contains("binary on 1 example, 1 weight, "), "{text}");
    let text = scratch.succeed("path --task chain --data letter.data --lambda-min 0.1").stdout;
    assert!(text.contains("  not saved: no --out\n"), "{text}");
}
