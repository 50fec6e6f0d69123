//! Runs that are cut short: signals, and a disk that is full when the model is to be saved.
#![cfg(unix)]

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{BINARY, Ran, Running, Scratch, number, run, samples};

/// Seconds in which a run has ended that would last for minutes or hours: many, as the machine may be busy.
const SOON: f64 = 20.0;

/// A run that would last for hours if nobody stopped it: each oracle call sleeps so long.
fn long_run(scratch: &Scratch, delay_us: &str, more: &str) -> Running {
    let train = "train --task chain --data letter.data --gap 0 --record record";
    let mut command = scratch.command(&format!("{train} --set oracle.delay_us={delay_us} {more}"));
    let mut running = Running::start(&mut command);
    running.wait_until(|| scratch.path("record").exists()); // it comes after the handler of signals
    running
}

fn words(n: usize) -> Scratch {
    Scratch::new().with("letter.data", samples::letters(n, 32)).with("model", "an old model")
}

/// That an interrupted run ended as promised: in time, with exit code 130, its report printed and a sound model
/// saved in the old one's place.
fn assert_saved(scratch: &Scratch, ran: &Ran) {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{}", ran.stdout);
    let summary = ran.object();
    assert_eq!((&summary["stop_reason"], &summary["model"]), (&"interrupt".into(), &"model".into()));
    assert_eq!(summary["certified"], true, "a run cut short has a wide gap, but a proven one");
    assert!(number(&summary, "primal") >= number(&summary, "dual"));
    let model = scratch.json("verify --model model --data letter.data");
    assert_eq!((&model["verified"], &model["reported_primal"]), (&true.into(), &summary["primal"]));
    let names: Vec<String> = scratch.snapshot().into_keys().collect();
    assert_eq!(names, ["letter.data", "model", "record"], "something was left behind");
    let last = scratch.records("record").pop().expect("the last evaluation is recorded");
    assert_eq!(last["primal"], summary["primal"]);
}

/// SIGINT and SIGTERM alike end a run after the call at hand and save what there is, be it in the first pass or in
/// a later one.
#[test]
fn a_signal_saves_and_leaves() {
    for signal in ["INT", "TERM"] {
        for (delay_us, passes_before) in [("10000", 0), ("100", 3)] {
            let scratch = words(20); // calls may take 100 ms in the mean before nobody would wait for a certificate
            let mut running = long_run(&scratch, delay_us, "--out model --json");
            running.wait_until(|| scratch.text("record").lines().count() >= passes_before);
            let sent = Instant::now();
            running.signal(signal);
            let ran = running.finish();
            assert!(sent.elapsed().as_secs_f64() < SOON, "{signal}: it took {:?}", sent.elapsed());
            assert_saved(&scratch, &ran);
        }
    }
}

/// A hangup ends a run as the others do, unless whoever started it has it ignored, as `nohup` does.
#[test]
fn a_hangup_may_be_ignored() {
    let scratch = words(20);
    let plain =
        scratch.command("train --task chain --data letter.data --gap 0 --record record --set oracle.delay_us=100");
    let mut command = Command::new("nohup");
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(scratch.path("."));
    let mut running = Running::start(&mut command);
    let records = || scratch.text("record").lines().count();
    running.wait_until(|| scratch.path("record").exists() && records() > 1);
    running.signal("HUP");
    let before = records();
    running.wait_until(|| records() > before + 3);
    running.signal("INT");
    assert_eq!(running.finish().code, Some(130));
}

/// Threads that answer ahead stop as soon as one thread does: nobody waits for the rest of a pass, nor for a certificate
/// that would take as long; the model is saved and claims nothing.
#[test]
fn a_signal_stops_threads() {
    let scratch = words(60);
    let running = long_run(&scratch, "2e6", "--solver fw --threads 2 --out model --json");
    let sent = Instant::now();
    running.signal("INT");
    let ran = running.finish();
    assert!(sent.elapsed().as_secs_f64() < SOON, "a pass takes 60 s, and it took {:?}", sent.elapsed());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{}", ran.stdout);
    let summary = ran.object();
    assert_eq!((&summary["stop_reason"], &summary["model"]), (&"interrupt".into(), &"model".into()));
    assert_eq!((&summary["primal"], &summary["certified"]), (&Value::Null, &false.into()));
    assert_eq!(scratch.weights("model").len(), 1508);
}

/// People are told, too; without an output the report is all there is.
#[test]
fn an_interrupted_run_says_so() {
    let scratch = words(60);
    let running = long_run(&scratch, "5000", "");
    running.signal("INT");
    let ran = running.finish();
    assert_eq!(ran.code, Some(130));
    assert!(ran.stdout.contains("stopped: interrupted"), "{}", ran.stdout);
    assert_eq!(scratch.text("model"), "an old model");
}

