//! External programs: the template gives the planes of the built-in task, and whatever a program does wrong ends in
//! one error that says what came. Needs `python3`; without it the tests say so and pass.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use multiplane_core::executor::{BatchItem, PoolSize, Reply};
use multiplane_core::oracle::MaxOracle;
use multiplane_core::plane::{Plane, Star};
use multiplane_core::rng::Rng;
use multiplane_tasks::builtin::multiclass::MulticlassSpec;
use multiplane_tasks::data::{self, Opaque, libsvm};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskSpec;
use multiplane_tasks::foreign::external::{CommandLine, ExternalSpec};
use multiplane_tasks::problem::Problem;
use tempfile::TempDir;

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no python3");
    }
    found
}

/// Rows of three classes.
fn rows(folder: &TempDir, n: usize) -> PathBuf {
    let mut rng = Rng::new(5, 0);
    let mut text = String::new();
    for _ in 0..n {
        let label = rng.below(3);
        text += &format!("{}", label + 1);
        for feature in 1..=6 {
            text += &format!(" {feature}:{}", rng.unit() + if feature % 3 == label { 0.4 } else { 0.0 });
        }
        text += "\n";
    }
    let path = folder.path().join("rows.svm");
    std::fs::write(&path, text).unwrap();
    path
}

fn template() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/external/multiclass.py").to_string_lossy().into_owned()
}

fn spec(words: &[&str]) -> ExternalSpec {
    let command = CommandLine::Words(words.iter().map(|word| word.to_string()).collect());
    ExternalSpec { command, timeout_seconds: 20.0, ..ExternalSpec::default() }
}

fn on_template(data: &Path, batch: usize) -> Box<dyn Problem> {
    let spec = ExternalSpec { batch, ..spec(&["python3", &template()]) };
    spec.open(Dataset::new(Opaque::read(data).unwrap()), None).unwrap()
}

fn bits(plane: &Plane) -> (Vec<(u32, u64)>, u64) {
    let view = plane.view();
    let Star::Sparse { indices, values } = view.star else { panic!("dense") };
    (indices.iter().copied().zip(values.iter().map(|value| value.to_bits())).collect(), view.circ.to_bits())
}

/// The template's planes are those of the built-in task to the bit, asked one by one and in batches, and so are its
/// evaluations.
#[test]
fn template_gives_the_planes_of_the_built_in_task() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = rows(&folder, 40);
    let own = MulticlassSpec::default().open(data::read(&path, Some(&libsvm::FORMAT)).unwrap(), None).unwrap();
    let foreign = on_template(&path, 7);
    assert_eq!((foreign.blocks(), foreign.dim()), (own.blocks(), own.dim()));
    let (mut one, mut other) = (own.oracle().unwrap(), foreign.oracle().unwrap());
    let mut executor = foreign.oracles().executor(PoolSize::of(2)).unwrap().unwrap();
    let (mut rng, mut a, mut b) = (Rng::new(1, 0), Plane::new(), Plane::new());
    let mut w = vec![0.0; own.dim()];
    for round in 0..4 {
        let mut batch: Vec<BatchItem> = (0..40).map(BatchItem::new).collect();
        executor.answer(&w, Reply::Planes, &mut batch).unwrap();
        for (block, together) in batch.iter().enumerate() {
            one.maximize(block, &w, &mut a).unwrap();
            other.maximize(block, &w, &mut b).unwrap();
            assert_eq!(bits(&a), bits(&b), "round {round}, block {block}");
            assert_eq!(bits(&a), bits(&together.plane), "round {round}, block {block}");
        }
        let (mine, theirs) = (own.predictor().evaluate(&w, 1).unwrap(), foreign.predictor().evaluate(&w, 2).unwrap());
        assert_eq!(mine, theirs);
        let change = if round == 1 { 2 } else { w.len() }; // all of them, or few enough to be sent as changes
        w.iter_mut().take(change).for_each(|w| *w = 4.0 * rng.unit() - 2.0);
    }
    let mut labels = Vec::new();
    foreign.predictor().predict(&w, 1, &mut |prediction| labels.push(prediction.text)).unwrap();
    let mut expected = Vec::new();
    own.predictor().predict(&w, 1, &mut |prediction| expected.push(prediction.text)).unwrap();
    assert_eq!(labels, expected);
}

