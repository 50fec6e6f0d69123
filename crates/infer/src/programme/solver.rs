//! Finds vectors of low cost.
//!
//! The relaxation comes first. If its solution is whole, it is the answer, with a bound that its duals prove. Otherwise
//! the integer programme is solved twice: with those variables held that are whole in the relaxation, and, if that is
//! not yet good enough, with those held that have the same value in every better vector, as the duals prove.

use std::sync::Arc;

use super::highs::{Basis, EXACT, Highs, SolverStatus};
use super::rows::{Bounds, Programme, WHOLE};

/// About the largest cost that the search for whole numbers is given.
const LARGEST: f64 = 1e4;

/// The largest distance of a solution of the relaxation above its bound, relative to its costs.
const NEAR: f64 = 1e-7;

/// A question to a solver: costs, and what may be taken for an answer.
#[derive(Clone, Copy, Debug)]
pub struct Costs<'a> {
    /// The cost of each variable, to be minimised.
    pub costs: &'a [f64],
    /// The relative gap at which a search may end.
    pub gap: f64,
    /// The seconds after which a search ends.
    pub seconds: f64,
    /// Further bounds of the variables, for this question.
    pub bounds: Option<Bounds<'a>>,
    /// A feasible vector, which is the answer if none better is found.
    pub known: Option<&'a [f64]>,
}

impl<'a> Costs<'a> {
    /// Asks for a vector of the least cost.
    pub fn of(costs: &'a [f64]) -> Self {
        Costs { costs, gap: 0.0, seconds: f64::INFINITY, bounds: None, known: None }
    }
}

/// A feasible vector of low cost, and a lower bound on the cost of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Least {
    /// The vector; `None` if the search found none in its time.
    pub y: Option<Vec<f64>>,
    /// The bound; infinite if nothing is feasible.
    pub bound: f64,
}

/// Solves a programme for one cost vector after the other with HiGHS: the relaxation first, bounds that duals prove,
/// few variables in the search. Keeps the state of the search between questions.
///
/// ```
/// use std::sync::Arc;
///
/// use multiplane_infer::programme::{Costs, Programme, ProgrammeSolver, SparseMatrix};
///
/// // At most one of two items: the second is worth more.
/// let matrix = SparseMatrix::new(vec![0, 2], vec![0, 1], vec![1.0, 1.0], 2)?;
/// let (row_lower, row_upper) = (vec![f64::NEG_INFINITY], vec![1.0]);
/// let (lower, upper, integral) = (vec![0.0; 2], vec![1.0; 2], vec![true; 2]);
/// let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked()?;
/// let found = ProgrammeSolver::new(Arc::new(programme))?.minimise(Costs::of(&[-1.0, -2.0]))?;
/// assert!(found.y == Some(vec![0.0, 1.0]) && (found.bound + 2.0).abs() < 1e-9);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct ProgrammeSolver {
    programme: Arc<Programme>,
    linear: Highs,
    integer: Option<Highs>,
    /// The basis that every relaxation begins at: then no answer depends on the questions before.
    start: Option<Basis>,
    /// Values, multipliers, reduced costs, and room.
    room: [Vec<f64>; 4],
    /// The number of questions whose relaxation was not whole.
    pub branched: u64,
}

impl ProgrammeSolver {
    /// Loads a programme.
    ///
    /// # Errors
    ///
    /// HiGHS refuses it.
    pub fn new(programme: Arc<Programme>) -> Result<Self, String> {
        let linear = Highs::load(&programme, false)?;
        let room = Default::default();
        Ok(ProgrammeSolver { programme, linear, integer: None, start: None, room, branched: 0 })
    }

    /// Lets the relaxations of all further questions begin at the solution of these costs.
    pub fn begin_at(&mut self, costs: &[f64]) {
        self.linear.clear();
        self.start = (self.linear.run(costs) == SolverStatus::Optimal).then(|| self.linear.basis());
    }

    /// Answers a question.
    ///
    /// # Errors
    ///
    /// HiGHS fails, or nothing is feasible.
    pub fn minimise(&mut self, question: Costs<'_>) -> Result<Least, String> {
        let programme = self.programme.clone();
        let Costs { costs, gap, bounds, .. } = question;
        let bounds = bounds.unwrap_or(programme.bounds());
        let begun = self.linear.seconds();
        let [mut values, mut duals, mut rest, mut errors] = std::mem::take(&mut self.room);
        let ended = self.relax(costs, bounds);
        self.linear.solution(&mut values, &mut duals);
        let bound = programme.bound(costs, &duals, bounds, (&mut rest, &mut errors));
        let gap = gap * bound.abs();
        let is_near = |y: &Vec<f64>| {
            let size: f64 = costs.iter().zip(y).map(|(cost, y)| (cost * y).abs()).sum();
            dot(costs, y) - bound <= gap + NEAR * size
        };
        let answer = match programme.rounded(&values, bounds).filter(is_near) {
            // Feasible within one tolerance, a known vector may be infeasible within another.
            _ if ended == SolverStatus::Infeasible && question.known.is_none() => {
                Ok(Least { y: None, bound: f64::INFINITY })
            }
            Some(y) => Ok(Least { y: Some(y), bound }),
            None if programme.integral.contains(&true) => {
                let seconds = question.seconds - (self.linear.seconds() - begun);
                let question = Costs { bounds: Some(bounds), gap, seconds, ..question };
                self.branch(question, (&values, &rest), bound)
            }
            None => Ok(Least { y: question.known.map(<[f64]>::to_vec), bound }), // the relaxation was not solved
        };
        self.room = [values, duals, rest, errors];
        match answer? {
            Least { y: None, bound: f64::INFINITY } => Err("no vector is feasible".into()),
            // A vector that breaks rows within the tolerance may cost less than those that keep them.
            Least { y: Some(y), bound } => Ok(Least { bound: bound.min(dot(costs, &y)), y: Some(y) }),
            least => Ok(least),
        }
    }

