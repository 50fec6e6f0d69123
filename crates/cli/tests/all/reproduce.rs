//! Experiments of the papers from outside: the list, the files of one, and what a second call does.

use std::fs;

use serde_json::Value;

use crate::common::Scratch;

fn objects(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The list has for every experiment its name, source, data, times at both sizes and state, and so has it as JSON.
#[test]
fn experiments_are_listed() {
    let scratch = Scratch::new();
    let list = objects(&scratch.succeed("reproduce --json --data-dir .").stdout);
    let text = scratch.succeed("reproduce --data-dir .").stdout;
    assert!(list.len() >= 14, "{text}");
    for entry in &list {
        let name = entry["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        assert!(!entry["source"].as_str().unwrap().is_empty() && entry["state"] == "not run", "{entry}");
        let data = entry["data"].as_array().unwrap();
        assert!(data.iter().all(|set| set["name"].is_string() && set["state"] == "stand-in"), "{entry}");
        assert!(text.contains(entry["source"].as_str().unwrap()), "{name}: {text}");
        let times = &entry["cpu_seconds"];
        assert!(
            ["quick", "full"].iter().all(|size| times[size].is_null() || times[size].as_u64() > Some(0)),
            "{entry}"
        );
    }
}

/// Times are in minutes, or said not to be measured.
#[test]
fn the_list_says_times() {
    let text = Scratch::new().succeed("reproduce --data-dir .").stdout;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("quick ")).collect();
    assert!(lines.iter().all(|line| line.ends_with(" runs") && line.contains("; not run, 0 of ")), "{text}");
    assert!(lines.iter().any(|line| line.contains("full not measured")), "{text}");
    assert!(lines.iter().any(|line| line.contains(" min, full")), "{text}");
}

/// An experiment without its data runs on stand-ins and says so; a second call finds all runs done and writes the same.
#[test]
fn an_experiment_writes_its_files() {
    let scratch = Scratch::new();
    let call = "reproduce div-m-best-protein --data-dir . --out pages --threads 2";
    let said = scratch.succeed(&format!("{call} --json"));
    assert_eq!(said.stderr, "");
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&report["name"], &report["data"]), (&"div-m-best-protein".into(), &"stand-in".into()));
    let read = |name: &str| fs::read_to_string(scratch.path(&format!("pages/{name}"))).unwrap();
    let verdicts = objects(&read("div-m-best-protein/verdicts.json"));
    assert_eq!(report["verdicts"].as_array().unwrap(), &verdicts);
    for verdict in &verdicts {
        let keys = ["claim", "printed", "measured", "verdict"];
        assert!(keys.iter().all(|key| verdict[key].is_string()), "{verdict}");
    }
    assert!(read("div-m-best-protein/index.html").contains("(synthetic stand-ins for data)</title>"));
    assert!(read("index.html").contains("href=\"div-m-best-protein/index.html\""));
    let records = read("div-m-best-protein/records.jsonl");
    assert_eq!(records.lines().count() as u64, report["runs"].as_u64().unwrap());
    let text = scratch.succeed(call).stdout;
    assert!(
        text.starts_with("div-m-best-protein (synthetic stand-ins for data): ") && text.contains("Page: "),
        "{text}"
    );
    assert!(records == read("div-m-best-protein/records.jsonl"));
    assert_eq!(scratch.succeed(&format!("{call} --quiet")).stdout, "");
    let list = objects(&scratch.succeed("reproduce --json --data-dir . --out pages").stdout);
    assert!(list.iter().any(|entry| entry["name"] == "div-m-best-protein" && entry["state"] == "done"));
}
