//! Readers and writers of problem files: what is written reads back the same, and files in the wild mean what they
//! should.

mod common;
#[path = "../../testkit/tests/common/real_data.rs"]
mod real_data;

use std::path::Path;

use common::{Random, random_graph, random_nodes, random_table};
use multiplane_infer::engine::unwatched;
use multiplane_infer::file::{DataError, Source};
use multiplane_infer::format::flow::Flow;
use multiplane_infer::format::{self, Instance, ProblemFormat, cfn, dimacs, uai, wcsp};
use multiplane_infer::{Engine, Mrf, Term, brute::Brute};
use real_data::file;

fn read_bytes(format: ProblemFormat, bytes: &[u8]) -> Result<Instance, DataError> {
    (format.read)(Source::from_bytes("f", bytes)?)
}

/// A model of a few nodes with all kinds of terms, weights and, if so, forbidden labels and pairs.
fn random_model(random: &mut Random, integral: bool) -> Mrf {
    let nodes = random.within(0, 4);
    let mut mrf = random_nodes(random, nodes, integral, |random| random.within(1, 4));
    for node in 0..nodes as u32 {
        if mrf.labels(node) > 1 && random.chance(0.3) {
            let mut unary = mrf.unary(node).to_vec();
            let at = random.within(0, unary.len() - 1);
            unary[at] = f64::INFINITY;
            mrf.set_unary(node, &unary).unwrap();
        }
    }
    for (tail, head) in random_graph(random, nodes, 0.7) {
        let term = match random.within(0, 4) {
            0 => Term::Potts,
            1 => Term::Linear { cap: random.within(1, 3) as f64 },
            2 => Term::Quadratic { cap: f64::INFINITY },
            _ => random_table(random, &mrf, tail, head, integral),
        };
        let weight = random.within(1, 3) as f64;
        let term = mrf.add_term(term).unwrap();
        mrf.add_edge(tail, head, term, weight).unwrap();
    }
    if random.chance(0.5) {
        mrf.add_constant(random.energy(integral) * 1000.0).unwrap();
    }
    mrf
}

/// All labellings of a small model.
fn labellings(mrf: &Mrf) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for node in 0..mrf.nodes() as u32 {
        let labels = 0..mrf.labels(node) as u32;
        all = all
            .iter()
            .flat_map(|front| labels.clone().map(move |label| [front.as_slice(), &[label]].concat()))
            .collect();
    }
    all
}

fn read_again(format: ProblemFormat, text: &[u8], what: &str) -> Mrf {
    match read_bytes(format, text) {
        Ok(Instance::Mrf(mrf)) => mrf,
        other => panic!("{what}: {other:?}\n{}", String::from_utf8_lossy(text)),
    }
}

fn assert_same_energies(one: &Mrf, other: &Mrf, tolerance: f64, what: &str) {
    assert_eq!((one.nodes(), one.edges().len()), (other.nodes(), other.edges().len()), "{what}");
    for labels in labellings(one) {
        let (a, b) = (one.energy(&labels), other.energy(&labels));
        assert!(a == b || (a - b).abs() <= tolerance * (1.0 + a.abs()), "{what}: {labels:?} costs {a}, then {b}");
    }
}

/// Every labelling costs the same after writing and reading: to the last bit in .cfn and, where all is integral, in
/// .wcsp; but for rounding of logarithms in .uai.
#[test]
fn models_survive_writing() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let integral = random.chance(0.5);
        let mrf = random_model(&mut random, integral);
        let what = |format: &str| format!("seed {seed}, {format}");
        let mut text = Vec::new();
        cfn::write(&mrf, None, &mut text).unwrap();
        assert_same_energies(&mrf, &read_again(cfn::ENTRY, &text, &what("cfn")), 0.0, &what("cfn"));
        text.clear();
        cfn::write(&mrf, Some(6), &mut text).unwrap();
        assert_same_energies(
            &mrf,
            &read_again(cfn::ENTRY, &text, &what("cfn of 6 digits")),
            1e-5,
            &what("cfn of 6 digits"),
        );
        text.clear();
        uai::write(&mrf, &mut text).unwrap();
        assert_same_energies(&mrf, &read_again(uai::ENTRY, &text, &what("uai")), 1e-13, &what("uai"));
        text.clear();
        match wcsp::write(&mrf, &mut text) {
            Ok(()) => assert_same_energies(&mrf, &read_again(wcsp::ENTRY, &text, &what("wcsp")), 0.0, &what("wcsp")),
            Err(error) => assert!(!mrf.is_integral(), "{}: {error}", what("wcsp")),
        }
    }
}

