//! Integer programmes as a task: features, losses, planes, and the decoder.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::example::Memory;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Call, Case, CompleteTruths, ExampleOf, Task, TaskCapabilities};
use multiplane_infer::file::push_number;
use multiplane_infer::programme::{Costs, Least, Programme, ProgrammeSolver, searched};
use serde::{Deserialize, Serialize};

use super::solution::{ErrorCosts, Solution};
use super::spec::IlpSpec;
use crate::builtin::task::BuiltinTask;
use crate::data::programmes::ProgrammeExample;
use crate::problem::TaskVocabulary;
use crate::problem::tables::{Axis, WeightTable};

/// Seconds of a call besides all that grows, of an entry of rows and features in it, and of a weight in a plane; see
/// [`prices`](crate::builtin::prices).
const CALL: f64 = 1e-4;
const ENTRY: f64 = 2e-6;
const WEIGHT: f64 = 2e-9;

/// Bytes that HiGHS keeps for an entry of the rows, or a variable.
const KEPT: usize = 200;

/// One integer programme.
#[derive(Clone, Debug)]
pub struct IlpInput {
    /// The programme as it is in the data.
    pub(super) example: Arc<ProgrammeExample>,
    /// The programme as it is solved: with the same whole vectors.
    pub(super) closer: Arc<Programme>,
}

impl IlpInput {
    /// Returns if some variable has a fixed cost.
    pub(super) fn has_costs(&self) -> bool {
        self.example.costs.iter().any(|cost| *cost != 0.0)
    }

    /// Writes the costs of the variables at `w`, to be minimised.
    fn costs(&self, w: &[f64], out: &mut Vec<f64>) {
        let ProgrammeExample { features, costs, .. } = &*self.example;
        out.clear();
        out.extend(costs.iter().enumerate().map(|(v, cost)| cost - features.dot(v, w)));
    }
}

/// The facts that a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IlpVocabulary {
    /// The number of features, which is that of weights.
    pub features: usize,
    /// Their names, if the data has names.
    pub names: Vec<String>,
}

impl TaskVocabulary for IlpVocabulary {}

/// Returns the table of the weights; features without names are counted from 0.
pub(super) fn tables(vocabulary: &IlpVocabulary) -> Vec<WeightTable> {
    let axis = match vocabulary.names.is_empty() {
        true => Axis::features("feature", vocabulary.features, 0),
        false => Axis::own("feature", vocabulary.names.iter().cloned()),
    };
    vec![WeightTable::new("feature", [axis])]
}

/// Costs of integer programmes.
#[derive(Clone, Debug)]
pub struct IlpTask {
    vocabulary: IlpVocabulary,
    has_costs: bool,
    nonnegative: Vec<u32>,
    gap: f64,
    seconds: f64,
}

/// A model that stays in the solver. It begins every relaxation at the truth.
#[derive(Debug, Default)]
pub struct IlpMemory {
    solver: Option<ProgrammeSolver>,
    bytes: usize,
}

impl Memory for IlpMemory {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl IlpTask {
    /// Makes a task of these features; `has_costs` if some variable has a fixed cost.
    pub(super) fn new(spec: &IlpSpec, vocabulary: IlpVocabulary, has_costs: bool) -> Self {
        let mut nonnegative = spec.nonnegative.clone();
        nonnegative.sort_unstable();
        nonnegative.dedup();
        let seconds = spec.oracle_seconds.unwrap_or(f64::INFINITY);
        IlpTask { vocabulary, has_costs, nonnegative, gap: spec.oracle_gap, seconds }
    }

