//! `--task external` end to end: training, resuming, using and verifying a model whose oracle is another program.
//! Needs `python3`; without it the tests say so and pass.

use std::path::Path;
use std::process::Command;

use crate::common::{Scratch, number, samples};

/// A folder with the template and rows of three classes; `None` without python3.
fn scratch() -> Option<Scratch> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return None;
    }
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/external/multiclass.py");
    let template = std::fs::read(template).unwrap();
    Some(Scratch::new().with("my oracle.py", template).with("three.svm", samples::rows(60, &[1, 2, 3], 4)))
}

/// Runs the program with the template's command line as one more `--set`.
fn external(scratch: &Scratch, arguments: &str) -> crate::common::Ran {
    let mut command = scratch.command(arguments);
    crate::common::run(command.args(["--set", "task.command=python3 'my oracle.py'"]))
}

fn train(scratch: &Scratch, arguments: &str) -> crate::common::Ran {
    external(scratch, &format!("train --task external --data three.svm --clock work {arguments}"))
}

/// Approximate passes that do not go by prices: of a program's calls they are not known.
const PASSES: &str = "--set solver.planes.slope_rule=false --set solver.planes.max_passes=4";

/// Under the work clock the template and the built-in task make the same calls and steps and end at the same weights,
/// but for rounding: planes are the same to the bit (a test of the tasks crate), but Python sums scores in another order,
/// which decides ties, and the built-in task keeps planes by code, which are added up in another order.
#[test]
fn same_run_as_the_built_in_task_but_for_rounding() {
    let Some(scratch) = scratch() else { return };
    for (solver, more) in [("bcfw", ""), ("mp-bcfw", PASSES)] {
        let rest = format!("--solver {solver} --passes 20 --lambda 0.01 --seed 3 {more}");
        let own = scratch.json(&format!("train --task multiclass --data three.svm --clock work {rest} --out own"));
        let ran = train(&scratch, &format!("{rest} --json --out foreign"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let foreign = ran.object();
        for key in ["oracle_calls", "cached_steps", "iterations", "certified", "n", "d", "train_loss"] {
            assert_eq!(own[key], foreign[key], "{solver}: {key}");
        }
        assert!((number(&own, "primal") - number(&foreign, "primal")).abs() <= 1e-12);
        let (own, foreign) = (scratch.weights("own"), scratch.weights("foreign"));
        let worst = own.iter().zip(&foreign).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= 1e-12, "{solver}: {worst}");
    }
}

/// A program knows its best labelling only; what is asked for beside it is refused with the tasks that know more.
#[test]
fn lists_and_margins_are_refused() {
    let Some(scratch) = scratch() else { return };
    let ran = train(&scratch, "--passes 2 --quiet --out m");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for (option, name) in [("--top 2", "--top"), ("--confidence", "--confidence")] {
        let ran = external(&scratch, &format!("predict --model m --data three.svm --out labels {option}"));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let told = "task `external` knows its best labelling only; more is known by \
                    binary, multiclass, chain, tree, graph, mrf, multilabel";
        assert!(ran.stderr.contains(&format!("{name}: {told}")), "{}", ran.stderr);
        assert!(!scratch.path("labels").exists());
    }
}

/// Passes every line on to the template and back, and keeps them as the manual shows them.
const LISTENER: &str = "\
import subprocess, sys, threading
log = open('log', 'w')
child = subprocess.Popen([sys.executable, 'my oracle.py'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def back():
    for line in child.stdout:
        log.write('< ' + line)
        print(line, end='', flush=True)
thread = threading.Thread(target=back)
thread.start()
for line in sys.stdin:
    log.write('> ' + line)
    child.stdin.write(line)
    child.stdin.flush()
child.stdin.close()
thread.join()
";

/// The transcript of docs/external-oracles.md is what is said, word for word: no message more than it needs.
#[test]
fn the_transcript_is_true() {
    let Some(scratch) = scratch() else { return };
    scratch.write("listener.py", LISTENER);
    scratch.write("train.svm", "3 1:1 2:0.5\n5 2:1\n3 1:-0.5\n");
    let mut command = scratch.command("train --task external --data train.svm --clock work --solver bcfw --passes 1");
    let ran = crate::common::run(command.args(["--quiet", "--set", "task.command=python3 listener.py"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/external-oracles.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, shown) = page.split_once("## A transcript").unwrap().1.split_once("```\n> ").unwrap();
    assert_eq!(scratch.text("log"), format!("> {}", shown.split_once("```").unwrap().0));
}

/// Threads and requests of several examples change no byte of the model; gap passes and evaluation use them.
#[test]
fn batches_and_threads_change_nothing() {
    let Some(scratch) = scratch() else { return };
    let rest = "--solver mp-bcfw --set solver.order=gap --passes 6 --lambda 0.01 --quiet";
    for (name, how) in [("one", "--set task.batch=1"), ("many", "--set task.batch=16"), ("two", "--threads 2")] {
        let ran = train(&scratch, &format!("{rest} {how} --out {name}"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(scratch.bytes("one"), scratch.bytes("many"));
    assert_eq!(scratch.bytes("one"), scratch.bytes("two"));
}

/// A model says nothing of the command; given anew, predict, evaluate and verify work, on data that lacks classes too.
#[test]
fn models_are_used_with_a_command_given_anew() {
    let Some(scratch) = scratch() else { return };
    assert_eq!(train(&scratch, "--solver bcfw --passes 10 --lambda 0.01 --out model --quiet").code, Some(0));
    let bytes = scratch.bytes("model");
    assert!(!bytes.windows(9).any(|part| part == b"oracle.py"), "the command is in the model");
    let predicted = external(&scratch, "predict --model model --data three.svm");
    assert_eq!(predicted.code, Some(0), "{}", predicted.stderr);
    assert!(
        predicted.stdout.lines().count() == 60 && predicted.stdout.lines().all(|line| ["1", "2", "3"].contains(&line))
    );
    let evaluated = external(&scratch, "evaluate --model model --data three.svm --json").object();
    scratch
        .succeed("train --task multiclass --data three.svm --clock work --solver bcfw --passes 10 --lambda 0.01 --out own --quiet");
    let own = scratch.json("evaluate --model own --data three.svm");
    assert_eq!(evaluated["loss"], own["loss"]);
    let verified = external(&scratch, "verify --model model --data three.svm --json");
    assert_eq!((verified.code, &verified.object()["verified"]), (Some(0), &true.into()), "{}", verified.stderr);
    scratch.write("some.svm", "1 1:1\n9 2:1\n");
    let some = external(&scratch, "evaluate --model model --data some.svm --json");
    assert_eq!(some.object()["n"], 2, "{}", some.stderr);
    let refused = external(&scratch, "verify --model model --data some.svm");
    assert!(refused.code == Some(2) && refused.stderr.contains("not the data"), "{}", refused.stderr);
    let without = scratch.run("predict --model model --data three.svm");
    assert!(
        without.code == Some(2) && without.stderr.starts_with("error: model: a model of task external"),
        "{}",
        without.stderr
    );
    assert!(without.stderr.contains("no program given: --set 'task.command="), "{}", without.stderr);
    let other = scratch.run("predict --model own --data three.svm --set task.bias=true");
    assert!(other.code == Some(2) && other.stderr.contains("the rest is in the model"), "{}", other.stderr);
}

/// A checkpoint alone is enough to go on, to the bytes of the run that was never stopped.
#[test]
fn runs_are_resumed() {
    let Some(scratch) = scratch() else { return };
    let rest = "--solver mp-bcfw --lambda 0.01 --quiet";
    assert_eq!(train(&scratch, &format!("{rest} --passes 8 --out whole")).code, Some(0));
    assert_eq!(train(&scratch, &format!("{rest} --passes 4 --out half --checkpoint c")).code, Some(0));
    scratch.succeed("train --resume c --passes 8 --out resumed --quiet");
    let w = |name: &str| scratch.weights(name);
    assert_eq!(w("whole"), w("resumed"));
}

/// What goes wrong is one line with the exit code of the contract: 2 before anything ran, 1 after.
#[test]
fn failures_are_one_line() {
    let Some(scratch) = scratch() else { return };
    for (command, code, part) in [
        ("train --task external", 2, "no program given"),
        ("train --task external --set task.command=no-such-program", 2, "could not be started"),
        ("train --task external --data missing --set task.command=cat", 2, "missing"),
        ("train --task external --set task.command=/bin/false", 2, "ended without an answer"),
        ("train --task external --set task.command=cat", 2, "its answer to hello: unknown field `data`"),
        ("train --task external --set task.command=cat --set task.batch=0", 2, "task.batch = 0"),
        ("train --task external --set task.comand=cat", 2, "did you mean `command`"),
        ("train --task multiclass --data three.svm --format opaque", 2, "reads libsvm or csv"),
        ("train --task multiclass", 2, "no data given"),
    ] {
        let ran = scratch.run(command);
        assert_eq!(ran.code, Some(code), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains(part) && ran.stderr.lines().count() == 1, "{command}: {}", ran.stderr);
    }
    scratch.write("dies.py", DIES);
    let ran = crate::common::run(
        scratch.command("train --task external --quiet --out m").args(["--set", "task.command=python3 dies.py"]),
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("oracle failed on example") && ran.stderr.contains("exit status: 9"), "{}", ran.stderr);
    assert!(!scratch.path("m").exists());
}

/// Without a declared quality the gap is an estimate, and the report says what is missing.
#[test]
fn an_undeclared_quality_is_named() {
    let Some(scratch) = scratch() else { return };
    let text = scratch.text("my oracle.py");
    let silent = text.replace("\"quality\": \"exact\",", "");
    assert!(silent != text, "the template declares its quality");
    scratch.write("my oracle.py", silent);
    let ran = train(&scratch, "--passes 2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("estimated: the program did not declare its `quality`"), "{}", ran.stdout);
}

/// Dies at the third decoding.
const DIES: &str = r#"
import json, sys
asked = 0
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        print(json.dumps({"protocol": 1, "examples": 5, "dim": 2}), flush=True)
    elif ask["type"] != "weights":
        asked += ask["type"] == "decode"
        if asked == 3:
            sys.exit(9)
        answer = {"label": 0, "features": [[0, 1.0]], "loss": float(ask["type"] == "decode")}
        print(json.dumps({"id": ask["id"], "answers": [answer]}), flush=True)
"#;

/// Never answers a decoding; writes its process number down.
const HANGS: &str = r#"
import json, os, sys, time
open("pid", "w").write(str(os.getpid()))
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] != "hello" or sys.argv[1] == "hello":
        time.sleep(1000)
    print(json.dumps({"protocol": 1, "examples": 5, "dim": 2}), flush=True)
"#;

/// Ctrl-C while a program does not answer: before there is anything to save the first one leaves, later the second,
/// with exit code 130 and without the program.
#[cfg(target_os = "linux")]
#[test]
fn signals_end_the_program_too() {
    let Some(scratch) = scratch() else { return };
    scratch.write("hangs.py", HANGS);
    for when in ["hello", "decode"] {
        let mut command = scratch.command("train --task external --quiet --record record");
        command.args(["--set", &format!("task.command=python3 hangs.py {when}")]);
        let mut running = crate::common::Running::start(&mut command);
        let ready = if when == "hello" { "pid" } else { "record" };
        running.wait_until(|| {
            scratch.path(ready).exists() && scratch.path("pid").exists() && !scratch.text("pid").is_empty()
        });
        running.signal("INT");
        if when == "decode" {
            running.outlast(std::time::Duration::from_millis(300));
            running.signal("INT");
        }
        let ran = running.finish();
        assert_eq!(ran.code, Some(130), "{when}: {}", ran.stderr);
        let process = scratch.text("pid");
        std::thread::sleep(std::time::Duration::from_millis(200));
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{when}: the program is left: {state}");
        std::fs::remove_file(scratch.path("pid")).unwrap();
    }
}

/// Losses of another size, told by the first argument: what the template does not know.
const LOSSY: &str = "\
import json, sys
FACTOR = float(sys.argv[1])
rows = []
for line in sys.stdin:
    asked = json.loads(line)
    kind, examples = asked['type'], asked.get('examples')
    if kind == 'hello':
        for text in open(asked['data']):
            label, *parts = text.split()
            pairs = [part.split(':') for part in parts]
            rows.append(([(int(k) - 1, float(v)) for k, v in pairs], int(label) - 1))
        told = {'protocol': 1, 'examples': len(rows), 'dim': 12, 'quality': 'exact', 'capabilities': ['batch']}
    elif kind == 'weights':
        w = asked['w']
        continue
    elif kind == 'end':
        break
    else:
        def about(i, y):
            return {'label': y, 'features': [[4 * y + k, v] for k, v in rows[i][0]], 'loss': FACTOR * (y != rows[i][1])}
        def best(i):
            x, truth = rows[i]
            score = lambda y: sum(v * w[4 * y + k] for k, v in x) + FACTOR * (asked['augment'] and y != truth)
            return max(range(3), key=score)
        labels = {'decode': lambda: map(best, examples), 'truth': lambda: (rows[i][1] for i in examples),
                  'describe': lambda: asked['labels']}[kind]()
        told = {'id': asked['id'], 'answers': [about(i, y) for i, y in zip(examples, labels)]}
    print(json.dumps(told), flush=True)
";

/// A run goes on with the program that it began with: one whose loss is another is refused before anything is written,
/// by `verify` as well; the same program at another place goes on.
#[test]
fn another_program_does_not_go_on() {
    let Some(scratch) = scratch() else { return };
    scratch.write("lossy.py", LOSSY);
    scratch.write("moved.py", LOSSY);
    let with = |arguments: &str, program: &str| {
        let mut command = scratch.command(arguments);
        crate::common::run(command.args(["--set", &format!("task.command=python3 {program}")]))
    };
    for solver in ["bcfw", "fw", "auto"] {
        let begin = format!(
            "train --task external --data three.svm --lambda 0.02 --clock work --solver {solver} --passes 12 --quiet \
             --out m --checkpoint c"
        );
        assert_eq!(with(&begin, "lossy.py 1.0").code, Some(0), "{solver}");
        let before = std::fs::read(scratch.path("m")).unwrap();
        let ran = with("train --resume c --passes 13 --json", "lossy.py 0.985");
        assert_eq!(ran.code, Some(2), "{solver}: {}", ran.stdout);
        assert!(ran.stderr.contains("not the oracle that the checkpoint's run was trained with"), "{}", ran.stderr);
        assert!(std::fs::read(scratch.path("m")).unwrap() == before, "{solver}: the model was touched");
        let verified = with("verify --model m --data three.svm --checkpoint c", "lossy.py 0.985");
        assert_eq!(verified.code, Some(2), "{solver}: {}", verified.stderr);
        let ran = with("train --resume c --passes 13 --json", "moved.py 1.0");
        assert_eq!(ran.code, Some(0), "{solver}: {}", ran.stderr);
    }
}
