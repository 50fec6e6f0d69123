//! Copies of a program that break down: others and later ones answer, nothing of the result depends on it, users hear of
//! it, and with nobody left there is one error and a checkpoint. Needs `python3`; without it the tests say so and pass.

use std::process::Command;

use crate::common::{Ran, Scratch, number};

/// Two classes by the sign of a number: exact, quick, and with faults. `FAULT` runs before the k-th decode request of each
/// copy, whose answer is in `told`; `first` says whether this is the first copy that was started.
const PROGRAM: &str = r#"
import json, os, random, sys, time
draw = random.Random(3)
rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(40)]
rows = [((a, b), int(a + 0.5 * b + 0.3 * draw.gauss(0, 1) > 0)) for a, b in rows]
open('starts', 'a').write('x')
first = os.path.getsize('starts') == 1
k, w, version = 0, [0.0] * 4, None
def about(i, y):
    x, truth = rows[i]
    return {'label': y, 'features': [[2 * y, x[0]], [2 * y + 1, x[1]]], 'loss': float(y != truth)}
for line in sys.stdin:
    ask = json.loads(line)
    kind = ask['type']
    if kind == 'hello':
        told = {'protocol': 1, 'examples': len(rows), 'dim': 4, 'quality': 'exact', 'fingerprint': 'two',
                'capabilities': ['batch', 'versions']}
    elif kind == 'weights':
        w, version = ask['w'], ask['version']
        continue
    elif kind == 'end':
        break
    elif kind == 'decode':
        def best(i):
            x, truth = rows[i]
            return max((0, 1), key=lambda y: w[2*y] * x[0] + w[2*y+1] * x[1] + (ask['augment'] and y != truth))
        told = {'id': ask['id'], 'version': version, 'answers': [about(i, best(i)) for i in ask['examples']]}
        k += 1
        FAULT
    elif kind == 'truth':
        told = {'id': ask['id'], 'answers': [about(i, rows[i][1]) for i in ask['examples']]}
    else:
        told = {'id': ask['id'], 'answers': [about(i, y) for i, y in zip(ask['examples'], ask['labels'])]}
    print(json.dumps(told), flush=True)
"#;

/// A folder with the program; `None` without python3.
fn scratch(fault: &str) -> Option<Scratch> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return None;
    }
    Some(Scratch::new().with("frail.py", PROGRAM.replace("FAULT", fault)))
}

fn train(scratch: &Scratch, arguments: &str) -> Ran {
    let batch = if arguments.contains("task.batch=") { "" } else { "--set task.batch=4" };
    let base = format!("train --task external --clock work --lambda 0.05 {batch} --set task.timeout_seconds=1");
    let mut command = scratch.command(&format!("{base} {arguments}"));
    crate::common::run(command.args(["--set", "task.command=python3 frail.py"]))
}

/// A copy that dies, hangs or answers for other weights or another question is replaced, whatever asks, on one thread and
/// on several: the model is that of a run without faults, and a warning says what happened.
#[test]
fn a_copy_that_breaks_down_is_replaced() {
    let Some(sound) = scratch("pass") else { return };
    let solvers = [("auto", 12), ("fw", 20), ("bcfw", 6)];
    for (solver, passes) in solvers {
        let expected = train(&sound, &format!("--solver {solver} --passes {passes} --threads 1 --out {solver}"));
        assert_eq!(expected.code, Some(0), "{}", expected.stderr);
        assert!(!expected.stderr.contains("warning: on the way"), "{}", expected.stderr);
    }
    for (fault, reason) in [
        ("if first and k == 5: sys.exit(9)", "exit status: 9"),
        ("if k == 130: os.kill(os.getpid(), 9)", "signal: 9"), // again and again, but each time after 100 answers
        ("if first and k == 7: time.sleep(60)", "no answer came within 1 s"),
        ("if first and k == 6: told['version'] -= 1", "an answer for weights"),
        ("if first and k == 6: told['id'] += 1", "came, expected id"),
        ("if first and k == 6: told['answers'].pop()", "answers came to a question about"),
    ] {
        let Some(frail) = scratch(fault) else { return };
        for (solver, passes) in solvers {
            for threads in [1, 3] {
                let _ = std::fs::remove_file(frail.path("starts"));
                let run = format!("--solver {solver} --passes {passes} --threads {threads} --out model");
                let ran = train(&frail, &run);
                assert_eq!(ran.code, Some(0), "{fault}, {solver}, {threads} threads: {}", ran.stderr);
                assert_eq!(frail.bytes("model"), sound.bytes(solver), "{fault}, {solver}, {threads} threads");
                // On several threads the first copy may have had less to do than it takes to break down.
                let told = ran.stderr.contains("warning: on the way") && ran.stderr.contains(reason);
                assert!(told || threads > 1, "{fault}, {solver}: {}", ran.stderr);
            }
        }
    }
}