    /// Adds `scale` times the features of a change `values - others` to `dense`, and returns its fixed score. Variables
    /// that are not known have none.
    fn change(&self, x: &IlpInput, values: &[f64], others: Option<&[f64]>, scale: f64, dense: &mut Vec<f64>) -> f64 {
        dense.clear();
        dense.resize(self.dim(), 0.0);
        let mut fixed = 0.0;
        for (v, &value) in values.iter().enumerate() {
            let change = value - others.map_or(0.0, |others| others[v]);
            if change != 0.0 && !change.is_nan() {
                x.example.features.add_row(v, scale * change, dense);
                fixed -= x.example.costs[v] * change;
            }
        }
        fixed
    }
}

fn push(dense: &[f64], out: &mut Plane) {
    let filled = (0..).zip(dense).filter(|(_, value)| **value != 0.0);
    filled.for_each(|(column, &value)| out.push(column, value));
}

/// Adds the loss of all vectors to `costs`, distances at their end, and returns its part that no variable changes: the
/// largest score with loss is that less the least cost.
fn add_loss(costs: &mut Vec<f64>, truth: &Solution, judge: &ErrorCosts, programme: &Programme) -> f64 {
    let (mut constant, (lower, upper)) = (0.0, programme.bounds());
    for (v, weight) in truth.judged() {
        if truth.values[v] == lower[v] {
            costs[v] -= weight;
            constant -= weight * lower[v];
        } else if truth.values[v] == upper[v] {
            costs[v] += weight;
            constant += weight * upper[v];
        }
    }
    costs.extend(judge.inside.iter().map(|&(v, _)| -judge.weights[v]));
    costs.resize(costs.len() + judge.inside.len(), 0.0);
    constant
}

/// Returns the best values of the known variables, as if no rows tied them, with the loss added: training on them comes
/// before anything is completed.
fn untied(x: &IlpInput, truth: &Solution, costs: &[f64]) -> Vec<f64> {
    let (lower, upper) = x.example.programme.bounds();
    let mut values = truth.values.clone();
    for (v, weight) in truth.judged() {
        let value = |y: f64| weight * (y - truth.values[v]).abs() - costs[v] * y;
        values[v] =
            [lower[v], upper[v]].into_iter().fold(values[v], |best, y| if value(y) > value(best) { y } else { best });
    }
    values
}

impl Task for IlpTask {
    type Input = IlpInput;
    type Label = Solution;
    type Scratch = Vec<f64>;
    type Memory = IlpMemory;

    fn dim(&self) -> usize {
        self.vocabulary.features
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.nonnegative.iter().map(|&column| column as usize..column as usize + 1).collect()
    }

    fn features(&self, x: &IlpInput, y: &Solution, scale: f64, out: &mut Plane) {
        let mut dense = Vec::new();
        self.change(x, &y.values, None, scale, &mut dense);
        push(&dense, out);
    }

    fn loss(&self, truth: &Solution, y: &Solution) -> f64 {
        truth.loss(y)
    }

    fn prices(&self, x: &IlpInput) -> Option<Prices> {
        let entries = x.closer.matrix.values().len() + x.example.features.values().len();
        Some(Prices::of_sizes(CALL + ENTRY * entries as f64, 6e-7 + WEIGHT * self.dim() as f64))
    }

    fn fixed_score(&self, x: &IlpInput, y: &Solution) -> f64 {
        let known = y.values.iter().zip(&x.example.costs).filter(|(y, _)| !y.is_nan());
        -known.map(|(y, cost)| y * cost).sum::<f64>()
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Solution) -> Result<Quality, String> {
        let (x, costs, memory) = (call.question.input, call.scratch, call.memory);
        x.costs(call.question.w, costs);
        let (gap, seconds) = (self.gap, self.seconds);
        let Some((truth, judge)) = call.question.truth.and_then(|truth| Some((truth, truth.judge.as_ref()?))) else {
            let question = Costs { gap, seconds, ..Costs::of(costs) };
            let Least { y, bound } = ProgrammeSolver::new(x.closer.clone())?.minimise(question)?;
            let fault = match seconds.is_finite() {
                true => "the solver found no feasible vector in its time: task.oracle_seconds gives it more",
                false => "the solver found no vector that keeps all rows to 1e-7: scale rows and bounds",
            };
            *out = Solution::new(y.ok_or(fault)?);
            return Ok(Quality::UpperBound(-bound));
        };
        if truth.values.iter().any(|value| value.is_nan()) {
            *out = Solution::new(untied(x, truth, costs));
            return Ok(Quality::Exact);
        }
        let programme = judge.distances.as_ref().unwrap_or(&x.closer);
        let constant = add_loss(costs, truth, judge, programme);
        let solver = match &mut memory.solver {
            Some(solver) => solver,
            none => {
                let mut solver = ProgrammeSolver::new(programme.clone())?;
                let (lower, upper) = programme.bounds();
                let pull = |v: usize| match truth.values.get(v) {
                    Some(&value) if value == upper[v] => -1.0,
                    Some(&value) if value != lower[v] => 0.0,
                    _ => 1.0,
                };
                solver.begin_at(&(0..costs.len()).map(pull).collect::<Vec<f64>>());
                memory.bytes = KEPT * (programme.matrix.values().len() + costs.len());
                none.insert(solver)
            }
        };
        let mut known = truth.values.clone();
        known.resize(costs.len(), 0.0);
        let Least { y, bound } = solver.minimise(Costs { gap, seconds, known: Some(&known), ..Costs::of(costs) })?;
        let mut values = y.unwrap_or(known);
        values.truncate(truth.values.len());
        *out = Solution::new(values);
        Ok(Quality::UpperBound(constant - bound))
    }

