//! The commands, one file each, and what they share.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod done;
pub(crate) mod evaluate;
pub(crate) mod infer;
pub(crate) mod influence;
mod job;
pub(crate) mod man;
mod on_data;
mod outputs;
pub(crate) mod path;
pub(crate) mod predict;
mod predicted;
pub(crate) mod reproduce;
pub(crate) mod show;
mod stranger;
pub(crate) mod stream;
pub(crate) mod suspects;
pub(crate) mod train;
pub(crate) mod update;
pub(crate) mod verify;