/// What a format cannot hold is refused by its writer, not rounded.
#[test]
fn writers_refuse_what_would_be_lost() {
    let mut mrf = Mrf::new();
    mrf.add_node(&[0.0, 800.0]).unwrap();
    assert!(uai::write(&mrf, &mut Vec::new()).is_err(), "exp(-800) is 0");
    assert!(wcsp::write(&mrf, &mut Vec::new()).is_ok());
    mrf.set_unary(0, &[0.5, 0.0]).unwrap();
    assert!(wcsp::write(&mrf, &mut Vec::new()).is_err(), "0.5 is no integer");
    mrf.set_unary(0, &[0.0, 1e16]).unwrap();
    assert!(wcsp::write(&mrf, &mut Vec::new()).is_err(), "above 2^53");
}

/// A network is the same after writing and reading, and its flow the smallest of all cuts, with terminals anywhere,
/// parallel and opposite arcs, loops and arcs that no flow can use.
#[test]
fn networks_survive_writing() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let nodes = random.within(2, 7);
        let source = random.within(1, nodes);
        let sink = (source + random.within(0, nodes - 2)) % nodes + 1;
        let mut arcs: Vec<(usize, usize, usize)> = (0..random.within(0, 20))
            .map(|_| (random.within(1, nodes), random.within(1, nodes), random.within(0, 9)))
            .collect();
        arcs.push((source, sink, random.within(1, 2))); // without any path the file would be refused
        let scale = if random.chance(0.5) { "" } else { ".5" };
        let mut text = format!("c\np max {nodes} {}\nn {source} s\nn {sink} t\n", arcs.len());
        arcs.iter().for_each(|(tail, head, capacity)| text += &format!("a {tail} {head} {capacity}{scale}\n"));
        let half = if scale.is_empty() { 0.0 } else { 0.5 };
        let smallest = (0..1u32 << nodes)
            .filter(|set| set >> (source - 1) & 1 == 1 && set >> (sink - 1) & 1 == 0)
            .map(|set| {
                let crosses = |&&(tail, head, _): &&(usize, usize, usize)| {
                    set >> (tail - 1) & 1 == 1 && set >> (head - 1) & 1 == 0
                };
                arcs.iter().filter(crosses).map(|arc| arc.2 as f64 + half).sum::<f64>()
            })
            .fold(f64::INFINITY, f64::min);
        let Ok(Instance::Flow(flow)) = read_bytes(dimacs::ENTRY, text.as_bytes()) else {
            panic!("seed {seed}: {text}")
        };
        let mut copy = Vec::new();
        let mut labels = Vec::new();
        let found = match &flow {
            Flow::Whole(network) => {
                dimacs::write(network, &mut copy).unwrap();
                let mut cut = network.cut();
                let flow = cut.solve() as f64;
                cut.labels(&mut labels);
                flow
            }
            Flow::Real(network) => {
                dimacs::write(network, &mut copy).unwrap();
                let mut cut = network.cut();
                let flow = cut.solve();
                cut.labels(&mut labels);
                flow
            }
        };
        assert_eq!(found, smallest, "seed {seed}: {text}");
        let crosses = |&&(tail, head, _): &&(usize, usize, usize)| labels[tail - 1] == 0 && labels[head - 1] == 1;
        let cut: f64 = arcs.iter().filter(crosses).map(|arc| arc.2 as f64 + half).sum();
        assert_eq!((cut, labels[source - 1], labels[sink - 1]), (smallest, 0, 1), "seed {seed}: {text}");
        let Ok(Instance::Flow(again)) = read_bytes(dimacs::ENTRY, &copy) else { panic!("seed {seed}") };
        match (&flow, &again) {
            (Flow::Real(_), Flow::Whole(network)) => assert_eq!(network.cut().solve() as f64, smallest, "seed {seed}"),
            _ => assert!(again == flow, "seed {seed}: {text}\n{}", String::from_utf8_lossy(&copy)),
        }
    }
}

