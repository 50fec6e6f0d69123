//! The oracle doctor: examines a task before training trusts it, and says what is wrong, where, and why probably.
//!
//! A [`Probe`] answers raw questions; [`examine`] asks them and returns a [`Diagnosis`]: [`Finding`]s, none where
//! all is sound, and a [`Profile`] of what calls cost. It can only show faults, never that there are none.
//!
//! The order: features and losses of the truths; decodings at zero, random and trained weights, their labellings looked
//! at like the truths; the same questions again, alone and together; then every answer against all labellings of its
//! example seen by then. Where one scores higher, `optimum` asks which mistake would explain the answers.

mod coordinates;
mod examination;
mod features;
mod finding;
mod optimum;
mod profile;
mod questions;
mod score;
mod weights;

pub use finding::{CostEstimate, Diagnosis, ExaminationPlan, Finding, Kind, Profile};
pub use multiplane_tasks::probe::{AnyLabel, BoxedProbe, Decoded, DecodedTogether, Probe, RawFeatures, erase};

use examination::Examination;

/// Examples beyond those that are decoded of which truth, features and loss are looked at.
const GLANCES: usize = 1000;

/// Examines a task.
pub fn examine<P: Probe + ?Sized>(probe: &mut P, plan: &ExaminationPlan) -> Diagnosis {
    let examples = probe.examples();
    let mut exam = Examination::new(probe, plan);
    let mut order: Vec<usize> = (0..examples).collect();
    if examples > plan.examples {
        exam.rng.shuffle(&mut order);
    }
    for &example in order.iter().take(plan.examples) {
        if exam.is_late() {
            break;
        }
        if let Some(record) = exam.add_example(example) {
            exam.inspect_again(record, 0);
        }
    }
    let decoded = exam.records.len();
    for &example in order.iter().skip(plan.examples).take(GLANCES) {
        if exam.is_late() {
            break;
        }
        exam.add_example(example);
        exam.records.truncate(decoded);
    }
    if decoded > 0 {
        let weights = weights::list(&mut exam);
        let answers = questions::ask(&mut exam, &weights);
        questions::ask_again(&mut exam, &weights, &answers);
        questions::ask_together(&mut exam, &weights, &answers);
        questions::add_labellings(&mut exam);
        // Where indices are wrong, scores mean nothing.
        if !exam.log.has(Kind::IndexOutOfRange) {
            optimum::judge(&mut exam, &weights, &answers);
        }
    }
    let profile = exam.meter.profile(exam.records.len(), examples, exam.dim, plan);
    Diagnosis { findings: exam.log.into_findings(), profile }
}
