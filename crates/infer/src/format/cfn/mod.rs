//! The cfn format of cost function networks, as of toulbar2: decimal costs, and names for variables and values, in a
//! free form of JSON.
//!
//! ```text
//! { "problem": { "name": "example", "mustbe": "<100.0" },
//!   "variables": { "x": ["low", "high"], "y": 3 },
//!   "functions": {
//!     "f": { "scope": ["x"], "costs": [0.5, -1.25] },
//!     "g": { "scope": ["x", "y"], "costs": [0, 1, 2, 1, 0, 1] },
//!     "h": { "scope": ["x", "y"], "defaultcost": 0, "costs": ["high", 2, 100.0] },
//!     "i": { "scope": ["x", "y"], "costs": "g" } } }
//! ```
//!
//! Tables are lists in which the last variable's value changes fastest or, with a default, tuples of values and cost.
//! Values and variables go by name or by index; a function's costs may be another one's, by its name. `<` minimises
//! and costs that reach the bound forbid; `>` maximises, energies are negative costs, and costs down to the bound
//! forbid. The bound counts for single costs, not for their sum. Costs are doubles; beyond 2^53 one that only rounding
//! makes equal to the bound is refused. Functions of a `type` (global and arithmetic ones) are
//! refused.
//!
//! Reading costs O(bytes + sizes of tables).

mod header;
mod write;

pub use write::write;

use std::collections::BTreeMap;

use header::{CfnVariables, CostBound, is_number};

use super::build::{Build, BuildFault, SharedCosts};
use super::entry::{Instance, ProblemFormat};
use super::lexer::{Lexer, Piece};
use super::words::Scope;
use crate::file::{DataError, TextPlace, Tokens, quote};

/// The format's entry in the list of formats. Errors name the place of whatever breaks the format, of functions of
/// three or more variables, and of functions that are no tables.
pub const ENTRY: ProblemFormat = ProblemFormat {
    name: "cfn",
    description: "a cost function network with decimal costs in JSON's manner (toulbar2)",
    recognises: |start| start.starts_with(b"{"),
    read: |source| parse(Tokens::of(source)?),
};

fn parse(tokens: Tokens) -> Result<Instance, DataError> {
    let mut lexer = Lexer::of(tokens);
    lexer.open("the file's object")?;
    let bound = CostBound::read(&mut lexer)?;
    let (variables, labels) = CfnVariables::read(&mut lexer)?;
    let build = Build::new(labels);
    let mut reader =
        CfnReader { lexer, bound, variables, build, named: BTreeMap::new(), pending: Vec::new(), count: 0 };
    reader.lexer.skip("functions")?;
    reader.lexer.open("the functions")?;
    while *reader.lexer.peek()? != Piece::Close {
        reader.function()?;
    }
    reader.lexer.close("the functions")?;
    reader.lexer.close("the file's object")?;
    match reader.lexer.take()? {
        Piece::End => reader.finish(),
        other => Err(reader.lexer.unexpected(&other, "the end of the file")),
    }
}

/// A function with the costs of another one.
struct Pending {
    scope: Scope,
    source: String,
    place: TextPlace,
}

struct CfnReader {
    lexer: Lexer,
    bound: CostBound,
    variables: CfnVariables,
    build: Build,
    named: BTreeMap<String, SharedCosts>,
    pending: Vec<Pending>,
    /// Functions so far.
    count: u64,
}

impl CfnReader {
    fn function(&mut self) -> Result<(), DataError> {
        let name = match self.lexer.peek()? {
            Piece::Word(_) => Some(self.lexer.word(|| "a function".into())?),
            _ => None,
        };
        let shown = name
            .clone()
            .map_or_else(|| format!("function {}", self.count), |name| format!("function {}", quote(&name)));
        self.count += 1;
        self.lexer.open(&shown)?;
        let place = self.lexer.place();
        let scope = self.scope(&shown)?;
        let default = match self.lexer.skip("defaultcost")? {
            true => Some(self.bound.cost(&mut self.lexer, || format!("the default cost of {shown}"))?),
            false => None,
        };
        let tagged = self.lexer.skip("costs")?;
        match self.lexer.take()? {
            Piece::Open => {
                let energies = match default {
                    Some(default) => self.sparse(&scope, default, &shown)?,
                    None => self.dense(&scope, &shown)?,
                };
                let shared = SharedCosts::next(&self.build, scope, &energies);
                let added = self.build.add(scope.as_slice(), &energies);
                added.map_err(|fault| self.lexer.error_at(place, format!("{fault} ({shown})")))?;
                if let Some(name) = name {
                    self.named.entry(name).or_insert(shared);
                }
            }
            Piece::Word(source) if tagged => self.pending.push(Pending { scope, source, place: self.lexer.place() }),
            Piece::Word(word) if word.starts_with("type") => {
                return Err(self.lexer.error(format!(
                    "found {shown} with a type, expected a table of costs: no global or arithmetic functions are read"
                )));
            }
            other => return Err(self.lexer.unexpected(&other, &format!("`defaultcost` or `costs` of {shown}"))),
        }
        self.lexer.close(&shown)
    }

