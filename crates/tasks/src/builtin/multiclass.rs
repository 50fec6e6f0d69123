//! Multi-class classification by enumeration: `phi(x, y)` is x in the block of class y (MP-BCFW paper, Eq. 7-8).
//!
//! Weights: `[class][feature]`. An oracle call costs one product of x with the weight matrix.

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
use crate::builtin::several::single::first_best;
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
pub const ENTRY: TaskEntry = TaskEntry::new::<MulticlassSpec>("multiclass")
    .summary("several classes (Crammer-Singer)")
    .reads(&[&libsvm::FORMAT, &csv::FORMAT])
    .layout("[class][feature]")
    .oracle("enumeration")
    .lists_several()
    .sums();

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MulticlassSpec {
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
    /// Factors on the loss by true class: a list, in sorted order of the labels; by name as in
    /// `task.class_weights.cat=2`, 1 for those left out; or `balanced`, n / (labels * how often the label is true).
    /// Models hold the list.
    pub class_weights: Option<ClassWeights>,
}

/// The task: classes, features, costs.
#[derive(Clone, Debug)]
pub struct Multiclass {
    pub(super) features: usize,
    pub(super) costs: CostTable,
    pub(super) classes: usize,
}

impl Multiclass {
    /// Makes a task of `classes` classes on rows of `features` features.
    pub fn new(classes: usize, features: usize, costs: CostTable) -> Self {
        Multiclass { features, costs, classes }
    }

    /// Scores of all classes, with the loss where there is a truth.
    pub(super) fn score_classes(&self, question: QuestionOf<'_, Self>, w: &[f64], scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(self.classes, 0.0);
        let row = question.input.row(0);
        linalg::sparse_row_scores(row.indices, row.values, w, self.features, scores);
        if let Some(&truth) = question.truth {
            linalg::axpy(self.costs.factor(1), self.costs.row(truth), scores);
        }
    }
}

/// Working memory of decoder and planes by code.
#[derive(Debug, Default)]
pub struct MulticlassScratch {
    pub(super) scores: Vec<f64>,
    /// The truth and the classes of planes.
    classes: Vec<u32>,
}

