//! Asking for labellings of an example beside the best one (Guzman-Rivera, Kohli, Batra 2014, Alg. 2).

use serde::{Deserialize, Serialize};

use super::solutions::{Diverse, Rand, Solutions};
use crate::context::Ctx;
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure};

/// Factor by which a penalty follows the diversity that is wanted, from pass to pass.
const FOLLOW: f64 = 1.3;

/// Penalties stay within these: no diversity at all may be had where all labels but one are impossible.
const PENALTIES: (f64, f64) = (1e-9, 1e9);

/// How many further labellings a pass asks for, and how far they are kept apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Labellings {
    #[serde(with = "crate::state::json")]
    solutions: Solutions,
    /// How many of each example are in use: fewer as a run is annealed.
    used: usize,
    /// Penalties on labels of the first, second, .. labellings.
    penalties: Vec<f64>,
    /// Variables in which the j-th labellings differ from the next, over the pass, and all variables.
    differing: Vec<u64>,
    variables: u64,
    /// The labellings of the example in hand.
    #[serde(skip)]
    codes: Vec<u32>,
    /// The planes of these, the best one's place first, and how many there are.
    #[serde(skip)]
    planes: Vec<Plane>,
    #[serde(skip)]
    found: usize,
}

impl Labellings {
    /// Returns what a run asks for that has not begun; `None` where one labelling is all.
    pub(super) fn new(solutions: Solutions) -> Option<Self> {
        let more = solutions.planes() as usize - 1;
        let penalty = if let Solutions::Diverse(diverse) = solutions { diverse.penalty } else { 0.0 };
        (more > 0).then(|| Labellings {
            solutions,
            used: more,
            penalties: vec![penalty; more],
            differing: vec![0; more],
            variables: 0,
            codes: Vec::new(),
            planes: Vec::new(),
            found: 0,
        })
    }

    /// Labellings asked for of an example beside the best one.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Begins pass number `pass`, from 1.
    pub(super) fn begin(&mut self, pass: u64) {
        if let Solutions::Diverse(Diverse { anneal, .. }) = self.solutions
            && anneal > 0
        {
            let share = 0.5f64.powi(((pass - 1) / u64::from(anneal)).min(60) as i32);
            self.used = (self.penalties.len() as f64 * share).round() as usize;
        }
        self.differing.fill(0);
        self.variables = 0;
    }

    /// Asks for further labellings of `block` at `w`, whose best one has the plane `first`: their planes are
    /// [`plane`](Labellings::plane)s afterwards.
    pub(super) fn ask<O: MaxOracle + ?Sized>(
        &mut self,
        block: usize,
        w: &[f64],
        first: &Plane,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
    ) -> Result<(), OracleError> {
        let len = first.code().len();
        self.codes.clear();
        self.codes.extend_from_slice(first.code());
        self.variables += len as u64;
        self.planes.resize_with(self.penalties.len() + 1, Plane::new);
        self.found = match self.solutions {
            Solutions::MBest(_) if self.used > 0 => {
                ctx.top(block, w, self.used as u64, &mut self.planes[..=self.used])?.max(1)
            }
            _ => self.used + 1,
        };
        for m in 0..self.used {
            let plane = &mut self.planes[(m + 1).min(self.found - 1)];
            let before = &self.codes[self.codes.len() - len..];
            match self.solutions {
                Solutions::Diverse(_) => {
                    ctx.apart(block, w, &self.codes, &self.penalties[..=m], plane)?;
                }
                Solutions::Rand(Rand { diversity, .. }) => {
                    let changes = (diversity * len as f64).round().max(1.0) as usize;
                    ctx.relabelled(block, w, &self.codes[..len], changes, plane)?;
                }
                Solutions::MBest(_) | Solutions::Map => {}
            }
            self.differing[m] += before.iter().zip(plane.code()).filter(|(a, b)| a != b).count() as u64;
            self.codes.extend_from_slice(plane.code());
            regularizer.fold_frozen(plane);
        }
        Ok(())
    }

    /// Returns the plane of the m-th further labelling of the example asked for last, from 0; where an oracle listed fewer
    /// than asked for, that of the last one.
    pub(super) fn plane(&self, m: usize) -> &Plane {
        &self.planes[(m + 1).min(self.found - 1)]
    }

    /// Ends a pass: penalties follow the diversity that it had.
    pub(super) fn end(&mut self) {
        let Solutions::Diverse(Diverse { diversity, .. }) = self.solutions else { return };
        let share = self.used as f64 / self.penalties.len() as f64;
        for (penalty, differing) in self.penalties.iter_mut().zip(&self.differing).take(self.used) {
            let reached = *differing as f64 / self.variables.max(1) as f64;
            let factor = if reached < diversity * share { FOLLOW } else { 1.0 / FOLLOW };
            *penalty = (*penalty * factor).clamp(PENALTIES.0, PENALTIES.1);
        }
    }

    /// Refuses what was restored and does not fit.
    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let more = fresh.penalties.len();
        let lengths = [self.penalties.len(), self.differing.len()] == [more; 2] && self.used <= more;
        ensure(self.solutions == fresh.solutions && lengths, "the labellings per example")?;
        ensure(self.penalties.iter().all(|penalty| penalty.is_finite() && *penalty >= 0.0), "the penalties")
    }
}
