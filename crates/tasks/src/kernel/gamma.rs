//! The factor on distances and products: a number, or what the training rows say of it (scikit-learn's definitions).

use std::borrow::Cow;

use multiplane_core::parameter::{ParameterError, require, shown};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::data::SparseRows;

/// The rule.
const RULE: &str = "must be a number > 0, `scale` or `auto`";

/// How gamma is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gamma {
    /// 1 / (features * variance of all entries); 1 where nothing varies.
    #[default]
    Scale,
    /// 1 / features.
    Auto,
    /// As a number.
    Value(f64),
}

impl Gamma {
    /// Refuses a number that is not finite and positive.
    ///
    /// # Errors
    ///
    /// The number and the rule.
    pub fn validate(self) -> Result<(), ParameterError> {
        let Gamma::Value(gamma) = self else { return Ok(()) };
        require(gamma.is_finite() && gamma > 0.0, "gamma", gamma, RULE)
    }

    /// Returns it as a number.
    pub(super) fn resolved(self, rows: &SparseRows) -> Result<Gamma, ParameterError> {
        let columns = rows.columns().max(1) as f64;
        let (gamma, name) = match self {
            Gamma::Value(_) => return Ok(self),
            Gamma::Auto => (1.0 / columns, "auto"),
            Gamma::Scale => {
                let variance = variance(rows);
                (if variance == 0.0 { 1.0 } else { 1.0 / (columns * variance) }, "scale")
            }
        };
        let rule = || format!("gives {gamma} here, expected a finite number > 0: set it, or scale the features");
        if gamma.is_finite() && gamma > 0.0 {
            Ok(Gamma::Value(gamma))
        } else {
            Err(ParameterError::new("gamma", name, rule()))
        }
    }

    /// The number.
    ///
    /// # Panics
    /// If it is not resolved.
    pub(super) fn number(self) -> f64 {
        let Gamma::Value(gamma) = self else { panic!("gamma is resolved before it is used") };
        gamma
    }
}

/// Variance of all entries, zeros included, around their common mean.
fn variance(rows: &SparseRows) -> f64 {
    let cells = rows.len() as f64 * rows.columns() as f64;
    if cells == 0.0 {
        return 0.0;
    }
    let values = || (0..rows.len()).flat_map(|i| rows.row(i).iter()).map(|(_, value)| value);
    let mean = values().sum::<f64>() / cells;
    let squares: f64 = values().map(|value| (value - mean) * (value - mean)).sum();
    (squares + (cells - rows.nonzeros() as f64) * mean * mean) / cells
}

impl Serialize for Gamma {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Gamma::Value(gamma) => to.serialize_f64(*gamma),
            Gamma::Scale => to.serialize_str("scale"),
            Gamma::Auto => to.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Gamma {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = shown(&Value::deserialize(from)?);
        match text.as_str() {
            "scale" => Ok(Gamma::Scale),
            "auto" => Ok(Gamma::Auto),
            _ => {
                let number = text.trim().parse().ok().map(Gamma::Value).filter(|gamma| gamma.validate().is_ok());
                number.ok_or_else(|| D::Error::custom(RULE))
            }
        }
    }
}

impl JsonSchema for Gamma {
    fn schema_name() -> Cow<'static, str> {
        "Gamma".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default() // any value: it says itself what it takes
    }
}
