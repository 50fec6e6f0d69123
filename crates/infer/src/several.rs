//! Several good labellings of one model, over any engine: the M best, and diverse M-best.
//!
//! [`best`] is Lawler's partition (Management Science 18(7), 1972): what is left after a labelling was found is cut
//! into parts that fix a prefix of its nodes and forbid the next label, each part one solve with a few unaries at
//! `+inf`. So it is exact with an exact engine, at up to one solve per node and labelling; engines that warm-start
//! see two nodes change from part to part. [`Tree`](crate::tree::Tree) overrides it with lists of its own.
//!
//! Both ask the watch before each further solve, too, and return what they have when it says to stop.
//!
//! [`diverse`] is DivMBest (Batra et al. 2012; Guzman-Rivera et al. 2014, Eq. 2-4): labels used before cost more, so
//! that each further labelling is good and different.

use std::ops::ControlFlow;

use crate::engine::{Answer, Engine, SolveProgress, Watch};
use crate::error::InferError;
use crate::mrf::Mrf;

/// One of several labellings.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedLabelling {
    /// One label per node.
    pub labels: Vec<u32>,
    /// Its energy, and a bound: no labelling that is not listed before it has an energy below.
    pub answer: Answer,
}

/// An engine that lists labellings in the order of their energies. An implementation is one line for an engine that
/// knows nothing better than [`best`].
pub trait MBest: Engine {
    /// Returns the `count` labellings of lowest energy, as [`best`] does.
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] where the engine cannot solve the model.
    fn solve_best(
        &mut self,
        problem: &Mrf,
        count: usize,
        watch: Watch<'_>,
    ) -> Result<Vec<RankedLabelling>, InferError> {
        best(self, problem, count, watch)
    }
}

/// Working memory of [`best_with`] and [`diverse_with`]: the model as it is changed from solve to solve.
#[derive(Clone, Debug, Default)]
pub struct SeveralMemory {
    changed: Mrf,
    unary: Vec<f64>,
}

/// A part of the labellings not listed yet, by its best member: those that agree with `labels` before `position` and
/// have none of the labels `excluded` there.
struct Branch {
    labels: Vec<u32>,
    answer: Answer,
    position: usize,
    excluded: Vec<u32>,
}

/// Returns the `count` labellings of lowest energy, lowest first, or all allowed ones where there are fewer. Exact if
/// the engine is; else each answer's bound says how far. Stopped by the watch it returns those found so far, one at
/// least.
///
/// ```
/// use multiplane_infer::{Mrf, brute::Brute, engine::unwatched, several};
/// let mut mrf = Mrf::new();
/// mrf.add_node(&[0.0, 2.0])?;
/// mrf.add_node(&[0.0, 1.0])?;
/// let best = several::best(&mut Brute, &mrf, 3, &mut unwatched)?;
/// let labels: Vec<_> = best.iter().map(|one| (one.labels.as_slice(), one.answer.energy)).collect();
/// assert_eq!(labels, [(&[0, 0][..], 0.0), (&[0, 1][..], 1.0), (&[1, 0][..], 2.0)]);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
///
/// # Errors
/// Those of the engine.
pub fn best<E: Engine + ?Sized>(
    engine: &mut E,
    problem: &Mrf,
    count: usize,
    watch: Watch<'_>,
) -> Result<Vec<RankedLabelling>, InferError> {
    best_with(engine, problem, count, watch, &mut SeveralMemory::default())
}

/// Does what [`best`] does, in memory that is lent: the model is copied into what was there, and its tables not at all
/// where they are those of the last one.
///
/// # Errors
/// Those of the engine.
pub fn best_with<E: Engine + ?Sized>(
    engine: &mut E,
    problem: &Mrf,
    count: usize,
    watch: Watch<'_>,
    memory: &mut SeveralMemory,
) -> Result<Vec<RankedLabelling>, InferError> {
    let mut listed: Vec<RankedLabelling> = Vec::new();
    if count > 1 {
        memory.changed.copy_from(problem);
    }
    let mut parts = Vec::new();
    let mut watch = Stoppable::new(watch);
    if count > 0 {
        let mut labels = Vec::new();
        let answer = engine.solve(problem, &mut |progress| watch.see(progress), &mut labels)?;
        parts.push(Branch { labels, answer, position: 0, excluded: Vec::new() });
    }
    // Where an engine found nothing allowed and did not prove that there is nothing, its bound stays.
    let mut unknown = f64::INFINITY;
    while listed.len() < count {
        parts.retain(|part| {
            let found = part.answer.energy < f64::INFINITY;
            unknown = if found { unknown } else { unknown.min(part.answer.bound) };
            found
        });
        // The first of equal ones, so that ties do not depend on what is open.
        let lowest = (0..parts.len()).min_by(|&a, &b| parts[a].answer.energy.total_cmp(&parts[b].answer.energy));
        let Some(lowest) = lowest else { break };
        let bound = parts.iter().map(|part| part.answer.bound).fold(unknown, f64::min);
        let part = parts.remove(lowest);
        let energy = part.answer.energy;
        let answer = Answer { bound: bound.min(energy), ..part.answer };
        listed.push(RankedLabelling { labels: part.labels.clone(), answer });
        if listed.len() < count && !divide(engine, problem, memory, part, &mut watch, &mut parts)? {
            break;
        }
    }
    Ok(listed)
}

