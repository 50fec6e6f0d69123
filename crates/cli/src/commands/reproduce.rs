//! `multiplane reproduce`: experiments of the papers, run again.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use multiplane::{Error, check_threads};
use multiplane_lab::numbers::counted;
use multiplane_lab::reproduction::{Reproduction, Size, find};
use serde_json::Value;

use crate::commands::done::Done;
use crate::experiment_args::ReproduceArgs;
use crate::interrupt;
use crate::status_line::{StatusLine, StatusPart};
use crate::terminal::{print, print_json};

/// More repeats than this are a slip.
const MOST_SEEDS: u64 = 1000;

pub(crate) fn run(args: &ReproduceArgs) -> Result<Done, Error> {
    let experiments = args.name.as_deref().map(find).transpose()?;
    let whole = |name: &str, text: &str| {
        text.parse::<u64>().map_err(|_| Error::input(format!("--{name} {text}: expected a whole number")))
    };
    let seeds = args.seeds.as_deref().map(|text| whole("seeds", text)).transpose()?;
    if let Some(seeds) = seeds.filter(|seeds| !(1..=MOST_SEEDS).contains(seeds)) {
        return Err(Error::input(format!("--seeds {seeds}: must be between 1 and {MOST_SEEDS}")));
    }
    let threads = usize::try_from(whole("threads", &args.threads)?).unwrap_or(usize::MAX);
    check_threads(threads)?;
    let data_dir = args.data_dir.clone().or_else(|| std::env::var_os("MULTIPLANE_DATA").map(PathBuf::from));
    if let Some(dir) = args.data_dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(Error::input(format!("--data-dir {}: expected a folder of data sets", dir.display())));
    }
    let (command, machine) = (command(args), machine());
    let line = RefCell::new(if args.quiet { None } else { StatusLine::new() });
    let progress = |finished: usize, total: usize, name: &str| {
        if let Some(line) = line.borrow_mut().as_mut() {
            let bar = StatusPart::bar(2, finished as f64 / total.max(1) as f64);
            line.show(|| {
                vec![bar, StatusPart::new(0, format!("{finished} of {total} runs")), StatusPart::new(1, name)]
            });
        }
    };
    let reproduction = Reproduction {
        out: &args.out,
        data_dir: data_dir.as_deref(),
        size: if args.full { Size::Full } else { Size::Quick },
        seeds,
        threads,
        command: &command,
        machine: &machine,
        interrupt: interrupt::flag(),
        progress: &progress,
    };
    let Some(experiments) = experiments else {
        let list = reproduction.list();
        return if args.json { print_json(&list) } else { print(&listed(&list)) }.map(|()| Done::Finished);
    };
    let mut reports = Vec::new();
    for experiment in experiments {
        let Some(report) = reproduction.run(experiment)? else {
            if !args.quiet && !args.json {
                print("interrupted: finished runs are kept, and the same command goes on\n")?;
            }
            return Ok(Done::Interrupted);
        };
        if !args.json && !args.quiet {
            print(&verdicts(&report))?;
        }
        reports.push(report);
    }
    match (&reports[..], args.json) {
        ([report], true) => print_json(report)?,
        (_, true) => print_json(&reports)?,
        _ => {}
    }
    Ok(Done::Finished)
}

/// The command that gives the same again, without folders.
fn command(args: &ReproduceArgs) -> String {
    let mut words = vec!["multiplane reproduce".to_owned()];
    words.extend(args.name.clone());
    words.extend(args.full.then(|| "--full".to_owned()));
    words.extend(args.seeds.iter().map(|seeds| format!("--seeds {seeds}")));
    words.join(" ")
}

/// Processor, cores and system, as far as the system says.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {}, {}", counted(cores as u64, "core"), std::env::consts::OS)
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_default()
}

/// The table of experiments: four lines each.
fn listed(list: &[Value]) -> String {
    let row = |of: &Value| {
        let sets = of["data"].as_array().into_iter().flatten();
        let sets =
            sets.map(|set| format!("{}{}", text(set, "name"), if text(set, "state") == "original" { "" } else { "*" }));
        let state = format!("{}, {} of {} runs", text(of, "state"), of["finished"], of["runs"]);
        let time = |size: &str| of["cpu_seconds"][size].as_f64().map_or("not measured".into(), minutes);
        let times = format!("quick {}, full {}", time("quick"), time("full"));
        let sets = sets.collect::<Vec<_>>().join(" ");
        format!(
            "{:<20}{}\n{2:20}{3}\n{2:20}{sets}\n{2:20}{times}; {state}\n",
            text(of, "name"),
            text(of, "title"),
            "",
            text(of, "source")
        )
    };
    let rows: Vec<String> = list.iter().map(row).collect();
    format!(
        "{}\nTimes: CPU time of all runs on the original data, as kept under benchmarks/runs.\n* files not found under \
         --data-dir: a synthetic stand-in is used\n",
        rows.join("\n")
    )
}

/// A time in minutes, with one digit below ten.
fn minutes(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if minutes < 10.0 { format!("{minutes:.1} min") } else { format!("{minutes:.0} min") }
}

/// The verdicts of a report, and the page.
fn verdicts(report: &Value) -> String {
    let stand_in = if text(report, "data") == "stand-in" { " (synthetic stand-ins for data)" } else { "" };
    let mut out = format!("{}{stand_in}: {}\n", text(report, "name"), text(report, "source"));
    for verdict in report["verdicts"].as_array().into_iter().flatten() {
        let [claim, sentence, measured, word] =
            ["claim", "sentence", "measured", "verdict"].map(|key| text(verdict, key));
        out += &format!("  {claim:<4} {word:<19} {sentence}: {measured}\n");
    }
    out + &format!("Page: {}\n", text(report, "page"))
}
