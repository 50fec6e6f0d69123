//! External programs whose word is not to be relied on: answers that are not what they are declared, announcements that
//! would take all memory, processes left behind. Needs `python3`; without it the tests say so and pass.
#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::{Ran, Scratch, describe, object, run};

/// Three classes; from the call `at` on the answers are what `mode` says, and declared exact all the same.
const PROGRAM: &str = r#"
import sys, json, random
mode, at = sys.argv[1], int(sys.argv[2])
random.seed(3)
n = 30
X = [[random.gauss(0, 1) for _ in range(4)] for _ in range(n)]
Y = [random.randrange(3) for _ in range(n)]
w, k = [0.0] * 12, 0
for line in sys.stdin:
    m = json.loads(line)
    t = m['type']
    if t == 'hello':
        quality = 'upper-bound' if mode == 'bound' else 'heuristic' if mode == 'modest' else 'exact'
        n_told = {'huge': 2 ** 28, 'large': 2 * 10 ** 6}.get(mode, n)
        print(json.dumps({'protocol': 1, 'examples': n_told, 'dim': 12, 'quality': quality, 'fingerprint': 'x',
                          'capabilities': ['batch', 'changes']}), flush=True)
        continue
    if t == 'weights':
        if 'w' in m:
            w = m['w']
        for i, v in m.get('set', []):
            w[i] = v
        continue
    if t == 'end':
        break
    out = []
    for q, i in enumerate(m['examples']):
        y, bound = Y[i], 0.0
        c = y
        if t == 'decode':
            k += 1
            plain = [sum(a * b for a, b in zip(w[4 * c:4 * c + 4], X[i])) for c in range(3)]
            s = [plain[c] + (c != y and m['augment']) for c in range(3)]
            c, bound = max(range(3), key=lambda c: s[c]), max(s)
            if k > at:
                if mode == 'truth' and m['augment']: c = y
                if mode in ('second', 'modest'): c = sorted(range(3), key=lambda c: s[c])[-2]
                if mode == 'ten' and random.random() < .1: c = random.randrange(3)
                if mode == 'noloss': c = max(range(3), key=lambda c: plain[c])
                if mode == 'bound': c = min(range(3), key=lambda c: s[c]); bound = s[c]
        elif t == 'describe':
            c = m['labels'][q]
        loss = float(c != y) * (0.5 if mode == 'wrongloss' and k > at else 1)
        out.append({'label': c, 'features': [[4 * c + j, X[i][j]] for j in range(4)], 'loss': loss, 'bound': bound})
    print(json.dumps({'id': m['id'], 'answers': out}), flush=True)
"#;

/// A folder with the program; `None` without python3.
fn scratch() -> Option<Scratch> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return None;
    }
    Some(Scratch::new().with("lie.py", PROGRAM))
}

fn train(scratch: &Scratch, mode: &str, at: usize, rest: &str) -> Ran {
    let mut command = scratch.command(&format!("train --task external --clock work --gap 0 {rest}"));
    run(command.args(["--set", &format!("task.command=python3 lie.py {mode} {at}")]))
}

/// Answers that are not the best are found where they are declared exact, whatever the solver; the example is named.
#[test]
fn lies_are_found() {
    let Some(scratch) = scratch() else { return };
    for solver in ["fw", "bcfw", "auto"] {
        for mode in ["truth", "second", "ten", "noloss", "wrongloss", "bound"] {
            for at in [0, 200] {
                if at == 0 && mode == "wrongloss" {
                    continue; // another loss from the beginning on is another task, not a lie
                }
                let ran = train(&scratch, mode, at, &format!("--solver {solver} --passes 40 --quiet --out m"));
                assert_eq!(ran.code, Some(1), "{solver} {mode} {at}: {}", ran.stderr);
                let message = &ran.stderr;
                assert!(message.starts_with("error: oracle failed on example "), "{solver} {mode} {at}: {message}");
                assert!(message.contains("at the same weights"), "{solver} {mode} {at}: {message}");
                assert!(!scratch.path("m").exists());
            }
        }
    }
}

/// No solver comes to a certificate on such answers: most runs end with the error, the others with none.
#[test]
fn lies_are_certified_by_no_solver() {
    let Some(scratch) = scratch() else { return };
    let said = object(&describe("solver --json"));
    let solvers = said["solver"].as_array().unwrap().iter().map(|solver| solver["name"].as_str().unwrap());
    let (mut tried, mut caught) = (0, 0);
    for (k, solver) in solvers.enumerate() {
        // Two of five for each; all of them for the three above.
        for mode in ["truth", "noloss", "second", "ten", "bound"].into_iter().cycle().skip(2 * k).take(2) {
            let ran = train(&scratch, mode, 0, &format!("--solver {solver} --passes 20 --json --out m"));
            match ran.code {
                Some(2) => continue, // not with a program, or not without more parameters
                Some(1) => {
                    let told = ["oracle failed on example ", "the oracle", "the dual value"]
                        .iter()
                        .any(|s| ran.stderr.contains(s));
                    assert!(told, "{solver} {mode}: {}", ran.stderr);
                    caught += 1;
                }
                _ => assert_eq!(ran.object()["certified"], false, "{solver} {mode}: {}", ran.stdout),
            }
            tried += 1;
        }
    }
    assert!(tried >= 40 && caught >= tried / 2, "{caught} of {tried}");
}

/// The truth is not contradicted: by no solver, on several threads, without certificates.
#[test]
fn honest_programs_are_believed() {
    let Some(scratch) = scratch() else { return };
    for solver in ["fw", "bcfw", "auto", "ssg"] {
        for threads in [1, 2] {
            let rest = format!("--solver {solver} --passes 30 --quiet --threads {threads}");
            let ran = train(&scratch, "honest", 0, &rest);
            assert_eq!(ran.code, Some(0), "{solver}: {}", ran.stderr);
        }
    }
    let modest = train(&scratch, "modest", 0, "--solver bcfw --passes 10 --json");
    assert_eq!(modest.code, Some(0), "{}", modest.stderr);
}

/// More examples than could be kept are refused before memory is taken.
#[test]
fn announcements_are_bounded() {
    let Some(scratch) = scratch() else { return };
    let ran = train(&scratch, "huge", 0, "--passes 1");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("268435456 examples: expected at most 16777216"), "{}", ran.stderr);
    // Fewer are believed, with a warning of what they take; this program fails at the first of those that it has not.
    let ran = train(&scratch, "large", 0, "--passes 1 --solver ssg --set evaluate=auto");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let warning = "warning: 2000000 examples and dim 12, as the program says, take about 1 GB";
    assert_eq!(ran.complaints(warning).len(), 1, "{}", ran.stderr);
}

/// A process that the program has started in a session of its own ends with it.
#[test]
#[cfg(target_os = "linux")]
fn sessions_of_their_own_end_too() {
    let Some(scratch) = scratch() else { return };
    let start = "import subprocess\nchild = subprocess.Popen(['sleep', '50'], start_new_session=True)\n\
                 open('child', 'w').write(str(child.pid))\n";
    scratch.write("lie.py", format!("{start}{PROGRAM}"));
    for rest in
        ["--solver bcfw --passes 1 --quiet", "--solver bcfw --passes 40 --quiet --set task.timeout_seconds=1e-9"]
    {
        train(&scratch, "honest", 0, rest);
        let child = scratch.text("child");
        // Killed, it may be a zombie of whoever has adopted it.
        let state = || fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let is_gone = || state().rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
        (0..200).take_while(|_| !is_gone()).for_each(|_| thread::sleep(Duration::from_millis(10)));
        assert!(is_gone(), "{rest}: {}", state());
    }
}
