//! All labellings of an input, where they are few, and the slack-rescaled hinge by looking at each: slow code for
//! `verify`.

use multiplane_core::example::Example;
use multiplane_core::task::TaskLabel;

use crate::builtin::task::BuiltinTask;
use crate::double_double::DoubleDouble;

/// Returns the codes of all labellings of an input, where these are `most` at most; `None` where there are more, where
/// labellings are not made of variables, or where the truth leaves one open.
pub(super) fn codes<T: BuiltinTask>(task: &T, x: &T::Input, truth: &T::Label, most: usize) -> Option<Vec<Vec<u32>>> {
    let variables = task.capabilities().variables?;
    let labels = truth.numbers()?;
    let counts: Vec<usize> = (0..labels.len()).map(|variable| variables.label_count(x, variable)).collect();
    if labels.iter().zip(&counts).any(|(&label, &count)| label as usize >= count) {
        return None;
    }
    counts.iter().try_fold(1usize, |all, &count| all.checked_mul(count).filter(|&all| all <= most))?;
    let mut codes = vec![Vec::new()];
    for &count in &counts {
        let with = |code: &Vec<u32>, label: u32| code.iter().copied().chain([label]).collect();
        codes = codes.iter().flat_map(|code| (0..count as u32).map(move |label| with(code, label))).collect();
    }
    let example = Example { index: 0, input: x, truth };
    codes.retain(|code| variables.is_labelling(example, code));
    Some(codes)
}

/// Returns `max_y Delta(y) (1 + <w, phi(x, y) - phi(x, truth)>)`, no 1/n, `w` in the layout of files; see [`codes`].
pub(super) fn slack_hinge<T: BuiltinTask>(
    task: &T,
    x: &T::Input,
    truth: &T::Label,
    w: &[f64],
    most: usize,
) -> Option<f64> {
    let mut largest = 0.0_f64; // the truth's
    for code in codes(task, x, truth, most)? {
        let mut score = DoubleDouble::ZERO;
        let loss =
            task.reference_plane(x, truth, &code, &mut |k, value| score = score + DoubleDouble::product(value, w[k]))?;
        largest = largest.max(loss * (DoubleDouble::from(1.0) + score).value());
    }
    Some(largest)
}
