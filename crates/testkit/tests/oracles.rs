//! Every built-in oracle against enumeration, on random small problems.

use multiplane_testkit::contract::check_oracle;
use multiplane_testkit::small;

/// Chain, multiclass and binary, with all losses, class weights, ends, empty sequences, zero features, one label.
#[test]
fn oracles_equal_enumeration() {
    for seed in 0..600 {
        check_oracle(&small::random(seed), seed);
    }
}