/// Without restarts the work of a lost copy goes to the others, for steps that ask one by one too.
#[test]
fn others_take_over() {
    let Some(sound) = scratch("pass") else { return };
    let Some(frail) = scratch("if first and k == 5: sys.exit(9)") else { return };
    for solver in ["auto", "fw", "bcfw"] {
        let run = format!("--solver {solver} --passes 8 --threads 2 --set task.restarts=0 --out model");
        assert_eq!(train(&sound, &run).code, Some(0));
        let _ = std::fs::remove_file(frail.path("starts"));
        let ran = train(&frail, &run);
        assert_eq!(ran.code, Some(0), "{solver}: {}", ran.stderr);
        assert_eq!(frail.bytes("model"), sound.bytes("model"), "{solver}");
    }
}

/// With no copy left the run ends with one line that says why, exit code 1, and a checkpoint that a sound program goes on
/// from.
#[test]
fn with_nobody_left_there_is_an_error_and_a_checkpoint() {
    for (fault, reason) in [
        ("if k == 3: sys.exit(9)", "exit status: 9"),
        ("if k == 3: time.sleep(60)", "no answer came within 1 s"),
        ("if k == 3: told['version'] += 1", "an answer for weights"),
    ] {
        for (solver, threads) in [("bcfw", 1), ("fw", 1), ("auto", 3), ("fw", 3)] {
            let Some(scratch) = scratch(fault) else { return };
            let run = format!("--solver {solver} --passes 40 --threads {threads} --quiet --out model --checkpoint c");
            let ran = train(&scratch, &format!("{run} --set task.restarts=1"));
            let label = format!("{fault}, {solver}, {threads} threads: {}", ran.stderr);
            assert_eq!(ran.code, Some(1), "{label}");
            assert!(ran.stderr.starts_with("error: oracle failed on example "), "{label}");
            assert!(ran.stderr.contains(reason) && ran.stderr.lines().count() == 1, "{label}");
            assert!(ran.stderr.contains("the newest sound checkpoint is c"), "{label}");
            assert!(!scratch.path("model").exists() && scratch.path("c").exists(), "{label}");
            scratch.write("frail.py", PROGRAM.replace("FAULT", "pass"));
            let mut command = scratch.command("train --resume c --gap 0.01 --passes 4000 --json --out model");
            let resumed = crate::common::run(command.args(["--set", "task.command=python3 frail.py"]));
            assert_eq!(resumed.code, Some(0), "{label}: {}", resumed.stderr);
            let found = resumed.object();
            assert_eq!(found["certified"], true, "{label}");
            assert!(solver == "fw" || number(&found, "gap") <= 0.01, "{label}");
        }
    }
}

/// A refusal of the program's own is no breakdown: nothing is asked twice.
#[test]
fn a_refusal_is_final() {
    let fault = "if k == 4: told = {'id': ask['id'], 'version': version, 'error': 'no idea'}";
    let Some(scratch) = scratch(fault) else { return };
    let ran = train(&scratch, "--solver bcfw --passes 5 --threads 1 --quiet");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("it says: no idea") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert_eq!(scratch.text("starts"), "x");
}

