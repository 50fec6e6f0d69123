//! The parts that experiments of the papers share: data sets and their stand-ins ([`data_sets`]), runs, figures and
//! claims ([`experiment`]), finished runs ([`runner`]), questions to them ([`records`]), pages ([`page`]).

pub(crate) mod bands;
pub(crate) mod data_sets;
pub(crate) mod experiment;
pub(crate) mod page;
pub(crate) mod records;
pub(crate) mod runner;
