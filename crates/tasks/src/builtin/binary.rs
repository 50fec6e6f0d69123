//! Binary classification: `phi(x, y) = y x / 2` with y = -1 for the first label and +1 for the second.
//!
//! Weights: `[feature]`. With `Delta = [y != y']` the hinge is the SVM's `max(0, 1 - y <w, x>)` (thesis of He,
//! Eq. 1.12-1.15).

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, ExampleOf, LabelCodes, QuestionOf, ScoreMagnitudes, Task, TaskCapabilities, WorkspaceOf,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::kernelized::{self, KernelBudget, KernelOptions, KernelSpec};
use crate::builtin::magnitudes::sizes;
use crate::builtin::neighbours::one_changed;
use crate::builtin::pairwise::UNLABELLED;
use crate::builtin::prices;
use crate::builtin::rows::{LabelledRows, RowOptions, RowVocabulary};
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::task::BuiltinTask;
use crate::class_weights::ClassWeights;
use crate::data::{Classified, SparseRows, csv, libsvm};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::kernel::KernelStore;
use crate::losses::{CostTable, LossSpec, UNSEEN};
use crate::metrics::LabelReport;
use crate::problem::tables::{Axis, WeightTable, with_bias};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::reference;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<BinarySpec>("binary")
    .summary("two classes")
    .reads(&[&libsvm::FORMAT, &csv::FORMAT])
    .layout("[feature]")
    .oracle("the other label")
    .shares_table()
    .lists_several()
    .sums();

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BinarySpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// What the columns of features are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// What takes the place of inner products of rows: then the model is a sum over training rows. All solvers but
    /// `fw` and partial linearisation take it.
    pub kernel: KernelSpec,
    /// How rows of the kernel's matrix are kept in training.
    pub kernel_rows: KernelStore,
    /// How many rows a model may hold, and what becomes of the others once training has ended: `removal`, `projection` or
    /// `merging`, with `rows` as the bound. P and the gap are those of the model that is left.
    pub kernel_budget: KernelBudget,
    /// What a wrong answer costs; `hamming` is the 0-1 loss here. The oracle adds it to the scores, and evaluation
    /// reports its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// Factors on the loss by true label: a list, the lower label first; by name as in `task.class_weights.1=5`, 1
    /// for those left out; or
    /// `balanced`, n / (2 * how often the label is true). Models hold the list.
    pub class_weights: Option<ClassWeights>,
}

/// The task: features and costs.
#[derive(Clone, Debug)]
pub struct Binary {
    features: usize,
    pub(super) costs: CostTable,
}

impl Binary {
    /// Makes a task on rows of `features` features; `costs` must be for two labels.
    pub fn new(features: usize, costs: CostTable) -> Self {
        Binary { features, costs }
    }

    /// Scores of both labels, with the loss where there is a truth.
    pub(super) fn score_labels(&self, question: QuestionOf<'_, Self>, w: &[f64]) -> [f64; 2] {
        let mut score = [0.0];
        let row = question.input.row(0);
        linalg::sparse_row_scores(row.indices, row.values, w, self.features, &mut score);
        let mut scores = [-0.5 * score[0], 0.5 * score[0]];
        if let Some(&truth) = question.truth {
            for (score, cost) in scores.iter_mut().zip(self.costs.row(truth)) {
                *score += self.costs.factor(1) * cost;
            }
        }
        scores
    }
}

/// -1 for label 0, +1 for label 1.
fn sign(label: u32) -> f64 {
    if label == 0 { -1.0 } else { 1.0 }
}

impl Task for Binary {
    type Input = SparseRows;
    type Label = u32;
    type Scratch = ();
    type Memory = ();

    fn dim(&self) -> usize {
        self.features
    }

    fn features(&self, x: &SparseRows, y: &u32, scale: f64, out: &mut Plane) {
        let row = x.row(0);
        out.extend_scaled(0, row.indices, scale * 0.5 * sign(*y), row.values);
    }

