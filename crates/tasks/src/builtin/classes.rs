//! One label per row, whatever weights the labels have: what `binary` and `multiclass` are but for these.

use std::fmt::Debug;

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, DiversityPenalty, ExampleOf, KBest, LabelMarginals, LabelledVariables, QuestionOf, ScoreMagnitudes,
    Task, TaskCapabilities, UNLABELLED, WorkspaceOf,
};

use crate::builtin::kernelized::{self, KernelOptions, KernelSpec};
use crate::builtin::magnitudes::{RowSizes, sizes};
use crate::builtin::marginals;
use crate::builtin::pairwise::kbest;
use crate::builtin::rows::{LabelledRows, RowVocabulary};
use crate::builtin::task::BuiltinTask;
use crate::data::{Classified, Row, SparseRows};
use crate::dataset::Dataset;
use crate::kernel::KernelStore;
use crate::losses::{CostTable, UNSEEN};
use crate::metrics::LabelReport;
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem};
use crate::reference;

/// The weights of the labels of a row: where they stand, and how they are multiplied by it.
pub trait RowLayout: Clone + Debug + Send + Sync + 'static {
    /// Room for the scores of all labels.
    type Scores: AsRef<[f64]> + AsMut<[f64]> + Default + Debug + Send;

    /// Returns the number of labels.
    fn labels(&self) -> usize;

    /// Returns the number of weights.
    fn dim(&self) -> usize;

    /// Returns what a call and a plane of this row cost.
    fn prices(&self, x: &SparseRows) -> Prices;

    /// Writes the scores of all labels; `sums` says whether they are summed over, for which products may be added up in
    /// another order.
    fn score(&self, row: Row<'_>, w: &[f64], sums: bool, scores: &mut Self::Scores);

    /// Writes `scale * phi(x, y)`.
    fn features(&self, row: Row<'_>, y: u32, scale: f64, out: &mut Plane);

    /// Writes `scale * (phi(x, y) - phi(x, truth))` of two different labels, its indices sorted.
    fn difference(&self, row: Row<'_>, truth: u32, y: u32, scale: f64, out: &mut Plane);

    /// Writes `out[k] = <w, phi(x, labels[k]) - phi(x, truth)>`.
    fn linear_scores(&self, row: Row<'_>, w: &[f64], truth: u32, labels: &[u32], room: &mut RowRoom, out: &mut [f64]);

    /// Adds `sum_k scale amounts[k] (phi(x, labels[k]) - phi(x, truth))` to `target`.
    fn add_planes(&self, row: Row<'_>, truth: u32, labels: (&[u32], &[f64]), scale: f64, target: &mut [f64]);

    /// Writes the plane of a distribution over the labels, times `scale`, its loss as well.
    fn expected(&self, row: Row<'_>, truth: u32, marginals: &[f64], costs: &CostTable, scale: f64, out: &mut Plane);

    /// Returns the number of features of a row.
    fn columns(&self) -> usize;

    /// Bounds the terms of scores by the sizes of the rows.
    fn magnitudes(&self, sizes: RowSizes) -> Magnitudes;

    /// Returns the tables that w is made of.
    fn tables(&self) -> Vec<WeightTable>;

    /// Returns the hinge by plain code; `costs` are those of answers.
    fn reference_hinge(&self, row: Row<'_>, truth: u32, costs: &[f64], w: &[f64]) -> f64;

    /// Hands over `phi(x, y) - phi(x, truth)` by plain code.
    fn reference_difference(&self, row: Row<'_>, truth: u32, y: u32, add: &mut dyn FnMut(usize, f64));
}

/// Room of planes by code: the truth and the labels of planes, and their scores.
#[derive(Debug, Default)]
pub struct RowRoom {
    pub(super) labels: Vec<u32>,
    pub(super) scores: Vec<f64>,
}

/// Working memory of decoder and planes by code.
#[derive(Debug, Default)]
pub struct RowScratch<S> {
    scores: S,
    room: RowRoom,
}

/// A task with one label per row: its weights and costs.
#[derive(Clone, Debug)]
pub struct RowTask<R> {
    pub(super) weights: R,
    pub(super) costs: CostTable,
}

impl<R: RowLayout> RowTask<R> {
    /// Writes the scores of all labels, with the loss where there is a truth.
    fn score<'a>(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        sums: bool,
        scores: &'a mut R::Scores,
    ) -> &'a mut [f64] {
        self.weights.score(question.input.row(0), w, sums, scores);
        let scores = scores.as_mut();
        if let Some(&truth) = question.truth {
            linalg::axpy(self.costs.factor(1), self.costs.row(truth), scores);
        }
        scores
    }
}

impl<R: RowLayout> Task for RowTask<R> {
    type Input = SparseRows;
    type Label = u32;
    type Scratch = RowScratch<R::Scores>;
    type Memory = ();

    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn features(&self, x: &SparseRows, y: &u32, scale: f64, out: &mut Plane) {
        self.weights.features(x.row(0), *y, scale, out);
    }

    fn loss(&self, truth: &u32, y: &u32) -> f64 {
        self.costs.loss(&[*truth], &[*y])
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(self.weights.prices(x))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        Some(self.costs.largest_loss(&[*example.truth]))
    }

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut u32,
    ) -> Result<Quality, String> {
        self.decode_diverse(question, w, DiversityPenalty::default(), work, out)
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, example: ExampleOf<'_, Self>, y: &u32, scale: f64, _: WorkspaceOf<'_, Self>, out: &mut Plane) {
        out.clear();
        if y != example.truth {
            self.weights.difference(example.input.row(0), *example.truth, *y, scale, out);
            out.set_circ(scale * self.loss(example.truth, y));
        }
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities {
            variables: Some(self),
            coded_planes: Some(self),
            magnitudes: Some(self),
            kbest: Some(self),
            marginals: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl<R: RowLayout> LabelledVariables<Self> for RowTask<R> {
    fn labels<'a>(&self, y: &'a u32) -> &'a [u32] {
        std::slice::from_ref(y)
    }

    fn labelling(&self, labels: Vec<u32>) -> u32 {
        labels[0]
    }

    fn variables(&self, _: &SparseRows) -> usize {
        1
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.weights.labels()
    }
}

impl<R: RowLayout> KBest<Self> for RowTask<R> {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [u32],
    ) -> Result<(usize, Quality), String> {
        Ok((kbest::top_of_one(self.score(question, w, false, &mut work.scratch.scores), out), Quality::Exact))
    }

    fn decode_diverse(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        penalty: DiversityPenalty<'_>,
        work: WorkspaceOf<'_, Self>,
        out: &mut u32,
    ) -> Result<Quality, String> {
        *out = kbest::best_of_one(self.score(question, w, false, &mut work.scratch.scores), penalty);
        Ok(Quality::Exact)
    }

    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.score(question, w, false, &mut work.scratch.scores).clone_into(out);
        Ok(())
    }
}

impl<R: RowLayout> CodedFeatures<Self> for RowTask<R> {
    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut RowScratch<R::Scores>,
        out: &mut [f64],
    ) {
        let (row, truth) = (example.input.row(0), *example.truth);
        self.weights.linear_scores(row, w, truth, planes.codes, &mut scratch.room, out);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        _: &mut RowScratch<R::Scores>,
        target: &mut [f64],
    ) {
        self.weights.add_planes(example.input.row(0), *example.truth, (planes.codes, amounts), scale, target);
    }
}

impl<R: RowLayout> ScoreMagnitudes<Self> for RowTask<R> {
    fn magnitudes(&self, examples: &Examples<SparseRows, u32>) -> Magnitudes {
        let sizes = sizes(examples, self.weights.columns(), &self.costs, |x| x, std::slice::from_ref, true);
        self.weights.magnitudes(sizes)
    }
}

/// The marginals are the distribution itself, `[label]`.
impl<R: RowLayout> LabelMarginals<Self> for RowTask<R> {
    fn len(&self, _: &SparseRows) -> usize {
        self.weights.labels()
    }

    fn all_on(&self, _: &SparseRows, y: &u32, to: &mut [f64]) {
        to.fill(0.0);
        to[*y as usize] = 1.0;
    }

    fn gibbs(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        tau: f64,
        from: &[f64],
        work: WorkspaceOf<'_, Self>,
        to: &mut [f64],
    ) -> Result<f64, String> {
        let truth = question.truth.copied();
        let scores = self.score(question, w, true, &mut work.scratch.scores);
        let of_truth = truth.map_or(0.0, |truth| scores[truth as usize]);
        let value = marginals::gibbs(scores, tau, from, to);
        Ok(if tau.is_finite() { value - of_truth } else { value })
    }

    fn expected(
        &self,
        example: ExampleOf<'_, Self>,
        marginals: &[f64],
        scale: f64,
        _: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        out.clear();
        self.weights.expected(example.input.row(0), *example.truth, marginals, &self.costs, scale, out);
        out.seal();
    }

    fn entropy(&self, _: &SparseRows, marginals: &[f64]) -> f64 {
        marginals::entropy(marginals)
    }
}

impl<R: RowLayout> BuiltinTask for RowTask<R> {
    type Vocabulary = RowVocabulary;

    const REFERENCE_ROUNDOFF: f64 = reference::ROUNDOFF;

    fn show(&self, y: &u32, vocabulary: &RowVocabulary) -> String {
        vocabulary.label(*y).into()
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &u32, w: &[f64]) -> f64 {
        self.weights.reference_hinge(x.row(0), *truth, self.costs.row(*truth), w)
    }

    fn reference_plane(
        &self,
        x: &SparseRows,
        truth: &u32,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        let &[label] = code else { return None };
        if label as usize >= self.weights.labels() {
            return None;
        }
        self.weights.reference_difference(x.row(0), *truth, label, add);
        Some(self.costs.loss(&[*truth], &[label]))
    }

    fn is_known(&self, truth: &u32) -> bool {
        *truth != UNLABELLED
    }

    fn has_hinge(&self, _: &SparseRows, truth: &u32) -> bool {
        (*truth as usize) < self.weights.labels()
    }

    fn label_report(&self, vocabulary: &RowVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()).with_unseen(UNSEEN))
    }

    fn rows<'a>(&self, x: &'a SparseRows) -> Option<&'a SparseRows> {
        Some(x)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        self.weights.tables()
    }
}

