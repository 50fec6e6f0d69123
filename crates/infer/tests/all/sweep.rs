//! Every engine against enumeration on very many small models: 10^5 graphs of each kind, 10^4 chains and trees.

use crate::common::{Random, random_forest, random_graph, random_nodes, random_table};
use multiplane_infer::brute::{self, Brute};
use multiplane_infer::chain::ChainView;
use multiplane_infer::engine::unwatched;
use multiplane_infer::restricted::Restricted;
use multiplane_infer::several::RankedLabelling;
use multiplane_infer::viterbi::Viterbi;
use multiplane_infer::{Answer, Engine, MBest, Mrf, Table, Term, registry};

/// Differences of this size are rounding.
const ROUNDING: f64 = 1e-9;

fn engine(name: &str) -> Box<dyn MBest> {
    (registry::find(name).unwrap_or_else(|| panic!("no engine {name}")).make)()
}

/// Solves and checks what holds for every answer: its energy is its labelling's, and its bound does not lie.
fn solved(engine: &mut dyn Engine, mrf: &Mrf, optimum: f64, what: &str) -> Answer {
    let mut labels = Vec::new();
    let answer = engine.solve(mrf, &mut unwatched, &mut labels).unwrap_or_else(|error| panic!("{what}: {error}"));
    let energy = mrf.energy(&labels);
    assert!(close(answer.energy, energy), "{what}: says {}, has {energy}", answer.energy);
    assert!(answer.bound <= answer.energy, "{what}: bound {} above energy {}", answer.bound, answer.energy);
    assert!(answer.bound <= optimum + ROUNDING, "{what}: bound {} above the optimum {optimum}", answer.bound);
    assert!(answer.energy >= optimum - ROUNDING, "{what}: energy {energy} below the optimum {optimum}");
    answer
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= ROUNDING
}

fn assert_optimal(engine: &mut dyn Engine, mrf: &Mrf, optimum: f64, what: &str) {
    let answer = solved(engine, mrf, optimum, what);
    assert!(close(answer.energy, optimum), "{what}: {} is not the optimum {optimum}", answer.energy);
    assert!(answer.is_exact(), "{what}: not proven, bound {}", answer.bound);
}

/// Energy and bound are the optimum, up to rounding; whether that is called a proof depends on what rounding may do.
fn assert_tight(engine: &mut dyn Engine, mrf: &Mrf, optimum: f64, what: &str) {
    let answer = solved(engine, mrf, optimum, what);
    assert!(close(answer.energy, optimum), "{what}: {} is not the optimum {optimum}", answer.energy);
    assert!(close(answer.bound, optimum), "{what}: bound {} is not the optimum {optimum}", answer.bound);
}

fn optimum(mrf: &Mrf) -> f64 {
    Brute.solve(mrf, &mut unwatched, &mut Vec::new()).unwrap().energy
}

/// A binary model whose edges are submodular: Potts or tables.
fn submodular(random: &mut Random) -> Mrf {
    let integral = random.chance(0.5);
    let nodes = random.within(1, 8);
    let mut mrf = random_nodes(random, nodes, integral, |_| 2);
    let potts = mrf.add_term(Term::Potts).unwrap();
    let density = (random.real() + 1.0) / 2.0;
    for (tail, head) in random_graph(random, nodes, density) {
        if random.chance(0.5) {
            mrf.add_edge(tail, head, potts, random.energy(integral).abs()).unwrap();
        } else {
            let mut values: Vec<f64> = (0..4).map(|_| random.energy(integral)).collect();
            if values[0] + values[3] > values[1] + values[2] {
                values = vec![values[1], values[0], values[3], values[2]];
            }
            let term = mrf.add_term(Term::Table(Table::new(2, values).unwrap())).unwrap();
            mrf.add_edge(tail, head, term, random.energy(integral).abs()).unwrap();
        }
    }
    mrf
}

/// New unaries for some nodes, now and then one that forbids a label, and new weights for some edges.
fn change(random: &mut Random, mrf: &mut Mrf) {
    for node in 0..mrf.nodes() as u32 {
        if random.chance(0.3) {
            let integral = random.chance(0.5);
            let mut unary: Vec<f64> = (0..mrf.labels(node)).map(|_| random.energy(integral)).collect();
            if unary.len() > 1 && random.chance(0.2) {
                unary[0] = f64::INFINITY;
            }
            mrf.set_unary(node, &unary).unwrap();
        }
    }
    for edge in 0..mrf.edges().len() as u32 {
        if random.chance(0.2) {
            mrf.set_weight(edge, random.energy(false).abs()).unwrap();
        }
    }
}

/// The best combination of the labels that some allowed labellings use at each node, by enumeration.
fn best_combination(mrf: &Mrf, seen: &[Vec<u32>]) -> f64 {
    let seen: Vec<_> = seen.iter().filter(|labels| mrf.energy(labels).is_finite()).collect();
    let allowed = |labels: &[u32]| (0..labels.len()).all(|node| seen.iter().any(|one| one[node] == labels[node]));
    let score = |labels: &[u32]| if allowed(labels) { -mrf.energy(labels) } else { f64::NEG_INFINITY };
    -brute::best(mrf.nodes(), 2, score).1
}

