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
