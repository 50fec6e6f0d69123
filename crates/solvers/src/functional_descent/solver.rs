//! Step after step: draw a sample, solve its problem, go there.

use serde::{Deserialize, Serialize};

use super::choice::{ExampleChoice, rank};
use super::config::FunctionalDescent;
use super::inner::StepProblem;
use super::margins::{Answers, MarginQuestion};
use crate::context::Ctx;
use crate::linalg;
use crate::online::{Carried, CarriesOn};
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{ExampleSampler, Sampling, size_of};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::solver::{Details, SfdStep, Solver, SolverFacts, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure, finite};

/// The state of a run of functional descent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionalDescentSolver {
    #[serde(with = "crate::state::json")]
    config: FunctionalDescent,
    blocks: usize,
    /// The n of lambda_t: the blocks, or the examples of a stream.
    examples: usize,
    /// Of the run: it gives the first weights and the constraints, its strength is not used.
    regularizer: Regularizer,
    /// w_t, a point (see [`crate::metric`]), and the additions that it went through since it was last made anew.
    weights: Vec<f64>,
    additions: f64,
    /// The average of these that is the answer, and the additions that it went through.
    average: Option<Vec<f64>>,
    average_additions: f64,
    /// k.
    size: usize,
    sampler: ExampleSampler,
    /// S_t, none before the first.
    sample: Vec<u32>,
    choice: ExampleChoice,
    /// Residual margins of the sample as seen last.
    margins: Vec<f64>,
    place: StepPlace,
    answers: Answers,
    #[serde(skip)]
    answer: Plane,
    inner: StepProblem,
    /// Steps that have ended.
    steps: u64,
    pub(super) last: Option<SfdStep>,
}

/// The place within a step.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct StepPlace {
    /// Examples of the sample asked in the current pass.
    asked: usize,
    /// If a step is under way, and if its master is to be solved next.
    under_way: bool,
    solving: bool,
}

impl FunctionalDescentSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: FunctionalDescent, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let mut weights =
            regularizer.prior().map_or_else(|| vec![0.0; regularizer.metric().size(dim)], <[f64]>::to_vec);
        regularizer.clip_all(&mut weights);
        let size = size_of(config.size, blocks);
        FunctionalDescentSolver {
            blocks,
            examples: blocks,
            size,
            sampler: ExampleSampler::new(config.sampling, blocks),
            sample: Vec::with_capacity(size),
            choice: ExampleChoice::default(),
            margins: vec![0.0; size],
            place: StepPlace::default(),
            answers: Answers::new(config.margins, blocks),
            answer: Plane::new(),
            inner: StepProblem::new(config.inner, size, blocks, dim, regularizer.clone()),
            steps: 0,
            last: None,
            weights,
            additions: 0.0,
            average: None,
            average_additions: 0.0,
            regularizer,
            config,
        }
    }

    /// Returns a solver of a window of a stream: `blocks` examples, `size` of them to a step, `examples` in the whole
    /// stream. It goes on from `carried`.
    pub(super) fn on_window(
        config: FunctionalDescent,
        (blocks, size): (usize, usize),
        examples: usize,
        carried: Carried,
    ) -> Self {
        let Carried { point, average, steps } = carried;
        let config = FunctionalDescent { size: size as f64, ..config };
        let solver = FunctionalDescentSolver::new(config, blocks, point.len(), Regularizer::from(1.0));
        let average = (steps > 0 && !average.is_empty()).then_some(average);
        FunctionalDescentSolver { examples, weights: point, average, steps, ..solver }
    }

    /// Draws the sample of the next step, or the candidates for it.
    fn begin<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        match self.config.sampling.candidates(self.size, self.blocks) {
            Some(most) => self.sampler.draw(most, ctx.rng, &mut self.choice.candidates),
            None => self.sampler.draw(self.size, ctx.rng, &mut self.sample),
        }
        self.inner.begin(self.config.schedule.at(self.steps + 1, self.size, self.examples), &self.weights);
        self.place.under_way = true;
    }

    /// Asks about the next candidate; after the last, the sample is chosen.
    fn choose<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let Sampling::Active(active) = self.config.sampling else { return Ok(()) };
        let at = self.regularizer.metric().weights(&self.weights);
        let question = MarginQuestion { blocks: self.choice.to_ask(), at, from: at };
        let answer = self.answers.ask(question, &self.regularizer, ctx, &mut self.answer)?;
        let plane = self.answer.view();
        let margin = self.blocks as f64 * (plane.score(at) - plane.circ);
        if self.choice.learn(rank(active.prefer, answer.hinge, margin)) {
            self.choice.end(self.size, &mut self.sample);
        }
        Ok(())
    }

    /// Asks about the next example of the sample.
    fn call<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        // Where weights move in between, nothing can be asked ahead.
        let to_ask = &self.sample[self.place.asked..];
        let blocks = if self.inner.stands() { to_ask } else { &to_ask[..1] };
        let from = self.regularizer.metric().weights(&self.weights);
        let question = MarginQuestion { blocks, at: self.inner.weights(), from };
        let answer = self.answers.ask(question, &self.regularizer, ctx, &mut self.answer)?;
        self.margins[self.place.asked] = answer.margin.max(0.0);
        self.inner.take(self.sample[self.place.asked] as usize, answer, &self.answer, self.size);
        self.place.asked += 1;
        Ok(())
    }

    /// Goes where the problem of the step led.
    fn end(&mut self) {
        self.weights.copy_from_slice(self.inner.point());
        self.additions += self.inner.additions();
        // Each iterate's, and its scaling and addition.
        self.average_additions = self.average_additions.max(self.additions) + 2.0;
        if self.additions > self.regularizer.metric().most_additions() {
            self.regularizer.metric().renew(&mut self.weights);
            self.additions = 0.0;
        }
        let metric = self.regularizer.metric();
        for (&block, &margin) in self.sample.iter().zip(&self.margins) {
            self.sampler.observe(block as usize, margin);
        }
        self.steps += 1;
        if let Some(weight) = self.config.averaging.weight(self.steps) {
            let average = self.average.get_or_insert_default();
            average_in(average, weight, &self.weights);
            if self.average_additions > metric.most_additions() {
                metric.renew(average);
                self.average_additions = 0.0;
            }
        }
        self.last = Some(self.inner.found());
        self.place.under_way = false;
    }
}