impl Task for Multiclass {
    type Input = SparseRows;
    type Label = u32;
    type Scratch = MulticlassScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.classes * self.features
    }

    fn features(&self, x: &SparseRows, y: &u32, scale: f64, out: &mut Plane) {
        let start = *y * self.features as u32;
        let row = x.row(0);
        out.extend_scaled(start, row.indices, scale, row.values);
    }

    fn loss(&self, truth: &u32, y: &u32) -> f64 {
        self.costs.loss(&[*truth], &[*y])
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(prices::of_multiclass(x, self.classes, self.dim()))
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
        self.score_classes(question, w, &mut work.scratch.scores);
        *out = first_best(&work.scratch.scores);
        Ok(Quality::Exact)
    }

    fn reads(&self, x: &SparseRows, each: &mut dyn FnMut(u32, &[u32])) -> bool {
        (0..self.classes).for_each(|class| each((class * self.features) as u32, x.row(0).indices));
        true
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, example: ExampleOf<'_, Self>, y: &u32, scale: f64, _: WorkspaceOf<'_, Self>, out: &mut Plane) {
        let (x, truth) = (example.input, example.truth);
        out.clear();
        if y != truth {
            // The lower block first, so that the indices come sorted.
            let (first, sign) = if y < truth { (y, scale) } else { (truth, -scale) };
            self.features(x, first, sign, out);
            self.features(x, if y < truth { truth } else { y }, -sign, out);
            out.set_circ(scale * self.loss(truth, y));
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

impl LabelCodes<Multiclass> for Multiclass {
    fn encode(&self, y: &u32, code: &mut Vec<u32>) {
        code.clear();
        code.push(*y);
    }

    fn is_code(&self, _truth: &u32, code: &[u32]) -> bool {
        matches!(code, [class] if (*class as usize) < self.classes)
    }
}

impl CodedFeatures<Multiclass> for Multiclass {
    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut MulticlassScratch,
        out: &mut [f64],
    ) {
        let row = example.input.row(0);
        let (classes, scores) = (&mut scratch.classes, &mut scratch.scores);
        classes.clear();
        classes.push(*example.truth);
        classes.extend_from_slice(planes.codes);
        scores.clear();
        scores.resize(classes.len(), 0.0);
        linalg::some_row_scores(row.indices, row.values, w, self.features, classes, scores);
        out.iter_mut().zip(&scores[1..]).for_each(|(out, score)| *out = score - scores[0]);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        _: &mut MulticlassScratch,
        target: &mut [f64],
    ) {
        let row = example.input.row(0);
        let mut add = |class: u32, amount: f64| {
            if amount != 0.0 {
                let weights = &mut target[class as usize * self.features..][..self.features];
                linalg::add_sparse_row(scale * amount, row.indices, row.values, weights);
            }
        };
        planes.codes.iter().zip(amounts).for_each(|(&class, &amount)| add(class, amount));
        add(*example.truth, -amounts.iter().sum::<f64>());
    }
}

impl ScoreMagnitudes<Multiclass> for Multiclass {
    fn magnitudes(&self, examples: &Examples<SparseRows, u32>) -> Magnitudes {
        let sizes = sizes(examples, self.features, &self.costs, |x| x, std::slice::from_ref, true);
        Magnitudes::new(sizes.loss, sizes.additions, sizes.rows).with_table(
            0,
            self.classes,
            Layout::LabelMajor,
            sizes.columns,
        )
    }
}

/// The tables of the weights in files; features are counted from 1, as in files of them.
fn tables(classes: usize, features: usize) -> Vec<WeightTable> {
    vec![WeightTable::new("unary", [Axis::labels("label", classes), Axis::features("feature", features, 1)])]
}

impl BuiltinTask for Multiclass {
    type Vocabulary = RowVocabulary;

    fn is_known(&self, truth: &u32) -> bool {
        *truth != UNLABELLED
    }

    fn has_hinge(&self, _: &SparseRows, truth: &u32) -> bool {
        (*truth as usize) < self.classes
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.classes, self.features)
    }

    fn label_report(&self, vocabulary: &RowVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()).with_unseen(UNSEEN))
    }

    fn variables<'a>(&self, y: &'a u32) -> Option<&'a [u32]> {
        Some(std::slice::from_ref(y))
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.classes
    }

    fn neighbours(&self, _: &SparseRows, y: &u32, most: usize, rng: &mut Rng) -> Vec<u32> {
        one_changed(&[*y], |_| self.classes, most, rng).concat()
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
        reference::rows_hinge(x.row(0), *truth as usize, self.costs.row(*truth), w, self.features)
    }

    fn reference_plane(
        &self,
        x: &SparseRows,
        truth: &u32,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        let &[class] = code else { return None };
        if class as usize >= self.classes {
            return None;
        }
        reference::row_features(x.row(0), class as usize * self.features, 1.0, add);
        reference::row_features(x.row(0), *truth as usize * self.features, -1.0, add);
        Some(self.costs.loss(&[*truth], &[class]))
    }

    fn show(&self, y: &u32, vocabulary: &RowVocabulary) -> String {
        vocabulary.label(*y).into()
    }
}

impl TaskSpec for MulticlassSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let options = RowOptions { bias: self.bias, weights_per_label: true };
        let rows = LabelledRows::read(ENTRY.name, &data, options, vocabulary)?.scaled(self.scale, vocabulary)?;
        let classes = rows.vocabulary.labels.len();
        let costs = CostTable::new(&self.loss, ClassWeights::list(self.class_weights.as_ref())?, classes)?;
        let kernel = self.kernel.kernel();
        self.kernel_budget.validate(kernel).map_err(|error| error.under("kernel_budget"))?;
        self.kernel_rows.validate(kernel).map_err(|error| error.under("kernel_rows"))?;
        if let Some(kernel) = kernel {
            let options = KernelOptions {
                kernel,
                store: self.kernel_rows,
                budget: self.kernel_budget,
                bias: self.bias,
                labels: classes,
                layout: Layout::LabelMajor,
                columns: data.get::<Classified>().map_or(0, |data| data.rows.columns()),
            };
            let task = |features| Multiclass::new(classes, features, costs);
            return kernelized::open(ENTRY.name, rows, options, vocabulary.is_some(), task);
        }
        let task = Multiclass::new(classes, rows.vocabulary.features, costs);
        rows.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: RowVocabulary = vocabulary.read()?;
        Ok(kernelized::tables(with_bias(tables(known.labels.len(), known.features), self.bias), &known))
    }
}