    fn scope(&mut self, shown: &str) -> Result<Scope, DataError> {
        self.lexer.skip("scope")?;
        self.lexer.open(&format!("the scope of {shown}"))?;
        let mut scope = Scope::default();
        while *self.lexer.peek()? != Piece::Close {
            let word = self.lexer.word(|| format!("a variable of {shown}"))?;
            let variables = self.build.variables();
            let index = match is_number(&word) {
                true => word.parse::<u64>().ok().filter(|&index| index < variables as u64).map(|index| index as u32),
                false => self.variables.by_name.get(&word).copied(),
            };
            let rule = || format!("the name of a variable, or a number below {variables}");
            let index = index.ok_or_else(|| self.lexer.bad(&word, &format!("a variable of {shown}"), &rule()))?;
            if scope.as_slice().contains(&index) {
                return Err(self.lexer.bad(&word, &format!("a variable of {shown}"), "different ones"));
            }
            if !scope.push(index) {
                let message =
                    format!("found {shown} of more than two variables, expected at most 2: models here are pairwise");
                return Err(self.lexer.error(message));
            }
        }
        self.lexer.close("the scope")?;
        Ok(scope)
    }

    /// Reads all costs; the bracket is open.
    fn dense(&mut self, scope: &Scope, shown: &str) -> Result<Vec<f64>, DataError> {
        let expected = self.build.entries(scope.as_slice());
        let mut energies = Vec::new();
        while *self.lexer.peek()? != Piece::Close {
            energies.push(self.bound.cost(&mut self.lexer, || format!("cost {} of {shown}", energies.len()))?);
            if energies.len() as u64 > expected {
                let message = format!("found more than {expected} costs of {shown}, expected as many as it has tuples");
                return Err(self.lexer.error(message));
            }
        }
        self.lexer.close("the costs")?;
        match energies.len() as u64 == expected {
            true => Ok(energies),
            false => {
                let message =
                    format!("found {} costs of {shown}, expected {expected}: one of each tuple", energies.len());
                Err(self.lexer.error(message))
            }
        }
    }

    /// Reads tuples and their costs; the bracket is open. Of a tuple that is given twice the last cost counts.
    fn sparse(&mut self, scope: &Scope, default: f64, shown: &str) -> Result<Vec<f64>, DataError> {
        let entries = self.build.entries(scope.as_slice());
        self.build.imply(entries).map_err(|fault| self.lexer.error(fault))?;
        let mut energies = vec![default; entries as usize];
        let mut tuples = 0;
        while *self.lexer.peek()? != Piece::Close {
            let mut at = 0;
            for &variable in scope.as_slice() {
                let labels = u64::from(self.build.labels(variable));
                let word = self.lexer.word(|| format!("a value of variable {variable} in a tuple of {shown}"))?;
                let value = match is_number(&word) {
                    true => word.parse::<u64>().ok().filter(|&value| value < labels),
                    false => self.variables.values[variable as usize].get(&word).map(|&value| u64::from(value)),
                };
                let rule = || format!("the name of a value, or a number below {labels}");
                let what = || format!("a value of variable {variable}");
                at = at * labels + value.ok_or_else(|| self.lexer.bad(&word, &what(), &rule()))?;
            }
            energies[at as usize] = self.bound.cost(&mut self.lexer, || format!("the cost of a tuple of {shown}"))?;
            tuples += 1;
        }
        self.build.hold(entries.min(tuples));
        self.lexer.close("the tuples")?;
        Ok(energies)
    }

    fn finish(mut self) -> Result<Instance, DataError> {
        for pending in std::mem::take(&mut self.pending) {
            let added = self.share(&pending);
            added.map_err(|fault| self.lexer.error_at(pending.place, fault))?;
        }
        let lexer = self.lexer;
        self.build.finish().map_err(|fault| lexer.file_error(fault))
    }

    /// Adds a function with the costs of another one.
    fn share(&mut self, pending: &Pending) -> Result<(), BuildFault> {
        let source = quote(&pending.source);
        let Some(named) = self.named.get(&pending.source) else {
            return Err(format!(
                "found {source} in the place of costs, expected the name of a function with costs of its own"
            ));
        };
        named.add(&mut self.build, &pending.scope)
    }
}
