//! Problem files that break their format: each is refused with its place, what was found and the rule, and no damage
//! makes a reader panic or take memory that the file does not pay for.

use std::io::Read;

use crate::common::Random;
use multiplane_infer::file::{DataError, Source};
use multiplane_infer::format::flow::Flow;
use multiplane_infer::format::{Instance, ProblemFormat, cfn, dimacs, uai, wcsp};

fn read_bytes(format: ProblemFormat, bytes: &[u8]) -> Result<Instance, DataError> {
    (format.read)(Source::from_bytes("f", bytes)?)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
    out
}

/// Checks that each text is refused with these words.
fn assert_refused(format: ProblemFormat, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        match read_bytes(format, text.as_bytes()) {
            Ok(_) => panic!("{text:?} was accepted, expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), *expected, "for {text:?}"),
        }
    }
}

/// Whatever breaks a `.uai` file is refused with its place, what was found and what was expected.
#[test]
fn faults_of_uai_are_named() {
    let head = "MARKOV\n2\n2 3\n";
    let with = |rest: &str| format!("{head}{rest}");
    let cases = [
        ("".into(), "f:1:1: found an empty file, expected MARKOV or BAYES"),
        (" \n".into(), "f:2:1: found the end of the file, expected MARKOV or BAYES"),
        ("RANDOM 1".into(), "f:1:1: found `RANDOM` as kind of model, expected MARKOV or BAYES"),
        ("MARKOV\n-2".into(), "f:2:1: found `-2` as the number of variables, expected a whole number"),
        ("MARKOV 1e3".into(), "f:1:8: found `1e3` as the number of variables, expected a whole number"),
        (
            "MARKOV 1000000000000 2 2".into(),
            "f:1:25: found the end of the file, expected the number of labels of variable 2 of 1000000000000",
        ),
        (
            "MARKOV 1 0".into(),
            "f:1:10: found `0` as the number of labels of variable 0 of 1, expected a number from 1 to 4294967295",
        ),
        (
            "MARKOV 1 1000000000000".into(),
            "f:1:10: found `1000000000000` as the number of labels of variable 0 of 1, expected a number from 1 to 4294967295",
        ),
        (
            "MARKOV 1 1000000000 0".into(),
            "f: found 1000000000 energies that the file implies without holding them, expected at most 33554432",
        ),
        (
            "MARKOV 2 2000000000 2000000000 1 2 0 1 4000000000000000000 1 2".into(),
            "f:1:63: found the end of the file, expected entry 2 of 4000000000000000000 of factor 0",
        ),
        (with("1\n3 0 1 1"), "f:5:1: found factor 0 of 3 variables, expected at most 2: models here are pairwise"),
        (with("1\n2 0 2"), "f:5:5: found `2` as variable 2 of 2 of factor 0, expected a variable below 2"),
        (with("1\n2 1 1"), "f:5:5: found `1` as variable 2 of 2 of factor 0, expected two different ones"),
        (with("1\n2 0"), "f:5:4: found the end of the file, expected variable 2 of 2 of factor 0"),
        (
            with("1000000000000\n0\n"),
            "f:6:1: found the end of the file, expected the number of variables of factor 1 of 1000000000000",
        ),
        (with("1\n1 1\n\n2\n1 2"), "f:7:1: found a table of 2 entries for factor 0, expected 3"),
        (
            with("1\n1 1\n\n1000000000000\n1 2"),
            "f:7:1: found a table of 1000000000000 entries for factor 0, expected 3",
        ),
        (with("1\n1 1\n\n3\n1 2"), "f:8:4: found the end of the file, expected entry 2 of 3 of factor 0"),
        (
            with("1\n1 1\n3 1 -2 3"),
            "f:6:5: found `-2` as entry 1 of 3 of factor 0, expected a finite number that is not negative",
        ),
        (
            with("1\n1 1\n3 1 nan 3"),
            "f:6:5: found `nan` as entry 1 of 3 of factor 0, expected a finite number that is not negative",
        ),
        (
            with("1\n1 1\n3 1 inf 3"),
            "f:6:5: found `inf` as entry 1 of 3 of factor 0, expected a finite number that is not negative",
        ),
        (
            with("1\n1 1\n3 1 1e999 3"),
            "f:6:5: found `1e999` as entry 1 of 3 of factor 0, expected a finite number that is not negative",
        ),
        (
            with("1\n1 1\n3 1 1e-999 3"),
            "f:6:5: found `1e-999` as entry 1 of 3 of factor 0, expected 0 or a number that a double can hold: this one is too small",
        ),
        (with("1\n0\n1 1\n7"), "f:7:1: found `7` after the last table, expected the end of the file"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(text, error): &(String, &str)| (text.as_str(), *error)).collect();
    assert_refused(uai::ENTRY, &cases);
}

/// Whatever breaks a `.wcsp` file is refused with its place, what was found and what was expected.
#[test]
fn faults_of_wcsp_are_named() {
    assert_refused(
        wcsp::ENTRY,
        &[
            ("", "f:1:1: found an empty file, expected the problem's name"),
            ("x 2 2 1", "f:1:8: found the end of the file, expected the upper bound"),
            ("x 2 2 1 top", "f:1:9: found `top` as the upper bound, expected an integer"),
            (
                "x 1 2 1 9\n2\n3 0 0 0",
                "f:3:1: found cost function 0 of 1 of 3 variables, expected at most 2: models here are pairwise",
            ),
            (
                "x 1 2 1 9\n2\n1 1 0 0",
                "f:3:3: found `1` as variable 1 of 1 of cost function 0 of 1, expected a variable below 1",
            ),
            (
                "x 1 2 1 9\n2\n1 0 nan 0",
                "f:3:5: found `nan` as the default cost of cost function 0 of 1, expected an integer",
            ),
            (
                "x 1 2 1 9\n2\n1 0 0 1\n2 5",
                "f:4:1: found `2` as label of variable 0 in tuple 0 of 1 of cost function 0 of 1, expected a label below 2",
            ),
            (
                "x 1 2 1 9\n2\n1 0 0 1\n1 0.5",
                "f:4:3: found `0.5` as the cost of tuple 0 of 1 of cost function 0 of 1, expected an integer",
            ),
            (
                "x 1 2 1 1000000000000000001\n2\n1 0 0 1\n1 1000000000000000000",
                "f:4:3: found `1000000000000000000` as the cost of tuple 0 of 1 of cost function 0 of 1, expected one of at most 2^53 in size, or one that reaches the upper bound 1000000000000000001",
            ),
            (
                "x 1 2 1 9\n2\n1 0 -9007199254740993 0",
                "f:3:5: found `-9007199254740993` as the default cost of cost function 0 of 1, expected one of at most 2^53 in size, or one that reaches the upper bound 9",
            ),
            (
                "x 1 2 1 400000000000000000000000000000000000000",
                "f:1:9: found `400000000000000000000000000000000000000` as the upper bound, expected an integer below 2^127 in size",
            ),
            (
                "x 1 2 1 9\n2\n1 0 0 1000000000000\n1 5",
                "f:4:4: found the end of the file, expected label of variable 0 in tuple 1 of 1000000000000 of cost function 0 of 1",
            ),
            (
                "x 1 2 1 9\n2\n1 0 -1 salldiff var 3",
                "f:3:8: found `salldiff` as global cost function, expected tables of costs: no other functions are read",
            ),
            (
                "x 1 2 1 9\n2\n1 0 0 many",
                "f:3:7: found `many` as the number of tuples of cost function 0 of 1, expected a whole number",
            ),
            (
                "x 1 2 1 9\n2\n1 0 0 -1",
                "f:3:7: found cost function 0 of 1 with the costs of shared function 1, but there are 0",
            ),
            (
                "x 2 3 2 9\n2 3\n-1 0 0 0\n1 1 0 -1",
                "f:4:1: found a function on [3] labels with the costs of one on [2], expected the same numbers (cost function 1 of 2)",
            ),
            (
                "x 2 2 1 9\n100000 100000\n2 0 1 5 0",
                "f:3:9: found 10000000000 energies that the file implies without holding them, expected at most 33554432",
            ),
            ("x 1 2 1 9\n2\n1 0 0 0 7", "f:3:9: found `7` after the last cost function, expected the end of the file"),
        ],
    );
}

/// Whatever breaks a `.cfn` file is refused with its place, what was found and what was expected.
#[test]
fn faults_of_cfn_are_named() {
    assert_refused(
        cfn::ENTRY,
        &[
            ("", "f:1:1: found an empty file, expected the bracket that opens the file's object"),
            ("problem", "f:1:1: found `problem`, expected the bracket that opens the file's object"),
            ("{problem {name p}", "f:1:17: found no bound, expected \"mustbe\" with < or > and a number"),
            ("{problem {p <nan}", "f:1:13: found `<nan` as bound, expected < or > and a finite number"),
            ("{{p <9} {x 2 x 2}", "f:1:14: found `x` as a variable for the second time, expected different names"),
            (
                "{{p <9} {x [a a]}",
                "f:1:15: found `a` as value 1 of variable 0, expected another name than that of value 0",
            ),
            ("{{p <9} {x []}", "f:1:13: found no value of variable 0, expected at least one"),
            ("{{p <9} {x 0}", "f:1:12: found `0` as a number of values, expected a number from 1 to 4294967295"),
            (
                "{{p <9} {x 1000000000000}",
                "f:1:12: found `1000000000000` as a number of values, expected a number from 1 to 4294967295",
            ),
            (
                "{{p <9} {x 1000000000} {}}",
                "f: found 1000000000 energies that the file implies without holding them, expected at most 33554432",
            ),
            (
                "{{p <9} {x 2} {f {[y]",
                "f:1:20: found `y` as a variable of function `f`, expected the name of a variable, or a number below 1",
            ),
            (
                "{{p <9} {x 2} {f {[1]",
                "f:1:20: found `1` as a variable of function `f`, expected the name of a variable, or a number below 1",
            ),
            (
                "{{p <9} {x 2 y 2 z 2} {{[x y z]",
                "f:1:30: found function 0 of more than two variables, expected at most 2: models here are pairwise",
            ),
            ("{{p <9} {x 2} {f {[x x]", "f:1:22: found `x` as a variable of function `f`, expected different ones"),
            ("{{p <9} {x 2} {f {[x] [1]}", "f:1:25: found 1 costs of function `f`, expected 2: one of each tuple"),
            (
                "{{p <9} {x 2} {f {[x] [1 2 3",
                "f:1:28: found more than 2 costs of function `f`, expected as many as it has tuples",
            ),
            ("{{p <9} {x 2} {f {[x] [1 inf", "f:1:26: found `inf` as cost 1 of function `f`, expected a finite number"),
            (
                "{{p <1000000000000000001.0} {x 2} {f {[x] [1000000000000000000 +1000000000000000001]",
                "f:1:44: found `1000000000000000000` as cost 0 of function `f`, expected one that a double tells from the bound of 1000000000000000001",
            ),
            (
                "{{p <9} {x 2} {f {[x] type salldiff",
                "f:1:23: found function `f` with a type, expected a table of costs: no global or arithmetic functions are read",
            ),
            (
                "{{p <9} {x 2} {f {[x] defaultcost 0 costs [b 3",
                "f:1:44: found `b` as a value of variable 0, expected the name of a value, or a number below 2",
            ),
            (
                "{{p <9} {x 2} {f {[x] costs g}}}",
                "f:1:29: found `g` in the place of costs, expected the name of a function with costs of its own",
            ),
            (
                "{{p <9} {x 2 y 3} {f {[x] costs g} g {[y] [0 0 0]}}}",
                "f:1:33: found a function on [2] labels with the costs of one on [3], expected the same numbers",
            ),
            (
                "{{p <9} {x 2} {f {[x] [1 2]}",
                "f:1:29: found the end of the file, expected the bracket that opens function 1",
            ),
            ("{{p <9} {x 2} {}} 5", "f:1:19: found `5`, expected the end of the file"),
            ("{{\"p", "f:1:3: found a quote that is not closed on its line, expected its end"),
        ],
    );
}

/// Whatever breaks a `.max` file is refused with its place, what was found and what was expected.
#[test]
fn faults_of_max_are_named() {
    let head = "p max 3 2\nn 1 s\nn 3 t\n";
    let with = |rest: &str| format!("{head}{rest}");
    let cases = [
        ("".into(), "f: found an empty file, expected `p max NODES ARCS` and arcs"),
        ("c hello\n".into(), "f: found only blank lines or comments, expected `p max NODES ARCS` and arcs"),
        ("p min 3 2\n".into(), "f:1:3: found `min` as kind of problem, expected max"),
        (
            "p max 1000000000000 2\n".into(),
            "f:1:7: found `1000000000000` as the number of nodes, expected a whole number below 2^32 - 1",
        ),
        (
            "p max 4000000000 1\nn 1 s\nn 2 t\na 1 2 3\n".into(),
            "f: found 4000000000 nodes and 1 arcs, expected at most 4194304 nodes without arcs",
        ),
        ("a 1 2 3\n".into(), "f:1:1: found an a line, expected `p max NODES ARCS` before it"),
        ("p max 3 2\np max 3 2\n".into(), "f:2:1: found a second p line, expected one"),
        ("p max 3 2 1\n".into(), "f:1:11: found `1` as another field, expected the end of the line"),
        ("p max 3 0\nn 1 s\n".into(), "f: found no sink in 2 lines, expected a line `n NODE t`"),
        ("p max 3 0\nn 1 t\n".into(), "f: found no source in 2 lines, expected a line `n NODE s`"),
        ("p max 3 0\nn 1 s\nn 1 t\n".into(), "f: found node 1 as source and sink, expected two nodes"),
        ("p max 3 0\nn 1 s\nn 2 s\n".into(), "f:3:1: found node 2 as another source beside 1, expected one"),
        ("p max 3 0\nn 4 s\n".into(), "f:2:3: found `4` as terminal, expected a node from 1 to 3"),
        ("p max 3 0\nn 1 x\n".into(), "f:2:5: found `x` as kind of terminal, expected s or t"),
        (with("a 1 2 -5\n"), "f:4:7: found `-5` as capacity, expected a finite number that is not negative"),
        (with("a 1 2 -0.5\n"), "f:4:7: found `-0.5` as capacity, expected a finite number that is not negative"),
        (with("a 1 2 nan\n"), "f:4:7: found `nan` as capacity, expected a finite number that is not negative"),
        (with("a 1 2 inf\n"), "f:4:7: found `inf` as capacity, expected a finite number that is not negative"),
        (with("a 1 4 5\n"), "f:4:5: found `4` as head, expected a node from 1 to 3"),
        (with("a 0 1 5\n"), "f:4:3: found `0` as tail, expected a node from 1 to 3"),
        (with("a 1 2\n"), "f:4:6: found the end of the line, expected a capacity"),
        (with("a 1 2 5 6\n"), "f:4:9: found `6` as another field, expected the end of the line"),
        (with("e 1 2 5\n"), "f:4:1: found `e` as line, expected one that begins with c, p, n or a"),
        (with("a 1 2 5\n"), "f: found the end of the file after 1 arcs (line 4), expected 2 as the p line says"),
        (with("a 1 2 5\na 2 3 5\na 1 3 5\n"), "f:6:1: found more arcs, expected 2 as the p line says"),
        (
            with("a 1 2 1.5\na 2 3 1e308\n").replace("1.5", "1.7e308"),
            "f: found capacities that add up to infinity, expected smaller ones",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(text, error): &(String, &str)| (text.as_str(), *error)).collect();
    assert_refused(dimacs::ENTRY, &cases);
}

/// A network without a path has the flow 0, and a model without a labelling is read as such: neither is a bad file.
#[test]
fn problems_without_a_solution() {
    for (text, sides) in [
        ("p max 2 0\nn 1 s\nn 2 t\n", "0 1"),
        ("p max 4 2\nn 1 s\nn 4 t\na 1 2 3\na 3 4 5\n", "0 0 . 1"),
        ("p max 2 1\nn 1 s\nn 2 t\na 2 1 9\n", "0 1"),
        ("p max 3 2\nn 1 s\nn 3 t\na 1 2 0\na 2 3 7\n", "0 . 1"),
    ] {
        let Ok(Instance::Flow(Flow::Whole(network))) = read_bytes(dimacs::ENTRY, text.as_bytes()) else {
            panic!("{text}")
        };
        let (mut cut, mut labels) = (network.cut(), Vec::new());
        assert_eq!(cut.solve(), 0);
        cut.labels(&mut labels);
        let fits = |(side, label): (&str, &u32)| side == "." || side == label.to_string();
        assert!(sides.split(' ').zip(&labels).all(fits), "{text}: {labels:?}");
    }
    for (format, text, size) in [
        (uai::ENTRY, "MARKOV 1 2 1 1 0 2 0 0", (1, 0)),
        (uai::ENTRY, "MARKOV 2 2 1 3 1 0 2 0 1 1 0 2 0 1 2 1 1 2 1 0", (2, 1)),
        (uai::ENTRY, "MARKOV 1 2 1 0 1 0", (1, 0)),
        (wcsp::ENTRY, "x 1 2 1 9\n2\n1 0 9 0", (1, 0)),
        (wcsp::ENTRY, "x 1 2 1 9\n2\n0 12 0", (1, 0)),
        (cfn::ENTRY, "{{p <9} {x 2} {f {[x] [9 10]}}}", (1, 0)),
    ] {
        let found = read_bytes(format, text.as_bytes());
        let Ok(Instance::Forbidden { variables, edges }) = found else { panic!("{text}: {found:?}") };
        assert_eq!((variables, edges), size, "{text}");
    }
}

const SAMPLES: [(ProblemFormat, &str); 5] = [
    (uai::ENTRY, "MARKOV\n3\n2 3 1\n4\n1 0\n2 1 0\n0\n2 1 2\n2\n 0.4 0.6\n6\n 1 0 .5\n 2 1e-3 3\n1 7\n3\n 1 1 2\n"),
    (wcsp::ENTRY, "name 3 3 5 100\n2 3 1\n-2 0 1 7 2\n0 2 100\n1 0 -3\n2 0 1 7 -1\n1 1 0 1\n2 5\n0 4 0\n2 2 0 3 0\n"),
    (
        cfn::ENTRY,
        "{ \"problem\": { \"name\": \"p\", \"mustbe\": \"<100.0\" },\n \"variables\": { \"x\": [\"a\", \"b\"], y: 3 },\n \"functions\": {\n  \"f\": { \"scope\": [\"x\"], \"costs\": [0.5, -1.25] },\n  g { scope [x y] defaultcost 2 costs [a 1 100 1 2 -7] },\n  [[0, y] costs g] } }\n",
    ),
    (dimacs::ENTRY, "c sample\np max 4 5\nn 1 s\nn 4 t\na 1 2 5\na 2 3 4\na 3 2 1\na 3 4 7\na 1 4 1\n"),
    (dimacs::ENTRY, "p max 3 3\nn 2 s\nn 3 t\na 2 1 2.5\na 1 3 1e1\na 1 1 3\n"),
];

const RUBBISH: [&[u8]; 16] = [
    b"-1",
    b"nan",
    b"\0",
    b"1e999",
    b"\n",
    b" ",
    b"\xff",
    b"99999999999999999999",
    b"{",
    b"]",
    b"\"",
    b"#",
    b"\xc3\xa9",
    b"1000000",
    b"a 1 2 3\n",
    b"3 0 1",
];

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.within(1, 4) {
        let at = random.within(0, bytes.len());
        let to = (at + random.within(0, 8)).min(bytes.len());
        match random.within(0, 5) {
            0 => drop(bytes.drain(at..to)),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, random.bits() as u8),
            3 if at < bytes.len() => bytes[at] ^= 1 << random.within(0, 7),
            4 => {
                let again = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, again));
            }
            _ => drop(bytes.splice(at..at, RUBBISH[random.within(0, RUBBISH.len() - 1)].to_vec())),
        }
    }
}

