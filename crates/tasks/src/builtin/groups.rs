//! Groups of near points in the plane.

/// A point, or a mean, with its weight.
pub(crate) type WeightedPoint = ([f64; 2], f64);

/// Most rounds of the grouping.
const ROUNDS: usize = 100;

/// Returns the means of at most `count` groups of near points, each with the weight of its members (k-means, begun at
/// points spread evenly in the order given). A point counts as often as its weight says, with 0 not at all.
pub(crate) fn means(points: &[WeightedPoint], count: usize) -> Vec<WeightedPoint> {
    let all: Vec<WeightedPoint> = points.iter().filter(|(_, weight)| *weight > 0.0).copied().collect();
    let mut means: Vec<WeightedPoint> = Vec::new();
    if count < all.len() {
        let whole: f64 = all.iter().map(|(_, weight)| weight).sum();
        let mut before = 0.0;
        for (point, weight) in &all {
            before += weight;
            // The means begin where odd multiples of half a share of the weights fall.
            while means.len() < count && before * 2.0 * count as f64 > (2 * means.len() + 1) as f64 * whole {
                means.push((*point, 0.0));
            }
        }
    } else {
        means.extend(all.iter().map(|(point, _)| (*point, 0.0)));
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![([0.0; 2], 0.0); means.len()];
        for (point, weight) in &all {
            let (sum, members) = &mut sums[nearest(means.iter().map(|(mean, _)| *mean), *point)];
            *sum = [sum[0] + weight * point[0], sum[1] + weight * point[1]];
            *members += weight;
        }
        let moved = |((mean, _), (sum, members)): (&WeightedPoint, &WeightedPoint)| match *members > 0.0 {
            true => (sum.map(|sum| sum / members), *members),
            false => (*mean, 0.0),
        };
        let next: Vec<WeightedPoint> = means.iter().zip(&sums).map(moved).collect();
        if next == means {
            break;
        }
        means = next;
    }
    means
}

/// Returns the number of the mean that is nearest to a point, the first of equal ones.
pub(crate) fn nearest(means: impl Iterator<Item = [f64; 2]>, point: [f64; 2]) -> usize {
    let distance = |mean: [f64; 2]| (mean[0] - point[0]).powi(2) + (mean[1] - point[1]).powi(2);
    let closer = |best: (usize, f64), (k, mean): (usize, [f64; 2])| match distance(mean) {
        own if own < best.1 => (k, own),
        _ => best,
    };
    means.enumerate().fold((0, f64::INFINITY), closer).0
}
