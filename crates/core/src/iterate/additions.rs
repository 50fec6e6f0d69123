//! How many additions the weights went through: what their rounding goes by.

/// Additions that a weight went through at most.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Additions {
    /// Since it was rebuilt.
    pub(super) since_rebuild: f64,
    /// Since the averages began.
    pub(super) in_all: f64,
}

impl Additions {
    /// Counts further ones.
    pub(super) fn count(&mut self, additions: f64) {
        self.since_rebuild += additions;
        self.in_all += additions;
    }
}
