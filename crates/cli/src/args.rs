//! The command line as clap sees it. Parameters of tasks and solvers are not here: `--set` reaches them by name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use multiplane::tasks::TASKS;

use crate::experiment_args::ReproduceArgs;
use crate::help::completed;
use crate::model_args::{EvaluateArgs, InfluenceArgs, OnData, PredictArgs, SuspectsArgs};

#[derive(Parser)]
#[command(name = "multiplane", version, about = "Train, certify and use structural support vector machines")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Train, certify and predict on built-in data in about half a minute; writes curves and a report
    Demo(DemoArgs),
    /// Train a model and certify how far it can be from the optimum
    Train(Box<TrainArgs>),
    /// Go on from a checkpoint with changed data: examples added, removed, relabelled or reweighted
    Update(Box<UpdateArgs>),
    /// List the training examples that help most, and harm most, on other data
    Influence(InfluenceArgs),
    /// Predict the labels of a data set
    Predict(PredictArgs),
    /// Measure task loss and error rates of a model on a data set
    Evaluate(EvaluateArgs),
    /// List the labels of a data set that may be wrong
    Suspects(SuspectsArgs),
    /// Look into a model: what it is, how it was trained, what is proven of it, and its strongest weights by name
    Show(ShowArgs),
    /// Copy a model with weights of 32 bits, which agree to 7 digits, without a certificate
    Compact(CompactArgs),
    /// Recompute a model's primal value on its training data, and the dual value of a checkpoint, by slow, independent
    /// code
    Verify(VerifyArgs),
    /// List solvers, tasks, parameters of runs, oracles, losses and formats, and every parameter with its default
    Describe(DescribeArgs),
    /// Make synthetic data sets
    Data(DataArgs),
    /// Follow the regularisation path, or search a grid: certified models at every lambda of a range
    Path(Box<PathArgs>),
    /// Solve one MAP or min-cut problem from a file: the labelling of least energy, or the maximum flow
    Infer(InferArgs),
    /// Test a task or oracle for mistakes before training, and forecast what training will cost
    Check(CheckArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write those of all
    Man(ManArgs),
    /// Run an experiment of a paper again: figures, tables, and a verdict on each claim. Without a name, list them
    Reproduce(ReproduceArgs),
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Directory for the report, curves, records and models
    #[arg(long, value_name = "DIR", default_value = "multiplane-demo")]
    pub(crate) out: PathBuf,
    /// Seed of the data and of the solvers
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) seed: u64,
    /// No progress bars and no table
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct TrainArgs {
    /// A run specification; flags and --set override it
    #[arg(value_name = "RUN.toml")]
    pub(crate) spec: Option<PathBuf>,
    /// What to learn (see `describe task`)
    #[arg(long, value_name = "NAME", help = tasks())]
    pub(crate) task: Option<String>,
    /// Training data; .gz is read directly
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Test data
    #[arg(long, value_name = "PATH")]
    pub(crate) test: Option<PathBuf>,
    /// Keep a share (20%) or a number of the training examples as test data, drawn by --seed
    #[arg(long, value_name = "SHARE")]
    pub(crate) holdout: Option<String>,
    /// Format of the data [default: guessed from name and content]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// A solver or preset (see `describe solver`) [default: auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// Strength of the regulariser: a number, 1/n, c:X for C = X, lambda = 1/(C n), cv (chosen by cross-validation),
    /// scale, or auto (searched for if neither solver nor stop is named, else 1/n) [default: auto]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) lambda: Option<String>,
    /// Draw losses against lambda: those held out with --lambda cv, with bounds and gap those of a `path`
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Learn in one pass over a stream of rows (libsvm, csv): in windows, with memory for a few of them; --data is a
    /// file, a pipe, or - for standard input. Needs a solver that learns online (if none is given sfd1); --checkpoint
    /// writes the model on the way
    #[arg(long)]
    pub(crate) stream: bool,
    /// A model of the same task whose weights are the prior w0: lambda/2 |w - w0|^2 instead of lambda/2 |w|^2 (not for
    /// `path`). Labels and features are matched by name; new ones begin at 0
    #[arg(long, value_name = "MODEL")]
    pub(crate) prior: Option<PathBuf>,
    /// Weights that keep the prior's values, 0 without one: blocks by name (of a chain unary, pair, start, end), or
    /// indices and ranges of w in the model file, as in 0..128,4000 (not for `path`)
    #[arg(long, value_name = "WEIGHTS")]
    pub(crate) freeze: Option<String>,
    #[command(flatten)]
    pub(crate) stops: StopArgs,
    /// Seed of all chance [default: 0]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Threads for passes at one w, evaluation and prediction; the result is the same for any number [default: 0, which
    /// is all cores where calls are slow enough for that to pay]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Clock that measures training, wall or work: work counts operations, so that runs repeat to the bit [default:
    /// wall]
    #[arg(long, value_name = "CLOCK")]
    pub(crate) clock: Option<String>,
    /// Any parameter by its dotted name: solver.order=uniform, task.bias=true, data.folds=0,3, evaluate=pass,
    /// stop.estimated=true; `multiplane describe` lists them all
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
}

