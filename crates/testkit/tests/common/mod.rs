//! What several tests share: oracles whose answers are changed, the ways to keep planes.

// Every test file is a crate of its own and uses its part of this.
#![allow(dead_code)]

use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, Quality};
use multiplane_core::plane::Plane;
use serde_json::{Value, json};

/// An oracle whose answers are changed on their way.
pub(crate) struct Altered<F> {
    inner: BoxedOracle,
    alter: F,
}

impl<F> Altered<F>
where
    F: FnMut(usize, Quality, &mut Plane) -> Result<Quality, OracleError> + Send + 'static,
{
    /// Lets `alter` change the answers of `inner`, given as example, quality and plane.
    pub(crate) fn boxed(inner: BoxedOracle, alter: F) -> BoxedOracle {
        Box::new(Altered { inner, alter })
    }
}

impl<F> MaxOracle for Altered<F>
where
    F: FnMut(usize, Quality, &mut Plane) -> Result<Quality, OracleError> + Send,
{
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let quality = self.inner.maximize(block, w, out)?;
        (self.alter)(block, quality, out)
    }
}

/// The ways to keep planes, as parameters of solvers.
pub(crate) fn kept_planes() -> Vec<Value> {
    vec![
        json!({"name": "none"}),
        json!({"name": "multi-plane"}),
        json!({"name": "multi-plane", "recombine": "always", "max_idle": 2}),
        json!({"name": "multi-plane", "max_planes": 1}),
        json!({"name": "gap-cache"}),
    ]
}
