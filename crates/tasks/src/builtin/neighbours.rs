//! Labellings that differ in one variable.

use multiplane_core::rng::Rng;

/// Returns at most `most` labellings that differ from `y` in one variable, drawn at random; variable v takes the labels
/// `0..labels(v)`.
pub fn one_changed(y: &[u32], labels: impl Fn(usize) -> usize, most: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let numbers = |place: usize| (0..labels(place) as u32).map(move |number| (place, number));
    let mut all: Vec<(usize, u32)> = (0..y.len()).flat_map(numbers).collect();
    all.retain(|&(place, number)| y[place] != number);
    rng.shuffle(&mut all);
    all.truncate(most);
    let changed = |(place, number): (usize, u32)| {
        let mut changed = y.to_vec();
        changed[place] = number;
        changed
    };
    all.into_iter().map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every labelling at distance 1 is found once, whatever the number of labels of its variable, and no other.
    #[test]
    fn all_neighbours_are_found() {
        let mut found = one_changed(&[0, 2], |place| [2, 3][place], 99, &mut Rng::new(1, 0));
        found.sort_unstable();
        assert_eq!(found, [[0, 0], [0, 1], [1, 2]]);
        assert_eq!(one_changed(&[0, 2], |place| [2, 3][place], 2, &mut Rng::new(1, 0)).len(), 2);
        assert!(one_changed(&[], |_| 2, 9, &mut Rng::new(1, 0)).is_empty());
    }
}
