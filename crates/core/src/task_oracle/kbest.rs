//! Planes of more labellings than the best one.

use super::oracle::TaskOracle;
use crate::oracle::{KBestPlanes, OracleError, OracleResult, Quality};
use crate::plane::Plane;
use crate::rng::Rng;
use crate::task::{DiversityPenalty, KBest, Task, TaskLabel};

impl<T: Task> KBestPlanes for TaskOracle<T> {
    fn top(&mut self, block: usize, w: &[f64], out: &mut [Plane]) -> Result<(usize, Quality), OracleError> {
        let failed = |reason| OracleError { block, reason };
        let Some(kbest) = self.task.capabilities().kbest else {
            return Err(failed("this task lists no labellings beside the best".into()));
        };
        let mut labels = vec![self.answer.clone(); out.len()];
        let (count, quality) = kbest.top(self.data.call(block, w), &mut labels).map_err(failed)?;
        for (label, plane) in labels.into_iter().zip(&mut *out).take(count) {
            self.answer = label;
            self.write_plane(block, plane);
        }
        match (quality, out.first()) {
            (Quality::UpperBound(bound), Some(first)) => {
                Ok((count, Quality::UpperBound(self.bound_of_plane(block, w, bound, first))))
            }
            _ => Ok((count, quality)),
        }
    }

    fn apart(&mut self, block: usize, w: &[f64], codes: &[u32], penalties: &[f64], out: &mut Plane) -> OracleResult {
        let failed = |reason| OracleError { block, reason };
        if self.task.capabilities().kbest.is_none() {
            return Err(failed("this task cannot keep labellings apart".into()));
        }
        let mut call = self.data.call(block, w);
        call.question.penalty = DiversityPenalty { codes, penalties };
        self.task.decode(call, &mut self.answer).map_err(failed)?;
        self.write_plane(block, out);
        Ok(Quality::Heuristic) // it bounds another sum
    }

    fn relabelled(
        &mut self,
        block: usize,
        code: &[u32],
        changes: usize,
        rng: &mut Rng,
        out: &mut Plane,
    ) -> Result<(), OracleError> {
        let changed = |kbest: &dyn KBest<T>| kbest.relabelled(self.data.examples.get(block), code, changes, rng);
        let Some(changed) = self.task.capabilities().kbest.map(changed).and_then(T::Label::from_numbers) else {
            return Err(OracleError { block, reason: "this task cannot change labellings".into() });
        };
        self.answer = changed;
        self.write_plane(block, out);
        Ok(())
    }
}