/// Minimum cuts, cold, warm and restricted, and binary expansion find the optimum of binary submodular models, and no
/// bound lies above it. The engines live through the whole sweep, so that stale state would show.
fn sweep_submodular(seeds: std::ops::Range<u64>) {
    let (mut cut, mut expansion, mut trws) = (engine("min-cut"), engine("expansion"), engine("trws"));
    let mut recombination = Restricted::default();
    for seed in seeds {
        let mut random = Random(seed);
        let mut mrf = submodular(&mut random);
        cut.prepare(&mrf).unwrap();
        for step in 0..3 {
            let what = format!("seed {seed}, step {step}");
            let best = optimum(&mrf);
            assert_optimal(&mut *cut, &mrf, best, &format!("{what}: min-cut"));
            let answer = solved(&mut *expansion, &mrf, best, &format!("{what}: expansion"));
            assert!(close(answer.energy, best), "{what}: expansion has {}, the optimum is {best}", answer.energy);
            solved(&mut *trws, &mrf, best, &format!("{what}: trws"));
            let labelling = |random: &mut Random| (0..mrf.nodes()).map(|_| random.within(0, 1) as u32).collect();
            let seen: Vec<Vec<u32>> = (0..random.within(1, 3)).map(|_| labelling(&mut random)).collect();
            let mut labels = Vec::new();
            let known = seen.iter().map(|one| &one[..]);
            let found = recombination.solve(&mrf, known, &mut labels).unwrap().energy;
            let wanted = best_combination(&mrf, &seen);
            assert!(close(found, mrf.energy(&labels)), "{what}: recombination's energy");
            assert!(close(found, wanted), "{what}: recombination {found}, best combination {wanted}");
            if seed % 16 == 0 {
                assert_best(&mut *cut, &mrf, &format!("{what}: min-cut"));
            }
            change(&mut random, &mut mrf);
        }
    }
}

/// The five best labellings are those of enumeration.
fn assert_best(engine: &mut dyn MBest, mrf: &Mrf, what: &str) {
    let energies = |found: Vec<RankedLabelling>| -> Vec<f64> { found.iter().map(|one| one.answer.energy).collect() };
    let found = energies(engine.solve_best(mrf, 5, &mut unwatched).unwrap());
    let mut all = Vec::new();
    let most = mrf.most_labels();
    brute::best(mrf.nodes(), most, |labels| {
        let allowed = (0..).zip(labels).all(|(node, &label)| (label as usize) < mrf.labels(node));
        all.push(if allowed { mrf.energy(labels) } else { f64::INFINITY });
        0.0
    });
    all.retain(|energy| energy.is_finite());
    all.sort_by(f64::total_cmp);
    all.truncate(5);
    assert_eq!(found.len(), all.len(), "{what}: number of labellings");
    let agree = found.iter().zip(&all).all(|(&a, &b)| close(a, b));
    assert!(agree, "{what}: {found:?} are not the lowest energies {all:?}");
}

/// Bounds of TRW-S and of expansion stay below the optimum of models with several labels, forbidden ones among them.
fn sweep_labels(seeds: std::ops::Range<u64>) {
    let (mut expansion, mut trws) = (engine("expansion"), engine("trws"));
    for seed in seeds {
        let mut random = Random(seed);
        let integral = random.chance(0.5);
        let metric = random.chance(0.5);
        let nodes = random.within(1, 5);
        let mut mrf = random_nodes(&mut random, nodes, integral, |random| random.within(1, 4));
        for (tail, head) in random_graph(&mut random, nodes, 0.6) {
            let term = match random.within(0, 3) {
                0 => Term::Potts,
                1 | 2 if metric => Term::Linear { cap: 1.0 + random.energy(integral).abs() },
                1 => Term::Quadratic { cap: 1.0 + random.energy(integral).abs() },
                _ if metric => Term::Potts,
                _ => random_table(&mut random, &mrf, tail, head, integral),
            };
            let term = mrf.add_term(term).unwrap();
            let weight = random.energy(integral);
            mrf.add_edge(tail, head, term, if metric { weight.abs() } else { weight }).unwrap();
        }
        for step in 0..2 {
            let what = format!("seed {seed}, step {step}");
            let best = optimum(&mrf);
            solved(&mut *trws, &mrf, best, &format!("{what}: trws"));
            if metric {
                solved(&mut *expansion, &mrf, best, &format!("{what}: expansion"));
            }
            change(&mut random, &mut mrf);
        }
    }
}

