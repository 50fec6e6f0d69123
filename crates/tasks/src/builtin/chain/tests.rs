//! The chain's layouts and answers against plain code.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, Question, Task, UNLABELLED};

use super::*;
use crate::builtin::pairwise::Labelling;
use crate::builtin::task::{from_file_layout, to_file_layout};
use crate::builtin::testing::{ListedExample, check_completions, labelled_as, partly_labelled};
use crate::data::SparseRows;
use crate::losses::{CostTable, LossSpec};

/// A chain with random sparse rows, weights and a truth; `features` may be many more than any row has.
fn random(seed: u64) -> (Chain, SparseRows, Vec<f64>, Vec<u32>, Rng) {
    let mut rng = Rng::new(seed, 0);
    let (labels, features) = (1 + rng.below(4) as usize, [3, 500][rng.below(2) as usize]);
    let costs = CostTable::new(&LossSpec::Hamming, None, labels).unwrap();
    let chain = Chain::new(labels, features, rng.below(2) == 0, costs).with_rule(rule(seed, labels));
    let mut x = SparseRows::new(features);
    for _ in 0..rng.below(5) {
        let indices: Vec<u32> = (0..features as u32).filter(|_| rng.below(features as u64) < 3).collect();
        x.push_ones(&indices);
    }
    let w = (0..chain.dim()).map(|_| rng.unit() - 0.5).collect();
    let truth = labelling(&chain, &x, &mut rng);
    (chain, x, w, truth, rng)
}

/// A rule of random steps for every third seed, which leaves labellings of each length up to 5.
fn rule(seed: u64, labels: usize) -> Option<Arc<AllowedSteps>> {
    let mut rng = Rng::new(seed, 1);
    let names: Vec<String> = (0..labels).map(|label| label.to_string()).collect();
    let place = |rng: &mut Rng| names.get(rng.below(labels as u64 + 1) as usize).map_or("", String::as_str);
    let mut draw = || {
        let step = |rng: &mut Rng| match [place(rng), place(rng)] {
            ["", ""] => None,
            [from, to] => Some(format!("{from}{}>{to}", if rng.below(6) == 0 { "=" } else { "" })),
        };
        let steps: Vec<String> = (0..rng.below(6)).filter_map(|_| step(&mut rng)).collect();
        AllowedSteps::new(&serde_json::from_value(serde_json::json!(steps)).unwrap(), &names).unwrap()
    };
    let mut rules = std::iter::from_fn(|| Some(draw())).filter(|rule| rule.impossible(5).is_empty());
    rules.next().filter(|_| seed.is_multiple_of(3)).map(Arc::new)
}

/// Weights come back from the layout of files, where the row of a label stands together.
#[test]
fn file_layout_round_trip() {
    for seed in 0..100 {
        let (chain, _, w, ..) = random(seed);
        let file = to_file_layout(&chain, &w);
        assert_eq!(from_file_layout(&chain, &file), w, "seed {seed}");
        let (label, feature) = (chain.labels - 1, chain.features / 2);
        assert_eq!(file[label * chain.features + feature], w[feature * chain.labels + label], "seed {seed}");
        assert_eq!(file[chain.pair_start()..], w[chain.pair_start()..], "seed {seed}");
    }
}

/// Answers are the best of all labellings, and their planes and bounds are those of features.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, truth, _) = random(seed);
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_answers(&mut scratch);
    }
}

/// A combination has only labels that positions have in what is known, and none such is better.
#[test]
fn recombination_is_the_best_of_what_is_known() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, truth, mut rng) = random(seed);
        let known = [(); 2].map(|()| labelling(&chain, &x, &mut rng));
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_recombination(&known, &mut scratch);
    }
}

/// Planes known by their labellings alone are differences of feature vectors.
#[test]
fn planes_by_code_are_feature_differences() {
    let mut scratch = ChainScratch::default(); // reused, so stale buffers would show
    for seed in 0..400 {
        let (chain, x, w, truth, mut rng) = random(seed);
        let count = if x.is_empty() { 0 } else { seed % 6 };
        let planes: Vec<Vec<u32>> = (0..count).map(|_| labelling(&chain, &x, &mut rng)).collect();
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_codes(&planes, &mut scratch);
    }
}

/// Positions without a label, and their edges, are left out of all questions about the truth.
#[test]
fn unlabelled_positions_are_left_out() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, truth, mut rng) = random(seed);
        let truth = partly_labelled(truth, &mut rng);
        let [one, other] = [(); 2].map(|()| labelled_as(&truth, labelling(&chain, &x, &mut rng)));
        let example = ListedExample::new(&chain, (&x, &truth, &w), seed);
        example.check_answers(&mut scratch);
        example.check_top(&mut scratch);
        example.check_recombination(&[one.clone(), other.clone()], &mut scratch);
        example.check_codes(if x.is_empty() { &[] } else { std::slice::from_ref(&other) }, &mut scratch);
    }
}

