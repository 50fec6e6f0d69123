//! The cost of a pairwise task for its author: one that names its nodes, edges and features in a file of 128 lines has
//! decoder, planes, lists, recombination, max-marginals, bounds of rounding and the slow code of `verify`, and all hold
//! against enumeration.

mod ring;

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, Task};
use multiplane_tasks::builtin::BuiltinTask;
use multiplane_tasks::builtin::pairwise::{Labelling, PairwiseTask};
use multiplane_tasks::data::{SparseRows, Tagged};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskSpec;
use multiplane_testkit::contract::{check_oracle, check_solver};
use multiplane_testkit::several::Looked;
use multiplane_testkit::small::{self, Small};
use ring::{ENTRY, Ring, RingInput, RingSpec};

type Rings = (PairwiseTask<Ring>, Examples<RingInput, Labelling>);

/// Up to four rings of up to five rows with two or three labels.
fn random(seed: u64) -> Rings {
    let mut rng = Rng::new(seed, 21);
    let (labels, features) = (2 + rng.below(2) as usize, 1 + rng.below(3) as usize);
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..1 + rng.below(4) {
        let mut rows = SparseRows::new(features);
        let indices: Vec<u32> = (0..features as u32).collect();
        for _ in 0..1 + rng.below(5) {
            rows.push(&indices, &indices.iter().map(|_| rng.unit() - 0.5).collect::<Vec<f64>>());
        }
        let truth = (0..rows.len()).map(|_| rng.below(labels as u64) as u32).collect();
        inputs.push(RingInput::new(rows));
        truths.push(Labelling::new(truth));
    }
    (PairwiseTask(Ring { labels, features }), Examples::new(inputs, truths))
}

fn all(truth: &Labelling, labels: usize) -> Vec<Labelling> {
    small::sequences(truth.labels.len(), labels).into_iter().map(Labelling::new).collect()
}

fn problem(seed: u64) -> Small {
    let (task, examples) = random(seed);
    let labels = task.0.labels;
    small::of_task(format!("ring, seed {seed}"), task, examples, move |truth| all(truth, labels))
}

/// Answers, planes, lists, labellings kept apart and max-marginals are those of enumeration.
#[test]
fn a_ring_is_what_enumeration_says() {
    let mut looked = Looked::default();
    for seed in 0..40 {
        let problem = problem(seed);
        check_oracle(&problem, seed);
        looked += problem.check_several(seed);
    }
    assert!(looked.lists > 1000 && looked.apart > 300 && looked.margins > 300, "{looked:?}");
}

/// Every solver comes to the optimum of an independent one.
#[test]
fn solvers_come_to_the_optimum() {
    for seed in 0..3 {
        let problem = problem(seed);
        for entry in multiplane_testkit::contract::solvers_on(problem.oracle()) {
            check_solver(entry, &problem, 0.1, 3000.0, 2e-2);
        }
    }
}

/// The computation of `verify`, recombination and the bounds of rounding follow from the same lines.
#[test]
fn capabilities_hold_against_enumeration() {
    for seed in 0..40 {
        let (task, examples) = random(seed);
        let (task, mut rng) = (Arc::new(task), Rng::new(seed, 22));
        let w: Vec<f64> = (0..task.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
        let has = task.capabilities();
        let magnitudes = has.magnitudes.unwrap().magnitudes(&examples);
        let mut terms = 0.0;
        for block in 0..examples.labels.len() {
            let example = examples.get(block);
            let score = |y: &Labelling| task.score(example.input, y, &w, &mut Plane::new());
            let value = |y: &Labelling| score(y).0 - score(example.truth).0 + task.loss(example.truth, y);
            let all = all(example.truth, task.0.labels);
            let best = |among: &mut dyn Iterator<Item = &Labelling>| among.map(value).fold(f64::MIN, f64::max);
            terms += all.iter().map(|y| score(y).1).fold(0.0, f64::max) / examples.labels.len() as f64;

            let hinge = best(&mut all.iter());
            let again = task.reference_hinge(example.input, example.truth, &w);
            assert!((again - hinge).abs() < 1e-12, "seed {seed}: verify finds {again}, not {hinge}");

            let y = &all[rng.below(all.len() as u64) as usize];
            let mut plane = Plane::new();
            let mut scratch = Default::default();
            task.plane(Case::new(example, 1.0, &mut scratch, &mut ()), y, &mut plane);
            let mut score = task.reference_plane(example.input, example.truth, &y.labels, &mut |_, _| {}).unwrap();
            task.reference_plane(example.input, example.truth, &y.labels, &mut |k, value| score += value * w[k]);
            assert!((plane.view().score(&w) - score).abs() < 1e-12, "seed {seed}: a plane is not that of verify");

            let mut found = y.clone();
            let (memory, recombination) = (&mut (), has.recombination.unwrap());
            let case = Case::new(example, 1.0, &mut scratch, memory);
            recombination.recombine(case, &w, &y.labels, &mut found).unwrap();
            let of_both = |z: &&Labelling| {
                (0..z.labels.len()).all(|v| [y, example.truth].iter().any(|known| known.labels[v] == z.labels[v]))
            };
            let expected = best(&mut all.iter().filter(of_both));
            assert!(of_both(&&found), "seed {seed}: a label that neither has");
            assert!(value(&found) >= value(y).max(0.0) - 1e-12 && value(&found) <= expected + 1e-12, "seed {seed}");
        }
        assert!(terms <= magnitudes.most(&w) + 1e-12, "seed {seed}: {terms} above {}", magnitudes.most(&w));
    }
}

/// It opens as the built-in tasks do, and predicts after a line of parameters.
#[test]
fn a_ring_is_opened_on_data() {
    let mut rings = Tagged::new(2);
    for _ in 0..2 {
        (0..3).for_each(|row| rings.push(["day", "night"][row as usize % 2], &[row % 2], &[1.0]));
        rings.end_sequence();
    }
    let data = Dataset::new(rings);
    let problem = RingSpec { bias: true }.open(data, None).unwrap();
    assert_eq!((problem.task(), problem.blocks(), problem.dim()), (ENTRY.name, 2, 2 * (3 + 2)));
    let mut texts = Vec::new();
    problem.predictor().predict(&[0.0; 10], 1, &mut |prediction| texts.push(prediction.text)).unwrap();
    assert_eq!(texts, ["day day day", "day day day"]);
}
