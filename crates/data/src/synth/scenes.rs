//! Scenes with any of six labels: made-up pictures as counts of signs, such as sand or masts, that go with labels.
//!
//! Labels go together (who sees a beach sees the sea) or exclude each other (no snow on the beach), and signs are
//! missing half of the time, so that labels tell of each other. A scene costs about eighty draws.

use super::dice::Dice;
use crate::{LabelSets, SparseRows};

/// A scene: numbers of its labels, ascending, and how often every sign is there.
type SynthScene = (Vec<u32>, [u8; SIGNS]);

/// The labels, in the order of their numbers.
const SCENE_LABELS: [&str; 6] = ["beach", "boat", "city", "night", "sea", "snow"];

/// Signs in all.
const SIGNS: usize = 24;

/// Signs that go with a label; every second one goes with the next label, too.
const SIGNS_PER_LABEL: usize = 6;

/// A sign that is there goes with its label so often, in a thousand, and so often with none.
const SHOWN_PERMILLE: u32 = 450;
const STRAY_PERMILLE: u32 = 120;

/// Returns `n` scenes. The same `seed` gives the same scenes on every machine, and the first of a longer set are those
/// of a shorter one.
fn scenes(n: usize, seed: u64) -> Vec<SynthScene> {
    (0..n as u64).map(|index| scene(&mut Dice::new(seed, index))).collect()
}

fn scene(dice: &mut Dice) -> SynthScene {
    let sea = dice.chance(350);
    let beach = dice.chance(if sea { 600 } else { 50 });
    let boat = dice.chance(if sea { 400 } else { 30 });
    let snow = !beach && dice.chance(200);
    let city = dice.chance(300);
    let night = dice.chance(if city { 450 } else { 150 });
    let has = [beach, boat, city, night, sea, snow];
    let mut signs = [0; SIGNS];
    for (label, _) in has.iter().enumerate().filter(|(_, has)| **has) {
        let first = label * SIGNS / SCENE_LABELS.len();
        for sign in (first..first + SIGNS_PER_LABEL).filter(|_| dice.chance(SHOWN_PERMILLE)) {
            signs[sign % SIGNS] += 1;
        }
    }
    signs.iter_mut().filter(|_| dice.chance(STRAY_PERMILLE)).for_each(|sign| *sign += 1);
    ((0..).zip(has).filter(|(_, has)| *has).map(|(label, _)| label).collect(), signs)
}

/// Returns `n` scenes (see [`synth`](crate::synth)) as rows of counts with sets of labels.
pub fn synthetic_scenes(n: usize, seed: u64) -> LabelSets {
    let mut data = LabelSets { rows: SparseRows::new(SIGNS), ..LabelSets::default() };
    for (labels, signs) in scenes(n, seed) {
        let mut set: Vec<u32> = labels.iter().map(|&label| data.names.intern(SCENE_LABELS[label as usize])).collect();
        set.sort_unstable();
        data.sets.push(set);
        let seen: Vec<u32> = (0..SIGNS as u32).filter(|&sign| signs[sign as usize] > 0).collect();
        let counts: Vec<f64> = seen.iter().map(|&sign| signs[sign as usize].into()).collect();
        data.rows.push(&seen, &counts);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::super::assert_repeatable;
    use super::*;

    /// The same seed gives the same scenes, and a longer set begins with the shorter one.
    #[test]
    fn scenes_are_repeatable() {
        assert_repeatable(scenes);
    }

    /// Labels depend on each other as they are said to, and some scenes have none or several.
    #[test]
    fn labels_depend_on_each_other() {
        let all = scenes(2000, 0);
        let share = |label: u32, given: u32| {
            let given: Vec<_> = all.iter().filter(|(labels, _)| labels.contains(&given)).collect();
            given.iter().filter(|(labels, _)| labels.contains(&label)).count() as f64 / given.len() as f64
        };
        assert!(share(0, 4) > 0.5 && share(4, 0) > 0.8 && share(5, 0) == 0.0 && share(3, 2) > 0.4);
        assert!(all.iter().any(|(labels, _)| labels.is_empty()) && all.iter().any(|(labels, _)| labels.len() > 3));
    }
}
