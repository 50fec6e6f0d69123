//! Sizes of windows: groups of the sizes of the boxes in the training data (functional-descent thesis 5.2.2).

use multiplane_infer::boxes::Rect;

use crate::builtin::groups::{WeightedPoint, means};

/// Returns at most `count` sizes, width and height, ascending: the means of groups of near sizes, begun at sizes spread
/// evenly in the order of areas. A box counts as often as its weight says, with 0 not at all.
pub(super) fn sizes<'a>(boxes: impl Iterator<Item = (&'a Rect, f64)>, count: usize) -> Vec<(u32, u32)> {
    let size = |rect: &Rect| [f64::from(rect.right - rect.left), f64::from(rect.bottom - rect.top)];
    let mut all: Vec<WeightedPoint> = boxes.map(|(rect, weight)| (size(rect), weight)).collect();
    all.sort_by(|(a, _), (b, _)| (a[0] * a[1]).total_cmp(&(b[0] * b[1])).then(a[0].total_cmp(&b[0])));
    let means = means(&all, count);
    let mut sizes: Vec<(u32, u32)> =
        means.into_iter().map(|([w, h], _)| (w.round() as u32, h.round() as u32)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of sizes give their means; one box alone gives its size once.
    #[test]
    fn sizes_are_means_of_groups() {
        let of = |width: u32, height: u32| Rect::new(3, 4, 3 + width, 4 + height);
        let boxes = [of(10, 20), of(12, 20), of(100, 50), of(104, 52), of(11, 20)];
        let once = |boxes: &[Rect], count: usize| sizes(boxes.iter().map(|rect| (rect, 1.0)), count);
        assert_eq!(once(&boxes, 2), [(11, 20), (102, 51)]);
        assert_eq!(once(&boxes[..1], 3), [(10, 20)]);
        assert!(once(&[], 2).is_empty());
    }

    /// A box of weight 3 counts as three boxes, one of weight 0 as none.
    #[test]
    fn weights_count_boxes() {
        let of = |width: u32, height: u32| Rect::new(0, 0, width, height);
        let boxes = [(of(10, 10), 3.0), (of(20, 10), 1.0), (of(60, 10), 0.0), (of(90, 30), 2.0), (of(98, 34), 1.0)];
        let copies: Vec<(Rect, f64)> =
            boxes.iter().flat_map(|&(rect, weight)| vec![(rect, 1.0); weight as usize]).collect();
        for count in 1..4 {
            let [weighted, copied] =
                [&boxes[..], &copies].map(|all| sizes(all.iter().map(|(rect, weight)| (rect, *weight)), count));
            assert_eq!(weighted, copied, "{count}");
        }
        assert_eq!(sizes(boxes.iter().map(|(rect, weight)| (rect, *weight)), 2), [(13, 10), (93, 31)]);
    }
}
