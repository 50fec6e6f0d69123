//! Chains that follow other chains, against enumeration.

use multiplane_infer::brute;
use multiplane_infer::marginals::{FLOOR, TiltedChain, chain_size};

/// Numbers in [-0.5, 0.5), the same for the same seed.
fn numbers(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..len + 3).map(next).skip(3).collect()
}

/// Marginals of `p(y) ~ q(y) e^score(y)` by looking at every labelling, with the logarithm of the sum.
fn enumerate(len: usize, labels: usize, unary: &[f64], pair: &[f64], from: &[f64]) -> (Vec<f64>, f64) {
    let edge = |t: usize, y: &[u32]| len * labels + t * labels * labels + y[t] as usize * labels + y[t + 1] as usize;
    let log = |at: usize| if from.is_empty() { 0.0 } else { from[at].max(FLOOR).ln() };
    let score = |y: &[u32]| {
        let node = |t: usize| t * labels + y[t] as usize;
        let nodes: f64 = (0..len).map(|t| unary[node(t)]).sum();
        let edges: f64 = (0..len - 1).map(|t| pair[y[t] as usize * labels + y[t + 1] as usize] + log(edge(t, y))).sum();
        let shared: f64 = (1..len.max(2) - 1).map(|t| log(node(t))).sum();
        nodes + edges + if len == 1 { log(node(0)) } else { -shared }
    };
    let most = brute::best(len, labels, score).1;
    let (mut to, mut sum) = (vec![0.0; chain_size(len, labels)], 0.0);
    brute::best(len, labels, |y| {
        let p = (score(y) - most).exp();
        sum += p;
        (0..len).for_each(|t| to[t * labels + y[t] as usize] += p);
        (0..len - 1).for_each(|t| to[edge(t, y)] += p);
        0.0
    });
    to.iter_mut().for_each(|p| *p /= sum);
    (to, most + sum.ln())
}

fn consistent(len: usize, labels: usize, marginals: &[f64]) -> bool {
    let (nodes, edges) = marginals.split_at(len * labels);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-14;
    let tables = edges.chunks_exact(labels * labels).enumerate().all(|(t, table)| {
        (0..labels).all(|y| {
            let before: f64 = table[y * labels..(y + 1) * labels].iter().sum();
            let after: f64 = table.iter().skip(y).step_by(labels).sum();
            near(before, nodes[t * labels + y]) && near(after, nodes[(t + 1) * labels + y])
        })
    });
    tables && nodes.chunks_exact(labels).all(|node| near(node.iter().sum(), 1.0))
}

/// Three chains after one another, and one after a mixture of two: at ordinary and extreme scores, in exponentials and
/// in logarithms; pairs sum to their positions to the last digits in any case.
#[test]
fn chains_after_chains_equal_enumeration() {
    let (mut engine, mut extreme) = (TiltedChain::default(), 0);
    for seed in 0..400u64 {
        let (len, labels) = (1 + (seed % 4) as usize, 1 + (seed / 4 % 4) as usize);
        let scale: f64 = [0.5, 5.0, 60.0, 1e3, 1e6][(seed / 16 % 5) as usize];
        let size = chain_size(len, labels);
        let scores = |salt: u64, len: usize, scale: f64| -> Vec<f64> {
            numbers(len, seed + 1000 * salt).into_iter().map(|score| scale * score).collect()
        };
        let mut from: Vec<f64> = Vec::new();
        for round in 0..4 {
            let scale = if round == 3 { scale } else { scale.min(60.0) };
            let unary = scores(1 + round, len * labels, scale);
            let pair = scores(11 + round, labels * labels, scale);
            let (expected, log) = enumerate(len, labels, &unary, &pair, &from);
            let mut to = vec![f64::NAN; size];
            let found = engine.solve(labels, &unary, &pair, &from, &mut to).unwrap();
            let off = to.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let digits = 1e-10f64.max(1e-15 * scale * len as f64);
            assert!(off <= digits, "seed {seed}, round {round}, scale {scale}: off by {off:e}");
            assert!((found - log).abs() <= 1e-12 * (1.0 + log.abs()), "seed {seed}, round {round}: {found}, {log}");
            assert!(consistent(len, labels, &to), "seed {seed}, round {round}, scale {scale}: {to:?}");
            extreme += usize::from(scale > 600.0);
            from = match round {
                1 => from.iter().zip(&to).map(|(a, b)| 0.4 * a + 0.6 * b).collect(),
                _ => to,
            };
        }
    }
    assert!(extreme > 100, "hardly a chain needed logarithms: {extreme}");
}

/// Rows of any width, whole registers and not, one block of columns and two; pairs that are exponentiated once, and
/// each.
#[test]
fn many_labels_equal_enumeration() {
    let mut engine = TiltedChain::default();
    for (labels, scale) in
        [7, 8, 9, 26, 32, 33, 41].into_iter().flat_map(|labels| [5.0, 590.0, 1e4].map(|s| (labels, s)))
    {
        let (len, salt) = (3, labels as u64);
        let scores = |salt: u64, len: usize, scale: f64| -> Vec<f64> {
            numbers(len, salt).into_iter().map(|score| scale * score).collect()
        };
        let mut from = vec![f64::NAN; chain_size(len, labels)];
        engine
            .solve(labels, &scores(salt, len * labels, 4.0), &scores(salt + 1, labels * labels, 4.0), &[], &mut from)
            .unwrap();
        let (unary, pair) = (scores(salt + 2, len * labels, scale), scores(salt + 3, labels * labels, scale));
        let (expected, log) = enumerate(len, labels, &unary, &pair, &from);
        let mut to = vec![f64::NAN; from.len()];
        let found = engine.solve(labels, &unary, &pair, &from, &mut to).unwrap();
        let off = to.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 1e-10, "{labels} labels, scale {scale}: off by {off:e}");
        assert!((found - log).abs() <= 1e-12 * (1.0 + log.abs()), "{labels} labels, scale {scale}: {found}, {log}");
        assert!(consistent(len, labels, &to), "{labels} labels, scale {scale}");
    }
}

/// Sizes that do not fit and scores that are none are refused.
#[test]
fn misfits_are_refused() {
    let mut engine = TiltedChain::default();
    let mut to = vec![0.0; chain_size(2, 2)];
    assert!(engine.solve(2, &[0.0; 3], &[0.0; 4], &[], &mut to).is_err());
    assert!(engine.solve(2, &[0.0; 4], &[0.0; 3], &[], &mut to).is_err());
    assert!(engine.solve(2, &[0.0; 4], &[0.0; 4], &[0.5; 7], &mut to).is_err());
    assert!(engine.solve(2, &[0.0; 4], &[0.0; 4], &[], &mut to[..7]).is_err());
    assert!(engine.solve(2, &[0.0, f64::NAN, 0.0, 0.0], &[0.0; 4], &[0.25; 8], &mut to).is_err());
    assert!(engine.solve(2, &[0.0; 4], &[f64::NAN; 4], &[0.25; 8], &mut to).is_err());
    assert!(engine.solve(2, &[], &[0.0; 4], &[], &mut []).is_ok_and(|log| log == 0.0));
}
