//! Answers of code that is not ours, held against each other: no plane that an oracle has ever answered with may score
//! higher than one that it calls the best, the truth's included.
//!
//! It proves that a word is false, never that it is true. Costs no call, and one score per plane kept for an answer on an
//! audited example ([ADR 0048](../../../../docs/adr/0048-the-word-of-a-program.md)).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::{OracleError, OracleResult, Quality};
use super::max_oracle::MaxOracle;
use super::wrapper::{Wrapped, Wrapper};
use crate::plane::{Plane, PlaneView};

/// Examples that are audited, spread over all.
const EXAMPLES: usize = 64;

/// Planes kept of an example, the latest ones.
const PLANES: usize = 8;

/// By how much, relative to the terms and to 1/n, a score may be below another one: rounding on either side.
const TOLERANCE: f64 = 1e-6;

/// What an oracle has answered. Clones share it, so the oracles of one problem are held against each other as well.
#[derive(Clone, Debug)]
pub struct Audit {
    blocks: usize,
    /// Every so-manieth example is audited.
    every: usize,
    seen: Arc<[Mutex<SeenPlanes>]>,
    /// Whether an answer was declared something else than exact.
    inexact: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct SeenPlanes {
    planes: Vec<Plane>,
    /// Where the next one goes once there are enough.
    next: usize,
}

/// An oracle whose answers are held against each other.
pub type Audited<O> = Wrapped<O, Audit>;

impl Audit {
    /// Nothing seen yet of so many examples.
    pub fn new(blocks: usize) -> Self {
        let every = blocks.div_ceil(EXAMPLES).max(1);
        let seen = (0..blocks.div_ceil(every)).map(|_| Mutex::default()).collect();
        Audit { blocks, every, seen, inexact: Arc::default() }
    }

    /// Whether all answers so far, of all examples, were declared exact.
    pub fn is_exact(&self) -> bool {
        !self.inexact.load(Ordering::Relaxed)
    }

    fn check(&self, block: usize, w: &[f64], plane: &Plane, quality: Quality) -> Result<(), String> {
        if quality != Quality::Exact {
            self.inexact.store(true, Ordering::Relaxed);
        }
        let is_chosen = quality != Quality::Heuristic && block.is_multiple_of(self.every);
        // What is no plane is refused elsewhere, with its fault.
        let seen = self.seen.get(block / self.every).filter(|_| is_chosen && plane.fault(w.len()).is_none());
        let Some(seen) = seen else { return Ok(()) };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |plane: PlaneView<'_>| plane.star.absolute_dot(w) + plane.circ.abs();
        let (own, terms) = (plane.view().score(w), 1.0 / self.blocks as f64 + size(plane.view()));
        let promised = if let Quality::UpperBound(bound) = quality { bound } else { own };
        let known = seen.planes.iter().map(|known| (known.view(), "a labelling that it answered with before"));
        for (known, which) in known.chain([(PlaneView::ZERO, "the truth")]) {
            let better = known.score(w);
            if better > promised + TOLERANCE * (terms + size(known)) {
                let declared = match quality {
                    Quality::UpperBound(_) => "its upper bound is",
                    _ => "it is declared exact, but its answer with the loss added scores",
                };
                return Err(format!(
                    "{declared} {promised}, and {which} scores {better} at the same weights (scores are less the truth's, \
                     and by 1/n; `examine` of the doctor looks for the reason)"
                ));
            }
        }
        seen.keep(plane);
        Ok(())
    }
}

impl SeenPlanes {
    fn keep(&mut self, plane: &Plane) {
        if self.planes.iter().any(|known| known.view() == plane.view()) {
            return;
        }
        match self.planes.get_mut(self.next) {
            Some(old) => *old = plane.clone(),
            None => self.planes.push(plane.clone()),
        }
        self.next = (self.next + 1) % PLANES;
    }
}

impl Wrapper for Audit {
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let quality = inner.maximize(block, w, out)?;
        match self.check(block, w, out, quality) {
            Ok(()) => Ok(quality),
            Err(reason) => Err(OracleError { block, reason }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with what it is told to: the score at w = (1) and a word.
    struct Scripted(Vec<(f64, Quality)>);

    impl MaxOracle for Scripted {
        fn blocks(&self) -> usize {
            2
        }
        fn dim(&self) -> usize {
            1
        }
        fn maximize(&mut self, _: usize, _: &[f64], out: &mut Plane) -> OracleResult {
            let (score, quality) = self.0.remove(0);
            out.clear();
            out.push(0, score);
            out.seal();
            Ok(quality)
        }
    }

    fn last(answers: &[(f64, Quality)]) -> OracleResult {
        let mut oracle = Audited::new(Scripted(answers.to_vec()), Audit::new(2));
        let mut plane = Plane::new();
        answers.iter().map(|_| oracle.maximize(1, &[1.0], &mut plane)).last().unwrap()
    }

    /// A word is disproved by the truth and by what was named before, whatever was said of that; bounds by their number,
    /// heuristics by nothing.
    #[test]
    fn words_are_held_against_answers() {
        use Quality::{Exact, Heuristic, UpperBound};
        assert_eq!(last(&[(2.0, Exact), (2.0 - 1e-7, Exact)]), Ok(Exact));
        assert!(last(&[(2.0, Exact), (1.9, Exact)]).unwrap_err().reason.contains("answered with before scores 2 at"));
        assert!(last(&[(-0.1, Exact)]).unwrap_err().reason.contains("the truth scores 0 at"));
        assert!(last(&[(2.0, Exact), (1.0, UpperBound(1.5))]).unwrap_err().reason.contains("its upper bound is 1.5"));
        assert_eq!(last(&[(2.0, Exact), (1.0, UpperBound(2.5))]), Ok(UpperBound(2.5)));
        assert_eq!(last(&[(2.0, Exact), (-1.0, Heuristic)]), Ok(Heuristic));
        let many: Vec<_> = (0..9).map(|k| (9.0 + f64::from(k), Exact)).chain([(9.5, Exact)]).collect();
        assert!(last(&many).is_err(), "the latest planes are kept");
    }
}