/// `bar <- (1 - weight) bar + weight w`; the first w where there is none yet.
fn average_in(bar: &mut Vec<f64>, weight: f64, w: &[f64]) {
    bar.resize(w.len(), 0.0);
    linalg::scale(1.0 - weight, bar);
    linalg::axpy(weight, w, bar);
}

impl<O: MaxOracle + ?Sized> SavedState<O> for FunctionalDescentSolver {
    fn complete(&mut self, fresh: &Self) {
        self.regularizer = self.regularizer.clone().with_metric(fresh.regularizer.metric().clone());
        self.inner.attach(fresh.inner.metric());
    }

    fn check(&self, fresh: &Self, _oracle: &mut O) -> Result<(), StateError> {
        let size = fresh.weights.len();
        ensure(
            self.config == fresh.config && (self.blocks, self.examples) == (fresh.blocks, fresh.examples),
            "the parameters or the number of examples",
        )?;
        ensure(self.regularizer == fresh.regularizer, "the regulariser")?;
        ensure(self.weights.len() == size && finite(&self.weights) && self.additions >= 0.0, "the weights")?;
        let average = self.average.as_deref().is_none_or(|average| average.len() == size && finite(average));
        let averages = self.steps > 0 && self.config.averaging.weight(self.steps).is_some();
        let sound = average && self.average_additions >= 0.0;
        ensure(sound && self.average.is_some() == averages, "the average")?;
        let StepPlace { asked, under_way, solving } = self.place;
        let known = self.sample.iter().all(|&block| (block as usize) < self.blocks);
        let is_chosen = self.steps > 0 || (under_way && !self.choice.is_open());
        let whole = self.sample.len() == if is_chosen { self.size } else { 0 };
        let at_rest = asked == 0 && !solving;
        let place = asked < self.size
            && (under_way || (at_rest && !self.choice.is_open()))
            && (at_rest || !self.choice.is_open());
        let candidates = self.config.sampling.candidates(self.size, self.blocks);
        self.choice.check(candidates.unwrap_or(0), self.blocks)?;
        ensure(self.size == fresh.size && known && whole && place, "the sample")?;
        ensure(self.margins.len() == self.size && finite(&self.margins), "the residual margins")?;
        self.sampler.check(self.blocks)?;
        self.answers.check(&fresh.answers)?;
        self.inner.check(&fresh.inner)
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for FunctionalDescentSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let mut report = StepReport::default();
        if self.place.solving {
            let since = ctx.shown();
            self.inner.charge(ctx);
            self.place.solving = !self.inner.solve();
            self.inner.spend(ctx.shown() - since);
            return Ok(report);
        }
        if !self.place.under_way {
            self.begin(ctx);
        }
        if self.choice.is_open() {
            self.choose(ctx)?;
            return Ok(report);
        }
        self.call(ctx)?;
        if self.place.asked == self.size {
            self.place.asked = 0;
            report.iteration_ended = self.inner.end_pass(self.config.accuracy);
            if report.iteration_ended {
                self.end();
            } else {
                self.place.solving = true;
            }
        }
        Ok(report)
    }

    fn facts(&self) -> SolverFacts {
        SolverFacts { minimises: false, moves_sums: true, ..SolverFacts::default() }
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        w.clear();
        w.extend_from_slice(self.average.as_ref().unwrap_or(&self.weights));
        if self.average.is_some() {
            self.regularizer.clip_all(w); // rounding may have left them
        }
        None
    }

    fn drawn(&self) -> Option<u64> {
        Some(self.steps.saturating_mul(self.size as u64))
    }

    fn support_vectors(&self) -> Option<usize> {
        self.regularizer.metric().support(self.average.as_ref().unwrap_or(&self.weights))
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.steps.saturating_add(u64::from(self.place.under_way)),
            planes: Some(self.inner.planes() as f64 / self.blocks as f64),
            master_seconds: Some(self.inner.seconds()),
            ..SolverProgress::default()
        }
    }

    fn details(&self) -> Option<Details> {
        self.last.map(|step| step.details())
    }
}

impl CarriesOn for FunctionalDescentSolver {
    fn steps(&self) -> u64 {
        self.steps
    }

    /// The weights move at the end of a step.
    fn may_end(&self) -> bool {
        true
    }

    fn into_carried(self: Box<Self>) -> Carried {
        Carried { point: self.weights, average: self.average.unwrap_or_default(), steps: self.steps }
    }
}
