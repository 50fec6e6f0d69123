//! The summary of a path or grid for people.

use std::fmt::Write;

use multiplane::{Breakpoint, CrossValidation, PathEnd, PathKind, PathSummary};
use multiplane_lab::numbers::{counted as things, number};
use multiplane_lab::path_charts::{best_tested, counted, eps_of};

use crate::fill::TextTable;
use crate::terminal::{of_kernel, spent};

/// Most rows of a table.
const MOST_ROWS: usize = 16;

/// The summary for people; tables fit so many columns.
pub(crate) fn text(summary: &PathSummary, columns: Option<usize>) -> String {
    let kind = match summary.kind {
        PathKind::Path => "path",
        PathKind::Grid => "grid",
    };
    let mut text = format!(
        "{} on {}, {}, solver {}: {kind} from lambda = {} to {}\n",
        summary.subject.task,
        things(summary.subject.n as u64, "example"),
        things(summary.subject.d as u64, "weight"),
        summary.subject.solver,
        number(summary.breakpoints.first().map_or(f64::NAN, |point| point.lambda)),
        number(summary.lambda_end)
    );
    let proof = match eps_of(summary) {
        Some(eps) => format!("certified gap of at most {eps} at every lambda between"),
        _ if summary.certified => "every gap is certified".into(),
        _ => "gaps are not certified".into(),
    };
    let _ = writeln!(text, "  {}; {proof}", counted(summary, "point"));
    text += &points_table(&summary.breakpoints, columns);
    text += &spent(&summary.cost, summary.subject.n, summary.machine.clock, "evaluation");
    text += &summary.kernel.as_ref().map_or(String::new(), of_kernel);
    if let Some(validation) = &summary.cross_validation {
        text += &validation_table(validation, columns);
    } else if let Some((best, loss)) = best_tested(summary) {
        let _ = writeln!(text, "  smallest test loss {} at lambda = {}", number(loss), number(best));
    }
    let reason = match summary.stop_reason {
        PathEnd::LambdaMin => "complete",
        PathEnd::Passes => "early: the passes are spent",
        PathEnd::Calls => "early: the oracle calls are spent",
        PathEnd::Seconds => "early: the seconds are spent",
        PathEnd::Interrupt => "early: interrupted",
        PathEnd::Size => "early: more weights would not fit into a file",
    };
    let _ = writeln!(text, "  stopped: {reason}");
    if let Some(checkpoints) = &summary.checkpoints {
        let _ = writeln!(text, "  checkpoints  {} in {:.3} s", checkpoints.written, checkpoints.seconds);
    }
    let _ = match &summary.model {
        Some(model) => writeln!(text, "  saved to {model}"),
        None => writeln!(text, "  not saved: no --out"),
    };
    text
}

/// Returns the rows to show, out of `n`.
fn shown(n: usize) -> Vec<usize> {
    let rows = n.min(MOST_ROWS);
    (0..rows).map(|row| if rows < 2 { 0 } else { row * (n - 1) / (rows - 1) }).collect()
}

fn points_table(points: &[Breakpoint], columns: Option<usize>) -> String {
    let tested = points.iter().any(|point| point.test_loss.is_some());
    let heads = [("lambda", 12), ("primal", 10), ("dual", 10), ("gap", 10), ("train loss", 11)];
    let test = tested.then_some(("test loss", 10));
    let heads: Vec<_> = heads.into_iter().chain(test).chain([("passes", 9), ("seconds", 9)]).collect();
    let mut table = TextTable::new(&heads);
    let optional = |value: Option<f64>| value.map_or("-".into(), number);
    for point in shown(points.len()).into_iter().map(|k| &points[k]) {
        let bounds = [number(point.lambda), number(point.primal), optional(point.dual), optional(point.gap)];
        let losses = [optional(point.train_loss)].into_iter().chain(tested.then(|| optional(point.test_loss)));
        let cost = [format!("{:.1}", point.passes), format!("{:.2}", point.seconds)];
        table.push(bounds.into_iter().chain(losses).chain(cost));
    }
    let mut text = table.text(columns);
    if points.len() > MOST_ROWS {
        let _ = writeln!(text, "  ({MOST_ROWS} of {}; all with --json)", points.len());
    }
    text
}

fn validation_table(validation: &CrossValidation, columns: Option<usize>) -> String {
    let losses = &validation.losses;
    let mut text = format!("  cross-validation, {} folds, whose passes come on top\n", validation.folds);
    let mut table = TextTable::new(&[("lambda", 12), ("mean", 10), ("std", 10)]);
    let best = losses.iter().position(|row| row.lambda == validation.best_lambda);
    let mut rows = shown(losses.len());
    rows.extend(best);
    rows.sort_unstable();
    rows.dedup();
    for row in rows.iter().map(|&k| &losses[k]) {
        table.push([number(row.lambda), number(row.mean_loss), row.std_loss.map_or("-".into(), number)]);
    }
    text += &table.text(columns);
    if rows.len() < losses.len() {
        let _ = writeln!(text, "  ({} of {}; all with --json)", rows.len(), losses.len());
    }
    if let Some(best) = best.map(|k| &losses[k]) {
        let _ = writeln!(text, "  smallest mean loss {} at lambda = {}", number(best.mean_loss), number(best.lambda));
    }
    text
}
