//! Sum-product on chains against enumeration.

use crate::common::Random;
use multiplane_infer::marginals::{ChainMarginals, ForwardBackward, Transitions};

/// All labellings with their scores, where the pair table of position t begins at `t * stride`.
fn labellings(len: usize, labels: usize, unary: &[f64], pairs: &[f64], stride: usize) -> Vec<(Vec<usize>, f64)> {
    let mut all = Vec::new();
    for index in 0..labels.pow(len as u32) {
        let y: Vec<usize> = (0..len).map(|t| index / labels.pow(t as u32) % labels).collect();
        let own: f64 = y.iter().enumerate().map(|(t, &y)| unary[t * labels + y]).sum();
        let pair: f64 = y.windows(2).enumerate().map(|(t, p)| pairs[t * stride + p[0] * labels + p[1]]).sum();
        all.push((y, own + pair));
    }
    all
}

/// The marginals by enumeration; nothing where all is forbidden.
fn enumerated(len: usize, labels: usize, all: &[(Vec<usize>, f64)]) -> Option<ChainMarginals> {
    let most = all.iter().map(|one| one.1).fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return None;
    }
    let sum: f64 = all.iter().map(|one| (one.1 - most).exp()).sum();
    let mut nodes = vec![0.0; len * labels];
    let mut edges = vec![0.0; len.saturating_sub(1) * labels * labels];
    for (y, score) in all {
        let p = (score - most).exp() / sum;
        y.iter().enumerate().for_each(|(t, &y)| nodes[t * labels + y] += p);
        y.windows(2).enumerate().for_each(|(t, pair)| edges[(t * labels + pair[0]) * labels + pair[1]] += p);
    }
    Some(ChainMarginals { log_partition: most + sum.ln(), nodes, edges })
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-10, "{what} {at}: {found} instead of {expected}");
    }
}

/// Equal to 1e-10 for scores of every size up to 1e6 (multiples of 1/64, so that the judge's sums are exact), scores
/// that forbid, scores that all but forbid, one table and one for each pair; with the memory of the last chain.
#[test]
fn equal_enumeration() {
    let (mut engine, mut transitions, mut out) =
        (ForwardBackward::default(), Transitions::default(), ChainMarginals::default());
    let (mut forbidden, mut solved) = (0, [0; 7]);
    for seed in 0..6000 {
        let mut random = Random(seed);
        let (len, labels) = (random.within(0, 5), random.within(1, 4));
        let kind = random.within(0, 6);
        let size = 10f64.powi(kind as i32);
        let (hole, deep) = ([0.0, 0.2, 0.6][random.within(0, 2)], random.chance(0.1));
        let mut scores = |count: usize| -> Vec<f64> {
            let mut score = || match random.chance(hole) {
                true if deep => -1e30,
                true => f64::NEG_INFINITY,
                false => (random.real() * size * 64.0).round() / 64.0,
            };
            (0..count).map(|_| score()).collect()
        };
        let (unary, tables) = (scores(len * labels), if seed % 2 == 0 { 1 } else { len.saturating_sub(1) });
        let pairs = scores(tables * labels * labels);
        let stride = if seed % 2 == 0 { 0 } else { labels * labels };
        let set = match seed % 2 == 0 {
            true => transitions.set_shared(labels, &pairs),
            false => transitions.set_each(labels, &pairs),
        };
        let expected = enumerated(len, labels, &labellings(len, labels, &unary, &pairs, stride));
        let found = set.and_then(|()| engine.solve(&unary, &transitions, &mut out));
        if expected.as_ref().is_some_and(|expected| expected.log_partition < -1e20) {
            continue; // the judge's own sums have lost all digits
        }
        let Some(expected) = expected else {
            let error = found.unwrap_err().to_string();
            assert!(error.contains("forbidden"), "seed {seed}: {error}");
            forbidden += 1;
            continue;
        };
        if let Err(error) = found {
            // A table that allows nothing is refused even where there is nobody to use it.
            assert!(error.to_string().contains("every pair forbidden") && len < 2, "seed {seed}: {error}");
            continue;
        }
        solved[kind] += 1;
        let what = format!("seed {seed}, len {len}, labels {labels}, size {size}");
        let slack = 1e-10 + 4e-16 * expected.log_partition.abs();
        assert!((out.log_partition - expected.log_partition).abs() <= slack, "{what}: {}", out.log_partition);
        assert_close(&out.nodes, &expected.nodes, &format!("{what}: node"));
        assert_close(&out.edges, &expected.edges, &format!("{what}: edge"));
        let alone = engine.log_partition(&unary, &transitions).unwrap();
        assert_eq!(alone.to_bits(), out.log_partition.to_bits(), "{what}: without marginals");
    }
    assert!(forbidden > 100 && solved.iter().all(|&count| count > 300), "{forbidden} forbidden, {solved:?}");
}