    /// Solves the relaxation, from nothing if it fails from the basis.
    fn relax(&mut self, costs: &[f64], bounds: Bounds<'_>) -> SolverStatus {
        self.linear.clear();
        self.linear.bound(bounds);
        if let Some(start) = &self.start {
            self.linear.begin_at(start);
        }
        let ended = self.linear.run(costs);
        if ended != SolverStatus::Other {
            return ended;
        }
        self.linear.clear();
        self.linear.again()
    }

    /// Searches for whole numbers; `gap` is absolute here.
    fn branch(&mut self, question: Costs<'_>, (relaxed, rest): (&[f64], &[f64]), bound: f64) -> Result<Least, String> {
        let programme = self.programme.clone();
        let Costs { costs, gap, seconds, known, .. } = question;
        let (lower, upper) = question.bounds.unwrap_or(programme.bounds());
        self.branched += 1;
        let begun = self.search_seconds();
        let near = |v: usize| programme.integral[v] && (relaxed[v] - relaxed[v].round()).abs() < WHOLE;
        let held = |v: usize| near(v).then(|| relaxed[v].round().clamp(lower[v], upper[v]));
        let mut best = self.among(question, held)?.y;
        let better = |one: Option<Vec<f64>>, other: Option<Vec<f64>>| match (one, other) {
            (Some(one), Some(other)) => Some(if dot(costs, &other) < dot(costs, &one) { other } else { one }),
            (one, other) => one.or(other),
        };
        best = better(best, known.map(<[f64]>::to_vec));
        let cost = |best: &Option<Vec<f64>>| best.as_ref().map_or(f64::INFINITY, |y| dot(costs, y));
        let above = cost(&best) - bound;
        let left = seconds - (self.search_seconds() - begun);
        if above <= gap || left <= 0.0 {
            return Ok(Least { y: best, bound });
        }
        let still = |v: usize| programme.integral[v] && rest[v].abs() > above * (1.0 + 1e-9) + 1e-9;
        let held = |v: usize| still(v).then(|| if rest[v] > 0.0 { lower[v] } else { upper[v] });
        let found = self.among(Costs { seconds: left, ..question }, held)?;
        let nothing = found.y.is_none() && best.is_none() && found.bound.is_infinite() && found.bound > 0.0;
        best = better(best, found.y);
        if nothing {
            return Ok(Least { y: None, bound: f64::INFINITY });
        }
        let bound = bound.max(found.bound.min(cost(&best))); // what is left out is not below the best
        Ok(Least { y: best, bound })
    }

    fn search_seconds(&self) -> f64 {
        self.integer.as_ref().map_or(0.0, Highs::seconds)
    }

    /// Searches with some variables held. The bound is lowered by what HiGHS's tolerances may have added: it looks for
    /// what is better by [`WHOLE`]. Costs are made large, so that this is little.
    fn among(&mut self, question: Costs<'_>, held: impl Fn(usize) -> Option<f64>) -> Result<Least, String> {
        let programme = self.programme.clone();
        let Costs { costs, gap, seconds, .. } = question;
        let (lower, upper) = question.bounds.unwrap_or(programme.bounds());
        let end = |bounds: &[f64]| (0..bounds.len()).map(|v| held(v).unwrap_or(bounds[v])).collect::<Vec<f64>>();
        let (lower, upper) = (end(lower), end(upper));
        let size = costs.iter().fold(0.0, |most: f64, cost| most.max(cost.abs()));
        let scale = if size > 0.0 { (LARGEST / size).log2().round().clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
        let scaled: Vec<f64> = costs.iter().map(|cost| scale * cost).collect();
        let highs = match &mut self.integer {
            Some(highs) => highs,
            none => none.insert(Highs::load(&programme, true)?),
        };
        highs.clear();
        highs.bound((&lower, &upper));
        highs.set(c"mip_abs_gap", 0.5 * scale * gap);
        highs.set(c"time_limit", highs.seconds() + seconds.max(0.0));
        if highs.run(&scaled) == SolverStatus::Infeasible {
            return Ok(Least { y: None, bound: f64::INFINITY });
        }
        let (is_found, bound) = highs.found();
        let (mut y, mut duals) = (Vec::new(), Vec::new());
        highs.solution(&mut y, &mut duals);
        let y = if is_found { programme.rounded(&y, (&lower, &upper)) } else { None };
        let free: f64 = upper.iter().zip(&lower).map(|(upper, lower)| upper - lower).sum();
        Ok(Least { y, bound: (bound - EXACT * free - WHOLE) / scale })
    }
}

/// Returns the best vector and a bound by one search of HiGHS on all of the programme, for `verify`: no relaxation
/// before, nothing held.
///
/// # Errors
///
/// HiGHS fails, or nothing is feasible.
pub fn searched(programme: &Programme, costs: &[f64]) -> Result<Least, String> {
    let mut solver = ProgrammeSolver::new(Arc::new(programme.clone()))?;
    match solver.among(Costs::of(costs), |_| None)? {
        Least { y: None, .. } => Err("HiGHS found no feasible vector".into()),
        least => Ok(least),
    }
}

fn dot(costs: &[f64], y: &[f64]) -> f64 {
    costs.iter().zip(y).map(|(cost, y)| cost * y).sum()
}