/// While lambda is chosen there is nothing to save: one line says so, nothing is printed, and the old model stays.
#[test]
fn an_interrupted_choice_of_lambda_says_so() {
    for (signal, json) in [("INT", ""), ("TERM", " --json")] {
        let scratch = words(60);
        // Whoever has opened the pipe listens to signals; the choice would last for minutes.
        assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().unwrap().success());
        let train = "train --task chain --format letter --lambda cv --set oracle.delay_us=1e5 --data pipe --out model";
        let running = Running::start(&mut scratch.command(&format!("{train}{json}")));
        std::fs::write(scratch.path("pipe"), scratch.bytes("letter.data")).unwrap();
        running.signal(signal);
        let ran = running.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
        let [told] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
        assert!(told.starts_with("interrupted while lambda was being chosen (fold 1 of 5"), "{told}");
        assert!(told.ends_with("): nothing was saved"), "{told}");
        assert_eq!(scratch.text("model"), "an old model");
    }
}

/// The second signal, of either kind, leaves at once, in the middle of an oracle call that would last for minutes:
/// exit code 130, no report, and the old model as it was.
#[test]
fn the_second_signal_leaves_at_once() {
    for (first, second) in [("INT", "INT"), ("TERM", "INT"), ("INT", "TERM")] {
        let scratch = words(60);
        let mut running = long_run(&scratch, "300e6", "--out model --json");
        running.signal(first);
        running.outlast(Duration::from_millis(200)); // signals sent too soon after one another are merged
        let sent = Instant::now();
        running.signal(second);
        let ran = running.finish();
        assert!(sent.elapsed().as_secs_f64() < SOON, "{first}, {second}: it took {:?}", sent.elapsed());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{first}, {second}: {}", ran.stderr);
        assert_eq!(scratch.text("model"), "an old model");
        assert_eq!(scratch.snapshot().len(), 3, "something was left behind");
    }
}

/// In a file system of 64 KiB that lives and dies with the shell: fills it, runs the program with its output there,
/// and shows what is left. Exit code 77: such a file system cannot be had.
#[cfg(target_os = "linux")]
const FULL_DISK: &str = r#"
    mount -t tmpfs -o size=64k none disk || exit 77
    cp old disk/model
    cat /dev/zero >disk/filler 2>/dev/null
    "$0" "$@" --out disk/model
    echo "code $?"
    cmp old disk/model && echo 'the old model is intact'
    ls -A disk
"#;

/// A disk that is full when the model, or the predictions, are to be saved: exit code 1, the path is named, the old
/// file is intact and no temporary file remains.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_keeps_the_old_model() {
    let scratch = Scratch::new().with("letter.data", samples::letters(20, 128));
    std::fs::create_dir(scratch.path("disk")).unwrap();
    scratch.succeed("train --task chain --data letter.data --passes 1 --quiet --out old");
    for (arguments, complaint) in [
        ("train --task chain --data letter.data --passes 2 --json", "the model could not be written"),
        ("predict --model old --data letter.data", "could not be written"),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "unshare -rm true || exit 77; exec unshare -rm sh -c \"$@\"", "sh", FULL_DISK, BINARY]);
        let ran = run(command.args(arguments.split(' ')).current_dir(scratch.path("")));
        if ran.code == Some(77) {
            eprintln!("SKIPPED a_full_disk_keeps_the_old_model: no file system can be mounted here: {}", ran.stderr);
            return;
        }
        assert_eq!(ran.stdout, "code 1\nthe old model is intact\nfiller\nmodel\n", "{}", ran.stderr);
        let [error] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
        assert!(error.starts_with(&format!("error: disk/model: {complaint}: ")), "{error}");
    }
}

/// What a choice of lambda took of a limit is not there for a run that goes on, however often, and also where the limit
/// is given again: it ends as the run that nobody interrupted.
#[test]
fn a_choice_counts_in_a_run_that_goes_on() {
    for limit in ["--calls 600", "--seconds 0.6"] {
        let scratch = words(20);
        let train = "train --task chain --data letter.data --lambda cv --gap 0 --clock work --set oracle.delay_us=1000";
        let whole = scratch.json(&format!("{train} {limit} --quiet --out whole --record all"));
        let choice = &whole["lambda_choice"];
        assert!(choice["calls"].as_u64().unwrap() > 100, "{choice}");
        let part = format!("{train} {limit} --record record --checkpoint c --out model --quiet");
        let mut running = Running::start(&mut scratch.command(&part));
        running.wait_until(|| scratch.path("record").exists() && !scratch.text("record").is_empty());
        running.signal("INT");
        assert_eq!(running.finish().code, Some(130));
        std::fs::copy(scratch.path("c"), scratch.path("d")).unwrap();
        for (checkpoint, again) in [("c", ""), ("d", limit)] {
            let found = scratch.json(&format!("train --resume {checkpoint} {again} --out model"));
            let counts = ["oracle_calls", "lambda", "stop_reason", "primal", "lambda_choice"];
            counts.iter().for_each(|key| assert_eq!(found[*key], whole[*key], "{limit} {again} {key}"));
            assert!(scratch.bytes("model") == scratch.bytes("whole"), "{limit} {again}");
        }
    }
}
