//! Placements against enumeration of all.

use super::*;

/// Draws numbers; infer knows no other crate.
fn draw(state: &mut u64, end: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % end
}

fn real(state: &mut u64) -> f64 {
    draw(state, 2001) as f64 / 1000.0 - 1.0
}

/// A limb with tables of its own.
struct OwnLimb {
    child: usize,
    parent: usize,
    rests: Vec<Rest>,
    pairs: Vec<f64>,
}

impl OwnLimb {
    fn lent(&self) -> Limb<'_> {
        Limb { child: self.child, parent: self.parent, rests: &self.rests, pairs: &self.pairs }
    }
}

/// The score of a placement by the definition.
fn score(scores: &[f64], (width, types): (usize, usize), limbs: &[OwnLimb], places: &[PartPlace]) -> f64 {
    let size = scores.len() / places.len() / types;
    let own: f64 = places
        .iter()
        .zip(scores.chunks(types * size))
        .map(|(place, scores)| scores[usize::from(place.kind) * size + place.cell as usize])
        .sum();
    let of_limb = |limb: &OwnLimb| {
        let (child, parent) = (places[limb.child], places[limb.parent]);
        let Rest { anchor, springs } = limb.rests[usize::from(child.kind)];
        let (c, p) = (child.cell as usize, parent.cell as usize);
        let offset = |c: usize, p: usize, axis: usize| c as f64 - p as f64 - anchor[axis];
        springs[0].score(offset(c % width, p % width, 0))
            + springs[1].score(offset(c / width, p / width, 1))
            + limb.pairs[usize::from(parent.kind) * types + usize::from(child.kind)]
    };
    own + limbs.iter().map(of_limb).sum::<f64>()
}

/// A random forest of parts, with the limbs from the leaves on.
fn forest(state: &mut u64, (parts, types): (usize, usize), form: u64) -> Vec<OwnLimb> {
    let mut names: Vec<usize> = (0..parts).collect();
    (1..parts).for_each(|k| names.swap(k, draw(state, k as u64 + 1) as usize));
    let mut limbs = Vec::new();
    for part in (1..parts).rev() {
        let parent = draw(state, part as u64) as usize;
        if draw(state, 6) == 0 {
            continue;
        }
        let spring = |state: &mut u64| {
            let stiffness = match form % 4 {
                0 => [0.0, 1e-310, 0.3][draw(state, 3) as usize],
                1 => 0.3 * real(state).abs(),
                2 => 0.5 * real(state),
                _ => [1e-200, 1e3, 0.1][draw(state, 3) as usize],
            };
            Spring { stiffness, slope: if draw(state, 2) == 0 { 0.0 } else { 0.3 * real(state) } }
        };
        let rest = |state: &mut u64| {
            let anchor = [3.0 * real(state), (2.0 * real(state)).round()];
            Rest { anchor, springs: [spring(state), spring(state)] }
        };
        let rests = (0..types).map(|_| rest(state)).collect();
        let pairs = (0..types * types).map(|_| real(state)).collect();
        limbs.push(OwnLimb { child: names[part], parent: names[parent], rests, pairs });
    }
    limbs
}

