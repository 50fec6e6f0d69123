//! `multiplane infer`: the answer, in the words of its contract, for every format and every way to ask.

use crate::common::refusals::{assert_all_refused, assert_refused};
use crate::common::{Scratch, assert_keys, describe, number};
use serde_json::{Value, json};

/// Keys of the JSON object.
const KEYS: &str = "engine energy bound exact flow labels variables edges seconds";

/// E(0,0) = -ln 1.2, E(0,1) = 0, E(1,0) forbidden, E(1,1) = -ln 0.9: the entries' products.
const UAI: &str = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n2\n 0.4 0.3\n4\n 3 2.5 0 3\n";
const WCSP: &str = "small 2 3 2 50\n2 3\n1 0 0 1\n0 4\n2 0 1 9 2\n0 2 1\n1 1 50\n";
const CFN: &str = "{ problem { p <50 } variables { x [a b] y 3 } functions {\n { scope [x] costs [4 0.5] }\n { scope [x y] defaultcost 9 costs [a 2 1.25] } } }\n";
const MAX: &str = "c a diamond\np max 4 5\nn 1 s\nn 4 t\na 1 2 5\na 1 3 4\na 2 4 3\na 3 4 7\na 2 3 1\n";

fn folder() -> Scratch {
    Scratch::new().with("a.uai", UAI).with("b.wcsp", WCSP).with("c.cfn", CFN).with("d.max", MAX)
}

/// Each format gives energy, a bound that meets it, labels in the order of the variables and sizes, and no other key.
#[test]
fn answers_in_json() {
    let scratch = folder();
    for (file, energy, labels, edges) in [
        ("a.uai", -(0.4_f64 * 3.0).ln(), json!([0, 0]), 1),
        ("b.wcsp", 5.0, json!([0, 2]), 1),
        ("c.cfn", 5.25, json!([0, 2]), 1),
    ] {
        let answer = scratch.json(&format!("infer --data {file}"));
        assert_keys(&answer, KEYS);
        assert!((number(&answer, "energy") - energy).abs() < 1e-12, "{file}: {answer:?}");
        assert_eq!((&answer["bound"], &answer["exact"]), (&answer["energy"], &json!(true)), "{file}");
        assert_eq!((&answer["labels"], &answer["flow"]), (&labels, &Value::Null), "{file}");
        assert_eq!((&answer["variables"], &answer["edges"]), (&json!(2), &json!(edges)), "{file}");
        assert!(number(&answer, "seconds") >= 0.0);
    }
    let answer = scratch.json("infer --data d.max --repeat 3");
    assert_keys(&answer, KEYS);
    assert_eq!((&answer["flow"], &answer["engine"], &answer["exact"]), (&json!(8), &json!("max-flow"), &json!(true)));
    assert_eq!((number(&answer, "energy"), number(&answer, "bound")), (8.0, 8.0));
    assert_eq!(
        (&answer["labels"], &answer["variables"], &answer["edges"]),
        (&json!([0, 0, 1, 1]), &json!(4), &json!(5))
    );
}

/// Gzip is read whatever the name says, and decimals make the flow a decimal.
#[test]
fn gzip_and_decimals() {
    let scratch = folder().with("e.max", MAX.replace("a 2 4 3", "a 2 4 2.5"));
    for file in ["a.uai", "b.wcsp", "c.cfn", "d.max"] {
        let plain = scratch.json(&format!("infer --data {file}"));
        let mut packed = Vec::new();
        let bytes = scratch.bytes(file);
        let mut encoder = flate2::bufread::GzEncoder::new(bytes.as_slice(), flate2::Compression::fast());
        std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
        for name in [format!("{file}.gz"), format!("packed.{}", file.rsplit('.').next().unwrap())] {
            scratch.write(&name, &packed);
            let answer = scratch.json(&format!("infer --data {name}"));
            assert_eq!((&answer["energy"], &answer["labels"]), (&plain["energy"], &plain["labels"]), "{name}");
        }
    }
    assert_eq!(scratch.json("infer --data e.max")["flow"], json!(7.5));
}

