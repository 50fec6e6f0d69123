//! The command line of `reproduce`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// An experiment, or all [default: list them]
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The paper's passes and repeats; else minutes on two cores
    #[arg(long)]
    pub(crate) full: bool,
    /// Repeats with seeds 0, 1, .. [default: 2, with --full the paper's]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seeds: Option<String>,
    /// Runs at a time; 0 is one on each core. Records do not depend on it
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub(crate) threads: String,
    /// The folder of data sets; synthetic stand-ins are made for missing files [default: $MULTIPLANE_DATA]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The folder for NAME/index.html, records.jsonl and verdicts.json. Runs that are finished there are not run again
    #[arg(long, value_name = "DIR", default_value = "multiplane-reproduce")]
    pub(crate) out: PathBuf,
    /// Print one JSON object, or of a list one array
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress line and no verdicts
    #[arg(long)]
    pub(crate) quiet: bool,
}
