//! Checkpoints, end to end: killed, interrupted and ended runs go on to the same bytes, and what cannot be resumed is
//! refused.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use crate::common::refusals::{assert_all_refused, assert_refused};
use crate::common::{BINARY, Running, Scratch, kill, number, run, samples};

/// Some seconds of training in the test profile, on the work clock; ends only by its passes.
const TRAIN: &str = "train --task chain --data letter.data --gap 0 --clock work --seed 3 --quiet";

fn words(n: usize) -> Scratch {
    Scratch::new().with("letter.data", samples::letters(n, 48))
}

/// Model and records of two runs are the same, to the byte.
fn assert_same(scratch: &Scratch, model: (&str, &str), record: (&str, &str)) {
    assert!(scratch.bytes(model.0) == scratch.bytes(model.1), "{} differs from {}", model.0, model.1);
    assert!(scratch.bytes(record.0) == scratch.bytes(record.1), "{} differs from {}", record.0, record.1);
}

/// Writing checkpoints changes no bit of model and records, leaves two generations and no lock, and the last one stands
/// for the certificate: verify recomputes it.
#[test]
fn checkpoints_change_nothing() {
    for solver in ["auto", "mp-bcfw", "mp-bcfw-avg", "bcpfw-gap-cache", "fw", "ssg-avg"] {
        let scratch = words(40);
        let train = format!("{TRAIN} --solver {solver} --passes 40");
        scratch.succeed(&format!("{train} --out plain --record plain.record"));
        scratch.succeed(&format!("{train} --out model --record record --checkpoint c --checkpoint-every 0.001"));
        assert_same(&scratch, ("model", "plain"), ("record", "plain.record"));
        let names: Vec<String> = scratch.snapshot().into_keys().collect();
        assert_eq!(names, ["c", "c.prev", "letter.data", "model", "plain", "plain.record", "record"]);
        let verified = scratch.json("verify --model model --data letter.data --checkpoint c");
        assert_eq!((&verified["verified"], &verified["fault"]), (&true.into(), &().into()));
        assert_eq!(verified["dual_checked"], solver != "ssg-avg");
        let alone = scratch.json("verify --model model --data letter.data");
        assert_eq!((&alone["dual"], &alone["dual_checked"]), (&().into(), &false.into()), "{solver}");
        let told = scratch.succeed("verify --model model --data letter.data").stdout;
        assert_eq!(told.contains("dual not checked: --checkpoint does that"), solver != "ssg-avg", "{told}");
        if solver != "ssg-avg" {
            assert!(number(&verified, "dual_relative_difference") < 1e-9);
            let off = number(&verified, "gap") - number(&verified, "reported_gap");
            assert!(off.abs() < 1e-9, "{solver}: the gap is off by {off}");
        }
    }
}

