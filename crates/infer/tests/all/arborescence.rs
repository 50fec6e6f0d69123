//! Arborescences against enumeration: the best, the M best, and their distribution.

use crate::common::Random;
use multiplane_infer::arborescence::{Arborescence, EdgeMarginals, HeadScores, HeadTree, MatrixTree};

/// Returns true if heads make a tree: every word reaches the root.
fn is_tree(heads: &[u32], single_root: bool) -> bool {
    let reaches = |word: usize| {
        let mut at = word as u32 + 1;
        for _ in 0..heads.len() {
            at = if at == 0 { 0 } else { heads[at as usize - 1] };
        }
        at == 0
    };
    (0..heads.len()).all(reaches)
        && (!single_root || heads.is_empty() || heads.iter().filter(|&&head| head == 0).count() == 1)
}

/// All allowed trees with their scores, best first.
fn all_trees(scores: HeadScores<'_>) -> Vec<HeadTree> {
    let (words, mut all) = (scores.words, Vec::new());
    for index in 0..(words + 1).pow(words as u32) {
        let heads: Vec<u32> = (0..words).map(|m| (index / (words + 1).pow(m as u32) % (words + 1)) as u32).collect();
        if is_tree(&heads, scores.single_root) {
            let score = scores.score(&heads);
            if score > f64::NEG_INFINITY {
                all.push(HeadTree { heads, score });
            }
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// Scores of a size: whole numbers with many ties, multiples of 1/64 (whose sums are exact), some forbidden; what must
/// not be read is NaN.
fn random_scores(random: &mut Random, words: usize, size: f64, hole: f64) -> Vec<f64> {
    let side = words + 1;
    let grain = [1.0, 64.0][random.within(0, 1)];
    let mut score = |at: usize| match (at % side, at / side) {
        (word, head) if word == 0 || word == head => f64::NAN,
        _ if random.chance(hole) => f64::NEG_INFINITY,
        _ => (random.real() * size * grain).round() / grain,
    };
    (0..side * side).map(&mut score).collect()
}

/// For up to 5 words: the best tree's score, the M best in order and without repetition, and to 1e-10 the
/// log-partition and every edge's probability, for sizes from 1 to 1e5 and with edges forbidden.
#[test]
fn equal_enumeration() {
    let (mut engine, mut theorem, mut heads, mut out) =
        (Arborescence::default(), MatrixTree::default(), Vec::new(), EdgeMarginals::default());
    let (mut none, mut solved) = (0, [0; 6]);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let (words, kind) = (random.within(0, 5), random.within(0, 5));
        let (hole, single_root) = ([0.0, 0.2, 0.6][random.within(0, 2)], random.chance(0.5));
        let values = random_scores(&mut random, words, 10f64.powi(kind as i32), hole);
        let scores = HeadScores { words, scores: &values, single_root };
        let all = all_trees(scores);
        let what = format!("seed {seed}, {words} words, size 1e{kind}, holes {hole}, single root {single_root}");
        let Some(best) = all.first() else {
            for error in [
                engine.solve(scores, &mut heads).unwrap_err(),
                engine.solve_best(scores, 3).unwrap_err(),
                theorem.solve(scores, &mut out).unwrap_err(),
            ] {
                assert!(error.to_string().contains("no allowed arborescence"), "{what}: {error}");
            }
            none += 1;
            continue;
        };
        let score = engine.solve(scores, &mut heads).unwrap();
        assert!(is_tree(&heads, single_root), "{what}: {heads:?} is no tree");
        assert!((score - best.score).abs() <= 1e-9 && score == scores.score(&heads), "{what}: {score}, {best:?}");
        let count = [1, 2, 10, 1000][random.within(0, 3)];
        let found = engine.solve_best(scores, count).unwrap();
        assert_eq!(found.len(), all.len().min(count), "{what}: number of trees");
        for (rank, (found, all)) in found.iter().zip(&all).enumerate() {
            assert!((found.score - all.score).abs() <= 1e-9, "{what}, rank {rank}: {found:?} instead of {all:?}");
            assert!(is_tree(&found.heads, single_root) && found.score == scores.score(&found.heads), "{what}");
        }
        let mut distinct: Vec<_> = found.iter().map(|tree| &tree.heads).collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), found.len(), "{what}: a tree came twice");
        theorem.solve(scores, &mut out).unwrap();
        check(scores, &all, &out, &what);
        let mut weights = vec![f64::NAN; values.len()];
        engine.weights(scores, 0.0, &mut weights).unwrap();
        check_weights(scores, &all, &weights, &what);
        let logs: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
        theorem.solve(HeadScores { scores: &logs, ..scores }, &mut out).unwrap();
        check_polytope(words, single_root, &out.edges, &what);
        if hole == 0.0 && words > 0 {
            engine.weights(scores, 1e-9, &mut weights).unwrap();
            check_floor(scores, &all, &weights, &what);
        }
        solved[kind] += 1;
    }
    assert!(none > 100 && solved.iter().all(|&count| count > 300), "{none}, {solved:?}");
}

