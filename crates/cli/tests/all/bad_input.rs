//! Bad data and bad parameters: each is refused with exit code 2 and one line that says what and where, and nothing
//! is written or lost.

use std::process::Command;

use crate::common::refusals::{TRAIN, assert_all_refused, assert_refused, folder};
use crate::common::{BINARY, Scratch, run, samples};

/// A faulty file is refused with the same words, and the place, by every command that reads data.
fn assert_faulty(scratch: &Scratch, file: &str, message: &str) {
    let (task, model, good) = match file.contains("letter") {
        true => ("chain", "letter.model", "letter.data"),
        false => ("binary", "svm.model", "good.svm"),
    };
    let outputs = "--out out --record record";
    let message = format!("error: {file}{message}");
    for arguments in [
        format!("train --task {task} --data {file} {outputs}"),
        format!("train --task {task} --data {good} --test {file} {outputs}"),
        format!("predict --model {model} --data {file} --out labels"),
        format!("evaluate --model {model} --data {file} --json"),
        format!("verify --model {model} --data {file} --json"),
    ] {
        assert_refused(scratch, &arguments, &message);
    }
}

/// Every content of a file is refused as [`assert_faulty`] says, with the message given with it.
fn assert_all_faulty<'a, C: AsRef<[u8]>>(file: &str, cases: impl IntoIterator<Item = (C, &'a str)>) {
    let scratch = folder();
    for (content, message) in cases {
        scratch.write(file, content);
        assert_faulty(&scratch, file, message);
    }
}

/// Faults of a LIBSVM or CSV file are told with path, line and column.
#[test]
fn faults_in_rows() {
    let cases = [
        ("1 1:1\n-1 1:x\n", ":2:6: found `x` as value, expected a finite number"),
        ("1 1:1\nspam 1:1\n", ":2:1: found `spam` as label, expected an integer"),
        ("1 1:1\n-1 1:2 2:nan\n", ":2:10: found `nan` as value, expected a finite number"),
        ("1 1:1\n-1 1:-inf\n", ":2:6: found `-inf` as value, expected a finite number"),
        ("1 1:1\n-1 1:1e999\n", ":2:6: found `1e999` as value, expected a finite number"),
        ("nan 1:1\n", ":1:1: found `nan` as label, expected an integer"),
        ("1 1:1\n-1 0:1\n", ":2:4: found index 0, expected indices from 1"),
        ("1 2:1 1:1\n", ":1:7: found index 1 after 2, expected strictly ascending indices"),
        ("1 2:1 2:1\n", ":1:7: found index 2 twice, expected strictly ascending indices"),
        ("1 1:1\n-1 2147483648:1\n", ":2:4: found index `2147483648`, expected at most 268435456"),
        ("1 1:1\n-1 18446744073709551616:1\n", ":2:4: found index `18446744073709551616`, expected at most"),
        ("1 1:1\n-1 5\n", ":2:4: found `5` as feature, expected index:value"),
        ("0.5,0,0,0,1\nnan,0,0,0,1\n", ":2:1: found `nan` as value, expected a finite number"),
        ("0.5,0,0,0,1\n0.5,0,0,0,2,1\n", ":2:14: found 6 columns, expected 5 as on line 1"),
        ("0.5,0,0,0,1\n0.5,0,0,0,b\n", ":2:11: found `b` as label, expected an integer"),
        (
            "call me Ishmael\n",
            ":1:1: found `call me Ishmael`, which is none of the formats of task binary (libsvm, csv): name it with --format",
        ),
    ];
    assert_all_faulty("bad", cases);
}