/// By default a quick program runs once; a slow one gets a copy for each core that there is, and the report says how many.
#[test]
fn copies_come_where_calls_are_slow() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (fault, slow) in [("pass", false), ("time.sleep(0.004 * len(ask['examples']))", true)] {
        let Some(scratch) = scratch(fault) else { return };
        let ran = train(&scratch, "--solver fw --passes 20 --json --set task.batch=1");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let (threads, starts) = (number(&ran.object(), "threads") as usize, scratch.text("starts").len());
        // What a quick program takes is its round trip, which a busy machine can make slow.
        // The last one may have come too late.
        let there = threads == starts || threads + 1 == starts;
        assert!(there && starts <= cores, "{threads} threads, {starts} copies, {cores} cores");
        assert!(!slow || cores < 2 || starts > 1, "{starts} copies");
    }
}

/// Predicting, evaluating and verifying go on with the copies that are left, on one thread and on several, and say so.
#[test]
fn models_are_used_in_spite_of_lost_copies() {
    let Some(scratch) = scratch("pass") else { return };
    assert_eq!(train(&scratch, "--solver bcfw --passes 30 --threads 1 --out model").code, Some(0));
    let used = |command: &str, threads: usize, restarts: usize| {
        let _ = std::fs::remove_file(scratch.path("starts"));
        let line =
            format!("{command} --model model --threads {threads} --set task.restarts={restarts} --set task.batch=4");
        crate::common::run(scratch.command(&line).args(["--set", "task.command=python3 frail.py"]))
    };
    for command in ["evaluate --json", "predict", "verify"] {
        scratch.write("frail.py", PROGRAM.replace("FAULT", "pass"));
        let expected = used(command, 2, 0);
        assert_eq!((expected.code, &expected.stderr[..]), (Some(0), ""), "{command}");
        assert_eq!(scratch.text("starts").len(), 2, "{command}: copies");
        // The copy that leaves does so at its first question; on one thread it is started again.
        scratch.write("frail.py", PROGRAM.replace("FAULT", "if first: sys.exit(9)"));
        for (threads, restarts, told) in [(2, 0, "1 worker was lost"), (1, 1, "1 worker was started again")] {
            let ran = used(command, threads, restarts);
            assert_eq!((ran.code, &ran.stdout), (Some(0), &expected.stdout), "{command}, {threads}: {}", ran.stderr);
            let warned = ran.stderr.starts_with(&format!("warning: on the way {told}"));
            assert!(warned && ran.stderr.contains("exit status: 9"), "{command}, {threads}: {}", ran.stderr);
        }
        let ran = used(command, 1, 0);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        let blamed = ran.stderr.starts_with("error: oracle failed on example 0: external program `python3 frail.py`");
        assert!(blamed && ran.stderr.ends_with("(on the way 1 worker was lost)\n"), "{command}: {}", ran.stderr);
    }
}

/// An example on which every copy breaks down is named, whatever batch it came in; nothing else is blamed.
#[test]
fn the_example_that_kills_is_named() {
    let fault = "if 17 in ask['examples']: sys.exit(9)";
    let Some(scratch) = scratch(fault) else { return };
    for (solver, threads) in [("fw", 1), ("fw", 3), ("auto", 1), ("bcfw", 1)] {
        let run = format!("--solver {solver} --passes 4 --threads {threads} --out model --checkpoint c --quiet");
        let ran = train(&scratch, &format!("{run} --set task.restarts=2"));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let named = ran.stderr.starts_with("error: oracle failed on example 17: ");
        assert!(named && ran.stderr.contains("started again"), "{solver}, {threads} threads: {}", ran.stderr);
    }
    let restarted = scratch.text("starts").len();
    assert!(restarted < 60, "{restarted} copies");
}

/// What was made good stands in the final object, and only where there was something.
#[test]
fn losses_are_counted_once() {
    let Some(scratch) = scratch("if first and k == 5: sys.exit(9)") else { return };
    let run = "--solver auto --passes 8 --threads 2 --set task.restarts=0 --json";
    let mishaps = train(&scratch, run).object()["mishaps"].clone();
    assert!(mishaps.is_null() || mishaps["lost"] == 1, "{mishaps}");
    let again = train(&scratch, run).object();
    assert!(!again.contains_key("mishaps"), "{again:?}");
}
