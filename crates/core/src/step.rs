//! The effect of a step.

/// The effect of a step, along whatever direction it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Slope of F along the direction before the step. Toward the best corner of a block that is the block's gap.
    pub gap: f64,
    /// Length of the step along the direction, or the mass that it moved.
    pub gamma: f64,
    /// Rise of F, at least 0.
    pub gain: f64,
}
