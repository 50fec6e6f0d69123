//! The task beyond training: poses as text, measures, neighbours, and the slow code of `verify`.

use std::sync::Arc;

use multiplane_core::rng::Rng;

use super::measures::{CURVES, FOUND, Yardstick, found};
use super::place::Pose;
use super::reference;
use super::task::{PoseTask, PoseVocabulary, tables};
use crate::builtin::task::BuiltinTask;
use crate::data::poses::PoseImage;
use crate::metrics::Measure;
use crate::problem::tables::WeightTable;

impl BuiltinTask for PoseTask {
    type Vocabulary = PoseVocabulary;

    /// Column and row of each joint, `-` for those that are not known.
    fn show(&self, y: &Pose, _: &PoseVocabulary) -> String {
        let of = |joint: Option<[u32; 2]>| joint.map_or("-".into(), |[column, row]| format!("{column} {row}"));
        y.joints().map(of).collect::<Vec<String>>().join("; ")
    }

    fn reference_hinge(&self, x: &Arc<PoseImage>, truth: &Pose, w: &[f64]) -> f64 {
        reference::hinge(self, x, truth, w)
    }

    /// Joints that are more than a fifth of a torso off, and marked ones.
    fn errors(&self, truth: &Pose, y: &Pose) -> (usize, usize) {
        let (near, all) = found(truth, y, Yardstick::Torso, FOUND);
        (all - near, all)
    }

    fn is_known(&self, truth: &Pose) -> bool {
        truth.marks.is_some()
    }

    fn measures(&self, _: &PoseVocabulary) -> Vec<Box<dyn Measure<Pose>>> {
        CURVES.into_iter().map(|curve| Box::new(curve) as Box<dyn Measure<Pose>>).collect()
    }

    /// Poses with one joint in a neighbouring cell, or of another type.
    fn neighbours(&self, x: &Arc<PoseImage>, y: &Pose, most: usize, rng: &mut Rng) -> Vec<Pose> {
        let types = self.body.types as u8;
        let moved = |(joint, [column, row]): (usize, [u32; 2])| {
            let near =
                [[column.wrapping_sub(1), row], [column + 1, row], [column, row.wrapping_sub(1)], [column, row + 1]];
            let near = near.map(|place| {
                Pose::new(y.joints().enumerate().map(|(k, own)| if k == joint { Some(place) } else { own }))
                    .with_types(|k| y.kind(k))
            });
            let others = (0..types).filter(move |&kind| kind != y.kind(joint));
            near.into_iter()
                .chain(others.map(move |kind| y.clone().with_types(|k| if k == joint { kind } else { y.kind(k) })))
        };
        let mut all: Vec<Pose> = y.placed().flat_map(moved).filter(|near| is_inside(x, near)).collect();
        rng.shuffle(&mut all);
        all.truncate(most);
        all
    }

    fn is_labelling_of(&self, x: &Arc<PoseImage>, y: &Pose) -> bool {
        let is_known = |joint: usize| usize::from(y.kind(joint)) < self.body.types;
        y.joints().len() == self.body.joints()
            && y.is_whole()
            && is_inside(x, y)
            && (0..self.body.joints()).all(is_known)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(&self.body, self.template, self.vocabulary.channels)
    }
}

fn is_inside(x: &PoseImage, y: &Pose) -> bool {
    y.placed().all(|(_, [column, row])| column < x.columns && row < x.rows)
}
