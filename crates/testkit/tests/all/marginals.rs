//! Sums over labellings of every task that has them, against enumeration.

use multiplane::dataset::Dataset;
use multiplane::{RunOptions, RunSpec, Session, synth};
use multiplane_tasks::builtin::graph::{GraphSpec, Pairwise};
use multiplane_tasks::builtin::mrf::MrfSpec;
use multiplane_testkit::marginals::check_marginals;
use multiplane_testkit::small;
use serde_json::json;

/// Chains, classes, two labels.
#[test]
fn marginals_equal_enumeration() {
    (0..150).for_each(|seed| check_marginals(&small::random(seed), seed));
}

/// Sets of labels, with pairs that make forests and cycles.
#[test]
fn marginals_of_sets_equal_enumeration() {
    (0..80).for_each(|seed| check_marginals(&small::random_sets(seed), seed));
}

/// Labels of the nodes of trees, with edges of two types.
#[test]
fn marginals_of_trees_equal_enumeration() {
    (0..100).for_each(|seed| check_marginals(&small::tree(seed), seed));
}

/// Sentences whose trees are to be found.
#[test]
fn marginals_of_arborescences_equal_enumeration() {
    (0..100).for_each(|seed| check_marginals(&small::arborescence(seed, 4), seed));
    (0..3).for_each(|seed| check_marginals(&small::arborescence(seed, 6), seed));
}

/// Graphs and models with and without cycles, nodes without a label, fixed costs, and pairs of any sign.
#[test]
fn marginals_of_graphs_equal_enumeration() {
    let full = GraphSpec { pairwise: Pairwise::Full, potts: 0.3, ..GraphSpec::default() };
    for spec in [GraphSpec::default(), full] {
        for (seed, unlabelled) in (0..80).flat_map(|seed| [(seed, 0), (seed, 3)]) {
            check_marginals(&small::graph_of(seed, &spec, unlabelled).0, seed);
        }
    }
    (0..150).for_each(|seed| check_marginals(&small::mrf(seed, &MrfSpec::default()), seed));
}

/// Graphs with cycles and too many labellings are refused before the first step, with the example and the rule.
#[test]
fn large_graphs_with_cycles_are_refused() {
    let data = [
        ("graph", Dataset::new(synth::synthetic_graphs(3, 0))),
        ("mrf", Dataset::new(synth::synthetic_rotamers(3, 0))),
    ];
    for ((task, data), solver) in data.into_iter().zip(["bcpl", "eg"]) {
        let spec = json!({"task": {"name": task}, "solver": solver});
        let session = Session::on(RunSpec::from_tree(spec.as_object().unwrap()).unwrap(), data, None).unwrap();
        let told = session.run(RunOptions::default()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("on example ") && told.contains("more than 65536 labellings: sums over lab"), "{told}");
    }
}
