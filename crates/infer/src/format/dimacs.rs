//! The DIMACS format of maximum flow problems (`.max`), as of the first implementation challenge.
//!
//! ```text
//! c a comment
//! p max 4 3           nodes, arcs
//! n 1 s               the source; nodes count from 1
//! n 4 t               the sink
//! a 1 2 5             an arc: tail, head, capacity
//! a 2 3 1.5
//! a 3 4 7
//! ```
//!
//! Capacities may be decimals. If all are integers (and add up to less than 2^61), flows are integers and exact. Arcs
//! u->v and v->u are one edge with a capacity in each direction, and parallel arcs add up. What cannot be part of a
//! flow from source to sink is left out: loops, arcs into the source, arcs out of the sink. Both terminals must be
//! declared and joined by a path of arcs, whatever their capacities: without one the terminals are probably wrong.
//!
//! Reading costs O(bytes + m log m) for m arcs, about 24 bytes each.

use std::io::{self, Write};

use super::entry::{Instance, ProblemFormat};
use super::flow::{Flow, FlowArc, FlowProblem};
use crate::file::{DataError, Line, Lines};
use crate::maxflow::Capacity;

/// Most nodes that a file may have beside those of its arcs.
const LONELY_LIMIT: u64 = 1 << 22;

/// The format's entry in the list of formats. Errors name the place of whatever breaks the format: negative capacities,
/// missing nodes, no or two sources or sinks, another number of arcs than promised.
pub const ENTRY: ProblemFormat = ProblemFormat {
    name: "max",
    description: "a flow network (DIMACS): maximum flow and minimum cut",
    recognises: |start| matches!(start, [b'C' | b'P', end, ..] if end.is_ascii_whitespace()),
    read: |source| parse(Lines::of(source)).map(Instance::Flow),
};

/// The `p` line: nodes and arcs.
#[derive(Clone, Copy)]
struct Sizes {
    nodes: u64,
    arcs: u64,
}

