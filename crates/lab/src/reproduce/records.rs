//! Finished runs, and what figures and claims ask of them. Nothing here runs a solver.

use std::collections::BTreeMap;

use multiplane::observe::Record;
use serde_json::{Map, Value, json};

/// Points of a curve that are kept, at most, evenly in the logarithm of their number.
const MOST_POINTS: usize = 60;

/// A run with what it came to.
#[derive(Clone)]
pub(crate) struct FinishedRun {
    /// The data set's name.
    pub(crate) set: String,
    /// The method.
    pub(crate) case: String,
    /// The setting.
    pub(crate) at: String,
    /// True if it ran on a synthetic stand-in.
    pub(crate) stand_in: bool,
    /// The build of the program, `dev` or `release`; empty if the record does not say.
    pub(crate) build: String,
    /// The final report, as `train --json` and `path --json` have it.
    pub(crate) summary: Value,
    /// The figures of the records by name, a number for each record; NaN if there is none.
    pub(crate) curve: BTreeMap<String, Vec<f64>>,
}

impl FinishedRun {
    /// Reads a line of `records.jsonl`.
    pub(crate) fn of(line: &Value) -> Option<FinishedRun> {
        let text = |key: &str| Some(line.get(key)?.as_str()?.to_owned());
        let numbers =
            |value: &Value| value.as_array().map(|all| all.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect());
        let curve = line.get("curve")?.as_object()?;
        Some(FinishedRun {
            set: text("set")?,
            case: text("case")?,
            at: text("at")?,
            stand_in: line.get("stand_in")?.as_bool()?,
            build: text("build").unwrap_or_default(),
            summary: line.get("summary")?.clone(),
            curve: curve.iter().filter_map(|(name, values)| Some((name.clone(), numbers(values)?))).collect(),
        })
    }

    /// Returns a number of the final report; NaN if it has none.
    pub(crate) fn end(&self, key: &str) -> f64 {
        self.summary.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    /// Returns a figure of the records; empty if they have none.
    pub(crate) fn column(&self, key: &str) -> &[f64] {
        self.curve.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns a curve of two figures of the records.
    pub(crate) fn curve(&self, x: &str, y: &str) -> Curve {
        let pairs = self.column(x).iter().zip(self.column(y)).map(|(&x, &y)| (x, y));
        pairs.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    }
}

/// Points with x not falling.
pub(crate) type Curve = Vec<(f64, f64)>;

/// The finished runs of an experiment, in the order of its plan.
#[derive(Clone, Default)]
pub(crate) struct Records(pub(crate) Vec<FinishedRun>);

impl Records {
    /// Returns the runs of a method at a setting on a data set, one for each seed.
    pub(crate) fn of(&self, set: &str, at: &str, case: &str) -> Vec<&FinishedRun> {
        let is_asked = |run: &&FinishedRun| run.set == set && run.at == at && run.case == case;
        self.0.iter().filter(is_asked).collect()
    }

    /// Lists each value of a field once, in order.
    fn distinct<'a>(&'a self, field: impl Fn(&'a FinishedRun) -> &'a str) -> Vec<&'a str> {
        let mut found: Vec<&str> = Vec::new();
        for name in self.0.iter().map(field) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found
    }

    /// Lists the data sets.
    pub(crate) fn sets(&self) -> Vec<&str> {
        self.distinct(|run| &run.set)
    }

    /// Lists the settings.
    pub(crate) fn settings(&self) -> Vec<&str> {
        self.distinct(|run| &run.at)
    }

    /// Lists the methods.
    pub(crate) fn cases(&self) -> Vec<&str> {
        self.distinct(|run| &run.case)
    }

    /// Returns true if a run was on a stand-in.
    pub(crate) fn has_stand_in(&self) -> bool {
        self.has_stand_in_of("")
    }

    /// Returns true if a run on a set whose name begins so was on a stand-in.
    pub(crate) fn has_stand_in_of(&self, start: &str) -> bool {
        self.0.iter().any(|run| run.stand_in && run.set.starts_with(start))
    }

    /// Returns the lowest primal and the highest dual value of all runs at a setting on a data set: the optimum lies
    /// between them if every primal value is an upper bound.
    pub(crate) fn best(&self, set: &str, at: &str) -> (f64, f64) {
        let runs = self.0.iter().filter(|run| run.set == set && run.at == at);
        runs.fold((f64::INFINITY, f64::NEG_INFINITY), |(primal, dual), run| {
            let lowest = run.column("primal").iter().copied().chain([run.end("primal")]).fold(primal, f64::min);
            (lowest, run.column("dual").iter().copied().chain([run.end("dual")]).fold(dual, f64::max))
        })
    }

    /// Returns the dual suboptimality of each run of a method against a figure of its records.
    pub(crate) fn dual_errors(&self, set: &str, at: &str, case: &str, x: &str) -> Vec<Curve> {
        let best = self.best(set, at).0;
        let error = |run: &FinishedRun| run.curve(x, "dual").iter().map(|&(x, dual)| (x, best - dual)).collect();
        self.of(set, at, case).into_iter().map(error).collect()
    }

    /// Returns curves of one figure against another, one for each run of a method.
    pub(crate) fn curves(&self, set: &str, at: &str, case: &str, x: &str, y: &str) -> Vec<Curve> {
        self.of(set, at, case).into_iter().map(|run| run.curve(x, y)).collect()
    }

    /// Returns a number of the final reports of a method's runs.
    pub(crate) fn ends(&self, set: &str, at: &str, case: &str, key: &str) -> Vec<f64> {
        self.of(set, at, case).into_iter().map(|run| run.end(key)).collect()
    }
}

/// Puts the records of a run into columns: every number under its name, those of tables as `table.name`, at most
/// [`MOST_POINTS`] of them, the first and the last among them.
pub(crate) fn columns(records: &[Record]) -> Value {
    let kept: Vec<Map<String, Value>> = thin(records.len()).into_iter().map(|k| flat(&json!(records[k]))).collect();
    let mut names: Vec<&String> = kept.iter().flat_map(Map::keys).collect();
    names.sort();
    names.dedup();
    let column = |name: &String| kept.iter().map(|row| row.get(name).cloned().unwrap_or(Value::Null)).collect();
    Value::Object(names.into_iter().map(|name| (name.clone(), Value::Array(column(name)))).collect())
}

/// Returns the numbers of an object, to six digits.
fn flat(object: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match value {
            Value::Number(number) => {
                let short = |x: f64| format!("{x:.7e}").parse::<f64>().unwrap_or(x);
                let whole = number.as_u64().map(Value::from);
                out.insert(name.clone(), whole.unwrap_or_else(|| json!(short(number.as_f64().unwrap_or(f64::NAN)))));
            }
            Value::Object(_) => out.extend(flat(value).into_iter().map(|(key, x)| (format!("{name}.{key}"), x))),
            _ => {}
        }
    }
    out
}

