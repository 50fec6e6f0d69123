//! Where outputs go on a Unix system: pipes, links of both kinds, other runs' files, limits, names that are no text; what a
//! checkpoint of somebody else may do; and what reaches a terminal.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::Duration;

use crate::common::refusals::assert_refused;
use crate::common::samples::rows;
use crate::common::{Ran, Running, Scratch, run};

const TRAIN: &str = "train --task multiclass --data rows.svm --lambda 0.1 --clock work --solver bcfw";

fn scratch() -> Scratch {
    Scratch::new().with("rows.svm", rows(30, &[0, 1, 2], 5))
}

/// Runs a line of the shell in the folder; `$MP` is the program.
fn shell(scratch: &Scratch, line: &str) -> Ran {
    run(&mut in_shell(scratch, line))
}

fn in_shell(scratch: &Scratch, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("MP", crate::common::BINARY).current_dir(scratch.path("."));
    command
}

/// A command that never ends, in one that may be ended: long training.
fn long(scratch: &Scratch, more: &str) -> Running {
    Running::start(&mut scratch.command(&format!("{TRAIN} --passes 100000000 {more}")))
}

/// A checkpoint opened does not take away what a run whose name begins the same is writing.
#[test]
fn temporaries_of_other_runs_stay() {
    let alive = std::os::unix::process::parent_id();
    let scratch = scratch().with(&format!(".run.1.{alive}-0.tmp"), "x").with(&format!(".run.{}-0.tmp", i32::MAX), "x");
    scratch.succeed(&format!("{TRAIN} --passes 1 --quiet --checkpoint run"));
    assert!(scratch.path(&format!(".run.1.{alive}-0.tmp")).exists());
    assert!(!scratch.path(&format!(".run.{}-0.tmp", i32::MAX)).exists());
}

/// Two runs do not write one record; the second is refused and touches nothing.
#[test]
fn records_have_one_writer() {
    let scratch = scratch();
    let mut first = long(&scratch, "--record r.jsonl");
    first.wait_until(|| fs::read(scratch.path("r.jsonl")).is_ok_and(|bytes| bytes.contains(&b'\n')));
    let second = scratch.run(&format!("{TRAIN} --passes 1 --record r.jsonl"));
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("r.jsonl: another run is writing its record there"), "{}", second.stderr);
    first.signal("TERM");
    assert_eq!(first.finish().code, Some(130));
    assert!(scratch.records("r.jsonl").iter().all(|record| record.contains_key("pass")));
}

/// A lock that leads elsewhere, or that is a pipe, is refused; nothing is written or waited for.
#[test]
fn locks_are_regular_files() {
    let scratch = scratch().with("victim", "");
    symlink("victim", scratch.path("a.lock")).unwrap();
    symlink("nowhere", scratch.path("b.lock")).unwrap();
    assert!(shell(&scratch, "mkfifo c.lock").code == Some(0));
    for name in ["a", "b", "c"] {
        let ran = scratch.run(&format!("{TRAIN} --passes 1 --checkpoint {name}"));
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("is no regular file"), "{}", ran.stderr);
    }
    assert!(scratch.bytes("victim").is_empty() && !scratch.path("nowhere").exists());
}

/// Another name of the data is the data.
#[test]
fn hard_links_are_the_same_file() {
    let scratch = scratch();
    let data = scratch.bytes("rows.svm");
    fs::hard_link(scratch.path("rows.svm"), scratch.path("other")).unwrap();
    for flag in ["--record", "--out", "--checkpoint"] {
        let ran = scratch.run(&format!("{TRAIN} --passes 1 {flag} other"));
        assert_eq!(ran.code, Some(2), "{flag}: {}", ran.stderr);
        assert!(ran.stderr.contains("would overwrite rows.svm"), "{}", ran.stderr);
        assert!(scratch.bytes("rows.svm") == data && scratch.bytes("other") == data);
    }
}

/// A container that is cut while a run uses it changes nothing: the data were read before.
#[test]
fn cut_containers_were_read() {
    let scratch = Scratch::new();
    scratch.succeed("data make graphs --out whole --n 60 --seed 1");
    fs::copy(scratch.path("whole"), scratch.path("cut")).unwrap();
    let train = "train --task graph --clock work --quiet --lambda 1 --gap 0 --passes 60 --set evaluate=pass";
    scratch.succeed(&format!("{train} --data whole --out m"));
    let lines = || fs::read(scratch.path("r")).map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count());
    let mut running = Running::start(&mut scratch.command(&format!("{train} --data cut --out n --record r")));
    running.wait_until(|| lines() > 0);
    fs::File::options().write(true).open(scratch.path("cut")).unwrap().set_len(1000).unwrap();
    let before = lines();
    let ran = running.finish();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(lines() > before + 10, "it was cut too late: after {before} passes");
    assert_eq!(scratch.weights("m"), scratch.weights("n"));
}

