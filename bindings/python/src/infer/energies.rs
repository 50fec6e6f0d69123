//! A model in memory as Python holds it: made of arrays, changed in place, solved again from where it was.

use multiplane::infer::engine::Watch;
use multiplane::infer::grid::Grid;
use multiplane::infer::several::{RankedLabelling, diverse};
use multiplane::infer::{InferError, Mrf};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};
use std::sync::Mutex;

use super::answer::{Found, found, label_bytes};
use super::arguments::{add_edges, chosen, indices, labelling, refused, weights};
use super::limits::Limits;
use super::solver::EnergySolver;
use crate::arrays::numbers;
use crate::errors::{guarded, value_error};

/// Energies of nodes and edges, with the engine that solved them last.
#[pyclass(module = "multiplane._core")]
pub(crate) struct Energies {
    /// In a mutex for `Sync` alone: it is reached through `&mut self`.
    solver: Mutex<EnergySolver>,
}

/// Locked, or what a panic left.
macro_rules! solver {
    ($self:ident) => {
        $self.solver.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    };
}

impl Energies {
    pub(crate) fn of(mrf: Mrf) -> Self {
        Energies { solver: Mutex::new(EnergySolver::of_model(mrf)) }
    }

    /// Works within limits, without the interpreter lock. Raises what the handler of a signal raised.
    fn work<T: Send>(
        &mut self,
        py: Python<'_>,
        limits: &mut Limits,
        work: impl FnOnce(&mut EnergySolver, Watch<'_>) -> Result<T, InferError> + Send,
    ) -> PyResult<T> {
        let solver = solver!(self);
        let done = guarded(|| py.detach(|| work(solver, &mut |progress| limits.see(progress))).map_err(refused));
        limits.raised.take().map_or(done, Err)
    }
}

#[pymethods]
impl Energies {
    /// Nodes of `counts[node]` labels each, with their energies one node after the other.
    #[new]
    fn new(unary: &Bound<'_, PyAny>, counts: &Bound<'_, PyAny>, constant: f64) -> PyResult<Self> {
        let (unary, counts): (Vec<f64>, Vec<i64>) = (numbers(unary, "float64")?, numbers(counts, "int64")?);
        let mut mrf = Mrf::new();
        let mut rest = unary.as_slice();
        for (node, &count) in counts.iter().enumerate() {
            let split = usize::try_from(count).ok().and_then(|count| rest.split_at_checked(count));
            let Some((own, others)) = split else {
                return Err(value_error(format!("node {node}: found {count} labels, but {} energies", rest.len())));
            };
            mrf.add_node(own).map_err(refused)?;
            rest = others;
        }
        mrf.add_constant(constant).map_err(refused)?;
        Ok(Energies::of(mrf))
    }

    /// A grid of `size` (height, width, labels) with Potts edges in four directions.
    #[staticmethod]
    fn grid(unary: &Bound<'_, PyAny>, size: [usize; 3], directions: [Bound<'_, PyAny>; 4]) -> PyResult<Self> {
        let [a, b, c, d] = &directions;
        let directions = [weights(a)?, weights(b)?, weights(c)?, weights(d)?];
        let grid = Grid::new(size, numbers(unary, "float64")?, directions).map_err(refused)?;
        Ok(Energies { solver: Mutex::new(EnergySolver::of_grid(grid)) })
    }

    /// Adds edges `ends[edge] = (tail, head)`, all of them or none.
    #[allow(clippy::too_many_arguments)] // they come from one place
    fn add_edges(
        &mut self,
        ends: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        term: &str,
        cap: f64,
        tables: &Bound<'_, PyAny>,
        shapes: Vec<(usize, usize)>,
    ) -> PyResult<()> {
        let solver = solver!(self);
        if solver.grid.is_some() {
            return Err(value_error("a grid has the edges that its size gives, and no others"));
        }
        let ends = indices(ends, "edges.ravel()", solver.nodes())?;
        let (weights, tables): (Vec<f64>, Vec<f64>) = (numbers(weights, "float64")?, numbers(tables, "float64")?);
        let mut mrf = solver.model().map_err(refused)?.clone();
        add_edges(&mut mrf, &ends, &weights, term, cap, tables, &shapes)?;
        *solver = EnergySolver::of_model(mrf);
        Ok(())
    }

    /// Replaces the unary energies of nodes, of all where `nodes` is None; all of them or none.
    fn set_unary(&mut self, nodes: Option<&Bound<'_, PyAny>>, unary: &Bound<'_, PyAny>) -> PyResult<()> {
        let solver = solver!(self);
        let nodes = chosen(nodes, "nodes", solver.nodes())?;
        solver.set_unary(&nodes, &numbers::<f64>(unary, "float64")?).map_err(refused)
    }

