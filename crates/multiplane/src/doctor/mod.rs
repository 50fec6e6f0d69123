//! The oracle doctor: examines a task before training trusts it, and says what is wrong, where, and why probably.
//!
//! A [`Patient`] answers raw questions; [`examine`] asks them and returns a [`Diagnosis`]: [`Finding`]s, none where
//! all is sound, and a [`Profile`] of what calls cost. It can only show faults, never that there are none.
//!
//! The order: features and losses of the truths; decodings at zero, random and trained weights, their labellings looked
//! at like the truths; the same questions again, alone and together; then every answer against all labellings of its
//! example seen by then. Where one scores higher, `optimum` asks which mistake would explain the answers.

mod features;
mod finding;
mod notes;
mod optimum;
mod probe;
mod profile;
mod questions;
mod score;
mod ward;
mod weights;

pub use finding::{Diagnosis, Finding, Forecast, Kind, Profile};
pub use multiplane_tasks::patient::{AnyLabel, BoxedPatient, Claim, Decoded, Patient, RawFeatures, erase};

use ward::Ward;

/// Examples beyond those that are decoded of which truth, features and loss are looked at.
const GLANCES: usize = 1000;

/// How thorough an examination is, and for which run the forecast is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Examples that are decoded.
    pub examples: usize,
    /// Seed of the choice of examples and weights.
    pub seed: u64,
    /// Seconds after which no further example is begun.
    pub seconds: f64,
    /// Passes of the run that is planned.
    pub passes: f64,
    /// Planes that it keeps per example.
    pub planes: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { examples: 50, seed: 0, seconds: 120.0, passes: 50.0, planes: 10 }
    }
}

/// Examines a task.
pub fn examine<P: Patient + ?Sized>(patient: &mut P, plan: &Plan) -> Diagnosis {
    let examples = patient.examples();
    let mut ward = Ward::new(patient, plan);
    let mut order: Vec<usize> = (0..examples).collect();
    if examples > plan.examples {
        ward.rng.shuffle(&mut order);
    }
    for &example in order.iter().take(plan.examples) {
        if ward.is_late() {
            break;
        }
        if let Some(bed) = ward.admit(example) {
            ward.look_again(bed, 0);
        }
    }
    let decoded = ward.beds.len();
    for &example in order.iter().skip(plan.examples).take(GLANCES) {
        if ward.is_late() {
            break;
        }
        ward.admit(example);
        ward.beds.truncate(decoded);
    }
    if decoded > 0 {
        let weights = weights::list(&mut ward);
        let answers = questions::ask(&mut ward, &weights);
        questions::ask_again(&mut ward, &weights, &answers);
        questions::ask_together(&mut ward, &weights, &answers);
        questions::add_labellings(&mut ward);
        // Where indices are wrong, scores mean nothing.
        if !ward.notes.has(Kind::IndexOutOfRange) {
            optimum::judge(&mut ward, &weights, &answers);
        }
    }
    let profile = ward.meter.profile(ward.beds.len(), examples, ward.dim, plan);
    Diagnosis { findings: ward.notes.into_findings(), profile }
}
