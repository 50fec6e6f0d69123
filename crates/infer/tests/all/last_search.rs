//! TRW-S with and without its last search.

use crate::common::{Random, random_graph};
use crate::models::{Traits, random_model};
use multiplane_infer::Engine;
use multiplane_infer::engine::unwatched;
use multiplane_infer::trws::Trws;

/// Without the last search bounds are the same, no labelling is better, and some solves come to a worse one; a longer
/// search is not made either.
#[test]
fn the_last_search_can_be_left_out() {
    let (mut worse, mut labels) = (0, Vec::new());
    for seed in 0..400 {
        let mut random = Random(seed);
        let nodes = random.within(10, 20);
        let ends = random_graph(&mut random, nodes, 0.5);
        let traits = Traits::random(&mut random);
        let mrf = random_model(&mut random, nodes, &ends, traits);
        let (mut with, mut without) = (Trws::default(), Trws::default());
        without.search = 20;
        (with.max_iterations, without.max_iterations, without.last_search) = (10, 10, false);
        let with = with.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let without = without.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        assert_eq!(without.energy, mrf.energy(&labels), "seed {seed}");
        assert!(with.energy <= without.energy && with.iterations == without.iterations, "seed {seed}");
        if !with.is_exact() && !without.is_exact() {
            assert_eq!(with.bound, without.bound, "seed {seed}");
        }
        worse += usize::from(with.energy < without.energy);
    }
    assert!(worse > 10, "{worse} solves were worse");
}
