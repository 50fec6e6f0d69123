//! Small stick figures as grids of channels, each with 14 joints.

use super::dice::Dice;
use crate::container::Matrix;
use crate::poses::PoseArrays;

/// Rows and columns of a picture.
const SIZE: [u32; 2] = [24, 20];

/// Kinds of joints: ankle, knee, hip, wrist, elbow, shoulder, neck, head; each has a channel.
const KINDS: usize = 8;

/// The kind of each joint, then where it is when the figure stands upright, in the order of Leeds Sports Pose.
const JOINTS: [(usize, [i32; 2]); 14] = [
    (0, [-2, 15]),
    (1, [-2, 11]),
    (2, [-1, 7]),
    (2, [2, 7]),
    (1, [3, 11]),
    (0, [3, 15]),
    (3, [-4, 8]),
    (4, [-4, 5]),
    (5, [-2, 2]),
    (5, [2, 2]),
    (4, [4, 5]),
    (3, [4, 8]),
    (6, [0, 1]),
    (7, [0, -1]),
];

/// Returns `n` pictures of 24 x 20 cells with 8 channels. A joint shines in the channel of its kind, left and right
/// alike; each is up to a cell off its place, and in one of 20 it does not shine. One cell in 30 shines in a channel by
/// chance, and all have some noise.
pub fn synthetic_poses(n: usize, seed: u64) -> PoseArrays {
    let [rows, columns] = SIZE;
    let (mut numbers, mut joints) = (Vec::new(), Vec::new());
    for picture in 0..n {
        let mut dice = Dice::new(seed, picture as u64);
        let size = (rows * columns) as usize;
        let mut cells = vec![0.0_f32; size * KINDS];
        cells.iter_mut().for_each(|value| *value = dice.below(256) as f32 / 1024.0);
        for cell in 0..size {
            if dice.below(30) == 0 {
                cells[cell * KINDS + dice.below(KINDS as u32) as usize] = 1.0;
            }
        }
        let (left, top) = (5 + dice.below(10) as i32, 2 + dice.below(5) as i32);
        for (kind, [x, y]) in JOINTS {
            let (x, y) = (left + x + dice.around(1), top + y + dice.around(1));
            if !dice.chance(50) {
                cells[(y as usize * columns as usize + x as usize) * KINDS + kind] = 1.0;
            }
            joints.push([f64::from(x), f64::from(y)]);
        }
        numbers.extend(cells);
    }
    let cells = numbers.len() / KINDS;
    let grid_sizes = vec![[rows.into(), columns.into()]; n];
    PoseArrays { grid_sizes, channels: Matrix::new(numbers, cells, KINDS), parts: JOINTS.len(), joints }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poses::Poses;

    /// The same seed gives the same pictures, a longer set begins with the shorter one, and all are sound.
    #[test]
    fn pictures_are_sound() {
        super::super::assert_repeatable(|n, seed| {
            let arrays = synthetic_poses(n, seed);
            let numbers = arrays.channels.numbers().to_vec();
            let pixels = (SIZE[0] * SIZE[1]) as usize * KINDS;
            numbers.chunks(pixels).map(<[f64]>::to_vec).zip(arrays.joints.chunks(14).map(<[_]>::to_vec)).collect()
        });
        assert_eq!(Poses::new(&synthetic_poses(200, 1)).unwrap().images().len(), 200);
    }
}
