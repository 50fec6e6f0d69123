//! Max-product on trees of scores against dynamic programming in plain code, and enumeration.

use crate::common::Random;
use multiplane_infer::brute;
use multiplane_infer::score_tree::{ROOT, ScoreTree, TreeShape, TreeView};

/// A random forest whose nodes are in any order, with its parents.
fn random_parents(random: &mut Random, nodes: usize, roots: f64) -> Vec<u32> {
    let mut names: Vec<u32> = (0..nodes as u32).collect();
    (1..nodes).for_each(|at| names.swap(at, random.within(0, at)));
    let mut parents = vec![ROOT; nodes];
    for at in 1..nodes {
        if !random.chance(roots) {
            parents[names[at] as usize] = names[random.within(0, at - 1)];
        }
    }
    parents
}

/// The optimum by recursion over children, in the plainest of ways.
fn optimum(view: TreeView<'_>, parents: &[u32]) -> f64 {
    fn below(view: TreeView<'_>, parents: &[u32], node: usize) -> Vec<f64> {
        let labels = view.labels;
        let mut own = view.unary[node * labels..(node + 1) * labels].to_vec();
        for child in (0..parents.len()).filter(|&child| parents[child] as usize == node) {
            let from = below(view, parents, child);
            let table = &view.pair[view.types[child] as usize * labels * labels..];
            for (y, own) in own.iter_mut().enumerate() {
                *own += (0..labels).map(|x| from[x] + table[x * labels + y]).fold(f64::NEG_INFINITY, f64::max);
            }
        }
        own
    }
    let roots = (0..parents.len()).filter(|&node| parents[node] == ROOT);
    roots.map(|root| below(view, parents, root).into_iter().fold(f64::NEG_INFINITY, f64::max)).sum()
}

/// 10 000 trees of 50 nodes with 10 labels and 3 types of edges; small forests against enumeration, ties included.
#[test]
fn finds_the_optimum() {
    let (mut engine, mut found) = (ScoreTree::default(), Vec::new());
    for seed in 0..12_000 {
        let mut random = Random(seed);
        let is_small = seed >= 10_000;
        let (nodes, labels) = if is_small { (random.within(0, 5), random.within(1, 4)) } else { (50, 10) };
        let parents = random_parents(&mut random, nodes, if is_small { 0.2 } else { 0.0 });
        let integral = seed % 2 == 0;
        let mut scores = |count: usize| -> Vec<f64> { (0..count).map(|_| random.energy(integral)).collect() };
        let (unary, pair) = (scores(nodes * labels), scores(3 * labels * labels));
        let types: Vec<u32> = (0..nodes).map(|_| random.within(0, 2) as u32).collect();
        let view = TreeView { labels, unary: &unary, pair: &pair, types: &types };
        let shape = TreeShape::new(&parents).unwrap();
        let score = engine.solve(view, &shape, &mut found);
        assert!((score - view.score(&shape, &found)).abs() < 1e-10, "seed {seed}: not the labels' score");
        let best = optimum(view, &parents);
        assert!((score - best).abs() < 1e-10, "seed {seed}: {score} is not the optimum {best}");
        if is_small {
            let best = brute::best(nodes, labels, |y| view.score(&shape, y)).1;
            assert!((score - best).abs() < 1e-10, "seed {seed}: {score} is not the best of all, {best}");
        }
    }
}

/// Cycles and parents that there are not.
#[test]
fn refuses_what_is_no_forest() {
    for (parents, expected) in [
        (&[ROOT, 5][..], "node 1: found parent 5, but there are only 2 nodes"),
        (&[0], "node 0: found a cycle among it and its ancestors, expected a root"),
        (&[ROOT, 2, 1], "node 1: found a cycle among it and its ancestors, expected a root"),
    ] {
        assert_eq!(TreeShape::new(parents).unwrap_err().to_string(), expected);
    }
}
