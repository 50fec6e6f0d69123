//! Projection of vectors of a space that nobody writes down onto the span of few of them, which are chosen one by one:
//! each time the one that leaves the least (orthogonal least squares on a partial Cholesky factor of K).
//!
//! With `w_l = sum_i u_il k_i` and the residual `r_l` of w_l, vector i brings `sum_l <r_l, k_i>^2 / d_i`, where d_i is
//! what the span leaves of `|k_i|^2`. Costs O(count chosen^2) and as many numbers of memory as `count chosen`, and a
//! row of K for each one chosen.

use crate::linalg;

/// The share of a vector's square that the span must leave for it to be chosen: below it, rounding of 32-bit values of
/// K decides what is left.
const INDEPENDENT: f64 = 1e-6;

/// Vectors, and the combinations of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The vectors chosen, in the order of the choice.
    pub chosen: Vec<usize>,
    /// Their coefficients, `[target][chosen]`.
    pub coefficients: Vec<f64>,
}

/// Chooses up to `most` vectors and projects on them. `squares` are the vectors' squared lengths (`[count]`); `targets`
/// are their inner products with what is projected (`[target][count]`), and become those with what is left; `row`
/// writes the inner products of a vector with all. Ties go to the lower index.
///
/// # Panics
/// If there is not one number per target and vector.
pub fn project(
    squares: &[f64],
    targets: &mut [f64],
    most: usize,
    mut row: impl FnMut(usize, &mut [f64]),
) -> Projection {
    let count = squares.len();
    if count == 0 {
        return Projection { chosen: Vec::new(), coefficients: Vec::new() };
    }
    assert_eq!(targets.len() % count, 0, "one number per target and vector");
    let mut left = squares.to_vec();
    // Columns of the factor, and the targets' coordinates along them.
    let (mut factor, mut along) = (Vec::<f64>::new(), vec![Vec::new(); targets.len() / count]);
    let mut chosen: Vec<usize> = Vec::new();
    let mut is_chosen = vec![false; count];
    while chosen.len() < most {
        let gain = |i: usize| targets.iter().skip(i).step_by(count).map(|r| r * r).sum::<f64>() / left[i];
        let fits = |i: &usize| !is_chosen[*i] && left[*i] > INDEPENDENT * squares[*i];
        let better = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        let best = (0..count).filter(fits).map(|i| (i, gain(i))).fold((count, 0.0), better);
        let (next, _) = best;
        if next == count {
            break; // nothing is left
        }
        let mut column = vec![0.0; count];
        row(next, &mut column);
        for of_chosen in factor.chunks_exact(count) {
            linalg::axpy(-of_chosen[next], of_chosen, &mut column);
        }
        let length = left[next].sqrt();
        linalg::scale(1.0 / length, &mut column);
        column[next] = length;
        for (target, along) in targets.chunks_exact_mut(count).zip(&mut along) {
            let share = target[next] / length;
            linalg::axpy(-share, &column, target);
            along.push(share);
        }
        left.iter_mut().zip(&column).for_each(|(left, part)| *left -= part * part);
        is_chosen[next] = true;
        chosen.push(next);
        factor.extend(column);
    }
    // The factor's rows of those chosen are a triangle T: T' c = along.
    let rank = chosen.len();
    let at = |row: usize, column: usize| factor[column * count + chosen[row]];
    let mut coefficients = Vec::with_capacity(along.len() * rank);
    for mut along in along {
        for k in (0..rank).rev() {
            along[k] = (along[k] - (k + 1..rank).map(|i| at(i, k) * along[i]).sum::<f64>()) / at(k, k);
        }
        coefficients.extend(along);
    }
    Projection { chosen, coefficients }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Vectors written down, and what to project: as inner products, and as they are.
    struct Space {
        vectors: Vec<Vec<f64>>,
        targets: Vec<Vec<f64>>,
    }

    impl Space {
        fn new(seed: u64) -> Self {
            let mut rng = Rng::new(seed, 0);
            let (count, dim) = (3 + rng.below(12) as usize, 4 + rng.below(8) as usize);
            let mut draw = || -> Vec<f64> { (0..dim).map(|_| 2.0 * rng.unit() - 1.0).collect() };
            let mut vectors: Vec<Vec<f64>> = (0..count).map(|_| draw()).collect();
            vectors[count - 1] = vectors[0].clone(); // never chosen beside its equal
            let targets = (0..1 + seed as usize % 3).map(|_| draw()).collect();
            Space { vectors, targets }
        }

        fn project(&self, most: usize) -> Projection {
            let products = |a: &[f64]| -> Vec<f64> { self.vectors.iter().map(|b| linalg::dot(a, b)).collect() };
            let squares: Vec<f64> = self.vectors.iter().map(|a| linalg::sum_squares(a)).collect();
            let mut targets = self.targets.iter().map(|target| products(target)).collect::<Vec<_>>().concat();
            project(&squares, &mut targets, most, |i, out| out.copy_from_slice(&products(&self.vectors[i])))
        }

        /// Returns the rest of a target that a combination of the vectors leaves.
        fn rest(&self, target: usize, chosen: &[usize], coefficients: &[f64]) -> Vec<f64> {
            let mut rest = self.targets[target].clone();
            chosen.iter().zip(coefficients).for_each(|(&i, c)| linalg::axpy(-c, &self.vectors[i], &mut rest));
            rest
        }

        /// Returns the rest of all targets that the nearest combination leaves, by normal equations and elimination.
        fn least(&self, chosen: &[usize]) -> f64 {
            let gram = |a: usize, b: usize| linalg::dot(&self.vectors[chosen[a]], &self.vectors[chosen[b]]);
            let mut sum = 0.0;
            for (k, target) in self.targets.iter().enumerate() {
                let size = chosen.len();
                let row = |a: usize| -> Vec<f64> {
                    let own = linalg::dot(&self.vectors[chosen[a]], target);
                    (0..size).map(|b| gram(a, b)).chain([own]).collect()
                };
                let mut system: Vec<Vec<f64>> = (0..size).map(row).collect();
                for p in 0..size {
                    let pivot = (p..size).max_by(|a, b| system[*a][p].abs().total_cmp(&system[*b][p].abs())).unwrap();
                    system.swap(p, pivot);
                    for a in (0..size).filter(|a| *a != p) {
                        let factor = system[a][p] / system[p][p];
                        let pivot = system[p].clone();
                        linalg::axpy(-factor, &pivot, &mut system[a]);
                    }
                }
                let solved: Vec<f64> = (0..size).map(|p| system[p][size] / system[p][p]).collect();
                sum += linalg::sum_squares(&self.rest(k, chosen, &solved));
            }
            sum
        }
    }

    /// Coefficients are those of a dense solution, every choice leaves the least of all that could be made, and nothing
    /// of targets within the span is left.
    #[test]
    fn projections_are_nearest() {
        for seed in 0..60 {
            let space = Space::new(seed);
            let (count, dim) = (space.vectors.len(), space.targets[0].len());
            for most in 0..=count {
                let Projection { chosen, coefficients } = space.project(most);
                assert_eq!(chosen.len(), most.min(count - 1).min(dim), "seed {seed}, {most} of {count} in {dim}");
                let left = (0..space.targets.len())
                    .map(|k| linalg::sum_squares(&space.rest(k, &chosen, &coefficients[k * chosen.len()..])));
                let left: f64 = left.sum();
                assert!((left - space.least(&chosen)).abs() < 1e-7, "seed {seed}, {most}: {left}");
                let Some((last, before)) = chosen.split_last() else { continue };
                let with = |i: usize| space.least(&[before, &[i]].concat());
                let others = (0..count - 1).filter(|i| !before.contains(i) && *i != *last && count - 1 <= dim);
                assert!(others.map(with).all(|other| other >= left - 1e-7), "seed {seed}, {most}: not the best choice");
            }
        }
    }
}
