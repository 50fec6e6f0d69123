//! Runs on changed data that begin at the point of the run before: their bounds are true, what is removed is gone, and
//! kills on the way change no bit.

use multiplane::data::{Classified, SparseRows, Words};
use multiplane::dataset::Dataset;
use multiplane::synth::{single_letters, synthetic_words};
use multiplane::{
    Checkpoint, Checkpointer, EarlierRun, Error, Model, Outputs, RunOptions, RunSpec, Session, Summary, influences,
    read_data,
};
use serde_json::{Value, json};

fn session(task: &str, solver: &str, stop: &Value, data: Dataset) -> Session {
    let tree = json!({"task": task, "solver": solver, "stop": stop, "clock": "work", "seed": 5});
    Session::on(RunSpec::from_tree(tree.as_object().unwrap()).unwrap(), data, None).unwrap()
}

/// Model and report of a run that begins at a checkpoint of other data, if there is one, with the checkpoint that it
/// leaves. It is cut after each of these numbers of calls, and resumed.
fn run(
    (task, solver): (&str, &str),
    data: &Dataset,
    before: Option<&Checkpoint>,
    cuts: &[u64],
) -> (Model, Summary, Checkpoint) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("c");
    let mut resume = None;
    let stops = cuts.iter().map(|calls| json!({"gap": "1%", "calls": calls}));
    let mut last = None;
    for stop in stops.chain([json!({"gap": "1%", "calls": 100_000_000})]) {
        let session = session(task, solver, &stop, data.clone());
        let start = before
            .filter(|_| resume.is_none())
            .map(|before| session.start_from(&EarlierRun::of(before.clone()).unwrap(), None).unwrap());
        let warn = |text: &str| panic!("{text}");
        let checkpointer = Checkpointer::open(&place, None, Box::new(Outputs::default), Box::new(warn)).unwrap();
        let hooks = RunOptions { checkpointer: Some(checkpointer), resume, start, ..RunOptions::default() };
        let (model, summary) = session.run(hooks).unwrap();
        resume = Some(Checkpoint::load(&place).unwrap());
        last = Some((model, summary));
    }
    let (model, summary) = last.unwrap();
    (model, summary, resume.unwrap())
}

/// The report without what only the run says that began.
fn figures(summary: &Summary) -> Value {
    let mut figures = serde_json::to_value(summary).unwrap();
    figures.as_object_mut().unwrap().remove("update");
    figures
}

fn bounds(summary: &Summary) -> (f64, f64) {
    (summary.certificate.primal, summary.certificate.dual.unwrap())
}

/// Words of the data that changes in the beginning, and letters of each.
const SMALL: (usize, usize) = (3, 2);

/// Cuts words off after so many letters.
fn beginnings(of: &Words, most: usize) -> Words {
    let (folds, mut pixels) = (of.folds.clone(), SparseRows::new(of.pixels.columns()));
    let (mut letters, mut offsets) = (Vec::new(), vec![0]);
    for range in (0..of.len()).map(|word| of.range(word)) {
        let range = range.start..range.end.min(range.start + most);
        letters.extend(&of.letters[range.clone()]);
        pixels.append(&of.pixels, range);
        offsets.push(letters.len());
    }
    Words { offsets, letters, pixels, folds }
}

/// A random change of words: some go, some come, some have other letters, some count for more.
struct Changing {
    words: Words,
    weights: Vec<f64>,
    pool: Words,
    seed: u64,
}

