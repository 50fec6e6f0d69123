//! Labellings as tasks know them.

/// The label of a variable that is left out of training: in every labelling it has this number too.
pub const UNLABELLED: u32 = u32::MAX - 1;

/// A labelling: a value of any type, known by numbers if it gives every variable of an input a label.
pub trait TaskLabel: Clone + PartialEq {
    /// Returns the label of every variable, which is the [code](crate::plane::Plane::code) of planes.
    fn numbers(&self) -> Option<&[u32]> {
        None
    }

    /// Returns the labelling with these labels.
    fn from_numbers(_labels: Vec<u32>) -> Option<Self> {
        None
    }
}

/// The label of the only variable.
impl TaskLabel for u32 {
    fn numbers(&self) -> Option<&[u32]> {
        Some(std::slice::from_ref(self))
    }

    fn from_numbers(labels: Vec<u32>) -> Option<Self> {
        labels.first().copied()
    }
}

/// The label of every variable.
impl TaskLabel for Vec<u32> {
    fn numbers(&self) -> Option<&[u32]> {
        Some(self)
    }

    fn from_numbers(labels: Vec<u32>) -> Option<Self> {
        Some(labels)
    }
}
