//! The chain's layouts and answers against plain code.

use multiplane_core::example::{Question, Workspace};
use multiplane_core::oracle::Coded;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{CodedFeatures, ExampleOf, Task};
use multiplane_infer::brute;

use super::*;
use crate::builtin::task::{BuiltinTask, from_file_layout, to_file_layout};
use crate::data::SparseRows;
use crate::losses::{CostTable, LossSpec};

/// A chain with random sparse rows; `features` may be many more than any row has.
fn random(seed: u64) -> (Chain, SparseRows, Vec<f64>, Rng) {
    let mut rng = Rng::new(seed, 0);
    let (labels, features) = (1 + rng.below(4) as usize, [3, 500][rng.below(2) as usize]);
    let costs = CostTable::new(&LossSpec::Hamming, None, labels).unwrap();
    let chain = Chain::new(labels, features, rng.below(2) == 0, costs);
    let mut x = SparseRows::new(features);
    for _ in 0..rng.below(5) {
        let indices: Vec<u32> = (0..features as u32).filter(|_| rng.below(features as u64) < 3).collect();
        x.push_ones(&indices);
    }
    let w = (0..chain.dim()).map(|_| rng.unit() - 0.5).collect();
    (chain, x, w, rng)
}

/// Weights come back from the layout of files, where the row of a label stands together.
#[test]
fn file_layout_round_trip() {
    for seed in 0..100 {
        let (chain, _, w, _) = random(seed);
        let file = to_file_layout(&chain, &w);
        assert_eq!(from_file_layout(&chain, &file), w, "seed {seed}");
        let (label, feature) = (chain.labels - 1, chain.features / 2);
        assert_eq!(file[label * chain.features + feature], w[feature * chain.labels + label], "seed {seed}");
        assert_eq!(file[chain.pair_start()..], w[chain.pair_start()..], "seed {seed}");
    }
}

/// Decoding finds the best labelling, with and without loss, by `features` and `loss` alone; the plain reference
/// on weights in the layout of files agrees.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, mut rng) = random(seed);
        let truth: Vec<u32> = (0..x.len()).map(|_| rng.below(chain.labels as u64) as u32).collect();
        let score = |y: &[u32], augmented: bool| {
            let mut phi = Plane::new();
            chain.features(&x, &y.to_vec(), 1.0, &mut phi);
            phi.seal();
            phi.view().score(&w) + if augmented { chain.loss(&truth, &y.to_vec()) } else { 0.0 }
        };
        let mut found = Vec::new();
        for augmented in [false, true] {
            let question = Question { index: 0, input: &x, truth: augmented.then_some(&truth) };
            let work = Workspace { scratch: &mut scratch, memory: &mut () };
            chain.decode(question, &w, work, &mut found).unwrap();
            let best = brute::best(x.len(), chain.labels, |y| score(y, augmented)).1;
            assert!((score(&found, augmented) - best).abs() < 1e-12, "seed {seed}");
        }
        let hinge = score(&found, true) - score(&truth, true);
        let reference = chain.reference_hinge(&x, &truth, &to_file_layout(&chain, &w));
        assert!((hinge - reference).abs() < 1e-12, "seed {seed}: {hinge} is not {reference}");
    }
}

/// Planes known by their labellings alone, compiled or not, score and add up like differences of feature vectors.
#[test]
fn planes_by_code_are_feature_differences() {
    let mut scratch = ChainScratch::default(); // reused, so stale buffers would show
    for seed in 0..400 {
        let (chain, x, w, mut rng) = random(seed);
        let mut labelling = || (0..x.len()).map(|_| rng.below(chain.labels as u64) as u32).collect::<Vec<u32>>();
        let truth = labelling();
        let planes: Vec<Vec<u32>> = (0..if x.is_empty() { 0 } else { seed % 6 }).map(|_| labelling()).collect();
        let amounts: Vec<f64> = (0..planes.len()).map(|k| [0.0, 0.5, -2.0][(k + seed as usize) % 3]).collect();
        let difference = |y: &Vec<u32>| {
            let mut plane = Plane::new();
            chain.features(&x, y, 1.0, &mut plane);
            chain.features(&x, &truth, -1.0, &mut plane);
            plane.seal();
            plane
        };
        let mut expected = vec![0.25; chain.dim()];
        for (y, amount) in planes.iter().zip(&amounts) {
            difference(y).view().star.add_to(3.0 * amount, &mut expected);
        }
        let (codes, mut compiled) = (planes.concat(), Vec::new());
        let example = ExampleOf::<Chain> { index: 0, input: &x, truth: &truth };
        chain.compile(example, &codes, &mut scratch, &mut compiled);
        let mut bits: Vec<u64> = Vec::new();
        for label_codes in [Coded::new(&codes), Coded { codes: &codes, compiled: &compiled }] {
            let mut scores = vec![f64::NAN; planes.len()];
            chain.linear_scores(example, &w, label_codes, &mut scratch, &mut scores);
            for (y, score) in planes.iter().zip(&scores) {
                assert!((score - difference(y).view().score(&w)).abs() < 1e-12, "seed {seed}: {y:?}, truth {truth:?}");
            }
            let mut sum = vec![0.25; chain.dim()];
            chain.add_planes(example, label_codes, &amounts, 3.0, &mut scratch, &mut sum);
            assert!(sum.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}");
            let found: Vec<u64> = scores.iter().chain(&sum).map(|value| value.to_bits()).collect();
            assert!(bits.is_empty() || bits == found, "seed {seed}: compiling changed bits");
            bits = found;
        }
    }
}
