//! Engines reuse their buffers: counted by the allocator.

mod common;
#[path = "common/counting.rs"]
mod counting;
mod models;

use common::{Random, random_forest, random_graph};
use counting::allocations;
use models::{Traits, random_model, redraw_unary};
use multiplane_infer::engine::unwatched;
use multiplane_infer::{Engine, tree::Tree, trws::Trws};

/// A solve of a model of the same shape, with other energies, allocates nothing once the engine is warm. (One test
/// function: the counter is global.)
#[test]
fn solves_do_not_allocate_when_warm() {
    for (name, mut engine) in [("tree", Box::new(Tree::default()) as Box<dyn Engine>), ("trws", Box::<Trws>::default())]
    {
        let mut random = Random(3);
        let ends = match name {
            "tree" => random_forest(&mut random, 30, 0.1),
            _ => random_graph(&mut random, 30, 0.2),
        };
        let traits = Traits { integral: false, forbids: false };
        let mut mrf = random_model(&mut random, 30, &ends, traits);
        let mut labels = Vec::new();
        for solve in 0..20 {
            let before = allocations();
            engine.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let allocated = allocations() - before;
            // The first solves meet the largest of what is drawn at random.
            assert!(allocated == 0 || solve < 10, "{name}, solve {solve}: {allocated} allocations");
            for node in 0..30 {
                redraw_unary(&mut random, &mut mrf, node, traits);
            }
        }
    }
}
