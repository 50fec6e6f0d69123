//! One label per row, whatever weights the labels have: what `binary` and `multiclass` are but for these.

use std::fmt::Debug;

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelMarginals, LabelledVariables, Question, ScoreMagnitudes, Task,
    TaskCapabilities, UNLABELLED,
};

use crate::builtin::kernelized::{self, KernelOptions, KernelVocabulary};
use crate::builtin::magnitudes::{RowSizes, sizes};
use crate::builtin::marginals;
use crate::builtin::pairwise::kbest;
use crate::builtin::rows::{LabelledRows, RowOptions, RowSpec, RowVocabulary};
use crate::builtin::task::BuiltinTask;
use crate::class_weights::ClassWeights;
use crate::data::{Classified, Row, SparseRows};
use crate::dataset::Dataset;
use crate::losses::{CostTable, UNSEEN};
use crate::metrics::LabelReport;
use crate::problem::tables::{WeightTable, with_bias};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::reference::{self, AddFeature};

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

    /// Returns `|phi(x, y)|^2` if it is the same for all labels and their features do not overlap.
    fn square(&self, _row: Row<'_>) -> Option<f64> {
        None
    }

    /// Writes `out[k] = <w, phi(x, labels[k]) - phi(x, truth)>`.
    fn linear_scores(&self, row: Row<'_>, w: &[f64], truth: u32, labels: &[u32], room: &mut RowRoom, out: &mut [f64]);

    /// Adds `sum_k scale amounts[k] (phi(x, labels[k]) - phi(x, truth))` to `target`.
    fn add_planes(
        &self,
        row: Row<'_>,
        truth: u32,
        labels: (&[u32], &[f64]),
        scale: f64,
        room: &mut RowRoom,
        target: &mut [f64],
    );

    /// Writes the plane of a distribution over the labels, times `scale`, its loss as well.
    fn expected(&self, row: Row<'_>, truth: u32, marginals: &[f64], costs: &CostTable, scale: f64, out: &mut Plane);

    /// Returns the number of features of a row, and how the weights of the labels lie in training; files have them
    /// label by label.
    fn columns(&self) -> (usize, Layout);

    /// Bounds the terms of scores by the sizes of the rows.
    fn magnitudes(&self, sizes: RowSizes) -> Magnitudes;

    /// Returns the tables that w is made of.
    fn tables(&self) -> Vec<WeightTable>;

    /// Returns the hinge by plain code; `costs` are those of answers.
    fn reference_hinge(&self, row: Row<'_>, truth: u32, costs: &[f64], w: &[f64]) -> f64;

    /// Hands over `phi(x, y) - phi(x, truth)` by plain code.
    fn reference_difference(&self, row: Row<'_>, truth: u32, y: u32, add: AddFeature<'_>);
}

/// Room of planes by code: the truth and the labels of planes, their scores, and what is added to weights of labels.
#[derive(Debug, Default)]
pub struct RowRoom {
    pub(super) labels: Vec<u32>,
    pub(super) scores: Vec<f64>,
    pub(super) moved: Vec<(u32, f64)>,
}

/// Working memory of decoder and planes by code.
#[derive(Debug, Default)]
pub struct RowScratch<S> {
    scores: S,
    /// The example whose scores, with the loss, these are; `None` after other questions than the decoder's.
    scored: Option<usize>,
    room: RowRoom,
}

/// A task with one label per row: its weights and costs.
#[derive(Clone, Debug)]
pub struct RowTask<R> {
    pub(super) weights: R,
    pub(super) costs: CostTable,
}

impl<R: RowLayout> RowTask<R> {
    /// Writes the scores of all labels, the loss added if there is a truth, penalties taken off.
    fn score<'a>(&self, question: Question<'_, Self>, sums: bool, scores: &'a mut R::Scores) -> &'a mut [f64] {
        let Question { input: x, truth, w, penalty, .. } = question;
        self.weights.score(x.row(0), w, sums, scores);
        let scores = scores.as_mut();
        if let Some(&truth) = truth {
            linalg::axpy(self.costs.factor(1), self.costs.row(truth), scores);
        }
        penalty.each(1, |_, label, penalty| scores[label as usize] -= penalty);
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

    fn decode(&self, call: Call<'_, Self>, out: &mut u32) -> Result<Quality, String> {
        let Call { question, scratch, .. } = call;
        scratch.scored = question.truth.map(|_| question.index);
        *out = kbest::best_of_one(self.score(question, false, &mut scratch.scores));
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &u32, out: &mut Plane) {
        let Case { input: x, truth, scale, .. } = case;
        out.clear();
        if y != truth {
            self.weights.difference(x.row(0), *truth, *y, scale, out);
            out.set_circ(scale * self.loss(truth, y));
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
    fn variables(&self, _: &SparseRows) -> usize {
        1
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.weights.labels()
    }
}

impl<R: RowLayout> KBest<Self> for RowTask<R> {
    fn top(&self, call: Call<'_, Self>, out: &mut [u32]) -> Result<(usize, Quality), String> {
        call.scratch.scored = None;
        Ok((kbest::top_of_one(self.score(call.question, false, &mut call.scratch.scores), out), Quality::Exact))
    }

    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        call.scratch.scored = None;
        self.score(call.question, false, &mut call.scratch.scores).clone_into(out);
        Ok(Quality::Exact)
    }
}

impl<R: RowLayout> CodedFeatures<Self> for RowTask<R> {
    fn linear_scores(&self, case: Case<'_, Self>, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        let (row, room) = (case.input.row(0), &mut case.scratch.room);
        self.weights.linear_scores(row, w, *case.truth, planes.codes, room, out);
    }

    fn add_planes(&self, case: Case<'_, Self>, planes: Coded<'_>, amounts: &[f64], target: &mut [f64]) {
        let (row, room) = (case.input.row(0), &mut case.scratch.room);
        self.weights.add_planes(row, *case.truth, (planes.codes, amounts), case.scale, room, target);
    }

    fn inner_products(&self, case: Case<'_, Self>, planes: Coded<'_>, code: &[u32], out: &mut Vec<f64>) -> bool {
        let Some(square) = self.weights.square(case.input.row(0)) else { return false };
        let square = case.scale * case.scale * square;
        let same = |label: &u32| f64::from(u8::from([*label] == code));
        out.extend(planes.codes.iter().map(|label| square * (1.0 + same(label))));
        out.push(2.0 * square);
        true
    }

    /// The scores of all labels are known, and a row moves them without a look at the weights.
    fn answer_after(
        &self,
        case: Case<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        above: f64,
        out: &mut u32,
    ) -> Option<f64> {
        let RowScratch { scores, scored, .. } = case.scratch;
        let square = self.weights.square(case.input.row(0)).filter(|_| *scored == Some(case.index))?;
        let (scores, truth) = (scores.as_mut(), *case.truth as usize);
        for (&label, amount) in planes.codes.iter().zip(amounts) {
            let moved = case.scale * square * amount;
            scores[label as usize] += moved;
            scores[truth] -= moved;
        }
        *out = kbest::best_of_one(scores);
        let score = scores[*out as usize] - scores[truth];
        (score > above).then_some(score)
    }
}

impl<R: RowLayout> ScoreMagnitudes<Self> for RowTask<R> {
    fn magnitudes(&self, examples: &Examples<SparseRows, u32>) -> Magnitudes {
        let (columns, layout) = self.weights.columns();
        let dense = layout == Layout::LabelMajor;
        let sizes = sizes(examples, columns, |x| x, |y| self.costs.largest_loss(&[*y]), dense);
        self.weights.magnitudes(sizes)
    }
}

/// The marginals are the distribution itself, `[label]`.
impl<R: RowLayout> LabelMarginals<Self> for RowTask<R> {
    fn len(&self, _: ExampleOf<'_, Self>) -> Result<usize, String> {
        Ok(self.weights.labels())
    }

    fn all_on(&self, example: ExampleOf<'_, Self>, to: &mut [f64]) {
        to.fill(0.0);
        to[*example.truth as usize] = 1.0;
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        call.scratch.scored = None;
        let truth = call.question.truth;
        let scores = self.score(call.question, true, &mut call.scratch.scores);
        let of_truth = truth.map_or(0.0, |truth| scores[*truth as usize]);
        let value = marginals::gibbs(scores, tau, from, to);
        Ok(if tau.is_finite() { value - of_truth } else { value })
    }

    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let Case { input: x, truth, scale, .. } = case;
        out.clear();
        self.weights.expected(x.row(0), *truth, marginals, &self.costs, scale, out);
        out.seal();
    }

    fn calls(&self) -> f64 {
        2.5
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

    fn reference_plane(&self, x: &SparseRows, truth: &u32, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
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

    fn transposed(&self) -> Vec<[usize; 2]> {
        match self.weights.columns() {
            (_, Layout::LabelMajor) => Vec::new(),
            (columns, Layout::ColumnMajor) => vec![[columns, self.weights.labels()]],
        }
    }
}

impl RowSpec {
    /// Reads the rows; `weights_per_label` if every label has weights of its own for each feature.
    pub(super) fn read(
        &self,
        task: &str,
        data: &Dataset,
        vocabulary: Option<&Vocabulary>,
        weights_per_label: bool,
    ) -> Result<LabelledRows, OpenError> {
        let options = RowOptions { bias: self.bias, weights_per_label };
        LabelledRows::read(task, data, options, vocabulary)?.scaled(self.scale, vocabulary)
    }

    /// Opens rows: with a kernel where there is one, `used` says whether by a model; `weights` makes weights for so
    /// many features.
    pub(super) fn open<R: RowLayout>(
        &self,
        name: &'static str,
        (data, used): (&Dataset, bool),
        rows: LabelledRows,
        weights: impl Fn(usize) -> R,
    ) -> Result<Box<dyn Problem>, OpenError> {
        let (factors, of_row) = (ClassWeights::list(self.class_weights.as_ref())?, weights(1));
        let costs = CostTable::new(&self.loss, factors, of_row.labels())?;
        let (kernel, store, budget, bias) = (self.kernel.kernel(), self.kernel_rows, self.kernel_budget, self.bias);
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

    /// Returns the tables of a model's weights, which are these `tables` without a kernel and a bias.
    pub(super) fn weight_tables(
        &self,
        vocabulary: &Vocabulary,
        tables: impl FnOnce(&RowVocabulary) -> Vec<WeightTable>,
    ) -> Result<Vec<WeightTable>, OpenError> {
        let mut known: RowVocabulary = vocabulary.read()?;
        Ok(kernelized::tables(with_bias(tables(&known), self.bias), known.of_kernel()))
    }
}