/// Truths that are known in part are completed by what agrees with them, under a rule too.
#[test]
fn completions_equal_enumeration() {
    for seed in 0..300 {
        let (chain, x, w, truth, mut rng) = random(seed);
        let costs =
            CostTable::new(&LossSpec::Hamming, Some(&[2.0, 0.5, 1.0, 3.0][..chain.labels]), chain.labels).unwrap();
        let chain = if seed % 2 == 0 { chain } else { Chain { costs, ..chain } };
        let truth = partly_labelled(truth, &mut rng);
        check_completions(&chain, Examples::new(vec![x], vec![Labelling::new(truth)]), &w, &format!("seed {seed}"));
    }
}

fn labelling(chain: &Chain, x: &SparseRows, rng: &mut Rng) -> Vec<u32> {
    let draw = || Some((0..x.len()).map(|_| rng.below(chain.labels as u64) as u32).collect());
    std::iter::from_fn(draw).find(|y: &Vec<u32>| chain.allows(y)).unwrap()
}

/// Probabilities under a rule are those of enumerating what it allows, at temperatures from cold to infinite, also
/// where they follow a labelling; sums of the exponentials are, too.
#[test]
fn marginals_equal_enumeration() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, truth, _) = random(seed);
        let listed = ListedExample::new(&chain, (&x, &truth, &w), seed);
        let truth = Labelling::new(truth.clone());
        let example = Example { index: 0, input: &x, truth: &truth };
        let all: Vec<Labelling> = listed.all.into_iter().map(Labelling::new).collect();
        let sums = chain.capabilities().marginals.unwrap();
        let size = sums.len(example).unwrap();
        let (mut marginals, mut expected) = (vec![f64::NAN; size], vec![0.0; size]);
        for tau in [1.0, 0.01, f64::INFINITY] {
            let ask = Question::augmented(example, &w);
            let value = sums.gibbs(ask.call(&mut scratch, &mut ()), tau, &[], &mut marginals).unwrap();
            let mut own = |y: &Labelling| {
                let mut phi = Plane::new();
                chain.features(&x, y, 1.0, &mut phi);
                chain.features(&x, &truth, -1.0, &mut phi);
                phi.seal();
                (phi.view().score(&w) + chain.loss(&truth, y)) / tau
            };
            let scores: Vec<f64> = all.iter().map(&mut own).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            if tau.is_finite() {
                assert!((value - tau * (most + sum.ln())).abs() < 1e-10, "seed {seed}, {tau}: {value}");
            }
            expected.fill(0.0);
            let mut one = vec![0.0; size];
            for (y, score) in all.iter().zip(&scores) {
                sums.all_on(Example { truth: y, ..example }, &mut one);
                let share = (score - most).exp() / sum;
                expected.iter_mut().zip(&one).for_each(|(all, one)| *all += share * one);
            }
            let near = marginals.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10);
            assert!(near, "seed {seed}, {tau}: {marginals:?}, expected {expected:?}");
        }
        sums.all_on(example, &mut expected);
        let zero = vec![0.0; w.len()];
        let ask = Question::plain(example, &zero);
        sums.gibbs(ask.call(&mut scratch, &mut ()), 1.0, &expected, &mut marginals).unwrap();
        let near = marginals.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near, "seed {seed}: {marginals:?} follow {expected:?}");
    }
}

/// A sequence costs what the stretches between its unlabelled positions cost as sequences of their own.
#[test]
fn stretches_are_sequences() {
    for seed in 0..100 {
        let (_, x, _, _, mut rng) = random(seed);
        let costs = CostTable::new(&LossSpec::HammingSum, None, 3).unwrap();
        let chain = Chain::new(3, x.columns(), false, costs);
        let w: Vec<f64> = (0..chain.dim()).map(|_| rng.unit() - 0.5).collect();
        let truth = partly_labelled(labelling(&chain, &x, &mut rng), &mut rng);
        let hinge = |x: &SparseRows, truth: &[u32]| {
            let (mut scratch, mut y) = (ChainScratch::default(), Labelling::default());
            let example = Example { index: 0, input: x, truth: &Labelling::new(truth.to_vec()) };
            chain.decode(Question::augmented(example, &w).call(&mut scratch, &mut ()), &mut y).unwrap();
            let mut plane = Plane::new();
            chain.plane(Case::new(example, 1.0, &mut scratch, &mut ()), &y, &mut plane);
            plane.view().score(&w)
        };
        let (mut start, mut sum) = (0, 0.0);
        for stretch in truth.chunk_by(|a, b| (*a == UNLABELLED) == (*b == UNLABELLED)) {
            let mut rows = SparseRows::new(x.columns());
            rows.append(&x, start..start + stretch.len());
            start += stretch.len();
            sum += if stretch[0] == UNLABELLED { 0.0 } else { hinge(&rows, stretch) };
        }
        assert!((hinge(&x, &truth) - sum).abs() < 1e-12, "seed {seed}: {truth:?}");
    }
}
