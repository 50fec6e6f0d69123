//! Runs that must not differ: the same command twice, the same data in another wrapping, solvers that are the same
//! by definition.

use crate::common::{Scratch, samples};

fn words() -> Scratch {
    let text = samples::letters(40, 32);
    Scratch::new().with("letter.data", &text).with("copy.data.gz", samples::gzip(&text))
}

/// Under the work clock the same command gives the same model, records and report, byte for byte, whatever the
/// solver; another seed gives others.
#[test]
fn the_same_command_gives_the_same_bytes() {
    let scratch = words();
    for solver in ["fw", "bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg", "ssg", "ssg-avg"] {
        let train = |seed: u32, name: &str| {
            let train = "train --task chain --data letter.data --test letter.data --lambda 0.5 --clock work";
            let summary = scratch.json(&format!(
                "{train} --solver {solver} --passes 12 --seed {seed} --out {name} --record {name}.jsonl"
            ));
            let records = scratch.bytes(&format!("{name}.jsonl"));
            (scratch.bytes(name), records, summary.into_iter().filter(|(key, _)| key != "model").collect::<Vec<_>>())
        };
        let first = train(7, "first");
        assert!(first == train(7, "again"), "{solver}");
        if solver != "fw" {
            assert!(first.1 != train(8, "other").1, "{solver}: the seed decides nothing");
        }
    }
}

/// Compression, names, threads and what is printed are no part of the problem: they change no byte of model and
/// records.
#[test]
fn wrappings_do_not_reach_the_model() {
    let scratch = words();
    let train = "train --task chain --lambda 0.5 --clock work --seed 7 --gap 1%";
    scratch.succeed(&format!("{train} --data letter.data --out first --record first.jsonl --quiet"));
    for (other, arguments) in [
        ("second", "--data copy.data.gz --json"),
        ("third", "--data letter.data --format letter"),
        ("fourth", "--data letter.data --threads 2 --quiet"),
    ] {
        scratch.succeed(&format!("{train} {arguments} --out {other} --record {other}.jsonl"));
        assert!(scratch.bytes("first") == scratch.bytes(other), "{arguments} changed the model");
        let records = scratch.bytes(&format!("{other}.jsonl"));
        assert!(scratch.bytes("first.jsonl") == records, "{arguments} changed the records");
    }
}

/// Any number of threads gives the same bytes, in training and in what is done with a model.
#[test]
fn threads_do_not_reach_the_result() {
    let scratch = words();
    for solver in ["fw", "bcfw-gap", "mp-bcfw-avg", "bcpfw-gap-cache", "ssg"] {
        let train = "train --task chain --data letter.data --test letter.data --lambda 0.5 --clock work --passes 24";
        let train = |threads: u32| {
            let name = format!("{solver}-{threads}");
            let run = format!("{train} --solver {solver} --threads {threads} --out {name} --record {name}.jsonl");
            let mut summary = scratch.json(&run);
            assert_eq!(
                (summary.remove("threads"), summary.remove("model")),
                (Some(threads.into()), Some(name.clone().into()))
            );
            (scratch.bytes(&name), scratch.bytes(&format!("{name}.jsonl")), summary)
        };
        let alone = train(1);
        for threads in [2, 3, 7, 100] {
            assert!(alone == train(threads), "{solver} on {threads} threads");
        }
    }
    let all = |threads: u32| {
        let on = format!("--model bcfw-gap-1 --data letter.data --threads {threads}");
        let labels = scratch.succeed(&format!("predict {on}")).stdout;
        (labels, scratch.json(&format!("evaluate {on}")), scratch.json(&format!("verify {on}")))
    };
    let alone = all(1);
    for threads in [2, 3, 7, 100] {
        assert!(alone == all(threads), "{threads} threads");
    }
}

/// Watching a run does not change it: with and without records, and with and without test data, training gives the
/// same bytes.
#[test]
fn records_do_not_reach_the_model() {
    let scratch = words();
    for solver in ["bcfw", "mp-bcfw", "ssg"] {
        let train =
            format!("train --task chain --lambda 0.5 --clock work --data letter.data --solver {solver} --quiet");
        scratch.succeed(&format!("{train} --gap 5% --passes 301 --out plain"));
        for (other, arguments) in [("recorded", "--record r"), ("tested", "--record r --test letter.data")] {
            scratch.succeed(&format!("{train} --gap 5% --passes 301 --out {other} {arguments}"));
            assert!(scratch.bytes("plain") == scratch.bytes(other), "{solver}: {arguments} changed the model");
        }
    }
}

/// MP-BCFW without planes and without approximate passes is BCFW: the same records and the same weights; the model
/// files differ in nothing but the parameters that they carry.
#[test]
fn no_planes_is_plain_bcfw() {
    let scratch = words();
    let train = "train --task chain --data letter.data --lambda 0.5 --clock work --seed 7 --passes 20 --quiet";
    scratch.succeed(&format!("{train} --solver bcfw --out plain --record plain.jsonl"));
    for settings in [
        "--set solver.planes.max_planes=0 --set solver.planes.max_passes=0",
        "--set solver.planes.max_planes=0",
        "--set solver.planes.max_planes=0 --set solver.planes.slope_rule=false",
        "--set solver.planes=none",
    ] {
        scratch.succeed(&format!("{train} --solver mp-bcfw {settings} --out other --record other.jsonl"));
        assert_eq!(scratch.text("plain.jsonl"), scratch.text("other.jsonl"), "{settings}");
        assert!(scratch.weights("plain") == scratch.weights("other"), "{settings}");
        assert!(scratch.bytes("plain") != scratch.bytes("other"), "the model forgot its solver");
    }
}