/// Faults of a letter.data file are told with path, line and column.
#[test]
fn faults_in_letters() {
    let line = |id: u32, letter: &str, next: i32, position: u32, pixels: &str| {
        format!("{id}\t{letter}\t{next}\t1\t{position}\t0\t{pixels}\n")
    };
    let good = line(1, "a", 2, 1, "0\t1");
    let cases = [
        (line(2, "b", -1, 2, "0\t1\t1"), ":2:19: found 9 columns (3 pixels), expected 8 (2 pixels) as on line 1"),
        (line(2, "b", -1, 2, "0"), ":2:15: found 7 columns (1 pixels), expected 8 (2 pixels) as on line 1"),
        (line(2, "", -1, 2, "0\t1"), ":2:3: found no letter, expected one from a to z"),
        (line(2, "B", -1, 2, "0\t1"), ":2:3: found letter `B`, expected one from a to z"),
        (line(2, "b", -1, 2, "0\tx"), ":2:16: found `x` as pixel, expected a finite number"),
        (line(2, "b", -1, 2, "inf\t0"), ":2:14: found `inf` as pixel, expected a finite number"),
        (line(2, "b", -1, 3, "0\t1"), ":2:10: found position 3, expected 2"),
        (line(2, "b", 3, 2, "0\t1"), ":2:5: found the end of the file in mid-word"),
    ];
    assert_all_faulty("bad.letter", cases.map(|(second, message)| (format!("{good}{second}"), message)));
}

/// What is not a data file at all is refused by its path.
#[test]
fn faults_of_whole_files() {
    let mut cut = samples::gzip(samples::letters(40, 128));
    cut.truncate(cut.len() / 2);
    let scratch = folder().with("empty.svm", "").with("blank.svm", "\n# nothing\n").with("cut.letter.gz", cut);
    for (file, message) in [
        ("missing.svm", ": found no such file, expected a data file"),
        ("folder", ": found a directory, expected a data file"),
        ("empty.svm", ": found an empty file, expected"),
        ("blank.svm", ": found only blank lines or comments, expected"),
        ("cut.letter.gz", ": found gzip data that is cut off after line "),
    ] {
        assert_faulty(&scratch, file, message);
    }
}

/// An index that is too large costs neither time nor memory: refused within two seconds in an address space of 100 MB, in
/// which data can be trained on whose indices are as large as they may be. Columns that no example has cost nothing: they
/// have no weights, and what a model predicts goes by the numbers of the others.
#[test]
#[cfg(target_os = "linux")]
fn huge_dimensions_are_cheap_to_refuse() {
    let scratch = folder().with("huge.svm", "1 1:1\n-1 2147483648:1\n").with("wide.svm", "1 1:1\n2 268435456:1\n");
    let many: String = (1..=23_500).map(|i| format!("{i} {i}:1\n")).collect();
    scratch.write("many.svm", many.as_bytes());
    scratch.write("wide.hmm", b"1 qid:1 1:1\n2 qid:1 268435456:1\n");
    scratch.write("wide.sets", b"1 1:1\n1,2 268435456:1\n");
    scratch.write("other.svm", b"2 2:1 268435456:1 \n1 1:1 268435455:9\n");
    let limited = |arguments: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 97656 && exec \"$0\" \"$@\"", BINARY]).args(arguments.split_whitespace());
        run(command.current_dir(scratch.path("")))
    };
    let good = limited("train --task binary --data good.svm --quiet");
    assert_eq!(good.code, Some(0), "{}", good.stderr);
    for (arguments, message) in [
        ("train --task binary --data huge.svm", "error: huge.svm:2:4: found index `2147483648`"),
        ("train --task multiclass --data huge.svm", "error: huge.svm:2:4: found index `2147483648`"),
        ("evaluate --model svm.model --data huge.svm", "error: huge.svm:2:4: found index `2147483648`"),
        (
            "train --task multiclass --data many.svm",
            "error: many.svm: 23500 labels x 23500 features need weights of 4.1 GiB",
        ),
    ] {
        let ran = limited(arguments);
        assert_eq!(ran.code, Some(2), "`{arguments}`: {}", ran.stderr);
        assert!(ran.stderr.starts_with(message), "`{arguments}`: {}", ran.stderr);
        assert!(ran.seconds < 2.0, "`{arguments}` took {} s", ran.seconds);
    }
    for (task, data) in [
        ("binary", "wide.svm"),
        ("multiclass", "wide.svm --set task.bias=true"),
        ("multiclass", "wide.svm --set task.kernel=linear"),
        ("multiclass", "wide.svm --set task.scale=max-abs"),
        ("chain", "wide.hmm --format hmm"),
        ("multilabel", "wide.sets --format multilabel"),
    ] {
        let ran = limited(&format!("train --task {task} --data {data} --quiet --checkpoint run --out {task}.model"));
        assert_eq!(ran.code, Some(0), "{task}: {}", ran.stderr);
        assert!(std::fs::metadata(scratch.path(&format!("{task}.model"))).unwrap().len() < 5000, "{task}");
        let file = data.split(' ').next().unwrap();
        let ran = limited(&format!("verify --model {task}.model --checkpoint run --data {file}"));
        assert_eq!(ran.code, Some(0), "{task}: {}{}", ran.stdout, ran.stderr);
        if task == "binary" || task == "multiclass" {
            let ran = limited(&format!("predict --model {task}.model --data other.svm"));
            assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "2\n1"), "{task}: {}", ran.stderr);
            assert!(ran.stderr.contains("2 features were never seen in training: ignored"), "{task}: {}", ran.stderr);
        }
    }
    let shown = limited("show multiclass.model").stdout;
    assert!(shown.contains("268435456"), "{shown}");
}

