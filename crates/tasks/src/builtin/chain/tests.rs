//! The chain's layouts and answers against plain code.

use multiplane_core::rng::Rng;
use multiplane_core::task::Task;

use super::*;
use crate::builtin::task::{from_file_layout, to_file_layout};
use crate::builtin::testing::ListedExample;
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

/// Answers are the best of all labellings, and their planes and bounds are those of features.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, mut rng) = random(seed);
        let truth = labelling(&chain, &x, &mut rng);
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_answers(&mut scratch);
    }
}

/// A combination has only labels that positions have in what is known, and none such is better.
#[test]
fn recombination_is_the_best_of_what_is_known() {
    let mut scratch = ChainScratch::default();
    for seed in 0..300 {
        let (chain, x, w, mut rng) = random(seed);
        let [truth, one, other] = [(); 3].map(|()| labelling(&chain, &x, &mut rng));
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_recombination(&[one, other], &mut scratch);
    }
}

/// Planes known by their labellings alone are differences of feature vectors.
#[test]
fn planes_by_code_are_feature_differences() {
    let mut scratch = ChainScratch::default(); // reused, so stale buffers would show
    for seed in 0..400 {
        let (chain, x, w, mut rng) = random(seed);
        let truth = labelling(&chain, &x, &mut rng);
        let count = if x.is_empty() { 0 } else { seed % 6 };
        let planes: Vec<Vec<u32>> = (0..count).map(|_| labelling(&chain, &x, &mut rng)).collect();
        ListedExample::new(&chain, (&x, &truth, &w), seed).check_codes(&planes, &mut scratch);
    }
}

fn labelling(chain: &Chain, x: &SparseRows, rng: &mut Rng) -> Vec<u32> {
    (0..x.len()).map(|_| rng.below(chain.labels as u64) as u32).collect()
}
