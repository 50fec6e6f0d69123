//! Outputs that are no ordinary files: devices, closed pipes, full disks behind a standard stream.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::process::{Command, Stdio};

use crate::common::{BINARY, Running, Scratch, run, samples};

fn rows() -> Scratch {
    let scratch = Scratch::new().with("good.svm", samples::rows(40, &[-1, 1], 4)).with("old", "an old model");
    scratch.succeed("train --task binary --data good.svm --quiet --out model");
    scratch
}

/// A device is written to and stays a device.
#[test]
fn devices_stay_devices() {
    let scratch = rows();
    let before = scratch.snapshot();
    scratch.succeed("train --task binary --data good.svm --quiet --out /dev/null --record /dev/null");
    scratch.succeed("predict --model model --data good.svm --out /dev/null");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    for endless in ["predict --model /dev/zero --data good.svm", "train /dev/zero"] {
        let ran = scratch.run(endless);
        assert!(ran.code == Some(2) && ran.stderr.starts_with("error: /dev/zero:"), "{}", ran.stderr);
    }
    assert!(scratch.snapshot() == before, "a file appeared");
}

/// Predictions of a stream go to the disk as they are made, and appear under their name when all are there; after a
/// signal nothing of them is left.
#[test]
fn predictions_go_to_the_disk_as_they_are_made() {
    let many = samples::rows(3000, &[-1, 1], 4);
    let scratch = rows().with("many.svm", &many);
    scratch.succeed("predict --model model --data many.svm --confidence --out expected");
    let before = scratch.snapshot();
    for signal in [None, Some("TERM")] {
        let (input, mut rows) = std::io::pipe().unwrap();
        let command = "predict --model model --data - --format libsvm --confidence --out p";
        let mut running = Running::start_on(&mut scratch.command(command), input);
        rows.write_all(many.as_bytes()).unwrap();
        // Two windows at least have come; the end of the stream has not.
        running.wait_until(|| {
            scratch.snapshot().iter().any(|(name, bytes)| name.starts_with(".p.") && bytes.len() > 10_000)
        });
        assert!(!scratch.path("p").exists());
        if let Some(signal) = signal {
            running.signal(signal);
            assert_eq!(running.finish().code, Some(130));
            assert!(scratch.snapshot() == before, "something is left");
        } else {
            drop(rows);
            assert_eq!(running.finish().code, Some(0));
            assert!(scratch.bytes("p") == scratch.bytes("expected"));
            fs::remove_file(scratch.path("p")).unwrap();
        }
    }
}

/// A reader that goes away (`| head`) ends the talk, not the work: no panic, no complaint, and the model is written.
#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = rows();
    for arguments in [
        "train --task binary --data good.svm --out new --set oracle.delay_us=1000 --passes 1",
        "train --task binary --data good.svm --out new --set oracle.delay_us=1000 --passes 1 --json",
        "predict --model model --data good.svm",
        "evaluate --model model --data good.svm --json",
        "verify --model model --data good.svm",
        "describe solver mp-bcfw",
    ] {
        let mut command = scratch.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut complaints = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaints.as_str()), (Some(0), ""), "{arguments}");
        if arguments.contains("--out new") {
            scratch.succeed("verify --model new --data good.svm");
            fs::remove_file(scratch.path("new")).unwrap();
        }
    }
}

/// Text that cannot be delivered is a failure, not bad input: exit code 1 and one line that says why; the model,
/// which was safe before, stays.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output() {
    let scratch = rows();
    for arguments in [
        "train --task binary --data good.svm --out new --json",
        "predict --model model --data good.svm",
        "evaluate --model model --data good.svm",
        "describe",
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" >/dev/full", BINARY]).args(arguments.split_whitespace());
        let ran = run(command.current_dir(scratch.path("")));
        assert_eq!(ran.code, Some(1), "{arguments}");
        assert_eq!(ran.complaints("").len(), 1, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: standard output could not be written: "), "{}", ran.stderr);
    }
    scratch.succeed("verify --model new --data good.svm");
}

/// A record that cannot be written ends the run with exit code 1; the old model stays as it was and no temporary
/// file remains.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_the_record() {
    let scratch = rows();
    let before = scratch.snapshot();
    let ran = scratch.run("train --task binary --data good.svm --out old --record /dev/full --json");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("error: the record could not be written: /dev/full: "), "{}", ran.stderr);
    assert!(scratch.snapshot() == before);
}

/// With its standard streams closed the program still does its work.
#[test]
fn closed_standard_streams() {
    let scratch = rows();
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", BINARY]);
    command.args("train --task binary --data good.svm --out new".split(' '));
    assert_eq!(run(command.current_dir(scratch.path(""))).code, Some(0));
    scratch.succeed("verify --model new --data good.svm");
}
