//! `train --stream`: pipes and files, windows, growth, breaks, signals, snapshots, early stops, and memory that stays flat.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::Command;

use crate::common::{BINARY, Ran, Running, Scratch, assert_keys, number, run, samples};
use serde_json::Value;

const SSG: &str = "--task binary --solver ssg --lambda 0.01";

/// Rows of two labels; the features of the last quarter were not seen before.
fn rows() -> String {
    let text = samples::rows(400, &[-1, 1], 6);
    let shifted =
        |line: &str| line.replace(" 3:", " 13:").replace(" 4:", " 14:").replace(" 5:", " 15:").replace(" 6:", " 16:");
    let lines = text.lines().enumerate();
    lines.map(|(i, line)| if i >= 300 { shifted(line) + "\n" } else { format!("{line}\n") }).collect()
}

fn piped(scratch: &Scratch, from: &str, arguments: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{from} | exec \"$0\" train --stream --data - {arguments}"), BINARY]);
    run(command.current_dir(scratch.path("")))
}

/// A pipe, a FIFO, a file and its .gz give the same bytes, again and again and on either clock's seconds; the report has the
/// keys of every training and some of its own.
#[test]
fn a_stream_is_a_stream() {
    let scratch = Scratch::new().with("rows.svm", rows()).with("rows.svm.gz", samples::gzip(rows().as_bytes()));
    for solver in ["ssg --lambda 0.01", "pegasos-avg --lambda 0.01", "sfd1"] {
        let options = format!("--task binary --solver {solver} --set stream.window=50 --clock work --json");
        let ran = piped(&scratch, "cat rows.svm", &format!("{options} --out piped"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{solver}");
        let said = ran.object();
        assert_keys(
            &said,
            "task solver n d lambda primal dual gap certified oracle_calls evaluation_calls cached_steps passes iterations \
             train_seconds oracle_seconds wall_seconds stop_reason train_loss test_loss progressive_loss windows \
             rows_per_second snapshots seed threads clock planes model version",
        );
        assert_eq!((&said["n"], &said["windows"], &said["d"]), (&400.into(), &8.into(), &16.into()));
        assert_eq!((&said["stop_reason"], &said["primal"]), (&"end".into(), &Value::Null));
        assert_eq!(said["lambda"].is_null(), solver == "sfd1");
        for data in ["rows.svm", "rows.svm.gz", "-"] {
            let ran = match data {
                "-" => piped(&scratch, "gzip -dc rows.svm.gz", &format!("{options} --out other")),
                _ => scratch.run(&format!("train --stream --data {data} {options} --out other")),
            };
            assert_eq!(ran.code, Some(0), "{data}: {}", ran.stderr);
            assert_eq!(scratch.bytes("other"), scratch.bytes("piped"), "{solver} {data}");
        }
        let found = scratch.json("evaluate --model piped --data rows.svm");
        assert!(number(&found, "accuracy") > 0.7, "{solver}: {found:?}");
    }
}

/// What a stream cannot have is refused with the reason, before anything is read or written.
#[test]
fn what_no_stream_has_is_refused() {
    let scratch = Scratch::new().with("rows.svm", rows()).with("a.seq", "1 qid:1 1:1\n").with("all", "1 1:1\n1 2:1\n");
    let scratch = scratch.with("far.svm", "2 134217728:1\n1 1:1\n").with("wide.svm", "1 1:1\n2 12000000:1\n3 2:1\n");
    let before = scratch.snapshot();
    for (arguments, complaint) in [
        ("--task binary --data rows.svm --solver pegasos", "lambda = 1/n or c:X: of a stream must be a number"),
        (
            "--task binary --data rows.svm --solver sfd2",
            "solver.schedule = linear: lambda_t = t/n of a stream needs its n",
        ),
        (
            "--task binary --data rows.svm --solver bcfw",
            "solver `bcfw` does not learn from streams; these do: sfd1, sfd2, ssg, ssg-avg",
        ),
        ("--task chain --data rows.svm", "task `chain` does not learn from streams; these do: binary, multiclass"),
        ("--task binary --data rows.svm --gap 0.1", "stop.gap: a stream has no gap"),
        ("--task binary --data rows.svm --passes 2", "stop.passes = 2: a stream is read once"),
        ("--task binary --data rows.svm --resume x", "--resume: a stream cannot be read again"),
        ("--task binary --data rows.svm --set task.scale=max-abs", "task.scale: not for streams"),
        ("--task binary --data rows.svm --set task.kernel=rbf", "task.kernel: not for streams"),
        ("--task binary --data rows.svm --set stream.patience=2", "stream.patience: there are no test data"),
        ("--task binary --data rows.svm --set stream.window=0", "stream.window = 0: must be 1 to 16777216"),
        (
            "--task binary --data rows.svm --set stream.overlap=1000",
            "stream.overlap = 1000: must be less than stream.window",
        ),
        (
            "--task binary --data far.svm --set stream.features=268435456",
            "134217728 weights in the up to 9 copies that training with solver `sfd1` holds need 9.0 GiB, expected at most 8",
        ),
        ("--task binary --data rows.svm --set stream.widow=5", "unknown parameter of stream: `widow`"),
        ("--task binary --format hmm --data a.seq", "format hmm cannot be read as a stream; these can: libsvm, csv"),
        (
            "--task binary --data rows.svm --solver sfd1 --set solver.size=1001",
            "solver.size = 1001: must be at most stream.window",
        ),
        (
            "--task binary --data rows.svm --set solver.sampling=importance",
            "solver.sampling = importance: has no say: rows of a stream are taken as they come",
        ),
        (
            "--task binary --data rows.svm --set solver.sampling=sequential --set solver.sampling.shuffle=false",
            "solver.sampling = sequential: has no say",
        ),
        (
            "--task binary --data rows.svm --solver ssg --lambda 0.1 --set solver.order=permutation",
            "solver.order = permutation: has no say: rows of a stream are visited as they come",
        ),
        ("--task binary --data missing", "missing: found no such file"),
        ("--task binary --data all", "the first window has 1 label (1), expected two: declare all by stream.labels"),
        (
            "--task binary --data rows.svm --set stream.labels=1,2,3",
            "needs two labels, stream.labels has 3 (1, 2, 3): use --task multiclass",
        ),
        (
            "--task binary --data rows.svm --set stream.features=6",
            "found index 16, expected at most 6 (stream.features)",
        ),
        (
            "--task binary --data far.svm",
            "far.svm:1:14: found index 134217728, expected at most 16777216 (stream.features)",
        ),
        (
            "--task multiclass --data wide.svm",
            "12000000 features of 3 labels need more than 33554432 weights: declare how",
        ),
    ] {
        let ran = scratch.run(&format!("train --stream --out model --json {arguments}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments}: {}", ran.stderr);
        let [error] = ran.complaints("error: ")[..] else { panic!("{}", ran.stderr) };
        assert!(error.contains(complaint), "{arguments}: {error}");
        assert!(scratch.snapshot() == before, "{arguments}");
    }
}

/// A stream that breaks off within a line, and a bad line: one error with its place, exit code 2, no `--out`; the snapshot holds
/// what the rows before have taught: the very model of a stream of these alone.
#[test]
fn a_broken_stream_keeps_what_was_learned() {
    let scratch = Scratch::new().with("out", "an old model");
    let all = rows();
    let good: String = all.split_inclusive('\n').take(130).collect();
    let options = "--task binary --solver ssg --lambda 0.01 --set stream.window=40";
    scratch.write("good", &good);
    scratch.succeed(&format!("train --stream --data good {options} --out expected"));
    for (rest, place, found) in [
        ("1 1:0.5 2:0.2", "stdin:131:14", "found the end of the stream within a line, expected the rest of it"),
        ("1 1:0.5 2:", "stdin:131:11", "found the end of the stream within a line, expected the rest of it"),
        ("1 1:0.5 2:x\n", "stdin:131:11", "found `x` as value, expected a finite number"),
        ("7 1:0.5\n1 1:1\n", "stdin:131:1", "found label 7, expected one of -1, 1"),
    ] {
        scratch.write("broken", format!("{good}{rest}"));
        let ran = piped(&scratch, "cat broken", &format!("{options} --out out --checkpoint kept --json"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{rest}");
        let [error] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
        assert!(error.starts_with(&format!("error: {place}: {found}")), "{error}");
        assert!(error.ends_with("(what the 130 rows before taught is in kept)"), "{error}");
        assert_eq!(scratch.text("out"), "an old model");
        assert_eq!(scratch.bytes("kept"), scratch.bytes("expected"));
    }
    let ran = piped(&scratch, "cat broken", &format!("{options} --out out"));
    let [error] = ran.complaints("")[..] else { panic!("{}", ran.stderr) };
    assert!(error.ends_with("130 rows before taught is lost: --checkpoint PATH would keep it)"), "{error}");
    // A file's last line may lack its end, as everywhere; half a .gz may not.
    scratch.write("short", good.trim_end());
    scratch.succeed(&format!("train --stream --data short {options} --out short.model"));
    assert_eq!(scratch.bytes("short.model"), scratch.bytes("expected"));
    let packed = samples::gzip(all.as_bytes());
    scratch.write("half.gz", &packed[..packed.len() / 2]);
    let ran = scratch.run(&format!("train --stream --data half.gz {options} --out out"));
    assert!(ran.code == Some(2) && ran.stderr.contains("gzip data that is cut off"), "{}", ran.stderr);
}

/// Ctrl-C while the stream is silent: what was learned is saved, exit code 130; snapshots were written on the way.
#[test]
fn a_signal_saves_what_was_learned() {
    for signal in ["INT", "TERM"] {
        let scratch = Scratch::new();
        assert!(Command::new("mkfifo").arg(scratch.path("fifo")).status().unwrap().success());
        let arguments = format!(
            "train --stream --data fifo {SSG} --set stream.window=50 --out model --checkpoint kept --checkpoint-every 1e-9 \
             --record record --json"
        );
        let mut running = Running::start(&mut scratch.command(&arguments));
        // Both ways, so that opening does not wait for a reader that may have failed.
        let mut pipe = OpenOptions::new().read(true).write(true).open(scratch.path("fifo")).unwrap();
        pipe.write_all(rows().split_inclusive('\n').take(230).collect::<String>().as_bytes()).unwrap();
        let lines = || fs::read_to_string(scratch.path("record")).map_or(0, |text| text.lines().count());
        running.wait_until(|| lines() == 4 && scratch.path("kept").exists()); // 30 rows of the fifth window have come
        running.signal(signal);
        let ran = running.finish();
        drop(pipe);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{}", ran.stdout);
        let said = ran.object();
        assert_eq!(
            (&said["stop_reason"], &said["n"], &said["model"]),
            (&"interrupt".into(), &200.into(), &"model".into())
        );
        assert!(said["snapshots"].as_u64() > Some(1));
        assert_eq!(scratch.bytes("kept"), scratch.bytes("model"));
        fs::remove_file(scratch.path("fifo")).unwrap();
        let names: Vec<String> = scratch.snapshot().into_keys().collect();
        assert_eq!(names, ["kept", "model", "record"], "something was left behind");
        let records = scratch.records("record");
        assert_eq!(records[3]["examples"], 200);
        assert_eq!(records[3]["progressive_loss"], said["progressive_loss"]);
    }
}

/// A stream of rows whose labels turn into their opposites, which have a further feature then, and rows to test with.
fn turning(further: &str) -> Scratch {
    let all = samples::rows(400, &[-1, 1], 6);
    let turned = |line: &str| match line.strip_prefix("-1") {
        Some(rest) => format!("1{rest}{further}\n"),
        None => format!("-{}{further}\n", line.trim_start_matches('+')),
    };
    let lines: Vec<&str> = all.lines().collect();
    let plain = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let stream =
        plain(&lines[..200]) + &(0..10).flat_map(|_| &lines[..200]).map(|line| turned(line)).collect::<String>();
    Scratch::new().with("stream", stream).with("test", plain(&lines[200..]))
}

/// Patience ends a stream whose labels turn into their opposites, with the weights that were best before; without patience
/// the last ones stay.
#[test]
fn early_stop_keeps_the_best() {
    let scratch = turning("");
    let options =
        format!("train --stream --data stream --test test {SSG} --set stream.window=50 --set stream.test_every=2");
    let whole = scratch.json(&format!("{options} --out last --record all"));
    let early = scratch.json(&format!("{options} --out best --record record --set stream.patience=3"));
    assert_eq!((&whole["stop_reason"], &early["stop_reason"]), (&"end".into(), &"patience".into()));
    let looks: Vec<f64> = scratch.records("record").iter().filter_map(|record| record["test_loss"].as_f64()).collect();
    let best = looks.iter().copied().fold(f64::INFINITY, f64::min);
    let at = looks.iter().position(|&loss| loss == best).unwrap();
    assert_eq!(looks.len(), at + 4, "three looks without a lower loss: {looks:?}");
    assert_eq!(early["n"].as_u64(), Some(100 * looks.len() as u64));
    assert_eq!(number(&early, "test_loss"), best);
    assert!(best + 0.3 < number(&whole, "test_loss"), "{looks:?}, {whole:?}");
    for (model, said) in [("best", &early), ("last", &whole)] {
        let found = scratch.json(&format!("evaluate --model {model} --data test"));
        assert_eq!(found["loss"], said["test_loss"], "{model}");
    }
    // Looking at test data changes nothing of what is learned.
    scratch.succeed(&format!("train --stream --data stream {SSG} --set stream.window=50 --out unseen"));
    let spec = |model: &str| scratch.weights(model);
    assert_eq!(spec("unseen"), spec("last"));
}

/// Several classes: declared ones that do not come have rows of their own, and w grows in every class; a bias stays last.
#[test]
fn classes_and_features_grow() {
    let scratch = Scratch::new().with("a", "1 1:1\n2 2:1\n").with("rows", "1 1:1\n2 2:1\n1 1:1 4:1\n3 3:1 4:1\n");
    let options = "--task multiclass --solver ssg --lambda 0.1 --set stream.window=2 --set stream.labels=1,2,3 --set task.bias=true";
    let said = scratch.json(&format!("train --stream --data rows {options} --out model"));
    assert_eq!(said["d"], 15);
    let w = scratch.weights("model");
    let found = scratch.succeed("predict --model model --data rows");
    assert_eq!(found.stdout.lines().count(), 4);
    assert!(w[0] > 0.0 && w[6] > 0.0 && w[12] > 0.0, "every class has weight on its own feature: {w:?}");
    let said = scratch.json(&format!("train --stream --data a {options} --out model"));
    assert_eq!((said["d"].as_u64(), scratch.weights("model").len()), (Some(9), 9));
}

/// Twenty times the rows take no more memory: what is kept is a few windows. They are small here, as it depends on the load of the
/// machine how many of them wait to be learned.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_flat() {
    let some = samples::rows(2000, &[-1, 1], 40);
    let peak = |times: usize| -> u64 {
        let scratch = Scratch::new();
        let mut command =
            scratch.command(&format!("train --stream --data - {SSG} --set stream.window=100 --quiet --record record"));
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        (0..times).for_each(|_| pipe.write_all(some.as_bytes()).unwrap());
        let learned = || fs::read_to_string(scratch.path("record")).map_or(0, |text| text.lines().count());
        while learned() < 20 * times {
            assert!(child.try_wait().unwrap().is_none(), "the run ended too early");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        drop(pipe);
        assert!(child.wait().unwrap().success());
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the peak");
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    };
    assert!(some.len() * 100 > 16 << 20, "the stream is larger than what may be kept");
    // On a busy machine more windows wait; a stream that was kept would be seen each time.
    let is_flat = || {
        let (small, large) = (peak(5), peak(100));
        eprintln!("{small} kB for 10000 rows, {large} kB for 200000");
        large < small + (4 << 10)
    };
    assert!((0..4).any(|_| is_flat()), "memory grows with the stream");
}

/// Inputs that a specification names are not overwritten either.
#[test]
fn inputs_of_a_specification_are_kept() {
    let scratch = Scratch::new().with("rows.svm", rows()).with("test.svm", rows());
    scratch.write("run.toml", "task = \"binary\"\n[data]\npath = \"rows.svm\"\ntest = \"test.svm\"\n");
    let before = scratch.snapshot();
    for output in ["--out rows.svm", "--checkpoint test.svm"] {
        let ran = scratch.run(&format!("train run.toml --stream {output} --quiet"));
        assert_eq!(ran.code, Some(2), "{output}: {}", ran.stderr);
        assert!(scratch.snapshot() == before, "{output}");
    }
}

/// Rows without features, first or always, are rows.
#[test]
fn rows_may_have_no_features() {
    let all = "1\n-1\n1\n-1\n".repeat(3);
    let scratch = Scratch::new().with("none", &all).with("late", all.clone() + "1 3:1\n-1 4:1\n");
    for data in ["none", "late"] {
        for solver in ["ssg --lambda 0.1", "pegasos-avg --lambda 0.1 --set task.bias=true", "sfd1"] {
            let train = format!("train --stream --format libsvm --data {data} --solver {solver}");
            scratch.json(&format!("{train} --task multiclass --set stream.window=4 --out m"));
            scratch.json(&format!("{train} --task binary --set stream.window=4 --out m"));
        }
    }
}

/// What goes by the clock does so while a pipe is silent: snapshots are written, and the seconds end it.
#[test]
fn a_silent_pipe_waits_for_nobody() {
    let scratch = Scratch::new().with("rows.svm", rows());
    let ran = piped(
        &scratch,
        "(cat rows.svm; sleep 5)",
        &format!("{SSG} --set stream.window=100 --seconds 1 --checkpoint kept --checkpoint-every 0.1 --json --out m"),
    );
    assert_eq!((ran.code, ran.object()["stop_reason"].as_str()), (Some(0), Some("seconds")), "{}", ran.stderr);
    let said = ran.object();
    assert!(said["snapshots"].as_u64() >= Some(2) && number(&said, "wall_seconds") < 4.0, "{said:?}");
}

/// A size below 1 is a share of `stream.window`, of shorter windows too: 1037 rows make 100 steps of ten and four more.
#[test]
fn sizes_are_shares_of_the_window() {
    let scratch = Scratch::new().with("rows.svm", samples::rows(1037, &[-1, 1], 6));
    let options = "--task binary --solver pegasos --lambda 0.01 --set solver.averaging=polynomial";
    let ran =
        scratch.json(&format!("train --stream --data rows.svm {options} --set solver.averaging.eta=1e20 --out m"));
    assert_eq!(ran["iterations"], 104, "{ran:?}");
}

/// What was learned before an example that fails is in the snapshot.
#[test]
fn failures_keep_what_was_learned() {
    let scratch = Scratch::new().with("rows.svm", rows() + "1 1:1e300\n" + &"-1 1:1e300\n".repeat(60));
    let ran = scratch
        .run(&format!("train --stream --data rows.svm {SSG} --set stream.window=50 --checkpoint kept --quiet --out m"));
    assert!(matches!(ran.code, Some(1 | 2)) && ran.complaints("error: ").len() == 1, "{}", ran.stderr);
    assert!(!scratch.path("m").exists());
    scratch.json("evaluate --model kept --data rows.svm");
}

/// A specification that names all parameters, as that of a model, is taken as long as none differs from the preset's.
#[test]
fn presets_may_be_named() {
    let scratch = Scratch::new().with("rows.svm", rows());
    let plain = "train --stream --data rows.svm --task binary --solver sfd1 --clock work";
    scratch.succeed(&format!("{plain} --out plain"));
    scratch.succeed(&format!("{plain} --set solver.size=0.01 --set solver.sampling=sequential --out named"));
    assert_eq!(scratch.bytes("named"), scratch.bytes("plain"));
}

/// Labels and features of the test data that the stream did not have are told, as without a stream.
#[test]
fn test_data_beyond_the_stream_are_told() {
    let test = "1 1:1 20:1\n-1 2:1\n5 1:1\n";
    let scratch = Scratch::new().with("rows.svm", rows()).with("test.svm", test).with("known.svm", rows());
    let train =
        |stream: &str, test: &str| scratch.run(&format!("train {stream} --data rows.svm --test {test} {SSG} --out m"));
    let whole = train("--passes 1", "test.svm");
    let told: Vec<String> =
        whole.complaints("warning: test data").iter().map(|warning| (*warning).to_owned()).collect();
    assert_eq!(told.len(), 2, "labels and features: {told:?}");
    for more in ["", "--set stream.patience=1 --set stream.test_every=1 --set stream.window=50"] {
        let ran = train(&format!("--stream {more}"), "test.svm");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.complaints("warning: test data").len(), 2, "{}", ran.stderr);
        assert!(more.is_empty() && ran.complaints("warning: ") == told || !more.is_empty(), "{}", ran.stderr);
    }
    assert_eq!(train("--stream", "known.svm").stderr, "");
    assert_eq!(train("--stream --quiet", "test.svm").stderr, "");
}

/// A length that is not the announced one is told with both numbers, and what it means.
#[test]
fn a_wrong_length_is_told() {
    let scratch = Scratch::new().with("rows.svm", rows());
    for (options, told) in [
        ("--solver sfd2 --set stream.n=400", ""),
        (
            "--solver sfd2 --set stream.n=500",
            "stream.n = 500, but 400 rows were read: lambda_t = t/n was that of 500 rows: the last step had 0.8, of 400 rows it \
             had had 1",
        ),
        ("--solver sfd2 --set stream.n=100", "stream.n = 100, but 400 rows were read: lambda_t = t/n"),
        (
            "--solver ssg --set stream.n=800",
            "stream.n = 800, but 400 rows were read: lambda was that of 800 rows, 0.00125: of 400 rows it is 0.0025",
        ),
        (
            "--solver sfd1 --set stream.n=500",
            "stream.n = 500, but 400 rows were read: nothing of this solver goes by it",
        ),
        ("--solver ssg --lambda 0.1 --set stream.n=5", "stream.n = 5, but 400 rows were read: nothing"),
        // Whoever stops early has not been told anything wrong.
        ("--solver sfd1 --set stream.n=500 --calls 100", ""),
    ] {
        let train = format!("train --stream --data rows.svm --task binary {options} --set stream.window=100 --out m");
        let ran = scratch.run(&train);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        match (told, &ran.complaints("warning: ")[..]) {
            ("", []) => {}
            (told, [warning]) => assert!(!told.is_empty() && warning.contains(told), "{options}: {warning}"),
            (_, other) => panic!("{options}: {other:?}"),
        }
    }
}

/// With patience the report tells the weights of the model that is saved, which may be fewer than those learned last.
#[test]
fn the_report_is_of_what_is_saved() {
    let scratch = turning(" 40:1");
    let said = scratch.json(&format!(
        "train --stream --data stream --test test {SSG} --set stream.window=50 --set stream.test_every=2 \
         --set stream.patience=3 --record record --out best"
    ));
    assert_eq!(said["stop_reason"], "patience");
    assert_eq!(scratch.records("record").last().unwrap()["d"], 40, "the stream had become wider");
    assert_eq!(scratch.weights("best").len(), 6);
    assert_eq!(said["d"], 6);
}

/// Rows of a table are a stream as they are of LIBSVM text: a header, off a file or a pipe, with all columns from the first
/// window on, and faults with their place.
#[test]
fn tables_are_streams() {
    let (mut table, mut sparse) = ("a,b,c,label\n".to_owned(), String::new());
    for k in 0..60_i32 {
        let (label, x) = (if k % 2 == 0 { 1 } else { -1 }, f64::from(k % 7) / 4.0);
        let last = if k < 30 { 0.0 } else { 1.0 }; // a column of zeros at first
        table += &format!("{x},{},{last},{label}\n", f64::from(label) * 0.5);
        sparse += &format!("{label} 1:{x} 2:{} 3:{last}\n", f64::from(label) * 0.5);
    }
    let scratch = Scratch::new().with("rows.csv", &table).with("rows.svm", sparse);
    for (task, solver) in
        [("binary", "ssg --lambda 0.1"), ("multiclass", "sfd1"), ("binary", "pegasos-avg --lambda 0.1")]
    {
        let options = format!("--task {task} --solver {solver} --set stream.window=20 --clock work");
        let said = scratch.json(&format!("train --stream --data rows.csv {options} --out csv --record record"));
        assert_eq!(said["n"], 60);
        let first = &scratch.records("record")[0];
        assert_eq!(first["d"], if task == "binary" { 3 } else { 6 }, "all columns are known at once");
        scratch.json(&format!("train --stream --data rows.svm {options} --out svm"));
        assert_eq!(scratch.weights("csv"), scratch.weights("svm"), "{task} {solver}");
        let ran = piped(&scratch, "cat rows.csv", &format!("{options} --format csv --out piped"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(scratch.bytes("piped"), scratch.bytes("csv"));
    }
    for (rest, place) in [
        ("1,2,1\n", "stdin:62:6: found 3 columns, expected 4 as on line 1"),
        ("1,x,2,1\n", "stdin:62:3: found `x` as value, expected a finite number"),
        ("1,2,3,9\n", "stdin:62:7: found label 9, expected one of -1, 1"),
        ("1,2,3,1", "stdin:62:8: found the end of the stream within a line"),
    ] {
        scratch.write("broken", format!("{table}{rest}"));
        let ran = piped(&scratch, "cat broken", &format!("{SSG} --format csv --set stream.window=20 --out m"));
        assert!(ran.code == Some(2) && ran.complaints(&format!("error: {place}")).len() == 1, "{}", ran.stderr);
    }
    let most = format!("train --stream --data rows.csv {SSG} --set stream.features=2 --out m");
    let ran = scratch.run(&most);
    assert!(ran.stderr.contains("found 3 features, expected at most 2 (stream.features)"), "{}", ran.stderr);
}

/// Records of functional descent tell what each step did.
#[test]
fn records_of_streams_tell_their_steps() {
    let scratch = Scratch::new().with("rows.svm", rows());
    let train = "train --stream --task binary --data rows.svm --test rows.svm --set stream.window=100 --set stream.test_every=1";
    scratch.succeed(&format!("{train} --record record --out m"));
    let records = scratch.records("record");
    assert_eq!(records.len(), 4);
    for record in &records {
        let step = &record["descent"];
        let of = |key: &str| step[key].as_f64().unwrap_or_else(|| panic!("{key}: {record:?}"));
        assert!(of("update_square") <= of("update_bound") * (1.0 + 1e-9) && of("hinge") >= 0.0);
        assert!((0.0..=1.0).contains(&of("nonzero")) && record["test_loss"].is_number());
    }
    scratch.succeed(&format!("{train} --solver ssg --lambda 0.1 --record record --out m"));
    assert!(scratch.records("record")[0].get("descent").is_none());
}
