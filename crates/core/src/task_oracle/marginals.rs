//! Sums over the labellings of an example.

use super::oracle::TaskOracle;
use crate::oracle::{MarginalPlanes, OracleError};
use crate::plane::Plane;
use crate::task::Task;

impl<T: Task> MarginalPlanes for TaskOracle<T> {
    fn len(&mut self, block: usize) -> Result<usize, OracleError> {
        let has = self.task.capabilities().marginals;
        let length = has.map_or(Ok(0), |has| has.len(self.data.examples.get(block)));
        length.map_err(|reason| OracleError { block, reason })
    }

    fn on_truth(&mut self, block: usize, to: &mut [f64]) {
        if let Some(marginals) = self.task.capabilities().marginals {
            marginals.all_on(self.data.examples.get(block), to);
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

    fn calls(&self) -> f64 {
        self.task.capabilities().marginals.map_or(1.0, |has| has.calls())
    }
}
