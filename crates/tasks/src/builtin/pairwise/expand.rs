//! Alpha-expansion with its sweeps, gone on with while the bound is not tight.

use multiplane_infer::engine::{Engine, unwatched};
use multiplane_infer::expansion::Expansion;
use multiplane_infer::{Answer, InferError, Mrf};

/// A bound is tight enough if it is above the answer by at most this share of the hinge: less than what gaps are asked
/// for.
const TIGHT: f64 = 2e-3;

/// More message passing goes on only while it takes this share off what the bound leaves open.
const WORTHWHILE: f64 = 0.05;

/// Solves a model by expansion from a cold start, and again from the messages that this left, until the bound is tight,
/// more of them do not help, or there were so many sweeps. `of_truth` is the energy of the truth, which the hinge is
/// above; `None` where a prediction is wanted: then bounds are of no use.
pub(in crate::builtin) fn expand(
    model: &Mrf,
    of_truth: Option<f64>,
    most_sweeps: u64,
    engine: &mut Expansion,
    labels: &mut Vec<u32>,
) -> Result<Answer, InferError> {
    engine.prepare(model)?;
    let mut answer = engine.solve(model, &mut unwatched, labels)?;
    let Some(of_truth) = of_truth else { return Ok(answer) };
    let mut sweeps = u64::from(engine.sweeps);
    while sweeps < most_sweeps {
        let open = answer.energy - answer.bound;
        if open <= TIGHT * (of_truth - answer.energy) {
            break;
        }
        // Labels are never worse than those of the last solve, and its bound holds for them as well.
        let next = engine.solve(model, &mut unwatched, labels)?;
        answer = Answer { energy: next.energy, bound: next.bound.max(answer.bound).min(next.energy), ..next };
        sweeps += u64::from(engine.sweeps);
        if answer.energy - answer.bound > (1.0 - WORTHWHILE) * open {
            break;
        }
    }
    Ok(answer)
}