/// A labelling called optimal is so, however small or large all energies are, and whatever constant or huge energy is
/// among them; and bounds do not lie there either, beyond the rounding of the energies themselves.
fn sweep_scales(seeds: std::ops::Range<u64>) {
    let mut engines = [engine("expansion"), engine("trws")];
    for seed in seeds {
        let mut random = Random(seed);
        let scale = [1e-300, 1e-12, 1e-10, 1.0, 1e9, 1e100][random.within(0, 5)];
        let constant = [0.0, 1e4, 1e8, 1e10][random.within(0, 3)] * scale;
        let huge = [0.0, 0.0, 1e10, 1e16][random.within(0, 3)];
        let mut mrf = Mrf::new();
        for _ in 0..6 {
            let mut unary: Vec<f64> = (0..3).map(|_| random.real() * scale).collect();
            if random.chance(0.2) {
                unary[random.within(0, 2)] += huge * scale;
            }
            mrf.add_node(&unary).unwrap();
        }
        let potts = mrf.add_term(Term::Potts).unwrap();
        for (tail, head) in random_graph(&mut random, 6, 0.7) {
            mrf.add_edge(tail, head, potts, random.real().abs() * scale).unwrap();
        }
        mrf.add_constant(constant).unwrap();
        let (best, rounding) = (optimum(&mrf), 1e-8 * scale + 1e-15 * constant);
        for (engine, name) in engines.iter_mut().zip(["expansion", "trws"]) {
            let what = format!("seed {seed}, scale {scale}, constant {constant}, huge {huge}: {name}");
            let mut labels = Vec::new();
            let answer = engine.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            assert!(answer.bound <= best + rounding, "{what}: bound {} above the optimum {best}", answer.bound);
            assert!(!answer.is_exact() || answer.energy <= best + rounding, "{what}: {answer:?}, optimum {best}");
        }
    }
}

/// All engines that apply agree on chains and trees, and the bound of TRW-S is tight there.
fn sweep_trees(seeds: std::ops::Range<u64>) {
    let (mut tree, mut trws, mut cut) = (engine("tree"), engine("trws"), engine("min-cut"));
    for seed in seeds {
        let mut random = Random(seed);
        let integral = random.chance(0.5);
        let nodes = random.within(1, 6);
        let mut mrf = random_nodes(&mut random, nodes, integral, |random| random.within(1, 4));
        for (tail, head) in random_forest(&mut random, nodes, 0.1) {
            let term = match random.within(0, 4) {
                0 => Term::Potts,
                1 => Term::Linear { cap: 2.0 },
                2 => Term::Quadratic { cap: f64::INFINITY },
                _ => random_table(&mut random, &mrf, tail, head, integral),
            };
            let term = mrf.add_term(term).unwrap();
            mrf.add_edge(tail, head, term, random.energy(integral)).unwrap();
        }
        for step in 0..2 {
            let what = format!("seed {seed}, step {step}");
            let best = optimum(&mrf);
            assert_optimal(&mut *tree, &mrf, best, &format!("{what}: tree"));
            assert_tight(&mut *trws, &mrf, best, &format!("{what}: trws"));
            assert_best(&mut *tree, &mrf, &format!("{what}: tree"));
            let mut labels = Vec::new();
            if cut.solve(&mrf, &mut unwatched, &mut labels).is_ok() {
                assert!(close(mrf.energy(&labels), best), "{what}: min-cut");
            }
            change(&mut random, &mut mrf);
        }
        chain_agrees(&mut random, &mut *tree, &mut *trws, seed);
    }
}

/// Viterbi and the engines of models on the same chain.
fn chain_agrees(random: &mut Random, tree: &mut dyn MBest, trws: &mut dyn Engine, seed: u64) {
    let (len, labels) = (random.within(1, 6), random.within(1, 4));
    let integral = random.chance(0.5);
    let mut scores = |count| -> Vec<f64> { (0..count).map(|_| random.energy(integral)).collect() };
    let (unary, pair) = (scores(len * labels), scores(labels * labels));
    let chain = ChainView { labels, unary: &unary, pair: &pair };
    let score = Viterbi::default().solve(chain, &mut Vec::new());
    let mrf = chain.to_mrf().unwrap();
    assert!(close(brute::best(len, labels, |y| chain.score(y)).1, score), "seed {seed}: viterbi");
    assert_optimal(tree, &mrf, -score, &format!("seed {seed}: tree on a chain"));
    assert_tight(trws, &mrf, -score, &format!("seed {seed}: trws on a chain"));
    assert_best(tree, &mrf, &format!("seed {seed}: tree on a chain"));
}

/// 10^5 binary submodular graphs, each with two changes.
#[test]
fn submodular_graphs() {
    sweep_submodular(0..100_000);
}

/// 10^5 graphs of several labels, each with a change.
#[test]
fn label_graphs() {
    sweep_labels(0..100_000);
}

/// 10^4 random trees and forests, each with a change, and as many chains.
#[test]
fn trees() {
    sweep_trees(0..10_000);
}

/// 10^4 models of all scales.
#[test]
fn scales() {
    sweep_scales(0..10_000);
}