impl Changing {
    fn new(seed: u64) -> Self {
        let pool = beginnings(&synthetic_words(60, seed), SMALL.1);
        let first: Vec<usize> = (0..SMALL.0).collect();
        Changing { words: pool.subset(&first), weights: vec![1.0; first.len()], pool, seed }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    fn change(&mut self) {
        let n = self.weights.len();
        match self.draw(4) {
            0 if n > 2 => {
                let gone = self.draw(n);
                let left: Vec<usize> = (0..n).filter(|&word| word != gone).collect();
                self.words = self.words.subset(&left);
                self.weights.remove(gone);
            }
            1 => {
                let at = self.draw(self.words.letters.len());
                self.words.letters[at] = self.draw(26) as u8;
            }
            2 => {
                let at = self.draw(n);
                self.weights[at] = 0.5 + self.draw(4) as f64;
            }
            _ => {
                let new = self.draw(60);
                let mut tokens = self.words.pixels.clone();
                tokens.append(&self.pool.pixels, self.pool.range(new));
                let letters = self.pool.letters[self.pool.range(new)].to_vec();
                self.words.letters.extend(letters);
                self.words.pixels = tokens;
                self.words.offsets.push(self.words.letters.len());
                self.words.folds.push(0);
                self.weights.push(1.0);
            }
        }
    }

    fn data(&self, task: &str) -> Dataset {
        match task {
            "chain" => Dataset::new(self.words.clone()).with_weights(self.weights.clone()).unwrap(),
            _ => Dataset::new(single_letters(&self.words)),
        }
    }
}

/// Follows a sequence of changes twice, once with kills: the same bits, and each time the optimum, which a run from the
/// beginning brackets, lies within the bounds. Returns the number of updates that made calls, and of those that made none.
fn follow(kind: (&str, &str), seed: u64, changes: usize) -> (usize, usize) {
    let mut changing = Changing::new(seed);
    let data = changing.data(kind.0);
    let mut plain = run(kind, &data, None, &[]).2;
    let (mut killed, mut made) = (plain.clone(), 0);
    for step in 0..changes {
        changing.change();
        let data = changing.data(kind.0);
        let (model, summary, left) = run(kind, &data, Some(&plain), &[]);
        let calls = summary.cost.oracle_calls;
        made += usize::from(calls > 0);
        let (model_of_killed, of_killed, left_of_killed) =
            run(kind, &data, Some(&killed), &[1.max(calls / 3), 1.max(calls / 2)]);
        let place = format!("{kind:?}, seed {seed}, change {step}");
        assert!(model.to_bytes().unwrap() == model_of_killed.to_bytes().unwrap(), "{place}: the models differ");
        assert_eq!(figures(&summary), figures(&of_killed), "{place}");
        let start = summary.update.unwrap();
        let anew = bounds(&run(kind, &data, None, &[]).1);
        let (primal, dual) = bounds(&summary);
        assert!(dual <= anew.0 + 1e-9 && anew.1 <= primal + 1e-9, "{place}: {primal} {dual}, anew {anew:?}");
        assert!(start.certificate.dual.unwrap() <= anew.0 + 1e-9, "{place}: it began above the optimum");
        assert!(start.certificate.primal >= anew.1 - 1e-9, "{place}: it began below the optimum");
        assert!(summary.certificate.certified && primal - dual <= 0.01 * primal, "{place}");
        (plain, killed) = (left, left_of_killed);
    }
    (made, changes - made)
}

const KINDS: [(&str, &str); 6] = [
    ("chain", "auto"),
    ("chain", "bcfw"),
    ("chain", "mp-bcfw-avg"),
    ("chain", "bcpfw-gap-cache"),
    ("multiclass", "auto"),
    ("multiclass", "mp-bcfw"),
];

#[test]
fn sequences_of_changes_keep_their_promises() {
    for seed in 0..6 {
        follow(KINDS[seed as usize % KINDS.len()], seed, 2);
    }
}

/// The same 200 times: `cargo test -p multiplane --test all updates:: -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_sequences_of_changes_keep_their_promises() {
    let calls = (6..206).map(|seed| follow(KINDS[seed as usize % KINDS.len()], seed, 4));
    let (made, none) = calls.fold((0, 0), |(made, none), of| (made + of.0, none + of.1));
    println!("200 sequences: {made} updates made calls, {none} ended where they began");
    assert!(made > none, "most updates must have something to do");
}

fn rows(of: &[(&[(u32, f64)], &str)]) -> Dataset {
    let mut names: Vec<String> = of.iter().map(|(_, name)| (*name).to_owned()).collect();
    names.sort();
    names.dedup();
    let mut data = Classified { rows: SparseRows::new(0), names, ..Classified::default() };
    for (row, name) in of {
        let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().copied().unzip();
        data.rows.push(&indices, &values);
        data.labels.push(data.names.iter().position(|known| known == name).unwrap() as i64);
    }
    Dataset::new(data)
}

const ROWS: [(&[(u32, f64)], &str); 5] = [
    (&[(0, 1.0), (1, 0.5)], "aye"),
    (&[(0, 0.25), (2, 1.0)], "nay"),
    (&[(1, 0.75)], "aye"),
    (&[(2, 0.5), (3, 0.0123456789)], "perhaps"),
    (&[(0, 0.5), (2, 0.75)], "nay"),
];

