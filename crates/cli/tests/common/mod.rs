//! What the end-to-end tests share: a folder of their own, runs of the real binary with a deadline, model files.

// Every test file is a crate of its own and uses its part of this.
#![allow(dead_code)]

pub(crate) mod refusals;
pub(crate) mod samples;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tempfile::TempDir;

/// The program under test: the binary, or where `MULTIPLANE_COMMAND` says otherwise as the tests are built, that of an
/// installed Python package.
pub(crate) const BINARY: &str = match option_env!("MULTIPLANE_COMMAND") {
    Some(command) => command,
    None => env!("CARGO_BIN_EXE_multiplane"),
};

/// No run of these tests takes that long; one that does hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// A folder in which runs take place, so that messages hold short relative paths; it is removed at the end.
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Scratch { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with data of a kind to train on and to test with: `train.ENDING` and `test.ENDING`, of so many examples.
    pub(crate) fn made(kind: &str, ending: &str, [train, test]: [usize; 2]) -> Self {
        let scratch = Scratch::new();
        scratch.succeed(&format!("data make {kind} --out train.{ending} --n {train} --seed 1"));
        scratch.succeed(&format!("data make {kind} --out test.{ending} --n {test} --seed 2"));
        scratch
    }

    /// The same with a model `m` of the training set.
    pub(crate) fn trained(task: &str, kind: &str, ending: &str, sizes: [usize; 2]) -> Self {
        let scratch = Scratch::made(kind, ending, sizes);
        scratch.succeed(&format!("train --task {task} --data train.{ending} --quiet --out m"));
        scratch
    }

    /// Some examples of the tasks whose data have formats of their own.
    pub(crate) fn make_each_kind(&self) {
        for (kind, file) in
            [("trees", "trees.jsonl"), ("graphs", "graphs"), ("scenes", "scenes.multilabel"), ("rotamers", "mrfs")]
        {
            self.succeed(&format!("data make {kind} --out {file} --n 12"));
        }
    }

    /// Trains the model `m` with the checkpoint `c`, and checks what holds of every run: the model is verified on `data` with
    /// the planes of the checkpoint, a run that goes on with `more` has no lower bound, and `test` has the loss that training
    /// told; the gap is certified. Returns the report and the evaluation.
    pub(crate) fn train_and_check(&self, train: &str, data: &str, more: &str, test: &str) -> [Map<String, Value>; 2] {
        let found = self.json(&format!("{train} --checkpoint c --out m --test {test}"));
        assert_eq!(found["certified"], true, "{train}: {found:?}");
        let verified = self.json(&format!("verify --model m --data {data} --checkpoint c"));
        assert_eq!(verified["verified"], true, "{train}: {verified:?}");
        let more = self.json(&format!("train --resume c {more} --out more"));
        assert!(number(&more, "dual") >= number(&found, "dual") - 1e-12, "{train}");
        let evaluated = self.json(&format!("evaluate --model m --data {test}"));
        assert_eq!(evaluated["loss"], found["test_loss"], "{train}");
        [found, evaluated]
    }

    /// The lines that the model `m` predicts of `data`, as many as there are examples.
    pub(crate) fn predicted(&self, data: &str, examples: usize) -> Vec<String> {
        let predicted = self.succeed(&format!("predict --model m --data {data}")).stdout;
        let lines: Vec<String> = predicted.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), examples);
        lines
    }

    /// Asserts that a command ends at the same weights with these arguments and with those.
    pub(crate) fn assert_same_weights(&self, command: &str, ways: [&str; 2]) {
        let [one, other] = ways.map(|arguments| {
            self.succeed(&format!("{command} {arguments} --out way"));
            self.weights("way")
        });
        assert_eq!(one, other, "{ways:?}");
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and hands back the folder, for chains.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// A file's bytes.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A file's text.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The objects of a record file, one per line.
    pub(crate) fn records(&self, name: &str) -> Vec<Map<String, Value>> {
        self.text(name).lines().map(object).collect()
    }

    /// Every file's name and bytes, hidden ones too; folders count by name.
    pub(crate) fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        entries.map(|path| (name(&path), fs::read(&path).unwrap_or_default())).collect()
    }

    /// A command with these arguments, divided by spaces, to be run in the folder.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments.split_whitespace()).current_dir(self.folder.path());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        run(&mut self.command(arguments))
    }

    /// Runs the program, which must succeed.
    pub(crate) fn succeed(&self, arguments: &str) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments}: {}", ran.stderr);
        ran
    }

    /// Runs the program with `--json`, which must succeed, and hands over its one line.
    pub(crate) fn json(&self, arguments: &str) -> Map<String, Value> {
        self.succeed(&format!("{arguments} --json")).object()
    }

    /// The tensor `w` of a model file.
    pub(crate) fn weights(&self, model: &str) -> Vec<f64> {
        self.tensor(model, "w")
    }

    /// A tensor of numbers of a model file.
    pub(crate) fn tensor(&self, model: &str, name: &str) -> Vec<f64> {
        let bytes = self.bytes(model);
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let w = tensors.tensor(name).unwrap();
        assert_eq!((w.dtype(), w.shape().len()), (safetensors::Dtype::F64, 1));
        w.data().as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
    }
}

