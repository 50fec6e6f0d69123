//! The parts of an experiment: data sets, runs, figures, tables and claims.

use super::data_sets::DataSet;
use super::records::Records;
use crate::chart::Chart;

/// How much an experiment runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Seconds: only shows that all parts work.
    Tiny,
    /// Minutes on two cores.
    Quick,
    /// The paper's passes and repeats.
    Full,
}

/// A size and the number of repeats.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// How much is run.
    pub size: Size,
    /// Repeats, each with a seed of its own.
    pub seeds: u64,
}

impl Scale {
    /// Chooses a value by size.
    pub(crate) fn pick<T>(&self, tiny: T, quick: T, full: T) -> T {
        match self.size {
            Size::Tiny => tiny,
            Size::Quick => quick,
            Size::Full => full,
        }
    }
}

/// A reproduction of some figures or tables of a paper.
pub struct Experiment {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of what it shows.
    pub title: &'static str,
    /// The paper and its figures.
    pub source: &'static str,
    /// The runs in words, and how they differ from the paper.
    pub about: &'static str,
    /// The data sets it may use.
    pub data: &'static [&'static DataSet],
    /// The sets that are not the paper's, or not all of it.
    pub(crate) differs: &'static [(&'static DataSet, Differs)],
    /// Repeats at the paper's size.
    pub(crate) repeats: u64,
    /// CPU seconds of the quick size as kept under `benchmarks/runs`; `None` if not measured.
    pub quick_seconds: Option<u32>,
    /// The same of the paper's size.
    pub full_seconds: Option<u32>,
    /// Lists the runs.
    pub(crate) runs: fn(&Scale) -> Vec<RunPlan>,
    /// Draws finished runs.
    pub(crate) figures: fn(&Records) -> Vec<Figure>,
    /// Sets printed numbers beside ours.
    pub(crate) tables: fn(&Records) -> Vec<PageTable>,
    /// The claims that are judged.
    pub(crate) claims: &'static [Claim],
}

impl Experiment {
    /// Lists the claims that are judged: the identifier in `docs/coverage.md`, and the sentence.
    pub fn claims(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.claims.iter().map(|claim| (claim.id, claim.sentence))
    }
}

/// How a data set differs from the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differs {
    /// It is a part of this many examples, in words.
    Part(&'static str),
    /// It is another set, in the place of this one.
    Other(&'static str),
}

/// One training run.
#[derive(Clone)]
pub(crate) struct RunPlan {
    /// Its data.
    pub(crate) set: &'static DataSet,
    /// Training examples at most; 0 for all.
    pub(crate) examples: usize,
    /// The method: what a curve of a figure stands for.
    pub(crate) case: String,
    /// The setting that methods are compared at, such as lambda.
    pub(crate) at: String,
    /// Seed of all chance.
    pub(crate) seed: u64,
    /// The specification without data, as `--set` takes it: `key=value`, divided by blanks. With keys of `path` or
    /// `grid` it is a path or a grid.
    pub(crate) spec: String,
}

impl RunPlan {
    /// A run of `case` on the work clock and one thread, with bounds evaluated after every pass.
    pub(crate) fn new(set: &'static DataSet, case: &str, spec: &str) -> RunPlan {
        let spec = format!("{} clock=work evaluate=pass threads=1 {spec}", set.task);
        RunPlan { set, examples: 0, case: case.into(), at: String::new(), seed: 0, spec }
    }

    /// The same with more settings.
    pub(crate) fn with(self, more: &str) -> RunPlan {
        RunPlan { spec: format!("{} {more}", self.spec), ..self }
    }

    /// The same at a setting that has this name.
    pub(crate) fn at(self, at: &str) -> RunPlan {
        RunPlan { at: at.into(), ..self }
    }

    /// The same on so many examples at most.
    pub(crate) fn on(self, examples: usize) -> RunPlan {
        RunPlan { examples, ..self }
    }

    /// The same once for each seed.
    pub(crate) fn repeated(self, scale: &Scale) -> impl Iterator<Item = RunPlan> + use<> {
        (0..scale.seeds).map(move |seed| RunPlan { seed, ..self.clone().with(&format!("seed={seed}")) })
    }
}

/// A chart with its text.
pub(crate) struct Figure {
    /// The text below it.
    pub(crate) caption: String,
    /// The chart; its title is the heading, too.
    pub(crate) chart: Chart,
}

/// Printed numbers beside ours, or other figures that are read one by one.
pub(crate) struct PageTable {
    /// The heading.
    pub(crate) heading: String,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The cells.
    pub(crate) rows: Vec<Vec<String>>,
    /// The text below it.
    pub(crate) note: String,
}

impl PageTable {
    /// A table with these columns, without rows.
    pub(crate) fn new(heading: &str, columns: &[&str], note: &str) -> PageTable {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        PageTable { heading: heading.into(), columns, rows: Vec::new(), note: note.into() }
    }
}

/// The origin of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimSource {
    /// The paper's text, figures or tables.
    Paper,
    /// Programs of the paper's authors.
    Code,
    /// Our own expectation.
    Ours,
}

impl ClaimSource {
    /// Returns its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ClaimSource::Paper => "paper",
            ClaimSource::Code => "authors' code",
            ClaimSource::Ours => "ours",
        }
    }
}

/// A claim of a paper, and how it is judged.
pub(crate) struct Claim {
    /// The paper's identifier in `docs/coverage.md`.
    pub(crate) id: &'static str,
    /// Who says so.
    pub(crate) source: ClaimSource,
    /// The claim in a sentence.
    pub(crate) sentence: &'static str,
    /// The number that the paper prints; empty if there is none.
    pub(crate) printed: &'static str,
    /// When it holds, in words: from what the paper says, and never from what was measured.
    pub(crate) threshold: &'static str,
    /// Names, or beginnings of names, of data sets that must be the real ones, divided by blanks: a claim on a number
    /// of the paper's own data says nothing on stand-ins.
    pub(crate) needs: &'static str,
    /// Judges it.
    pub(crate) judge: fn(&Records) -> ClaimFinding,
    /// Why it does not hold, as far as we think, if it does not.
    pub(crate) reason: &'static str,
}

impl Claim {
    /// A claim that no run can test, with a judge that says why.
    pub(crate) const fn untested(
        id: &'static str,
        source: ClaimSource,
        sentence: &'static str,
        judge: fn(&Records) -> ClaimFinding,
    ) -> Claim {
        Claim { id, source, sentence, printed: "", threshold: "none", needs: "", judge, reason: "" }
    }
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClaimFinding {
    /// The figures measured.
    pub(crate) measured: String,
    /// If the claim holds; `None` if it could not be tested.
    pub(crate) holds: Option<bool>,
}

impl ClaimFinding {
    /// A claim that was tested.
    pub(crate) fn of(holds: bool, measured: impl Into<String>) -> ClaimFinding {
        ClaimFinding { measured: measured.into(), holds: Some(holds) }
    }

    /// A claim that could not be tested, for this reason.
    pub(crate) fn untested(reason: impl Into<String>) -> ClaimFinding {
        ClaimFinding { measured: reason.into(), holds: None }
    }

    /// The three words of a verdict.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "could not be tested",
        }
    }
}
