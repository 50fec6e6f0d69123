//! Weights with one coordinate: where decoding is wrong at these again and again, and right at others, features and
//! decoding disagree about that coordinate. A search that is merely not exact errs everywhere or nowhere.

use multiplane_tasks::probe::Probe;

use super::examination::{Examination, Violation};
use super::weights::NamedWeights;

/// Coordinates that are suspected, and as many that are not.
const COORDINATES: usize = 12;

/// Sizes of the weight, one example for each.
const FIRST: [f64; 3] = [1.0, 3.0, 0.5];
/// Sizes of the weight when a suspicion is checked once more.
const ONCE_MORE: [f64; 3] = [2.0, 0.2, 7.0];

/// Returns the cause, if features and decoding disagree about some coordinates.
pub(super) fn wrong_coordinates<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    weights: &[NamedWeights],
    violations: &[Violation<'_>],
) -> Option<String> {
    let (mut wrong, mut right) = (Vec::new(), 0);
    for coordinate in candidates(exam, weights, violations) {
        if exam.is_late() {
            break;
        }
        let free = !exam.probe.nonnegative().iter().any(|range| range.contains(&coordinate));
        let signs: &[f64] = if free { &[1.0, -1.0] } else { &[1.0] };
        let always = signs.iter().any(|sign| {
            is_always_wrong(exam, coordinate, *sign, &FIRST) && is_always_wrong(exam, coordinate, *sign, &ONCE_MORE)
        });
        if always {
            wrong.push(coordinate);
        } else {
            right += 1;
        }
    }
    if wrong.is_empty() || right == 0 {
        return None;
    }
    let shown: Vec<String> = wrong.iter().take(5).map(usize::to_string).collect();
    let more = if wrong.len() > 5 { ", ..." } else { "" };
    Some(format!(
        "features and decode disagree about coordinates {}{more} ({} of {} tried): with a weight there alone, decode does \
         not find the labelling with the greatest feature. A term is missing in decode, or has another sign or place",
        shown.join(", "),
        wrong.len(),
        wrong.len() + right
    ))
}

/// Coordinates in which labellings differ: those that made better labellings better, and those that did not.
fn candidates<P: Probe + ?Sized>(
    exam: &Examination<'_, P>,
    weights: &[NamedWeights],
    violations: &[Violation<'_>],
) -> Vec<usize> {
    let mut blame = vec![0.0; exam.dim];
    let mut differs = vec![false; exam.dim];
    for record in &exam.records {
        for (k, value) in record.labellings.iter().flat_map(|labelling| labelling.features.iter()) {
            differs[k] |= record.labellings.iter().any(|other| other.features.at(k) != value);
        }
    }
    for violation in violations {
        let (w, labellings) = (&weights[violation.answer.at].w, &exam.records[violation.answer.record].labellings);
        labellings[violation.better].features.iter().for_each(|(k, value)| blame[k] += w[k] * value);
        labellings[violation.answer.chosen].features.iter().for_each(|(k, value)| blame[k] -= w[k] * value);
    }
    let mut order: Vec<usize> = (0..exam.dim).filter(|&k| differs[k]).collect();
    order.sort_by(|a, b| blame[*b].total_cmp(&blame[*a]));
    if order.len() > 2 * COORDINATES {
        let unsuspected = order.split_off(order.len() - COORDINATES);
        order.truncate(COORDINATES);
        order.extend(unsuspected);
    }
    order
}

/// Returns true if decoding misses the greatest feature at every size, in an example of its own each where there are
/// enough.
fn is_always_wrong<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    coordinate: usize,
    sign: f64,
    sizes: &[f64],
) -> bool {
    let mut w = vec![0.0; exam.dim];
    let mut records = Vec::new();
    for record in 0..exam.records.len() {
        let mut values = exam.records[record].labellings.iter().map(|labelling| labelling.features.at(coordinate));
        let first = values.next();
        if values.any(|value| Some(value) != first) {
            records.push(record);
        }
    }
    if records.is_empty() || (records.len() == 1 && exam.records.len() > 1) {
        return false; // one example proves nothing about a coordinate
    }
    sizes.iter().zip(records.iter().cycle()).all(|(size, &record)| {
        w[coordinate] = sign * size;
        let Some(answer) = exam.decode(record, &w, 0, false) else { return false };
        let record = &exam.records[record];
        let feature = |place: usize| sign * record.labellings[place].features.at(coordinate);
        let rivals = record.rivals(answer.chosen).map(|(place, _)| place);
        let best = rivals.map(feature).fold(f64::NEG_INFINITY, f64::max);
        feature(answer.chosen) < best - 1e-6 * best.abs()
    })
}
