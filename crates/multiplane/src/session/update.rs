//! Updates: a run on changed data that begins at the dual point of the run before
//! ([ADR 0076](../../../../docs/adr/0076-changed-data.md)).
//!
//! Every change is a map from the examples of now to those of before, and their new shares of the mean. An example that
//! is there no more, that is new or relabelled has no counterpart: it begins at its truth. Planes of the others are
//! multiplied by the change of their share, or made anew from their labellings, so the point is feasible whatever has
//! changed, and F bounds the optimum at once. Where a completed truth has changed, one plane is added to all planes of
//! the example.

use std::collections::HashMap;
use std::sync::Arc;

use multiplane_core::block_point::{BlockPoint, MassPlane};
use multiplane_core::plane::Plane;
use multiplane_core::run::{EvaluatedWeights, RunPoint};
use multiplane_core::state;
use multiplane_tasks::problem::Problem;
use serde_json::Value;

use super::members::Members;
use super::open::Session;
use super::start_point::{Changes, StartPoint};
use crate::error::Error;
use crate::file::Checkpoint;
use crate::spec::RunSpec;

/// The state that a run left, to be handed to a run on other examples.
#[derive(Clone, Debug)]
pub struct EarlierRun {
    pub(crate) spec: Value,
    /// Its examples and weights.
    pub(crate) size: (usize, usize),
    pub(crate) members: Members,
    pub(crate) state: Vec<u8>,
}

impl EarlierRun {
    /// Takes the run of a checkpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if it is none of a single run, or does not say what its examples were.
    pub fn of(checkpoint: Checkpoint) -> Result<EarlierRun, Error> {
        let Checkpoint { info, state, members, .. } = checkpoint;
        info.check_outer(None)?;
        if members.is_empty() {
            return Err(Error::input("it does not say what its examples were: only the program knows them"));
        }
        let size = (info.n, info.d);
        let members = state::decode(&members, |members: &Members| members.check(size.0, size.1))
            .map_err(|error| Error::input(error.to_string()))?;
        Ok(EarlierRun { spec: info.spec, size, members, state })
    }
}

/// Which of the examples of before each example of now is, by their digests. Equal ones are taken in order.
fn counterparts(before: &[u128], now: &[u128]) -> Vec<Option<usize>> {
    let mut places: HashMap<u128, Vec<usize>> = HashMap::new();
    before.iter().enumerate().rev().for_each(|(place, digest)| places.entry(*digest).or_default().push(place));
    now.iter().map(|digest| places.get_mut(digest)?.pop()).collect()
}

/// The place of each name of before among those of now.
fn moved(before: &[u64], now: &[u64]) -> Vec<Option<u32>> {
    let places: HashMap<u64, u32> = now.iter().copied().zip(0..).collect();
    before.iter().map(|name| places.get(name).copied()).collect()
}

impl Session {
    /// Returns the point at which a run on this data begins that goes on from a run on other data. `counterpart` says
    /// which example of before each example is; without it they are known by their content.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if task or solver are not those of before, or keep no dual point example by example.
    pub fn start_from(
        &self,
        earlier: &EarlierRun,
        counterpart: Option<Vec<Option<usize>>>,
    ) -> Result<StartPoint, Error> {
        let before = self.spec().of_same_task(&earlier.spec)?;
        self.check_update(&before)?;
        let point = self.point_from(earlier, &before, counterpart, HashMap::new())?;
        point.ok_or_else(|| without_point(self.spec().solver.entry.name))
    }

    /// Returns the point at which a run goes on after truths have changed: the planes of these examples change by
    /// `moves`. `None` if the solver keeps no dual point example by example.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the run was on another task, or on other examples.
    pub fn start_at_truths(
        &self,
        earlier: &EarlierRun,
        moves: HashMap<usize, Plane>,
    ) -> Result<Option<StartPoint>, Error> {
        let (before, size) =
            (self.spec().of_same_task(&earlier.spec)?, (self.problem().blocks(), self.problem().dim()));
        let (n, d) = size;
        let fits = |(block, plane): (&usize, &Plane)| {
            let mut inside = *block < n;
            plane.view().star.each(|k, _| inside &= k < d);
            inside
        };
        if earlier.size != size || !moves.iter().all(fits) {
            return Err(Error::input(format!(
                "changed truths: the run before had {} examples and {} weights, expected {n} and {d}",
                earlier.size.0, earlier.size.1
            )));
        }
        match self.spec().solver.entry.has_dual {
            true => self.point_from(earlier, &before, Some((0..size.0).map(Some).collect()), moves),
            false => Ok(None),
        }
    }

