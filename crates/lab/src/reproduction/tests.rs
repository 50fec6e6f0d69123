//! All experiments at a tiny size on stand-ins; interruptions; names.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::*;
use crate::reproduce::records::{self, Records, cost_ratio, median, reaches, value_at};

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("multiplane-lab-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tiny<'a>(out: &'a Path, progress: &'a dyn Fn(usize, usize, &str)) -> Reproduction<'a> {
    Reproduction {
        out,
        data_dir: None,
        size: Size::Tiny,
        seeds: Some(2),
        threads: 2,
        command: "multiplane reproduce all",
        machine: "a machine",
        interrupt: Arc::default(),
        progress,
    }
}

/// Every experiment runs on stand-ins in seconds, says so in its title, and writes its files: a verdict of three words
/// for every claim, records that can be read, a page that needs nothing else; the index knows all of them.
#[test]
fn every_experiment_runs_on_stand_ins() {
    let out = Folder::new("all");
    let reproduction = tiny(&out.0, &|_, _, _| {});
    assert!(reproduction.list().iter().all(|entry| entry["state"] == "not run"));
    for of in EXPERIMENTS {
        let report = reproduction.run(of).unwrap_or_else(|error| panic!("{}: {error}", of.name)).unwrap();
        let verdicts: Vec<Value> = serde_json::from_str(&out.text(&format!("{}/verdicts.json", of.name))).unwrap();
        assert_eq!(report["verdicts"].as_array(), Some(&verdicts));
        assert!(!verdicts.is_empty(), "{}", of.name);
        for verdict in &verdicts {
            let word = verdict["verdict"].as_str().unwrap();
            assert!(["holds", "does not hold", "could not be tested"].contains(&word), "{}: {verdict}", of.name);
            for key in ["claim", "source", "sentence", "threshold", "measured", "basis"] {
                assert!(!verdict[key].as_str().unwrap().is_empty(), "{}: {key} of {verdict}", of.name);
            }
            assert!(verdict["printed"].is_string() && verdict["data"] == "stand-in");
            let measured = verdict["measured"].as_str().unwrap();
            assert!(word == "could not be tested" || !measured.contains("NaN"), "{}: {verdict}", of.name);
        }
        let records = out.text(&format!("{}/records.jsonl", of.name));
        assert_eq!(records.lines().count() as u64, report["runs"].as_u64().unwrap());
        let page = out.text(&format!("{}/index.html", of.name));
        assert!(page.contains("synthetic stand-ins") && page.contains("<svg") && page.len() < 2 << 20, "{}", of.name);
        assert!(!page.contains("<script") && !page.contains("NaN"), "{}", of.name);
        assert!(out.text("index.html").contains(&format!("href=\"{}/index.html\"", of.name)));
    }
    assert!(reproduction.list().iter().all(|entry| entry["state"] == "done"));
}