/// The kernel of a task on rows, as its parameters say.
pub(super) struct RowKernelOptions {
    pub(super) kernel: KernelSpec,
    pub(super) store: KernelStore,
    pub(super) budget: Option<u32>,
    pub(super) bias: bool,
}

impl RowKernelOptions {
    /// Opens rows: with a kernel where there is one, `used` says whether by a model; `weights` makes weights for so many
    /// features.
    pub(super) fn open<R: RowLayout>(
        self,
        name: &'static str,
        (data, used): (&Dataset, bool),
        rows: LabelledRows,
        costs: CostTable,
        weights: impl Fn(usize) -> R,
    ) -> Result<Box<dyn Problem>, OpenError> {
        let RowKernelOptions { kernel, store, budget, bias } = self;
        let (kernel, of_row) = (kernel.kernel(), weights(1));
        kernelized::check_budget(budget, kernel)?;
        store.validate(kernel).map_err(|error| error.under("kernel_rows"))?;
        let Some(kernel) = kernel else {
            let task = RowTask { weights: weights(rows.vocabulary.features), costs };
            return rows.into_problem(name, task);
        };
        let (labels, layout) = (of_row.dim(), Layout::LabelMajor);
        let columns = data.get::<Classified>().map_or(0, |data| data.rows.columns());
        let options = KernelOptions { kernel, store, budget, bias, labels, layout, columns };
        kernelized::open(name, rows, options, used, |features| RowTask { weights: weights(features), costs })
    }
}
