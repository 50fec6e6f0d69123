//! The command line from outside: every test starts the program.
//!
//! One program of many files, because linking costs more than running: `--test all NAME::` runs one file.

mod bad_files;
mod bad_input;
mod boxes;
mod check;
mod checkpoint;
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod early_stopping;
mod evaluate_report;
mod external;
mod faults;
mod graph;
mod graph_labels;
mod held_out;
mod ilp;
mod infer;
mod infer_bad_files;
mod interrupt;
mod kernel_paths;
mod kernels;
mod liars;
mod manual;
mod messages;
mod mrf;
mod multilabel;
mod new_data;
mod online;
mod pages;
mod partial;
mod path;
mod path_checkpoint;
mod places;
mod poses;
mod prior;
mod real_data;
mod repeat;
mod reproduce;
mod scaling;
mod settings;
mod several;
mod show;
mod stream_training;
mod streams;
mod suspects;
mod terminal;
mod text;
mod train;
mod tree;
mod use_model;
mod verify;
