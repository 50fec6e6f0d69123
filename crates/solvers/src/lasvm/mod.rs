//! LaSVM (Bordes, Ertekin, Weston, Bottou, JMLR 2005): online dual ascent, for any labels as LaRank has it (Bordes,
//! Bottou, Gallinari, Weston, ICML 2007).
//!
//! PROCESS(i) asks about some examples that the epoch has not seen yet, and makes a pairwise step of the one that
//! violates its optimality most, toward the oracle's answer. REPROCESS makes the same step of an example that carries
//! weight, among its planes kept. The dual here has no equality constraint between examples (a constant feature is the
//! bias), so a step concerns one example; with two labels it is the exact maximum over the example's coefficient. An
//! epoch is n PROCESS steps; it ends with REPROCESS steps until no example with weight violates by more than tau, or 10
//! n of them were made.
//!
//! With a kernel the images of all rows are at hand ([`crate::metric`]): an example is asked about, and looked at,
//! without a kernel value; a step takes a row.
//!
//! | file | what |
//! |---|---|
//! | `selection.rs` | which example is processed next |
//! | `rows.rs` | longer planes of these, laid out |
//! | `support.rs` | examples that carry weight, and the one that violates most |
//! | `solver.rs` | parameters; PROCESS, REPROCESS, epochs; another lambda |
//! | `presets.rs` | the line of the registry |

mod presets;
mod rows;
mod selection;
mod solver;
mod support;

pub use presets::ENTRIES;
pub use solver::{LaSvm, LaSvmSolver};
