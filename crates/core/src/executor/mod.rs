//! Who answers many questions: passes at one w, batch steps and evaluation ask an [`Executor`].
//!
//! Weights are published, blocks submitted, and planes or their scores come back, each with its place. So threads can
//! answer, or processes, or machines, and what is computed from the answers, in the order of the blocks, has the same
//! bits whoever did. A [`Crew`] of [`Worker`]s is the executor of threads and processes; work on one that is lost goes to
//! the others.

mod crew;
mod desk;
mod hinges;
mod interface;
mod item;
mod ledger;
mod sequential;
mod threads;
mod worker;

pub use crew::{Crew, Hire, Staff, WORTH_A_WORKER};
pub use hinges::{Hinges, hinge, hinge_of, sum_of_hinges};
pub use interface::{Completed, Executor, Question, Version};
pub use item::{BatchItem, Reply, Unanswered, score_and_terms};
pub use ledger::{Ledger, Mishaps};
pub use sequential::Sequential;
pub use threads::{OracleWorker, Threads};
pub use worker::{Asked, Lost, Weights, Worker};
