//! Experiments of the papers that are interrupted at random moments, by SIGKILL and SIGINT in turn, and begun again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Chance;
use crate::common::{Running, Scratch};

/// An experiment of more than 100 short runs on stand-ins.
const EXPERIMENT: &str = "sfd-tables";

/// The files of finished runs, by name.
fn finished(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.join("runs")).into_iter().flatten().map(|entry| entry.unwrap());
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    files.filter(|file| file.0.ends_with(".json")).collect()
}

/// Interrupts an experiment at so many random moments. Every run that is finished then has the bytes that it has
/// without an interruption, and so have records and verdicts at the end.
fn interrupted(moments: u64) {
    let scratch = Scratch::new();
    let command = |out: &str| format!("reproduce {EXPERIMENT} --data-dir . --threads 2 --quiet --out {out}");
    let seconds = scratch.succeed(&command("whole")).seconds;
    let whole = finished(&scratch.path("whole"));
    let files = ["records.jsonl", "verdicts.json"].map(|name| format!("{EXPERIMENT}/{name}"));
    let assert_same = |context: &str| {
        for file in &files {
            let [whole, broken] = ["whole", "broken"].map(|out| scratch.bytes(&format!("{out}/{file}")));
            assert!(whole == broken, "{context}: {file} differs");
        }
    };
    let (mut chance, mut hits, mut ends) = (Chance::of(44), 0, 0);
    while hits < moments {
        let signal = *chance.one_of(&["KILL", "INT"]);
        // Several interruptions to an experiment, on average.
        let wait = 0.4 * seconds * chance.share();
        let running = Running::start(&mut scratch.command(&command("broken")));
        std::thread::sleep(Duration::from_secs_f64(wait));
        running.signal(signal);
        let ran = running.finish();
        let context = format!("after {hits} moments, {signal} at {wait:.3} s of {seconds:.3} s");
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{context}");
        if ran.code == Some(0) {
            assert_same(&context);
            fs::remove_dir_all(scratch.path("broken")).unwrap();
            ends += 1;
            continue;
        }
        // Before the handler is there SIGINT ends the program as SIGKILL does.
        assert!(ran.code.is_none() || (signal == "INT" && ran.code == Some(130)), "{context}: {:?}", ran.code);
        for (name, bytes) in finished(&scratch.path("broken")) {
            assert!(whole.get(&name) == Some(&bytes), "{context}: run {name} differs");
        }
        hits += 1;
    }
    scratch.succeed(&command("broken"));
    assert_same("at the end");
    eprintln!("{hits} interruptions of an experiment of {} runs, which ended {ends} times before", whole.len());
}

/// An experiment that is interrupted a few times has the same records.
#[test]
fn interrupted_experiments_end_the_same() {
    interrupted(4);
}

/// The same at 20 moments.
#[test]
#[ignore = "20 moments take some minutes on a busy machine"]
fn experiments_interrupted_at_20_moments_end_the_same() {
    interrupted(20);
}