/// A pipe is read once, and its first word tells the format.
#[test]
#[cfg(unix)]
fn pipes() {
    let scratch = folder();
    for (file, key, value) in
        [("a.uai", "labels", json!([0, 0])), ("c.cfn", "energy", json!(5.25)), ("d.max", "flow", json!(8))]
    {
        let line = format!("cat {file} | \"$0\" infer --data /dev/stdin --json");
        let ran = crate::common::run(
            std::process::Command::new("sh").args(["-c", &line, crate::common::BINARY]).current_dir(scratch.path("")),
        );
        assert_eq!((ran.code, &ran.object()[key]), (Some(0), &value), "{file}: {}", ran.stderr);
    }
}

/// Labels go to a file, one a line; people get a short table, `--quiet` nothing.
#[test]
fn other_outputs() {
    let scratch = folder().with("labels", "old labels");
    let ran = scratch.succeed("infer --data b.wcsp --out labels");
    assert_eq!(scratch.text("labels"), "0\n2\n");
    for part in
        ["b.wcsp: 2 variables, 1 edges, engine ", "  energy  5\n", "proven optimal", "  labels  saved to labels\n"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let ran = scratch.succeed("infer --data d.max");
    assert!(
        ran.stdout.contains("  flow    8 (exact)\n") && ran.stdout.contains("  labels  0 0 1 1\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(scratch.succeed("infer --data d.max --quiet --out labels").stdout, "");
    assert_eq!(scratch.text("labels"), "0\n0\n1\n1\n");
}

/// A model all of whose labellings are forbidden was rightly asked about, but has no answer: exit code 1, nothing
/// written, null for what does not exist.
#[test]
fn infeasible_models() {
    let scratch = Scratch::new().with("a.uai", "MARKOV 2 2 2 1 2 0 1 4 0 0 0 0").with("labels", "old labels");
    let ran = scratch.run("infer --data a.uai --json");
    assert_eq!((ran.code, &ran.object()["energy"], &ran.object()["labels"]), (Some(1), &Value::Null, &Value::Null));
    let ran = scratch.run("infer --data a.uai --engine brute --json --out labels");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let answer = ran.object();
    assert_keys(&answer, KEYS);
    assert_eq!((&answer["energy"], &answer["bound"], &answer["labels"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!((&answer["variables"], &answer["exact"]), (&json!(2), &json!(true)));
    assert_eq!(ran.complaints("error:"), ["error: a.uai: every labelling is forbidden"]);
    assert_eq!(scratch.text("labels"), "old labels");
    let scratch = scratch
        .with("label.uai", "MARKOV 2 2 3 1 1 0 2 0 0")
        .with("constant.wcsp", "x 1 2 1 9\n2\n0 12 0")
        .with("lonely.max", "p max 3 1\nn 1 s\nn 3 t\na 1 2 5\n");
    for file in ["label.uai", "constant.wcsp"] {
        let ran = scratch.run(&format!("infer --data {file} --json"));
        let answer = ran.object();
        assert_keys(&answer, KEYS);
        assert_eq!((ran.code, &answer["exact"], &answer["labels"]), (Some(1), &json!(true), &Value::Null), "{file}");
        assert_eq!(ran.complaints("error:"), [format!("error: {file}: every labelling is forbidden")]);
    }
    assert_eq!(scratch.run("infer --data label.uai --engine max-flow").code, Some(2));
    let answer = scratch.json("infer --data lonely.max");
    assert_eq!((&answer["flow"], &answer["exact"], &answer["labels"][2]), (&json!(0), &json!(true), &json!(1)));
}

/// Engines go by name; one that does not apply, or is unknown, is refused with the reason.
#[test]
fn engines_by_name() {
    let scratch = folder().with("large.uai", format!("MARKOV 40 {} 0", "2 ".repeat(40)));
    let answer = scratch.json("infer --data a.uai --engine brute");
    assert_eq!((&answer["engine"], &answer["labels"]), (&json!("brute"), &json!([0, 0])));
    assert_eq!(scratch.json("infer --data d.max --engine max-flow")["flow"], json!(8));
    assert_all_refused(
        &scratch,
        "infer",
        [
            ("--data a.uai --engine bruet", "error: unknown engine `bruet`: did you mean `brute`?"),
            ("--data missing.uai --engine x", "error: unknown engine `x`"),
            (
                "--data a.uai --engine max-flow",
                "error: a.uai: it holds an energy: engine max-flow solves flow networks",
            ),
            (
                "--data d.max --engine brute",
                "error: d.max: it holds a flow network: engine max-flow solves it, not brute",
            ),
            (
                "--data large.uai --engine brute",
                "error: large.uai: engine brute does not apply: the model has 1.100e12 labellings",
            ),
            ("--data a.uai --repeat 0", "error: repeat = 0: must be at least 1"),
            ("--data a.uai --seconds 0", "error: seconds = 0: must be greater than 0"),
            ("--data a.uai --seconds nan", "error: seconds = NaN: must be greater than 0"),
            ("--data a.uai --out a.uai", "error: a.uai: it would overwrite a.uai"),
            ("--data a.uai --out nowhere/labels", "error: nowhere/labels: cannot be written"),
        ],
    );
}

/// `describe` lists the engines and the formats.
#[test]
fn described() {
    let scratch = Scratch::new();
    let all: Value = serde_json::from_str(&describe("--json")).unwrap();
    let names = |kind: &str| all[kind].as_array().unwrap().iter().map(|item| item["name"].clone()).collect::<Vec<_>>();
    assert!(names("engine").contains(&json!("brute")) && names("engine").contains(&json!("max-flow")));
    for format in ["uai", "wcsp", "cfn", "max"] {
        assert!(names("format").contains(&json!(format)), "{format}");
        assert!(describe(&format!("format {format}")).contains("read by: infer"), "{format}");
    }
    assert!(describe("engine brute").starts_with("brute: "));
    assert_refused(&scratch, "describe engine brut", "unknown engine `brut`: did you mean `brute`?");
}

/// A model that takes long to enumerate: each labelling of 26 variables.
fn long_solve() -> Scratch {
    Scratch::new().with("long.uai", format!("MARKOV 26 {} 1 1 25 2 1 2", "2 ".repeat(26)))
}

/// After the seconds that were given the best labelling so far is the answer, with nothing proven.
#[test]
fn seconds_end_a_solve() {
    let scratch = long_solve();
    let ran = scratch.succeed("infer --data long.uai --engine brute --seconds 0.2 --json");
    let answer = ran.object();
    assert!((0.2..2.0).contains(&number(&answer, "seconds")), "{answer:?}");
    assert!((number(&answer, "energy") + 2.0_f64.ln()).abs() < 1e-12, "{answer:?}");
    assert_eq!((&answer["bound"], &answer["exact"]), (&Value::Null, &json!(false)));
    let text = scratch.succeed("infer --data long.uai --engine brute --seconds 0.2").stdout;
    assert!(text.contains("stopped: the seconds are spent") && text.contains("bound   none"), "{text}");
}

/// An engine that is done was not stopped, however few the seconds: min-cut and max-product do not look at the clock,
/// and enumeration not after the last labelling.
#[test]
fn what_is_done_was_not_stopped() {
    // 2^14 labellings: as many as between two looks at the clock.
    let scratch = Scratch::new().with("a.uai", format!("MARKOV 14 {} 1 2 3 4 4 2 1 1 2", "2 ".repeat(14)));
    for engine in ["min-cut", "tree", "brute"] {
        let text = scratch.succeed(&format!("infer --data a.uai --engine {engine} --seconds 1e-9")).stdout;
        assert!(text.contains("proven optimal") && !text.contains("stopped"), "{engine}: {text}");
    }
}

/// Three nodes that like to differ are enumerated: no other engine proves what they cost at least.
#[test]
fn small_models_are_enumerated() {
    let triangle = "x 3 2 3 100\n2 2 2\n2 0 1 0 2\n0 0 1\n1 1 1\n2 1 2 0 2\n0 0 1\n1 1 1\n2 0 2 0 2\n0 0 1\n1 1 1\n";
    let answer = Scratch::new().with("a.wcsp", triangle).json("infer --data a.wcsp");
    assert_eq!((&answer["engine"], &answer["energy"], &answer["exact"]), (&json!("brute"), &json!(1.0), &json!(true)));
}

/// A signal ends a solve, too; what there is is printed and saved, and the exit code tells.
#[test]
#[cfg(unix)]
fn signals_end_a_solve() {
    for signal in ["INT", "TERM"] {
        let scratch = long_solve();
        let mut running = crate::common::Running::start(
            &mut scratch.command("infer --data long.uai --engine brute --repeat 5 --json --out labels"),
        );
        running.outlast(std::time::Duration::from_millis(500)); // the handler is there by now
        running.signal(signal);
        let ran = running.finish();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(130), ""), "{signal}");
        assert!(ran.seconds < 3.0, "{signal}: {} s", ran.seconds);
        let answer = ran.object();
        assert_eq!((&answer["bound"], &answer["variables"]), (&Value::Null, &json!(26)), "{signal}");
        assert_eq!(scratch.text("labels").lines().count(), 26, "{signal}");
    }
}

/// A small model as .cfn: `kind` 0 a tree, 1 two labels and neighbours that agree, 2 anything, with what is forbidden.
fn random_cfn(seed: u64, kind: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % bound
    };
    let labels: Vec<u64> = (0..6).map(|_| if kind == 1 { 2 } else { 1 + below(4) }).collect();
    let mut functions = String::new();
    for (node, &count) in labels.iter().enumerate() {
        let costs: Vec<String> = (0..count).map(|_| format!("{}.{}", below(9), below(10))).collect();
        functions += &format!(" {{[{node}] [{}]}}\n", costs.join(" "));
    }
    for head in 1..labels.len() {
        for tail in 0..head {
            let joined = if kind == 0 { tail == head / 2 } else { below(2) == 0 };
            if !joined {
                continue;
            }
            let cost = |a: u64, b: u64, below: &mut dyn FnMut(u64) -> u64| match kind {
                1 if a == b => 0,
                1 => 3,
                _ if below(12) == 0 => 1000,
                _ => below(9),
            };
            let pairs = (0..labels[tail]).flat_map(|a| (0..labels[head]).map(move |b| (a, b)));
            let costs: Vec<String> = pairs.map(|(a, b)| cost(a, b, &mut below).to_string()).collect();
            functions += &format!(" {{[{tail} {head}] [{}]}}\n", costs.join(" "));
        }
    }
    let labels: Vec<String> = labels.iter().map(u64::to_string).collect();
    format!("{{{{random <1000}}\n[{}]\n{{{functions}}}}}\n", labels.join(" "))
}

/// Whatever engine is asked, and the one that the program chooses: its bound is not above the least energy of all
/// labellings, its energy not below, an answer that claims to be exact is, and solving again from the beginning gives
/// the same labels.
#[test]
fn every_engine_keeps_its_word() {
    let scratch = Scratch::new();
    let all: Value = serde_json::from_str(&describe("engine --json")).unwrap();
    let names = all["engine"].as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap().to_owned());
    let engines: Vec<String> = names.filter(|name| name != "max-flow").map(|name| format!("--engine {name}")).collect();
    for seed in 0..12 {
        scratch.write("a.cfn", random_cfn(seed, seed % 3));
        let best = scratch.json("infer --data a.cfn --engine brute");
        let least = number(&best, "energy");
        for engine in engines.iter().map(String::as_str).chain([""]) {
            let ran = scratch.run(&format!("infer --data a.cfn {engine} --json"));
            let what = format!("seed {seed}, `{engine}`: {}{}", ran.stdout, ran.stderr);
            if ran.code == Some(2) && ran.stderr.contains("does not apply") {
                continue;
            }
            let answer = ran.object();
            let energy = answer["energy"].as_f64().unwrap_or(f64::INFINITY);
            assert_eq!(ran.code, Some(if energy.is_finite() { 0 } else { 1 }), "{what}");
            assert!(energy >= least - 1e-9, "{what} but {least}");
            assert!(answer["bound"].as_f64().is_none_or(|bound| bound <= least + 1e-9), "{what} but {least}");
            assert!(answer["exact"] == false || energy <= least + 1e-9, "{what} but {least}");
            let again = scratch.run(&format!("infer --data a.cfn {engine} --json --repeat 3")).object();
            assert_eq!(again["labels"], answer["labels"], "{what}");
        }
        let chosen = scratch.json("infer --data a.cfn");
        assert_eq!(chosen["exact"], true, "seed {seed}: an exact engine applies, found {chosen:?}");
    }
}