/// Killed at random moments after the first checkpoint and resumed each time by the path alone, a run ends with the
/// same model and the same records, each step once. `MULTIPLANE_KILLS` sets how often (5 if it is not set).
#[test]
fn killed_runs_end_the_same() {
    let kills: u32 = std::env::var("MULTIPLANE_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let scratch = words(400);
    let train = format!("{TRAIN} --passes 250");
    let whole = scratch.succeed(&format!("{train} --out plain --record plain.record"));
    let first = format!("{train} --out model --record record --checkpoint c --checkpoint-every 0.02");
    let mut chance = 12345u64;
    let (mut killed, mut runs) = (0, 0);
    while killed < kills {
        runs += 1;
        assert!(runs <= 20 + 5 * kills, "runs end before they can be killed");
        killed += kill(&scratch, [&first, "train --resume c --quiet"], 6, whole.seconds, &mut chance);
        assert_same(&scratch, ("model", "plain"), ("record", "plain.record"));
    }
}

/// SIGINT and SIGTERM write a checkpoint and the best model and leave with 130; the resumed run ends with the same
/// bytes, whether or not there was time for a periodic checkpoint.
#[test]
fn interrupted_runs_end_the_same() {
    for (signal, every) in [("INT", "3600"), ("TERM", "3600"), ("INT", "0.01")] {
        let scratch = words(300);
        let train = format!("{TRAIN} --passes 150");
        scratch.succeed(&format!("{train} --out plain --record plain.record"));
        let first = format!("{train} --out model --record record --checkpoint c --checkpoint-every {every}");
        let mut running = Running::start(&mut scratch.command(&first));
        running.wait_until(|| scratch.path("record").exists() && scratch.text("record").lines().count() > 3);
        running.signal(signal);
        let ran = running.finish();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{signal}");
        assert!(scratch.bytes("model") != scratch.bytes("plain"), "{signal}: it came too late to interrupt");
        let verified = scratch.json("verify --model model --data letter.data --checkpoint c");
        assert_eq!(verified["verified"], true);
        let ran = scratch.succeed("train --resume c");
        assert!(ran.stderr.contains("resumed from c after "), "{}", ran.stderr);
        assert_same(&scratch, ("model", "plain"), ("record", "plain.record"));
    }
}

/// A run that has ended goes on with a further stop as if that had been its stop all along, from another folder and
/// with moved data, too; without one it ends at once with the same model.
#[test]
fn ended_runs_go_on() {
    let scratch = words(40);
    scratch.succeed(&format!("{TRAIN} --passes 12 --out plain --record plain.record"));
    scratch.succeed(&format!("{TRAIN} --passes 5 --out model --record record --checkpoint c"));
    let (short, lines) = (scratch.bytes("model"), scratch.bytes("record"));
    scratch.succeed("train --resume c --quiet");
    assert!(scratch.bytes("model") == short && scratch.bytes("record") == lines, "it went on");
    fs::create_dir(scratch.path("folder")).unwrap();
    fs::rename(scratch.path("letter.data"), scratch.path("moved")).unwrap();
    let resume = format!("train --resume {} --data ../moved --passes 12 --quiet", scratch.path("c").display());
    let ran = run(scratch.command(&resume).current_dir(scratch.path("folder")));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_same(&scratch, ("model", "plain"), ("record", "plain.record"));
    // Other outputs: the old ones stay, the new record has only what is new.
    scratch.succeed("train --resume c --passes 15 --quiet --out other --record other.record --checkpoint d");
    assert_same(&scratch, ("model", "plain"), ("record", "plain.record"));
    let records = scratch.records("other.record");
    assert!(!records.is_empty() && records.iter().all(|record| number(record, "pass") >= 12.0));
    scratch.succeed(&format!("{} --passes 15 --out plain", TRAIN.replace("letter.data", "moved")));
    assert!(scratch.bytes("other") == scratch.bytes("plain"));
}

/// What would not be the same run is refused with what differs; so is what is no sound checkpoint. Nothing is touched.
#[test]
fn what_cannot_be_resumed_is_refused() {
    let scratch = words(20).with("other.data", samples::letters(21, 48)).with("run.toml", "seed = 4\n");
    scratch.succeed(&format!("{TRAIN} --solver mp-bcfw --passes 2 --out model --record record --checkpoint c"));
    scratch.succeed(&format!("{TRAIN} --solver bcfw --passes 2 --out bcfw"));
    let whole = scratch.bytes("c");
    scratch.write("damaged", [&whole[..whole.len() - 1], &[whole[whole.len() - 1] ^ 1]].concat());
    scratch.write("short", &whole[..whole.len() / 2]);
    assert_all_refused(
        &scratch,
        "train",
        [
            ("--resume c --seed 4", "error: seed: the checkpoint has 3, found 4"),
            ("run.toml --resume c", "error: seed: the checkpoint has 3, found 4"),
            ("--resume c --solver bcfw", "error: solver: the checkpoint has mp-bcfw, found bcfw"),
            ("--resume c --task binary", "error: task: the checkpoint has chain, found binary"),
            ("--resume c --lambda 0.1", "error: lambda: the checkpoint has 1/n, found 0.1"),
            ("--resume c --clock wall", "error: clock: the checkpoint has work, found wall"),
            (
                "--resume c --set solver.planes.max_idle=3",
                "error: solver.planes.max_idle: the checkpoint has 10, found 3",
            ),
            ("--resume c --set data.folds=0", "error: data.folds: the checkpoint has null, found [0]"),
            ("--resume c --test letter.data", "error: data.test: the checkpoint has false, found true"),
            ("--resume c --data other.data", "other.data: this is not the training data of the checkpoint"),
            ("--resume missing", "error: missing: the checkpoint could not be read: "),
            ("--resume damaged", "error: damaged: its checksum does not match: the file is damaged"),
            ("--resume short", "error: short: it is not a sound safetensors file"),
            ("--resume model", "error: model: it is a model, not a checkpoint"),
            ("--resume letter.data", "error: letter.data: it is not a checkpoint, or it was cut short"),
            ("--resume c --checkpoint-every 0", "error: checkpoint-every = 0: must be a number of seconds > 0"),
            ("--resume c --out c", "would overwrite"),
            ("--resume c --record c.prev", "would overwrite"),
            ("--task chain --data letter.data --checkpoint-every 5", "give --checkpoint PATH"),
            ("--task chain --data letter.data --checkpoint nowhere/c", "error: nowhere/c: cannot be written: "),
            ("--task chain --data letter.data --checkpoint /dev/null", "error: /dev/null: a checkpoint must be a file"),
        ],
    );
    let verify = "verify --data letter.data --checkpoint";
    assert_refused(&scratch, &format!("{verify} c --model bcfw"), "it is a checkpoint of another run than bcfw");
    assert_refused(&scratch, &format!("{verify} damaged --model model"), "its checksum does not match");
    assert_refused(&scratch, "predict --model c --data letter.data", "error: c: it is a checkpoint, not a model");
    // A record that was changed meanwhile is not cut.
    scratch.write("record", "something else");
    assert_refused(&scratch, "train --resume c", "it is not the record that the checkpoint belongs to");
}

/// Where the newest generation is damaged or gone the previous one takes over, with a warning, to the same bytes.
#[test]
fn the_previous_generation_takes_over() {
    let scratch = words(60);
    let train = format!("{TRAIN} --passes 40 --record record");
    scratch.succeed(&format!("{train} --out plain"));
    let damages: [fn(&Scratch); 2] =
        [|scratch| scratch.write("c", "damaged"), |scratch| fs::remove_file(scratch.path("c")).unwrap()];
    for damage in damages {
        scratch.succeed(&format!("{train} --out model --checkpoint c --checkpoint-every 0.001"));
        damage(&scratch);
        let ran = scratch.succeed("train --resume c --quiet");
        let [warning] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
        assert!(warning.starts_with("warning: c: ") && warning.contains("going on from c.prev"), "{warning}");
        assert!(scratch.bytes("model") == scratch.bytes("plain"));
    }
}

/// Two trainers cannot write one checkpoint; the lock of one that was killed does not block.
#[test]
fn one_trainer_at_a_time() {
    let scratch = words(20);
    let slow = "train --task chain --data letter.data --gap 0 --set oracle.delay_us=20000 --checkpoint c --quiet";
    let mut running = Running::start(&mut scratch.command(&format!("{slow} --checkpoint-every 0.01 --record record")));
    running.wait_until(|| scratch.path("c").exists());
    for second in [format!("{slow} --record record"), "train --resume c --quiet".into()] {
        let ran = scratch.run(&second);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("another process (pid "), "{}", ran.stderr);
    }
    running.kill();
    assert_eq!(running.finish().code, None);
    scratch.succeed("train --resume c --quiet --calls 1");
}