/// Once an example is removed, neither its name nor its numbers are in checkpoint or model; the digests are those of
/// the others. Its label and its column are gone, and the weights of the others are where their names say.
#[test]
fn what_is_removed_is_gone() {
    for solver in ["auto", "bcfw", "bcpfw"] {
        let kind = ("multiclass", solver);
        let before = run(kind, &rows(&ROWS), None, &[]).2;
        let without = [ROWS[0], ROWS[1], ROWS[2], ROWS[4]];
        let (model, summary, left) = run(kind, &rows(&without), Some(&before), &[]);
        let changes = summary.update.unwrap().changes;
        assert_eq!((changes.kept, changes.removed, changes.added), (4, 1, 0), "{solver}");
        let (had, has) = (before.to_bytes().unwrap(), [left.to_bytes().unwrap(), model.to_bytes().unwrap()].concat());
        let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!holds(&has, b"perhaps"), "{solver}: the name of its label");
        // The value with its share then and now, of either sign; the last bits may be others.
        let own: f64 = 0.0123456789;
        let parts = [1.0, 0.2, 0.25].map(|share| (share * own).to_le_bytes()[2..].to_vec());
        let has_own = |bytes: &[u8]| {
            parts.iter().any(|part| {
                let mut negative = part.clone();
                negative[5] |= 0x80;
                holds(bytes, part) || holds(bytes, &negative)
            })
        };
        assert!(has_own(&had) && !has_own(&has), "{solver}: its numbers");
        let anew = run(kind, &rows(&without), None, &[]);
        assert_eq!(anew.0.w.len(), model.w.len());
        let ((primal, dual), (other, below)) = (bounds(&summary), bounds(&anew.1));
        assert!(dual <= other + 1e-12 && below <= primal + 1e-12, "{solver}");
    }
}

/// New labels and new columns keep the weights of the old ones: the run begins with the planes of all old examples.
#[test]
fn a_vocabulary_may_grow() {
    for solver in ["auto", "bcfw"] {
        let kind = ("multiclass", solver);
        let before = run(kind, &rows(&[ROWS[0], ROWS[1], ROWS[2], ROWS[4]]), None, &[]);
        let (_, summary, _) = run(kind, &rows(&ROWS), Some(&before.2), &[]);
        let start = summary.update.unwrap();
        assert_eq!((start.changes.kept, start.changes.removed, start.changes.added), (4, 0, 1), "{solver}");
        // Without its planes it would begin at F = 0; what is left is the part of the new example.
        let (dual, old) = (start.certificate.dual.unwrap(), bounds(&before.1).1);
        assert!(dual > 0.7 * old, "{solver}: began at {dual}, before {old}");
        let (primal, dual) = bounds(&summary);
        assert!(primal - dual <= 0.01 * primal, "{solver}");
    }
}

/// The same data is no change: the run ends where it begins, without a call.
#[test]
fn nothing_changed_takes_no_call() {
    let data = Changing::new(3).data("chain");
    let before = run(("chain", "auto"), &data, None, &[]);
    let (_, summary, _) = run(("chain", "auto"), &data, Some(&before.2), &[]);
    assert_eq!((summary.cost.oracle_calls, summary.cost.evaluation_calls), (0, 0));
    assert!(summary.certificate.primal <= before.1.certificate.primal * (1.0 + 1e-12));
}

/// What cannot be updated says why.
#[test]
fn what_cannot_be_updated_says_why() {
    let data = Changing::new(3).data("multiclass");
    let refusal = |task: Value, solver: &str, before: (&str, &str)| {
        let left = run(before, &data, None, &[]).2;
        let tree = json!({"task": task, "solver": solver, "stop": {"calls": 40}, "clock": "work"});
        let session = Session::on(RunSpec::from_tree(tree.as_object().unwrap()).unwrap(), data.clone(), None).unwrap();
        match session.start_from(&EarlierRun::of(left).unwrap(), None) {
            Err(Error::Input(reason)) => reason,
            other => panic!("{:?}", other.err()),
        }
    };
    let kernel = json!({"name": "multiclass", "kernel": {"name": "rbf", "gamma": 0.2}});
    for (task, solver, before, part) in [
        (json!("multiclass"), "ssg", ("multiclass", "auto"), "solver `ssg` keeps no dual point of single examples"),
        (json!("multiclass"), "one-slack", ("multiclass", "one-slack"), "`one-slack` keeps no dual point"),
        (json!("multiclass"), "bcfw", ("multiclass", "auto"), "an update keeps the solver"),
        (kernel, "auto", ("multiclass", "auto"), "an update: not with a kernel"),
    ] {
        let reason = refusal(task, solver, before);
        assert!(reason.contains(part), "{reason}");
    }
}

