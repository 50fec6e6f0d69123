//! The header of a cfn file, before the functions: direction and bound, variables and their values.

use std::collections::BTreeMap;

use super::super::lexer::{Lexer, Piece};
use crate::file::DataError;

/// Largest integer of which all smaller ones are doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The direction of optimisation, and the costs that forbid.
pub(super) struct CostBound {
    maximise: bool,
    value: f64,
    /// As the file has it, see [`plain`].
    digits: String,
}

impl CostBound {
    pub(super) fn read(lexer: &mut Lexer) -> Result<CostBound, DataError> {
        lexer.skip("problem")?;
        lexer.open("the problem's properties")?;
        let mut bound = None;
        while *lexer.peek()? != Piece::Close {
            let word = lexer.word(|| "`mustbe` and a bound".into())?;
            if let Some(rest) = word.strip_prefix(['<', '>']) {
                let value = rest.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                let value = value.ok_or_else(|| lexer.bad(&word, "bound", "< or > and a finite number"))?;
                bound = Some(CostBound { maximise: word.starts_with('>'), value, digits: plain(rest).to_owned() });
            } else if word == "name" {
                lexer.word(|| "the problem's name".into())?;
            }
        }
        lexer.close("the problem's properties")?;
        bound.ok_or_else(|| lexer.error("found no bound, expected \"mustbe\" with < or > and a number"))
    }

    /// Reads a cost and returns its energy: `+inf` where it reaches the bound.
    pub(super) fn cost(&self, lexer: &mut Lexer, what: impl Fn() -> String) -> Result<f64, DataError> {
        let word = lexer.word(&what)?;
        let Some(cost) = word.parse::<f64>().ok().filter(|cost| cost.is_finite()) else {
            return Err(lexer.bad(&word, &what(), "a finite number"));
        };
        // Doubles that differ compare as the numbers they stand for; large ones may be equal by rounding only.
        if cost == self.value && cost.abs() > EXACT && plain(&word) != self.digits {
            let rule = format!("one that a double tells from the bound of {}", self.digits);
            return Err(lexer.bad(&word, &what(), &rule));
        }
        Ok(self.energy(cost))
    }

    fn energy(&self, cost: f64) -> f64 {
        match self.maximise {
            true if cost <= self.value => f64::INFINITY,
            true => 0.0 - cost,
            false if cost >= self.value => f64::INFINITY,
            false => cost,
        }
    }
}

/// Returns a number as it is written, without a sign of plus and zeros at the end of its decimals.
fn plain(word: &str) -> &str {
    let word = word.trim().trim_start_matches('+');
    match word.contains('.') && !word.contains(['e', 'E']) {
        true => word.trim_end_matches('0').trim_end_matches('.'),
        false => word,
    }
}

/// The names of variables and their values.
pub(super) struct CfnVariables {
    pub(super) by_name: BTreeMap<String, u32>,
    pub(super) values: Vec<BTreeMap<String, u32>>,
}

impl CfnVariables {
    /// Reads the variables and their numbers of labels.
    pub(super) fn read(lexer: &mut Lexer) -> Result<(CfnVariables, Vec<u32>), DataError> {
        let mut variables = CfnVariables { by_name: BTreeMap::new(), values: Vec::new() };
        let mut labels = Vec::new();
        lexer.skip("variables")?;
        lexer.open("the variables")?;
        while *lexer.peek()? != Piece::Close {
            let index = labels.len() as u32; // each takes a byte of the file, and more of memory
            let mut size = None;
            if let Piece::Word(_) = lexer.peek()? {
                let word = lexer.word(|| "a variable".into())?;
                if is_number(&word) {
                    size = Some(domain_size(lexer, &word)?);
                } else if variables.by_name.insert(word.clone(), index).is_some() {
                    return Err(lexer.bad(&word, "a variable for the second time", "different names"));
                }
            }
            let (count, values) = match size {
                Some(size) => (size, BTreeMap::new()),
                None => domain(lexer, index)?,
            };
            labels.push(count);
            variables.values.push(values);
        }
        lexer.close("the variables")?;
        Ok((variables, labels))
    }
}

/// Reads the values of a variable: a list of names, or how many.
fn domain(lexer: &mut Lexer, variable: u32) -> Result<(u32, BTreeMap<String, u32>), DataError> {
    let what = || format!("the values of variable {variable}: a list or a number");
    match lexer.take()? {
        Piece::Word(word) => Ok((domain_size(lexer, &word)?, BTreeMap::new())),
        Piece::Open => {
            let mut values = BTreeMap::new();
            while *lexer.peek()? != Piece::Close {
                let value = lexer.word(|| format!("a value of variable {variable}"))?;
                let index = values.len() as u32;
                if let Some(first) = values.insert(value.clone(), index) {
                    let what = format!("value {index} of variable {variable}");
                    return Err(lexer.bad(&value, &what, &format!("another name than that of value {first}")));
                }
            }
            lexer.close("the values")?;
            match values.is_empty() {
                true => Err(lexer.error(format!("found no value of variable {variable}, expected at least one"))),
                false => Ok((values.len() as u32, values)),
            }
        }
        other => Err(lexer.unexpected(&other, &what())),
    }
}

/// Reads a number of values; a negative one is that of an interval from 0.
fn domain_size(lexer: &Lexer, word: &str) -> Result<u32, DataError> {
    let size = word.parse::<i64>().ok().map(i64::unsigned_abs);
    let size = size.and_then(|size| u32::try_from(size).ok()).filter(|&size| size > 0);
    size.ok_or_else(|| lexer.bad(word, "a number of values", "a number from 1 to 4294967295"))
}

/// Returns whether a word stands for a number: names do not begin so.
pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
}