/// A name that does not exist is refused with the names that are near, whatever it names.
#[test]
fn unknown_names_come_with_a_suggestion() {
    let scratch = folder();
    assert_all_refused(
        &scratch,
        TRAIN,
        [
            ("--solver bcfv", "unknown solver `bcfv`: did you mean `bcfw`"),
            ("--format libsvn", "unknown format `libsvn`: did you mean `libsvm`?"),
            ("--set data.format=letters", "unknown format `letters`: did you mean `letter`?"),
            ("--set task.loss=haming", "`haming`: did you mean `hamming`"),
            ("--set task.biass=true", "`biass`: did you mean `bias`?"),
            ("--set solver.planes.max_plane=3", "`max_plane`: did you mean `max_planes`"),
            ("--set solver.order=permutations", "`permutations`: did you mean `permutation`?"),
            ("--set sover.order=uniform", "unknown parameter `sover`: did you mean `solver`?"),
            ("--set data.fold=1", "`fold`: did you mean `folds`?"),
            ("--set oracle.delay=1", "`delay`: did you mean `delay_us`?"),
            ("--set stop.pass=1", "`pass`: did you mean `passes`?"),
            ("--clock sun", "unknown clock `sun`: expected one of `wall`, `work`"),
            ("--clock wrok", "unknown clock `wrok`: did you mean `work`?"),
            ("--pases 3", "there is no option --pases: did you mean --passes?"),
        ],
    );
    assert_refused(&scratch, "train --task chian --data letter.data", "unknown task `chian`: did you mean `chain`?");
    assert_refused(&scratch, "trian --data letter.data", "unrecognized subcommand 'trian'");
    assert_refused(&scratch, "describe solver bcwf", "unknown solver `bcwf`: did you mean `bcfw`");
    let evaluate = "evaluate --model svm.model --data good.svm";
    assert_refused(&scratch, &format!("{evaluate} --threads 257"), "threads = 257: must be at most 256");
    assert_refused(&scratch, &format!("{evaluate} --threads -1"), "threads = -1: must be a whole number >= 0");
    assert_refused(&scratch, &format!("{evaluate} --set data.fold=1"), "`fold`: did you mean `folds`?");
    assert_refused(&scratch, &format!("{evaluate} --format libsvn"), "`libsvn`: did you mean `libsvm`?");
}

