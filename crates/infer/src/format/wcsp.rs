//! The wcsp format of weighted constraint satisfaction problems, as of toulbar2 and its benchmarks: cost functions with
//! a default and the tuples that differ from it.
//!
//! ```text
//! name 3 4 2 100      name, variables, largest number of labels, cost functions, upper bound
//! 4 4 2               numbers of labels
//! 2 0 1 0 2           arity, scope, default cost, tuples that differ from it
//! 0 0 5                 labels and cost
//! 3 3 100               a cost that reaches the upper bound forbids
//! 1 2 7 0
//! ```
//!
//! Costs are integers; toulbar2 takes them as such and may not take negative ones. A function whose arity is negative
//! can be used again: later ones with a negative number of tuples, -1 for the first such function, have its costs.
//! Global cost functions (a default of -1 and a keyword) are refused. The upper bound counts for single costs, not for
//! the sum of all: an optimum that reaches it is found and reported. Costs are compared with it as integers, however
//! large; those below it become doubles, and are refused where a double could not hold them.
//!
//! Reading costs O(bytes + sizes of tables).

use std::io::{self, Write};
use std::num::IntErrorKind;

use super::build::{Build, BuildFault, SharedCosts, greatest_sum};
use super::entry::{Instance, ProblemFormat};
use super::words::{Scope, domains, scope};
use crate::file::{DataError, Tokens};
use crate::mrf::Mrf;

/// Largest integer of which all smaller ones are doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// The same as an integer.
const EXACT_INTEGER: u128 = 1 << f64::MANTISSA_DIGITS;

/// The format's entry in the list of formats. Errors name the place of whatever breaks the format, of functions of
/// three or more variables, of global cost functions, and of costs that are no integers or beyond 2^53 but below the
/// upper bound.
pub const ENTRY: ProblemFormat = ProblemFormat {
    name: "wcsp",
    description: "a weighted constraint satisfaction problem with integer costs (toulbar2)",
    recognises: |_| false,
    read: |source| parse(Tokens::of(source)?),
};

struct WcspReader {
    tokens: Tokens,
    build: Build,
    bound: i128,
    shared: Vec<SharedCosts>,
    /// The function in hand and how many there are.
    function: u64,
    functions: u64,
}

fn parse(mut tokens: Tokens) -> Result<Instance, DataError> {
    tokens.expect(|| "the problem's name".into())?;
    let variables = tokens.whole(|| "the number of variables".into())?;
    tokens.whole(|| "the largest number of labels".into())?;
    let functions = tokens.whole(|| "the number of cost functions".into())?;
    let bound = integer(&mut tokens, || "the upper bound".into())?;
    let build = Build::new(domains(&mut tokens, variables)?);
    let mut reader = WcspReader { tokens, build, bound, shared: Vec::new(), function: 0, functions };
    for function in 0..functions {
        reader.function = function;
        reader.function()?;
    }
    reader.tokens.end("the last cost function")?;
    let WcspReader { tokens, build, .. } = reader;
    build.finish().map_err(|fault| DataError::file(tokens.path(), fault))
}

impl WcspReader {
    fn name(&self) -> String {
        format!("cost function {} of {}", self.function, self.functions)
    }

    fn function(&mut self) -> Result<(), DataError> {
        let name = self.name();
        let arity = integer(&mut self.tokens, || format!("the arity of {name}"))?;
        let place = self.tokens.place();
        let scope = scope(
            &mut self.tokens,
            u64::try_from(arity.unsigned_abs()).unwrap_or(u64::MAX),
            self.build.variables(),
            &|| name.clone(),
        )?;
        let what = || format!("the default cost of {name}");
        let default = integer(&mut self.tokens, what)?;
        let default_energy = self.energy(default, what)?;
        let word = self.tokens.expect(|| format!("the number of tuples of {name}"))?;
        let tuples = word.parse::<i64>();
        let added = match tuples {
            Ok(tuples @ 0..) => {
                let energies = self.table(&scope, default_energy, tuples as u64)?;
                if arity < 0 {
                    self.shared.push(SharedCosts::next(&self.build, scope, &energies));
                }
                self.build.add(scope.as_slice(), &energies)
            }
            Ok(again) => self.again(&scope, again.unsigned_abs())?,
            Err(_) if default == -1 => {
                return Err(self.tokens.bad("global cost function", "tables of costs: no other functions are read"));
            }
            Err(_) => return Err(self.tokens.bad(&format!("the number of tuples of {name}"), "a whole number")),
        };
        added.map_err(|fault| self.tokens.error_at(place, format!("{fault} ({name})")))
    }