/// A program that plays by the rules, into which faults are put: `HELLO` and `ANSWER` are Python expressions.
const PROGRAM: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        HELLO
    elif ask["type"] in ("decode", "truth", "describe"):
        good = {"label": 0, "features": [[1, 0.5]], "loss": 0.0}
        answer = {"id": ask["id"], "answers": [good for _ in ask["examples"]]}
        if ask["type"] == "decode":
            good["loss"] = 1.0
            ANSWER
        print(json.dumps(answer), flush=True)
    elif ask["type"] == "end":
        break
"#;

const WELCOME: &str = r#"print(json.dumps({"protocol": 1, "examples": 3, "dim": 4}), flush=True)"#;

struct Bad {
    folder: TempDir,
    spec: ExternalSpec,
}

impl Bad {
    fn new(hello: &str, answer: &str) -> Bad {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oracle.py");
        std::fs::write(&path, PROGRAM.replace("HELLO", hello).replace("ANSWER", answer)).unwrap();
        let spec = ExternalSpec { line_megabytes: 1, ..spec(&["python3", &path.to_string_lossy()]) };
        Bad { folder, spec }
    }

    /// What opening says, or the first decoding.
    fn error(&self) -> String {
        match self.spec.open(Dataset::new(Opaque::default()), None) {
            Err(error) => error.to_string(),
            Ok(problem) => {
                let asked = problem.oracle().unwrap().maximize(2, &[0.0; 4], &mut Plane::new());
                asked.map(|quality| format!("{quality:?}")).unwrap_or_else(|error| error.to_string())
            }
        }
    }
}

/// Whatever a program says that is no answer: the error names program and example, what came, and the rule.
#[test]
fn bad_answers_are_refused() {
    if !has_python() {
        return;
    }
    for (answer, parts) in [
        ("pass", "Heuristic"),
        ("print('hello', flush=True)", "found `hello`, expected a line of JSON: write messages to standard error"),
        ("sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()", "expected UTF-8"),
        ("print('[' * 100000, flush=True)", "expected a line of JSON"),
        ("answer['id'] = 77", "id 77 came, expected id"),
        ("del answer['id']", "expected an object with \"id\""),
        ("del answer['answers']", "expected \"answers\""),
        ("answer['answers'] = []", "0 answers came to a question about 1"),
        ("answer['answers'] = [3]", "answered 3, expected an object"),
        ("del good['label']", "has no \"label\""),
        ("del good['loss']", "has no \"loss\""),
        ("good['loss'] = 'x'", "its loss is not a number"),
        ("good['loss'] = float('nan')", "its loss is NaN, expected a finite number >= 0"),
        ("good['loss'] = -1", "its loss is -1, expected a finite number >= 0"),
        ("good['bound'] = float('nan')", "its upper bound is NaN, expected a finite number"),
        ("good['features'] = [[4, 1.0]]", "index 4, expected 0 to 3"),
        ("good['features'] = [[-1, 1.0]]", "index -1, expected 0 to 3"),
        ("good['features'] = [[1 << 62, 1.0]]", "expected 0 to 3"),
        ("good['features'] = [[0, float('inf')]]", "index 0 is inf"),
        ("good['features'] = [1.0, 2.0]", "a vector of length 2, expected dim = 4"),
        ("good['features'] = 'abc'", "features: found \"abc\", expected"),
        ("good['features'] = [[1, 'a']]", "features: found [1,\"a\"], expected"),
        ("good['features'] = {'indices': [1], 'values': []}", "1 indices and 0 values"),
        ("good['error'] = 'no idea'", "it says: no idea"),
        ("answer = {'id': ask['id'], 'error': 'no idea'}", "it says: no idea"),
        ("sys.exit(3)", "ended without an answer (exit status: 3)"),
        ("os.kill(os.getpid(), 11)", "ended without an answer (signal: 11"),
        ("os.close(1); sys.stdin.read()", "closed its output without an answer"),
        ("sys.stdout.write('x' * 3000000); sys.stdout.flush(); time.sleep(60)", "a line of more than 1048576 bytes"),
    ] {
        let bad = Bad::new(WELCOME, answer);
        let error = bad.error();
        assert!(error.contains(parts), "{answer}: {error}");
        if answer != "pass" {
            assert!(error.contains("oracle failed on example 2: "), "{answer}: {error}");
            assert!(error.contains("external program `python3 "), "{answer}: {error}");
        }
        drop(bad.folder);
    }
}

