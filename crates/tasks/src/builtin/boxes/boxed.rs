//! Boxes of an image.

use multiplane_core::task::TaskLabel;
use multiplane_infer::boxes::{BoxLoss, Rect};

/// The boxes of an image: those that are right, or the one that is answered; none if there is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxed {
    boxes: Vec<Rect>,
    /// Left, top, right, bottom of each; those of an empty rectangle if there is none.
    sides: Vec<u32>,
}

/// The sides of the boxes, one after the other.
impl TaskLabel for Boxed {
    fn numbers(&self) -> Option<&[u32]> {
        Some(&self.sides)
    }
}

impl Default for Boxed {
    fn default() -> Self {
        Boxed::new(Vec::new())
    }
}

impl Boxed {
    /// Takes boxes.
    pub fn new(boxes: Vec<Rect>) -> Self {
        let of = |rect: &Rect| [rect.left, rect.top, rect.right, rect.bottom];
        let sides = if boxes.is_empty() { vec![0; 4] } else { boxes.iter().flat_map(of).collect() };
        Boxed { boxes, sides }
    }

    /// Returns the boxes.
    pub fn boxes(&self) -> &[Rect] {
        &self.boxes
    }

    /// Returns the loss of `y` if this is the truth: the largest of its boxes; 1 if one of both has a box, and the
    /// other none.
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