/// In a small file system that is filled before the second of two runs: what is left, and how they end.
#[cfg(target_os = "linux")]
const FULL_DISK: &str = r#"
    mount -t tmpfs -o size=4m none disk || exit 77
    [ -n "$BEFORE" ] && "$0" $BEFORE
    cat /dev/zero >disk/filler 2>/dev/null
    "$0" "$@"
    echo "code $?"
    ls -A disk
    rm disk/filler
    [ -f disk/c ] && cp disk/c kept
"#;

/// On a full disk training goes on with one warning, the model is saved, and the end is exit code 1 with the newest
/// sound checkpoint named; that one is intact.
#[test]
#[cfg(target_os = "linux")]
fn training_survives_a_full_disk() {
    let scratch = words(30);
    fs::create_dir(scratch.path("disk")).unwrap();
    let train = format!("{TRAIN} --out model --checkpoint disk/c --checkpoint-every 0.001");
    let before = format!("{train} --passes 10");
    for (before, arguments, left, newest) in [
        ("", format!("{train} --passes 20"), "filler\n", "there is no checkpoint of this run"),
        (
            &before[..],
            "train --resume disk/c --passes 20 --quiet".into(),
            "c\nc.prev\nfiller\n",
            "checkpoint is disk/c",
        ),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "unshare -rm true || exit 77; exec unshare -rm sh -c \"$@\"", "sh", FULL_DISK, BINARY]);
        command.env("BEFORE", before).args(arguments.split(' ')).current_dir(scratch.path(""));
        let ran = run(&mut command);
        if ran.code == Some(77) {
            eprintln!("SKIPPED training_survives_a_full_disk: no file system can be mounted here: {}", ran.stderr);
            return;
        }
        assert_eq!(ran.stdout, format!("code 1\n{left}"), "{}", ran.stderr);
        let [warning, error] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
        assert!(warning.starts_with("warning: disk/c: the checkpoint could not be written: "), "{warning}");
        assert!(error.starts_with("error: disk/c: ") && error.ends_with(newest), "{error}");
        scratch.succeed(&format!("{TRAIN} --passes 20 --out plain"));
        assert!(scratch.bytes("model") == scratch.bytes("plain"), "the model of the whole run is saved");
    }
    scratch.succeed("train --resume kept --passes 20 --quiet --out again");
    assert!(scratch.bytes("again") == scratch.bytes("plain"));
}
