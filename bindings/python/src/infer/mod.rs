//! Inference: energies from arrays and files, solved without the interpreter lock.

mod answer;
mod arguments;
mod change;
mod energies;
mod file;
mod limits;
mod solver;

pub(crate) use energies::Energies;
pub(crate) use file::read_problem;
