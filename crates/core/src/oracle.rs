//! The waist between problems and solvers: the max-oracle, how far its answers can be trusted, and wrappers.

use crate::clock;
use crate::plane::Plane;

/// How far an answer can be trusted. Only `Exact` and `UpperBound` may certify a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// No labelling scores higher at the given weights.
    Exact,
    /// The plane may not be the best, but no plane of this block scores higher than this number (in the
    /// plane's own scale, that is with its 1/n).
    UpperBound(f64),
    /// A valid plane, and nothing more is known.
    Heuristic,
}

/// Why an oracle gave no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("oracle failed on example {block}: {reason}")]
pub struct OracleError {
    /// The example, from 0.
    pub block: usize,
    /// What went wrong.
    pub reason: String,
}

/// Refuses an answer that must not reach a solver.
pub fn check_answer(block: usize, dim: usize, plane: &Plane, quality: Quality) -> Result<(), OracleError> {
    if let Quality::UpperBound(bound) = quality
        && !bound.is_finite()
    {
        return Err(OracleError { block, reason: format!("its upper bound is {bound}, expected a finite number") });
    }
    match plane.fault(dim) {
        None => Ok(()),
        Some(fault) => Err(OracleError { block, reason: format!("the plane is not usable: {fault}") }),
    }
}

/// What a solver sees of a problem: "block i, weights w: give me the best plane".
///
/// An oracle is a worker: it owns its scratch space and warm starts and shares its data; make one per thread.
pub trait MaxOracle {
    /// Number of examples n.
    fn blocks(&self) -> usize;

    /// Length d of the weight vector.
    fn dim(&self) -> usize;

    /// Writes into `out` (sealed) the plane of the labelling that maximises loss plus score at `w`, with its
    /// factor 1/n. The ground truth's plane is the zero plane.
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError>;

    /// Whether `code` could be what this oracle attached to a plane of `block`: asked of codes that come from a file.
    fn is_code(&self, _block: usize, code: &[u32]) -> bool {
        code.is_empty()
    }

    /// Whether [`recombine`](MaxOracle::recombine) works and pays.
    fn recombines(&self) -> bool {
        false
    }

    /// The best labelling that can be put together from parts of labellings seen before: at every variable one of
    /// the labels that `codes` (of planes of this block, one after the other, all of one length) or the truth
    /// have there. Writes its plane into `out` (sealed). At least as good as the best of these planes, and much
    /// cheaper than [`maximize`](MaxOracle::maximize); `Ok(false)` where the oracle cannot do it.
    fn recombine(&mut self, _block: usize, _w: &[f64], _codes: &[u32], _out: &mut Plane) -> Result<bool, OracleError> {
        Ok(false)
    }

    /// Whether the oracle knows planes by their codes ([`Plane::code`]): then it scores and adds them itself, and
    /// their numbers need not be stored.
    fn knows_planes(&self) -> bool {
        false
    }

    /// Scores `<star, w>` of some planes of one block into `out`, one for each; `codes` are theirs, one after the
    /// other. Only where the oracle [`knows_planes`](MaxOracle::knows_planes).
    fn linear_scores(&mut self, _block: usize, _w: &[f64], _codes: &[u32], _out: &mut [f64]) {}

    /// Adds `scale * amounts[k]` times the linear part of plane k to `target` (`[d]`), for all k; codes as in
    /// [`linear_scores`](MaxOracle::linear_scores).
    fn add_planes(&mut self, _block: usize, _codes: &[u32], _amounts: &[f64], _scale: f64, _target: &mut [f64]) {}

    /// A hint: `block` will be asked for next. Its data may be brought nearer; no answer may depend on it.
    fn expect(&self, _block: usize) {}

    /// Price of one call on the work clock, in seconds.
    fn work(&self) -> f64 {
        clock::ORACLE_CALL_WORK
    }
}

impl<O: MaxOracle + ?Sized> MaxOracle for Box<O> {
    fn blocks(&self) -> usize {
        (**self).blocks()
    }
    fn dim(&self) -> usize {
        (**self).dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        (**self).maximize(block, w, out)
    }
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        (**self).is_code(block, code)
    }
    fn recombines(&self) -> bool {
        (**self).recombines()
    }
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        (**self).recombine(block, w, codes, out)
    }
    fn knows_planes(&self) -> bool {
        (**self).knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        (**self).linear_scores(block, w, codes, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        (**self).add_planes(block, codes, amounts, scale, target);
    }
    fn expect(&self, block: usize) {
        (**self).expect(block);
    }
    fn work(&self) -> f64 {
        (**self).work()
    }
}

/// Where planes that are kept by code get their numbers: the part of an oracle that costs no call.
pub trait PlaneSource {
    /// See [`MaxOracle::knows_planes`].
    fn knows_planes(&self) -> bool {
        false
    }
    /// See [`MaxOracle::linear_scores`].
    fn linear_scores(&mut self, _block: usize, _w: &[f64], _codes: &[u32], _out: &mut [f64]) {}
    /// See [`MaxOracle::add_planes`].
    fn add_planes(&mut self, _block: usize, _codes: &[u32], _amounts: &[f64], _scale: f64, _target: &mut [f64]) {}
}

/// For planes that are stored with their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSource;

impl PlaneSource for NoSource {}

/// An oracle as a source of planes.
#[derive(Debug)]
pub struct SourceOf<'a, O: ?Sized>(pub &'a mut O);

impl<O: MaxOracle + ?Sized> PlaneSource for SourceOf<'_, O> {
    fn knows_planes(&self) -> bool {
        self.0.knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        self.0.linear_scores(block, w, codes, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        self.0.add_planes(block, codes, amounts, scale, target);
    }
}

/// An oracle whose type is not known at compile time, as the command line and other languages hold it.
pub type BoxedOracle = Box<dyn MaxOracle + Send>;

/// Pretends that an oracle is costly: every call takes longer by a fixed time.
///
/// On the wall clock the time is slept, on the work clock it is charged.
pub struct Delayed<O> {
    inner: O,
    seconds: f64,
    sleeps: bool,
}

impl<O: MaxOracle> Delayed<O> {
    /// Wraps `inner`; `sleeps` says whether the delay is also slept (wall clock) or only priced (work clock).
    pub fn new(inner: O, seconds: f64, sleeps: bool) -> Self {
        Delayed { inner, seconds, sleeps }
    }
}

impl<O: MaxOracle> MaxOracle for Delayed<O> {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        if self.sleeps {
            clock::sleep(self.seconds);
        }
        self.inner.maximize(block, w, out)
    }
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        self.inner.is_code(block, code)
    }
    fn recombines(&self) -> bool {
        self.inner.recombines()
    }
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        self.inner.recombine(block, w, codes, out) // the costly part is the search over everything
    }
    fn knows_planes(&self) -> bool {
        self.inner.knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        self.inner.linear_scores(block, w, codes, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        self.inner.add_planes(block, codes, amounts, scale, target);
    }
    fn expect(&self, block: usize) {
        self.inner.expect(block);
    }
    fn work(&self) -> f64 {
        self.inner.work() + self.seconds
    }
}