/// Solves the parts that are left of `part` without its best member; returns false if the watch stopped it before the
/// end.
fn divide<E: Engine + ?Sized>(
    engine: &mut E,
    problem: &Mrf,
    memory: &mut SeveralMemory,
    part: Branch,
    watch: &mut Stoppable<'_>,
    parts: &mut Vec<Branch>,
) -> Result<bool, InferError> {
    let Branch { labels, answer, position, mut excluded } = part;
    let (prefix, rest) = labels.split_at(position);
    for (node, &label) in prefix.iter().enumerate() {
        constrain(problem, memory, node, |other| other == label)?;
    }
    for (node, &label) in (position..).zip(rest) {
        excluded.push(label);
        if constrain(problem, memory, node, |label| !excluded.contains(&label))? {
            if watch.stops_before_next(answer) {
                return Ok(false);
            }
            let mut found = Vec::new();
            let answer = engine.solve(&memory.changed, &mut |progress| watch.see(progress), &mut found)?;
            parts.push(Branch { labels: found, answer, position: node, excluded: excluded.clone() });
        }
        constrain(problem, memory, node, |other| other == label)?;
        excluded.clear();
    }
    for node in 0..labels.len() {
        constrain(problem, memory, node, |_| true)?;
    }
    Ok(!watch.stopped)
}

/// A watch that remembers that it said to stop.
struct Stoppable<'a> {
    watch: Watch<'a>,
    stopped: bool,
}

impl<'a> Stoppable<'a> {
    fn new(watch: Watch<'a>) -> Self {
        Stoppable { watch, stopped: false }
    }

    fn see(&mut self, progress: SolveProgress) -> ControlFlow<()> {
        let flow = (self.watch)(progress);
        self.stopped |= flow.is_break();
        flow
    }

    /// Returns whether to stop; asks between two solves, as there are engines that never do.
    fn stops_before_next(&mut self, last: Answer) -> bool {
        let Answer { energy, bound, iterations } = last;
        self.stopped || self.see(SolveProgress { iteration: iterations, energy, bound }).is_break()
    }
}

/// Forbids the labels of a node that are not `allowed`; returns whether one is left. If none is, nothing changes.
fn constrain(
    problem: &Mrf,
    memory: &mut SeveralMemory,
    node: usize,
    allowed: impl Fn(u32) -> bool,
) -> Result<bool, InferError> {
    let node = node as u32;
    let price = |(label, &energy)| if allowed(label as u32) { energy } else { f64::INFINITY };
    let SeveralMemory { changed, unary } = memory;
    unary.clear();
    unary.extend(problem.unary(node).iter().enumerate().map(price));
    if unary.iter().all(|energy| *energy == f64::INFINITY) {
        return Ok(false);
    }
    changed.set_unary(node, unary)?;
    Ok(true)
}

/// Returns `penalties.len() + 1` labellings: the first minimises the energy, the m-th the energy plus `penalties[j]`
/// for every node where it agrees with the j-th before it (from 0). Up to a constant that is a reward of `penalties[j]`
/// per differing node, as the paper has it. Labellings may repeat where penalties are small.
///
/// Energies are those of `problem` itself, and every bound is the one proven for its minimum. Stopped by the watch it
/// returns those found so far, one at least.
///
/// ```
/// use multiplane_infer::{Mrf, brute::Brute, engine::unwatched, several};
/// let mut mrf = Mrf::new();
/// mrf.add_node(&[0.0, 2.0])?;
/// mrf.add_node(&[0.0, 1.0])?;
/// let diverse = several::diverse(&mut Brute, &mrf, &[3.0], &mut unwatched)?;
/// assert_eq!(diverse[1].labels, [1, 1]);
/// assert_eq!(diverse[1].answer.energy, 3.0);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
///
/// # Errors
/// A penalty that is negative or not finite; those of the engine.
pub fn diverse<E: Engine + ?Sized>(
    engine: &mut E,
    problem: &Mrf,
    penalties: &[f64],
    watch: Watch<'_>,
) -> Result<Vec<RankedLabelling>, InferError> {
    diverse_with(engine, problem, penalties, watch, &mut SeveralMemory::default())
}

/// Does what [`diverse`] does, in memory that is lent, as [`best_with`] takes it.
///
/// # Errors
/// As of [`diverse`].
pub fn diverse_with<E: Engine + ?Sized>(
    engine: &mut E,
    problem: &Mrf,
    penalties: &[f64],
    watch: Watch<'_>,
    memory: &mut SeveralMemory,
) -> Result<Vec<RankedLabelling>, InferError> {
    if let Some(at) = penalties.iter().position(|penalty| !penalty.is_finite() || *penalty < 0.0) {
        let penalty = penalties[at];
        return Err(InferError::invalid(format!(
            "penalty {at}: found {penalty}, expected a finite number that is not negative"
        )));
    }
    let mut watch = Stoppable::new(watch);
    let mut labels = Vec::new();
    let first = engine.solve(problem, &mut |progress| watch.see(progress), &mut labels)?;
    let mut listed = vec![RankedLabelling { labels, answer: first }];
    let SeveralMemory { changed, unary } = memory;
    if !penalties.is_empty() {
        changed.copy_from(problem);
    }
    for &penalty in penalties {
        if watch.stops_before_next(listed[listed.len() - 1].answer) {
            break;
        }
        for (node, &label) in (0..).zip(&listed[listed.len() - 1].labels) {
            unary.clear();
            unary.extend_from_slice(changed.unary(node));
            unary[label as usize] += penalty;
            changed.set_unary(node, unary)?;
        }
        let mut labels = Vec::new();
        let found = engine.solve(changed, &mut |progress| watch.see(progress), &mut labels)?;
        let energy = problem.energy(&labels);
        let answer = Answer { energy, bound: first.bound.min(energy), iterations: found.iterations };
        listed.push(RankedLabelling { labels, answer });
    }
    Ok(listed)
}
