//! Kernels over rows of features: which there are, their matrices over training rows behind a cache, and their values
//! between new rows and those that carry weight.
//!
//! `config` and `gamma` say which kernel; `check` refuses features and matrices that it is not defined on; `packed` lays
//! rows out so that one of them goes against all, `link` makes values of such sums, and `values` puts both together for
//! blocks of rows on several threads; `set` is where rows come from, `cache` the store of values; trainers take `rows`,
//! predictors `support`.

mod cache;
mod check;
mod config;
mod error;
mod gamma;
mod given;
mod link;
mod packed;
mod rows;
mod set;
mod stored;
mod support;
#[cfg(test)]
mod tests;
mod values;

pub use config::{ChiSquare, Kernel, KernelStore, Polynomial, Rbf, Storage};
pub use error::KernelError;
pub use gamma::Gamma;
pub(crate) use given::MOST_FACTORED;
pub use rows::{KernelRows, kernel_matrix};
pub use set::{MadeRows, RowSet};
pub use stored::Stored;
pub use support::SupportRows;
pub use values::RowKernel;
