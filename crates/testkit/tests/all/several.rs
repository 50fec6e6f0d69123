//! What every built-in task knows beside its best labellings, against enumeration on random small problems.

use multiplane_core::oracle::{Ability, MaxOracle};
use multiplane_tasks::builtin::graph::{self, GraphSpec, Pairwise};
use multiplane_tasks::builtin::mrf::{self, MrfSpec};
use multiplane_tasks::registry::{TASKS, find, need_several};
use multiplane_testkit::several::Looked;
use multiplane_testkit::small;

/// Chains, classes, sets and trees: all is exact.
#[test]
fn rows_chains_sets_and_trees() {
    let mut looked = Looked::default();
    for seed in 0..300 {
        looked += small::random(seed).check_several(seed);
        looked += small::random_sets(seed).check_several(seed);
        looked += small::tree(seed).check_several(seed);
    }
    assert_eq!(looked.unproven, 0, "{looked:?}");
    assert!(looked.lists > 10_000 && looked.apart > 3_000 && looked.margins > 3_000, "{looked:?}");
}

/// Sentences whose trees are to be found.
#[test]
fn arborescences() {
    let mut looked = Looked::default();
    for seed in 0..120 {
        looked += small::arborescence(seed, 4).check_several(seed);
    }
    assert_eq!(looked.unproven, 0, "{looked:?}");
    assert!(looked.lists > 5_000 && looked.apart > 1_500 && looked.margins > 1_500, "{looked:?}");
}

/// Graphs by every engine, with fixed costs and without, tables, nodes without a label: exact where the engine is, and
/// honest where it is not.
#[test]
fn graphs() {
    use graph::GraphInference::{Auto, Brute, Expansion, MinCut, Trws};
    for (inference, pairwise) in [
        (Auto, Pairwise::Cut),
        (Auto, Pairwise::Full),
        (Brute, Pairwise::Full),
        (Expansion, Pairwise::Cut),
        (Trws, Pairwise::Cut),
        (Trws, Pairwise::Full),
        (MinCut, Pairwise::Cut),
    ] {
        let mut looked = Looked::default();
        for seed in 0..60 {
            let spec =
                GraphSpec { pairwise, inference, potts: [0.0, 0.7][(seed % 2) as usize], ..GraphSpec::default() };
            let (problem, _) = small::graph_of(seed, &spec, [0, 3][(seed / 2 % 2) as usize]);
            if inference != MinCut || problem.dim == 2 * 3 + 2 {
                looked += problem.check_several(seed); // a cut needs two labels
            }
        }
        let exact = matches!(inference, Auto | Brute | MinCut);
        assert_eq!(looked.unproven == 0, exact, "{inference:?}, {pairwise:?}: {looked:?}");
        assert_eq!(looked.margins > 300, exact, "{inference:?}, {pairwise:?}: {looked:?}");
        assert!(looked.lists > 300 && looked.apart > 100, "{inference:?}, {pairwise:?}: {looked:?}");
    }
}

/// Pairwise models by every engine.
#[test]
fn pairwise_models() {
    use mrf::MrfInference::{Auto, Brute, Trws};
    for inference in [Auto, Brute, Trws] {
        let mut looked = Looked::default();
        for seed in 0..100 {
            looked += small::mrf(seed, &MrfSpec { inference, ..MrfSpec::default() }).check_several(seed);
        }
        let exact = inference != Trws;
        assert_eq!(looked.unproven == 0, exact, "{inference:?}: {looked:?}");
        assert_eq!(looked.margins > 1_000, exact, "{inference:?}: {looked:?}");
        assert!(looked.lists > 1_000 && looked.apart > 500, "{inference:?}: {looked:?}");
    }
}

/// No task that the registry says this of is left out above, and users are told of all that are in.
#[test]
fn every_task_that_lists_is_held_against_enumeration() {
    let graph = small::graph(1, &GraphSpec::default()).0;
    let mut held: Vec<_> = (0..3).map(small::random).collect();
    held.extend([small::random_sets(1), small::tree(1), small::mrf(1, &MrfSpec::default()), graph]);
    let mut names: Vec<&str> = held.iter().filter_map(|problem| problem.name.split(',').next()).collect();
    let mut told: Vec<&str> = TASKS.iter().filter(|entry| entry.several).map(|entry| entry.name).collect();
    names.sort_unstable();
    told.sort_unstable();
    assert_eq!(names, told);
    assert!(need_several("chain", "--top").is_ok());
    let refused = need_several("external", "--top").unwrap_err();
    assert!(
        refused.starts_with("--top: task `external`") && names.iter().all(|name| refused.contains(name)),
        "{refused}"
    );
}

/// What the registry says of sums over labellings is what oracles of the tasks can do.
#[test]
fn the_registry_knows_which_tasks_sum_over_labellings() {
    let graph = small::graph(1, &GraphSpec::default()).0;
    let mut held: Vec<_> = (0..3).map(small::random).collect();
    held.extend([small::random_sets(1), small::mrf(1, &MrfSpec::default()), small::tree(1), graph]);
    for problem in held {
        let task = problem.name.split(',').next().unwrap();
        let sums = problem.oracle().capabilities().is_some_and(|known| Ability::Marginals.is_had_by(known));
        assert_eq!(find(task).unwrap().has(Ability::Marginals), sums, "{}", problem.name);
    }
}