/// A pipe gets the whole model, of a probe nothing.
#[test]
fn pipes_get_the_model() {
    let scratch = scratch();
    scratch.succeed(&format!("{TRAIN} --passes 1 --quiet --out m"));
    let ran = shell(&scratch, &format!("mkfifo f; (cat f > got) & $MP {TRAIN} --passes 1 --quiet --out f; wait"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(scratch.bytes("got"), scratch.bytes("m"));
    // Nobody reads: a run waits, at its end or where the record begins, until one signal comes.
    for flag in ["--out", "--record"] {
        let mut waiting = Running::start(&mut scratch.command(&format!("{TRAIN} --passes 1 --quiet {flag} f")));
        waiting.outlast(Duration::from_secs(2));
        waiting.signal("TERM");
        assert_eq!(waiting.finish().code, Some(130), "{flag}");
    }
}

/// A reader that does not read a model larger than a pipe makes the end wait; one signal is enough to leave.
#[test]
fn one_signal_leaves_a_full_pipe() {
    let scratch = scratch().with("wide.svm", (0..20).map(|k| format!("{k} {}:1\n", 5000 + k)).collect::<String>());
    let line = "mkfifo f; sleep 50 < f & reader=$!; $MP train --task multiclass --data wide.svm --passes 1 --quiet \
                --lambda 0.1 --out f & run=$!; sleep 2; kill -TERM $run; wait $run; code=$?; kill $reader; exit $code";
    let ran = shell(&scratch, line);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert!(ran.seconds < 40.0);
}

/// At a limit of the size of files a run ends as on a full disk: a message, the code, nothing left lying.
#[test]
fn limits_of_files_are_full_disks() {
    let scratch = scratch().with("wide.svm", (0..20).map(|k| format!("{k} {}:1\n", 9000 + k)).collect::<String>());
    let before = scratch.snapshot();
    let line = "ulimit -f 8; $MP train --task multiclass --data wide.svm --lambda 0.1 --passes 1 --quiet --out m";
    let ran = shell(&scratch, line);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("m: ") && ran.stderr.to_lowercase().contains("file too large"), "{}", ran.stderr);
    assert_eq!(scratch.snapshot(), before);
}

/// A link to what is not there yet stays a link; a circle is refused before training.
#[test]
fn links_stay_links() {
    let scratch = scratch();
    symlink("later", scratch.path("link")).unwrap();
    symlink("circle", scratch.path("circle")).unwrap();
    for _ in ["to nothing", "to a file"] {
        scratch.succeed(&format!("{TRAIN} --passes 1 --quiet --out link"));
        assert!(fs::symlink_metadata(scratch.path("link")).unwrap().is_symlink() && scratch.path("later").is_file());
    }
    let ran = scratch.run(&format!("{TRAIN} --passes 1 --out circle"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("a link that leads in a circle"), "{}", ran.stderr);
    assert!(fs::symlink_metadata(scratch.path("circle")).unwrap().is_symlink());
}

/// A name may be as long as the system allows, whatever temporary files add; a longer one is refused before training.
#[test]
fn names_may_be_long() {
    let scratch = scratch();
    for name in ["x".repeat(243), "x".repeat(255), "\u{e9}".repeat(127)] {
        scratch.succeed(&format!("{TRAIN} --passes 1 --quiet --out {name}"));
        assert!(scratch.path(&name).is_file());
    }
    assert_refused(
        &scratch,
        &format!("{TRAIN} --passes 1 --out {}", "x".repeat(256)),
        "cannot be written: File name too long",
    );
}

/// What only its owner could read is not opened to others by being written again.
#[test]
fn modes_are_kept() {
    let scratch = scratch().with("m", "old").with("c", "");
    fs::remove_file(scratch.path("c")).unwrap();
    let train = format!("{TRAIN} --passes 1 --quiet --out m --checkpoint c");
    scratch.succeed(&train);
    let private = fs::Permissions::from_mode(0o600);
    ["m", "c"].iter().for_each(|name| fs::set_permissions(scratch.path(name), private.clone()).unwrap());
    scratch.succeed(&train);
    for name in ["m", "c"] {
        assert_eq!(fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

/// Paths that are no text: a model goes there; what would have to be written down is refused before training.
#[test]
fn names_that_are_no_text() {
    let scratch = scratch();
    let name = OsStr::from_bytes(b"bad\xff");
    fs::copy(scratch.path("rows.svm"), scratch.path(".").join(name)).unwrap();
    let train = |before: &str, after: &str| {
        let mut command = scratch.command(&format!("{TRAIN} --passes 1 --quiet {before}"));
        run(command.arg(name).args(after.split_whitespace()))
    };
    let data = run(scratch.command("train --task multiclass --passes 1 --data").arg(name));
    assert_eq!(data.code, Some(2));
    assert!(data.stderr.contains("not UTF-8"), "{}", data.stderr);
    let out = train("--checkpoint c --out", "");
    assert_eq!(out.code, Some(2), "{}", out.stderr);
    assert!(out.stderr.contains("not UTF-8") && !scratch.path("c").exists(), "{}", out.stderr);
    fs::remove_file(scratch.path(".").join(name)).unwrap();
    assert_eq!(train("--out", "").code, Some(0));
    assert!(scratch.path(".").join(name).is_file());
}

/// Names and labels that command a terminal do so neither in messages nor on a terminal.
#[test]
fn terminals_are_not_commanded() {
    let scratch = Scratch::new().with("e.conll", "x B-\u{1b}]0;pwn\u{7}\ny O\n\nx O\ny O\n\n");
    let missing = run(scratch.command("train --task chain --data").arg("no\u{1b}[31m\u{202e}"));
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no\\u001b[31m\\u202e"), "{}", missing.stderr);
    let usage = run(scratch.command("train").arg("--no\u{1b}[31m"));
    assert_eq!(usage.code, Some(2));
    assert!(usage.stderr.contains("--no\\u001b") && !usage.stderr.contains('\u{1b}'), "{}", usage.stderr);
    scratch.succeed("train --task chain --data e.conll --format conll --passes 5 --quiet --out m");
    let file = scratch.succeed("predict --model m --data e.conll --format conll");
    assert!(file.stdout.contains("B-\u{1b}]0;pwn\u{7}"), "a file gets labels as they are: {:?}", file.stdout);
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: no `script` to make a terminal");
        return;
    }
    let line = "script -qec \"$MP predict --model m --data e.conll --format conll\" /dev/null";
    let ran = shell(&scratch, line);
    assert!(ran.stdout.contains("B-\\u001b]0;pwn\\u0007") && !ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}

/// What a checkpoint does by itself is said, and of a checkpoint that is somebody else's it is asked for again.
#[test]
fn checkpoints_of_strangers() {
    let scratch = scratch();
    scratch.succeed(&format!("{TRAIN} --passes 1 --quiet --out m --record r --checkpoint c"));
    let own = scratch.succeed("train --resume c --passes 2");
    let says = |text: &str| own.stderr.lines().any(|line| line.starts_with("c: writes ") && line.contains(text));
    assert!(says("/m") && says("/r"), "{}", own.stderr);
    assert_eq!(scratch.succeed("train --resume c --passes 2 --out m --record r").complaints("c: "), [""; 0]);
    if std::os::unix::fs::chown(scratch.path("c"), Some(12345), None).is_err() {
        println!("skipped: files cannot be given away");
        return;
    }
    let before = scratch.snapshot();
    let refused = scratch.run("train --resume c --passes 3 --out m");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let message = &refused.stderr;
    assert!(message.contains("uid 12345") && message.contains("--record /") && !message.contains("--out"), "{message}");
    assert_eq!(scratch.snapshot(), before);
    scratch.succeed("train --resume c --passes 3 --out m --record r");
}

/// The command of a stranger's checkpoint is not run unless it is given again.
#[test]
fn commands_of_strangers() {
    let program = include_str!("../../../../examples/external/multiclass.py");
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let program = program.replacen("import json", "open('ran', 'w')\nimport json", 1);
    let scratch = scratch().with("oracle.py", program);
    let mut train =
        scratch.command("train --task external --data rows.svm --clock work --passes 1 --quiet --checkpoint c");
    let ran = run(train.args(["--set", "task.command=python3 oracle.py"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    fs::remove_file(scratch.path("ran")).unwrap();
    let own = scratch.succeed("train --resume c --passes 2");
    assert_eq!(own.complaints("c: "), ["c: resumes with the command python3 oracle.py"]);
    fs::remove_file(scratch.path("ran")).unwrap();
    if std::os::unix::fs::chown(scratch.path("c"), Some(12345), None).is_err() {
        println!("skipped: files cannot be given away");
        return;
    }
    let refused = scratch.run("train --resume c --passes 3");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("--set task.command='python3 oracle.py'"), "{}", refused.stderr);
    assert!(!scratch.path("ran").exists());
    let mut again = scratch.command("train --resume c --passes 3");
    let ran = run(again.args(["--set", "task.command=python3 oracle.py"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// A file that stands behind standard input is an input, too.
#[test]
fn standard_input_is_not_overwritten() {
    let scratch = scratch();
    scratch.succeed("train --task multiclass --data rows.svm --passes 1 --quiet --out model");
    let before = scratch.bytes("rows.svm");
    let mut command = scratch.command("predict --model model --data - --out rows.svm");
    let ran = command.stdin(fs::File::open(scratch.path("rows.svm")).unwrap()).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(2) && stderr.contains("it would overwrite -"), "{stderr}");
    assert!(scratch.bytes("rows.svm") == before);
}