    fn loss(&self, truth: &u32, y: &u32) -> f64 {
        self.costs.loss(&[*truth], &[*y])
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(prices::of_binary(x, self.dim()))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        Some(self.costs.largest_loss(&[*example.truth]))
    }

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        _: WorkspaceOf<'_, Self>,
        out: &mut u32,
    ) -> Result<Quality, String> {
        let scores = self.score_labels(question, w);
        *out = u32::from(scores[1] > scores[0]);
        Ok(Quality::Exact)
    }

    fn reads(&self, x: &SparseRows, each: &mut dyn FnMut(u32, &[u32])) -> bool {
        each(0, x.row(0).indices);
        true
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, example: ExampleOf<'_, Self>, y: &u32, scale: f64, _: WorkspaceOf<'_, Self>, out: &mut Plane) {
        out.clear();
        if y != example.truth {
            self.features(example.input, y, 2.0 * scale, out); // phi(x, y) - phi(x, -y) = 2 phi(x, y)
            out.set_circ(scale * self.loss(example.truth, y));
        }
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities {
            codes: Some(self),
            coded_planes: Some(self),
            magnitudes: Some(self),
            top: Some(self),
            diverse: Some(self),
            max_marginals: Some(self),
            marginals: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl LabelCodes<Binary> for Binary {
    fn encode(&self, y: &u32, code: &mut Vec<u32>) {
        code.clear();
        code.push(*y);
    }

    fn is_code(&self, _truth: &u32, code: &[u32]) -> bool {
        matches!(code, [0..=1])
    }
}

/// `phi(x, y) - phi(x, truth)` is x times half the difference of signs: 0 or -1 or 1.
impl CodedFeatures<Binary> for Binary {
    fn linear_scores(&self, example: ExampleOf<'_, Self>, w: &[f64], planes: Coded<'_>, _: &mut (), out: &mut [f64]) {
        let row = example.input.row(0);
        let score = linalg::sparse_row_score(row.indices, row.values, w);
        for (out, &label) in out.iter_mut().zip(planes.codes) {
            *out = 0.5 * (sign(label) - sign(*example.truth)) * score;
        }
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        _: &mut (),
        target: &mut [f64],
    ) {
        let of_plane = |(&label, amount): (&u32, &f64)| 0.5 * (sign(label) - sign(*example.truth)) * amount;
        let amount: f64 = planes.codes.iter().zip(amounts).map(of_plane).sum();
        if amount != 0.0 {
            let row = example.input.row(0);
            linalg::add_sparse_row(scale * amount, row.indices, row.values, target);
        }
    }
}

impl ScoreMagnitudes<Binary> for Binary {
    fn magnitudes(&self, examples: &Examples<SparseRows, u32>) -> Magnitudes {
        let mut sizes = sizes(examples, self.features, &self.costs, |x| x, std::slice::from_ref, true);
        sizes.columns.iter_mut().for_each(|column| *column *= 0.5); // phi(x, y) = y x / 2
        Magnitudes::new(sizes.loss, sizes.additions, sizes.rows).with_table(0, 1, Layout::LabelMajor, sizes.columns)
    }
}

/// The tables of the weights in files; features are counted from 1, as in files of them.
fn tables(features: usize) -> Vec<WeightTable> {
    vec![
        WeightTable::new("feature", [Axis::features("feature", features, 1)])
            .noted("above 0 they speak for the second label, below for the first"),
    ]
}

impl BuiltinTask for Binary {
    type Vocabulary = RowVocabulary;

    fn is_known(&self, truth: &u32) -> bool {
        *truth != UNLABELLED
    }

    fn has_hinge(&self, _: &SparseRows, truth: &u32) -> bool {
        (*truth as usize) < 2
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.features)
    }

    fn label_report(&self, vocabulary: &RowVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()).with_unseen(UNSEEN))
    }

    fn variables<'a>(&self, y: &'a u32) -> Option<&'a [u32]> {
        Some(std::slice::from_ref(y))
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        2
    }

    fn neighbours(&self, _: &SparseRows, y: &u32, most: usize, rng: &mut Rng) -> Vec<u32> {
        one_changed(&[*y], |_| 2, most, rng).concat()
    }

    fn fits(&self, _: &SparseRows, _: &u32) -> bool {
        true
    }

    fn rows<'a>(&self, x: &'a SparseRows) -> Option<&'a SparseRows> {
        Some(x)
    }

    fn reference_roundoff(&self) -> f64 {
        reference::ROUNDOFF
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &u32, w: &[f64]) -> f64 {
        reference::binary_hinge(x.row(0), sign(*truth), self.costs.row(*truth)[1 - *truth as usize], w)
    }

    fn reference_plane(
        &self,
        x: &SparseRows,
        truth: &u32,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        let &[label @ 0..=1] = code else { return None };
        reference::row_features(x.row(0), 0, 0.5 * (sign(label) - sign(*truth)), add);
        Some(self.costs.loss(&[*truth], &[label]))
    }

    fn show(&self, y: &u32, vocabulary: &RowVocabulary) -> String {
        vocabulary.label(*y).into()
    }
}

impl TaskSpec for BinarySpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let options = RowOptions { bias: self.bias, weights_per_label: false };
        let rows = LabelledRows::read(ENTRY.name, &data, options, vocabulary)?;
        let mut rows = rows.scaled(self.scale, vocabulary)?;
        let labels = &rows.vocabulary.labels;
        match labels.len() {
            2 => {}
            1 => rows.complete_single_label(),
            _ => {
                let shown = labels.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                let (found, more) = (labels.len(), if labels.len() > 5 { ", ..." } else { "" });
                return Err(OpenError::new(format!(
                    "task `binary` needs two labels, found {found} ({shown}{more}): use task=multiclass"
                )));
            }
        }
        let costs = CostTable::new(&self.loss, ClassWeights::list(self.class_weights.as_ref())?, 2)?;
        let kernel = self.kernel.kernel();
        self.kernel_budget.validate(kernel).map_err(|error| error.under("kernel_budget"))?;
        self.kernel_rows.validate(kernel).map_err(|error| error.under("kernel_rows"))?;
        if let Some(kernel) = kernel {
            let options = KernelOptions {
                kernel,
                store: self.kernel_rows,
                budget: self.kernel_budget,
                bias: self.bias,
                labels: 1,
                layout: Layout::LabelMajor,
                columns: data.get::<Classified>().map_or(0, |data| data.rows.columns()),
            };
            let task = |features| Binary::new(features, costs);
            return kernelized::open(ENTRY.name, rows, options, vocabulary.is_some(), task);
        }
        let task = Binary::new(rows.vocabulary.features, costs);
        rows.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: RowVocabulary = vocabulary.read()?;
        Ok(kernelized::tables(with_bias(tables(known.features), self.bias), &known))
    }
}
