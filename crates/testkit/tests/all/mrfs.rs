//! Pairwise models with every registered solver: bounds hold the optimum of an independent solver whatever the oracle can
//! prove, and neither threads nor a resumed run change a bit.

use multiplane_tasks::builtin::mrf::{MrfInference, MrfLoss, MrfSpec};
use multiplane_testkit::engines::{check_bits, check_bounds};
use multiplane_testkit::small;

/// All that decides which engine answers.
fn specs() -> Vec<MrfSpec> {
    let spec = |inference, loss, max_iterations| MrfSpec { inference, loss, max_iterations, ..MrfSpec::default() };
    vec![
        spec(MrfInference::Auto, MrfLoss::Hamming, 100),
        spec(MrfInference::Trws, MrfLoss::Hamming, 100),
        spec(MrfInference::Trws, MrfLoss::HammingSum, 1),
    ]
}

/// Bounds hold the optimum.
#[test]
fn bounds_hold_whatever_the_engine() {
    let mut certified = 0;
    for spec in specs() {
        for seed in 0..6 {
            let lambda = [0.5, 0.1][(seed % 2) as usize];
            let exact = spec.inference == MrfInference::Auto;
            certified += check_bounds(&small::mrf(seed, &spec), &lambda.into(), exact, 1000.0);
        }
    }
    assert!(certified > 300);
}

/// Neither the number of workers nor being resumed changes how a run ends.
#[test]
fn no_bit_depends_on_threads_or_resumes() {
    for spec in specs() {
        (0..4).for_each(|seed| check_bits(&small::mrf(seed, &spec), &0.05.into()));
    }
}
