//! Every example decoded on its thread and judged there; the findings summed up in the order of the examples.

use std::ops::Range;

use multiplane_core::divide::divide;
use multiplane_core::oracle::OracleError;

use crate::metrics::{ACCURACY, Counts, EXACT, Evaluation, Measure};

/// Decodes and judges `examples` examples on all workers, requests of `together` of them, and hands over the findings
/// in order. `judge` adds a finding for each example that it is asked about.
///
/// Of every `round` requests the findings wait for each other. There must be a worker.
///
/// # Errors
///
/// The first request, in order, that cannot be answered, under the number of its first example.
pub(crate) fn decode_all<W: Send, F: Send>(
    workers: &mut [W],
    examples: usize,
    together: usize,
    round: usize,
    judge: impl Fn(&mut W, Range<usize>, &mut Vec<F>) -> Result<(), String> + Sync,
    mut each: impl FnMut(F),
) -> Result<(), OracleError> {
    let mut findings: Vec<Vec<F>> = Vec::new();
    for start in (0..examples).step_by(together * round) {
        let left = (examples - start).div_ceil(together);
        findings.resize_with(left.min(round), Vec::new);
        let first = |slot: usize| start + slot * together;
        let fill = |worker: &mut W, slot: usize, found: &mut Vec<F>| {
            judge(worker, first(slot)..examples.min(first(slot + 1)), found)
        };
        // What was found before a failure says which example it is.
        let divided = divide(workers, &mut findings, fill);
        let block = |slot: usize| examples.min(first(slot) + findings[slot].len());
        divided.map_err(|unfilled| OracleError { block: block(unfilled.slot), reason: unfilled.reason })?;
        findings.iter_mut().flat_map(|found| found.drain(..)).for_each(&mut each);
    }
    Ok(())
}

/// The findings about one answer.
pub(crate) struct Judged {
    /// True if there is a truth to judge by.
    pub(crate) known: bool,
    /// How much the loss counts in the mean, 1 where all count the same.
    pub(crate) weight: f64,
    /// The task loss.
    pub(crate) loss: f64,
    /// Wrong variables and variables in all.
    pub(crate) errors: (usize, usize),
    /// The counts of each measure.
    pub(crate) counts: Vec<Counts>,
}

/// Sums of what was found out.
#[derive(Default)]
pub(crate) struct Tally {
    n: usize,
    weight: f64,
    loss: f64,
    wrong: usize,
    variables: usize,
    exact: usize,
    sums: Vec<Counts>,
}

impl Tally {
    /// Adds what one example showed.
    pub(crate) fn add(&mut self, judged: Judged) {
        self.sums.resize(judged.counts.len(), Counts::default());
        if !judged.known {
            return;
        }
        let (wrong, variables) = judged.errors;
        self.n += 1;
        self.weight += judged.weight;
        self.loss += judged.weight * judged.loss;
        self.wrong += wrong;
        self.variables += variables;
        self.exact += usize::from(wrong == 0);
        for (sums, counts) in self.sums.iter_mut().zip(judged.counts) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Returns what the sums say, by the measures that counted: nothing where no example has a truth.
    pub(crate) fn evaluation<L: ?Sized>(&self, measures: &[Box<dyn Measure<L>>]) -> Evaluation {
        if self.n == 0 {
            return Evaluation::default();
        }
        let n = self.n as f64;
        let accuracy = if self.variables == 0 { 1.0 } else { 1.0 - self.wrong as f64 / self.variables as f64 };
        let exact = self.exact as f64 / n;
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let mut evaluation = Evaluation {
            n: self.n,
            loss: (self.weight > 0.0).then(|| self.loss / self.weight),
            metrics: vec![(ACCURACY, accuracy), (EXACT, exact)],
            lines: vec![("variables right", percent(accuracy)), ("examples all right", percent(exact))],
        };
        for (measure, sums) in measures.iter().zip(&self.sums) {
            measure.report(sums, &mut evaluation);
        }
        evaluation
    }
}