fn model(format: ProblemFormat, text: &str) -> Mrf {
    read_again(format, text.as_bytes(), text)
}

/// Entries are factors, the last variable's label changes fastest, 0 forbids, a table without variables counts for all.
#[test]
fn uai_means_products() {
    let mrf = model(uai::ENTRY, "markov 2 2 3 4 0 1 1 2 1 0 1 1\n1 0.5 3 1 1 0 6 1 2 3 4 5 6 3 1 0.25 1");
    // A constant of 0.5, variable 1's own factor, and the table's row by variable 1.
    for (labels, product) in
        [([0, 0], 0.5 * 1.0), ([1, 0], 0.5 * 2.0), ([0, 1], 0.5 * 3.0 * 0.25), ([1, 1], 0.5 * 4.0 * 0.25)]
    {
        assert!((mrf.energy(&labels) + f64::ln(product)).abs() < 1e-15, "{labels:?}");
    }
    assert_eq!(mrf.energy(&[0, 2]), f64::INFINITY);
}

/// Defaults, tuples, shared functions and the upper bound, on the example of toulbar2's documentation: four variables
/// that must all differ.
#[test]
fn wcsp_shares_costs_and_forbids() {
    let text = "AllDifferent 4 4 6 1\n4 4 4 4\n-2 0 1 0 4\n0 0 1\n1 1 1\n2 2 1\n3 3 1\n2 0 2 0 -1\n2 0 3 0 -1\n2 1 2 0 -1\n2 1 3 0 -1\n2 2 3 0 -1\n";
    let mrf = model(wcsp::ENTRY, text);
    assert_eq!((mrf.edges().len(), mrf.terms().len()), (6, 1), "one table serves all");
    for labels in labellings(&mrf) {
        let distinct = (0..4).all(|label| labels.contains(&label));
        assert_eq!(mrf.energy(&labels), if distinct { 0.0 } else { f64::INFINITY }, "{labels:?}");
    }
    let mrf = model(wcsp::ENTRY, "x 2 3 3 10 3 2 0 7 0\n-1 0 4 1\n2 10\n1 1 -3 1 0 9\n");
    assert_eq!((mrf.energy(&[0, 0]), mrf.energy(&[1, 1])), (7.0 + 4.0 + 9.0, 7.0 + 4.0 - 3.0));
    assert_eq!(mrf.energy(&[2, 0]), f64::INFINITY);
}

/// Upper bounds beyond 2^53, which toulbar2 likes, are compared with exactly.
#[test]
fn large_bounds_forbid_what_reaches_them() {
    let mrf =
        model(wcsp::ENTRY, "x 1 4 1 1000000000000000001\n4\n1 0 9007199254740992 2\n1 1000000000000000001\n2 3\n");
    assert_eq!(mrf.unary(0), [9007199254740992.0, f64::INFINITY, 3.0, 9007199254740992.0]);
    let mrf = model(cfn::ENTRY, "{{p <1000000000000000001.0} {x 3} {{[x] [+1000000000000000001 2e18 9e17]}}}");
    assert_eq!(mrf.unary(0), [f64::INFINITY, f64::INFINITY, 9e17]);
}

