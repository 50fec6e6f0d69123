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
    let best = |joint: usize| below(task, x, truth, w, joint).into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
    let own: f64 = truth.placed().map(|(joint, place)| template(task, x, w, (joint, truth.kind(joint)), place)).sum();
    let of_limb = |limb: usize| {
        let offset = task.offset(limb, truth)?;
        let springs: f64 = (0..2).map(|axis| spring(task, w, task.end(limb, truth), axis, offset[axis])).sum();
        let [parent, child] = task.body.limbs[limb].map(|joint| truth.kind(joint));
        Some(springs + pair(task, w, limb, [parent, child]))
    };
    let limbs: f64 = (0..task.body.limbs.len()).filter_map(of_limb).sum();
    (roots.map(best).sum::<f64>() - own - limbs).max(0.0)
}

/// The score of a joint of a type in a cell by its template.
fn template(task: &PoseTask, x: &PoseImage, w: &[f64], (joint, kind): (usize, u8), [column, row]: [u32; 2]) -> f64 {
    let (depth, template) = (task.vocabulary.channels, task.template);
    let (rows, columns, side) = (i64::from(x.rows), i64::from(x.columns), template as i64 / 2);
    let (window, mut sum) = (template * template * depth, 0.0);
    let unit = joint * task.body.types + usize::from(kind);
    for (k, &weight) in w[unit * window..][..window].iter().enumerate() {
        let row = i64::from(row) + (k / depth / template) as i64 - side;
        let column = i64::from(column) + (k / depth % template) as i64 - side;
        if (0..rows).contains(&row) && (0..columns).contains(&column) {
            sum += weight * f64::from(x.channels[(row * columns + column) as usize * depth + k % depth]);
        }
    }
    sum
}

/// The score of an offset of an end of a limb, which is numbered among the types of all limbs.
fn spring(task: &PoseTask, w: &[f64], end: usize, axis: usize, offset: f64) -> f64 {
    let (springs, offsets) = w[task.springs_from()..].split_at(task.springs());
    offsets[2 * end + axis] * offset - springs[2 * end + axis] * offset * offset
}

/// The score of the types of the ends of a limb.
fn pair(task: &PoseTask, w: &[f64], limb: usize, [parent, child]: [u8; 2]) -> f64 {
    let own = (limb * task.body.types + usize::from(parent)) * task.body.types + usize::from(child);
    w[task.pairs()].get(own).copied().unwrap_or_default()
}

/// The best scores, with loss, of a joint of each type at each cell and all joints that hang on it.
fn below(task: &PoseTask, x: &PoseImage, truth: &Pose, w: &[f64], joint: usize) -> Vec<Vec<f64>> {
    let (rows, columns, types) = (x.rows as usize, x.columns as usize, task.body.types as u8);
    let of_cell = |kind: u8, cell: usize| {
        let place = [cell as u32 % x.columns, cell as u32 / x.columns];
        let alone = Pose::new((0..truth.joints().len()).map(|k| (k == joint).then_some(place)));
        template(task, x, w, (joint, kind), place) + task.loss(truth, &alone)
    };
    let of_type = |kind: u8| (0..rows * columns).map(|cell| of_cell(kind, cell)).collect();
    let mut scores: Vec<Vec<f64>> = (0..types).map(of_type).collect();
    for (limb, &[parent, child]) in task.body.limbs.iter().enumerate() {
        if parent != joint || truth.joint(child).is_none() {
            continue;
        }
        let children = below(task, x, truth, w, child);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        let message = |(kind, from): (usize, &Vec<f64>)| -> Vec<f64> {
            let end = limb * task.body.types + kind;
            let (anchor, unit) = (task.vocabulary.anchors[end], task.vocabulary.unit);
            let of = |axis: usize, c: usize, p: usize| {
                spring(task, w, end, axis, (c as f64 - p as f64 - anchor[axis]) / unit)
            };
            // The best child in each row for each column of the parent, then of all rows.
            let along = |row: usize, p: usize| most(&mut (0..columns).map(|c| from[row * columns + c] + of(0, c, p)));
            let rowwise: Vec<f64> = (0..rows * columns).map(|place| along(place / columns, place % columns)).collect();
            let of_cell = |cell: usize| {
                let (row, column) = (cell / columns, cell % columns);
                most(&mut (0..rows).map(|r| rowwise[r * columns + column] + of(1, r, row)))
            };
            (0..rows * columns).map(of_cell).collect()
        };
        let messages: Vec<Vec<f64>> = children.iter().enumerate().map(message).collect();
        for (own, scores) in (0..types).zip(&mut scores) {
            for (cell, score) in scores.iter_mut().enumerate() {
                let of = |kind: u8| messages[usize::from(kind)][cell] + pair(task, w, limb, [own, kind]);
                *score += most(&mut (0..types).map(of));
            }
        }
    }
    scores
}
