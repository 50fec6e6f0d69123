//! The UAI format of graphical models, as of the UAI and PASCAL inference challenges: factors as tables of positive
//! numbers, whose product is to be maximised.
//!
//! ```text
//! MARKOV              or BAYES, which is read the same
//! 3                   variables
//! 2 2 3               their numbers of labels
//! 2                   factors
//! 1 0                 scopes: how many variables, and which
//! 2 1 2
//!
//! 2                   tables, in the order of the scopes: how many entries, and the entries,
//!  0.4 0.6            the last variable's label changing fastest
//! 6
//!  1 2 1  0 1 1
//! ```
//!
//! Energies are `-ln(entry)`, so that the most probable labelling is the one of least energy; an entry of 0 forbids.
//! Reading costs O(bytes), memory follows the entries.

use std::io::{self, Write};

use super::build::{Build, pairwise};
use super::entry::{Instance, ProblemFormat};
use super::words::{domains, scope};
use crate::file::{DataError, Tokens, push_number};
use crate::mrf::Mrf;

/// Most entries that room is made for before they are read.
const AHEAD: u64 = 1 << 12;
/// No written entry is below `exp(-SPREAD)`.
const SPREAD: f64 = 690.0;

/// The format's entry in the list of formats. Errors name the place of whatever breaks the format, of factors of three
/// or more variables, and of entries that are negative or not finite (or so small that no double but 0 is near).
pub const ENTRY: ProblemFormat = ProblemFormat {
    name: "uai",
    description: "a graphical model as tables of positive factors (UAI, MARKOV or BAYES), energy -sum ln",
    recognises: |start| start.starts_with(b"MARKOV") || start.starts_with(b"BAYES"),
    read: |source| parse(Tokens::of(source)?),
};

fn parse(mut tokens: Tokens) -> Result<Instance, DataError> {
    let kind = tokens.expect(|| "MARKOV or BAYES".into())?.to_ascii_uppercase();
    if kind != "MARKOV" && kind != "BAYES" {
        return Err(tokens.bad("kind of model", "MARKOV or BAYES"));
    }
    let variables = tokens.whole(|| "the number of variables".into())?;
    let mut build = Build::new(domains(&mut tokens, variables)?);
    let factors = tokens.whole(|| "the number of factors".into())?;
    let mut scopes = Vec::new();
    for factor in 0..factors {
        let arity = tokens.whole(|| format!("the number of variables of factor {factor} of {factors}"))?;
        let name = || format!("factor {factor}");
        scopes.push(scope(&mut tokens, arity, build.variables(), &name)?);
    }
    let mut entries = Vec::new();
    for (factor, scope) in scopes.iter().enumerate() {
        let expected = build.entries(scope.as_slice());
        let found = tokens.whole(|| format!("the number of entries of factor {factor} of {factors}"))?;
        if found != expected {
            let message = format!("found a table of {found} entries for factor {factor}, expected {expected}");
            return Err(tokens.error(message));
        }
        let place = tokens.place();
        entries.clear();
        entries.reserve(expected.min(AHEAD) as usize);
        for entry in 0..expected {
            entries.push(energy(&mut tokens, || format!("entry {entry} of {expected} of factor {factor}"))?);
        }
        let added = build.add(scope.as_slice(), &entries);
        added.map_err(|fault| tokens.error_at(place, format!("{fault} (factor {factor})")))?;
    }
    tokens.end("the last table")?;
    build.finish().map_err(|fault| DataError::file(tokens.path(), fault))
}

/// Reads the energy of an entry.
fn energy(tokens: &mut Tokens, what: impl Fn() -> String) -> Result<f64, DataError> {
    let word = tokens.expect(&what)?;
    match word.parse::<f64>() {
        Ok(0.0) if mantissa(word).any(|digit| digit != b'0') => {
            Err(tokens.bad(&what(), "0 or a number that a double can hold: this one is too small"))
        }
        Ok(0.0) => Ok(f64::INFINITY),
        Ok(value) if value > 0.0 && value.is_finite() => Ok(0.0 - value.ln()), // not -0
        _ => Err(tokens.bad(&what(), "a finite number that is not negative")),
    }
}

/// Returns the digits before the exponent.
fn mantissa(word: &str) -> impl Iterator<Item = u8> {
    word.bytes().take_while(|byte| !byte.eq_ignore_ascii_case(&b'e')).filter(u8::is_ascii_digit)
}

/// Writes a model so that [`read`](super::read) gives back one of the same energies, up to rounding: entries are
/// `exp(-energy)`.
///
/// Each table is scaled so that its largest entry is 1, and what that takes off is kept in factors of no variable.
///
/// # Errors
/// Those of `out`; and a finite energy more than 690 above the least of its table, which would underflow to 0.
pub fn write(mrf: &Mrf, out: &mut dyn Write) -> io::Result<()> {
    let mut offset = mrf.constant();
    let mut tables = String::new();
    for node in 0..mrf.nodes() as u32 {
        push_table(&mut tables, &mut offset, mrf.unary(node).iter().copied())?;
    }
    for edge in mrf.edges() {
        push_table(&mut tables, &mut offset, pairwise(mrf, edge))?;
    }
    let constants = (offset.abs() / SPREAD).ceil() as usize;
    writeln!(out, "MARKOV\n{}", mrf.nodes())?;
    let labels: Vec<String> = (0..mrf.nodes()).map(|node| mrf.labels(node as u32).to_string()).collect();
    writeln!(out, "{}\n{}", labels.join(" "), mrf.nodes() + mrf.edges().len() + constants)?;
    for node in 0..mrf.nodes() {
        writeln!(out, "1 {node}")?;
    }
    for edge in mrf.edges() {
        writeln!(out, "2 {} {}", edge.tail, edge.head)?;
    }
    for _ in 0..constants {
        writeln!(out, "0")?;
    }
    out.write_all(tables.as_bytes())?;
    for _ in 0..constants {
        let mut line = String::from("1\n ");
        push_number(&mut line, (-offset / constants as f64).exp());
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Appends a table scaled by its least energy, which goes into `offset`.
fn push_table(text: &mut String, offset: &mut f64, energies: impl Iterator<Item = f64> + Clone) -> io::Result<()> {
    let least = energies.clone().fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 0.0 };
    *offset += least;
    text.push_str(&format!("{}\n", energies.clone().count()));
    for energy in energies {
        let above = energy - least;
        if above > SPREAD && energy.is_finite() {
            let message = format!("energy {energy} is {above} above the least of its table: exp(-energy) is 0");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        text.push(' ');
        push_number(text, (-above).exp());
    }
    text.push('\n');
    Ok(())
}
