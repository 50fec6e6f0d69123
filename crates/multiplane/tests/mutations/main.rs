//! Every reader of the program under fire: mutated files, values and answers, all of a seed. None may panic, take more than
//! 10 s or 1 GB, tell an error that is no line of text, or accept what is not sound; what sound means stands with each reader.
//!
//! ```text
//! cargo test -p multiplane --test mutations                                            a fixed number of inputs
//! MULTIPLANE_MUTATIONS=12000000 cargo test -p multiplane --test mutations              an hour of one core, or so
//! MULTIPLANE_REPLAY='libsvm:FILE' cargo test -p multiplane --test mutations -- --nocapture
//! ```
//!
//! The number of inputs decides all: reader, seed and iteration of a fault give its bytes again, which are kept as a file
//! besides. A new format of data needs a line in `data.rs`, one of problems in `problems.rs`.

mod bytes;
mod campaign;
mod checkpoints;
#[path = "../../../infer/tests/common/counting.rs"]
mod counting;
mod data;
mod framed;
mod json;
mod models;
mod problems;
#[cfg(unix)]
mod protocol;
mod records;
mod specs;
mod trained;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use campaign::{Reader, Report};

/// Inputs where nobody says how many: less than a minute of one core.
const INPUTS: u64 = 60_000;

/// A line of the table: name, share of the inputs, and what makes the reader.
type Row = (&'static str, u64, Box<dyn Fn() -> Reader + Sync>);

/// All readers.
fn readers() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(data::rows());
    rows.extend(problems::rows());
    rows.extend(models::rows());
    rows.extend(checkpoints::rows());
    rows.extend(specs::rows());
    rows.extend(records::rows());
    #[cfg(unix)]
    rows.extend(protocol::rows());
    rows
}

/// No input does harm. `MULTIPLANE_MUTATIONS` says how many there are in all, `MULTIPLANE_READER` which reader alone gets them.
#[test]
fn no_input_does_harm() {
    if let Ok(kept) = std::env::var("MULTIPLANE_REPLAY") {
        let (name, path) = kept.split_once(':').expect("READER:FILE");
        let (name, _, make) = readers().into_iter().find(|row| row.0 == name).expect("a reader of that name");
        assert_eq!(campaign::replay(name, &make(), Path::new(path)), None);
        return;
    }
    let inputs = std::env::var("MULTIPLANE_MUTATIONS").map_or(INPUTS, |text| text.parse().expect("a number of inputs"));
    let mut rows = readers();
    if let Ok(name) = std::env::var("MULTIPLANE_READER") {
        rows.retain(|row| row.0.contains(&name));
    }
    let shares: u64 = rows.iter().map(|row| row.1).sum();
    let (next, reports) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((name, share, make)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = campaign::run(name, &make(), inputs * share / shares);
                    print(&report);
                    reports.lock().unwrap().push(report);
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap();
    assert_eq!(reports.len(), rows.len());
    let total: u64 = reports.iter().map(|report| report.inputs).sum();
    let faults: Vec<&str> = reports.iter().flat_map(|report| &report.faults).map(String::as_str).collect();
    assert!(faults.is_empty(), "{} faults in {total} inputs:\n{}", faults.len(), faults.join("\n"));
    // Opaque data is any bytes.
    for report in reports.iter().filter(|report| report.inputs > 100 && report.name != "opaque") {
        assert!(report.refused > 0, "{}: nothing was refused, so nothing was damaged", report.name);
    }
}

/// Tells a line of the table; seen with `--nocapture`.
fn print(report: &Report) {
    let Report { name, inputs, accepted, refused, slowest, most_bytes, faults } = report;
    println!(
        "{name:<24} {inputs:>8} inputs {refused:>8} refused {accepted:>8} accepted {:>8.3} s {:>7.1} MB {:>3} faults",
        slowest.as_secs_f64(),
        *most_bytes as f64 / 1e6,
        faults.len()
    );
}