fn check(scores: HeadScores<'_>, all: &[HeadTree], found: &EdgeMarginals, what: &str) {
    let (side, most) = (scores.words + 1, all[0].score);
    let sum: f64 = all.iter().map(|tree| (tree.score - most).exp()).sum();
    let mut edges = vec![0.0; side * side];
    for tree in all {
        let p = (tree.score - most).exp() / sum;
        tree.heads.iter().enumerate().for_each(|(m, &head)| edges[head as usize * side + m + 1] += p);
    }
    let log = most + sum.ln();
    assert!((found.log_partition - log).abs() <= 1e-10, "{what}: {} instead of {log}", found.log_partition);
    for (at, (found, expected)) in found.edges.iter().zip(&edges).enumerate() {
        let (head, word) = (at / side, at % side);
        assert!((found - expected).abs() <= 1e-10, "{what}, {head} to {word}: {found} instead of {expected}");
    }
}

/// Products of weights are the distribution, to 1e-10; the weights of each word's heads sum to 1, and what no tree
/// needs may be 0 but nothing else.
fn check_weights(scores: HeadScores<'_>, all: &[HeadTree], weights: &[f64], what: &str) {
    let (side, most) = (scores.words + 1, all[0].score);
    for word in 0..side {
        let sum: f64 = (0..side).map(|head| weights[head * side + word]).sum();
        assert!((sum - f64::from(word > 0)).abs() < 1e-12, "{what}: weights of word {word} sum to {sum}");
    }
    let log = |tree: &HeadTree| -> f64 {
        tree.heads.iter().enumerate().map(|(m, &head)| weights[head as usize * side + m + 1].ln()).sum()
    };
    let logs: Vec<f64> = all.iter().map(log).collect();
    let of_weights: f64 = logs.iter().map(|log| (log - logs[0]).exp()).sum();
    let of_scores: f64 = all.iter().map(|tree| (tree.score - most).exp()).sum();
    for (tree, log) in all.iter().zip(&logs) {
        let (found, expected) = ((log - logs[0]).exp() / of_weights, (tree.score - most).exp() / of_scores);
        assert!((found - expected).abs() <= 1e-10, "{what}, {:?}: {found} instead of {expected}", tree.heads);
    }
}

/// Probabilities of edges are those of a distribution over trees, to the last digits: each set of words is entered at
/// least once, each word exactly once, and the root is left once where it has one child (Edmonds 1967).
fn check_polytope(words: usize, single_root: bool, edges: &[f64], what: &str) {
    let (side, tolerance) = (words + 1, 40.0 * f64::EPSILON);
    for set in 1..1usize << words {
        let inside = |word: usize| word > 0 && set >> (word - 1) & 1 == 1;
        let entering = (0..side * side).filter(|at| !inside(at / side) && inside(at % side)).map(|at| edges[at]);
        let sum: f64 = entering.sum();
        let enough = if set.count_ones() == 1 { (sum - 1.0).abs() <= tolerance } else { sum >= 1.0 - tolerance };
        assert!(enough, "{what}: {sum} enters set {set:b}, off by {:e}", sum - 1.0);
    }
    let children: f64 = edges[..side].iter().sum();
    assert!(
        !single_root || words == 0 || (children - 1.0).abs() <= tolerance,
        "{what}: {children} children of the root"
    );
}

/// Weights with a floor leave every tree a probability, and change none by more than the floor could.
fn check_floor(scores: HeadScores<'_>, all: &[HeadTree], weights: &[f64], what: &str) {
    let (words, side, most) = (scores.words, scores.words + 1, all[0].score);
    let logs: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
    let mut found = EdgeMarginals::default();
    MatrixTree::default().solve(HeadScores { scores: &logs, ..scores }, &mut found).unwrap();
    let of_scores: f64 = all.iter().map(|tree| (tree.score - most).exp()).sum();
    for tree in all {
        let log: f64 = tree.heads.iter().enumerate().map(|(m, &head)| logs[head as usize * side + m + 1]).sum();
        let (found, expected) = (log - found.log_partition, (tree.score - most).exp() / of_scores);
        // The floor for each of its edges and for each cycle that it enters again, and the sum of all trees.
        let least = (1e-9f64.ln() * words as f64 - 2.0) * words as f64;
        assert!(found >= least, "{what}, {:?}: e^{found}", tree.heads);
        assert!((found.exp() - expected).abs() <= 1e-5, "{what}, {:?}: e^{found} instead of {expected}", tree.heads);
    }
}

