//! Marginals and arborescences reuse their buffers: counted by the allocator.

mod common;
#[path = "common/counting.rs"]
mod counting;
mod models;

use common::{Random, random_forest};
use counting::allocations;
use models::{Traits, random_model, redraw_unary};
use multiplane_infer::arborescence::{Arborescence, EdgeMarginals, HeadScores, MatrixTree};
use multiplane_infer::chain::ChainView;
use multiplane_infer::marginals::{ChainMarginals, ForwardBackward, Marginals, SumProduct, Transitions};
use multiplane_infer::score_tree::{ROOT, ScoreTree, TreeShape, TreeView};
use multiplane_infer::several::{SeveralMemory, diverse_with};
use multiplane_infer::tree::Tree;
use multiplane_infer::viterbi::Viterbi;

/// A second call on a problem of the same shape, with other numbers and of a size that sends it another way, allocates
/// nothing. (One test function: the counter is global.)
#[test]
fn calls_do_not_allocate_when_warm() {
    let mut random = Random(1);
    let (mut engine, mut transitions, mut chain) =
        (ForwardBackward::default(), Transitions::default(), ChainMarginals::default());
    let (mut viterbi, mut best) = (Viterbi::default(), Vec::new());
    let (mut tree, mut theorem, mut heads, mut edges) =
        (Arborescence::default(), MatrixTree::default(), Vec::new(), EdgeMarginals::default());
    let ends = random_forest(&mut random, 30, 0.1);
    let traits = Traits { integral: false, forbids: false };
    let mut mrf = random_model(&mut random, 30, &ends, traits);
    let (mut sums, mut least, mut marginals) = (SumProduct::default(), Tree::default(), Marginals::default());
    let (mut score_tree, shape) = (ScoreTree::default(), TreeShape::new(&[ROOT, 0, 0, 1]).unwrap());
    for round in 0..12 {
        let size = if round % 2 == 0 { 1.0 } else { 1e4 };
        let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| size * random.real()).collect() };
        let (unary, pair, scores) = (numbers(8 * 26), numbers(26 * 26), numbers(21 * 21));
        let view = TreeView { labels: 5, unary: &unary[..20], pair: &pair[..25], types: &[0; 4] };
        let before = allocations();
        transitions.set_shared(26, &pair).unwrap();
        engine.solve(&unary, &transitions, &mut chain).unwrap();
        viterbi.max_marginals(ChainView { labels: 26, unary: &unary, pair: &pair }, &mut best);
        for single_root in [false, true] {
            let scores = HeadScores { words: 20, scores: &scores, single_root };
            tree.solve(scores, &mut heads).unwrap();
            theorem.solve(scores, &mut edges).unwrap();
        }
        sums.solve(&mrf, &mut marginals).unwrap();
        least.min_marginals(&mrf, &mut best).unwrap();
        score_tree.solve(view, &shape, &mut heads);
        let allocated = allocations() - before;
        // The first rounds meet every way, and the most contractions that there are, or nearly.
        assert!(allocated == 0 || round < 8, "round {round}: {allocated} allocations");
        (0..30).for_each(|node| redraw_unary(&mut random, &mut mrf, node, traits));
    }
    // Of several labellings only what is returned is allocated: two labellings and their list.
    let (mut engine, mut memory) = (Tree::default(), SeveralMemory::default());
    for round in 0..3 {
        let before = allocations();
        diverse_with(&mut engine, &mrf, &[1.0], &mut multiplane_infer::engine::unwatched, &mut memory).unwrap();
        let allocated = allocations() - before;
        assert!(allocated <= 4 || round == 0, "round {round}: {allocated} allocations");
    }
}