    fn plane(&self, case: Case<'_, Self>, y: &Solution, out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        out.clear();
        if y != truth {
            let fixed = self.change(x, &y.values, Some(&truth.values), scale, scratch);
            push(scratch, out);
            out.set_circ(scale * (truth.loss(y) + fixed));
        }
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities { completion: Some(self), ..TaskCapabilities::none() }
    }
}

impl BuiltinTask for IlpTask {
    type Vocabulary = IlpVocabulary;

    fn show(&self, y: &Solution, _: &IlpVocabulary) -> String {
        let mut line = String::new();
        for (v, &value) in y.values.iter().enumerate() {
            line.push_str(if v == 0 { "" } else { " " });
            if value.is_nan() { line.push('?') } else { push_number(&mut line, value) }
        }
        line
    }

    /// One search of HiGHS on the rows as given; see [`searched`]. NaN if it fails.
    fn reference_hinge(&self, x: &IlpInput, truth: &Solution, w: &[f64]) -> f64 {
        let Some(judge) = &truth.judge else { return f64::NAN };
        let mut costs = Vec::new();
        x.costs(w, &mut costs);
        let of = |y: &[f64], costs: &[f64]| -> f64 {
            let known = y.iter().zip(costs).filter(|(y, _)| !y.is_nan());
            -known.map(|(y, cost)| y * cost).sum::<f64>()
        };
        let of_truth = of(&truth.values, &costs);
        if truth.values.iter().any(|value| value.is_nan()) {
            let y = Solution::new(untied(x, truth, &costs));
            return of(&y.values, &costs) + truth.loss(&y) - of_truth;
        }
        let programme = x.example.programme.with_distances(&judge.inside);
        let constant = add_loss(&mut costs, truth, judge, &programme);
        match searched(&programme, &costs) {
            Ok(Least { y: Some(y), .. }) => of(&y, &costs) + constant - of_truth,
            _ => f64::NAN,
        }
    }

    fn has_fixed_scores(&self) -> bool {
        self.has_costs
    }

    fn errors(&self, truth: &Solution, y: &Solution) -> (usize, usize) {
        // What solvers round is right.
        let is_wrong = |truth: f64, y: f64| (truth - y).abs() > 1e-6 * truth.abs().max(1.0);
        let wrong = truth.judged().filter(|&(v, _)| is_wrong(truth.values[v], y.values[v])).count();
        (wrong, truth.judged().count())
    }

    fn is_known(&self, truth: &Solution) -> bool {
        truth.judged().next().is_some()
    }

    fn neighbours(&self, x: &IlpInput, y: &Solution, most: usize, rng: &mut Rng) -> Vec<Solution> {
        let programme = &x.example.programme;
        let mut order: Vec<usize> = (0..y.values.len()).collect();
        rng.shuffle(&mut order);
        let changed = |v: usize| {
            [programme.lower[v], programme.upper[v]].map(|end| {
                let mut values = y.values.clone();
                values[v] = end;
                Solution::new(values)
            })
        };
        let near = order.into_iter().flat_map(changed).filter(|near| near != y && self.is_labelling_of(x, near));
        near.take(most).collect()
    }

    fn is_labelling_of(&self, x: &IlpInput, y: &Solution) -> bool {
        let programme = &x.example.programme;
        y.values.len() == programme.variables() && programme.fault(&y.values).is_none()
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(&self.vocabulary)
    }
}

impl CompleteTruths<Self> for IlpTask {
    fn is_partly_known(&self, truth: &Solution) -> bool {
        truth.is_partly_known()
    }

    fn best_agreeing(&self, partly: ExampleOf<'_, Self>, w: &[f64], costs: &mut Vec<f64>) -> Result<Solution, String> {
        let (x, known) = (partly.input, &partly.truth.values);
        x.costs(w, costs);
        let held = |bounds: &[f64]| -> Vec<f64> {
            let end = |(&value, &end): (&f64, &f64)| if value.is_nan() { end } else { value };
            known.iter().zip(bounds).map(end).collect()
        };
        let (lower, upper) = x.closer.bounds();
        let (lower, upper) = (held(lower), held(upper));
        let question = Costs { bounds: Some((&lower, &upper)), ..Costs::of(costs) };
        let found = ProgrammeSolver::new(x.closer.clone())?.minimise(question);
        let found = found.map_err(|fault| format!("with the known values of its truth {fault}"))?;
        let y = found.y.ok_or("the solver found no vector that agrees with the known values of its truth")?;
        Ok(partly.truth.completed(y))
    }
}