    fn point_from(
        &self,
        earlier: &EarlierRun,
        before: &RunSpec,
        counterpart: Option<Vec<Option<usize>>>,
        moves: HashMap<usize, Plane>,
    ) -> Result<Option<StartPoint>, Error> {
        let (old, now) = (&earlier.members, self.members()?);
        let counterpart = match counterpart {
            Some(given) if given.len() != now.shares.len() => {
                let (found, n) = (given.len(), now.shares.len());
                return Err(Error::input(format!("an update: counterparts of {found} examples, expected {n}")));
            }
            Some(given) => given,
            None if old.digests.is_empty() || now.digests.is_empty() => {
                return Err(Error::input("an update: examples of this task are not known by their content"));
            }
            None if self.numbers_labels() && old.labels != now.labels => {
                return Err(Error::input(
                    "an update: examples are known by content with the numbers of their classes, which have changed",
                ));
            }
            None => counterparts(&old.digests, &now.digests),
        };
        let read = RunPoint::read(&earlier.state, earlier.size, |regularizer| {
            before.solver.config.build(earlier.size.0, earlier.size.1, regularizer)
        });
        let point = read.map_err(|error| Error::input(format!("the run before: {error}")))?;
        let Some(RunPoint { blocks, best }) = point else { return Ok(None) };
        let ratio = |block: usize| {
            let (from, share) = (counterpart[block]?, now.shares[block]);
            (old.shares[from] > 0.0 && share > 0.0).then(|| share / old.shares[from])
        };
        let changes = changes_of(&counterpart, old, &now);
        let same_planes = old.rest == now.rest;
        let same_hinges = same_planes && old.labels == now.labels;
        let weights = match () {
            _ if old.weights == now.weights
                && earlier.size.1 == self.problem().dim()
                && (old.labels == now.labels || !now.weights.is_empty()) =>
            {
                None
            }
            _ if old.weights.is_empty() || now.weights.is_empty() => Some(vec![None; earlier.size.1]),
            _ => Some(moved(&old.weights, &now.weights)),
        };
        let best = best.filter(|_| same_hinges).map(|best| {
            let most = (0..counterpart.len()).filter_map(ratio).fold(0.0, f64::max);
            let mut terms = best.terms;
            [&mut terms.score, &mut terms.length, &mut terms.constant].into_iter().for_each(|term| *term *= most);
            let hinges = counterpart.iter().enumerate().map(|(block, from)| {
                let hinge = best.hinges[(*from)?]?;
                let hinge = if now.shares[block] == 0.0 { 0.0 } else { ratio(block)? * hinge };
                let Some(by) = moves.get(&block) else { return Some(hinge) };
                terms.add(1.0, by.view(), &best.w);
                Some((hinge + by.view().score(&best.w)).max(0.0)) // all planes change alike, so their maximum does
            });
            let hinges = hinges.collect();
            let w = weights
                .as_ref()
                .map_or_else(|| best.w.clone(), |map| moved_weights(&best.w, map, self.problem().dim()));
            EvaluatedWeights { w, hinges, terms, proven: best.proven }
        });
        let ratios: Vec<Option<f64>> = (0..counterpart.len()).map(ratio).collect();
        let translation = Translation {
            problem: self.problem.clone(),
            places: places_of(&*self.problem),
            labels: (old.labels != now.labels).then(|| moved(&old.labels, &now.labels)),
            weights,
            same_planes,
            moves,
        };
        let source = move |block: usize| match (ratios[block], counterpart[block]) {
            (Some(ratio), Some(from)) => translation.block(block, &blocks[from], ratio),
            _ => BlockPoint::default(),
        };
        Ok(Some(StartPoint { changes, blocks: Box::new(source), best }))
    }

    fn check_update(&self, before: &RunSpec) -> Result<(), Error> {
        let entry = self.spec().solver.entry;
        if self.problem().kernel().is_some() {
            return Err(Error::input(
                "an update: not with a kernel, whose weights are coefficients of the examples; train anew",
            ));
        }
        if self.has_rounds() {
            return Err(Error::input(
                "an update: task.partial = masked completes truths in rounds of runs; train anew",
            ));
        }
        if !entry.has_dual {
            return Err(without_point(entry.name));
        }
        if before.solver.table() != self.spec().solver.table() {
            let (old, name) = (before.solver.entry.name, entry.name);
            return Err(Error::input(format!(
                "an update keeps the solver and its parameters: the run before had `{old}`, here it is `{name}` or has \
                 other parameters"
            )));
        }
        Ok(())
    }
}

fn without_point(solver: &str) -> Error {
    Error::input(format!(
        "solver `{solver}` keeps no dual point of single examples: an update needs one of the block-coordinate \
         Frank-Wolfe family, such as `auto`"
    ))
}

fn changes_of(counterpart: &[Option<usize>], old: &Members, now: &Members) -> Changes {
    let kept: Vec<(usize, usize)> =
        counterpart.iter().enumerate().filter_map(|(k, from)| Some((k, (*from)?))).collect();
    // Relative weights: of examples that all count the same, none is reweighted by how many they are.
    let weight = |shares: &[f64], k: usize| shares[k] * shares.len() as f64;
    let differs = |&&(k, from): &&(usize, usize)| {
        let (one, other) = (weight(&now.shares, k), weight(&old.shares, from));
        (one - other).abs() > 1e-9 * (one + other)
    };
    Changes {
        kept: kept.len(),
        reweighted: kept.iter().filter(differs).count(),
        added: counterpart.len() - kept.len(),
        removed: old.shares.len() - kept.len(),
    }
}

