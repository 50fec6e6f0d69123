//! The tree over labels that fits a training set best: a maximum spanning tree by mutual information (Chow and Liu,
//! "Approximating discrete probability distributions with dependence trees", IEEE Transactions on Information Theory
//! 1968).
//!
//! Cost: O(labels^2), and the pairs that occur together, row by row.

use std::collections::HashMap;

/// Returns the tree's edges j < k for sets of labels below `labels`; of equal pairs those of the lowest labels win.
pub(super) fn tree(labels: usize, sets: &[Vec<u32>]) -> Vec<[u32; 2]> {
    let mut single = vec![0u32; labels];
    let mut both: HashMap<[u32; 2], u32> = HashMap::new();
    for set in sets {
        for (place, &k) in set.iter().enumerate() {
            single[k as usize] += 1;
            set[..place].iter().for_each(|&j| *both.entry([j.min(k), j.max(k)]).or_default() += 1);
        }
    }
    let information = |j: u32, k: u32| {
        let both = both.get(&[j.min(k), j.max(k)]).copied().unwrap_or(0);
        mutual_information(sets.len() as u32, single[j as usize], single[k as usize], both)
    };
    // Prim: for every label outside of the tree its best neighbour inside.
    let mut nearest: Vec<(f64, u32)> = (0..labels as u32).map(|k| (information(0, k), 0)).collect();
    let mut outside: Vec<u32> = (1..labels as u32).collect();
    let mut edges = Vec::with_capacity(outside.len());
    while !outside.is_empty() {
        let mut at = 0;
        for place in 1..outside.len() {
            if nearest[outside[place] as usize].0 > nearest[outside[at] as usize].0 {
                at = place;
            }
        }
        let next = outside.remove(at);
        let parent = nearest[next as usize].1;
        edges.push([parent.min(next), parent.max(next)]);
        for &k in &outside {
            let found = information(next, k);
            if found > nearest[k as usize].0 {
                nearest[k as usize] = (found, next);
            }
        }
    }
    edges.sort_unstable();
    edges
}

/// The mutual information of two labels in nats, of counts: rows, rows with either, rows with both.
fn mutual_information(n: u32, j: u32, k: u32, both: u32) -> f64 {
    let n = f64::from(n);
    let part = |joint: f64, a: f64, b: f64| if joint > 0.0 { joint / n * (joint * n / (a * b)).ln() } else { 0.0 };
    let (j, k, both) = (f64::from(j), f64::from(k), f64::from(both));
    part(both, j, k) + part(j - both, j, n - k) + part(k - both, n - j, k) + part(n - j - k + both, n - j, n - k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_core::rng::Rng;

    /// Mutual information by hand: of equal labels it is their entropy, of independent ones nothing.
    #[test]
    fn information_by_hand() {
        assert!((mutual_information(4, 2, 2, 2) - 2.0_f64.ln()).abs() < 1e-15);
        assert!((mutual_information(4, 2, 2, 0) - 2.0_f64.ln()).abs() < 1e-15);
        assert!(mutual_information(4, 2, 2, 1).abs() < 1e-15);
        assert_eq!(mutual_information(4, 0, 2, 0), 0.0);
    }

    /// Labels that copy their predecessor with some noise give the chain back; the tree has no less information than
    /// any other that is tried.
    #[test]
    fn chains_are_found() {
        let mut rng = Rng::new(3, 0);
        let sets: Vec<Vec<u32>> = (0..4000)
            .map(|_| {
                let mut on = rng.below(2) == 0;
                let mut draw = |_: &u32| {
                    on ^= rng.below(8) == 0;
                    on
                };
                (0..6).filter(|k| draw(k)).collect()
            })
            .collect();
        assert_eq!(tree(6, &sets), [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]);
        assert_eq!(tree(1, &[vec![0], vec![]]), [[0u32; 2]; 0]);
        assert_eq!(tree(3, &[vec![], vec![]]), [[0, 1], [0, 2]], "labels that nobody has hang on as well");
    }
}