/// Capacities of the arcs so far: integers as long as all are.
enum Capacities {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

fn parse(mut lines: Lines) -> Result<Flow, DataError> {
    let mut sizes = None;
    let mut terminals = [None, None];
    let mut ends = Vec::new();
    let mut capacities = Capacities::Whole(Vec::new());
    while let Some(line) = lines.next_line()? {
        let mut fields = Fields { line: &line, at: 0 };
        let Some((at, kind)) = fields.next() else { continue };
        match (kind, sizes) {
            (comment, _) if comment.starts_with('c') => continue,
            ("p", None) => sizes = Some(problem(&mut fields)?),
            ("p", Some(_)) => return Err(line.error(at, "found a second p line, expected one")),
            ("n" | "a", None) => {
                return Err(line.error(at, format!("found an {kind} line, expected `p max NODES ARCS` before it")));
            }
            ("n", Some(sizes)) => terminal(&mut fields, sizes, &mut terminals)?,
            ("a", Some(sizes)) => {
                if ends.len() as u64 == sizes.arcs {
                    let message = format!("found more arcs, expected {} as the p line says", sizes.arcs);
                    return Err(line.error(at, message));
                }
                let (tail, head) = (fields.node("tail", sizes)?, fields.node("head", sizes)?);
                fields.capacity(&mut capacities)?;
                ends.push((tail, head));
            }
            _ => return Err(line.bad(at, kind, "line", "one that begins with c, p, n or a")),
        }
        fields.end()?;
    }
    let Some(sizes) = sizes else { return Err(lines.nothing("`p max NODES ARCS` and arcs")) };
    finish(&lines, sizes, terminals, &ends, capacities)
}

fn finish(
    lines: &Lines,
    sizes: Sizes,
    terminals: [Option<u32>; 2],
    ends: &[(u32, u32)],
    capacities: Capacities,
) -> Result<Flow, DataError> {
    let refuse = |message: String| Err(DataError::file(lines.path(), message));
    let (Some(source), Some(sink)) = (terminals[0], terminals[1]) else {
        let (missing, letter) = if terminals[0].is_none() { ("source", 's') } else { ("sink", 't') };
        return refuse(format!("found no {missing} in {} lines, expected a line `n NODE {letter}`", lines.count()));
    };
    if source == sink {
        return refuse(format!("found node {} as source and sink, expected two nodes", source + 1));
    }
    let found = ends.len() as u64;
    if found < sizes.arcs {
        let (arcs, count) = (sizes.arcs, lines.count());
        return refuse(format!(
            "found the end of the file after {found} arcs (line {count}), expected {arcs} as the p line says"
        ));
    }
    let lonely = sizes.nodes.saturating_sub(2 * found);
    if lonely > LONELY_LIMIT {
        return refuse(format!(
            "found {} nodes and {found} arcs, expected at most {LONELY_LIMIT} nodes without arcs",
            sizes.nodes
        ));
    }
    let nodes = sizes.nodes as u32; // `problem` saw to it
    let real = |capacities: &[f64]| -> Result<Flow, DataError> {
        let total: f64 = capacities.iter().sum();
        match total.is_finite() {
            true => Ok(Flow::Real(FlowProblem::new(nodes, source, sink, arcs(ends, capacities)))),
            false => refuse("found capacities that add up to infinity, expected smaller ones".into()),
        }
    };
    match capacities {
        Capacities::Real(capacities) => real(&capacities),
        Capacities::Whole(capacities) => match capacities.iter().map(|&c| i128::from(c)).sum::<i128>() < 1 << 61 {
            true => Ok(Flow::Whole(FlowProblem::new(nodes, source, sink, arcs(ends, &capacities)))),
            false => real(&capacities.iter().map(|&c| c as f64).collect::<Vec<_>>()),
        },
    }
}

fn arcs<C: Capacity>(ends: &[(u32, u32)], capacities: &[C]) -> impl Iterator<Item = FlowArc<C>> {
    ends.iter().zip(capacities).map(|(&(tail, head), &capacity)| FlowArc { tail, head, capacity })
}

fn problem(fields: &mut Fields<'_>) -> Result<Sizes, DataError> {
    let (at, kind) = fields.expect("`max`")?;
    if kind != "max" {
        return Err(fields.line.bad(at, kind, "kind of problem", "max"));
    }
    let (at, text) = fields.expect("the number of nodes")?;
    let nodes = text.parse::<u64>().ok().filter(|&nodes| nodes < u64::from(u32::MAX));
    let nodes =
        nodes.ok_or_else(|| fields.line.bad(at, text, "the number of nodes", "a whole number below 2^32 - 1"))?;
    let (at, text) = fields.expect("the number of arcs")?;
    let arcs = text.parse::<u64>().map_err(|_| fields.line.bad(at, text, "the number of arcs", "a whole number"))?;
    Ok(Sizes { nodes, arcs })
}

fn terminal(fields: &mut Fields<'_>, sizes: Sizes, terminals: &mut [Option<u32>; 2]) -> Result<(), DataError> {
    let node = fields.node("terminal", sizes)?;
    let (at, letter) = fields.expect("s or t")?;
    let (place, name) = match letter {
        "s" => (0, "source"),
        "t" => (1, "sink"),
        _ => return Err(fields.line.bad(at, letter, "kind of terminal", "s or t")),
    };
    if let Some(first) = terminals[place].replace(node) {
        let message = format!("found node {} as another {name} beside {}, expected one", node + 1, first + 1);
        return Err(fields.line.error(0, message));
    }
    Ok(())
}

/// The fields of a line, from left to right.
struct Fields<'a> {
    line: &'a Line<'a>,
    at: usize,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let text = self.line.text;
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        let start = self.at + text.as_bytes()[self.at..].iter().take_while(|byte| blank(byte)).count();
        let end = start + text.as_bytes()[start..].iter().take_while(|byte| !blank(byte)).count();
        self.at = end;
        (start < end).then(|| (start, &text[start..end]))
    }

    fn expect(&mut self, what: &str) -> Result<(usize, &'a str), DataError> {
        self.next().ok_or_else(|| self.line.error(self.at, format!("found the end of the line, expected {what}")))
    }

    /// Reads a node, counted from 0.
    fn node(&mut self, what: &str, sizes: Sizes) -> Result<u32, DataError> {
        let (at, text) = self.expect(what)?;
        match text.parse::<u64>() {
            Ok(node) if (1..=sizes.nodes).contains(&node) => Ok(node as u32 - 1),
            _ => Err(self.line.bad(at, text, what, &format!("a node from 1 to {}", sizes.nodes))),
        }
    }

    fn capacity(&mut self, capacities: &mut Capacities) -> Result<(), DataError> {
        let (at, text) = self.expect("a capacity")?;
        let bad = || self.line.bad(at, text, "capacity", "a finite number that is not negative");
        if let (Capacities::Whole(whole), Ok(capacity)) = (&mut *capacities, text.parse::<i64>()) {
            if capacity < 0 {
                return Err(bad());
            }
            whole.push(capacity);
            return Ok(());
        }
        let capacity = text.parse::<f64>().ok().filter(|c| c.is_finite() && *c >= 0.0).ok_or_else(bad)?;
        if let Capacities::Whole(whole) = capacities {
            *capacities = Capacities::Real(whole.iter().map(|&c| c as f64).collect());
        }
        if let Capacities::Real(real) = capacities {
            real.push(capacity + 0.0); // not -0
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), DataError> {
        match self.next() {
            None => Ok(()),
            Some((at, text)) => Err(self.line.bad(at, text, "another field", "the end of the line")),
        }
    }
}

/// Writes a network so that [`read`](super::read) gives it back: edges in order, each as one arc or two. Doubles
/// without a fraction read back as integers if all are.
///
/// # Errors
/// Those of `out`.
pub fn write<C: Capacity>(network: &FlowProblem<C>, out: &mut dyn Write) -> io::Result<()> {
    let back = network.edges().iter().filter(|edge| edge.backward > C::ZERO).count();
    writeln!(out, "p max {} {}", network.nodes(), network.edges().len() + back)?;
    writeln!(out, "n {} s\nn {} t", network.source() + 1, network.sink() + 1)?;
    for edge in network.edges() {
        writeln!(out, "a {} {} {}", edge.tail + 1, edge.head + 1, edge.forward)?;
        if edge.backward > C::ZERO {
            writeln!(out, "a {} {} {}", edge.head + 1, edge.tail + 1, edge.backward)?;
        }
    }
    Ok(())
}
