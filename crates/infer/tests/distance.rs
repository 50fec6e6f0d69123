//! Distance transforms against trying all places, and trees of parts against tables.

mod common;

use common::Random;
use multiplane_infer::distance::{Part, PartTree, Spring, Transform};
use multiplane_infer::engine::unwatched;
use multiplane_infer::tree::Tree;
use multiplane_infer::{Engine, Mrf, Table, Term};

/// Springs from soft to stiff, some with a rest position far off.
fn spring(random: &mut Random) -> Spring {
    let integral = random.chance(0.3);
    let a = if integral { random.within(1, 3) as f64 } else { 10f64.powf(3.0 * random.real()) };
    let b = if integral { random.within(0, 8) as f64 - 4.0 } else { 4.0 * a * random.real() };
    Spring { a, b }
}

fn energies(random: &mut Random, count: usize) -> Vec<f64> {
    let (size, hole, integral) = (10f64.powf(4.0 * random.real()), [0.0, 0.4][random.within(0, 1)], random.chance(0.3));
    let mut energy = || match random.chance(hole) {
        true => f64::INFINITY,
        false if integral => (random.real() * 4.0).round(),
        false => size * random.real(),
    };
    (0..count).map(|_| energy()).collect()
}

/// Rounding of what is summed.
fn close(a: f64, b: f64, size: f64) -> bool {
    a == b || (a - b).abs() <= 1e-13 * size
}

/// Lines and grids, with ties and places that are no choice: the minimum, and a place that has it.
#[test]
fn equal_trying_all_places() {
    let (mut transform, mut out, mut places) = (Transform::default(), Vec::new(), Vec::new());
    for seed in 0..4000 {
        let mut random = Random(seed);
        let (width, height) = (random.within(1, 9), if seed % 2 == 0 { 1 } else { random.within(1, 7) });
        let from = energies(&mut random, width * height);
        let [down, across] = [spring(&mut random), spring(&mut random)];
        if height == 1 && seed % 4 == 0 {
            transform.line(&from, across, &mut out, &mut places).unwrap();
        } else {
            transform.grid(&from, width, [down, across], &mut out, &mut places).unwrap();
        }
        let cost = |p: usize, q: usize| {
            let difference = |p: usize, q: usize| p as f64 - q as f64;
            from[p] + down.energy(difference(p / width, q / width)) + across.energy(difference(p % width, q % width))
        };
        let finite = from.iter().filter(|energy| energy.is_finite());
        let size = finite.fold(0.0f64, |most, energy| most.max(energy.abs())) + 100.0 * (down.a + across.a) + 1.0;
        for q in 0..width * height {
            let best = (0..width * height).map(|p| cost(p, q)).fold(f64::INFINITY, f64::min);
            assert!(close(out[q], best, size), "seed {seed}, place {q}: {} instead of {best}", out[q]);
            assert!(close(cost(places[q] as usize, q), best, size), "seed {seed}, place {q}: not of {}", places[q]);
        }
    }
}

/// Trees of parts on grids of up to 4 x 4 have the energy that max-product finds with tables.
#[test]
fn parts_equal_tables() {
    let (mut engine, mut tree, mut places, mut labels) = (PartTree::default(), Tree::default(), Vec::new(), Vec::new());
    for seed in 0..800 {
        let mut random = Random(seed);
        let (width, height, count) = (random.within(1, 4), random.within(1, 4), random.within(1, 5));
        let size = width * height;
        let unary = energies(&mut random, count * size);
        let parts: Vec<Part> = (1..count)
            .map(|part| {
                let parent = random.within(0, part - 1) as u32;
                Part { parent, springs: [spring(&mut random), spring(&mut random)] }
            })
            .collect();
        let found = engine.solve(&unary, width, &parts, &mut places).unwrap();
        let mut mrf = Mrf::new();
        if unary.chunks(size).any(|energies| energies.iter().all(|energy| *energy == f64::INFINITY)) {
            assert_eq!(found, f64::INFINITY, "seed {seed}");
            continue;
        }
        unary.chunks(size).for_each(|energies| assert!(mrf.add_node(energies).is_ok()));
        for (part, tie) in (1..).zip(&parts) {
            let cost = |q: usize, p: usize| {
                let difference = |p: usize, q: usize| p as f64 - q as f64;
                let (rows, columns) = (difference(p / width, q / width), difference(p % width, q % width));
                tie.springs[0].energy(rows) + tie.springs[1].energy(columns)
            };
            let values = (0..size * size).map(|at| cost(at / size, at % size)).collect();
            let term = mrf.add_term(Term::Table(Table::new(size, values).unwrap())).unwrap();
            mrf.add_edge(tie.parent, part, term, 1.0).unwrap();
        }
        let best = tree.solve(&mrf, &mut unwatched, &mut labels).unwrap().energy;
        let slack = 1e-12 * (1e5 + best.abs());
        assert!((found - best).abs() <= slack, "seed {seed}: {found} instead of {best}");
        assert!((mrf.energy(&places) - best).abs() <= slack, "seed {seed}: not the places' energy");
    }
}

/// What has no envelope, or is no energy, is one error that says where.
#[test]
fn refuse_what_has_no_envelope() {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    let mut line = |from: &[f64], a: f64, b: f64| {
        let spring = Spring { a, b };
        Transform::default().line(from, spring, &mut out, &mut places).unwrap_err().to_string()
    };
    for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let expected = format!("the transform: found stiffness a = {a}, expected a finite number above 0");
        assert_eq!(line(&[0.0], a, 0.0), expected);
    }
    assert_eq!(line(&[0.0], 1.0, f64::NAN), "the transform: found b = NaN, expected a finite number");
    let expected = "the transform: found energy NaN at place 1, expected a finite number or +inf";
    assert_eq!(line(&[0.0, f64::NAN], 1.0, 0.0), expected);
    let soft = Spring { a: 1.0, b: 0.0 };
    let error = Transform::default().grid(&[0.0; 5], 2, [soft, soft], &mut out, &mut places).unwrap_err();
    assert_eq!(error.to_string(), "the transform: found 5 energies, expected full rows of 2");
    let mut parts = |unary: &[f64], parent, springs| {
        PartTree::default().solve(unary, 2, &[Part { parent, springs }], &mut places).unwrap_err().to_string()
    };
    assert_eq!(parts(&[0.0; 4], 1, [soft; 2]), "part 1: found parent 1, expected one before it");
    assert_eq!(parts(&[0.0; 6], 0, [soft; 2]), "found 6 energies of 2 parts, expected full rows of 2 for each");
    let expected = "part 1, columns: found stiffness a = 0, expected a finite number above 0";
    assert_eq!(parts(&[0.0; 4], 0, [soft, Spring { a: 0.0, b: 0.0 }]), expected);
}
