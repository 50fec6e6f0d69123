//! The weights at which questions are asked: zero, random ones where score or loss or neither decides, trained ones.

use multiplane_tasks::probe::Probe;

use super::examination::Examination;

/// How large scores are beside losses at random weights.
const SCALES: [f64; 4] = [1.0, 0.1, 3.0, 30.0];

/// Steps of the training per example.
const PASSES: usize = 2;

/// Most steps in all.
const MOST_STEPS: usize = 100;

/// Weights with a name for messages.
pub(super) struct NamedWeights {
    pub(super) w: Vec<f64>,
    pub(super) name: String,
}

/// Returns all weights, zero first.
pub(super) fn list<P: Probe + ?Sized>(exam: &mut Examination<'_, P>) -> Vec<NamedWeights> {
    let mut list = vec![NamedWeights { w: vec![0.0; exam.dim], name: "w = 0".into() }];
    // Answers at 0 show how long planes are and how large losses.
    let mut loss = 0.0_f64;
    for record in 0..exam.records.len().min(8) {
        if let Some(answer) = exam.decode(record, &list[0].w, 0, true) {
            loss = loss.max(exam.records[record].labellings[answer.chosen].loss);
        }
    }
    let unit = if loss > 0.0 { loss } else { 1.0 } / exam.meter.plane_length();
    for scale in SCALES {
        let mut w: Vec<f64> = (0..exam.dim).map(|_| 2.0 * scale * unit * (2.0 * exam.rng.unit() - 1.0)).collect();
        keep_signs(exam, &mut w);
        list.push(NamedWeights { w, name: format!("random w up to {:.3}", 2.0 * scale * unit) });
    }
    list.push(NamedWeights { w: trained(exam), name: "w after some training".into() });
    list
}

fn keep_signs<P: Probe + ?Sized>(exam: &Examination<'_, P>, w: &mut [f64]) {
    for range in exam.probe.nonnegative() {
        if let Some(part) = w.get_mut(range) {
            part.iter_mut().for_each(|w| *w = w.abs());
        }
    }
}

/// A few subgradient steps (Pegasos, lambda = 1/n).
fn trained<P: Probe + ?Sized>(exam: &mut Examination<'_, P>) -> Vec<f64> {
    let (mut w, records) = (vec![0.0; exam.dim], exam.records.len());
    let nonnegative = exam.probe.nonnegative();
    for step in 0..(PASSES * records).min(MOST_STEPS) {
        if exam.is_late() {
            break;
        }
        let Some(answer) = exam.decode(step % records, &w, 0, true) else { continue };
        let t = (step + 1) as f64;
        w.iter_mut().for_each(|w| *w *= 1.0 - 1.0 / t);
        let labellings = &exam.records[step % records].labellings;
        let step = records as f64 / t;
        labellings[answer.chosen].features.iter().for_each(|(k, value)| w[k] -= step * value);
        labellings[0].features.iter().for_each(|(k, value)| w[k] += step * value);
        for range in &nonnegative {
            if let Some(part) = w.get_mut(range.clone()) {
                part.iter_mut().for_each(|w| *w = w.max(0.0));
            }
        }
    }
    w
}