/// On long sentences: probabilities sum to 1, are the slopes of the log-partition, plain numbers and logarithms agree,
/// the best tree is no worse than one of random changes, and at a low temperature all mass is on it.
#[test]
fn long_sentences() {
    let (mut engine, mut theorem) = (Arborescence::default(), MatrixTree::default());
    for (words, single_root) in [(40, false), (40, true), (93, false), (93, true)] {
        let mut random = Random(words as u64);
        let side = words + 1;
        let mut values: Vec<f64> = (0..side * side).map(|_| 3.0 * random.real()).collect();
        let mut out = EdgeMarginals::default();
        theorem.solve(HeadScores { words, scores: &values, single_root }, &mut out).unwrap();
        for word in 1..side {
            let sum: f64 = (0..side).map(|head| out.edges[head * side + word]).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{words} words: {sum}");
        }
        let root: f64 = (1..side).map(|word| out.edges[word]).sum();
        assert!(!single_root || (root - 1.0).abs() < 1e-10, "{words} words: {root} children of the root");
        for (at, step) in [(1, 1e-4), (2 * side + 7, 1e-4), (7 * side + 2, 1e-4)] {
            let mut side_value = |change: f64| {
                let mut changed = values.clone();
                changed[at] += change;
                let mut out = EdgeMarginals::default();
                theorem.solve(HeadScores { words, scores: &changed, single_root }, &mut out).unwrap();
                out.log_partition
            };
            let slope = (side_value(step) - side_value(-step)) / (2.0 * step);
            assert!((slope - out.edges[at]).abs() < 1e-8, "{words} words, entry {at}: {slope}, {}", out.edges[at]);
        }
        // One edge out of reach sends the same sentence through logarithms.
        values[3 * side + 5] = -1e6;
        let mut logs = EdgeMarginals::default();
        theorem.solve(HeadScores { words, scores: &values, single_root }, &mut logs).unwrap();
        values[3 * side + 5] = values[5] - 290.0;
        theorem.solve(HeadScores { words, scores: &values, single_root }, &mut out).unwrap();
        assert!((logs.log_partition - out.log_partition).abs() < 1e-10, "{words} words");
        assert!(logs.edges.iter().zip(&out.edges).all(|(a, b)| (a - b).abs() < 1e-10), "{words} words: logarithms");
        let cold: Vec<f64> = values.iter().map(|score| 1e5 * score).collect();
        let cold = HeadScores { words, scores: &cold, single_root };
        theorem.solve(cold, &mut out).unwrap();
        let mut heads = Vec::new();
        let best = engine.solve(cold, &mut heads).unwrap();
        assert!((out.log_partition - best).abs() < 1e-7, "{words} words: {} instead of {best}", out.log_partition);
        assert!(heads.iter().enumerate().all(|(m, &h)| out.edges[h as usize * side + m + 1] > 1.0 - 1e-10));
        let mut tries = heads.clone();
        for _ in 0..3000 {
            let (word, head) = (random.within(0, words - 1), random.within(0, words) as u32);
            let old = std::mem::replace(&mut tries[word], head);
            if head as usize == word + 1 || !is_tree(&tries, single_root) {
                tries[word] = old;
                continue;
            }
            assert!(cold.score(&tries) <= best + 1e-6, "{words} words: a better tree");
        }
    }
}

/// A number that is no score is one error that says where.
#[test]
fn refuse_what_is_no_score() {
    let mut values = [0.0; 9];
    let mut heads = Vec::new();
    let mut text = |values: &[f64]| {
        let scores = HeadScores { words: 2, scores: values, single_root: false };
        Arborescence::default().solve(scores, &mut heads).unwrap_err().to_string()
    };
    assert_eq!(text(&values[..8]), "found 8 scores of edges for a root and 2 words");
    for bad in [f64::NAN, f64::INFINITY] {
        values[5] = bad;
        let expected = format!("found {bad} as score of the edge from 1 to 2, expected a finite number or -inf");
        assert_eq!(text(&values), expected);
    }
}
