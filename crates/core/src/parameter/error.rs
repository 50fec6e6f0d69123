//! A parameter that cannot be: which one, its value, and the rule that it breaks.

/// One parameter at fault. Its text reads `path = value: rule`, as in `threads = 0: must be at least 1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} = {value}: {rule}")]
pub struct ParameterError {
    /// The parameter's dotted name below its owner, e.g. `planes.max_idle`.
    pub path: String,
    /// The value, as a user would type it.
    pub value: String,
    /// The rule that it breaks, e.g. `must be at least 1`.
    pub rule: String,
}

impl ParameterError {
    /// Builds the complaint about `path`, which is at `value` and breaks `rule`.
    pub fn new(path: impl Into<String>, value: impl ToString, rule: impl Into<String>) -> Self {
        ParameterError { path: path.into(), value: value.to_string(), rule: rule.into() }
    }
}

impl ParameterError {
    /// The same complaint seen from the owner of the parameter's owner, to which `prefix` belongs.
    pub fn under(mut self, prefix: &str) -> Self {
        self.path = if self.path.is_empty() { prefix.into() } else { format!("{prefix}.{}", self.path) };
        self
    }
}

/// Refuses a number that is not finite or below 0.
///
/// # Errors
///
/// The parameter, its value and the rule.
pub(crate) fn not_negative(path: &str, value: f64) -> Result<(), ParameterError> {
    require(value.is_finite() && value >= 0.0, path, value, "must be a finite number >= 0")
}

/// Refuses `value` of parameter `path` unless the rule `holds`.
///
/// # Errors
///
/// The parameter, its value and the rule, where the rule does not hold.
pub fn require(holds: bool, path: &str, value: impl ToString, rule: &str) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError::new(path, value, rule)) }
}
