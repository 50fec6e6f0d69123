//! How strong the regulariser is, in the notations that people use.

use serde_json::{Value, json};

use super::params::shown;
use crate::error::Error;

/// How lambda is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lambda {
    /// As a number.
    Value(f64),
    /// As 1/n.
    OneOverN,
    /// As C, with lambda = 1/(C n).
    FromC(f64),
}

impl Lambda {
    /// lambda for `n` examples.
    pub fn value(self, n: usize) -> f64 {
        match self {
            Lambda::Value(lambda) => lambda,
            Lambda::OneOverN => 1.0 / n as f64,
            Lambda::FromC(c) => 1.0 / (c * n as f64),
        }
    }

    /// Reads `1/n`, `c:X` or a number.
    pub(crate) fn parse(value: &Value) -> Result<Lambda, Error> {
        let rule = "must be a number > 0, `1/n`, or `c:X` with X > 0";
        let refuse = || Error::input(format!("lambda = {}: {rule}", shown(value)));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        match value {
            Value::String(text) if text == "1/n" => Ok(Lambda::OneOverN),
            Value::String(text) => match text.strip_prefix("c:") {
                Some(c) => number(c).map(Lambda::FromC).ok_or_else(refuse),
                None => number(text).map(Lambda::Value).ok_or_else(refuse),
            },
            other => number(&other.to_string()).map(Lambda::Value).ok_or_else(refuse),
        }
    }

    /// As it would be typed.
    pub(crate) fn to_value(self) -> Value {
        match self {
            Lambda::Value(lambda) => json!(lambda),
            Lambda::OneOverN => json!("1/n"),
            Lambda::FromC(c) => json!(format!("c:{c}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// lambda in its three notations; n = 4.
    #[test]
    fn lambda_notations() {
        for (text, value) in [(json!("1/n"), 0.25), (json!("c:2"), 0.125), (json!(0.5), 0.5), (json!("0.5"), 0.5)] {
            assert_eq!(Lambda::parse(&text).unwrap().value(4), value);
        }
        for bad in [json!(0), json!(-1.0), json!("nan"), json!("inf"), json!("c:0"), json!("2/n"), json!(null)] {
            assert!(Lambda::parse(&bad).unwrap_err().to_string().contains("must be a number > 0"), "{bad}");
        }
    }
}
