//! Further labellings of every example in a pass, and the planes made of them (Guzman-Rivera, Kohli, Batra 2014, Alg. 2).

use serde::{Deserialize, Serialize};

use super::gain::Gain;
use crate::cache::WorkingSets;
use crate::context::Ctx;
use crate::oracle::{MaxOracle, NoCapabilities, OracleError};
use crate::plane::{Plane, PlaneView};
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::solvers::labellings::Labellings;
use crate::solvers::solutions::{Combine, Solutions};
use crate::state::{StateError, ensure};

/// What a pass knows of labellings beside the best ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Further {
    labellings: Labellings,
    /// Sums of the planes of the second, third, .. labellings.
    sums: Vec<PlaneSum>,
    /// Where planes are put together of any labellings: all of the pass, and which are whose.
    seen: Option<WorkingSets>,
    choices: Vec<Vec<Option<u32>>>,
}

impl Further {
    /// Returns what passes over `blocks` examples in `dim` dimensions know; `None` where one labelling is all.
    pub(super) fn new(solutions: Solutions, blocks: usize, dim: usize) -> Option<Self> {
        let labellings = Labellings::new(solutions)?;
        let (more, any) = (labellings.used(), solutions.combine() == Combine::Dop1);
        Some(Further {
            labellings,
            sums: vec![PlaneSum::new(dim); more],
            seen: any.then(|| WorkingSets::new(blocks)),
            choices: if any { vec![Vec::new(); more] } else { Vec::new() },
        })
    }

    /// Begins pass number `pass`, from 1.
    pub(super) fn begin(&mut self, pass: u64, blocks: usize) {
        self.labellings.begin(pass);
        self.sums.iter_mut().for_each(PlaneSum::clear);
        self.seen = self.seen.take().map(|_| WorkingSets::new(blocks));
        self.choices.iter_mut().for_each(Vec::clear);
    }

    /// Asks for further labellings of an example, whose best one has the plane `first`, and adds them up. `keep` is
    /// handed every further plane.
    pub(super) fn ask<O: MaxOracle + ?Sized>(
        &mut self,
        block: usize,
        w: &[f64],
        first: &Plane,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
        mut keep: impl FnMut(&Plane, &mut Ctx<'_, O>),
    ) -> Result<(), OracleError> {
        let Further { labellings, sums, seen, choices } = self;
        if let Some(seen) = seen {
            seen.insert(block, first, 0, None, &mut NoCapabilities);
        }
        labellings.ask(block, w, first, regularizer, ctx)?;
        for m in 0..labellings.used() {
            let plane = labellings.plane(m);
            sums[m].add(1.0, plane.view());
            if let Some(seen) = seen {
                let at = seen.insert(block, plane, 0, None, &mut NoCapabilities);
                choices[m].push(at.map(|k| k as u32));
            }
            keep(plane, ctx);
        }
        Ok(())
    }

    /// Ends a pass: penalties follow the diversity that it had.
    pub(super) fn end(&mut self) {
        self.labellings.end();
    }

    /// Returns the planes beside the first, chosen by what the dual gains where any labellings may go together.
    pub(super) fn planes(&mut self, gain: impl FnOnce() -> Gain) -> &[PlaneSum] {
        let used = self.labellings.used();
        if let Some(seen) = &self.seen
            && used > 0
        {
            let mut gain = gain();
            for (sum, choices) in self.sums.iter_mut().zip(&mut self.choices).take(used) {
                gain.begin(sum);
                for (block, choice) in choices.iter_mut().enumerate() {
                    let view = |choice: Option<u32>| choice.map_or(PlaneView::ZERO, |k| seen.plane(block, k as usize));
                    let all = (0..seen.len(block) as u32).map(Some);
                    *choice = gain.improve(*choice, all, view);
                }
                gain.write(sum);
            }
        }
        &self.sums[..used]
    }

    /// Refuses what was restored and does not fit.
    pub(super) fn check(&self, fresh: &Self, blocks: usize, dim: usize) -> Result<(), StateError> {
        self.labellings.check(&fresh.labellings)?;
        ensure(self.sums.len() == fresh.sums.len(), "the labellings per example")?;
        self.sums.iter().try_for_each(|sum| sum.check(dim))?;
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
