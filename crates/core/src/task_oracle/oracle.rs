//! The max-oracle of a task on a set of examples.

use std::sync::Arc;

use super::sampled::SampledMean;
use crate::example::{Example, Examples, Memories, Workspace};
use crate::linalg;
use crate::oracle::{
    Capabilities, Coded, CodedPlanes, KBestPlanes, MarginalPlanes, MaxOracle, OracleError, OracleResult, Prices,
    Quality, Recombination,
};
use crate::plane::Plane;
use crate::rounding::Magnitudes;
use crate::task::{Task, WorkspaceOf};

/// Most bytes that one worker keeps in memories of examples: 1 GiB.
pub const MEMORY_LIMIT: usize = 1 << 30;

/// What of a bound may be rounding, relative to the terms that it was taken from.
const BOUND_ROUNDING: f64 = 1e-9;

/// The max-oracle of a task on a set of examples.
///
/// It never trusts a decoder's score: the plane is rebuilt from the labelling. It keeps the memory of every example
/// ([`Task::Memory`]), within a limit.
pub struct TaskOracle<T: Task> {
    pub(super) task: Arc<T>,
    pub(super) examples: Arc<Examples<T::Input, T::Label>>,
    pub(super) scratch: T::Scratch,
    pub(super) memories: Memories<T::Memory>,
    pub(super) answer: T::Label,
    pub(super) truth: Plane,
    prices: Prices,
    planes: SampledMean,
}

impl<T: Task> TaskOracle<T> {
    /// Builds a worker on shared data; `None` where there are no examples.
    pub fn new(task: Arc<T>, examples: Arc<Examples<T::Input, T::Label>>) -> Option<Self> {
        TaskOracle::with_memory_limit(task, examples, MEMORY_LIMIT)
    }

    /// Builds a worker whose memories of examples may hold so many bytes together.
    pub fn with_memory_limit(task: Arc<T>, examples: Arc<Examples<T::Input, T::Label>>, bytes: usize) -> Option<Self> {
        let answer = examples.labels.first()?.clone();
        let memories = Memories::new(examples.labels.len(), bytes);
        let prices = Prices::mean(examples.inputs.iter().map(|x| task.prices(x)));
        let (scratch, truth) = (T::Scratch::default(), Plane::new());
        Some(TaskOracle { task, examples, scratch, memories, answer, truth, prices, planes: SampledMean::default() })
    }

    /// The factor of an example's planes: its share in the mean, 1/n where all count the same.
    pub(super) fn scale(&self, block: usize) -> f64 {
        self.examples.share(block)
    }

    /// Writes the plane of the answer, with its code.
    pub(super) fn write_plane(&mut self, block: usize, out: &mut Plane) {
        let scale = self.scale(block);
        let stopwatch = self.planes.begin();
        let work = Workspace { scratch: &mut self.scratch, memory: self.memories.of(block) };
        self.task.plane(self.examples.get(block), &self.answer, scale, work, out);
        if let Some(variables) = self.task.capabilities().variables {
            let code = out.code_mut();
            code.clear();
            code.extend_from_slice(variables.labels(&self.answer));
        }
        self.memories.settle(block);
        self.planes.end(stopwatch);
    }

    /// Returns a decoder's bound in the scale of planes: the truth's score is taken off. Where the two cancel, what is
    /// left may lie below the plane in hand by rounding, and is lifted to it.
    pub(super) fn bound_of_plane(&mut self, block: usize, w: &[f64], bound: f64, plane: &Plane) -> f64 {
        let Example { input, truth, .. } = self.examples.get(block);
        let (of_truth, terms) = self.task.score(input, truth, w, &mut self.truth);
        let terms = bound.abs() + terms;
        let relative = self.scale(block) * (bound - of_truth);
        let own = plane.view().score(w);
        let is_rounding = relative < own && own - relative <= BOUND_ROUNDING * self.scale(block) * terms;
        if is_rounding { own } else { relative }
    }
}

