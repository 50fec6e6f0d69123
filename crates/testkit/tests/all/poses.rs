//! Poses in grids against the contracts of oracles and solvers.

use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use multiplane_tasks::builtin::pose::{Pose, PoseSpec, examples};
use multiplane_tasks::data::container::Matrix;
use multiplane_tasks::data::poses::{PoseArrays, Poses};
use multiplane_tasks::dataset::Dataset;
use multiplane_testkit::contract::{check_certificates, check_oracle, solvers_on};
use multiplane_testkit::small::{Small, of_task};

/// Two or three grids of 2 x 3 cells with three joints; the last joint is not always marked. The seed chooses tree,
/// template, types and loss.
fn small(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 17);
    let n = 2 + rng.below(2) as usize;
    let numbers: Vec<f32> = (0..n * 6 * 2).map(|_| rng.unit() as f32).collect();
    let mut joints = Vec::new();
    for _ in 0..n {
        joints.extend([[0.0, rng.below(2) as f64], [2.0, rng.below(2) as f64]]);
        joints.push(if rng.below(3) == 0 { [f64::NAN; 2] } else { [rng.below(3) as f64, rng.below(2) as f64] });
    }
    let arrays = PoseArrays { grid_sizes: vec![[2, 3]; n], channels: Matrix::new(numbers, 6 * n, 2), parts: 3, joints };
    let spec = PoseSpec {
        edges: ["0-1,1-2", "2-0,1-0"][seed as usize % 2].into(),
        torso: "0-1".into(),
        alpha: [0.5, 1.0][seed as usize / 2 % 2],
        template: [1, 3][seed as usize / 4 % 2],
        types: [1, 1, 2][seed as usize % 3],
        ..PoseSpec::default()
    };
    let data = Dataset::new(Poses::new(&arrays).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    assert!(!task.nonnegative().is_empty());
    let (joints, units) = (3_u32, 6 * spec.types as u32);
    let all = move |truth: &Pose| {
        let marked: Vec<bool> = truth.joints().map(|joint| joint.is_some()).collect();
        let codes = (0..joints).map(|k| if marked[k as usize] { units } else { 1 }).product();
        let pose = |mut code: u32| {
            let unit = |&is_marked: &bool| {
                let unit = code % units;
                code /= if is_marked { units } else { 1 };
                is_marked.then_some(unit)
            };
            let found: Vec<Option<u32>> = marked.iter().map(unit).collect();
            let places = found.iter().map(|unit| unit.map(|unit| [unit % 6 % 3, unit % 6 / 3]));
            Pose::new(places).with_types(|joint| found[joint].map_or(0, |unit| (unit / 6) as u8))
        };
        (0..codes).map(pose).collect()
    };
    of_task(format!("poses {seed}"), task, examples, all)
}

/// Answers are the best of all poses, and the same for a worker that was asked nothing before.
#[test]
fn answers_equal_enumeration() {
    (0..40).for_each(|seed| check_oracle(&small(seed), seed));
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
