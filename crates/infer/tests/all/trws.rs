//! TRW-S against enumeration: the bound is one, the energy is the labels', and both meet where the theory says so.

use crate::common::{Random, random_forest, random_graph, random_nodes, random_table};
use crate::models::{Traits, close, random_forest_model, random_model, redraw_unary};
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::unwatched;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Answer, Engine, Mrf, Table, Term};
use std::ops::{ControlFlow, Range};

fn optimum(mrf: &Mrf) -> f64 {
    Brute.solve(mrf, &mut unwatched, &mut Vec::new()).unwrap().energy
}

/// Checks what must hold of every answer.
fn assert_sound(mrf: &Mrf, answer: Answer, labels: &[u32], optimum: f64, what: &str) {
    assert_eq!(answer.energy, mrf.energy(labels), "{what}: the energy is not the labels'");
    assert!(answer.bound <= answer.energy, "{what}: {answer:?} has its bound above its energy");
    let slack = if optimum.is_finite() { 1e-9 * optimum.abs().max(1.0) } else { 0.0 };
    assert!(answer.bound <= optimum + slack, "{what}: {answer:?} is above {optimum}");
    assert!(answer.energy >= optimum - slack, "{what}: {answer:?} is below {optimum}");
    assert!(!answer.is_exact() || close(answer.energy, optimum), "{what}: {answer:?} is not the optimum {optimum}");
}

/// bound <= optimum <= energy on random graphs with all kinds of energies: cold, and from the messages that solves
/// with other energies, allowed labels and terms left. Returns how many models there were, and how many of them were
/// solved to the optimum and proven.
fn assert_bounds(seeds: Range<u64>) -> [usize; 3] {
    let (mut trws, mut labels, mut counts) = (Trws::default(), Vec::new(), [0; 3]);
    for seed in seeds {
        let mut random = Random(seed);
        let (nodes, density) = (random.within(0, 6), (random.real() + 1.0) / 2.0);
        let ends = random_graph(&mut random, nodes, density);
        let traits = Traits::random(&mut random);
        let mut mrf = random_model(&mut random, nodes, &ends, traits);
        for change in 0..3 {
            let answer = trws.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let optimum = optimum(&mrf);
            assert_sound(&mrf, answer, &labels, optimum, &format!("seed {seed}, change {change}"));
            counts[0] += 1;
            counts[1] += usize::from(close(answer.energy, optimum));
            counts[2] += usize::from(answer.is_exact());
            for node in 0..nodes as u32 {
                redraw_unary(&mut random, &mut mrf, node, traits);
            }
        }
    }
    println!("models, optimal, proven: {counts:?}");
    counts
}

/// No bound is above the optimum, nearly all small models are solved to it, and most of them with a proof.
#[test]
fn bounds_the_optimum() {
    let [models, optimal, proven] = assert_bounds(0..3000);
    assert!(optimal as f64 > 0.99 * models as f64, "{optimal} of {models} solved to the optimum");
    assert!(proven as f64 > 0.9 * models as f64, "{proven} of {models} proven");
}

/// The same on very many models, the shares of solved and proven ones left aside.
#[test]
#[ignore = "half a minute"]
fn bounds_many_optima() {
    assert_bounds(3000..200_000);
}

/// On forests the bound meets the optimum, which is max-product's.
#[test]
fn is_exact_on_forests() {
    let (mut trws, mut tree, mut labels) = (Trws::default(), Tree::default(), Vec::new());
    for seed in 0..2000 {
        let mut random = Random(seed);
        let (mrf, _) = random_forest_model(&mut random, 1);
        let answer = trws.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let best = optimum(&mrf);
        assert_sound(&mrf, answer, &labels, best, &format!("seed {seed}"));
        assert!(answer.is_exact(), "seed {seed}: {answer:?}");
        let exact = tree.solve(&mrf, &mut unwatched, &mut labels).unwrap().energy;
        assert!(close(answer.energy, exact) && close(exact, best), "seed {seed}: {answer:?}, {exact}, {best}");
    }
}

