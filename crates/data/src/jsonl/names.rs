//! Attributes out of features, with the names that Python's `ChainSSVM` gives them: `name` with its number,
//! `name=value` of a text; what is below a name has it before a colon. Cost: the bytes of all names.

use multiplane_infer::file::quote;

use super::line::{Feature, FeatureObject};

/// Bytes of names that a line may come to, for each of its own: names within names repeat what stands before them.
const MOST_REPEATED: usize = 16;

/// Attributes of the tokens of a line.
pub(super) struct Attributes {
    /// Bytes of names that are left.
    left: usize,
}

impl Attributes {
    /// Begins with a line of so many bytes.
    pub(super) fn of_line(bytes: usize) -> Self {
        Attributes { left: bytes.saturating_mul(MOST_REPEATED) }
    }

    /// The attributes of an object.
    ///
    /// # Errors
    ///
    /// A name that no attribute may have, or names that are too long together.
    pub(super) fn of_features(&mut self, features: &FeatureObject) -> Result<Vec<(String, f64)>, String> {
        let mut found = Vec::new();
        self.below("", features, &mut found)?;
        Ok(found)
    }

    /// The attributes of a list of names.
    ///
    /// # Errors
    ///
    /// As of [`of_features`](Attributes::of_features).
    pub(super) fn of_names(&mut self, names: &[String]) -> Result<Vec<(String, f64)>, String> {
        let mut found = Vec::new();
        names.iter().try_for_each(|name| self.push(&[name], 1.0, &mut found))?;
        Ok(found)
    }

    /// Collects the attributes below a name, whose depth the parser of JSON has bounded.
    fn below(&mut self, before: &str, features: &FeatureObject, found: &mut Vec<(String, f64)>) -> Result<(), String> {
        for (name, feature) in &features.0 {
            match feature {
                Feature::Number(number) => self.push(&[before, name], *number, found)?,
                Feature::Text(text) => self.push(&[before, name, "=", text], 1.0, found)?,
                Feature::Below(features) => {
                    let before = self.name(&[before, name, ":"])?;
                    self.left -= before.len(); // even where nothing is below
                    self.below(&before, features, found)?;
                }
                Feature::Names(names) => {
                    names.iter().try_for_each(|below| self.push(&[before, name, ":", below], 1.0, found))?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, parts: &[&str], weight: f64, found: &mut Vec<(String, f64)>) -> Result<(), String> {
        let name = self.name(parts)?;
        if name.is_empty() || has_breaks(&name) {
            return Err(format!("found the attribute {}, expected a name without tabs and line breaks", quote(&name)));
        }
        self.left -= name.len();
        found.push((name, weight));
        Ok(())
    }

    /// A name of parts, unless it is too long for what is left.
    fn name(&self, parts: &[&str]) -> Result<String, String> {
        match parts.iter().map(|part| part.len()).sum::<usize>() <= self.left {
            true => Ok(parts.concat()),
            false => Err(format!(
                "found names of attributes that come to more than {MOST_REPEATED} times the line, expected shorter \
                 names above others"
            )),
        }
    }
}

/// Returns true if a text has what lines of other formats and fingerprints divide by.
pub(super) fn has_breaks(text: &str) -> bool {
    text.contains(['\t', '\n', '\r'])
}
