//! Sessions, model files and the doctor from outside.
//!
//! One program of many files, because linking costs more than running: `--test all NAME::` runs one file.

mod choice;
mod crafted;
mod damage;
mod doctor;
mod durable;
mod path_checkpoints;
mod updates;
