//! Exact maximisation by enumeration: the judge of every other engine, for problems of a few thousand labellings.

/// The best labelling of `len` variables with `labels` labels each under `score`, and its score; the first in
/// lexicographic order where several are best. Costs `labels ^ len` evaluations.
pub fn best(len: usize, labels: usize, mut score: impl FnMut(&[u32]) -> f64) -> (Vec<u32>, f64) {
    let mut labelling = vec![0u32; len];
    let mut best = (labelling.clone(), score(&labelling));
    while advance(&mut labelling, labels) {
        let value = score(&labelling);
        if value > best.1 {
            best = (labelling.clone(), value);
        }
    }
    best
}

/// Steps to the next labelling in lexicographic order; false after the last.
fn advance(labelling: &mut [u32], labels: usize) -> bool {
    for label in labelling.iter_mut().rev() {
        *label += 1;
        if (*label as usize) < labels {
            return true;
        }
        *label = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every labelling is tried once.
    #[test]
    fn enumerates_everything() {
        let mut seen = std::collections::BTreeSet::new();
        let (labelling, score) = best(3, 4, |y| {
            assert!(seen.insert(y.to_vec()));
            f64::from(y[0] * 16 + y[1] * 4 + y[2])
        });
        assert_eq!((seen.len(), labelling, score), (64, vec![3, 3, 3], 63.0));
        assert_eq!(best(0, 4, |_| 1.5), (vec![], 1.5));
    }
}
