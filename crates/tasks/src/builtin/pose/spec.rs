//! The parameters of the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::partial::Partial;

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoseSpec {
    /// The limbs, as pairs of joints from 0 that make a tree: `0-1,1-2`. The default is for the 14 joints of Leeds
    /// Sports Pose: ankle, knee and hip of the right side, hip, knee and ankle of the left one, wrist, elbow and
    /// shoulder of the right side, shoulder, elbow and wrist of the left one, neck, top of the head.
    pub edges: String,
    /// Pairs of joints, each a measure of the torso: the first pair that is marked in two different cells counts.
    pub torso: String,
    /// The distance at which a joint counts as missed, as a share of the torso: its loss is the smaller one of 1 and
    /// its distance over this.
    pub alpha: f64,
    /// Rows and columns of cells that a joint is seen by, its own in the middle: an odd number, at most 9.
    pub template: usize,
    /// The number of types of a joint, 1 to 16, each with a template and springs of its own. The type of a joint in
    /// training is the group of its offset from its parent; the root has the type of its first limb's end. With several
    /// types a joint whose parent is not marked is left out.
    pub types: usize,
    /// The part that unmarked joints have in training.
    pub partial: Partial,
}

impl Default for PoseSpec {
    fn default() -> Self {
        PoseSpec {
            edges: "12-13,12-8,8-7,7-6,12-9,9-10,10-11,8-2,2-1,1-0,9-3,3-4,4-5".into(),
            torso: "9-2,8-3".into(),
            alpha: 0.5,
            template: 5,
            types: 1,
            partial: Partial::default(),
        }
    }
}
