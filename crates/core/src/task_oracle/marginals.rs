//! Sums over the labellings of an example.

use super::oracle::TaskOracle;
use crate::oracle::{MarginalPlanes, OracleError};
use crate::plane::Plane;
use crate::task::Task;

impl<T: Task> MarginalPlanes for TaskOracle<T> {
    fn len(&mut self, block: usize) -> usize {
        self.task.capabilities().marginals.map_or(0, |marginals| marginals.len(&self.data.examples.inputs[block]))
    }

    fn on_truth(&mut self, block: usize, to: &mut [f64]) {
        if let Some(marginals) = self.task.capabilities().marginals {
            let examples = &self.data.examples;
            marginals.all_on(&examples.inputs[block], &examples.labels[block], to);
        }
    }

    fn gibbs(&mut self, block: usize, w: &[f64], tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, OracleError> {
        let failed = |reason| OracleError { block, reason };
        let Some(marginals) = self.task.capabilities().marginals else {
            return Err(failed("this task cannot sum over labellings".into()));
        };
        let log_sum = marginals.gibbs(self.data.call(block, w), tau, from, to).map_err(failed);
        self.data.memories.settle(block);
        log_sum
    }

    fn expected(&mut self, block: usize, marginals: &[f64], out: &mut Plane) {
        out.clear();
        if let Some(has) = self.task.capabilities().marginals {
            has.expected(self.data.case(block), marginals, out);
            self.data.memories.settle(block);
        }
    }

    fn entropy(&mut self, block: usize, marginals: &[f64]) -> f64 {
        let has = self.task.capabilities().marginals;
        has.map_or(0.0, |has| has.entropy(&self.data.examples.inputs[block], marginals))
    }

    fn calls(&self) -> f64 {
        self.task.capabilities().marginals.map_or(1.0, |has| has.calls())
    }
}
