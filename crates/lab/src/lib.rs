//! Line charts and report pages of runs, the demo, and the experiments of the papers.
//!
//! A chart or a page is a function of its numbers: the same numbers give the same bytes. Nothing here prints.

mod axis;
mod chart;
pub mod demo;
mod demo_report;
mod experiments;
mod findings;
mod keeper;
mod letters;
pub mod numbers;
pub mod path_charts;
mod report;
mod reproduce;
pub mod reproduction;
pub mod suspects;