/// What a run left behind.
pub(crate) struct Ran {
    /// Exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From start to end.
    pub(crate) seconds: f64,
}

impl Ran {
    /// Standard output as one object on one line, and nothing else.
    pub(crate) fn object(&self) -> Map<String, Value> {
        assert_eq!(self.stdout.matches('\n').count(), 1, "stdout: {}", self.stdout);
        object(self.stdout.trim_end())
    }

    /// The lines of standard error that begin so.
    pub(crate) fn complaints(&self, beginning: &str) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with(beginning)).collect()
    }
}

/// Runs a command to its end; one that does not come is a failure of the test.
pub(crate) fn run(command: &mut Command) -> Ran {
    Running::start(command).finish()
}

/// A run under way; dropping it ends it.
pub(crate) struct Running {
    child: Child,
    started: Instant,
    /// Files take any amount of text while nobody reads, which pipes do not.
    output: TempDir,
}

impl Running {
    /// Starts a command; its standard output goes to a file unless it was given another place by the shell.
    pub(crate) fn start(command: &mut Command) -> Self {
        Running::start_on(command, Stdio::null())
    }

    /// The same with a standard input of its own.
    pub(crate) fn start_on(command: &mut Command, input: impl Into<Stdio>) -> Self {
        let output = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(output.path().join(name)).unwrap();
        command.stdin(input).stdout(file("stdout")).stderr(file("stderr"));
        Running { started: Instant::now(), child: command.spawn().unwrap(), output }
    }

    /// Sends a signal by its short name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success(), "{kill}");
    }

    /// Ends it by SIGKILL, if it has not ended yet.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill(); // it may have ended
    }

    /// Waits until something can be seen of the run, which must not end before.
    pub(crate) fn wait_until(&mut self, seen: impl Fn() -> bool) {
        while !seen() {
            assert!(self.child.try_wait().unwrap().is_none(), "the run ended too early");
            assert!(self.started.elapsed() < DEADLINE, "nothing to be seen after {DEADLINE:?}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits a while, through which the run must go on.
    pub(crate) fn outlast(&mut self, wait: Duration) {
        thread::sleep(wait);
        assert!(self.child.try_wait().unwrap().is_none(), "the run ended too early");
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Ran {
        let status = self.status();
        let text = |name: &str| fs::read_to_string(self.output.path().join(name)).unwrap();
        Ran {
            code: status.code(),
            stdout: text("stdout"),
            stderr: text("stderr"),
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }

    fn status(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(self.started.elapsed() < DEADLINE, "no end after {DEADLINE:?}");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// Runs `first`, which writes the checkpoint `c`, to its first checkpoint, then kills it and resumes it by `resume` at random
/// moments, up to `most` times, each within 0.4 times `seconds`; the last run ends in peace. Returns how often a run was
/// killed.
pub(crate) fn kill(scratch: &Scratch, [first, resume]: [&str; 2], most: u32, seconds: f64, chance: &mut u64) -> u32 {
    for name in ["c", "c.prev", "model", "record"] {
        let _ = fs::remove_file(scratch.path(name));
    }
    let mut killed = 0;
    let mut running = Running::start(&mut scratch.command(first));
    running.wait_until(|| scratch.path("c").exists());
    for _ in 0..most {
        *chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let share = (*chance >> 33) as f64 / (1u64 << 31) as f64;
        thread::sleep(Duration::from_secs_f64(share * 0.4 * seconds));
        running.kill();
        let code = running.finish().code;
        killed += u32::from(code.is_none());
        running = Running::start(&mut scratch.command(resume));
        if code.is_some() {
            break; // it had ended; resuming it once more must do no harm
        }
    }
    let ran = running.finish();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    killed
}

/// A line of JSON that must be an object.
pub(crate) fn object(line: &str) -> Map<String, Value> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => object,
        other => panic!("expected an object, found {other:?} in {line}"),
    }
}

/// Whether the record of a path shows that it has begun: the search for its beginning halves lambda, or stays.
pub(crate) fn has_begun(record: &str) -> bool {
    let whole = record.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lambdas: Vec<f64> = whole.lines().map(|line| number(&object(line), "lambda")).collect();
    lambdas.windows(2).any(|pair| pair[1] != 0.5 * pair[0] && pair[1] != pair[0])
}

/// A number of an object.
pub(crate) fn number(object: &Map<String, Value>, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("{key} = {}", object[key]))
}

/// That an object has these keys, divided by spaces, and no other.
pub(crate) fn assert_keys(object: &Map<String, Value>, keys: &str) {
    let mut expected: Vec<&str> = keys.split_whitespace().collect();
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// What `describe` prints of this.
pub(crate) fn describe(what: &str) -> String {
    Scratch::new().succeed(&format!("describe {what}")).stdout
}
