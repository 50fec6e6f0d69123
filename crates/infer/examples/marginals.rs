//! Times sum-product against max-product, trees against chains, arborescences, trees of parts: `marginals [ROUNDS]`.
//!
//! Prints one line of JSON per measurement: medians over ROUNDS (default 1000) of alternating batches, in microseconds
//! a call. Batches are short, so that on a busy machine few are interrupted.

use std::time::Instant;

use multiplane_infer::arborescence::{Arborescence, EdgeMarginals, HeadScores, MatrixTree};
use multiplane_infer::chain::ChainView;
use multiplane_infer::engine::unwatched;
use multiplane_infer::marginals::{
    ChainMarginals, ForwardBackward, Marginals, SumProduct, TiltedChain, Transitions, chain_size,
};
use multiplane_infer::parts::{Limb, PartPlace, PartTree, Rest, Spring};
use multiplane_infer::score_tree::{ROOT, ScoreTree, TreeShape, TreeView};
use multiplane_infer::several::{self, SeveralMemory};
use multiplane_infer::tree::Tree;
use multiplane_infer::viterbi::Viterbi;
use multiplane_infer::{Engine, MBest, Mrf, Table, Term};

type Measured<'a> = (&'static str, Box<dyn FnMut(usize) + 'a>);

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    words(rounds);
    tilted_words(rounds);
    trees(rounds);
    tree_marginals(rounds);
    sentences(rounds);
    several_best(rounds);
    poses(rounds);
}

