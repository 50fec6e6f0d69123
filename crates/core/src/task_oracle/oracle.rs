//! The max-oracle of a task on a set of examples.

use std::sync::Arc;

use super::sampled::SampledMean;
use crate::example::{Example, Examples, Memories};
use crate::linalg;
use crate::oracle::{
    Capabilities, Coded, CodedPlanes, KBestPlanes, MarginalPlanes, MaxOracle, OracleError, OracleResult, Prices,
    Quality, Recombination,
};
use crate::plane::Plane;
use crate::rounding::Magnitudes;
use crate::task::{Call, Case, Question, Task, TaskLabel};

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
    pub(super) data: RememberedExamples<T>,
    pub(super) answer: T::Label,
    truth: Plane,
    prices: Prices,
    planes: SampledMean,
}

/// The examples of one worker, with its working memory and the memory of each.
pub(super) struct RememberedExamples<T: Task> {
    pub(super) examples: Arc<Examples<T::Input, T::Label>>,
    scratch: T::Scratch,
    pub(super) memories: Memories<T::Memory>,
}

impl<T: Task> RememberedExamples<T> {
    /// Asks about an example at `w` with the loss added.
    pub(super) fn call<'a>(&'a mut self, block: usize, w: &'a [f64]) -> Call<'a, T> {
        Question::augmented(self.examples.get(block), w).call(&mut self.scratch, self.memories.of(block))
    }

    /// Returns an example with the factor of its planes: its share in the mean, 1/n if all count the same.
    pub(super) fn case(&mut self, block: usize) -> Case<'_, T> {
        let scale = self.examples.share(block);
        Case::new(self.examples.get(block), scale, &mut self.scratch, self.memories.of(block))
    }
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
        let data = RememberedExamples { examples, scratch: T::Scratch::default(), memories };
        Some(TaskOracle { task, data, answer, truth: Plane::new(), prices, planes: SampledMean::default() })
    }

    /// Writes the plane of the answer, with its code.
    pub(super) fn write_plane(&mut self, block: usize, out: &mut Plane) {
        let stopwatch = self.planes.begin();
        self.task.plane(self.data.case(block), &self.answer, out);
        if let (Some(_), Some(labels)) = (self.task.capabilities().variables, self.answer.numbers()) {
            let code = out.code_mut();
            code.clear();
            code.extend_from_slice(labels);
        }
        self.data.memories.settle(block);
        self.planes.end(stopwatch);
    }

    /// Returns a decoder's bound in the scale of planes: the truth's score is taken off. Where the two cancel, what is
    /// left may lie below the plane in hand by rounding, and is lifted to it.
    pub(super) fn bound_of_plane(&mut self, block: usize, w: &[f64], bound: f64, plane: &Plane) -> f64 {
        let Example { input, truth, .. } = self.data.examples.get(block);
        let (of_truth, terms) = self.task.score(input, truth, w, &mut self.truth);
        let (terms, scale) = (bound.abs() + terms, self.data.examples.share(block));
        let relative = scale * (bound - of_truth);
        let own = plane.view().score(w);
        let is_rounding = relative < own && own - relative <= BOUND_ROUNDING * scale * terms;
        if is_rounding { own } else { relative }
    }
}

impl<T: Task> MaxOracle for TaskOracle<T> {
    fn blocks(&self) -> usize {
        self.data.examples.labels.len()
    }
    fn dim(&self) -> usize {
        self.task.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let decoded = self.task.decode(self.data.call(block, w), &mut self.answer);
        let quality = decoded.map_err(|reason| OracleError { block, reason })?;
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
        self.task.prefetch(&self.data.examples.inputs[block]);
    }
    fn prefetch_early(&self, block: usize) {
        linalg::prefetch(std::slice::from_ref(&self.data.examples.inputs[block]));
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<T: Task> Capabilities for TaskOracle<T> {
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        let variables = self.task.capabilities().variables;
        variables.map_or(code.is_empty(), |variables| variables.is_labelling(self.data.examples.get(block), code))
    }
    fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
        let examples = &self.data.examples;
        Some(examples.share(block) * self.task.largest_loss(examples.get(block))?)
    }
    fn recombination(&mut self) -> Option<&mut dyn Recombination> {
        let has = self.task.capabilities();
        (has.variables.is_some() && has.recombination.is_some()).then_some(self as _)
    }
    fn plane_seconds(&self) -> Option<f64> {
        self.planes.mean()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        let examples = &self.data.examples;
        Some(self.task.capabilities().magnitudes?.magnitudes(examples).weighted(examples.largest_weight()))
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
        let Some(recombination) = self.task.capabilities().recombination else {
            return Err(failed("this task cannot recombine labellings".into()));
        };
        recombination.recombine(self.data.case(block), w, codes, &mut self.answer).map_err(failed)?;
        self.write_plane(block, out);
        Ok(())
    }
}

impl<T: Task> CodedPlanes for TaskOracle<T> {
    fn compile(&mut self, block: usize, codes: &[u32], compiled: &mut Vec<u32>) {
        compiled.clear();
        if let Some(coded) = self.task.capabilities().coded_planes {
            coded.compile(self.data.case(block), codes, compiled);
        }
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        if let Some(coded) = self.task.capabilities().coded_planes {
            coded.linear_scores(self.data.case(block), w, planes, out);
            linalg::scale(self.data.examples.share(block), out);
        }
    }
    fn add_planes(&mut self, block: usize, planes: Coded<'_>, amounts: &[f64], scale: f64, target: &mut [f64]) {
        if let Some(coded) = self.task.capabilities().coded_planes {
            let case = self.data.case(block);
            let scale = scale * case.scale;
            coded.add_planes(Case { scale, ..case }, planes, amounts, target);
        }
    }
    fn inner_products(&mut self, block: usize, planes: Coded<'_>, code: &[u32], out: &mut Vec<f64>) -> bool {
        let coded = self.task.capabilities().coded_planes;
        coded.is_some_and(|coded| coded.inner_products(self.data.case(block), planes, code, out))
    }
    fn answer_after(
        &mut self,
        block: usize,
        planes: Coded<'_>,
        amounts: &[f64],
        above: f64,
        out: &mut Plane,
    ) -> Option<f64> {
        let coded = self.task.capabilities().coded_planes?;
        let case = self.data.case(block);
        let share = case.scale;
        let score = coded.answer_after(case, planes, amounts, above / share, &mut self.answer)?;
        self.write_plane(block, out);
        Some(share * score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Memory;
    use crate::task::ExampleOf;

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
        fn decode(&self, call: Call<'_, Self>, out: &mut u32) -> Result<Quality, String> {
            let Question { input: x, truth, w, .. } = call.question;
            call.memory.0.push(1);
            call.scratch.push(call.memory.0.len());
            let loss = |y: &u32| truth.map_or(0.0, |truth| self.loss(truth, y));
            let score = |y: &u32| f64::from(*y) * x * w[0] + self.fixed_score(x, y) + loss(y);
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
            let ExampleOf::<Remembering> { input: x, truth, .. } = oracle.data.examples.get(block);
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
                let held: usize = (0..4).map(|block| bounded.data.memories.of(block).bytes()).sum();
                assert!(held <= 5, "{held} bytes are held");
            }
        }
        assert_eq!(
            free.data.scratch,
            [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
            "calls that each call remembers, its own included"
        );
        assert!(
            bounded.data.scratch.iter().zip(&free.data.scratch).all(|(few, all)| few <= all)
                && bounded.data.scratch.contains(&2)
        );
    }
}
