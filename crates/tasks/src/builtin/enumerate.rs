//! All labellings of an input, where they are few, and the slack-rescaled hinge by looking at each: slow code for
//! `verify`.

use std::ops::Range;

use multiplane_core::example::Example;
use multiplane_core::task::{TaskLabel, UNLABELLED};

use crate::builtin::task::BuiltinTask;
use crate::double_double::DoubleDouble;

/// Returns the codes of all labellings of an input, where these are `most` at most; `None` where there are more, where
/// labellings are not made of variables, or where the truth has labels that the task lacks. Variables without a label
/// have none in any.
pub(super) fn codes<T: BuiltinTask>(task: &T, x: &T::Input, truth: &T::Label, most: usize) -> Option<Vec<Vec<u32>>> {
    let variables = task.capabilities().variables?;
    let labels = truth.numbers()?;
    let choices = |(variable, &label): (usize, &u32)| match label {
        UNLABELLED => UNLABELLED..UNLABELLED + 1,
        _ => 0..variables.label_count(x, variable) as u32,
    };
    let choices: Vec<Range<u32>> = labels.iter().enumerate().map(choices).collect();
    if labels.iter().zip(&choices).any(|(label, choices)| !choices.contains(label)) {
        return None;
    }
    choices.iter().try_fold(1usize, |all, choices| all.checked_mul(choices.len()).filter(|&all| all <= most))?;
    let mut codes = vec![Vec::new()];
    for choices in choices {
        let with = |code: &Vec<u32>, label: u32| code.iter().copied().chain([label]).collect();
        codes = codes.iter().flat_map(|code| choices.clone().map(move |label| with(code, label))).collect();
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
