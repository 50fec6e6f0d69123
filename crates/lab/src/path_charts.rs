//! Curves of paths and grids against lambda.

use multiplane::{Breakpoint, LambdaChoice, PathKind, PathModel, PathSummary, ValidatedLambda, least_test_loss};

use crate::chart::{Chart, ChartFrame, Series};
use crate::numbers::{counted as things, label, number};

/// Points of a curve between two breakpoints.
const SAMPLES: usize = 8;

/// Height of one chart, in units of its view box.
const CHART_HEIGHT: usize = 440;

/// Returns the lambda that test data choose, and their loss there.
pub fn best_tested(summary: &PathSummary) -> Option<(f64, f64)> {
    let best = least_test_loss(&summary.breakpoints)?;
    Some((best.lambda, best.test_loss?))
}

/// Returns the largest gap that a path may have anywhere, in words; `None` for a grid.
pub fn eps_of(summary: &PathSummary) -> Option<String> {
    let share = summary.relative_eps.map(|share| format!("{} % of the primal", number(100.0 * share)));
    summary.eps.map(number).or(share).filter(|_| summary.kind == PathKind::Path)
}

/// Returns the number of breakpoints, or of points of a grid, which are called `point`.
pub fn counted(summary: &PathSummary, point: &str) -> String {
    let noun = if summary.kind == PathKind::Path { "breakpoint" } else { point };
    things(summary.breakpoints.len() as u64, noun)
}

/// Returns three charts, one below the other: bounds, gap and losses against lambda.
pub fn svg(summary: &PathSummary, model: &PathModel) -> String {
    let bounds = bounds(summary, model);
    let charts = [bounds_chart(summary, &bounds), gap_chart(summary, &bounds), loss_chart(summary)];
    let frame = charts.iter().map(Chart::frame).reduce(ChartFrame::joined).unwrap_or_default(); // one lambda, one place
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
    Series { name: name.to_owned(), points, band: Vec::new(), dashed, color }
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
        let (lambda, mean, std) = (row.lambda, row.mean_loss, row.std_loss.unwrap_or(0.0));
        [(lambda, mean - std), (lambda, mean + std), (lambda, f64::NAN)]
    });
    let highest = rows().map(|row| row.mean_loss + row.std_loss.unwrap_or(0.0)).fold(0.0, f64::max);
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

/// Returns a chart of the losses that a choice of lambda went by.
pub fn choice_svg(choice: &LambdaChoice) -> String {
    let first = choice.first_fold.iter().rev().map(|row| (row.lambda, row.mean_loss)).collect();
    let mut all = vec![series("first fold", 0, false, first)];
    all.extend(validated(&choice.losses, choice.lambda));
    chart(format!("Task loss on {} examples held out", choice.held_out), "mean task loss", None, all).svg()
}
