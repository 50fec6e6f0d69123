//! Alpha-expansion against enumeration of optima and of moves.

use std::ops::ControlFlow;

use crate::common::{Random, random_graph, random_grid};
use multiplane_infer::{Engine, InferError, Mrf, Table, Term, brute::Brute, engine::unwatched, expansion::Expansion};

/// A table that satisfies the rule of expansions: distances of random points, not symmetric, with energies of their own
/// for labels.
fn random_metric(random: &mut Random, rows: usize, columns: usize, integral: bool) -> Table {
    let labels = rows.max(columns);
    let points: Vec<f64> = (0..labels).map(|_| random.energy(integral)).collect();
    let (up, down) = (random.within(1, 3) as f64, random.within(1, 3) as f64);
    let own: Vec<f64> = (0..rows + columns).map(|_| random.energy(integral)).collect();
    let distance = |a: usize, b: usize| {
        let difference = points[b] - points[a];
        if difference > 0.0 { up * difference } else { -down * difference }
    };
    let values = (0..rows * columns).map(|at| {
        let (a, b) = (at / columns, at % columns);
        distance(a, b) + own[a] + own[rows + b]
    });
    Table::new(columns, values.collect()).unwrap()
}

/// A model of up to six nodes with label counts of their own and some forbidden labels; `potts_only` or with metrics.
fn random_model(random: &mut Random, integral: bool, most: usize, potts_only: bool) -> Mrf {
    let mut mrf = Mrf::new();
    let nodes = random.within(0, 6);
    for _ in 0..nodes {
        let labels = if random.chance(0.8) { most } else { random.within(1, most) };
        mrf.add_node(&random_unary(random, labels, integral)).unwrap();
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    let linear = mrf.add_term(Term::Linear { cap: 1.5 + random.within(0, 2) as f64 / 2.0 }).unwrap();
    let quadratic = mrf.add_term(Term::Quadratic { cap: 2.0 }).unwrap();
    let density = (random.real() + 1.0) / 2.0;
    for (tail, head) in random_graph(random, nodes, density) {
        let term = match if potts_only { 0 } else { random.within(0, 4) } {
            0 => potts,
            1 => linear,
            2 => quadratic,
            _ => {
                let table = random_metric(random, mrf.labels(tail), mrf.labels(head), integral);
                mrf.add_term(Term::Table(table)).unwrap()
            }
        };
        mrf.add_edge(tail, head, term, random_weight(random, integral)).unwrap();
    }
    mrf
}

fn random_unary(random: &mut Random, labels: usize, integral: bool) -> Vec<f64> {
    let mut unary: Vec<f64> = (0..labels).map(|_| random.energy(integral)).collect();
    if labels > 1 && random.chance(0.1) {
        unary[random.within(0, labels - 1)] = f64::INFINITY;
    }
    unary
}

fn random_weight(random: &mut Random, integral: bool) -> f64 {
    if integral { random.within(0, 2) as f64 } else { random.real() + 1.0 }
}

/// The lowest energy that one expansion move to any label reaches, by trying every set of nodes.
fn best_move(mrf: &Mrf, labels: &[u32]) -> f64 {
    let mut best = mrf.energy(labels);
    for label in 0..mrf.most_labels() as u32 {
        for set in 0..1u32 << labels.len() {
            let fits = |node: usize| (label as usize) < mrf.labels(node as u32);
            let moved = labels.iter().enumerate().map(|(node, &current)| match set >> node & 1 == 1 && fits(node) {
                true => label,
                false => current,
            });
            best = best.min(mrf.energy(&moved.collect::<Vec<u32>>()));
        }
    }
    best
}

fn lowest_unaries(mrf: &Mrf) -> Vec<u32> {
    let lowest = |node| {
        let unary = mrf.unary(node);
        (0..unary.len()).min_by(|&a, &b| unary[a].total_cmp(&unary[b])).unwrap() as u32
    };
    (0..mrf.nodes() as u32).map(lowest).collect()
}

fn optimum(mrf: &Mrf) -> f64 {
    Brute.solve(mrf, &mut unwatched, &mut Vec::new()).unwrap().energy
}

/// The answer's energy is its labelling's, not above that of the nodes' own best labels, and no expansion move lowers
/// it; the bound is one. All this also for later solves of the same model with other numbers.
#[test]
fn answers_are_best_among_moves() {
    let mut engine = Expansion::default();
    let mut labels = Vec::new();
    for seed in 0..2500 {
        let mut random = Random(seed);
        let integral = seed.is_multiple_of(2);
        let most = random.within(1, 4);
        let mut mrf = random_model(&mut random, integral, most, seed.is_multiple_of(3));
        engine.partial_optimality = seed.is_multiple_of(5);
        for change in 0..3 {
            let what = format!("seed {seed}, change {change}");
            let answer = engine.solve(&mrf, &mut unwatched, &mut labels).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!((answer.energy - mrf.energy(&labels)).abs() < 1e-9, "{what}: energy is not the labelling's");
            assert!(answer.energy <= mrf.energy(&lowest_unaries(&mrf)) + 1e-9, "{what}: above the start");
            let best = best_move(&mrf, &labels);
            assert!(answer.energy <= best + 1e-9, "{what}: a move lowers {} to {best}", answer.energy);
            let optimum = optimum(&mrf);
            assert!(answer.bound <= optimum + 1e-9, "{what}: bound {} is above {optimum}", answer.bound);
            for node in 0..mrf.nodes() as u32 {
                let unary = random_unary(&mut random, mrf.labels(node), integral);
                mrf.set_unary(node, &unary).unwrap();
            }
            for edge in 0..mrf.edges().len() as u32 {
                mrf.set_weight(edge, random_weight(&mut random, integral)).unwrap();
            }
        }
    }
}

/// From a given labelling the energy never rises, whether proven labels are settled or not, and nonsense among the
/// labels is replaced. A watch that stops the solve still gets an answer.
#[test]
fn given_labellings_are_improved() {
    let mut engine = Expansion::default();
    for seed in 0..1500 {
        let mut random = Random(seed);
        let most = random.within(1, 5);
        let mrf = random_model(&mut random, seed.is_multiple_of(2), most, seed.is_multiple_of(3));
        let mut labels: Vec<u32> = (0..mrf.nodes()).map(|_| random.within(0, most) as u32).collect();
        let valid = labels.iter().zip(0..).all(|(&label, node)| (label as usize) < mrf.labels(node));
        let before = if valid { mrf.energy(&labels) } else { f64::INFINITY };
        engine.partial_optimality = random.chance(0.5);
        let stops = random.chance(0.3);
        let mut watch = |_| if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let answer = engine.improve(&mrf, &mut watch, &mut labels).unwrap();
        let optimum = optimum(&mrf);
        assert!(answer.energy <= before + 1e-9, "seed {seed}: {} from {before}", answer.energy);
        assert!((answer.energy - mrf.energy(&labels)).abs() < 1e-9, "seed {seed}: energy is not the labelling's");
        assert!(answer.bound <= optimum + 1e-9, "seed {seed}: bound {} is above {optimum}", answer.bound);
        assert!(stops || answer.energy <= best_move(&mrf, &labels) + 1e-9, "seed {seed}: a move is better");
    }
}

/// For Potts energies with unaries from 0 the answer is at most twice the optimum (Boykov, Veksler and Zabih 2001,
/// Theorem 6.1).
#[test]
fn potts_is_within_factor_two() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut mrf = random_model(&mut random, seed.is_multiple_of(2), 5, true);
        for node in 0..mrf.nodes() as u32 {
            let lowest = mrf.unary(node).iter().copied().fold(f64::INFINITY, f64::min);
            let unary: Vec<f64> = mrf.unary(node).iter().map(|energy| energy - lowest).collect();
            mrf.set_unary(node, &unary).unwrap();
        }
        let answer = Expansion::default().solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
        let optimum = optimum(&mrf);
        assert!(answer.energy <= 2.0 * optimum + 1e-9, "seed {seed}: {} for {optimum}", answer.energy);
    }
}