fn moved_weights(w: &[f64], map: &[Option<u32>], dim: usize) -> Vec<f64> {
    let mut moved = vec![0.0; dim];
    w.iter().zip(map).for_each(|(weight, place)| place.iter().for_each(|&place| moved[place as usize] = *weight));
    moved
}

/// Returns the place in training of each coordinate of the layout of files.
fn places_of(problem: &dyn Problem) -> Vec<u32> {
    let numbers: Vec<f64> = (0..problem.dim()).map(|k| k as f64).collect();
    let mut places = vec![0; numbers.len()];
    for (place, number) in problem.from_file_layout(&numbers).into_iter().enumerate() {
        places[number as usize] = place as u32;
    }
    places
}

/// From the planes of one problem to those of another.
struct Translation {
    problem: Arc<dyn Problem>,
    places: Vec<u32>,
    /// The number of each label, if numbers have changed; `None` of a label that is gone.
    labels: Option<Vec<Option<u32>>>,
    /// The same of weights.
    weights: Option<Vec<Option<u32>>>,
    /// If a labelling has the plane of before, but for shares and places.
    same_planes: bool,
    /// The plane to add to each plane of an example whose truth changed.
    moves: HashMap<usize, Plane>,
}

impl Translation {
    /// Returns the part of an example that was there before. A plane that cannot be translated leaves its mass to the
    /// truth.
    fn block(&self, block: usize, from: &BlockPoint, ratio: f64) -> BlockPoint {
        let moved = self.moves.get(&block);
        let planes = from.planes.iter().filter_map(|part| {
            let has_code = !part.plane.code().is_empty();
            let is_as_before = self.same_planes && self.labels.is_none() && self.weights.is_none();
            let plane = match has_code && (part.by_code || !is_as_before) {
                true => self.of_code(block, part.plane.code()),
                false => self.of_numbers(&part.plane, ratio).map(|plane| match moved {
                    Some(by) => sum(&plane, by),
                    None => plane,
                }),
            };
            Some(MassPlane { mass: part.mass, plane: plane?, by_code: false, kept: part.kept })
        });
        let mut planes: Vec<MassPlane> = planes.collect();
        if let Some(old_truth) = moved {
            let mass = 1.0 - planes.iter().map(|part| part.mass).sum::<f64>();
            planes.extend((mass > 0.0).then(|| MassPlane { mass, ..MassPlane::all(old_truth, true) }));
        }
        BlockPoint { planes, gap: from.gap * ratio }
    }

    /// Makes the plane of a labelling anew.
    fn of_code(&self, block: usize, code: &[u32]) -> Option<Plane> {
        let translated = |label: &u32| self.labels.as_ref().map_or(Some(*label), |map| *map.get(*label as usize)?);
        let code: Vec<u32> = code.iter().map(translated).collect::<Option<_>>()?;
        let mut plane = Plane::new();
        let mut add = |k: usize, value: f64| plane.push(self.places[k], value);
        let circ = self.problem.reference().plane(block, &code, &mut add)?;
        plane.seal();
        plane.set_circ(circ);
        plane.code_mut().extend(code);
        Some(plane)
    }

    /// Moves the numbers of a plane to their places.
    fn of_numbers(&self, from: &Plane, ratio: f64) -> Option<Plane> {
        if !self.same_planes {
            return None;
        }
        let (view, mut plane) = (from.view(), Plane::new());
        match &self.weights {
            None => {
                plane.copy_star(view.star);
                plane.scale_linear(ratio);
            }
            Some(map) => {
                let mut is_whole = true;
                view.star.each(|k, value| match map[k] {
                    Some(place) if value != 0.0 => plane.push(place, ratio * value),
                    _ => is_whole &= value == 0.0,
                });
                if !is_whole {
                    return None; // of a label that is gone
                }
                plane.seal();
            }
        }
        plane.set_circ(ratio * view.circ);
        plane.code_mut().extend_from_slice(from.code());
        Some(plane)
    }
}

/// Adds two planes, without the coordinates that cancel; the code is that of the first.
fn sum(one: &Plane, other: &Plane) -> Plane {
    let (mut all, mut plane) = (Plane::new(), Plane::new());
    for part in [one, other] {
        part.view().star.each(|k, value| all.push(k as u32, value));
    }
    all.seal();
    all.view().star.each(|k, value| {
        if value != 0.0 {
            plane.push(k as u32, value)
        }
    });
    plane.set_circ(one.view().circ + other.view().circ);
    plane.code_mut().extend_from_slice(one.code());
    plane
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal examples are matched as often as they are there on both sides, in order.
    #[test]
    fn equal_examples_are_matched_in_order() {
        assert_eq!(counterparts(&[7, 5, 7, 9], &[7, 7, 7, 5]), [Some(0), Some(2), None, Some(1)]);
        assert_eq!(moved(&[3, 4, 5], &[5, 6, 3]), [Some(2), None, Some(0)]);
    }
}
