//! Sums over labellings of every task that has them, against enumeration.

use multiplane_testkit::marginals::check_marginals;
use multiplane_testkit::small;

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
