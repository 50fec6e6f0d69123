//! The hinge by plain sums and by looking at all pairs of places along each axis: the slow code of `verify`.

use multiplane_core::task::Task;

use super::place::Pose;
use super::task::PoseTask;
use crate::data::poses::PoseImage;

/// Returns the largest score with loss of all poses of the joints that the truth has, less the truth's own score.
pub(super) fn hinge(task: &PoseTask, x: &PoseImage, truth: &Pose, w: &[f64]) -> f64 {
    let is_there = |limb: &&[usize; 2]| limb.iter().all(|&joint| truth.joint(joint).is_some());
    let children: Vec<usize> = task.body.limbs.iter().filter(is_there).map(|limb| limb[1]).collect();
    let roots = truth.placed().map(|(joint, _)| joint).filter(|joint| !children.contains(joint));
    let best = |joint: usize| below(task, x, truth, w, joint).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let own: f64 = truth.placed().map(|(joint, place)| template(task, x, w, joint, place)).sum();
    let limbs: f64 = (0..task.body.limbs.len())
        .filter_map(|limb| Some((limb, task.offset(limb, truth)?)))
        .map(|(limb, offset)| (0..2).map(|axis| spring(task, w, limb, axis, offset[axis])).sum::<f64>())
        .sum();
    (roots.map(best).sum::<f64>() - own - limbs).max(0.0)
}

/// The score of a joint in a cell by its template.
fn template(task: &PoseTask, x: &PoseImage, w: &[f64], joint: usize, [column, row]: [u32; 2]) -> f64 {
    let (depth, template) = (task.vocabulary.channels, task.template);
    let (rows, columns, side) = (i64::from(x.rows), i64::from(x.columns), template as i64 / 2);
    let mut sum = 0.0;
    for (k, &weight) in w[joint * template * template * depth..][..template * template * depth].iter().enumerate() {
        let row = i64::from(row) + (k / depth / template) as i64 - side;
        let column = i64::from(column) + (k / depth % template) as i64 - side;
        if (0..rows).contains(&row) && (0..columns).contains(&column) {
            sum += weight * f64::from(x.channels[(row * columns + column) as usize * depth + k % depth]);
        }
    }
    sum
}

fn spring(task: &PoseTask, w: &[f64], limb: usize, axis: usize, offset: f64) -> f64 {
    let (springs, offsets) = w[task.springs_from()..].split_at(2 * task.body.limbs.len());
    offsets[2 * limb + axis] * offset - springs[2 * limb + axis] * offset * offset
}

/// The best scores, with loss, of a joint at each cell and all joints that hang on it.
fn below(task: &PoseTask, x: &PoseImage, truth: &Pose, w: &[f64], joint: usize) -> Vec<f64> {
    let (rows, columns) = (x.rows as usize, x.columns as usize);
    let of_cell = |cell: usize| {
        let place = [cell as u32 % x.columns, cell as u32 / x.columns];
        let alone = Pose::new((0..truth.joints().len()).map(|k| (k == joint).then_some(place)));
        template(task, x, w, joint, place) + task.loss(truth, &alone)
    };
    let mut scores: Vec<f64> = (0..rows * columns).map(of_cell).collect();
    for (limb, &[parent, child]) in task.body.limbs.iter().enumerate() {
        if parent != joint || truth.joint(child).is_none() {
            continue;
        }
        let (from, anchor, unit) =
            (below(task, x, truth, w, child), task.vocabulary.anchors[limb], task.vocabulary.unit);
        let of =
            |axis: usize, c: usize, p: usize| spring(task, w, limb, axis, (c as f64 - p as f64 - anchor[axis]) / unit);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        // The best child in each row for each column of the parent, then of all rows.
        let along = |row: usize, p: usize| most(&mut (0..columns).map(|c| from[row * columns + c] + of(0, c, p)));
        let rowwise: Vec<f64> = (0..rows * columns).map(|place| along(place / columns, place % columns)).collect();
        for (cell, score) in scores.iter_mut().enumerate() {
            let (row, column) = (cell / columns, cell % columns);
            *score += most(&mut (0..rows).map(|r| rowwise[r * columns + column] + of(1, r, row)));
        }
    }
    scores
}
