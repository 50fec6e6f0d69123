//! Further labellings of every example in a pass, and the planes made of them (Guzman-Rivera, Kohli, Batra 2014, Alg.
//! 2).

use serde::{Deserialize, Serialize};

use super::config::{Combine, Diverse, MBestLabellings, Rand, Solutions};
use super::gain::Gain;
use crate::cache::WorkingSets;
use crate::context::Ctx;
use crate::oracle::{MaxOracle, NoCapabilities, OracleError};
use crate::plane::{Plane, PlaneView};
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure};

/// Factor by which a penalty follows the diversity that is wanted, from pass to pass.
const FOLLOW: f64 = 1.3;

/// Penalties stay within these: no diversity at all may be had where all labels but one are impossible.
const PENALTIES: (f64, f64) = (1e-9, 1e9);

/// Draws of a labelling that is to differ from all before it in as many variables as from the last.
const DRAWS: usize = 8;

/// Returns the number of variables in which two labellings differ.
fn differing(one: &[u32], other: &[u32]) -> u64 {
    one.iter().zip(other).filter(|(a, b)| a != b).count() as u64
}

/// The labellings of a pass besides the best ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Further {
    #[serde(with = "crate::state::json")]
    solutions: Solutions,
    /// Sums of the planes of the second, third, .. labellings.
    sums: Vec<PlaneSum>,
    /// How many of these are in use, and the share of the diversity: less as a run is annealed, which began after a
    /// pass.
    used: usize,
    share: f64,
    began: u64,
    /// Penalties on labels of the first, second, .. labellings.
    penalties: Vec<f64>,
    /// Variables in which the j-th labellings differ from the next, over the pass, and all variables.
    differing: Vec<u64>,
    variables: u64,
    /// All labellings of the pass, and the example of each, if planes are combined of any of them.
    seen: Option<WorkingSets>,
    choices: Vec<Vec<Option<u32>>>,
    /// The labellings of the example in hand, and its penalties in units of the loss.
    #[serde(skip)]
    codes: Vec<u32>,
    #[serde(skip)]
    scaled: Vec<f64>,
    #[serde(skip)]
    planes: Vec<Plane>,
}

impl Further {
    /// Returns what passes over `blocks` examples in `dim` dimensions know; `None` where one labelling is all.
    pub(super) fn new(solutions: Solutions, blocks: usize, dim: usize) -> Option<Self> {
        let more = solutions.planes() as usize - 1;
        let penalty = if let Solutions::Diverse(diverse) = solutions { diverse.penalty } else { 0.0 };
        let any = solutions.combine() == Combine::Dop1;
        (more > 0).then(|| Further {
            solutions,
            sums: vec![PlaneSum::new(dim); more],
            used: more,
            share: 1.0,
            began: 0,
            penalties: vec![penalty; more],
            differing: vec![0; more],
            variables: 0,
            seen: any.then(|| WorkingSets::new(blocks)),
            choices: if any { vec![Vec::new(); more] } else { Vec::new() },
            codes: Vec::new(),
            scaled: Vec::new(),
            planes: Vec::new(),
        })
    }

    /// Begins pass number `pass`, from 1.
    pub(super) fn begin(&mut self, pass: u64, blocks: usize) {
        if let Solutions::Diverse(Diverse { anneal, .. }) = self.solutions
            && anneal > 0
        {
            let halvings = pass.saturating_sub(self.began + 1) / u64::from(anneal);
            self.share = 0.5f64.powi(halvings.min(60) as i32);
            self.used = (self.sums.len() as f64 * self.share).round() as usize;
        }
        self.sums.iter_mut().for_each(PlaneSum::clear);
        self.differing.fill(0);
        self.variables = 0;
        self.seen = self.seen.take().map(|_| WorkingSets::new(blocks));
        self.choices.iter_mut().for_each(Vec::clear);
    }

