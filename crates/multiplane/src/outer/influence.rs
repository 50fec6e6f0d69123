//! The influence of training examples: what becomes of held-out hinges if one leaves, to first order from the dual.
//!
//! `w` is a sum of one vector for each example. If the vector of an example goes and the others stay, hinges change by
//! its product with their planes. The others would move as well, which `update` finds out exactly.

use multiplane_core::oracle::MaxOracle;
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Constraint;

use crate::error::Error;
use crate::session::{EarlierRun, Session};

/// Returns for each training example by how much the mean hinge over the session's test data rises if the example
/// leaves: above 0 for examples that help. `by_order`: the examples of the run are those of the session, in order; else
/// they are known by their content. Takes a call for each test example.
///
/// # Errors
///
/// [`Error::Input`] if there are no test data, or the run before was on other examples or kept no dual point;
/// [`Error::Failed`] if a test example cannot be decoded.
pub fn influences(session: &Session, run: &EarlierRun, by_order: bool) -> Result<Vec<f64>, Error> {
    let Some(test) = session.test() else {
        return Err(Error::input("influence: there are no examples on whose hinge it could be: give test data"));
    };
    let same = by_order.then(|| (0..session.problem().blocks()).map(|k| (k < run.size.0).then_some(k)).collect());
    let mut start = session.start_from(run, same)?;
    if start.changes.added + start.changes.removed + start.changes.reweighted > 0 {
        return Err(Error::input(
            "influence: this is not the training data of the run before; `update` goes on with it",
        ));
    }
    let (problem, lambda) = (session.problem(), session.lambda());
    let regularizer = session.regularizer.with_lambda(lambda);
    let mut w = vec![0.0; problem.dim()];
    for block in 0..problem.blocks() {
        let point = (start.blocks)(block);
        point
            .planes
            .iter()
            .filter(|part| part.mass > 0.0)
            .for_each(|part| part.plane.view().star.add_to(part.mass, &mut w));
    }
    regularizer.free_weights(&mut w);
    regularizer.clip_all(&mut w);
    let in_test = test.from_file_layout(&problem.to_file_layout(&w));
    let (mut oracle, mut plane, mut slope) = (test.oracle()?, Plane::new(), vec![0.0; test.dim()]);
    for block in 0..test.blocks() {
        oracle.maximize(block, &in_test, &mut plane)?;
        if plane.view().score(&in_test) > 0.0 {
            plane.view().star.add_to(1.0, &mut slope);
        }
    }
    let mut slope = problem.from_file_layout(&test.to_file_layout(&slope));
    for (k, slope) in slope.iter_mut().enumerate() {
        let is_held = regularizer.constraints().is_some_and(|constraints| match constraints[k] {
            Constraint::Free => false,
            Constraint::NonNegative => w[k] == 0.0,
            Constraint::Frozen => true,
        });
        *slope = if is_held { 0.0 } else { *slope / lambda };
    }
    let influence = |block: usize| {
        let parts = (start.blocks)(block).planes;
        parts.iter().filter(|part| part.mass > 0.0).map(|part| part.mass * part.plane.view().star.dot(&slope)).sum()
    };
    Ok((0..problem.blocks()).map(influence).collect())
}
