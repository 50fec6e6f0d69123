//! Times of oracle calls on sentences whose trees are to be found: `cargo run --release -p multiplane-tasks --example
//! arborescence -- [WORDS] [FEATURES] [FEATURES OF A WORD]`, 40 words with 8 of 500 features each where nothing is said.

use std::hint::black_box;
use std::time::Instant;

use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, ExampleOf, KBest, LabelMarginals, Question, Task};
use multiplane_tasks::builtin::tree::arborescence::{ArborescenceScratch, ArborescenceTask, Sentence};
use multiplane_tasks::data::SparseRows;

fn main() {
    let mut given = std::env::args().skip(1).map(|text| text.parse().expect("a whole number"));
    let [words, features, own] = [40, 500, 8].map(|usual| given.next().unwrap_or(usual));
    let mut rng = Rng::new(1, 0);
    let task = ArborescenceTask::new(features, vec![1, 2, 3, 5, 10], true, true);
    let w: Vec<f64> = (0..task.dim()).map(|_| rng.unit() - 0.5).collect();
    let mut sentence = || {
        let mut x = SparseRows::new(features);
        for _ in 0..words {
            let mut indices: Vec<u32> = (0..own).map(|_| rng.below(features as u64) as u32).collect();
            indices.sort_unstable();
            indices.dedup();
            x.push_ones(&indices);
        }
        Sentence::new(x)
    };
    let sentences: Vec<Sentence> = (0..50).map(|_| sentence()).collect();
    let truth: Vec<u32> = (0..words as u32).collect();
    let (mut heads, mut plane, mut list) = (Vec::new(), Plane::new(), vec![truth.clone(); 10]);
    let (mut marginals, mut table) = (vec![0.0; task.len(example(&sentences[0], &truth)).unwrap()], Vec::new());
    let question = |x| Question::augmented(example(x, &truth), &w);
    time("decode", 40, &sentences, |x, scratch| {
        black_box(task.decode(question(x).call(scratch, &mut ()), &mut heads)).expect("a tree");
    });
    time("plane", 40, &sentences, |x, scratch| {
        task.plane(Case::new(example(x, &truth), 1.0, scratch, &mut ()), &heads, &mut plane);
    });
    time("the 10 best", 4, &sentences, |x, scratch| {
        black_box(task.top(question(x).call(scratch, &mut ()), &mut list)).expect("trees");
    });
    time("max-marginals", 2, &sentences, |x, scratch| {
        task.max_marginals(question(x).call(scratch, &mut ()), &mut table).expect("trees");
    });
    time("marginals", 10, &sentences, |x, scratch| {
        black_box(task.gibbs(question(x).call(scratch, &mut ()), 1.0, &[], &mut marginals)).expect("trees");
    });
    time("expected plane", 10, &sentences, |x, scratch| {
        task.expected(Case::new(example(x, &truth), 1.0, scratch, &mut ()), &marginals, &mut plane);
    });
}

/// Puts `x` and its truth together.
fn example<'a>(x: &'a Sentence, truth: &'a Vec<u32>) -> ExampleOf<'a, ArborescenceTask> {
    ExampleOf::<ArborescenceTask> { index: 0, input: x, truth }
}

/// Prints the mean time of a call, of the fastest round.
fn time<'a>(
    what: &str,
    rounds: usize,
    sentences: &'a [Sentence],
    mut call: impl FnMut(&'a Sentence, &mut ArborescenceScratch),
) {
    let (mut scratch, mut best) = (ArborescenceScratch::default(), f64::INFINITY);
    for _ in 0..rounds {
        let start = Instant::now();
        for x in sentences {
            call(x, &mut scratch);
        }
        best = best.min(start.elapsed().as_secs_f64() / sentences.len() as f64);
    }
    println!("{what:<16}{:10.1} us", 1e6 * best);
}