/// Words as in OCR, with more labels than one block of registers and fewer, long ones too: what the pairs sum to are
/// the nodes, all sum to 1, and scores scaled past the range of exponentials agree with those that just fit.
#[test]
fn are_consistent() {
    let (mut engine, mut transitions, mut out) =
        (ForwardBackward::default(), Transitions::default(), ChainMarginals::default());
    for (len, labels, size) in
        [(8, 26, 3.0), (8, 26, 100.0), (8, 26, 1e4), (300, 26, 1.0), (5, 70, 1.0), (40, 33, 50.0)]
    {
        let mut random = Random(len as u64);
        let mut scores = |count: usize| -> Vec<f64> { (0..count).map(|_| size * random.real()).collect() };
        let (unary, pair) = (scores(len * labels), scores(labels * labels));
        transitions.set_shared(labels, &pair).unwrap();
        engine.solve(&unary, &transitions, &mut out).unwrap();
        let mut rows = Vec::new();
        for (t, edge) in out.edges.chunks(labels * labels).enumerate() {
            rows.clear();
            rows.extend(edge.chunks(labels).map(|row| row.iter().sum::<f64>()));
            assert_close(&rows, &out.nodes[t * labels..(t + 1) * labels], &format!("{len} x {labels}: from"));
            rows.clear();
            rows.extend((0..labels).map(|y| edge[y..].iter().step_by(labels).sum::<f64>()));
            assert_close(&rows, &out.nodes[(t + 1) * labels..(t + 2) * labels], &format!("{len} x {labels}: to"));
        }
        for node in out.nodes.chunks(labels) {
            assert_close(&[node.iter().sum()], &[1.0], "sum");
        }
        // One pair that is all but forbidden sends the same chain through logarithms.
        let far = pair.iter().copied().fold(f64::INFINITY, f64::min) - 700.0;
        let (mut with_one, mut without) = (pair.clone(), pair.clone());
        (with_one[0], without[0]) = (far, f64::NEG_INFINITY);
        let mut other = ChainMarginals::default();
        transitions.set_shared(labels, &with_one).unwrap();
        engine.solve(&unary, &transitions, &mut out).unwrap();
        transitions.set_shared(labels, &without).unwrap();
        engine.solve(&unary, &transitions, &mut other).unwrap();
        assert_close(&out.nodes, &other.nodes, "logarithms, node");
        assert_close(&out.edges, &other.edges, "logarithms, edge");
    }
}

/// A number that is no score, or does not fit, is one error that says where.
#[test]
fn refuse_what_is_no_score() {
    let mut transitions = Transitions::default();
    let text = |result: Result<(), multiplane_infer::InferError>| result.unwrap_err().to_string();
    for (pair, expected) in [
        (&[0.0; 3][..], "found 3 pair scores for 2 labels, expected their square"),
        (
            &[0.0, f64::NAN, 0.0, 0.0],
            "found NaN as pair score of labels 0 and 1 in table 0, expected a finite number or -inf",
        ),
        (&[f64::NEG_INFINITY; 4], "found every pair forbidden in table 0, expected a finite score"),
    ] {
        assert_eq!(text(transitions.set_shared(2, pair)), expected);
    }
    assert_eq!(
        text(transitions.set_each(2, &[0.0; 6])),
        "found 6 pair scores for 2 labels, expected a multiple of their square"
    );
    transitions.set_each(2, &[0.0; 8]).unwrap();
    let solve =
        |unary: &[f64]| text(ForwardBackward::default().solve(unary, &transitions, &mut ChainMarginals::default()));
    assert_eq!(solve(&[0.0; 3]), "found 3 unary scores, expected a multiple of 2 labels");
    assert_eq!(solve(&[0.0; 8]), "found 2 tables of pair scores for 4 positions");
    let mut unary = [0.0; 6];
    for bad in [f64::NAN, f64::INFINITY] {
        unary[3] = bad;
        let expected = format!("found {bad} as score of label 1 at position 1, expected a finite number or -inf");
        assert_eq!(solve(&unary), expected);
    }
    unary[2..4].fill(f64::NEG_INFINITY);
    assert_eq!(solve(&unary), "found every labelling forbidden, expected a finite score");
}
