//! Multi-class classification by enumeration: `phi(x, y)` is x in the block of class y (MP-BCFW paper, Eq. 7-8).
//!
//! Weights: `[class][feature]`; in training `[feature][class]` if rows are sparse, so that the scores of all classes
//! are sums of short stretches. An oracle call costs one product of x with the weight matrix.

use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::Prices;
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::classes::{RowLayout, RowRoom, RowTask};
use crate::builtin::magnitudes::RowSizes;
use crate::builtin::prices;
use crate::builtin::rows::{LabelledRows, RowSpec};
use crate::data::{Row, SparseRows, csv, libsvm};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::CostTable;
use crate::problem::tables::{Axis, WeightTable};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::reference::{self, AddFeature};

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
#[serde(transparent)]
pub struct MulticlassSpec(pub RowSpec);

/// Several classes.
pub type Multiclass = RowTask<TablePerClass>;

/// A table of weights for every class.
#[derive(Clone, Copy, Debug)]
pub struct TablePerClass {
    features: usize,
    classes: usize,
    layout: Layout,
}

/// Numbers in a cache line. Rows with fewer nonzeros than one in so many features use the layout by feature.
const LINE: usize = 8;

/// Returns the layout in which these rows touch fewer cache lines.
fn nearest_layout(rows: &LabelledRows) -> Layout {
    let entries: usize = rows.inputs.iter().map(SparseRows::nonzeros).sum();
    let is_sparse = LINE * entries < rows.inputs.len() * rows.vocabulary.features;
    if is_sparse { Layout::ColumnMajor } else { Layout::LabelMajor }
}

impl TablePerClass {
    /// Returns the place of a feature's weight for a class, where classes lie next to each other.
    fn place(&self, feature: u32, class: u32) -> u32 {
        feature * self.classes as u32 + class
    }
}

impl Multiclass {
    /// Makes a task of `classes` classes on rows of `features` features.
    pub fn new(classes: usize, features: usize, costs: CostTable) -> Self {
        RowTask { weights: TablePerClass { features, classes, layout: Layout::LabelMajor }, costs }
    }

    /// Puts the weights of a feature next to each other, in the place of those of a class.
    pub fn by_feature(mut self) -> Self {
        self.weights.layout = Layout::ColumnMajor;
        self
    }
}

impl RowLayout for TablePerClass {
    type Scores = Vec<f64>;

    fn labels(&self) -> usize {
        self.classes
    }

    fn dim(&self) -> usize {
        self.classes * self.features
    }

    fn columns(&self) -> (usize, Layout) {
        (self.features, self.layout)
    }

    fn prices(&self, x: &SparseRows) -> Prices {
        prices::of_multiclass(x, self.classes, self.dim())
    }

    fn score(&self, row: Row<'_>, w: &[f64], _: bool, scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(self.classes, 0.0);
        match self.layout {
            Layout::LabelMajor => linalg::sparse_row_scores(row.indices, row.values, w, self.features, scores),
            Layout::ColumnMajor => linalg::add_rows(row.indices, row.values, w, scores),
        }
    }

    fn features(&self, row: Row<'_>, y: u32, scale: f64, out: &mut Plane) {
        match self.layout {
            Layout::LabelMajor => out.extend_scaled(y * self.features as u32, row.indices, scale, row.values),
            Layout::ColumnMajor => row.iter().for_each(|(k, value)| out.push(self.place(k, y), scale * value)),
        }
    }

    fn difference(&self, row: Row<'_>, truth: u32, y: u32, scale: f64, out: &mut Plane) {
        // The lower class first, so that the indices come sorted.
        let (first, last, sign) = if y < truth { (y, truth, scale) } else { (truth, y, -scale) };
        if self.layout == Layout::LabelMajor {
            self.features(row, first, sign, out);
            return self.features(row, last, -sign, out);
        }
        for (k, value) in row.iter() {
            out.push(self.place(k, first), sign * value);
            out.push(self.place(k, last), -sign * value);
        }
    }

    fn square(&self, row: Row<'_>) -> Option<f64> {
        Some(row.values.map_or(row.indices.len() as f64, linalg::sum_squares))
    }

