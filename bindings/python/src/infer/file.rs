//! Problem files: energies become a model, flow networks are solved at once.

use std::path::PathBuf;
use std::time::Instant;

use multiplane::Error;
use multiplane::infer::Answer;
use multiplane::infer::format::flow::{Flow, FlowProblem};
use multiplane::infer::format::{self, Instance};
use multiplane::infer::maxflow::Capacity;
use pyo3::prelude::*;

use super::answer::{Found, found};
use super::energies::Energies;
use crate::errors::{guarded, unread};

/// The engine of flow networks, which solves no energies.
const MAX_FLOW: &str = "max-flow";

/// A network's sizes and answer: nodes, edges, the flow if it is an integer, what else was found.
type Cut = (usize, usize, Option<i64>, Found);

/// Reads a file: a model, or else the answer: the cut of the flow network in it, or that every labelling is forbidden.
#[pyfunction]
pub(crate) fn read_problem(py: Python<'_>, path: PathBuf) -> PyResult<(Option<Energies>, Option<Cut>)> {
    let instance = guarded(|| py.detach(|| format::read(&path)).map_err(|error| unread(&path, Error::from(error))))?;
    match instance {
        Instance::Mrf(mrf) => Ok((Some(Energies::of(mrf)), None)),
        Instance::Forbidden { variables, edges } => {
            let answer = Answer { energy: f64::INFINITY, bound: f64::INFINITY, iterations: 0 };
            Ok((None, Some((variables, edges, None, found(py, &[], answer, "none", 0.0, "")?))))
        }
        Instance::Flow(Flow::Whole(network)) => {
            cut(py, &network, |flow| flow as f64, Some).map(|cut| (None, Some(cut)))
        }
        Instance::Flow(Flow::Real(network)) => cut(py, &network, |flow| flow, |_| None).map(|cut| (None, Some(cut))),
    }
}

fn cut<C: Capacity + Send + Sync>(
    py: Python<'_>,
    network: &FlowProblem<C>,
    value: impl Fn(C) -> f64,
    whole: impl Fn(C) -> Option<i64>,
) -> PyResult<Cut> {
    let (flow, labels, seconds) = guarded(|| {
        Ok(py.detach(|| {
            let mut cut = network.cut();
            let (started, mut labels) = (Instant::now(), Vec::new());
            let flow = cut.solve();
            let seconds = started.elapsed().as_secs_f64();
            cut.labels(&mut labels);
            (flow, labels, seconds)
        }))
    })?;
    let energy = value(flow);
    let answer = Answer { energy, bound: energy, iterations: 1 };
    let found = found(py, &labels, answer, MAX_FLOW, seconds, "")?;
    Ok((labels.len(), network.edges().len(), whole(flow), found))
}
