//! The demo: the point of the project in half a minute, on built-in data.
//!
//! Words are read letter by letter (multiclass) and as words (chain). The chain is trained by `bcfw`,
//! `mp-bcfw` and `auto`, once with its own fast oracle and once with one made costly, as real oracles are.

use std::fs;
use std::io;
use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::run::StopReason;
use multiplane::synth::{single_letters, synthetic_words};
use multiplane::{Error, Evaluation, Model, RunOptions, RunSpec, Session, data::Words};
use serde_json::{Value, json};

use crate::demo_report;
use crate::findings::{DELAY_US, Findings, Leg, Sample, TARGET, write_file};
use crate::keeper::RecordKeeper;

/// The solvers that are compared.
const SOLVERS: [&str; 3] = ["bcfw", "mp-bcfw", "auto"];

/// Training words.
const TRAIN: usize = 500;
/// Test words.
const TEST: usize = 300;
/// No run trains longer than this, in seconds.
const LIMIT_SECONDS: f64 = 12.0;

/// The demo: where it writes, and who hears of it.
pub struct Demo<'a> {
    /// Folder for the report, curves, records and the model.
    pub out: &'a Path,
    /// Seed of the data and of the solvers.
    pub seed: u64,
    /// Takes texts for the user.
    pub say: &'a dyn Fn(&str) -> Result<(), Error>,
    /// Makes the options of a run, of its name and session: who watches it, and what interrupts it.
    pub options: &'a dyn Fn(&str, &Session) -> RunOptions,
}

impl Demo<'_> {
    /// Trains, and writes the report. Returns `false` if it was interrupted: then the report is of what there was.
    ///
    /// # Errors
    ///
    /// A file could not be written, or a text not be said.
    pub fn run(&self) -> Result<bool, Error> {
        let failed = |error: io::Error| Error::input(format!("{}: cannot be written: {error}", self.out.display()));
        fs::create_dir_all(self.out).map_err(failed)?;
        let words = synthetic_words(TRAIN + TEST, self.seed);
        let (train, test) = split(&words);
        (self.say)(&format!("{TRAIN} training words, {TEST} test words, drawn with seed {}\n", self.seed))?;

        let letters = self.letter_by_letter(&train, &test)?;
        let mut legs = Vec::new();
        let mut model = None;
        for delay_us in [0.0, DELAY_US] {
            for solver in SOLVERS {
                let (trained, leg) = self.chain(solver, delay_us, &train, &test)?;
                save_records(self.out, &leg)?;
                let interrupted = leg.summary.stop_reason == StopReason::Interrupt;
                legs.push(leg);
                model = Some(trained);
                if interrupted {
                    break;
                }
            }
        }
        let Some(model) = model else { return Err(Error::failed("the demo trained nothing")) };
        let model_path = self.out.join("model.safetensors");
        model.save(&model_path)?;
        let test_problem = model.open(Dataset::new(test.clone()))?;
        let findings = Findings {
            letters,
            words: test_problem.predictor().evaluate(&test_problem.from_file_layout(&model.w), 1)?,
            legs,
            samples: samples(&model, &test)?,
        };
        let interrupted = findings.legs.iter().any(|leg| leg.summary.stop_reason == StopReason::Interrupt);
        demo_report::write(self.out, &findings)?;
        (self.say)(&demo_report::text(&findings))?;
        if interrupted {
            (self.say)("\nInterrupted: the report is of what there was, and the model is not trained to its end.")?;
        }
        let report = self.out.join("report.html");
        (self.say)(&format!("\nReport: {}\nModel:  {}\n", report.display(), model_path.display()))?;
        Ok(!interrupted)
    }

    /// Trains on single letters, as if there were no words.
    fn letter_by_letter(&self, train: &Words, test: &Words) -> Result<Evaluation, Error> {
        let spec = spec(json!({
            "task": "multiclass", "solver": "mp-bcfw", "seed": self.seed,
            "stop": {"gap": "5%", "seconds": LIMIT_SECONDS},
        }))?;
        let session = Session::on(spec, Dataset::new(single_letters(train)), None)?;
        let (model, _) = session.run((self.options)("letter by letter", &session))?;
        let test = model.open(Dataset::new(single_letters(test)))?;
        Ok(test.predictor().evaluate(&test.from_file_layout(&model.w), 1)?)
    }

    fn chain(&self, solver: &'static str, delay_us: f64, train: &Words, test: &Words) -> Result<(Model, Leg), Error> {
        let spec = spec(json!({
            "task": "chain", "solver": solver, "seed": self.seed, "oracle": {"delay_us": delay_us},
            "stop": {"gap": TARGET, "seconds": LIMIT_SECONDS},
        }))?;
        let session = Session::on(spec, Dataset::new(train.clone()), Some(Dataset::new(test.clone())))?;
        let label = if delay_us > 0.0 { format!("{solver}, costly oracle") } else { solver.to_string() };
        let keeper = RecordKeeper::default();
        let mut options = (self.options)(&label, &session);
        options.observers.push(Box::new(keeper.clone()));
        let (model, summary) = session.run(options)?;
        Ok((model, Leg { solver, delay_us, summary, records: keeper.records() }))
    }
}

/// The first words for training, the rest for testing.
fn split(words: &Words) -> (Words, Words) {
    let (train, test): (Vec<usize>, Vec<usize>) = (0..words.len()).partition(|&word| word < TRAIN);
    (words.subset(&train), words.subset(&test))
}

fn spec(tree: Value) -> Result<RunSpec, Error> {
    RunSpec::from_tree(tree.as_object().unwrap_or(&serde_json::Map::new()))
}

fn save_records(dir: &Path, leg: &Leg) -> Result<(), Error> {
    let mut lines = String::new();
    for record in &leg.records {
        lines += &serde_json::to_string(record).map_err(|error| Error::failed(error.to_string()))?;
        lines.push('\n');
    }
    let kind = if leg.delay_us > 0.0 { "costly" } else { "fast" };
    write_file(dir, &format!("{}-{kind}.jsonl", leg.solver), &lines)
}

/// Three test words of at most eight letters, the last one misread if any is.
fn samples(model: &Model, test: &Words) -> Result<Vec<Sample>, Error> {
    let mut predictions = Vec::new();
    let problem = model.open(Dataset::new(test.clone()))?;
    problem
        .predictor()
        .predict(&problem.from_file_layout(&model.w), 1, &mut |prediction| predictions.push(prediction))?;
    let short = (0..test.len()).filter(|&word| (4..=8).contains(&test.range(word).len()));
    let (wrong, right): (Vec<usize>, Vec<usize>) = short.partition(|&word| predictions[word].wrong > 0);
    let chosen = right.into_iter().take(2).chain(wrong.into_iter().take(1));
    Ok(chosen
        .map(|word| Sample {
            pixels: test.range(word).map(|letter| image(test, letter)).collect(),
            truth: predictions[word].truth.clone().unwrap_or_default(),
            predicted: predictions[word].text.clone(),
        })
        .collect())
}

fn image(words: &Words, letter: usize) -> [bool; 128] {
    let mut pixels = [false; 128];
    for (index, _) in words.pixels.row(letter).iter() {
        pixels[index as usize] = true;
    }
    pixels
}
