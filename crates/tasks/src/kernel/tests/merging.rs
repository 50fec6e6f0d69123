//! Merging against a fine grid of h, and against rows written down.

use multiplane_core::rng::Rng;

use crate::data::SparseRows;
use crate::kernel::merging::{Pair, merged};

/// The h found keeps as much as the best of a fine grid where there is one hill, and no less than its ends anywhere.
#[test]
fn golden_section_finds_the_top() {
    let mut rng = Rng::new(3, 0);
    for trial in 0..2000 {
        let (a, b) = (2.0 * rng.unit() - 1.0, 2.0 * rng.unit() - 1.0);
        let log = -2.0 * rng.unit() * if trial % 2 == 0 { 1.0 } else { 4.0 };
        let pair = Pair { first: a * a, second: b * b, product: a * b, log };
        let found = pair.kept(pair.best());
        let grid = (0..=4000).map(|k| pair.kept(f64::from(k) / 4000.0)).fold(0.0, f64::max);
        if a * b > 0.0 && log >= -2.0 {
            assert!(found >= grid * (1.0 - 1e-12), "{pair:?}: {found} at {}, expected {grid}", pair.best());
        }
        assert!(found >= pair.kept(0.0).max(pair.kept(1.0)), "{pair:?}");
        let all = a * a + b * b + 2.0 * a * b * log.exp();
        assert!(found <= all * (1.0 + 1e-12) + 1e-15, "{pair:?}: more is kept than there is");
    }
}

/// Equal rows become one of the same place; a pair far from the rest becomes one between them; as many are left as asked for.
#[test]
fn near_rows_become_one() {
    let mut rows = SparseRows::new(3);
    for row in [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 5.2, 0.0], [0.0, 0.0, 9.0]] {
        rows.push(&[0, 1, 2], &row);
    }
    let (left, evaluations) = merged(1.0, &rows, &[1.0, 1.0, 1.0, 1.0, 7.0], 3);
    let dense = |i: usize| {
        let mut dense = [0.0; 3];
        left.row(i).iter().for_each(|(k, value)| dense[k as usize] = value);
        dense
    };
    assert_eq!((left.len(), evaluations), (3, 4 + 3));
    assert_eq!((dense(0), dense(2)), ([1.0, 0.0, 0.0], [0.0, 0.0, 9.0]));
    assert!((dense(1)[1] - 5.1).abs() < 1e-6, "{:?}", dense(1));
    for most in 1..=5 {
        assert_eq!(merged(0.3, &rows, &[1.0, -1.0, 0.5, 0.5, 2.0, 0.1, 0.2, 0.3, -0.4, 0.0], most).0.len(), most);
    }
}