/// Runs batches of calls in turn and prints the median time of a call of each.
fn report(what: &str, rounds: usize, batch: usize, measured: &mut [Measured]) {
    let mut times = vec![Vec::new(); measured.len()];
    for _ in 0..rounds {
        for ((_, call), times) in measured.iter_mut().zip(&mut times) {
            let first = times.len() * batch; // another part of the problems each time
            let start = Instant::now();
            (first..first + batch).for_each(&mut *call);
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

/// Max-product on chains with these scores, one after the other.
fn max_product<'a>(labels: usize, unaries: &'a [Vec<f64>], pair: &'a [f64]) -> Measured<'a> {
    let (mut viterbi, mut path) = (Viterbi::default(), Vec::new());
    let call = move |k: usize| {
        viterbi.solve(ChainView { labels, unary: &unaries[k % unaries.len()], pair }, &mut path);
    };
    ("viterbi", Box::new(call))
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
        let mut transitions = Transitions::default();
        transitions.set_shared(labels, &pair).expect("scores are finite");
        let (mut engine, mut other, mut out) =
            (ForwardBackward::default(), ForwardBackward::default(), ChainMarginals::default());
        let mut measured: [Measured; 4] = [
            max_product(labels, &unaries, &pair),
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
        report(what, rounds, 10, &mut measured);
    }
}

/// Words that follow others, as in partial linearisation: pair scores are prepared in each call.
fn tilted_words(rounds: usize) {
    let (len, labels, count) = (8, 26, 100);
    for (what, size) in [("tilted word", 30.0), ("of wide pair scores", 250.0), ("of wider ones", 3000.0)] {
        let mut random = Random(8);
        let pair = random.table(labels * labels, size);
        let unaries: Vec<Vec<f64>> = (0..count).map(|_| random.table(len * labels, 2.0 * size)).collect();
        let mut chain = TiltedChain::default();
        let mut to = vec![0.0; chain_size(len, labels)];
        let mut before = |unary: &Vec<f64>| {
            let mut from = to.clone();
            let cool: Vec<f64> = unary.iter().map(|score| 3.0 * score / size).collect();
            TiltedChain::default().solve(labels, &cool, &[0.0; 26 * 26], &[], &mut from).expect("finite");
            from
        };
        let froms: Vec<Vec<f64>> = unaries.iter().rev().map(&mut before).collect();
        let mut measured: [Measured; 2] = [
            max_product(labels, &unaries, &pair),
            (
                "tilted",
                Box::new(|k| {
                    chain.solve(labels, &unaries[k % count], &pair, &froms[k % count], &mut to).expect("finite");
                }),
            ),
        ];
        report(what, rounds, 10, &mut measured);
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
    let mut models =
        |is_chain, shared| -> Vec<Mrf> { unaries.iter().map(|unary| model(unary, is_chain, shared)).collect() };
    let kinds = [models(true, true), models(false, true), models(true, false), models(false, false)];
    let solver = |models: &'static [Mrf]| -> Box<dyn FnMut(usize)> {
        let mut engines: Vec<Tree> = models.iter().map(|_| Tree::default()).collect();
        let mut found = Vec::new();
        Box::new(move |k| drop(engines[k % count].solve(&models[k % count], &mut unwatched, &mut found)))
    };
    let [a, b, c, d] = kinds.map(|models| -> &'static [Mrf] { Vec::leak(models) });
    let shapes: Vec<TreeShape> = (0..count)
        .map(|_| {
            let parents: Vec<u32> =
                (0..nodes).map(|node| if node == 0 { ROOT } else { random.below(node) as u32 }).collect();
            TreeShape::new(&parents).expect("a tree")
        })
        .collect();
    let types = vec![0; nodes];
    let (mut score_tree, mut labelling) = (ScoreTree::default(), Vec::new());
    let mut measured: [Measured; 6] = [
        max_product(labels, &unaries, &pair),
        (
            "score_tree",
            Box::new(|k| {
                let view = TreeView { labels, unary: &unaries[k % count], pair: &pair, types: &types };
                score_tree.solve(view, &shapes[k % count], &mut labelling);
            }),
        ),
        ("chain_by_tree", solver(a)),
        ("tree", solver(b)),
        ("chain_own_tables", solver(c)),
        ("tree_own_tables", solver(d)),
    ];
    report("50 nodes, 10 labels", rounds, 5, &mut measured);
}

/// One random tree of 50 nodes, 10 labels, all edges by one table: max-product, sum-product, min-marginals.
fn tree_marginals(rounds: usize) {
    let (nodes, labels) = (50, 10);
    let mut random = Random(3);
    let mut mrf = Mrf::new();
    for _ in 0..nodes {
        mrf.add_node(&random.table(labels, 1.0)).expect("finite");
    }
    let table = Table::new(labels, random.table(labels * labels, 1.0)).expect("finite");
    let term = mrf.add_term(Term::Table(table)).expect("sound");
    for node in 1..nodes {
        mrf.add_edge(random.below(node) as u32, node as u32, term, 1.0).expect("sound");
    }
    let (mut tree, mut labelling, mut other, mut least) = (Tree::default(), Vec::new(), Tree::default(), Vec::new());
    let (mut sums, mut out) = (SumProduct::default(), Marginals::default());
    let mut measured: [Measured; 3] = [
        ("max_product", Box::new(|_| drop(tree.solve(&mrf, &mut unwatched, &mut labelling)))),
        ("min_marginals", Box::new(|_| drop(other.min_marginals(&mrf, &mut least)))),
        ("sum_product", Box::new(|_| sums.solve(&mrf, &mut out).expect("allowed"))),
    ];
    report("tree of 50 nodes, 10 labels", rounds, 5, &mut measured);
}

/// Sentences of 40 words, of normal scores and where all words like the same few heads, so that cycles abound.
fn sentences(rounds: usize) {
    let (words, count) = (40, 50);
    let side = words + 1;
    for (what, noise) in [("sentence of 40 words", 1.0), ("sentence of 40 words, many cycles", 1e-3)] {
        let mut random = Random(4);
        let tables: Vec<Vec<f64>> = (0..count)
            .map(|_| {
                let likes: Vec<f64> = random.table(side, 1.0 - noise);
                (0..side * side).map(|at| likes[at / side] + 5.0 * noise * random.next()).collect()
            })
            .collect();
        let scores = |k: usize, single_root| HeadScores { words, scores: &tables[k % count], single_root };
        let (mut free, mut single, mut heads, mut other) =
            (Arborescence::default(), Arborescence::default(), Vec::new(), Vec::new());
        let (mut theorem, mut theorem_single, mut out, mut other_out) =
            (MatrixTree::default(), MatrixTree::default(), EdgeMarginals::default(), EdgeMarginals::default());
        let mut measured: [Measured; 4] = [
            ("best", Box::new(|k| drop(free.solve(scores(k, false), &mut heads)))),
            ("best_single_root", Box::new(|k| drop(single.solve(scores(k, true), &mut other)))),
            ("matrix_tree", Box::new(|k| drop(theorem.solve(scores(k, false), &mut out)))),
            ("matrix_tree_single_root", Box::new(|k| drop(theorem_single.solve(scores(k, true), &mut other_out)))),
        ];
        report(what, rounds, 2, &mut measured);
    }
    let mut random = Random(5);
    let large = random.table(side * side, 1e4);
    let (mut theorem, mut out, mut engine) = (MatrixTree::default(), EdgeMarginals::default(), Arborescence::default());
    let large = HeadScores { words, scores: &large, single_root: true };
    let mut measured: [Measured; 2] = [
        ("matrix_tree", Box::new(|_| drop(theorem.solve(large, &mut out)))),
        ("best_10", Box::new(|_| drop(engine.solve_best(large, 10)))),
    ];
    report("sentence of 40 words, large scores", rounds / 10, 1, &mut measured);
}

/// The ten best of a chain by its tree, and of the general way with memory of its own and lent.
fn several_best(rounds: usize) {
    let (len, labels) = (8, 26);
    let mut random = Random(6);
    let (unary, pair) = (random.table(len * labels, 1.0), random.table(labels * labels, 1.0));
    let mrf = ChainView { labels, unary: &unary, pair: &pair }.to_mrf().expect("finite");
    let [mut a, mut b, mut c] = [Tree::default(), Tree::default(), Tree::default()];
    let mut memory = SeveralMemory::default();
    let mut measured: [Measured; 3] = [
        ("tree", Box::new(|_| drop(a.solve_best(&mrf, 10, &mut unwatched)))),
        ("general", Box::new(|_| drop(several::best(&mut b, &mrf, 10, &mut unwatched)))),
        ("general_lent", Box::new(|_| drop(several::best_with(&mut c, &mrf, 10, &mut unwatched, &mut memory)))),
    ];
    report("ten best of a word", rounds / 10, 1, &mut measured);
}

/// Bodies of 14 parts on 60 x 80 cells: random scores, and smooth ones with springs that reach far.
fn poses(rounds: usize) {
    let (parts, width, size) = (14, 80, 60 * 80);
    let mut random = Random(7);
    let rough = random.table(parts * size, 1.0);
    let near = |k: usize| ((k % size % width) as f64 / 9.0).sin() + ((k % size / width + k / size) as f64 / 7.0).cos();
    let smooth: Vec<f64> = (0..parts * size).map(near).collect();
    let rests = [0.02, 1e-4].map(|stiffness| {
        let rest = |_| {
            let (anchor, slope) = ([5.0 * random.next(), 5.0 * random.next()], 0.01 * random.next());
            [Rest { anchor, springs: [Spring { stiffness, slope }; 2] }]
        };
        (0..parts).map(rest).collect::<Vec<_>>()
    });
    let parents: Vec<usize> = (0..parts).map(|child| random.below(child.max(1))).collect();
    let [stiff, soft] = [0, 1].map(|k| {
        let limb = |child: usize| Limb { child, parent: parents[child], rests: &rests[k][child], pairs: &[0.0] };
        (1..parts).rev().map(limb).collect::<Vec<_>>()
    });
    let mut cells = [vec![PartPlace::default(); parts], vec![PartPlace::default(); parts]];
    let (mut a, mut b) = (PartTree::default(), PartTree::default());
    let [of_a, of_b] = &mut cells;
    let mut measured: [Measured; 2] = [
        ("rough", Box::new(|_| drop(a.solve(&mut rough.clone(), (width, 1), &stiff, of_a)))),
        ("smooth", Box::new(|_| drop(b.solve(&mut smooth.clone(), (width, 1), &soft, of_b)))),
    ];
    report("14 parts on 60 x 80 cells", rounds / 10, 1, &mut measured);
}
