//! Learning from streams: the ordinary solver of a family is run on one window of examples after the other, and each
//! takes over where the last one stood.
//!
//! A window has few of the columns of w. [`StreamWeights`] takes these out and puts them back, so the cost of a window
//! does not grow with w.

use serde::{Deserialize, Serialize};

use crate::oracle::BoxedOracle;
use crate::solver::Solver;
use crate::state::finite;

/// The facts of a stream that are known before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamFacts {
    /// Strength of the regulariser, a finite number above 0.
    pub lambda: Option<f64>,
    /// Number of examples that are announced.
    pub examples: Option<u64>,
    /// Examples of a window: a step size below 1 is a share of it. Steps on shorter windows are as long.
    pub window: usize,
}

/// The state that a solver hands over to the one on the next window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// The iterate, in the form that a step leaves as it is where it adds nothing.
    pub point: Vec<f64>,
    /// The sum or mean from which the average follows; empty without averages.
    pub average: Vec<f64>,
    /// Steps made.
    pub steps: u64,
}

/// A solver that goes from window to window.
pub trait CarriesOn: Solver<BoxedOracle> {
    /// Returns the steps made, including those on earlier windows.
    fn steps(&self) -> u64;

    /// Returns true if the state can be handed over now: between steps, or in one that can be left out.
    fn may_end(&self) -> bool;

    /// Returns the state that the next window begins with, if the solver [may end](CarriesOn::may_end).
    fn into_carried(self: Box<Self>) -> Carried;
}

/// How a family of solvers learns from a stream.
pub trait Online: Send {
    /// Returns the examples of a step.
    fn size(&self) -> usize;

    /// Builds the solver of a window of `blocks` examples. It visits them in their order, `size` of them to a step.
    fn on_window(&self, blocks: usize, size: usize, carried: Carried) -> Box<dyn CarriesOn>;

    /// Returns `a` and `b` such that steps `from + 1` to `to` make `a average + b point` of an average, if they leave
    /// the point as it is. Returns `None` without averages.
    fn average_over(&self, from: u64, to: u64) -> Option<(f64, f64)>;

    /// Returns whether steps depend on the number of examples that [`StreamFacts`] announces.
    fn goes_by_examples(&self) -> bool {
        false
    }
}

/// Below this factor all averages are brought up to date.
const SMALL: f64 = 1e-100;

/// The state of a learner, for all columns that the stream has had so far. Averages of columns that a window lacks are
/// brought up to date when they are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamWeights {
    tables: usize,
    /// `[column][table]`, so that new columns are appended.
    carried: Carried,
    /// Without averages empty; else factor and shift as they were when the average of each column was up to date.
    since: Vec<(f64, f64)>,
    /// An average is now `factor / old factor * average + factor * (shift - old shift) * point`.
    factor: f64,
    shift: f64,
    averages: bool,
}

impl StreamWeights {
    /// Returns weights without columns for so many tables of them.
    pub fn new(tables: usize, averages: bool) -> Self {
        StreamWeights { tables, averages, factor: 1.0, ..StreamWeights::default() }
    }

    /// Returns the columns so far.
    pub fn columns(&self) -> usize {
        self.carried.point.len() / self.tables.max(1)
    }

    /// Returns the length of w.
    pub fn dim(&self) -> usize {
        self.carried.point.len()
    }

    /// Returns the steps made.
    pub fn steps(&self) -> u64 {
        self.carried.steps
    }

    /// Appends columns of zeros, up to `columns` of them.
    pub fn widen(&mut self, columns: usize) {
        let columns = columns.max(self.columns());
        self.carried.point.resize(columns * self.tables, 0.0);
        if self.averages {
            self.carried.average.resize(columns * self.tables, 0.0);
            self.since.resize(columns, (self.factor, self.shift));
        }
    }

    /// Returns the state of these columns, `[table][column]`.
    pub fn take(&self, columns: &[u32]) -> Carried {
        let places = || (0..self.tables).flat_map(|table| columns.iter().map(move |&column| (column as usize, table)));
        Carried {
            point: places().map(|(column, table)| self.carried.point[column * self.tables + table]).collect(),
            average: if self.averages {
                places().map(|(column, table)| self.average(column, table)).collect()
            } else {
                Vec::new()
            },
            steps: self.carried.steps,
        }
    }

    /// Takes over the state that a window of these columns came to.
    pub fn put(&mut self, columns: &[u32], carried: Carried, online: &dyn Online) {
        if let Some((a, b)) = online.average_over(self.carried.steps, carried.steps) {
            if self.factor * a < SMALL {
                self.settle(a, b);
            } else {
                self.factor *= a;
                self.shift += b / self.factor;
            }
        }
        for (table, of_table) in carried.point.chunks_exact(columns.len()).enumerate() {
            let places = columns.iter().map(|&column| column as usize * self.tables + table);
            places.zip(of_table).for_each(|(place, &value)| self.carried.point[place] = value);
        }
        if self.averages {
            for (table, of_table) in carried.average.chunks_exact(columns.len()).enumerate() {
                let places = columns.iter().map(|&column| column as usize * self.tables + table);
                places.zip(of_table).for_each(|(place, &value)| self.carried.average[place] = value);
            }
            columns.iter().for_each(|&column| self.since[column as usize] = (self.factor, self.shift));
        }
        self.carried.steps = carried.steps;
    }

    fn average(&self, column: usize, table: usize) -> f64 {
        let ((factor, shift), place) = (self.since[column], column * self.tables + table);
        self.factor / factor * self.carried.average[place]
            + self.factor * (self.shift - shift) * self.carried.point[place]
    }

    /// Brings all averages up to date, steps with `a` and `b` included.
    fn settle(&mut self, a: f64, b: f64) {
        for column in 0..self.columns() {
            for table in 0..self.tables {
                let (place, average) = (column * self.tables + table, self.average(column, table));
                self.carried.average[place] = a * average + b * self.carried.point[place];
            }
        }
        (self.factor, self.shift) = (1.0, 0.0);
        self.since.fill((1.0, 0.0));
    }

    /// Returns whether a state that was read can be that of so many tables.
    pub fn is_sound(&self, tables: usize, averages: bool) -> bool {
        let Carried { point, average, steps } = &self.carried;
        let kept = if averages { (point.len(), self.columns()) } else { (0, 0) };
        (self.tables, self.averages) == (tables, averages)
            && self.columns() * tables == point.len()
            && (average.len(), self.since.len()) == kept
            && finite(point)
            && finite(average)
            && self
                .since
                .iter()
                .chain([&(self.factor, self.shift)])
                .all(|(factor, shift)| *factor > 0.0 && shift.is_finite())
            && *steps <= u64::MAX / 2
    }
}
