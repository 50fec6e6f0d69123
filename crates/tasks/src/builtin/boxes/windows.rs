//! Sizes of windows: groups of the sizes of the boxes in the training data (functional-descent thesis 5.2.2).

use multiplane_infer::boxes::Rect;

/// Most rounds of the grouping.
const ROUNDS: usize = 100;

/// Returns at most `count` sizes, width and height, ascending: the means of groups of near sizes (k-means, begun at
/// sizes spread evenly in the order of areas).
pub(super) fn sizes<'a>(boxes: impl Iterator<Item = &'a Rect>, count: usize) -> Vec<(u32, u32)> {
    let mut all: Vec<[f64; 2]> =
        boxes.map(|rect| [f64::from(rect.right - rect.left), f64::from(rect.bottom - rect.top)]).collect();
    all.sort_by(|a, b| (a[0] * a[1]).total_cmp(&(b[0] * b[1])).then(a[0].total_cmp(&b[0])));
    let count = count.min(all.len()); // more sizes than boxes there are not
    let mut means: Vec<[f64; 2]> =
        (0..count).filter_map(|k| all.get((2 * k + 1) * all.len() / (2 * count))).copied().collect();
    for _ in 0..ROUNDS {
        let mut sums = vec![([0.0; 2], 0.0); means.len()];
        for size in &all {
            let (sum, members) = &mut sums[nearest(&means, *size)];
            *sum = [sum[0] + size[0], sum[1] + size[1]];
            *members += 1.0;
        }
        let moved = |(mean, (sum, members)): (&[f64; 2], &([f64; 2], f64))| match *members > 0.0 {
            true => sum.map(|sum| sum / members),
            false => *mean,
        };
        let next: Vec<[f64; 2]> = means.iter().zip(&sums).map(moved).collect();
        if next == means {
            break;
        }
        means = next;
    }
    let mut sizes: Vec<(u32, u32)> = means.into_iter().map(|[w, h]| (w.round() as u32, h.round() as u32)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn nearest(means: &[[f64; 2]], size: [f64; 2]) -> usize {
    let distance = |mean: &[f64; 2]| (mean[0] - size[0]).powi(2) + (mean[1] - size[1]).powi(2);
    (0..means.len()).fold(0, |best, k| if distance(&means[k]) < distance(&means[best]) { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of sizes give their means; one box alone gives its size once.
    #[test]
    fn sizes_are_means_of_groups() {
        let of = |width: u32, height: u32| Rect::new(3, 4, 3 + width, 4 + height);
        let boxes = [of(10, 20), of(12, 20), of(100, 50), of(104, 52), of(11, 20)];
        assert_eq!(sizes(boxes.iter(), 2), [(11, 20), (102, 51)]);
        assert_eq!(sizes(boxes[..1].iter(), 3), [(10, 20)]);
        assert!(sizes([].iter(), 2).is_empty());
    }
}