    /// Replaces the weights of edges, of all where `edges` is None; all of them or none.
    fn set_weights(&mut self, edges: Option<&Bound<'_, PyAny>>, weights: &Bound<'_, PyAny>) -> PyResult<()> {
        let solver = solver!(self);
        let edges = chosen(edges, "edges", solver.edges())?;
        solver.set_weights(&edges, &numbers::<f64>(weights, "float64")?).map_err(refused)
    }

    /// Replaces the weights of a grid's edges in the directions that are not None.
    fn set_directions(&mut self, directions: [Bound<'_, PyAny>; 4]) -> PyResult<()> {
        let [a, b, c, d] = &directions;
        solver!(self).set_directions([weights(a)?, weights(b)?, weights(c)?, weights(d)?]).map_err(refused)
    }

    /// Makes the next solve start from nothing.
    fn forget(&mut self) {
        solver!(self).forget();
    }

    fn nodes(&mut self) -> usize {
        solver!(self).nodes()
    }

    fn edges(&mut self) -> usize {
        solver!(self).edges()
    }

    /// The number of labels of each node.
    fn labels(&mut self) -> Vec<usize> {
        let solver = solver!(self);
        (0..solver.nodes()).map(|node| solver.labels(node)).collect()
    }

    /// The energy of a labelling.
    fn energy(&mut self, labels: &Bound<'_, PyAny>) -> PyResult<f64> {
        let solver = solver!(self);
        let counts = (0..solver.nodes()).map(|node| solver.labels(node));
        let labels = labelling(labels, "labels", counts)?;
        Ok(solver.energy(&labels))
    }

    /// Solves the model from where the last solve left off.
    #[pyo3(signature = (engine, seconds, iterations, search))]
    fn solve(
        &mut self,
        py: Python<'_>,
        engine: Option<&str>,
        seconds: Option<f64>,
        iterations: Option<u64>,
        search: Option<u64>,
    ) -> PyResult<Found> {
        let (mut limits, mut labels) = (Limits::new(seconds, iterations)?, Vec::new());
        let search = search.unwrap_or(if limits.is_timed() { u64::MAX } else { 0 });
        let solve = |solver: &mut EnergySolver, watch: Watch<'_>| solver.solve(engine, search, watch, &mut labels);
        let (engine, answer) = self.work(py, &mut limits, solve)?;
        found(py, &labels, answer, engine, limits.elapsed(), limits.stopped)
    }

    /// The labellings of lowest energy, lowest first.
    fn best(
        &mut self,
        py: Python<'_>,
        engine: Option<&str>,
        count: usize,
        seconds: Option<f64>,
    ) -> PyResult<Vec<Found>> {
        let mut limits = Limits::new(seconds, None)?;
        let found = self.work(py, &mut limits, |solver, watch| {
            solver.with_engine(engine, 0, |engine, mrf| engine.solve_best(mrf, count, watch))
        });
        all_found(py, found?, &limits)
    }

    /// Labellings that are good and different.
    fn diverse(
        &mut self,
        py: Python<'_>,
        engine: Option<&str>,
        penalties: Vec<f64>,
        seconds: Option<f64>,
    ) -> PyResult<Vec<Found>> {
        let mut limits = Limits::new(seconds, None)?;
        let found = self.work(py, &mut limits, |solver, watch| {
            solver.with_engine(engine, 0, |engine, mrf| diverse(engine, mrf, &penalties, watch))
        });
        all_found(py, found?, &limits)
    }

    /// The labels that are proven, -1 elsewhere.
    fn persistency(&mut self, py: Python<'_>, every: bool) -> PyResult<Py<PyByteArray>> {
        let solver = solver!(self);
        let labels = guarded(|| py.detach(|| solver.persistency(every)).map_err(refused))?;
        let labels: Vec<u32> = labels.iter().map(|label| label.unwrap_or(u32::MAX)).collect(); // -1 as an i32
        label_bytes(py, &labels)
    }

    /// The best combination of labellings: `(labels, energy, whether it is proven to be the best)`.
    fn fuse(&mut self, py: Python<'_>, known: &Bound<'_, PyList>) -> PyResult<(Py<PyByteArray>, f64, bool)> {
        let solver = solver!(self);
        let one = |(at, labels)| {
            let counts = (0..solver.nodes()).map(|node| solver.labels(node));
            labelling(&labels, &format!("labellings[{at}]"), counts)
        };
        let known = known.iter().enumerate().map(one).collect::<PyResult<Vec<_>>>()?;
        let mut labels = Vec::new();
        let fused = guarded(|| py.detach(|| solver.fuse(&known, &mut labels)).map_err(refused))?;
        Ok((label_bytes(py, &labels)?, fused.energy, fused.exact))
    }
}

/// Several labellings of an engine, as Python takes them.
fn all_found(
    py: Python<'_>,
    (engine, all): (&'static str, Vec<RankedLabelling>),
    limits: &Limits,
) -> PyResult<Vec<Found>> {
    let seconds = limits.elapsed();
    all.iter().map(|one| found(py, &one.labels, one.answer, engine, seconds, limits.stopped)).collect()
}
