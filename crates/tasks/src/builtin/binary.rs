//! Binary classification: `phi(x, y) = y x / 2` with y = -1 for the first label and +1 for the second.
//!
//! Weights: `[feature]`. With `Delta = [y != y']` the hinge is the SVM's `max(0, 1 - y <w, x>)` (thesis of He,
//! Eq. 1.12-1.15).

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
use crate::builtin::rows::RowSpec;
use crate::data::{Row, SparseRows, csv, libsvm};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::CostTable;
use crate::problem::tables::{Axis, WeightTable};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::reference::{self, AddFeature};

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
#[serde(transparent)]
pub struct BinarySpec(pub RowSpec);

/// Two classes.
pub type Binary = RowTask<OneTable>;

/// One weight for each feature.
#[derive(Clone, Copy, Debug)]
pub struct OneTable {
    features: usize,
}

impl Binary {
    /// Makes a task on rows of `features` features; `costs` must be for two labels.
    pub fn new(features: usize, costs: CostTable) -> Self {
        RowTask { weights: OneTable { features }, costs }
    }
}

/// -1 for label 0, +1 for label 1.
fn sign(label: u32) -> f64 {
    if label == 0 { -1.0 } else { 1.0 }
}

/// `phi(x, y) - phi(x, truth)` is x times half the difference of signs: 0 or -1 or 1.
impl RowLayout for OneTable {
    type Scores = [f64; 2];

    fn labels(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        self.features
    }

    fn columns(&self) -> (usize, Layout) {
        (self.features, Layout::LabelMajor)
    }

    fn prices(&self, x: &SparseRows) -> Prices {
        prices::of_binary(x, self.features)
    }

    fn score(&self, row: Row<'_>, w: &[f64], sums: bool, scores: &mut [f64; 2]) {
        let mut score = [0.0];
        if sums {
            score[0] = linalg::sparse_row_score(row.indices, row.values, w);
        } else {
            linalg::sparse_row_scores(row.indices, row.values, w, self.features, &mut score);
        }
        *scores = [-0.5 * score[0], 0.5 * score[0]];
    }

    fn features(&self, row: Row<'_>, y: u32, scale: f64, out: &mut Plane) {
        out.extend_scaled(0, row.indices, scale * 0.5 * sign(y), row.values);
    }

    fn difference(&self, row: Row<'_>, _: u32, y: u32, scale: f64, out: &mut Plane) {
        self.features(row, y, 2.0 * scale, out); // phi(x, y) - phi(x, -y) = 2 phi(x, y)
    }

    fn linear_scores(&self, row: Row<'_>, w: &[f64], truth: u32, labels: &[u32], _: &mut RowRoom, out: &mut [f64]) {
        let score = linalg::sparse_row_score(row.indices, row.values, w);
        for (out, &label) in out.iter_mut().zip(labels) {
            *out = 0.5 * (sign(label) - sign(truth)) * score;
        }
    }

    fn add_planes(
        &self,
        row: Row<'_>,
        truth: u32,
        (labels, amounts): (&[u32], &[f64]),
        scale: f64,
        _: &mut RowRoom,
        target: &mut [f64],
    ) {
        let of_plane = |(&label, amount): (&u32, &f64)| 0.5 * (sign(label) - sign(truth)) * amount;
        let amount: f64 = labels.iter().zip(amounts).map(of_plane).sum();
        if amount != 0.0 {
            linalg::add_sparse_row(scale * amount, row.indices, row.values, target);
        }
    }

    fn expected(&self, row: Row<'_>, truth: u32, marginals: &[f64], costs: &CostTable, scale: f64, out: &mut Plane) {
        let other = 1 - truth;
        let amount = scale * marginals[other as usize];
        if amount != 0.0 {
            self.difference(row, truth, other, amount, out);
            out.set_circ(amount * costs.loss(&[truth], &[other]));
        }
    }

    fn magnitudes(&self, mut sizes: RowSizes) -> Magnitudes {
        sizes.columns.iter_mut().for_each(|column| *column *= 0.5); // phi(x, y) = y x / 2
        Magnitudes::new(sizes.loss, sizes.additions, sizes.rows).with_table(0, 1, Layout::LabelMajor, sizes.columns)
    }

    fn tables(&self) -> Vec<WeightTable> {
        tables(self.features)
    }

    fn reference_hinge(&self, row: Row<'_>, truth: u32, costs: &[f64], w: &[f64]) -> f64 {
        reference::binary_hinge(row, sign(truth), costs[1 - truth as usize], w)
    }

    fn reference_difference(&self, row: Row<'_>, truth: u32, y: u32, add: AddFeature<'_>) {
        reference::row_features(row, 0, 0.5 * (sign(y) - sign(truth)), add);
    }
}

/// The tables of the weights in files; features are counted from 1, as in files of them.
fn tables(features: usize) -> Vec<WeightTable> {
    vec![
        WeightTable::new("feature", [Axis::features("feature", features, 1)])
            .noted("above 0 they speak for the second label, below for the first"),
    ]
}

impl TaskSpec for BinarySpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let mut rows = self.0.read(ENTRY.name, &data, vocabulary, false)?;
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
        self.0.open(ENTRY.name, (&data, vocabulary.is_some()), rows, |features| OneTable { features })
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        self.0.weight_tables(vocabulary, |known| tables(known.features))
    }
}