/// With two labels one cut is the optimum.
#[test]
fn two_labels_are_exact() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mrf = random_model(&mut random, seed.is_multiple_of(2), 2, seed.is_multiple_of(3));
        let answer = Expansion::default().solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
        let optimum = optimum(&mrf);
        assert!((answer.energy - optimum).abs() < 1e-9, "seed {seed}: {} is not {optimum}", answer.energy);
        assert!(answer.is_exact(), "seed {seed}: bound {} of {}", answer.bound, answer.energy);
    }
}

/// A table that is no metric is refused with edge and labels.
#[test]
fn refuses_with_the_labels() {
    let refusal = |term: Term, weight: f64| {
        let mut mrf = Mrf::new();
        let (a, b) = (mrf.add_node(&[0.0; 3]).unwrap(), mrf.add_node(&[0.0; 3]).unwrap());
        let term = mrf.add_term(term).unwrap();
        mrf.add_edge(a, b, term, weight).unwrap();
        let refusal = Expansion::default().prepare(&mrf).unwrap_err();
        assert!(matches!(refusal, InferError::DoesNotApply { engine: "expansion", .. }), "{refusal}");
        refusal.to_string()
    };
    let text = refusal(Term::Quadratic { cap: 4.0 }, 1.0);
    assert!(text.contains("edge 0 of nodes 0 and 1") && text.contains("labels 0 and 2 is 4"), "{text}");
    let text = refusal(Term::Potts, -1.0);
    assert!(text.contains("weight -1"), "{text}");
    let table = |values: Vec<f64>| Term::Table(Table::new(3, values).unwrap());
    let text = refusal(table(vec![0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0]), 2.0);
    assert!(text.contains("V(0,2) + V(1,1) exceeds V(0,1) + V(1,2) by 1"), "{text}");
    let text = refusal(table(vec![0.0, f64::INFINITY, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]), 2.0);
    assert!(text.contains("forbidden pairs"), "{text}");
}

