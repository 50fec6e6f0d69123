//! Writing to the terminal: a closed pipe or a full disk behind it ends a command, it does not panic.

use std::io::{self, ErrorKind, Write};

use multiplane::clock::ClockKind;
use multiplane::observe::RunCost;
use multiplane::{Error, KernelCost};

/// Writes to standard output. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::failed(format!("standard output could not be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// What a kernel took, in a line of a summary.
pub(crate) fn of_kernel(kernel: &KernelCost) -> String {
    let (kept, all) = (kernel.support_vectors, kernel.kernel_rows);
    let rows = match kernel.merged {
        true => format!("{kept} rows that were merged out of {all} carry weight"),
        false => format!("{kept} of {all} rows carry weight"),
    };
    let (computed, read) = (number(kernel.kernel_evaluations as f64), number(kernel.kernel_reread as f64));
    format!("  kernel  {computed} values computed, {read} read again; {rows}\n")
}

/// Writes a line to standard error; if even that fails there is nobody to tell.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// What seconds are called: under the work clock they are counted, not measured.
pub(crate) fn seconds_of(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Wall => "s",
        ClockKind::Work => "work seconds",
    }
}

/// What a run on `n` examples took, certificates included; `looks` is what the calls for bounds alone are called.
pub(crate) fn spent(cost: &RunCost, n: usize, clock: ClockKind, looks: &str) -> String {
    let (n, all, unit) = (n as f64, cost.all_seconds(), seconds_of(clock));
    format!(
        "  passes  {:.1} all in: {:.1} of training ({} oracle calls, {} cached steps), {:.1} of {looks} ({} calls)\n  \
         time    {all:.2} {unit}, {:.0} % of it {looks}; {:.0} % of training was in the oracle\n",
        cost.passes + cost.evaluation_calls as f64 / n,
        cost.passes,
        cost.oracle_calls,
        cost.cached_steps,
        cost.evaluation_calls as f64 / n,
        cost.evaluation_calls,
        100.0 * cost.evaluation_seconds / all.max(f64::MIN_POSITIVE),
        100.0 * cost.oracle_seconds / cost.train_seconds.max(f64::MIN_POSITIVE)
    )
}

/// A number with six significant digits, without trailing zeros.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    if !(1e-6..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six digits, whatever the size.
    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.0, "0"), (0.0763812345, "0.0763812"), (4004.0, "4004"), (1.5e-9, "1.50000e-9")] {
            assert_eq!(number(value), text);
        }
    }
}
