//! Solvers for structural support vector machines.
//!
//! A structural SVM is trained by calling a *max-oracle*: given an example (a *block*) and weights `w`, find
//! the labelling that violates the margin most. Each answer is a [`Plane`](plane::Plane), a linear lower bound
//! on that example's hinge loss. This crate turns oracle calls into weights and a certificate: a primal value,
//! a dual value, and the gap between them, which bounds how far the answer can be from the optimum.
//!
//! # The waist
//!
//! Everything that knows labels sits above [`MaxOracle`](oracle::MaxOracle); everything that knows lambda,
//! gaps and caches sits below it.
//!
//! ```
//! use multiplane_core::oracle::{MaxOracle, OracleError, Quality};
//! use multiplane_core::plane::Plane;
//! use multiplane_core::run::{Run, Stop};
//! use multiplane_core::solvers::block_frank_wolfe::BlockFrankWolfe;
//!
//! /// Two points on a line, one per class: example 0 at +1, example 1 at -1.
//! struct TwoPoints;
//!
//! impl MaxOracle for TwoPoints {
//!     fn blocks(&self) -> usize { 2 }
//!     fn dim(&self) -> usize { 1 }
//!     fn maximize(
//!         &mut self, block: usize, w: &[f64], out: &mut Plane,
//!     ) -> Result<Quality, OracleError> {
//!         let x = if block == 0 { 1.0 } else { -1.0 };
//!         let y = x; // the label has the sign of the point
//!         out.clear();
//!         if 1.0 - y * x * w[0] > 0.0 {
//!             out.push(0, -y * x / 2.0); // (phi(x, -y) - phi(x, y)) / n, phi = y x / 2
//!             out.set_circ(1.0 / 2.0); // loss / n
//!         }
//!         out.seal();
//!         Ok(Quality::Exact)
//!     }
//! }
//!
//! let solver = BlockFrankWolfe::mp_bcfw().solver(2, 1, 0.1);
//! let stop = Stop { gap: Some(1e-6.into()), ..Stop::default() };
//! let mut run = Run::new(TwoPoints, TwoPoints, solver, 0.1, stop);
//! let outcome = run.to_end()?;
//! assert!(outcome.certificate.certified && outcome.certificate.gap.unwrap() <= 1e-6);
//! # Ok::<(), multiplane_core::run::RunError>(())
//! ```
//!
//! # Layers
//!
//! Numbers and tools ([`linalg`], [`rng`], [`clock`], [`state`], [`parameter`]) lie lowest; then [`plane`],
//! [`regularizer`], [`kernel`] (matrices over rows, asked for row by row), [`span`] (projection on few of them) and
//! [`rounding`] (what 64-bit numbers leave of bounds), the waist ([`oracle`], [`task`], [`executor`], [`context`]), the
//! dual point ([`iterate`], [`qp`], [`cache`], [`dual`], [`hull`], [`order`]), [`solver`], [`online`] (learners of
//! streams), [`run`], and on top [`path`] and [`solvers`]. No two modules and no two files import each other in a
//! circle. A test of the workspace holds both.

pub mod average;
pub mod block_point;
pub mod cache;
pub mod certificate;
pub mod clock;
pub mod context;
pub mod divide;
pub mod dual;
pub mod example;
pub mod executor;
pub mod gaps;
pub mod hull;
pub mod iterate;
pub mod kernel;
mod label;
pub mod layout;
pub mod linalg;
pub mod lookahead;
pub mod metric;
pub mod observe;
pub mod online;
pub mod oracle;
pub mod order;
pub mod parameter;
pub mod path;
pub mod plane;
pub mod plane_sum;
pub mod qp;
pub mod regularizer;
pub mod rng;
pub mod rounding;
pub mod run;
pub mod shard;
pub mod solver;
pub mod solvers;
pub mod span;
pub mod state;
pub mod step;
pub mod task;
pub mod task_oracle;
