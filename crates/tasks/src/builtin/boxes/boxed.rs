//! Boxes of an image.

use multiplane_core::task::TaskLabel;
use multiplane_infer::boxes::{BoxLoss, Rect};

/// The boxes of an image: those that are right, or the one that is answered; none if there is no object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boxed {
    /// The boxes, ascending.
    pub boxes: Vec<Rect>,
}

impl TaskLabel for Boxed {}

impl From<Rect> for Boxed {
    fn from(rect: Rect) -> Self {
        Boxed { boxes: vec![rect] }
    }
}

impl Boxed {
    /// Returns the loss of `y` if this is the truth: the largest of its boxes; 1 if one of both has a box, and the other
    /// none.
    pub(super) fn loss(&self, loss: BoxLoss, y: &Boxed) -> f64 {
        match (self.boxes.is_empty(), y.boxes.is_empty()) {
            (true, true) => 0.0,
            (false, true) => 1.0,
            _ => y.boxes.iter().map(|&rect| loss.loss(&self.boxes, rect)).fold(0.0, f64::max),
        }
    }

    /// Returns the largest overlap of a box with one that is right; 1 if there is none, as it should be.
    pub(super) fn overlap(&self, y: &Boxed) -> f64 {
        1.0 - self.loss(BoxLoss::Overlap, y)
    }
}
