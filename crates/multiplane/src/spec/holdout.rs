//! How many of the training examples are kept as test data.

use multiplane_core::parameter::shown;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::Error;

/// How many of the training examples are kept as test data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holdout {
    /// So many percent of them, more than 0 and less than 100.
    Percent(f64),
    /// So many, at least 1.
    Count(usize),
}

impl Holdout {
    /// Returns how many of `n` examples these are: of a share the nearest number.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where none would be held out, or none left.
    pub fn of(self, n: usize) -> Result<usize, Error> {
        let count = match self {
            Holdout::Percent(percent) => (percent / 100.0 * n as f64).round() as usize,
            Holdout::Count(count) => count,
        };
        if count == 0 || count >= n {
            let text = self.text();
            return Err(Error::input(format!(
                "data.holdout = {text}: {count} of {n} examples, expected at least 1, and at least 1 left to learn from"
            )));
        }
        Ok(count)
    }

    fn text(self) -> String {
        match self {
            Holdout::Percent(percent) => format!("{percent}%"),
            Holdout::Count(count) => count.to_string(),
        }
    }
}

impl Serialize for Holdout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Holdout::Percent(_) => to.serialize_str(&self.text()),
            Holdout::Count(count) => to.serialize_u64(*count as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Holdout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = shown(&Value::deserialize(from)?);
        let found = match text.trim().strip_suffix('%') {
            Some(percent) => {
                percent.trim().parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0).map(Holdout::Percent)
            }
            None => text.trim().parse().ok().filter(|count| *count > 0).map(Holdout::Count),
        };
        found.ok_or_else(|| {
            D::Error::custom("must be a share above 0% and below 100% as in 20%, or a number of examples, at least 1")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Shares and numbers read and write back, and are so many examples; nonsense is refused.
    #[test]
    fn shares_and_numbers() {
        let read = |value: Value| serde_json::from_value::<Holdout>(value);
        for (value, written, expected) in [
            (json!("20%"), json!("20%"), [1, 2, 20]),
            (json!(" 12.5 % "), json!("12.5%"), [1, 1, 13]),
            (json!("3"), json!(3), [3, 3, 3]),
            (json!(3), json!(3), [3, 3, 3]),
        ] {
            let holdout = read(value).unwrap();
            assert_eq!(json!(holdout), written);
            assert_eq!([5, 10, 100].map(|n| holdout.of(n).unwrap()), expected, "{written}");
        }
        for value in [
            json!("0%"),
            json!("100%"),
            json!("nan%"),
            json!("inf%"),
            json!(0),
            json!(-3),
            json!(0.2),
            json!(true),
            json!("x"),
            json!([1]),
        ] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
        for (holdout, n) in [
            (Holdout::Percent(1.0), 10),
            (Holdout::Percent(99.0), 10),
            (Holdout::Count(10), 10),
            (Holdout::Count(1), 1),
        ] {
            let error = holdout.of(n).unwrap_err().to_string();
            assert!(error.starts_with("data.holdout = ") && error.contains("expected at least 1"), "{error}");
        }
    }
}
