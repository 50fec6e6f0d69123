//! Every built-in oracle against enumeration, on random small problems.

use multiplane_testkit::contract::check_oracle;
use multiplane_testkit::small;

/// Chain, multiclass, binary, multilabel and tree, with all losses, weights of classes and labels, ends, empty sequences, zero
/// features, one label, pairs with cycles and without.
#[test]
fn oracles_equal_enumeration() {
    for seed in 0..600 {
        check_oracle(&small::random(seed), seed);
        check_oracle(&small::random_sets(seed), seed);
        check_oracle(&small::tree(seed), seed);
    }
}

/// Sentences of up to six words, whose trees are all written down.
#[test]
fn arborescences_equal_enumeration() {
    (0..300).for_each(|seed| check_oracle(&small::arborescence(seed, 4), seed));
    (0..4).for_each(|seed| check_oracle(&small::arborescence(seed, 6), seed));
}