/// Stops of a run.
#[derive(Args)]
pub(crate) struct StopArgs {
    /// Stop when the duality gap is at most X, or X% of the primal
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) gap: Option<String>,
    /// Stop after X passes (oracle calls of training / n); `train` without a budget: 1000, without any stop --gap 1%
    /// too
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) passes: Option<String>,
    /// Stop after N oracle calls of training
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) calls: Option<String>,
    /// Stop after S seconds of training and evaluation
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) seconds: Option<String>,
    /// Stop once the loss on test data has not fallen for K measurements, one a pass: needs --test, --holdout or
    /// data.test_folds; whichever stop ends the run, the weights with the lowest loss are saved (not for `path`)
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) patience: Option<String>,
}

/// Outputs of a run, its checkpoints among them.
#[derive(Args)]
pub(crate) struct OutputArgs {
    /// Where to save the model
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: Option<PathBuf>,
    /// Write one JSON object per outer iteration to this file
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) record: Option<PathBuf>,
    /// Print one JSON object at the end, and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar and no summary
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Write the state of the run to this file from time to time, at the end, and on SIGINT or SIGTERM; the one
    /// before it is kept as PATH.prev
    #[arg(long, value_name = "PATH")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Wall seconds between checkpoints [default: 60, or 100 times what one takes]
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) checkpoint_every: Option<String>,
    /// Go on from a checkpoint; nothing else need be given. Beside it: new stops (the one that ended the
    /// run no longer counts then), outputs, threads, or --data where the data has moved
    #[arg(long, value_name = "PATH")]
    pub(crate) resume: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(crate) train: TrainArgs,
    /// How far the primal may be from the optimum anywhere on the path: absolute, or in percent of the primal there, as
    /// in 5% [default: 0.1]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) eps: Option<String>,
    /// Start of the path or of an even grid: a number, 1/n or c:X; above it the first weights serve, scaled [default:
    /// where answers begin to change]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) lambda_max: Option<String>,
    /// The smallest lambda [default: 1e-5]
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) lambda_min: Option<String>,
    /// Breakpoints are optimised to a gap of K times eps, 0 < K < 1 [default: 0.9]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) kappa: Option<String>,
    /// A grid instead: lambdas divided by commas, or how many, evenly in log(lambda) from --lambda-max
    /// down to --lambda-min; each is trained to --gap (or eps)
    #[arg(long, value_name = "L1,L2,..|N", allow_hyphen_values = true)]
    pub(crate) grid: Option<String>,
    /// What a grid's point starts from: keep-primal, keep-dual or none [default: keep-primal]
    #[arg(long, value_name = "NAME")]
    pub(crate) warm_start: Option<String>,
    /// Cross-validate: a number of folds, or `folds` for those of the data. Each fold has the whole of --passes,
    /// --calls and --seconds to itself; no checkpoints
    #[arg(long, value_name = "K")]
    pub(crate) cv: Option<String>,
}