/// The free forms of .cfn: names or indices, quotes or none, defaults with tuples, costs of a later function, and
/// maximisation.
#[test]
fn cfn_in_all_its_forms() {
    let named = r#"{ "problem": { "name": "p", "mustbe": "<100.0" },
# a comment
      "variables": { "x": ["low", "high"], "y": 3 },
      "functions": {
        "i": { "scope": ["x", "y"], "costs": "g" },
        "f": { "scope": ["x"], "costs": [0.5, -1.25] },
        "g": { "scope": ["x", "y"], "costs": [0, 1, 2, 1, 0, 1] },
        "h": { "scope": ["x", "y"], "defaultcost": 0, "costs": ["high", 2, 100.0, 0, 1, 4] },
        { "scope": [], "costs": [10] } } }"#;
    let bare = "{{p <100} [2 3] [[[0 1] costs g] [[0] [0.5 -1.25]] g{scope[0 1] costs [0 1 2 1 0 1]} {[0 1] defaultcost 0 [1 2 100 0 1 4]} {[] [10]}]}";
    let expected = |x: usize, y: usize| {
        let table = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]];
        let sparse = [[0.0, 4.0, 0.0], [0.0, 0.0, f64::INFINITY]];
        10.0 + [0.5, -1.25][x] + 2.0 * table[x][y] + sparse[x][y]
    };
    for text in [named, bare] {
        let mrf = model(cfn::ENTRY, text);
        for labels in labellings(&mrf) {
            assert_eq!(mrf.energy(&labels), expected(labels[0] as usize, labels[1] as usize), "{labels:?} of {text}");
        }
    }
    let most = model(cfn::ENTRY, "{{p >0} {x 3} {{[x] [5 0 7.5]}}}");
    assert_eq!(most.unary(0), [-5.0, f64::INFINITY, -7.5], "0 is not above the bound");
}

/// The ending of the name tells the format, whatever its case and with .gz; else the first word does.
#[test]
fn formats_are_found() {
    for (name, format) in [
        ("a.uai", Some("uai")),
        ("a/b.WCSP.gz", Some("wcsp")),
        ("c.cfn.gz", Some("cfn")),
        ("d.x.max", Some("max")),
        ("max", None),
        ("e.txt.gz", None),
    ] {
        assert_eq!(format::of_path(Path::new(name)).map(|format| format.name), format, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("problem.txt");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        format::read(&path)
    };
    for text in ["\n MARKOV 1 2 0", "bayes 1 2 0", "{{p <9} {2} {}}"] {
        assert!(matches!(read(text), Ok(Instance::Mrf(_))), "{text}");
    }
    for text in ["c hello\np max 2 1\nn 1 s\nn 2 t\na 1 2 0\n", "p max 2 1\nn 1 s\nn 2 t\na 1 2 3\n"] {
        assert!(matches!(read(text), Ok(Instance::Flow(_))), "{text}");
    }
    let error = read("\nIt was").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(2), Some(1)));
    assert!(error.message().starts_with("found `It` as first word, expected a problem of a known format"), "{error}");
    assert!(format::FORMATS.iter().all(|format| error.message().contains(&format!(".{} (", format.name))), "{error}");
    assert!(read("").unwrap_err().message().starts_with("found an empty file, expected a problem"));
}

/// Equal tables are kept once, and tables of 0 and one number are Potts terms.
#[test]
fn equal_tables_are_shared() {
    let head = "MARKOV 4 2 2 2 2 3 2 0 1 2 1 2 2 2 3\n";
    let mrf = model(uai::ENTRY, &format!("{head} 4 1 2 3 4 4 1 2 3 4 4 1 2 3 5"));
    assert_eq!((mrf.edges().len(), mrf.terms().len()), (3, 2));
    let mrf = model(uai::ENTRY, &format!("{head} 4 1 .5 .5 1 4 1 .25 .25 1 4 1 2 2 1"));
    let terms: Vec<bool> = mrf.edges().iter().map(|edge| *mrf.term(edge) == Term::Potts).collect();
    assert_eq!((terms, mrf.terms().len()), (vec![true, true, false], 2), "2 rewards what differs: no Potts term");
    let answer = Brute.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
    assert!((answer.energy + 2.0_f64.ln()).abs() < 1e-15);
}