/// What is no answer to hello is refused when the task is opened.
#[test]
fn bad_greetings_are_refused() {
    if !has_python() {
        return;
    }
    let say = |text: &str| format!("print('{text}', flush=True)");
    for (hello, part) in [
        (say("{\"protocol\": 2}"), "it speaks protocol 2, expected 1"),
        (say("{}"), "expected an object with \"protocol\": 1"),
        (say("Welcome!"), "found `Welcome!`, expected a line of JSON"),
        (say("{\"error\": \"no such file\"}"), "it refused: no such file"),
        (say("{\"protocol\": 1, \"examples\": 3}"), "missing field `dim`"),
        (say("{\"protocol\": 1, \"examples\": -3, \"dim\": 1}"), "invalid value: integer `-3`"),
        (say("{\"protocol\": 1, \"examples\": 0, \"dim\": 1}"), "there is no example"),
        (say("{\"protocol\": 1, \"examples\": 1, \"dim\": 0}"), "dim = 0: must be between 1"),
        (say("{\"protocol\": 1, \"examples\": 1, \"dim\": 99999999999}"), "dim = 99999999999: must be at most"),
        (say("{\"protocol\": 1, \"examples\": 1, \"dim\": 2, \"nonnegative\": [[1, 3]]}"), "nonnegative [1, 3]"),
        (say("{\"protocol\": 1, \"examples\": 1, \"dim\": 2, \"quality\": \"good\"}"), "unknown variant `good`"),
        (say("{\"protocol\": 1, \"examples\": 1, \"dim\": 2, \"capabilities\": [\"bach\"]}"), "unknown variant `bach`"),
        ("sys.exit(4)".into(), "ended without an answer (exit status: 4)"),
    ] {
        let error = Bad::new(&hello, "pass").error();
        assert!(error.contains(part), "{hello}: {error}");
    }
    let missing = spec(&["no-such-program-anywhere", "x"]);
    let error = missing.open(Dataset::new(Opaque::default()), None).err().unwrap().to_string();
    assert!(error.contains("`no-such-program-anywhere x`: could not be started"), "{error}");
}

/// A program that hangs, floods its output unasked or never reads costs the time limit at most, and does not survive.
#[test]
fn nothing_waits_for_ever() {
    if !has_python() {
        return;
    }
    for (answer, part) in [
        ("time.sleep(1000)", "no answer came within 0.5 s"),
        ("\n            while True: print(json.dumps(answer), flush=True)", "an answer with id 1 came, expected id 2"),
        ("\n            while True: sys.stdout.write(' ' * 4096)", "a line of more than"),
    ] {
        let mut bad = Bad::new(WELCOME, answer);
        (bad.spec.timeout_seconds, bad.spec.restarts) = (0.5, 0);
        let start = Instant::now();
        let error = bad.error();
        assert!(error.contains(part), "{answer}: {error}");
        assert!(start.elapsed().as_secs_f64() < 20.0, "{answer} took {:?}", start.elapsed());
    }
    // Weights of megabytes to a program that reads nothing after hello.
    let big = r#"print(json.dumps({"protocol": 1, "examples": 3, "dim": 400000}), flush=True); time.sleep(1000)"#;
    let mut bad = Bad::new(big, "pass");
    (bad.spec.timeout_seconds, bad.spec.restarts) = (0.5, 1);
    let problem = bad.spec.open(Dataset::new(Opaque::default()), None).unwrap();
    let w: Vec<f64> = (0..400_000).map(|k| f64::from(k) / 7.0).collect();
    let error = problem.oracle().unwrap().maximize(0, &w, &mut Plane::new()).unwrap_err().to_string();
    assert!(error.contains("no answer came within"), "{error}");
}

/// Nobody survives: the program and what it started are gone when the problem is, however it behaves.
#[cfg(unix)]
#[test]
fn no_child_is_left() {
    if !has_python() {
        return;
    }
    for answer in ["pass", "time.sleep(1000)", "os.close(1); time.sleep(1000)"] {
        let hello = format!(
            "import subprocess, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); \
             p = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL); \
             open(sys.argv[1], 'w').write('%d %d' % (os.getpid(), p.pid)); {WELCOME}"
        );
        let mut bad = Bad::new(&hello, answer);
        let pids = bad.folder.path().join("pids");
        let CommandLine::Words(words) = &mut bad.spec.command else { unreachable!() };
        words.push(pids.to_string_lossy().into_owned());
        bad.spec.timeout_seconds = 0.3;
        bad.error();
        let text = std::fs::read_to_string(&pids).unwrap();
        for pid in text.split(' ') {
            let gone = (0..200).any(|_| {
                let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                // A grandchild that nobody waits for here is the init process's: dead is enough.
                let gone = state.is_empty() || state.contains(") Z ");
                if !gone {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                gone
            });
            assert!(gone, "{answer}: process {pid} is left");
        }
    }
}