/// Returns which of `count` records to keep.
fn thin(count: usize) -> Vec<usize> {
    if count <= MOST_POINTS {
        return (0..count).collect();
    }
    let step = (count as f64).ln() / (MOST_POINTS - 1) as f64;
    let mut kept: Vec<usize> = (0..MOST_POINTS).map(|k| (k as f64 * step).exp().round() as usize - 1).collect();
    kept.push(count - 1);
    kept.retain(|&k| k < count);
    kept.dedup();
    kept
}

/// Returns the value of a curve at `x`: the last one at or before it.
pub(crate) fn value_at(curve: &[(f64, f64)], x: f64) -> Option<f64> {
    let before = curve.partition_point(|point| point.0 <= x);
    before.checked_sub(1).map(|k| curve[k].1)
}

/// Returns the first x at which a curve is at or below `level`; none if it never is.
pub(crate) fn reaches(curve: &[(f64, f64)], level: f64) -> Option<f64> {
    curve.iter().find(|point| point.1 <= level).map(|point| point.0)
}

/// Returns the lowest y of a curve; infinite if it is empty.
pub(crate) fn lowest(curve: &[(f64, f64)]) -> f64 {
    curve.iter().map(|point| point.1).fold(f64::INFINITY, f64::min)
}

/// Returns the cost of one method over that of another, to the smallest y that both reach on a pair of curves; the
/// median over pairs.
pub(crate) fn cost_ratio(of: &[Curve], to: &[Curve]) -> f64 {
    let ratio = |(of, to): (&Curve, &Curve)| {
        let level = lowest(of).max(lowest(to));
        Some(reaches(of, level)? / reaches(to, level)?)
    };
    median(of.iter().zip(to).filter_map(ratio).filter(|ratio| ratio.is_finite()))
}

/// Returns the median; NaN of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => 0.5 * (values[count / 2 - 1] + values[count / 2]),
    }
}

/// Returns the mean; NaN of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the geometric mean; NaN of nothing.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
}