/// The best of all placements, on small grids of every shape, with one to three types, flat, stiff and negative
/// springs, forbidden cells and ties; a second call of the engine answers the same.
#[test]
fn placements_are_the_best() {
    let mut tree = PartTree::default();
    for seed in 0..600 {
        let mut state = seed * 7919 + 12345;
        let types = [1, 1, 2, 3][seed as usize % 4];
        let most = if types == 1 { 4 } else { 2 };
        let (width, height) = (1 + draw(&mut state, most) as usize, 1 + draw(&mut state, most) as usize);
        let (parts, size) = (1 + draw(&mut state, 3) as usize, width * height);
        let step = [1.0, 0.0, 7.0][seed as usize % 3]; // equal scores, and scores like the springs
        let mut scores: Vec<f64> = (0..parts * types * size).map(|_| step * real(&mut state)).collect();
        if seed % 5 == 0 {
            (0..scores.len() / 2).for_each(|_| {
                let cell = draw(&mut state, (parts * types * size) as u64) as usize;
                scores[cell] = f64::NEG_INFINITY;
            });
        }
        let limbs = forest(&mut state, (parts, types), seed / 4);
        let lent: Vec<Limb<'_>> = limbs.iter().map(OwnLimb::lent).collect();
        let mut best = f64::NEG_INFINITY;
        for code in 0..(size * types).pow(parts as u32) {
            let unit = |k: usize| code / (size * types).pow(k as u32) % (size * types);
            let place = |unit: usize| PartPlace { cell: (unit % size) as u32, kind: (unit / size) as u8 };
            let places: Vec<PartPlace> = (0..parts).map(|k| place(unit(k))).collect();
            best = best.max(score(&scores, (width, types), &limbs, &places));
        }
        let mut places = vec![PartPlace::default(); parts];
        let found = tree.solve(&mut scores.clone(), (width, types), &lent, &mut places).unwrap();
        if best == f64::NEG_INFINITY {
            assert_eq!(found, best, "seed {seed}");
            continue;
        }
        let near = |value: f64| (value - best).abs() <= 1e-12 * (1.0 + best.abs());
        let own = score(&scores, (width, types), &limbs, &places);
        assert!(near(found) && near(own), "seed {seed}: {found}, best {best}");
        let mut again = vec![PartPlace::default(); parts];
        PartTree::default().solve(&mut scores.clone(), (width, types), &lent, &mut again).unwrap();
        assert_eq!(places, again, "seed {seed}");
    }
}

/// Larger lines against all pairs of places.
#[test]
fn lines_are_transformed() {
    let mut parabolas = envelope::Parabolas::default();
    for seed in 0..300 {
        let mut state = seed * 104_729 + 7;
        let n = 1 + draw(&mut state, 80) as usize;
        let from: Vec<f64> = (0..n).map(|_| 5.0 * real(&mut state)).collect();
        let stiffness = [0.0, 1e-6, 0.01, 1.0, -0.01][seed as usize % 5];
        let (spring, anchor) = (Spring { stiffness, slope: real(&mut state) }, 20.0 * real(&mut state));
        parabolas.transform(&from, spring, anchor, |p, best, c| {
            let value = |c: usize| from[c] + spring.score(c as f64 - (p as f64 + anchor));
            let expected = (0..n).map(value).fold(f64::NEG_INFINITY, f64::max);
            assert!((best - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "seed {seed}: {best}, {expected}");
            assert_eq!(best, value(c), "seed {seed}");
        });
    }
}

/// Limbs that are no forest from the leaves on, rows that are not full, and tables of other sizes are refused.
#[test]
fn faults_are_named() {
    let rests = [Rest::default(); 2];
    let limb = |child, parent| Limb { child, parent, rests: &rests[..1], pairs: &[0.0] };
    let fault = |scores: usize, limbs: &[Limb<'_>]| {
        let mut out = [PartPlace::default(); 3];
        PartTree::default().solve(&mut vec![0.0; scores], (2, 1), limbs, &mut out).unwrap_err().to_string()
    };
    assert_eq!(fault(9, &[]), "found 9 scores of 3 parts and 1 types, expected full rows of 2 for each");
    assert_eq!(fault(0, &[]), "found 0 scores of 3 parts and 1 types, expected full rows of 2 for each");
    let cases: [(&[Limb<'_>], &str); 5] = [
        (&[limb(1, 1)], "limb 0: found part 1 on part 1, expected two of 3 parts that hang on none yet"),
        (&[limb(1, 3)], "limb 0: found part 1 on part 3"),
        (&[limb(1, 0), limb(1, 2)], "limb 1: found part 1 on part 2"),
        (&[limb(1, 0), limb(2, 1)], "limb 1: found part 2 on part 1"),
        (&[Limb { rests: &rests, ..limb(1, 0) }], "limb 0: found 2 rests and 1 pairs of types, expected those of 1"),
    ];
    for (limbs, expected) in cases {
        let found = fault(12, limbs);
        assert!(found.starts_with(expected), "{found}, expected {expected}");
    }
}