/// An experiment that is interrupted again and again ends with the same records as one that is not, and no finished run
/// is run twice.
#[test]
fn interrupted_experiments_go_on() {
    let of = find("gaps-grid").unwrap()[0];
    let (whole, broken) = (Folder::new("whole"), Folder::new("broken"));
    let whole_report = tiny(&whole.0, &|_, _, _| {}).run(of).unwrap().unwrap();
    let mut attempts = 0;
    let report = loop {
        attempts += 1;
        let begun = Cell::new(0);
        let interrupt: Arc<AtomicBool> = Arc::default();
        let raise = |_: usize, _: usize, _: &str| {
            begun.set(begun.get() + 1);
            if begun.get() == 41 {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let reproduction = Reproduction { interrupt: interrupt.clone(), ..tiny(&broken.0, &raise) };
        if let Some(report) = reproduction.run(of).unwrap() {
            break report;
        }
        let entry = reproduction.list().into_iter().find(|entry| entry["name"] == "gaps-grid").unwrap();
        assert_eq!(entry["state"], "begun");
        assert!(attempts < 40, "no attempt gets on");
    };
    assert!(attempts > 2, "only {attempts}");
    assert_eq!(report["verdicts"], whole_report["verdicts"]);
    assert!(whole.text("gaps-grid/records.jsonl") == broken.text("gaps-grid/records.jsonl"));
    let run = Cell::new(0);
    let count = |_: usize, _: usize, _: &str| run.set(run.get() + 1);
    tiny(&broken.0, &count).run(of).unwrap().unwrap();
    assert_eq!(run.get(), 0, "nothing is left to run");
    let torn = fs::read_dir(broken.0.join("runs")).unwrap().next().unwrap().unwrap().path();
    fs::write(&torn, &fs::read(&torn).unwrap()[..100]).unwrap();
    tiny(&broken.0, &count).run(of).unwrap().unwrap();
    assert_eq!(run.get(), 2, "the torn run begins and ends once more");
    assert!(whole.text("gaps-grid/records.jsonl") == broken.text("gaps-grid/records.jsonl"));
}

/// Names are looked up, and unknown ones get one error.
#[test]
fn names_are_looked_up() {
    assert_eq!(find("all").unwrap().len(), EXPERIMENTS.len());
    assert_eq!(find("gaps-grid").unwrap()[0].name, "gaps-grid");
    let error = find("gap-grid").err().unwrap().to_string();
    assert!(error.starts_with("unknown experiment `gap-grid`: did you mean `gaps-grid`"), "{error}");
    let mut names: Vec<&str> = EXPERIMENTS.iter().map(|of| of.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), EXPERIMENTS.len());
}

/// Figures and claims of records that are empty, or of one run without any figure, draw and judge without panic.
#[test]
fn odd_records_do_no_harm() {
    let curve = json!({"pass": [1, null]});
    let line = json!({"set": "usps", "case": "bcfw", "at": "", "stand_in": false, "summary": {}, "curve": curve});
    let odd = Records(vec![records::FinishedRun::of(&line).unwrap()]);
    for of in EXPERIMENTS {
        for records in [&Records::default(), &odd] {
            (of.figures)(records).iter().for_each(|figure| assert!(figure.chart.svg().contains("</svg>")));
            let _ = (of.tables)(records);
            let _ = page::verdicts(of, records);
        }
    }
}

/// Costs are compared at the lowest level that both curves reach.
#[test]
fn curves_are_compared() {
    let fast = [vec![(1.0, 8.0), (2.0, 4.0), (3.0, 1.0)]];
    let slow = [vec![(2.0, 8.0), (6.0, 4.0)]];
    assert_eq!(cost_ratio(&slow, &fast), 3.0);
    assert_eq!(cost_ratio(&fast, &slow), 1.0 / 3.0);
    assert_eq!((reaches(&fast[0], 4.5), reaches(&fast[0], 0.5)), (Some(2.0), None));
    assert_eq!((value_at(&fast[0], 2.5), value_at(&fast[0], 0.5)), (Some(4.0), None));
    assert_eq!(median([3.0, f64::NAN, 1.0, 2.0]), 2.0);
    assert!(cost_ratio(&[], &[]).is_nan());
}

/// Made-up records of a method whose primal and dual errors at pass p are `1 / (speed p)`, for two seeds.
fn made_up(set: &str, case: &str, speed: f64) -> Vec<records::FinishedRun> {
    let passes: Vec<f64> = (1..=40).map(f64::from).collect();
    let of = |seed: f64| {
        let dual: Vec<f64> = passes.iter().map(|pass| 1.0 - (1.0 + 0.1 * seed) / (speed * pass)).collect();
        let primal: Vec<f64> = dual.iter().map(|dual| 2.0 - dual).collect();
        let curve = json!({"pass": passes, "seconds": passes, "iterations": passes, "dual": dual, "primal": primal});
        let line = json!({"set": set, "case": case, "at": "", "stand_in": false, "summary": {"n": 9}, "curve": curve});
        records::FinishedRun::of(&line).unwrap()
    };
    vec![of(0.0), of(1.0)]
}

/// Verdicts and figures follow from records: those of a method that is twice as fast hold, those of the reverse do not;
/// a figure has a line and a band for each method.
#[test]
fn verdicts_and_figures_follow_from_records() {
    let of = find("mp-bcfw-fig4").unwrap()[0];
    let both = |plain: f64, multi: f64| {
        let sets = [("usps", 1.0), ("ocr", 2.0), ("horses", 2.5)];
        let runs =
            sets.map(|(set, gain)| [made_up(set, "bcfw", plain), made_up(set, "mp-bcfw", multi * gain)].concat());
        Records(runs.concat())
    };
    let words =
        |records: &Records| page::verdicts(of, records).iter().map(|verdict| verdict["verdict"].clone()).collect();
    let found: Vec<Value> = words(&both(1.0, 2.0));
    assert_eq!(found, ["holds", "could not be tested", "holds", "holds", "could not be tested"]);
    let found: Vec<Value> = words(&both(2.0, 1.0));
    assert_eq!((&found[0], &found[2]), (&json!("does not hold"), &json!("does not hold")));
    let verdicts = page::verdicts(of, &both(1.0, 2.0));
    assert_eq!(verdicts[3]["measured"], "usps 2.00, ocr 4.00, horses 5.00 times fewer passes, within 40 passes");
    assert_eq!((&verdicts[0]["data"], &verdicts[2]["source"]), (&json!("other data"), &json!("ours")));
    let figures = (of.figures)(&both(1.0, 2.0));
    assert_eq!(figures.len(), 9, "primal, dual and gap of three sets");
    let svg = figures[1].chart.svg();
    assert_eq!(svg.matches("fill-opacity").count(), 2, "a band for each of the two methods");
    for text in ["usps: dual suboptimality", ">mp-bcfw<", ">bcfw<", "exact passes (oracle calls / n)"] {
        assert!(svg.contains(text), "{text}");
    }
}

/// Returns the verdict of the claim of an experiment that has these words.
fn verdict_of(experiment: &str, words: &str, lines: &[Value]) -> String {
    let records = Records(lines.iter().map(|line| records::FinishedRun::of(line).unwrap()).collect());
    let verdicts = page::verdicts(find(experiment).unwrap()[0], &records);
    let found = verdicts.iter().find(|verdict| verdict["sentence"].as_str().unwrap().contains(words)).unwrap();
    found["verdict"].as_str().unwrap().to_owned()
}

/// A path is certified only if every gap is proven, and one that was cut short is never cheap; MP-BCFW is no slower
/// only if it is so at every record, not at the last alone; 4 planes of 3 iterations fewer of 10 are 30 % fewer; the
/// time of cutting planes is not judged.
#[test]
fn verdicts_need_every_record() {
    let path = |certified: bool| {
        let point = |certified| json!({"lambda": 1.0, "gap": 0.05, "primal": 1.0, "certified": certified});
        let summary = json!({"breakpoints": [point(true), point(certified)]});
        json!({"set": "usps", "case": "path", "at": "", "stand_in": false, "summary": summary, "curve": {}})
    };
    assert_eq!(verdict_of("gaps-path", "certified", &[path(true)]), "holds");
    assert_eq!(verdict_of("gaps-path", "certified", &[path(false)]), "does not hold");
    let calls = |case: &str, end: &str, calls: u32| {
        let summary = json!({"stop_reason": end, "oracle_calls": calls, "evaluation_calls": 0, "breakpoints": [{}]});
        json!({"set": "usps", "case": case, "at": "", "stand_in": false, "summary": summary, "curve": {}})
    };
    let against_grid = |end: &str, own: u32| {
        verdict_of("gaps-path", "all lambdas", &[calls("path", end, own), calls("grid, none", "lambda-min", 10)])
    };
    assert_eq!(
        (against_grid("lambda-min", 19), against_grid("lambda-min", 21)),
        ("holds".into(), "does not hold".into())
    );
    assert_eq!(
        (against_grid("passes", 19), against_grid("passes", 21)),
        ("could not be tested".into(), "does not hold".into())
    );
    let run = |case: &str, seconds: [f64; 3]| {
        let curve = json!({"pass": [1, 2, 3], "seconds": seconds, "dual": [0.1, 0.2, 0.3], "primal": [1.0, 0.9, 0.8]});
        json!({"set": "usps", "case": case, "at": "", "stand_in": false, "summary": {}, "curve": curve})
    };
    let not_slower = |first: f64| {
        verdict_of("mp-bcfw-fig5", "not slower", &[run("bcfw", [1.0, 2.0, 3.0]), run("mp-bcfw", [first, 2.0, 2.5])])
    };
    assert_eq!((not_slower(1.2), not_slower(1.4)), ("holds".into(), "does not hold".into()));
    let planes = |case: &str, iterations: u32| {
        let summary =
            json!({"stop_reason": "gap", "iterations": iterations, "train_seconds": 1.0, "passes": iterations});
        json!({"set": "protein", "case": case, "at": "", "stand_in": true, "summary": summary, "curve": {}})
    };
    let fewer =
        |own: u32, words: &str| verdict_of("div-m-best-protein", words, &[planes("M = 1", 10), planes("M = 4", own)]);
    assert_eq!((fewer(7, "third fewer"), fewer(8, "third fewer")), ("holds".into(), "does not hold".into()));
    assert_eq!(fewer(7, "less time"), "could not be tested");
}