/// A value out of range, or of the wrong type, is refused with the value and the rule.
#[test]
fn bad_values_are_refused() {
    let scratch = folder();
    let mut cases: Vec<(String, String)> = Vec::new();
    for value in ["0", "-1", "nan", "inf", "-inf", "text", "2/n", "c:0", "c:-1", "c:nan", "c:", "1e999"] {
        let message = format!("lambda = {value}: must be a number > 0, `1/n`, `c:X` with X > 0, `auto`, `scale`, `cv`");
        cases.push((format!("--lambda {value}"), message));
    }
    for value in ["-1", "-1%", "nan", "inf", "text", "x%", "%"] {
        let message = format!("gap = {value}: must be a number >= 0, or percent as in 1%");
        cases.push((format!("--gap {value}"), message));
    }
    for (arguments, message) in [
        (
            "--solver div-m-best --set solver.solutions.planes=1001",
            "solver.solutions.planes = 1001: must be at least 1 and at most 1000",
        ),
        ("--solver bcpl --set solver.tau=0", "solver.tau = 0: must be from 1e-12 to 1e12"),
        ("--solver oeg --set solver.tau=-0.01", "solver.tau = -0.01: must be from 1e-12 to 1e12"),
        ("--passes 0", "stop.passes = 0: must be greater than 0"),
        ("--passes -1", "stop.passes = -1: must be greater than 0"),
        ("--passes text", "stop.passes = text: must be a number"),
        ("--seconds 0", "stop.seconds = 0: must be greater than 0"),
        ("--calls 0", "stop.calls = 0: must be at least 1"),
        ("--calls 1.5", "1.5"),
        ("--seed -1", "seed = -1"),
        ("--seed x", "seed = x"),
        ("--threads two", "threads = two"),
        ("--threads -1", "threads = -1"),
        ("--threads 257", "threads = 257: must be at most 256"),
        ("--set oracle.delay_us=-1", "oracle.delay_us = -1: must be between 0 and"),
        ("--set solver.planes.max_planes=-1", "solver.planes.max_planes = -1: must be a whole number"),
        (
            "--set solver.order=shrinking --set solver.order.aging=1",
            "error: solver.order.aging = 1: must be a finite number greater than 1",
        ),
        ("--set task.bias=perhaps", "task.bias = perhaps: must be true or false"),
        ("--set task.class_weights=[1]", "task.class_weights has 1 entries, expected one for each of 2 labels"),
        ("--set data.folds=1", "good.svm: data.folds: this format has no folds"),
        ("--set data.folds=x", "data.folds = x: must be fold numbers as in 0,3"),
        ("--set solver", "--set solver: expected KEY=VALUE, as in solver.order=uniform"),
        ("--set =3", "--set =3: expected KEY=VALUE, as in solver.order=uniform"),
    ] {
        cases.push((arguments.into(), message.into()));
    }
    for (arguments, message) in cases {
        assert_refused(&scratch, &format!("{TRAIN} {arguments}"), &message);
    }
    for kappa in ["0", "1", "1.5", "-1", "nan"] {
        let message = format!("kappa = {}: must be greater than 0 and less than 1", kappa.replace("nan", "NaN"));
        assert_refused(&scratch, &format!("path --task binary --data good.svm --kappa {kappa}"), &message);
    }
    let folds = "train --task chain --data letter.data --set data.folds=77";
    assert_refused(&scratch, folds, "letter.data: ");
}

/// A stop or a list that is not a number is refused: it is not the same as none given.
#[test]
fn not_a_number_is_not_nothing() {
    let scratch = folder();
    for arguments in
        ["--passes nan", "--calls nan", "--seconds nan", "--set data.folds=nan", "--set task.class_weights=nan"]
    {
        assert_refused(&scratch, &format!("{TRAIN} {arguments}"), "nan");
    }
}