/// On larger grids and with networks that have seen many moves, no move of a fresh engine lowers what is found, whether
/// sweeps have ruled labels out or not; and the bound stays below.
#[test]
fn nothing_is_left_on_grids() {
    const SIDE: u32 = 15;
    for seed in 0..12 {
        let mut random = Random(seed);
        let strength = 0.3 + 0.5 * (seed % 4) as f64;
        let unary = |random: &mut Random| random_unary(random, 6, false);
        let mut mrf = random_grid(&mut random, SIDE, unary, |random| strength * random_weight(random, false));
        let mut warm = Expansion::default();
        let mut labels = Vec::new();
        for change in 0..6 {
            let what = format!("seed {seed}, change {change}");
            warm.sweeps = random.within(0, 1) as u32 * 6;
            warm.partial_optimality = random.chance(0.5);
            let found = warm.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let mut fresh = Expansion::default();
            fresh.sweeps = 0;
            let again = fresh.improve(&mrf, &mut unwatched, &mut labels).unwrap();
            assert!(again.energy >= found.energy - 1e-9, "{what}: {found:?}, and from there {again:?}");
            assert!(found.bound <= again.energy + 1e-9, "{what}: bound {found:?} above {again:?}");
            for node in 0..SIDE * SIDE {
                if random.chance(0.2) {
                    mrf.set_unary(node, &random_unary(&mut random, 6, false)).unwrap();
                }
            }
        }
    }
}

/// Messages of every length: with up to 256 labels sweeps solve a single edge, and with more the moves do without them.
#[test]
fn any_number_of_labels() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let most = [1, 4, 5, 9, 13, 17, 30, 40, 70, 130, 256, 257][seed as usize % 12];
        let mut mrf = Mrf::new();
        for _ in 0..2 {
            let labels = random.within(most / 2 + 1, most);
            let unary: Vec<f64> = (0..labels).map(|_| random.real()).collect();
            mrf.add_node(&unary).unwrap();
        }
        let potts = mrf.add_term(Term::Potts).unwrap();
        mrf.add_edge(1, 0, potts, 0.2 * random_weight(&mut random, false)).unwrap();
        let answer = Expansion::default().solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
        let optimum = optimum(&mrf);
        let what = format!("seed {seed}, {most} labels: {answer:?} for {optimum}");
        assert!(answer.bound <= optimum + 1e-9 && answer.energy >= optimum - 1e-9, "{what}");
        assert!(mrf.most_labels() > 256 || answer.is_exact() && (answer.energy - optimum).abs() < 1e-9, "{what}");
    }
}
