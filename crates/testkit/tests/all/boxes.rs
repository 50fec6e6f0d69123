//! Boxes in maps of words against the contracts of oracles and solvers.

use multiplane_core::rng::Rng;
use multiplane_infer::boxes::Rect;
use multiplane_tasks::builtin::boxes::{BoxSpec, Boxed, Normalise, OverlapLoss, examples};
use multiplane_tasks::data::boxes::{BoxArrays, Boxes};
use multiplane_tasks::dataset::Dataset;
use multiplane_testkit::contract::{check_certificates, check_oracle, solvers_on};
use multiplane_testkit::small::{Small, of_task};

/// Two to four images of 4 x 3 pixels with one or two boxes, or none; norms, losses and levels by seed.
fn small(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 13);
    let none = seed.is_multiple_of(3);
    let mut arrays = BoxArrays { word_counts: vec![3], box_offsets: vec![0], ..BoxArrays::default() };
    for _ in 0..2 + rng.below(3) {
        arrays.map_sizes.push([3, 4]);
        arrays.words.extend((0..12).map(|_| rng.below(4) as i64 - 1));
        for _ in 0..rng.below(2) + u64::from(!none) {
            let (left, top) = (rng.below(4) as i64, rng.below(3) as i64);
            let (right, bottom) =
                (left + 1 + rng.below(4 - left as u64) as i64, top + 1 + rng.below(3 - top as u64) as i64);
            arrays.boxes.push([left, top, right, bottom]);
        }
        arrays.box_offsets.push(arrays.boxes.len());
    }
    let spec = BoxSpec {
        levels: 1 + seed as usize % 2,
        normalise: [Normalise::None, Normalise::Area, Normalise::L1, Normalise::L2][seed as usize % 4],
        loss: [OverlapLoss::Overlap, OverlapLoss::Missed][seed as usize / 4 % 2],
        stride: 1,
        none,
        ..BoxSpec::default()
    };
    let data = Dataset::new(Boxes::new(&arrays).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    let sides = |length: u32| (0..length).flat_map(move |from| (from + 1..=length).map(move |to| (from, to)));
    let boxes =
        sides(4).flat_map(|(left, right)| sides(3).map(move |(top, bottom)| Rect::new(left, top, right, bottom)));
    let all: Vec<Boxed> =
        none.then(Boxed::default).into_iter().chain(boxes.map(|rect| Boxed::new(vec![rect]))).collect();
    of_task(format!("boxes {seed}"), task, examples, move |truth| [&all[..], std::slice::from_ref(truth)].concat())
}

/// Answers are the best of all boxes, and the same for a worker that was asked nothing before.
#[test]
fn answers_equal_enumeration() {
    (0..60).for_each(|seed| check_oracle(&small(seed), seed));
}

/// Whenever a solver that can run on such an oracle stops, its certificate is that of an independent judge.
#[test]
fn certificates_are_true() {
    let able = solvers_on(small(1).oracle());
    assert!(able.len() > 10, "{}", able.len());
    for entry in able {
        (0..4).for_each(|seed| {
            check_certificates(entry, &small(seed), [1.0, 0.1][(seed % 2) as usize], &[1.0, 3.5, 40.0])
        });
    }
}