/// Forests too large to enumerate, with more labels than a vector holds: energy and bound are max-product's.
#[test]
fn agrees_with_max_product() {
    let (mut trws, mut tree, mut labels) = (Trws::default(), Tree::default(), Vec::new());
    for seed in 0..40 {
        let mut random = Random(seed);
        let (nodes, most) = (random.within(50, 300), random.within(2, 70));
        let mut mrf = random_nodes(&mut random, nodes, false, |random| random.within(1, most));
        for (tail, head) in random_forest(&mut random, nodes, 0.02) {
            let cap = random.within(1, 3000) as f64;
            let term = match random.within(0, 3) {
                0 => Term::Potts,
                1 => Term::Linear { cap },
                2 => Term::Quadratic { cap },
                _ => random_table(&mut random, &mrf, tail, head, false),
            };
            let term = mrf.add_term(term).unwrap();
            let weight = random.real();
            mrf.add_edge(tail, head, term, weight).unwrap();
        }
        let exact = tree.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let answer = trws.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        assert!(answer.is_exact(), "seed {seed}: {answer:?}");
        assert!(close(answer.energy, exact.energy), "seed {seed}: {answer:?}, max-product {exact:?}");
    }
}

/// Two labels and submodular energies: the bound reaches the optimum (Kolmogorov and Wainwright 2005).
#[test]
fn meets_submodular_optima() {
    let (mut trws, mut labels, mut proven) = (Trws::default(), Vec::new(), 0);
    trws.tolerance = 0.0;
    for seed in 0..1000 {
        let mut random = Random(seed);
        let (nodes, density) = (random.within(1, 12), (random.real() + 1.0) / 2.0);
        let integral = random.chance(0.5);
        let mut mrf = random_nodes(&mut random, nodes, integral, |_| 2);
        for (tail, head) in random_graph(&mut random, nodes, density) {
            let mut values: Vec<f64> = (0..4).map(|_| random.energy(integral)).collect();
            values[1] += (values[0] + values[3] - values[1] - values[2]).max(0.0);
            let term = mrf.add_term(Term::Table(Table::new(2, values).unwrap())).unwrap();
            mrf.add_edge(tail, head, term, 1.0).unwrap();
        }
        let answer = trws.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let best = optimum(&mrf);
        assert_sound(&mrf, answer, &labels, best, &format!("seed {seed}"));
        assert!(best - answer.bound <= 1e-3 * best.abs().max(1.0), "seed {seed}: {answer:?} is far from {best}");
        proven += usize::from(answer.is_exact());
    }
    println!("{proven} of 1000 proven");
    assert!(proven > 950, "{proven} of 1000 proven");
}

/// The bound never falls from iteration to iteration, and no labelling is worse than the one before.
#[test]
fn progress_is_monotone() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let ends = random_graph(&mut random, 12, 0.5);
        let traits = Traits { integral: false, forbids: seed % 2 == 0 };
        let mrf = random_model(&mut random, 12, &ends, traits);
        let mut last: Option<multiplane_infer::SolveProgress> = None;
        let mut watch = |now: multiplane_infer::SolveProgress| {
            if let Some(last) = last {
                let monotone = now.bound >= last.bound && now.energy <= last.energy;
                assert!(monotone, "seed {seed}: {now:?} after {last:?}");
            }
            last = Some(now);
            ControlFlow::Continue(())
        };
        Trws::default().solve(&mrf, &mut watch, &mut Vec::new()).unwrap();
    }
}

/// Energies that changed little cost far fewer iterations with the messages of the last solve than without them, and
/// the answer is as good.
#[test]
fn warm_starts_save_iterations() {
    let (mut warm, mut labels, mut iterations) = (Trws::default(), Vec::new(), [0; 2]);
    let mut random = Random(11);
    let mut grid = random_nodes(&mut random, 144, false, |_| 3);
    let term = grid.add_term(Term::Linear { cap: 2.0 }).unwrap();
    for node in 0..144 {
        for next in [(node % 12 < 11).then_some(node + 1), (node < 132).then_some(node + 12)].into_iter().flatten() {
            let weight = random.real().abs();
            grid.add_edge(node, next, term, weight).unwrap();
        }
    }
    warm.solve(&grid, &mut unwatched, &mut labels).unwrap();
    for solve in 0..20 {
        for node in 0..144 {
            let unary: Vec<f64> = grid.unary(node).iter().map(|energy| energy + 0.01 * random.real()).collect();
            grid.set_unary(node, &unary).unwrap();
        }
        let again = warm.solve(&grid, &mut unwatched, &mut labels).unwrap();
        let cold = Trws::default().solve(&grid, &mut unwatched, &mut labels).unwrap();
        assert!(again.is_exact() && close(again.energy, cold.energy), "solve {solve}: {again:?}, {cold:?}");
        iterations[0] += again.iterations;
        iterations[1] += cold.iterations;
    }
    println!("iterations, warm and cold: {iterations:?}");
    assert!(2 * iterations[0] < iterations[1], "iterations, warm and cold: {iterations:?}");
}