/// A solver that needs more of a task than answers is refused with the tasks that can and the solvers that do without.
#[test]
fn what_a_solver_needs_of_a_task_is_told() {
    let scratch = folder();
    let rows: Vec<String> = (0..20).map(|k| format!("{},{} 1:{k}\n", k % 17, (k + 1) % 17)).collect();
    scratch.write("sets.svm", rows.concat()); // more labels than are enumerated, with weights for all pairs
    let train = "train --task multilabel --data sets.svm --solver bcpl --out out";
    for told in [
        "solver `bcpl` needs a task that can sum over labellings: task `multilabel` cannot, as it is set up. Tasks that can: \
         binary, multiclass, chain, ",
        ", multilabel; solvers that do without: auto, ",
    ] {
        assert_refused(&scratch, train, told);
    }
}

/// What a command cannot do without is asked for.
#[test]
fn missing_arguments_are_named() {
    let scratch = folder();
    assert_all_refused(
        &scratch,
        "",
        [
            (
                "train --data good.svm",
                "no task given: --task is one of binary, multiclass for data in the format libsvm",
            ),
            ("train --task binary", "no data given: --data PATH"),
            ("predict --model svm.model", "no data given: --data PATH"),
            ("evaluate --data good.svm", "required arguments were not provided"),
            ("train --task binary --data good.svm --out", "a value is required for '--out <MODEL>'"),
        ],
    );
}

/// Mistakes in a run file are told with its path and the line, or with the key and what was meant.
#[test]
fn bad_run_files() {
    let scratch = folder();
    for (content, message) in [
        ("task = \"binary\"\nlambda = = 1\n", "error: run.toml:2:10: "),
        ("task = \"binary\"\n\n[stop\n", "error: run.toml:3:6: "),
        ("task = \"binary\"\ntask = \"chain\"\n", "error: run.toml:2:1: "),
        ("task = \"binary\"\nlamda = 1\n", "unknown parameter `lamda`: did you mean `lambda`?"),
        ("task = \"binary\"\n[solver]\nname = \"bcfw\"\nordr = \"uniform\"\n", "`ordr`: did you mean `order`?"),
        ("task = \"binary\"\n[stop]\npases = 3\n", "`pases`: did you mean `passes`?"),
        ("task = 3\n", "task: expected a name, found 3"),
        ("task = \"binary\"\n[stop]\npasses = inf\n", "stop.passes = inf: must be a finite number"),
        ("task = \"binary\"\nlambda = nan\n", "lambda = NaN: must be a finite number"),
        ("[task]\nbias = true\n", "task.name is missing"),
        ("task = \"binary\"\nseed = \"x\"\n", "seed = x"),
    ] {
        scratch.write("run.toml", content);
        assert_refused(&scratch, "train run.toml --data good.svm --out out --record record", message);
    }
    let data = ": expected a run specification (RUN.toml); data is given by --data good.svm";
    assert_refused(&scratch, "train good.svm --task binary", data);
    scratch.write("run.toml", b"task = \"\xff\"\n");
    assert_refused(&scratch, "train run.toml --data good.svm --out out", "error: run.toml: ");
    assert_refused(&scratch, "train missing.toml --data good.svm --out out", "error: missing.toml: ");
    assert_refused(&scratch, "train folder --data good.svm --out out", "error: folder: ");
}

/// An unknown experiment has one error with the nearest names; numbers and folders that cannot be meant are refused.
#[test]
fn experiments_are_asked_for_rightly() {
    let scratch = folder();
    let near = "error: unknown experiment `mp-bcfw-fig7`: did you mean `mp-bcfw-fig4`, ";
    assert_refused(&scratch, "reproduce mp-bcfw-fig7 --out out", near);
    assert_refused(&scratch, "reproduce gaps-grid --seeds 0 --out out", "--seeds 0: must be between 1 and 1000");
    assert_refused(&scratch, "reproduce gaps-grid --seeds -1 --out out", "--seeds -1: expected a whole number");
    assert_refused(&scratch, "reproduce gaps-grid --threads x --out out", "--threads x: expected a whole number");
    assert_refused(&scratch, "reproduce --data-dir nowhere", "--data-dir nowhere: expected a folder of data sets");
}
