//! How strong the regulariser is, in the notations that people use.

use std::borrow::Cow;

use multiplane_core::parameter::ParameterError;
use multiplane_solvers::SolverEntry;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::params::shown;

/// How lambda is given.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Lambda {
    /// As a number.
    Value(f64),
    /// As 1/n.
    #[default]
    OneOverN,
    /// As C, with lambda = 1/(C n).
    FromC(f64),
    /// As the mean of `|x|^2` over the examples, divided by n: C = 1 / mean `|x|^2`.
    Scale,
    /// As the one that predicts best what is left out: [`choose_lambda`](crate::choose_lambda).
    CrossValidated(Folds),
    /// By a short search for such a one where that costs little beside the run, else as 1/n:
    /// [`Session::on_choosing`](crate::Session::on_choosing).
    Auto,
}

/// The folds of a choice by cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Folds {
    /// A fifth of the examples is left out at a time, until enough were.
    #[default]
    Enough,
    /// So many, all of them.
    Count(usize),
    /// Those of the data.
    OfData,
}

impl Lambda {
    /// Returns lambda for `n` examples, or examples of weight n; `None` where it takes more than that to know.
    pub fn value(self, n: f64) -> Option<f64> {
        match self {
            Lambda::Value(lambda) => Some(lambda),
            Lambda::OneOverN | Lambda::Auto => Some(1.0 / n),
            Lambda::FromC(c) => Some(1.0 / (c * n)),
            Lambda::Scale | Lambda::CrossValidated(_) => None,
        }
    }

    /// Returns lambda for `n` examples, as the parameter `name`.
    ///
    /// # Errors
    ///
    /// One that takes more than their number to know.
    pub(super) fn number(self, n: f64, name: &'static str) -> Result<f64, ParameterError> {
        let given = || serde_json::to_value(self).unwrap_or_default();
        self.value(n).ok_or_else(|| ParameterError::new(name, shown(&given()), "must be a number > 0, `1/n`, or `c:X`"))
    }

    /// Returns what is to be said where it is given to a solver that takes no notice of it.
    pub(crate) fn unused_by(self, solver: &SolverEntry) -> Option<String> {
        let given = match self {
            Lambda::OneOverN | Lambda::Auto => return None,
            Lambda::Value(value) => format!("lambda = {value}"),
            Lambda::FromC(c) => format!("lambda = c:{c}"),
            Lambda::Scale => "lambda = scale".into(),
            Lambda::CrossValidated(_) => return None, // refused where it is to be chosen
        };
        let name = solver.name;
        let regularized = "only its own lambda_t (solver.schedule) regularises";
        (!solver.minimises).then(|| format!("solver `{name}` ignores lambda: {given} changes no weight, {regularized}"))
    }
}

impl Serialize for Lambda {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Lambda::Value(lambda) => to.serialize_f64(*lambda),
            Lambda::OneOverN => to.serialize_str("1/n"),
            Lambda::Auto => to.serialize_str("auto"),
            Lambda::FromC(c) => to.collect_str(&format_args!("c:{c}")),
            Lambda::Scale => to.serialize_str("scale"),
            Lambda::CrossValidated(Folds::Enough) => to.serialize_str("cv"),
            Lambda::CrossValidated(Folds::OfData) => to.serialize_str("cv:folds"),
            Lambda::CrossValidated(Folds::Count(count)) => to.collect_str(&format_args!("cv:{count}")),
        }
    }
}

impl<'de> Deserialize<'de> for Lambda {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = shown(&Value::deserialize(from)?);
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let found = match text.strip_prefix("c:").or_else(|| text.strip_prefix("C:")) {
            _ if text == "1/n" => Some(Lambda::OneOverN),
            _ if text == "auto" => Some(Lambda::Auto),
            _ if text == "scale" => Some(Lambda::Scale),
            _ if text == "cv" => Some(Lambda::CrossValidated(Folds::Enough)),
            _ if text == "cv:folds" => Some(Lambda::CrossValidated(Folds::OfData)),
            _ if text.starts_with("cv:") => {
                let count = text["cv:".len()..].trim().parse().ok().filter(|count| *count > 1);
                count.map(|count| Lambda::CrossValidated(Folds::Count(count)))
            }
            Some(c) => number(c).map(Lambda::FromC),
            None => number(&text).map(Lambda::Value),
        };
        found.ok_or_else(|| {
            D::Error::custom(
                "must be a number > 0, `1/n`, `c:X` with X > 0, `auto`, `scale`, `cv`, `cv:K` with K > 1, or \
                 `cv:folds`",
            )
        })
    }
}

impl JsonSchema for Lambda {
    fn schema_name() -> Cow<'static, str> {
        "Lambda".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default() // any value: it says itself what it takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// lambda in its three notations; n = 4.
    #[test]
    fn lambda_notations() {
        for (text, value) in
            [(json!("1/n"), 0.25), (json!("c:2"), 0.125), (json!("C:2"), 0.125), (json!(0.5), 0.5), (json!("0.5"), 0.5)]
        {
            assert_eq!(serde_json::from_value::<Lambda>(text).unwrap().value(4.0), Some(value));
        }
        for text in ["1/n", "c:2.5", "auto", "scale", "cv", "cv:7", "cv:folds"] {
            let lambda: Lambda = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(serde_json::to_value(lambda).unwrap(), json!(text));
        }
        for bad in [
            json!("cv:1"),
            json!("cv:x"),
            json!("cv:"),
            json!(0),
            json!(-1.0),
            json!("nan"),
            json!("inf"),
            json!("c:0"),
            json!("2/n"),
            json!(null),
        ] {
            assert!(
                serde_json::from_value::<Lambda>(bad.clone()).unwrap_err().to_string().contains("must be a number > 0"),
                "{bad}"
            );
        }
    }
}