/// Options of `update`: those of `train`, laid over the run of the checkpoint.
#[derive(Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) train: TrainArgs,
    /// Examples to leave out: their numbers, from 0, in the data file, as in 3,17 or 0-9
    #[arg(long, value_name = "IDS")]
    pub(crate) remove: Option<String>,
    /// How much examples count from now on: a file with one number >= 0 a line, for each example of the data
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// A run specification, as `train` takes it; flags and --set override it
    #[arg(value_name = "RUN.toml")]
    pub(crate) spec: Option<PathBuf>,
    /// The task (see `describe task`)
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,
    /// The data; only an external program may need none
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Option<PathBuf>,
    /// Format of the data [default: guessed from name and content]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Any parameter by its dotted name
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// As of `train`; nothing that is examined depends on it
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) lambda: Option<String>,
    /// Examples that are decoded, chosen at random if there are more
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) examples: usize,
    /// Seconds after which no further example is begun
    #[arg(long, value_name = "S", default_value_t = 120.0)]
    pub(crate) seconds: f64,
    /// Passes of the run that the forecast is for
    #[arg(long, value_name = "X", default_value_t = 50.0)]
    pub(crate) passes: f64,
    /// Seed of the choice of examples and weights
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompactArgs {
    /// A model saved by `train` or `path`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Of a path or grid, the weights at this lambda [default: what held-out examples chose]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) lambda: Option<String>,
    /// Where to save the copy
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// A model saved by `train` or `path`
    #[arg(value_name = "MODEL", required_unless_present = "model_option")]
    model: Option<PathBuf>,
    /// The same as an option
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "model", hide = true)]
    model_option: Option<PathBuf>,
    /// Of a path or grid, the weights at this lambda [default: what held-out examples chose, else a table of all]
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    pub(crate) lambda: Option<String>,
    /// How many weights of each table, and of each label in a table with a row for each
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl ShowArgs {
    /// The model, however it was given.
    pub(crate) fn model(&self) -> &Path {
        self.model.as_deref().or(self.model_option.as_deref()).unwrap_or(Path::new(""))
    }
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) on: OnData,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The prior of the run, where it had one: the model does not hold its weights
    #[arg(long, value_name = "MODEL")]
    pub(crate) prior: Option<PathBuf>,
    /// The files of a model of sharded training, in their order; they are read one after the other
    #[arg(long, value_name = "D", num_args = 1.., conflicts_with_all = ["data", "checkpoint", "lambda"])]
    pub(crate) shards: Vec<PathBuf>,
    /// A checkpoint of the run that the model comes from: recomputes dual and gap from its planes, too
    #[arg(long, value_name = "C")]
    pub(crate) checkpoint: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct InferArgs {
    /// The problem, a .uai, .wcsp, .cfn or .max file; .gz is read directly
    #[arg(long, value_name = "F")]
    pub(crate) data: PathBuf,
    /// An engine (see `describe engine`) [default: the first that applies, exact ones before approximate ones]
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// Stop each solve after S seconds, with the best labelling so far (not for .max)
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) seconds: Option<f64>,
    /// Solve R times from the beginning and report the median time
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) repeat: usize,
    /// Where to write the labels, one per line, in the order of the variables
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object at the end, and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress line and no summary
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct DescribeArgs {
    /// solver, task, run, path, stream, oracle, loss, kernel, format or engine; or any word: what has this name, or the
    /// parameters that have the word in their names or texts [default: everything, in short]
    pub(crate) kind: Option<String>,
    /// One of them
    pub(crate) name: Option<String>,
    /// Of a solver, all there is to set and to choose
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// A command, as in `man train` or `man data make` [default: the program's page]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands here, as multiplane.1, multiplane-train.1, ...; the directory is made if need be
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Write a seeded synthetic data set: `letters` (handwritten-like words in the format of letter.data), `chunks`
    /// (sentences with parts of speech and chunk tags in the format conll), `trees` (sentences as trees of words in the
    /// format tree), `graphs` (small pictures in the format graph), `scenes` (rows with any of six labels in the format
    /// multilabel), `rotamers` (folded chains, mrf), `boxes` (pictures with an object) or `poses` (stick figures)
    Make(MakeArgs),
}

#[derive(Args)]
pub(crate) struct MakeArgs {
    /// Which: letters, chunks, trees, graphs, scenes, rotamers, boxes or poses
    pub(crate) name: String,
    /// Where to write it
    #[arg(long, value_name = "F")]
    pub(crate) out: PathBuf,
    /// Examples (words, sentences, pictures, scenes or chains)
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub(crate) n: usize,
    /// Seed
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Returns what can be learned.
fn tasks() -> String {
    let names: Vec<&str> = TASKS.iter().filter(|task| !task.is_program).map(|task| task.name).collect();
    format!("One of {}; or external, a program of your own (see `describe task`)", names.join(", "))
}

/// Reads a command line.
///
/// # Errors
///
/// One that is none, or that asks for help.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(arguments)?)
}

/// Returns the command line as it is shown: what `path` shares with `train` has a help of its own there.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command().mut_subcommand("path", |path| {
        let helps = [
            ("lambda", "Of a grid, the same as --lambda-max: a path has all lambdas"),
            ("gap", "Of a grid, train each point to a gap of at most X, or X% of the primal [default: --eps]"),
            ("passes", "End early after X passes (oracle calls of training / n) in all [default: no limit]"),
            ("calls", "End early after N oracle calls of training in all"),
            ("seconds", "End early after S seconds of training and evaluation in all"),
            ("spec", "A run specification; flags and --set override it. Its lambda and gap play no part in a path"),
            ("out", "Where to save the weights of all breakpoints, for `predict --lambda X`"),
            ("json", "Print one JSON object with all breakpoints at the end, and nothing else"),
            (
                "checkpoint",
                "Write the state of the path to this file from time to time, at the end, and on SIGINT or SIGTERM",
            ),
            ("resume", "Go on from a checkpoint of a path or grid; nothing else need be given"),
        ];
        let path = helps.into_iter().fold(path, |path, (name, help)| path.mut_arg(name, |arg| arg.help(help)));
        ["stream", "prior", "freeze", "patience"]
            .into_iter()
            .fold(path, |path, name| path.mut_arg(name, |arg| arg.hide(true)))
    });
    completed(command, "multiplane")
}