impl<T: Task> MaxOracle for TaskOracle<T> {
    fn blocks(&self) -> usize {
        self.examples.labels.len()
    }
    fn dim(&self) -> usize {
        self.task.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let question = self.examples.get(block).augmented();
        let work: WorkspaceOf<'_, T> = Workspace { scratch: &mut self.scratch, memory: self.memories.of(block) };
        let quality =
            self.task.decode(question, w, work, &mut self.answer).map_err(|reason| OracleError { block, reason })?;
        self.write_plane(block, out);
        Ok(match quality {
            Quality::UpperBound(bound) => Quality::UpperBound(self.bound_of_plane(block, w, bound, out)),
            other => other,
        })
    }
    fn prices(&self) -> Prices {
        self.prices
    }
    fn prefetch(&self, block: usize) {
        self.task.prefetch(&self.examples.inputs[block]);
    }
    fn prefetch_early(&self, block: usize) {
        linalg::prefetch(std::slice::from_ref(&self.examples.inputs[block]));
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<T: Task> Capabilities for TaskOracle<T> {
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        let variables = self.task.capabilities().variables;
        variables.map_or(code.is_empty(), |variables| variables.is_labelling(self.examples.get(block), code))
    }
    fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
        Some(self.scale(block) * self.task.largest_loss(self.examples.get(block))?)
    }
    fn recombination(&mut self) -> Option<&mut dyn Recombination> {
        let has = self.task.capabilities();
        (has.variables.is_some() && has.recombination.is_some()).then_some(self as _)
    }
    fn plane_seconds(&self) -> Option<f64> {
        self.planes.mean()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.task.capabilities().magnitudes?.magnitudes(&self.examples).weighted(self.examples.largest_weight()))
    }
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        let has = self.task.capabilities();
        (has.variables.is_some() && has.coded_planes.is_some()).then_some(self as _)
    }
    fn kbest_planes(&mut self) -> Option<&mut dyn KBestPlanes> {
        self.task.capabilities().kbest.is_some().then_some(self as _)
    }
    fn marginals(&mut self) -> Option<&mut dyn MarginalPlanes> {
        self.task.capabilities().marginals.is_some().then_some(self as _)
    }
}

impl<T: Task> Recombination for TaskOracle<T> {
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<(), OracleError> {
        let failed = |reason| OracleError { block, reason };
        let work = Workspace { scratch: &mut self.scratch, memory: self.memories.of(block) };
        let Some(recombination) = self.task.capabilities().recombination else {
            return Err(failed("this task cannot recombine labellings".into()));
        };
        recombination.recombine(self.examples.get(block), w, codes, work, &mut self.answer).map_err(failed)?;
        self.write_plane(block, out);
        Ok(())
    }
}

