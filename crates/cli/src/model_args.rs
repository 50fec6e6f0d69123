//! The command line of commands that use a model on data.

use std::path::PathBuf;

use clap::{Args, value_parser};

/// A model and the data to use it on.
#[derive(Args, Clone)]
pub(crate) struct OnData {
    /// A model saved by `train` or `path`
    #[arg(long, value_name = "M")]
    pub(crate) model: PathBuf,
    /// Of a path or grid, the weights at this lambda [default: what cross-validation chose, or --test]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) lambda: Option<String>,
    /// The data; only an external program may need none
    #[arg(long, value_name = "D")]
    pub(crate) data: Option<PathBuf>,
    /// Format of the data [default: guessed from name and content]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Parameters of the data, as in data.folds=0,3; of task external also task.command and how to run the program
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Threads; the result is the same for any number, and 0 is all cores where that pays
    #[arg(long, value_name = "N", default_value = "0", allow_hyphen_values = true)]
    pub(crate) threads: String,
}

#[derive(Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) on: OnData,
    /// Where to write the labels, one example per line [default: standard output]
    #[arg(long, value_name = "F")]
    pub(crate) out: Option<PathBuf>,
    /// List the M best labellings of each example, one per line: example (from 0), rank (from 1), score, labels,
    /// divided by tabs
    #[arg(long, value_name = "M", allow_hyphen_values = true, conflicts_with_all = ["confidence", "marginals"])]
    pub(crate) top: Option<String>,
    /// Say how sure the labels are, one example per line: its number (from 0), its labels, and for each how much lower
    /// the best labelling with another label there scores; divided by tabs, the last by spaces
    #[arg(long)]
    pub(crate) confidence: bool,
    /// Say how probable each label of each token or node is (chain, tree), as one JSON object per example and line
    #[arg(long, conflicts_with = "confidence")]
    pub(crate) marginals: bool,
    /// Write the lines of the data with a column more, the prediction; blank lines between sentences stay
    #[arg(long, conflicts_with_all = ["top", "confidence", "marginals", "json"])]
    pub(crate) columns: bool,
    /// Write one JSON object per example and line: its number (from 0), prediction, truth, loss (or null) and score
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) on: OnData,
    /// Say label by label how the model does (precision, recall, F1, confusions), and of chunks as conlleval does
    #[arg(long)]
    pub(crate) report: bool,
    /// Of boxes: measure the K best of each image as well (average precision, recall by overlap)
    #[arg(long, value_name = "K", conflicts_with = "report", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) top: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct InfluenceArgs {
    /// A checkpoint that `train` or `update` has left
    #[arg(long, value_name = "PATH")]
    pub(crate) checkpoint: PathBuf,
    /// The training data, if it has moved
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Examples with their truths: influence is on their mean hinge
    #[arg(long, value_name = "PATH")]
    pub(crate) test: PathBuf,
    /// List N examples of either kind
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON object per training example and line: example (from 0), influence
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct SuspectsArgs {
    #[command(flatten)]
    pub(crate) on: OnData,
    /// Train K models as this one was, and judge each example by the one that was trained without it; 0: by the model
    /// itself, which agrees with mistakes that it was trained on [default: 5 on its training data, else 0]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) cv: Option<String>,
    /// List the N most suspicious labels only [default: 20 of the table, 1000 of the page, else all]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// File for a table of all: example, part, score, given, rival
    #[arg(long, value_name = "F.csv")]
    pub(crate) csv: Option<PathBuf>,
    /// File for a page to look through
    #[arg(long, value_name = "F.html")]
    pub(crate) html: Option<PathBuf>,
    /// Print one JSON object per label and line: example and part (from 0), score, given, rival
    #[arg(long)]
    pub(crate) json: bool,
}
