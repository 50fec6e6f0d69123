//! Times sum-product against max-product, trees against chains, and arborescences: `marginals [ROUNDS]`.
//!
//! Prints one line of JSON per measurement: medians over ROUNDS (default 200) of alternating batches, in microseconds a
//! call.

use std::time::Instant;

use multiplane_infer::chain::ChainView;
use multiplane_infer::engine::unwatched;
use multiplane_infer::marginals::{ChainMarginals, ForwardBackward, Transitions};
use multiplane_infer::tree::Tree;
use multiplane_infer::viterbi::Viterbi;
use multiplane_infer::{Engine, Mrf, Table, Term};

type Measured<'a> = (&'static str, Box<dyn FnMut(usize) + 'a>);

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(200);
    words(rounds);
    if std::env::args().nth(2).is_none() { trees(rounds); }
}

/// Runs batches of calls in turn and prints the median time of a call of each.
fn report(what: &str, rounds: usize, batch: usize, measured: &mut [Measured]) {
    let mut times = vec![Vec::new(); measured.len()];
    for _ in 0..rounds {
        for ((_, call), times) in measured.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (0..batch).for_each(&mut *call);
            times.push(start.elapsed().as_secs_f64() * 1e6 / batch as f64);
        }
    }
    let fields: Vec<String> = measured
        .iter()
        .zip(&mut times)
        .map(|((name, _), times)| {
            times.sort_by(f64::total_cmp);
            format!("\"{name}_us\":{:.3}", times[times.len() / 2])
        })
        .collect();
    println!("{{\"problem\":\"{what}\",\"rounds\":{rounds},\"batch\":{batch},{}}}", fields.join(","));
}

/// Numbers in [-1, 1) that repeat from run to run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn table(&mut self, count: usize, size: f64) -> Vec<f64> {
        (0..count).map(|_| size * self.next()).collect()
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * count as f64) as usize
    }
}

/// Chains as of OCR: 26 labels, 8 positions.
fn words(rounds: usize) {
    let (len, labels, count) = (8, 26, 100);
    for (what, size) in [("word", 3.0), ("word of large scores", 3000.0)] {
        let mut random = Random(1);
        let pair = random.table(labels * labels, size);
        let unaries: Vec<Vec<f64>> = (0..count).map(|_| random.table(len * labels, size)).collect();
        let (mut viterbi, mut path) = (Viterbi::default(), Vec::new());
        let mut transitions = Transitions::default();
        transitions.set_shared(labels, &pair).expect("scores are finite");
        let (mut engine, mut other, mut out) =
            (ForwardBackward::default(), ForwardBackward::default(), ChainMarginals::default());
        let mut measured: [Measured; 4] = [
            (
                "viterbi",
                Box::new(|k| {
                    viterbi.solve(ChainView { labels, unary: &unaries[k % count], pair: &pair }, &mut path);
                }),
            ),
            ("sum_product", Box::new(|k| engine.solve(&unaries[k % count], &transitions, &mut out).expect("allowed"))),
            (
                "log_partition",
                Box::new(|k| {
                    other.log_partition(&unaries[k % count], &transitions).expect("allowed");
                }),
            ),
            (
                "transitions",
                Box::new(|_| {
                    let mut fresh = Transitions::default();
                    fresh.set_shared(labels, &pair).expect("scores are finite");
                }),
            ),
        ];
        report(what, rounds, count, &mut measured);
    }
}

/// Random trees of 50 nodes with 10 labels, and chains of the same size, by the same table and by tables of their own.
fn trees(rounds: usize) {
    let (nodes, labels, count) = (50, 10, 20);
    let mut random = Random(2);
    let pair = random.table(labels * labels, 1.0);
    let unaries: Vec<Vec<f64>> = (0..count).map(|_| random.table(nodes * labels, 1.0)).collect();
    let mut model = |unary: &[f64], is_chain: bool, shared: bool| {
        let mut mrf = Mrf::new();
        for node in unary.chunks(labels) {
            mrf.add_node(node).expect("finite");
        }
        let mut term = None;
        for node in 1..nodes {
            let known = term.filter(|_| shared);
            let of_edge = known.unwrap_or_else(|| {
                let table = if shared { pair.clone() } else { random.table(labels * labels, 1.0) };
                mrf.add_term(Term::Table(Table::new(labels, table).expect("finite"))).expect("sound")
            });
            term = Some(of_edge);
            let parent = if is_chain { node - 1 } else { random.below(node) };
            mrf.add_edge(parent as u32, node as u32, of_edge, 1.0).expect("sound");
        }
        mrf
    };
    let mut models = |is_chain, shared| -> Vec<Mrf> { unaries.iter().map(|unary| model(unary, is_chain, shared)).collect() };
    let kinds = [models(true, true), models(false, true), models(true, false), models(false, false)];
    let solver = |models: &'static [Mrf]| -> Box<dyn FnMut(usize)> {
        let mut engines: Vec<Tree> = models.iter().map(|_| Tree::default()).collect();
        let mut found = Vec::new();
        Box::new(move |k| drop(engines[k % count].solve(&models[k % count], &mut unwatched, &mut found)))
    };
    let [a, b, c, d] = kinds.map(|models| -> &'static [Mrf] { Vec::leak(models) });
    let (mut viterbi, mut path) = (Viterbi::default(), Vec::new());
    let mut measured: [Measured; 5] = [
        (
            "viterbi",
            Box::new(|k| {
                viterbi.solve(ChainView { labels, unary: &unaries[k % count], pair: &pair }, &mut path);
            }),
        ),
        ("chain_by_tree", solver(a)),
        ("tree", solver(b)),
        ("chain_own_tables", solver(c)),
        ("tree_own_tables", solver(d)),
    ];
    report("50 nodes, 10 labels", rounds, count, &mut measured);
}