/// Ranks of numbers.
fn ranks(of: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[a].total_cmp(&of[b]));
    let mut ranks = vec![0.0; of.len()];
    order.iter().enumerate().for_each(|(rank, &k)| ranks[k] = rank as f64);
    ranks
}

/// The influence of the examples is in the order of what happens when each of them leaves.
#[test]
fn influence_is_in_the_order_of_exact_removal() {
    let (words, others) = (synthetic_words(24, 2), Dataset::new(synthetic_words(30, 9)));
    let tree = json!({"task": "chain", "lambda": 0.05, "stop": {"gap": "0.01%", "passes": 2000}, "clock": "work"});
    let spec = || RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    let hinge = |data: &Dataset, before: Option<&Checkpoint>| {
        let session = Session::on(spec(), data.clone(), Some(others.clone())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("c");
        let checkpointer = Checkpointer::open(&place, None, Box::new(Outputs::default), Box::new(|_| ())).unwrap();
        let start = before.map(|before| session.start_from(&EarlierRun::of(before.clone()).unwrap(), None).unwrap());
        let hooks = RunOptions { checkpointer: Some(checkpointer), start, ..RunOptions::default() };
        let model = session.run(hooks).unwrap().0;
        let test = session.test().unwrap();
        let sum: f64 = (0..test.blocks()).map(|block| test.reference().hinge(block, &model.w).unwrap()).sum();
        (sum, Checkpoint::load(&place).unwrap(), session)
    };
    let (with_all, checkpoint, session) = hinge(&Dataset::new(words.clone()), None);
    let found = influences(&session, &EarlierRun::of(checkpoint.clone()).unwrap(), false).unwrap();
    let without = |gone: usize| -> Vec<usize> { (0..24).filter(|&word| word != gone).collect() };
    let exact: Vec<f64> = (0..24)
        .map(|gone| hinge(&Dataset::new(words.subset(&without(gone))), Some(&checkpoint)).0 - with_all)
        .collect();
    let (one, other) = (ranks(&found), ranks(&exact));
    let mean = 11.5;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let correlation = product(&one, &other) / product(&one, &one);
    println!("rank correlation of influence with exact removal: {correlation:.3}");
    assert!(correlation > 0.5, "{correlation}");
}

/// The calls that updates of all OCR words take, as shares of what training anew takes, all to a gap of 1 %.
#[test]
#[ignore = "takes minutes; needs MULTIPLANE_DATA"]
fn updates_of_ocr_take_few_calls() {
    let Ok(folder) = std::env::var("MULTIPLANE_DATA") else {
        println!("updates_of_ocr_take_few_calls: skipped, MULTIPLANE_DATA is not set");
        return;
    };
    let data = read_data(&std::path::Path::new(&folder).join("ocr/letter.data.gz"), None, None).unwrap();
    let (kind, n) = (("chain", "auto"), data.len());
    let calls = |summary: &Summary| (summary.cost.oracle_calls + summary.cost.evaluation_calls) as f64;
    let (_, whole, checkpoint) = run(kind, &data, None, &[]);
    println!("{n} words: {} calls, gap {:?}", calls(&whole), whole.certificate.gap);
    let mut missed = Vec::new();
    let mut check = |what: &str, updated: &Summary, anew: &Summary, most: f64| {
        let share = calls(updated) / calls(anew);
        let start = updated.update.unwrap().certificate;
        let of_start = start.gap.map_or(f64::NAN, |gap| 100.0 * gap / start.primal);
        println!(
            "{what}: {} of {} calls, {:.2} %; began at {of_start:.3} %",
            calls(updated),
            calls(anew),
            100.0 * share
        );
        missed.extend((share > most).then(|| format!("{what}: {share}")));
    };
    for (count, most) in [(1, 0.02), (n / 100, 0.1), (n / 10, 0.4)] {
        let left: Vec<usize> =
            (0..n).filter(|word| word % (n / count) != n / count / 2 || word / (n / count) >= count).collect();
        let part = data.subset(&left);
        let (_, anew, before) = run(kind, &part, None, &[]);
        let (_, updated, _) = run(kind, &part, Some(&checkpoint), &[]);
        check(&format!("{} removed", n - left.len()), &updated, &anew, most);
        if count == n / 10 {
            let (_, updated, _) = run(kind, &data, Some(&before), &[]);
            check(&format!("{} added", n - left.len()), &updated, &whole, 0.25);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
