//! A parameter that cannot be: which one, its value, and the rule that it breaks.

/// Numbers with more characters than this are written with an exponent.
const LONGEST_NUMBER: usize = 24;

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
        let (value, path, rule) = (value.to_string(), path.into(), rule.into());
        // Plain notation of 1e-300 has 302 digits.
        let long = value.parse::<f64>().ok().filter(|_| value.len() > LONGEST_NUMBER);
        ParameterError { path, value: long.map_or(value, |number| format!("{number:e}")), rule }
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
pub fn not_negative(path: &str, value: f64) -> Result<(), ParameterError> {
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