/// A watch ends a solve at any time, with a sound answer, and the next solve is sound too.
#[test]
fn stops_when_told() {
    let mut mrf = Mrf::new();
    let mut random = Random(5);
    for _ in 0..40_000 {
        let unary: Vec<f64> = (0..20).map(|_| random.real()).collect();
        mrf.add_node(&unary).unwrap();
    }
    let term = mrf.add_term(Term::Potts).unwrap();
    for node in 0..40_000 {
        for next in [node + 1, node + 200] {
            if next < 40_000 && (next % 200 != 0 || next == node + 200) {
                mrf.add_edge(node, next, term, 0.5).unwrap();
            }
        }
    }
    let (mut trws, mut labels) = (Trws::default(), Vec::new());
    for calls in [1, 2, 7, 30] {
        let mut left = calls;
        let mut watch = |_: multiplane_infer::SolveProgress| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let answer = trws.solve(&mrf, &mut watch, &mut labels).unwrap();
        assert_eq!(left, 0, "asked {calls} times");
        assert!(answer.bound <= answer.energy && answer.energy == mrf.energy(&labels), "after {calls}: {answer:?}");
    }
}

fn searching(rounds: u64) -> Trws {
    let mut trws = Trws::default();
    trws.search = rounds;
    trws
}

/// A longer search is never worse than none: on models whose bound stalls it proves what is left open, and the labels
/// are enumeration's. The same limit of rounds gives the same bits.
#[test]
fn longer_searches_close_the_gap() {
    let (mut open, mut closed, mut labels, mut again) = (0, 0, Vec::new(), Vec::new());
    for seed in 0..1500 {
        let mut random = Random(seed);
        let nodes = random.within(3, 8);
        let ends = random_graph(&mut random, nodes, 0.8);
        let mut traits = Traits::random(&mut random);
        traits.integral &= seed % 3 == 0;
        let mrf = random_model(&mut random, nodes, &ends, traits);
        let before = Trws::default().solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let mut longer = searching(200);
        let after = longer.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let optimum = optimum(&mrf);
        assert_sound(&mrf, after, &labels, optimum, &format!("seed {seed}"));
        assert!(after.bound >= before.bound && after.energy <= before.energy, "seed {seed}: {before:?}, {after:?}");
        let same = searching(200).solve(&mrf, &mut unwatched, &mut again).unwrap();
        assert_eq!((same, &again), (after, &labels), "seed {seed}");
        let warm = longer.solve(&mrf, &mut unwatched, &mut again).unwrap();
        assert_sound(&mrf, warm, &again, optimum, &format!("seed {seed}, warm"));
        open += usize::from(!before.is_exact());
        closed += usize::from(!before.is_exact() && after.is_exact());
    }
    println!("open without a longer search: {open}, closed by it: {closed}");
    assert!(open > 50 && closed == open, "{closed} of {open} closed");
}

/// A watch ends a longer search, with a bound and labels that hold; a limit of iterations does so at the same place
/// every time.
#[test]
fn longer_searches_can_be_stopped() {
    let mut labels = Vec::new();
    for seed in 0..20 {
        let mut random = Random(seed);
        let nodes = 40;
        let ends = random_graph(&mut random, nodes, 0.2);
        let mrf = random_model(&mut random, nodes, &ends, Traits { integral: false, forbids: seed % 2 == 0 });
        let plain = Trws::default().solve(&mrf, &mut unwatched, &mut labels).unwrap();
        let mut limited = |limit: u64| {
            let mut watch = |progress: multiplane_infer::SolveProgress| match progress.iteration >= limit {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let mut trws = searching(u64::MAX);
            let answer = trws.solve(&mrf, &mut watch, &mut labels).unwrap();
            assert!(answer.bound <= answer.energy && answer.energy == mrf.energy(&labels), "seed {seed}: {answer:?}");
            answer
        };
        let (short, long) = (limited(plain.iterations + 2), limited(plain.iterations + 20));
        assert_eq!(limited(plain.iterations + 20), long, "seed {seed}");
        assert!(short.bound >= plain.bound && long.bound >= short.bound, "seed {seed}: {plain:?} {short:?} {long:?}");
        assert!(long.energy <= short.energy && short.energy <= plain.energy, "seed {seed}");
    }
}