/// No damage to a file makes a reader panic, and what a reader accepts can be solved or asked for its energy.
#[test]
fn mutated_files_never_panic() {
    let mut accepted = [0; SAMPLES.len()];
    const CASES: usize = 4_000;
    for seed in 0..CASES * SAMPLES.len() {
        let mut random = Random(seed as u64);
        let which = seed % SAMPLES.len();
        let (format, text) = SAMPLES[which];
        let mut bytes = text.as_bytes().to_vec();
        if random.chance(0.2) {
            bytes = gzip(&bytes);
        }
        mutate(&mut random, &mut bytes);
        match read_bytes(format, &bytes) {
            Err(error) => {
                let (text, message) = (error.to_string(), error.message());
                assert!(message.starts_with("found ") && message.contains(", "), "seed {seed}: {text}");
            }
            Ok(Instance::Mrf(mrf)) => {
                let labels = vec![0; mrf.nodes()];
                assert!(!mrf.energy(&labels).is_nan(), "seed {seed}");
                accepted[which] += 1;
            }
            Ok(Instance::Forbidden { .. }) => accepted[which] += 1,
            Ok(Instance::Flow(Flow::Whole(network))) => {
                assert!(network.cut().solve() >= 0, "seed {seed}");
                accepted[which] += 1;
            }
            Ok(Instance::Flow(Flow::Real(network))) => {
                assert!(network.cut().solve() >= 0.0, "seed {seed}");
                accepted[which] += 1;
            }
        }
    }
    // Otherwise the mutations are so crude that the readers' insides are never reached.
    assert!(accepted.iter().all(|&count| (CASES / 50..CASES * 9 / 10).contains(&count)), "{accepted:?} accepted");
}

/// Files that are cut short anywhere are refused, plain and gzip, but for the few places where nothing is missed.
#[test]
fn cut_files_are_refused() {
    for (format, text) in SAMPLES {
        let whole = gzip(text.as_bytes());
        for end in 0..whole.len() {
            let error = read_bytes(format, &whole[..end]).err().unwrap_or_else(|| panic!("{format:?} cut at {end}"));
            assert!(end < 2 || error.to_string().contains("gzip data that is cut off"), "{format:?} {end}: {error}");
        }
        let last = text.trim_end().len() - text.trim_end().rsplit([' ', '}']).next().unwrap().len();
        for end in 0..last {
            assert!(read_bytes(format, &text.as_bytes()[..end]).is_err(), "{format:?}: {:?}", &text[..end]);
        }
    }
}