fn read_mrf(path: &Path) -> Mrf {
    match format::read(path) {
        Ok(Instance::Mrf(mrf)) => mrf,
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// Every model of the public set has the sizes that its list gives, and its optimal labelling the energy that was
/// proven there, to 1e-6.
#[test]
fn optima_of_uai_models() {
    let Some(list) = file("optima_of_uai_models", "mrf/optima.tsv") else { return };
    let text = std::fs::read_to_string(&list).unwrap();
    let mut seen = 0;
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let path = list.with_file_name(format!("{}.gz", fields[0]));
        let mrf = read_mrf(&path);
        let expected = |at: usize| fields[at].parse::<usize>().unwrap();
        assert_eq!(
            (mrf.nodes(), mrf.most_labels(), mrf.edges().len()),
            (expected(1), expected(2), expected(4)),
            "{row}"
        );
        let labels = std::fs::read_to_string(list.with_file_name(format!("{}.sol", fields[0]))).unwrap();
        let labels: Vec<u32> = labels.split_ascii_whitespace().map(|label| label.parse().unwrap()).collect();
        let optimum: f64 = fields[8].parse().unwrap();
        assert!((mrf.energy(&labels) - optimum).abs() < 1e-6, "{row}: found {}", mrf.energy(&labels));
        seen += 1;
    }
    assert!(seen > 40, "only {seen}");
}

/// Optimal labellings of the models of other formats, as an independent solver found and proved them, cost what it
/// says.
#[test]
fn optima_of_cost_networks() {
    for (name, optimum, labels) in [
        (
            "celar6sub0.wcsp",
            159.0,
            "24 35 19 8 20 9 37 26 29 20 9 0 26 35 14 5 18 27 16 7 18 27 0 9 36 25 12 1 32 43 16 5",
        ),
        (
            "1aho.cfn",
            -33.729920,
            "0 32 14 0 1 0 1 0 0 2 8 2 39 2 2 0 0 34 0 0 1 2 11 20 3 2 4 35 0 23 0 21 10 0 1 1 50 4 0 36 2 10 0 2 0 1 9 3 \
             0 18 0 2 7 0 1 23 8 14 0 0 0 4 1 19",
        ),
    ] {
        let Some(path) = file("optima_of_cost_networks", &format!("mrf/toulbar2/{name}.gz")) else { return };
        let mrf = read_mrf(&path);
        let labels: Vec<u32> = labels.split_ascii_whitespace().map(|label| label.parse().unwrap()).collect();
        assert!((mrf.energy(&labels) - optimum).abs() < 1e-9, "{name}: found {}", mrf.energy(&labels));
    }
}

/// The flows of the public networks.
#[test]
fn flows_of_networks() {
    for (name, nodes, expected) in [("gl1", 1116, 156545), ("wlm3", 1026, 11875108)] {
        let Some(path) = file("flows_of_networks", &format!("maxflow/{name}.max.gz")) else { return };
        let Ok(Instance::Flow(Flow::Whole(network))) = format::read(&path) else { panic!("{name}") };
        assert_eq!((network.nodes(), network.cut().solve()), (nodes, expected), "{name}");
    }
}

/// Writes each named file in the other formats, for other programs to read: `FILES` holds paths, divided by colons.
#[test]
#[ignore = "a tool for comparing with other solvers"]
fn convert() {
    for path in std::env::var("FILES").unwrap().split(':') {
        let mrf = read_mrf(Path::new(path));
        for (ending, write) in [
            ("uai", uai::write as fn(&Mrf, &mut dyn std::io::Write) -> _),
            ("wcsp", wcsp::write),
            ("cfn", |mrf, out| cfn::write(mrf, Some(9), out)),
        ] {
            let mut text = Vec::new();
            match write(&mrf, &mut text) {
                Ok(()) => std::fs::write(format!("{path}.{ending}"), text).unwrap(),
                Err(error) => println!("{path}.{ending}: {error}"),
            }
        }
    }
}
