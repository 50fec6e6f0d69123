//! Gibbs distributions over labellings that are listed: `p_k ~ q_k exp(score_k / tau)`.
//!
//! In logarithms, relative to the largest: exact for scores of any size.

use multiplane_infer::marginals::FLOOR;

/// Writes into `to` the distribution that follows `from` (uniform where it is empty, 1 for each), and returns
/// `tau ln sum_k q_k exp(scores_k / tau)`; 0 where tau is infinite.
pub(in crate::builtin) fn gibbs(scores: &[f64], tau: f64, from: &[f64], to: &mut [f64]) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (k, (out, score)) in to.iter_mut().zip(scores).enumerate() {
        *out = (score - most) / tau + from.get(k).map_or(0.0, |q| q.max(FLOOR).ln());
    }
    let log = gibbs_of(to);
    if tau.is_finite() { most + tau * log } else { 0.0 }
}

/// Replaces logarithms by the distribution that is proportional to what they are of; returns the logarithm of the sum.
pub(in crate::builtin) fn gibbs_of(logs: &mut [f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in logs.iter_mut() {
        *value = (*value - most).exp();
        sum += *value;
    }
    logs.iter_mut().for_each(|value| *value /= sum);
    most + f64::ln(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand; with scores so large that their exponentials are none, and temperatures near 0 and without end.
    #[test]
    fn distributions_by_hand() {
        let mut p = [0.0; 3];
        let value = gibbs(&[0.0, 2.0f64.ln(), 0.0], 1.0, &[], &mut p);
        assert!((value - 4.0f64.ln()).abs() < 1e-15 && (p[1] - 0.5).abs() < 1e-15, "{p:?}");
        let value = gibbs(&[0.0, 1e7, 1e7 - 1.0], 1.0, &[0.5, 0.25, 0.25], &mut p);
        assert!((p[2] - 1.0 / (1.0 + 1f64.exp())).abs() < 1e-15 && (value - 1e7).abs() < 2.0, "{p:?} {value}");
        assert_eq!(gibbs(&[3.0, 2.0, 1.0], f64::INFINITY, &[0.5, 0.0, 0.5], &mut p), 0.0);
        assert!((p[0] - 0.5).abs() < 1e-11 && p[1] > 0.0 && p[1] < 1e-11, "{p:?}");
        gibbs(&[3.0, 2.0, 3.5], 1e-12, &[0.9, 0.1, 0.0], &mut p);
        assert_eq!(p, [0.0, 0.0, 1.0]);
    }
}
