//! Writing a cfn file.

use std::io::{self, Write};

use super::super::build::{greatest_sum, pairwise};
use crate::mrf::Mrf;

/// Writes a model so that [`read`](crate::format::read) gives back one of the same energies: to the bit without `digits`, else
/// rounded to so many after the point.
///
/// The bound is above the energy of every allowed labelling. It has `digits` after the point, which is the precision
/// that toulbar2 computes with; a cost with more digits than its bound toulbar2 (1.1.1) takes without its fraction, so
/// give it at most 9.
///
/// # Errors
/// Those of `out`.
pub fn write(mrf: &Mrf, digits: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let shown = |value: f64| match digits {
        None => value.to_string(), // never with an exponent
        Some(digits) => format!("{value:.digits$}"),
    };
    let bound = greatest_sum(mrf);
    let bound = shown((bound + 1.0).max(bound * (1.0 + 1e-9)).ceil());
    writeln!(out, "{{ \"problem\": {{ \"name\": \"multiplane\", \"mustbe\": \"<{bound}\" }},\n  \"variables\": {{")?;
    for node in 0..mrf.nodes() {
        let comma = if node + 1 < mrf.nodes() { "," } else { "" };
        writeln!(out, "    \"x{node}\": {}{comma}", mrf.labels(node as u32))?;
    }
    writeln!(out, "  }},\n  \"functions\": {{")?;
    let list = |energies: &mut dyn Iterator<Item = f64>| {
        let text = |energy: f64| if energy == f64::INFINITY { bound.clone() } else { shown(energy) };
        energies.map(text).collect::<Vec<_>>().join(", ")
    };
    for node in 0..mrf.nodes() {
        let costs = list(&mut mrf.unary(node as u32).iter().copied());
        writeln!(out, "    \"u{node}\": {{ \"scope\": [\"x{node}\"], \"costs\": [{costs}] }},")?;
    }
    for (at, edge) in mrf.edges().iter().enumerate() {
        let costs = list(&mut pairwise(mrf, edge));
        writeln!(
            out,
            "    \"p{at}\": {{ \"scope\": [\"x{}\", \"x{}\"], \"costs\": [{costs}] }},",
            edge.tail, edge.head
        )?;
    }
    writeln!(out, "    \"constant\": {{ \"scope\": [], \"costs\": [{}] }}\n  }}\n}}", shown(mrf.constant()))
}