impl<T: Task> CodedPlanes for TaskOracle<T> {
    fn compile(&mut self, block: usize, codes: &[u32], compiled: &mut Vec<u32>) {
        compiled.clear();
        if let Some(coded) = self.task.capabilities().coded_planes {
            coded.compile(self.examples.get(block), codes, &mut self.scratch, compiled);
        }
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        let scale = self.scale(block);
        if let Some(coded) = self.task.capabilities().coded_planes {
            coded.linear_scores(self.examples.get(block), w, planes, &mut self.scratch, out);
            linalg::scale(scale, out);
        }
    }
    fn add_planes(&mut self, block: usize, planes: Coded<'_>, amounts: &[f64], scale: f64, target: &mut [f64]) {
        let scale = scale * self.scale(block);
        if let Some(coded) = self.task.capabilities().coded_planes {
            coded.add_planes(self.examples.get(block), planes, amounts, scale, &mut self.scratch, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Memory;
    use crate::task::{ExampleOf, QuestionOf};

    /// Labels 0 to 2 of one number each: `phi(x, y) = y x`, `theta(x, y) = x / (1 + y)`, loss 1. The decoder remembers
    /// how often it was asked about an example, in as many bytes, and what it answered; it bounds the maximum by 10.
    struct Remembering;

    #[derive(Default)]
    struct CallLog(Vec<u8>);

    impl Memory for CallLog {
        fn bytes(&self) -> usize {
            self.0.len()
        }
    }

    impl Task for Remembering {
        type Input = f64;
        type Label = u32;
        type Scratch = Vec<usize>;
        type Memory = CallLog;

        fn dim(&self) -> usize {
            1
        }
        fn features(&self, x: &f64, y: &u32, scale: f64, out: &mut Plane) {
            out.push(0, scale * f64::from(*y) * x);
        }
        fn loss(&self, truth: &u32, y: &u32) -> f64 {
            f64::from(u8::from(truth != y))
        }
        fn fixed_score(&self, x: &f64, y: &u32) -> f64 {
            x / (1.0 + f64::from(*y))
        }
        fn decode(
            &self,
            question: QuestionOf<'_, Self>,
            w: &[f64],
            work: WorkspaceOf<'_, Self>,
            out: &mut u32,
        ) -> Result<Quality, String> {
            work.memory.0.push(1);
            work.scratch.push(work.memory.0.len());
            let loss = |y: &u32| question.truth.map_or(0.0, |truth| self.loss(truth, y));
            let score = |y: &u32| f64::from(*y) * question.input * w[0] + self.fixed_score(question.input, y) + loss(y);
            *out = (0..3).max_by(|a, b| score(a).total_cmp(&score(b))).unwrap_or(0);
            Ok(Quality::UpperBound(10.0))
        }
    }

    fn oracle(bytes: usize) -> TaskOracle<Remembering> {
        let examples = Examples::new(vec![2.0, -1.0, 0.5, 3.0], vec![0, 1, 2, 0]);
        TaskOracle::with_memory_limit(Arc::new(Remembering), Arc::new(examples), bytes).unwrap()
    }

    /// The fixed score is part of planes and of upper bounds: every plane is what `w -> score` says, relative to the
    /// truth, and the bound is the decoder's without the truth's score.
    #[test]
    fn fixed_scores_reach_planes_and_bounds() {
        let mut oracle = oracle(MEMORY_LIMIT);
        let mut plane = Plane::new();
        for (block, w) in [(0, 1.5), (1, -2.0), (2, 0.1), (3, 0.2)] {
            let quality = oracle.maximize(block, &[w], &mut plane).unwrap();
            let ExampleOf::<Remembering> { input: x, truth, .. } = oracle.examples.get(block);
            let score = |y: u32| f64::from(y) * x * w + Remembering.fixed_score(x, &y);
            let best = (0..3).map(|y| score(y) + Remembering.loss(truth, &y)).fold(f64::MIN, f64::max);
            assert!((plane.view().score(&[w]) - (best - score(*truth)) / 4.0).abs() < 1e-15, "block {block}");
            let Quality::UpperBound(bound) = quality else { panic!("{quality:?}") };
            assert!((bound - (10.0 - score(*truth)) / 4.0).abs() < 1e-15, "block {block}");
        }
    }

    /// Memory survives from call to call, every example has its own, and no more is kept than allowed.
    #[test]
    fn memory_survives_within_its_bound() {
        let (mut free, mut bounded, mut plane) = (oracle(MEMORY_LIMIT), oracle(5), Plane::new());
        for _ in 0..3 {
            for block in 0..4 {
                free.maximize(block, &[0.3], &mut plane).unwrap();
                bounded.maximize(block, &[0.3], &mut plane).unwrap();
                let held: usize = (0..4).map(|block| bounded.memories.of(block).bytes()).sum();
                assert!(held <= 5, "{held} bytes are held");
            }
        }
        assert_eq!(
            free.scratch,
            [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
            "calls that each call remembers, its own included"
        );
        assert!(bounded.scratch.iter().zip(&free.scratch).all(|(few, all)| few <= all) && bounded.scratch.contains(&2));
    }
}
