//! What a path or grid looks like: a summary for people, and curves against lambda.

use std::fmt::Write;

use multiplane::{
    Breakpoint, CrossValidation, LambdaChoice, PathEnd, PathKind, PathModel, PathSummary, ValidatedLambda,
    least_test_loss,
};

use crate::axis::label;
use crate::chart::{Chart, Frame, Series};
use crate::fill::Table;
use crate::terminal::{counted as things, number, of_kernel, spent};

/// Most rows of a table.
const MOST_ROWS: usize = 16;

/// Points of a curve between two breakpoints.
const SAMPLES: usize = 8;

/// Height of one chart, in units of its view box.
const CHART_HEIGHT: usize = 440;

/// The summary for people; tables fit so many columns.
pub(crate) fn text(summary: &PathSummary, columns: Option<usize>) -> String {
    let kind = match summary.kind {
        PathKind::Path => "path",
        PathKind::Grid => "grid",
    };
    let mut text = format!(
        "{} on {}, {}, solver {}: {kind} from lambda = {} to {}\n",
        summary.task,
        things(summary.n as u64, "example"),
        things(summary.d as u64, "weight"),
        summary.solver,
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
    text += &spent(&summary.cost, summary.n, summary.clock, "evaluation");
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

/// The lambda that test data choose, and their loss there.
fn best_tested(summary: &PathSummary) -> Option<(f64, f64)> {
    let best = least_test_loss(&summary.breakpoints)?;
    Some((best.lambda, best.test_loss?))
}

/// What the gap of a path is at most, anywhere.
fn eps_of(summary: &PathSummary) -> Option<String> {
    let share = summary.relative_eps.map(|share| format!("{} % of the primal", number(100.0 * share)));
    summary.eps.map(number).or(share).filter(|_| summary.kind == PathKind::Path)
}

/// How many breakpoints there are, or points of a grid, which are called `point`.
fn counted(summary: &PathSummary, point: &str) -> String {
    let noun = if summary.kind == PathKind::Path { "breakpoint" } else { point };
    things(summary.breakpoints.len() as u64, noun)
}

/// Which of `n` rows to show.
fn shown(n: usize) -> Vec<usize> {
    let rows = n.min(MOST_ROWS);
    (0..rows).map(|row| if rows < 2 { 0 } else { row * (n - 1) / (rows - 1) }).collect()
}

fn points_table(points: &[Breakpoint], columns: Option<usize>) -> String {
    let tested = points.iter().any(|point| point.test_loss.is_some());
    let heads = [("lambda", 12), ("primal", 10), ("dual", 10), ("gap", 10), ("train loss", 11)];
    let test = tested.then_some(("test loss", 10));
    let heads: Vec<_> = heads.into_iter().chain(test).chain([("passes", 9), ("seconds", 9)]).collect();
    let mut table = Table::new(&heads);
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
    let mut table = Table::new(&[("lambda", 12), ("mean", 10), ("std", 10)]);
    let best = losses.iter().position(|row| row.lambda == validation.best_lambda);
    let mut rows = shown(losses.len());
    rows.extend(best);
    rows.sort_unstable();
    rows.dedup();
    for row in rows.iter().map(|&k| &losses[k]) {
        table.push([row.lambda, row.mean_loss, row.std_loss].map(number));
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

/// Three charts, one below the other: bounds, gap and losses against lambda.
pub(crate) fn svg(summary: &PathSummary, model: &PathModel) -> String {
    let bounds = bounds(summary, model);
    let charts = [bounds_chart(summary, &bounds), gap_chart(summary, &bounds), loss_chart(summary)];
    let frame = charts.iter().map(Chart::frame).reduce(Frame::joined).unwrap_or_default(); // one lambda, one place
    let height = CHART_HEIGHT * charts.len();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 {height}\" width=\"720\" height=\"{height}\">\n"
    );
    for (row, chart) in charts.iter().enumerate() {
        let place = format!("<svg y=\"{}\" width=\"720\" height=\"{CHART_HEIGHT}\" ", row * CHART_HEIGHT);
        out += &chart.svg_within(&frame).replacen("<svg ", &place, 1);
    }
    out += "</svg>\n";
    out
}

/// A certificate along a path, lambda rising.
#[derive(Default)]
struct Bounds {
    /// P at the answer's weights.
    primal: Vec<(f64, f64)>,
    /// A lower bound on the optimum. That is concave in lambda, so the chord between two breakpoints' duals is one.
    dual: Vec<(f64, f64)>,
    /// The gap at breakpoints.
    gap: Vec<(f64, f64)>,
    /// The gap of each breakpoint's weights and scaled dual where the next one takes over.
    last_gap: Vec<(f64, f64)>,
}

fn bounds(summary: &PathSummary, model: &PathModel) -> Bounds {
    let points = &summary.breakpoints;
    let mut bounds = Bounds::default();
    for (k, point) in points.iter().enumerate().rev() {
        let dual = point.dual.unwrap_or(f64::NAN);
        let end = points.get(k + 1).map_or(summary.lambda_end, |next| next.lambda);
        if summary.kind == PathKind::Path && end < point.lambda {
            let half_square = model.half_square(k);
            let primal = |lambda: f64| point.primal + (lambda - point.lambda) * half_square;
            let scaled = dual * end / point.lambda;
            let end_dual = points.get(k + 1).and_then(|next| next.dual).unwrap_or(scaled);
            for sample in 0..SAMPLES {
                let lambda = end * (point.lambda / end).powf(sample as f64 / SAMPLES as f64);
                let share = (lambda - end) / (point.lambda - end);
                bounds.primal.push((lambda, primal(lambda)));
                bounds.dual.push((lambda, end_dual + share * (dual - end_dual)));
            }
            bounds.last_gap.push((end, primal(end) - scaled));
        }
        bounds.primal.push((point.lambda, point.primal));
        bounds.dual.push((point.lambda, dual));
        bounds.gap.push((point.lambda, point.primal - dual));
    }
    bounds
}

fn chart(title: String, y_label: &str, target: Option<f64>, series: Vec<Series>) -> Chart {
    let (x_label, y_label) = ("lambda".to_owned(), y_label.to_owned());
    Chart { title, x_label, y_label, x_log: true, y_log: false, target, series }
}

fn series(name: &str, color: usize, dashed: bool, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.to_owned(), points, dashed, color }
}

fn bounds_chart(summary: &PathSummary, bounds: &Bounds) -> Chart {
    let title = format!("The optimum lies between: {}", counted(summary, "grid point"));
    let (primal, dual) = (bounds.primal.clone(), bounds.dual.clone());
    chart(title, "objective", None, vec![series("primal", 0, false, primal), series("dual", 1, false, dual)])
}

fn gap_chart(summary: &PathSummary, bounds: &Bounds) -> Chart {
    let points = if summary.kind == PathKind::Path { "at breakpoints" } else { "at the points" };
    let mut all = vec![series(points, 2, false, bounds.gap.clone())];
    let title = match eps_of(summary) {
        Some(eps) => {
            all.push(series("where the next begins", 1, true, bounds.last_gap.clone()));
            format!("Certified gap: at most {eps} at every lambda")
        }
        None => "Gap at the points of the grid".into(),
    };
    if let Some(share) = summary.relative_eps {
        let allowed = bounds.primal.iter().map(|&(lambda, primal)| (lambda, share * primal)).collect();
        all.push(series("allowed", 6, true, allowed));
    }
    chart(title, "primal - dual", summary.eps, all)
}

fn loss_chart(summary: &PathSummary) -> Chart {
    let points = &summary.breakpoints;
    let steps = |loss: fn(&Breakpoint) -> Option<f64>| {
        let mut curve = Vec::new();
        for (k, point) in points.iter().enumerate().rev() {
            let Some(loss) = loss(point) else { continue };
            let end = points.get(k + 1).map_or(summary.lambda_end, |next| next.lambda);
            if summary.kind == PathKind::Path {
                curve.push((end, loss));
            }
            curve.push((point.lambda, loss));
        }
        curve
    };
    let mut all = vec![series("train loss", 0, false, steps(|point| point.train_loss))];
    let test = steps(|point| point.test_loss);
    if !test.is_empty() {
        all.push(series("test loss", 1, false, test));
    }
    if let Some(validation) = &summary.cross_validation {
        all.extend(validated(&validation.losses, validation.best_lambda));
    } else if let Some((best, loss)) = best_tested(summary) {
        all.push(chosen(best, loss));
    }
    chart("Task loss along the path".into(), "mean task loss", None, all)
}

/// Mean losses over folds, their spread, and the lambda that was chosen.
fn validated(losses: &[ValidatedLambda], best: f64) -> [Series; 3] {
    let rows = || losses.iter().rev();
    let mean = rows().map(|row| (row.lambda, row.mean_loss)).collect();
    let bars = rows().flat_map(|row| {
        let (lambda, mean, std) = (row.lambda, row.mean_loss, row.std_loss);
        [(lambda, mean - std), (lambda, mean + std), (lambda, f64::NAN)]
    });
    let highest = rows().map(|row| row.mean_loss + row.std_loss).fold(0.0, f64::max);
    [
        series("cross-validated loss", 2, true, mean),
        series("deviation over folds", 2, false, bars.collect()),
        chosen(best, highest),
    ]
}

/// A line at the lambda that was chosen, as high as a loss.
fn chosen(lambda: f64, loss: f64) -> Series {
    series(&format!("chosen: lambda {}", label(lambda, 3)), 6, true, vec![(lambda, 0.0), (lambda, loss)])
}

/// What a choice of lambda went by, as a chart.
pub(crate) fn choice_svg(choice: &LambdaChoice) -> String {
    let first = choice.first_fold.iter().rev().map(|row| (row.lambda, row.mean_loss)).collect();
    let mut all = vec![series("first fold", 0, false, first)];
    all.extend(validated(&choice.losses, choice.lambda));
    chart(format!("Task loss on {} examples held out", choice.held_out), "mean task loss", None, all).svg()
}