    /// Reads a default and the tuples that differ from it; of one that is given twice the last cost counts.
    fn table(&mut self, scope: &Scope, default: f64, tuples: u64) -> Result<Vec<f64>, DataError> {
        let entries = self.build.entries(scope.as_slice());
        self.build.imply(entries).map_err(|fault| self.tokens.error(fault))?;
        let name = self.name();
        let mut energies = vec![default; entries as usize];
        for tuple in 0..tuples {
            let mut at = 0;
            for &variable in scope.as_slice() {
                let what = || format!("label of variable {variable} in tuple {tuple} of {tuples} of {name}");
                let (label, labels) = (self.tokens.whole(what)?, u64::from(self.build.labels(variable)));
                if label >= labels {
                    return Err(self.tokens.bad(&what(), &format!("a label below {labels}")));
                }
                at = at * labels + label;
            }
            let what = || format!("the cost of tuple {tuple} of {tuples} of {name}");
            let cost = integer(&mut self.tokens, what)?;
            energies[at as usize] = self.energy(cost, what)?;
        }
        self.build.hold(tuples.min(entries));
        Ok(energies)
    }

    /// Adds the costs of an earlier function that may be used again, counted from 1.
    fn again(&mut self, scope: &Scope, number: u64) -> Result<Result<(), BuildFault>, DataError> {
        let Some(shared) = self.shared.get(number as usize - 1) else {
            let count = self.shared.len();
            let message =
                format!("found {} with the costs of shared function {number}, but there are {count}", self.name());
            return Err(self.tokens.error(message));
        };
        Ok(shared.add(&mut self.build, scope))
    }

    /// Returns the energy of the cost that was read last. One that reaches the upper bound forbids; any other must not
    /// change as it becomes a double, lest it reach what it is below.
    fn energy(&self, cost: i128, what: impl Fn() -> String) -> Result<f64, DataError> {
        match cost {
            _ if cost >= self.bound => Ok(f64::INFINITY),
            _ if cost.unsigned_abs() <= EXACT_INTEGER => Ok(cost as f64),
            _ => {
                let bound = self.bound;
                let rule = format!("one of at most 2^53 in size, or one that reaches the upper bound {bound}");
                Err(self.tokens.bad(&what(), &rule))
            }
        }
    }
}

fn integer(tokens: &mut Tokens, what: impl Fn() -> String) -> Result<i128, DataError> {
    let parsed = tokens.expect(&what)?.parse::<i128>();
    parsed.map_err(|error| {
        let too_large = matches!(error.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
        tokens.bad(&what(), if too_large { "an integer below 2^127 in size" } else { "an integer" })
    })
}

/// Writes a model of integers so that [`read`](super::read) gives back one of the same energies.
///
/// The upper bound is above the energy of every allowed labelling. toulbar2 may refuse negative costs.
///
/// # Errors
/// Those of `out`; and energies that are no integers, or that add up to more than 2^53.
pub fn write(mrf: &Mrf, out: &mut dyn Write) -> io::Result<()> {
    let refuse = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    let bound = 1.0 + greatest_sum(mrf);
    if !mrf.is_integral() {
        return refuse("the model has energies that are no integers: .wcsp holds none (.cfn does)".into());
    }
    if bound >= EXACT {
        return refuse(format!("the model's energies add up to {bound}: .wcsp holds costs up to 2^53"));
    }
    let functions = mrf.nodes() + mrf.edges().len() + usize::from(mrf.constant() != 0.0);
    writeln!(out, "multiplane {} {} {functions} {bound}", mrf.nodes(), mrf.most_labels())?;
    let labels: Vec<String> = (0..mrf.nodes()).map(|node| mrf.labels(node as u32).to_string()).collect();
    writeln!(out, "{}", labels.join(" "))?;
    if mrf.constant() != 0.0 {
        writeln!(out, "0 {} 0", mrf.constant())?;
    }
    let cost = |energy: f64| if energy == f64::INFINITY { bound } else { energy };
    for node in 0..mrf.nodes() as u32 {
        writeln!(out, "1 {node} 0 {}", mrf.labels(node))?;
        for (label, &energy) in mrf.unary(node).iter().enumerate() {
            writeln!(out, "{label} {}", cost(energy))?;
        }
    }
    for edge in mrf.edges() {
        let (rows, columns) = (mrf.labels(edge.tail) as u32, mrf.labels(edge.head) as u32);
        writeln!(out, "2 {} {} 0 {}", edge.tail, edge.head, rows * columns)?;
        for a in 0..rows {
            for b in 0..columns {
                writeln!(out, "{a} {b} {}", cost(mrf.edge_energy(edge, a, b)))?;
            }
        }
    }
    Ok(())
}