    fn linear_scores(&self, row: Row<'_>, w: &[f64], truth: u32, labels: &[u32], room: &mut RowRoom, out: &mut [f64]) {
        let RowRoom { labels: classes, scores, .. } = room;
        classes.clear();
        classes.push(truth);
        classes.extend_from_slice(labels);
        scores.clear();
        scores.resize(classes.len(), 0.0);
        match self.layout {
            Layout::LabelMajor => {
                linalg::some_row_scores(row.indices, row.values, w, self.features, classes, scores);
            }
            Layout::ColumnMajor => linalg::column_sums(row.indices, row.values, classes, self.classes, w, scores),
        }
        out.iter_mut().zip(&scores[1..]).for_each(|(out, score)| *out = score - scores[0]);
    }

    fn add_planes(
        &self,
        row: Row<'_>,
        truth: u32,
        (labels, amounts): (&[u32], &[f64]),
        scale: f64,
        room: &mut RowRoom,
        target: &mut [f64],
    ) {
        let of_truth = (&truth, &-amounts.iter().sum::<f64>());
        let moved = labels.iter().zip(amounts).chain([of_truth]).filter(|(_, amount)| **amount != 0.0);
        let moved = moved.map(|(&class, amount)| (class, scale * amount));
        if self.layout == Layout::ColumnMajor {
            room.moved.clear();
            room.moved.extend(moved);
            return linalg::add_to_rows(row.indices, row.values, &room.moved, self.classes, target);
        }
        for (class, amount) in moved {
            let weights = &mut target[class as usize * self.features..][..self.features];
            linalg::add_sparse_row(amount, row.indices, row.values, weights);
        }
    }

    fn expected(&self, row: Row<'_>, truth: u32, marginals: &[f64], costs: &CostTable, scale: f64, out: &mut Plane) {
        let others = |class: &(usize, &f64)| class.0 != truth as usize;
        let moved: f64 = marginals.iter().enumerate().filter(others).map(|(_, p)| p).sum();
        let amounts = (0..).zip(marginals).map(|(class, &p)| (class, if class == truth { -moved } else { p }));
        let amounts = amounts.filter(|(_, amount)| *amount != 0.0).map(|(class, amount)| (class, scale * amount));
        match self.layout {
            Layout::LabelMajor => amounts.for_each(|(class, amount)| self.features(row, class, amount, out)),
            Layout::ColumnMajor => row.iter().for_each(|(k, value)| {
                amounts.clone().for_each(|(class, amount)| out.push(self.place(k, class), amount * value));
            }),
        }
        let loss: f64 = marginals.iter().zip(costs.row(truth)).map(|(p, cost)| p * cost).sum();
        out.set_circ(scale * costs.factor(1) * loss);
    }

    fn magnitudes(&self, sizes: RowSizes) -> Magnitudes {
        let RowSizes { columns, loss, additions, rows } = sizes;
        Magnitudes::new(loss, additions, rows).with_table(0, self.classes, self.layout, columns)
    }

    fn tables(&self) -> Vec<WeightTable> {
        tables(self.classes, self.features)
    }

    fn reference_hinge(&self, row: Row<'_>, truth: u32, costs: &[f64], w: &[f64]) -> f64 {
        reference::rows_hinge(row, truth as usize, costs, w, self.features)
    }

    fn reference_difference(&self, row: Row<'_>, truth: u32, y: u32, add: AddFeature<'_>) {
        reference::row_features(row, y as usize * self.features, 1.0, add);
        reference::row_features(row, truth as usize * self.features, -1.0, add);
    }
}

/// The tables of the weights in files; features are counted from 1, as in files of them.
fn tables(classes: usize, features: usize) -> Vec<WeightTable> {
    vec![WeightTable::new("unary", [Axis::labels("label", classes), Axis::features("feature", features, 1)])]
}

impl TaskSpec for MulticlassSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let rows = self.0.read(ENTRY.name, &data, vocabulary, true)?;
        let classes = rows.vocabulary.labels.len();
        // Weights from elsewhere, and coefficients of a kernel's rows, come as they stand in files.
        let own = self.0.kernel.kernel().is_none() && vocabulary.is_none();
        let layout = if own { nearest_layout(&rows) } else { Layout::LabelMajor };
        let weights = |features| TablePerClass { features, classes, layout };
        self.0.open(ENTRY.name, (&data, vocabulary.is_some()), rows, weights)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        self.0.weight_tables(vocabulary, |known| tables(known.labels.len(), known.features))
    }
}