    /// Begins anew after `passes` passes, as at another lambda.
    pub(super) fn restart(&mut self, passes: u64) {
        self.began = passes;
    }

    /// Asks for further labellings of an example of `blocks`, whose best one has the plane `first`, and adds them up.
    /// `keep` is handed every further plane.
    pub(super) fn ask<O: MaxOracle + ?Sized>(
        &mut self,
        (block, blocks): (usize, usize),
        w: &[f64],
        first: &Plane,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
        mut keep: impl FnMut(&Plane, &mut Ctx<'_, O>),
    ) -> Result<(), OracleError> {
        let len = first.code().len();
        if let Solutions::Diverse(_) = self.solutions {
            // Penalties are in units of the largest loss of a variable.
            let unit = ctx.hinge_at_zero(block).filter(|loss| *loss > 0.0);
            let unit = unit.map_or(1.0, |loss| blocks as f64 * loss / len.max(1) as f64);
            self.scaled.clear();
            self.scaled.extend(self.penalties.iter().map(|penalty| unit * penalty));
        }
        self.codes.clear();
        self.codes.extend_from_slice(first.code());
        self.variables += len as u64;
        let mut planes = std::mem::take(&mut self.planes);
        planes.resize_with(self.sums.len() + 1, Plane::new);
        let mut found = self.used + 1;
        if let Solutions::MBest(MBestLabellings { .. }) = self.solutions {
            found = ctx.top(block, w, self.used as u64, &mut planes)?;
        }
        if let Some(seen) = &mut self.seen {
            seen.insert(block, first, 0, None, &mut NoCapabilities);
        }
        for m in 0..self.used {
            let plane = &mut planes[(m + 1).min(found.max(1) - 1)];
            let before = &self.codes[self.codes.len() - len..];
            match self.solutions {
                Solutions::Diverse(_) => {
                    ctx.apart(block, w, &self.codes, &self.scaled[..=m], plane)?;
                }
                Solutions::Rand(Rand { diversity, .. }) => {
                    let changes = (diversity * len as f64).round().max(1.0) as usize;
                    for _ in 0..DRAWS {
                        ctx.relabelled(block, w, before, changes, plane)?;
                        let near = |code: &[u32]| differing(code, plane.code()) < changes as u64;
                        if !self.codes.chunks_exact(len.max(1)).any(near) {
                            break;
                        }
                    }
                }
                Solutions::MBest(_) | Solutions::Map => {}
            }
            self.differing[m] += differing(before, plane.code());
            self.codes.extend_from_slice(plane.code());
            regularizer.fold_frozen(plane);
            self.sums[m].add(1.0, plane.view());
            if let Some(seen) = &mut self.seen {
                let at = seen.insert(block, plane, 0, None, &mut NoCapabilities);
                self.choices[m].push(at.map(|k| k as u32));
            }
            keep(plane, ctx);
        }
        self.planes = planes;
        Ok(())
    }

    /// Returns the shares of variables in which the j-th labellings of the pass differ from the next (K_j).
    pub(super) fn diversity(&self) -> impl Iterator<Item = f64> {
        self.differing[..self.used].iter().map(|differing| *differing as f64 / self.variables.max(1) as f64)
    }

    /// Ends a pass: penalties follow the diversity that it had.
    pub(super) fn end(&mut self) {
        let Solutions::Diverse(Diverse { diversity, .. }) = self.solutions else { return };
        let reached: Vec<f64> = self.diversity().collect();
        for (penalty, reached) in self.penalties.iter_mut().zip(reached) {
            let factor = if reached < diversity * self.share { FOLLOW } else { 1.0 / FOLLOW };
            *penalty = (*penalty * factor).clamp(PENALTIES.0, PENALTIES.1);
        }
    }

    /// Returns the planes beside the first, chosen by what the dual gains where any labellings may go together.
    pub(super) fn planes(&mut self, gain: impl FnOnce() -> Gain) -> &[PlaneSum] {
        if let Some(seen) = &self.seen
            && self.used > 0
        {
            let mut gain = gain();
            for (sum, choices) in self.sums.iter_mut().zip(&mut self.choices).take(self.used) {
                gain.begin(sum);
                for (block, choice) in choices.iter_mut().enumerate() {
                    let view = |choice: Option<u32>| choice.map_or(PlaneView::ZERO, |k| seen.plane(block, k as usize));
                    let all = (0..seen.len(block) as u32).map(Some);
                    *choice = gain.improve(*choice, all, view);
                }
                gain.write(sum);
            }
        }
        &self.sums[..self.used]
    }

    /// Refuses what was restored and does not fit.
    pub(super) fn check(&self, fresh: &Self, blocks: usize, dim: usize) -> Result<(), StateError> {
        let more = fresh.sums.len();
        let lengths = [self.sums.len(), self.penalties.len(), self.differing.len()] == [more; 3]
            && self.used <= more
            && (0.0..=1.0).contains(&self.share);
        ensure(self.solutions == fresh.solutions && lengths, "the labellings per example")?;
        self.sums.iter().try_for_each(|sum| sum.check(dim))?;
        ensure(self.penalties.iter().all(|penalty| penalty.is_finite() && *penalty >= 0.0), "the penalties")?;
        ensure(self.choices.len() == fresh.choices.len(), "the labellings of a pass")?;
        ensure(self.seen.is_some() == fresh.seen.is_some(), "the planes of a pass")?;
        let Some(seen) = &self.seen else { return Ok(()) };
        seen.check(blocks, dim, false)?;
        let is_kept = |(block, choice): (usize, &Option<u32>)| {
            block < blocks && choice.is_none_or(|k| (k as usize) < seen.len(block))
        };
        ensure(self.choices.iter().all(|choices| choices.iter().enumerate().all(is_kept)), "the labellings of a pass")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diverse(planes: u32, anneal: u32) -> Further {
        let solutions = Diverse { planes, diversity: 0.2, penalty: 0.1, anneal, ..Diverse::default() };
        Further::new(Solutions::Diverse(solutions), 3, 2).unwrap()
    }

    /// A penalty grows where labellings differ in fewer variables than wanted, falls where in more, and stays in range.
    #[test]
    fn penalties_follow_the_diversity() {
        let mut further = diverse(3, 0);
        further.begin(1, 3);
        (further.variables, further.differing) = (100, vec![19, 21]);
        further.end();
        assert_eq!(further.penalties, [0.1 * FOLLOW, 0.1 * (1.0 / FOLLOW)]);
        for _ in 0..200 {
            further.end();
        }
        assert_eq!(further.penalties, [PENALTIES.1, PENALTIES.0]);
    }

    /// Annealing halves M - 1 and K again and again, and begins anew where it is told to.
    #[test]
    fn annealed_runs_ask_for_less() {
        let mut further = diverse(10, 2);
        let used = |further: &mut Further, pass: u64| {
            further.begin(pass, 3);
            (further.used, further.share)
        };
        let found: Vec<_> = (1..=9).map(|pass| used(&mut further, pass)).collect();
        let of = |used: usize, share: f64| [(used, share); 2];
        let expected = [of(9, 1.0), of(5, 0.5), of(2, 0.25), of(1, 0.125)].concat();
        assert_eq!((&found[..8], found[8]), (&expected[..], (1, 0.0625)));
        further.restart(9);
        assert_eq!(used(&mut further, 10), (9, 1.0));
        (further.variables, further.differing) = (1000, vec![150; 9]);
        used(&mut further, 12);
        (further.variables, further.differing) = (1000, vec![150; 9]);
        let before = further.penalties.clone();
        further.end();
        let falls = further.penalties.iter().zip(&before).take(5).all(|(now, before)| now < before);
        assert!(falls, "0.15 is more than half of 0.2");
        assert_eq!(further.penalties[5..], before[5..]);
    }
}
