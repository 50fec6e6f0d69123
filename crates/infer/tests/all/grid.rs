//! Cuts of grids straight from their arrays, against the cut of the same model.

use crate::common::Random;
use multiplane_infer::engine::unwatched;
use multiplane_infer::grid::{Grid, GridCut, GridWeights};
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::{Engine, InferError};

fn weights(random: &mut Random, edges: usize, integral: bool, strength: f64) -> GridWeights {
    let mut draw = || {
        let weight = random.real().abs() * strength;
        if integral { (weight * 3.0).round() } else { weight }
    };
    match edges % 3 {
        0 => GridWeights::Same(draw()),
        _ => GridWeights::Each((0..edges).map(|_| draw()).collect()),
    }
}

fn random_grid(random: &mut Random, most: usize) -> Grid {
    let (height, width) = (random.within(1, most), random.within(1, most));
    let (integral, forbids) = (random.chance(0.5), random.chance(0.2));
    let unary = (0..height * width)
        .flat_map(|_| {
            let mut both = [random.energy(integral), random.energy(integral)];
            if forbids && random.chance(0.1) {
                both[random.within(0, 1)] = f64::INFINITY;
            }
            both
        })
        .collect();
    let strength = [0.3, 1.0, 3.0][random.within(0, 2)];
    let diagonals = random.chance(0.5);
    let mut all = [(0, 1), (1, 0), (1, 1), (1, 1)]
        .map(|(down, right)| weights(random, (height - down) * (width - right), integral, strength));
    if !diagonals {
        (all[2], all[3]) = (GridWeights::None, GridWeights::None);
    }
    Grid::new([height, width, 2], unary, all).unwrap()
}

/// Energy, bound and labels are those of the model's minimum cut: all sizes, 4 and 8 neighbours, ties and forbidden
/// labels.
#[test]
fn cuts_as_the_model_does() {
    let (mut direct, mut cut, mut labels, mut expected) =
        (GridCut::default(), MinCut::default(), Vec::new(), Vec::new());
    for seed in 0..3000 {
        let mut random = Random(seed);
        let grid = random_grid(&mut random, if seed % 100 == 0 { 130 } else { 7 });
        let mrf = grid.to_mrf().unwrap();
        assert_eq!((mrf.nodes(), mrf.edges().len()), (grid.nodes(), grid.edges()), "seed {seed}");
        let answer = direct.solve(&grid, &mut labels).unwrap();
        let known = cut.solve(&mrf, &mut unwatched, &mut expected).unwrap();
        assert_eq!(answer.energy, mrf.energy(&labels), "seed {seed}");
        assert!(answer.is_exact(), "seed {seed}: {answer:?}");
        assert!((answer.energy - known.energy).abs() <= 1e-9 * (1.0 + known.energy.abs()), "seed {seed}");
        if mrf.is_integral() {
            assert_eq!(labels, expected, "seed {seed}");
        }
    }
}

/// A grid that no cut solves, and arrays that are no grid, are refused with the place.
#[test]
fn refuses() {
    let grid = |size, unary: Vec<f64>, horizontal| {
        Grid::new(size, unary, [horizontal, GridWeights::None, GridWeights::None, GridWeights::None])
    };
    let solve = |grid: Grid| GridCut::default().solve(&grid, &mut Vec::new()).unwrap_err().to_string();
    let invalid = |result: Result<Grid, InferError>| result.unwrap_err().to_string();
    assert_eq!(
        solve(grid([1, 2, 3], vec![0.0; 6], GridWeights::Same(1.0)).unwrap()),
        "engine min-cut does not apply: nodes have 3 labels, expected 2"
    );
    assert_eq!(
        solve(grid([1, 2, 2], vec![0.0; 4], GridWeights::Each(vec![-1.0])).unwrap()),
        "engine min-cut does not apply: an edge 0 down and 1 right has weight -1, expected at least 0"
    );
    for (result, expected) in [
        (
            grid([0, 2, 2], vec![], GridWeights::None),
            "found a grid of 0 x 2 nodes and 2 labels, expected at least 1 of each and fewer than 2^28 nodes",
        ),
        (grid([1, 2, 2], vec![0.0; 3], GridWeights::None), "found 3 unary energies, expected 1 x 2 x 2"),
        (grid([1, 2, 2], vec![0.0; 4], GridWeights::Each(vec![1.0; 2])), "found 2 horizontal weights, expected 1 x 1"),
        (
            grid([1, 2, 2], vec![0.0; 4], GridWeights::Each(vec![f64::NAN])),
            "horizontal weight of row 0, column 0: found NaN, expected a finite number",
        ),
        (
            grid([1, 2, 2], vec![0.0, 1.0, f64::NAN, 0.0], GridWeights::None),
            "node 1: found NaN as energy of label 0, expected a finite number or +inf",
        ),
        (
            grid([1, 1, 2], vec![f64::INFINITY; 2], GridWeights::None),
            "node 0: found every label forbidden, expected a finite energy",
        ),
    ] {
        assert_eq!(invalid(result), expected);
    }
    let large = grid([1, 2, 2], vec![9e299; 4], GridWeights::None);
    assert!(invalid(large).starts_with("node 1: found energies of up to 9e299 in size"));
}
