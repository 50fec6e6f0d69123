//! Messages in time linear in the labels: Potts, and the distance transforms of Felzenszwalb and Huttenlocher (2012).

use super::vectors::{capped, first_smallest, smallest};

/// Writes messages of Potts energies, of either sign.
pub(super) fn potts(weight: f64, from: &[f64], out: &mut [f64]) {
    let shared = from.len().min(out.len());
    let least = smallest(from);
    let other = least + weight;
    capped(from, other, out);
    out[shared..].fill(other);
    if weight < 0.0 {
        // To differ is a gain, and the best label cannot differ from itself: it looks at the second best.
        let best = first_smallest(from);
        if let Some(out) = out.get_mut(best) {
            let second = smallest(&from[..best]).min(smallest(&from[best + 1..]));
            *out = from[best].min(second + weight);
        }
    }
}

/// Writes messages of `weight * min(|x - y|, cap)`, `weight > 0`: one pass up and one down.
pub(super) fn linear(weight: f64, cap: f64, from: &[f64], out: &mut [f64], values: &mut Vec<f64>) {
    values.clear();
    values.extend_from_slice(from);
    values.resize(from.len().max(out.len()), f64::INFINITY);
    let beyond = smallest(from) + weight * cap;
    let mut carried = f64::INFINITY;
    for value in values.iter_mut() {
        carried = if *value < carried + weight { *value } else { carried + weight };
        *value = carried;
    }
    carried = f64::INFINITY;
    for value in values.iter_mut().rev() {
        carried = if *value < carried + weight { *value } else { carried + weight };
        *value = carried;
    }
    capped(values, beyond, out);
}

/// The parabolas of a lower envelope, and the label from which each is the lowest.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    parabolas: Vec<(usize, f64)>,
}

/// Writes messages of `weight * min((x - y)^2, cap)`, `weight > 0`: the lower envelope of one parabola per label x.
pub(super) fn quadratic(weight: f64, cap: f64, from: &[f64], out: &mut [f64], envelope: &mut Envelope) {
    let parabolas = &mut envelope.parabolas;
    parabolas.clear();
    let half = 0.5 / weight;
    for (x, &height) in from.iter().enumerate() {
        if height == f64::INFINITY {
            continue;
        }
        let mut start = f64::NEG_INFINITY;
        while let Some(&(last, last_start)) = parabolas.last() {
            // Where the new parabola crosses the last one, from there on it is below.
            let middle = 0.5 * (x + last) as f64;
            let crossing = middle + (height - from[last]) * half / (x - last) as f64;
            if crossing > last_start {
                start = crossing;
                break;
            }
            parabolas.pop();
        }
        parabolas.push((x, start));
    }
    let beyond = smallest(from) + weight * cap;
    if parabolas.is_empty() {
        out.fill(f64::INFINITY);
        return;
    }
    let mut at = 0;
    for (y, out) in out.iter_mut().enumerate() {
        while at + 1 < parabolas.len() && parabolas[at + 1].1 < y as f64 {
            at += 1;
        }
        let x = parabolas[at].0;
        let distance = y.abs_diff(x) as f64;
        let value = from[x] + weight * (distance * distance);
        *out = if value < beyond { value } else { beyond };
    }
}
