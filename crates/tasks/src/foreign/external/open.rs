//! How an external task is opened: the program starts on a data set.

use std::sync::Arc;

use multiplane_core::executor::PoolStats;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::data::{Opaque, opaque};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::foreign::external::launch::Launch;
use crate::foreign::external::spec::{ExternalSpec, LOCAL};
use crate::foreign::external::worker::ExternalTask;
use crate::foreign::problem::ForeignProblem;
use crate::foreign::task::Shape;
use crate::problem::{MAX_DIM, OpenError, Problem, TaskVocabulary, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<ExternalSpec>("external")
    .summary("a task in any language: a program that answers JSON lines")
    .reads(&[&opaque::FORMAT])
    .without_data(|| Dataset::new(Opaque::default()))
    .layout("[feature], as the program numbers them")
    .is_program()
    .bounded()
    .oracle("the program's; as good as it declares")
    .local(LOCAL);

/// The memory of an external program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ExternalVocabulary {
    /// The value that it wants to be given again.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Value>,
}

impl TaskVocabulary for ExternalVocabulary {}

impl TaskSpec for ExternalSpec {
    /// Starts the program on a data set, with what it wanted to be remembered where there is a model.
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        self.validate()?;
        let Some(data) = data.get::<Opaque>() else {
            return Err(OpenError::new(format!(
                "task `external` hands its data to the program as it is (format opaque), found {}",
                data.describe()
            )));
        };
        let known: Option<ExternalVocabulary> = vocabulary.map(Vocabulary::read).transpose()?;
        let given = known.and_then(|known| known.memory);
        let not_utf8 = || OpenError::new("the path of the data is not UTF-8, so it cannot be handed over: rename it");
        let path = data.path().map(|path| path.to_str().map(str::to_string).ok_or_else(not_utf8)).transpose()?;
        let launch = Arc::new(Launch::new(self.clone(), path, given)?);
        let stats = Arc::new(PoolStats::default());
        let of_workers = stats.clone();
        let make = move || ExternalTask::start(launch.clone(), of_workers.clone());
        let first = make()?;
        let dim = first.dim();
        if dim > MAX_DIM {
            return Err(OpenError::new(first.blame(format!("dim = {dim}: must be at most {MAX_DIM}"))));
        }
        let shape = Shape {
            examples: first.examples(),
            dim,
            nonnegative: first.nonnegative(),
            has_fixed_scores: false,
            fingerprint: fingerprint(data, &first),
            warnings: unidentified(data, &first).into_iter().chain(large(first.examples(), dim)).collect(),
        };
        let vocabulary = Vocabulary::of(ExternalVocabulary { memory: first.memory().cloned() });
        let expected = first.welcome().clone();
        let make_more = move |_: usize| {
            let worker =
                make().map_err(|reason| format!("{reason} (a copy of it runs: --threads 1 needs no other)"))?;
            if !worker.welcome().agrees(&expected) {
                return Err(worker.blame("a second process of the program described another problem".into()));
            }
            Ok(worker)
        };
        let problem = ForeignProblem::new(ENTRY.name, shape, first, Box::new(make_more), stats)?;
        Ok(Box::new(problem.with_vocabulary(vocabulary)))
    }
}

/// Bytes that a run takes for an example before its first answer, and for a weight: w, its averages, what was sent.
const OF_EXAMPLE: f64 = 500.0;
const OF_WEIGHT: f64 = 48.0;

/// The warning that what the program announces takes much memory, where that is so.
fn large(n: usize, d: usize) -> Option<String> {
    let gigabytes = (n as f64 * OF_EXAMPLE + d as f64 * OF_WEIGHT) / 1e9;
    (gigabytes >= 1.0).then(|| format!("{n} examples and dim {d}, as the program says, take about {gigabytes:.0} GB"))
}

/// The warning that nothing tells this data from other data, where that is so.
fn unidentified(data: &Opaque, program: &ExternalTask) -> Option<String> {
    let is_known = data.is_hashed() || program.fingerprint().is_some();
    (!is_known).then(|| {
        "the data is no file and the program gives no fingerprint: other data would go unnoticed at resume and verify"
            .into()
    })
}

/// sha256 of the data file, what the program says of its data, and the problem's size.
fn fingerprint(data: &Opaque, program: &ExternalTask) -> String {
    let mut sha = Sha256::new();
    sha.update(b"external");
    sha.update(data.digest());
    let own = program.fingerprint().unwrap_or_default();
    sha.update((own.len() as u64).to_le_bytes());
    sha.update(own);
    sha.update((program.examples() as u64).to_le_bytes());
    sha.update((program.dim() as u64).to_le_bytes());
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
