//! The oracle of slack-rescaled planes.

use std::sync::{Arc, OnceLock};

use super::search::{SlackPoint, SlackSearch};
use crate::oracle::Prices;
use crate::oracle::answer::{OracleResult, Quality, check_answer};
use crate::oracle::capability::Capabilities;
use crate::oracle::max_oracle::MaxOracle;
use crate::plane::Plane;
use crate::rounding::Magnitudes;

/// Calls of the margin oracle that an answer is priced at: the mean on the letters of OCR, see ADR 0045.
const USUAL_CALLS: f64 = 4.0;

/// Slack-rescaled planes of an oracle of margin-rescaled ones, whose scores must have no part without a weight.
///
/// Where all labellings of an example can be listed, they are, and the answer is exact. Else the margin oracle is asked at
/// scaled weights, a few times for each answer, and the answer is the best corner found: exact where that is proven, with
/// an upper bound else, and heuristic where the margin oracle's answers are.
///
/// Of the margin oracle's capabilities there are left the hinge at 0, which is the same, and bounds on the terms of
/// scores. The others are of margin-rescaled planes; so are codes, which planes here do not carry.
#[derive(Debug)]
pub struct SlackOracle<O> {
    inner: O,
    facts: Arc<SlackFacts>,
    search: SlackSearch,
    scaled: Vec<f64>,
    answer: Plane,
    list: Vec<Plane>,
}

impl<O: MaxOracle> SlackOracle<O> {
    /// Puts slack rescaling around `inner`, an oracle of the problem that the facts are of.
    pub fn new(mut inner: O, facts: Arc<SlackFacts>) -> Self {
        facts.look_at(&mut inner);
        let (search, scaled, answer, list) = (SlackSearch::new(), Vec::new(), Plane::new(), Vec::new());
        SlackOracle { inner, facts, search, scaled, answer, list }
    }

    /// Returns the factor of w at which the margin oracle's answer bounds the last search's maximum best.
    pub fn tightest(&self) -> f64 {
        self.search.bound().1
    }

    /// A plane of the margin oracle as a point.
    fn point(plane: &Plane, w: &[f64], blocks: usize) -> SlackPoint {
        // Divided by what it was multiplied with: a loss of 1 comes back as 1.
        let scale = 1.0 / blocks as f64;
        SlackPoint { loss: plane.view().circ / scale, score: plane.view().star.dot(w) * blocks as f64 }
    }

    /// Looks at all labellings; `None` where they are not all listed.
    fn look(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Option<OracleResult> {
        let count = self.facts.listed(block);
        let blocks = self.inner.blocks();
        let top = if count == 0 { None } else { self.inner.capabilities()?.kbest_planes() }?;
        self.list.resize_with(self.list.len().max(count), Plane::new);
        let list = &mut self.list[..count];
        match top.top(block, w, list) {
            Err(error) => return Some(Err(error)),
            Ok((found, _)) if found < count => return None,
            Ok(_) => {}
        }
        let (mut best, mut most) = (None, 0.0);
        for (k, plane) in list.iter().enumerate() {
            if let Err(error) = check_answer(block, w, plane, Quality::Heuristic) {
                return Some(Err(error));
            }
            let product = Self::point(plane, w, blocks).product();
            if product > most {
                (best, most) = (Some(k), product);
            }
        }
        out.clear();
        if let Some(k) = best {
            std::mem::swap(out, &mut list[k]);
        }
        Some(Ok(Quality::Exact))
    }

    /// Searches by the margin oracle alone.
    fn search(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let n = self.inner.blocks() as f64;
        self.search.restart();
        out.clear();
        let mut proves = true;
        while let Some(factor) = self.search.question() {
            self.scaled.clear();
            self.scaled.extend(w.iter().map(|w| factor * w));
            let quality = self.inner.maximize(block, &self.scaled, &mut self.answer)?;
            check_answer(block, &self.scaled, &self.answer, quality)?;
            let point = Self::point(&self.answer, w, self.inner.blocks());
            let own = point.loss + factor * point.score;
            let height = match quality {
                Quality::Exact => Some(own),
                Quality::UpperBound(bound) => Some(own.max(n * bound)),
                Quality::Heuristic => None,
            };
            proves &= height.is_some();
            if self.search.learn(point, height) {
                std::mem::swap(out, &mut self.answer);
            }
        }
        let bound = self.search.bound().0;
        Ok(match proves && bound.is_finite() {
            true if self.search.is_proven() => Quality::Exact,
            true => Quality::UpperBound(bound / n),
            false => Quality::Heuristic,
        })
    }
}

impl<O: MaxOracle> MaxOracle for SlackOracle<O> {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let (quality, calls) = match self.look(block, w, out) {
            Some(quality) => (quality?, 1),
            None => (self.search(block, w, out)?, self.search.questions()),
        };
        let loss = Self::point(out, w, self.inner.blocks()).loss;
        out.scale_linear(loss);
        out.code_mut().clear();
        out.set_inner_calls(calls as u32);
        Ok(match quality {
            Quality::UpperBound(bound) => Quality::UpperBound(bound.max(out.view().score(w))),
            other => other,
        })
    }
    fn prefetch(&self, block: usize) {
        self.inner.prefetch(block);
    }
    fn prefetch_early(&self, block: usize) {
        self.inner.prefetch_early(block);
    }
    fn prices(&self) -> Prices {
        let prices = self.inner.prices();
        Prices { call: USUAL_CALLS * prices.call, ..prices }
    }
    fn stall(&mut self) {
        self.inner.stall();
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<O: MaxOracle> Capabilities for SlackOracle<O> {
    /// At w = 0 both hinges are the largest loss.
    fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
        self.inner.capabilities()?.hinge_at_zero(block)
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        self.facts.magnitudes()
    }
}

/// State that all slack-rescaled oracles of one problem share.
#[derive(Debug, Default)]
pub struct SlackFacts {
    listed: Vec<u32>,
    magnitudes: OnceLock<Option<Magnitudes>>,
}

/// What answers took and proved so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlackCount {
    /// Answers given.
    pub answers: u64,
    /// Those proven to be the best.
    pub exact: u64,
    /// Calls of the margin oracle that they took; a list of labellings counts as one.
    pub margin_calls: u64,
}

impl SlackCount {
    /// Counts an answer that a run has taken, and the calls that it took; those of other oracles take none.
    pub(crate) fn take(&mut self, quality: Quality, calls: u32) {
        self.answers += u64::from(calls > 0);
        self.exact += u64::from(calls > 0 && quality == Quality::Exact);
        self.margin_calls += u64::from(calls);
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, more: SlackCount) {
        self.answers += more.answers;
        self.exact += more.exact;
        self.margin_calls += more.margin_calls;
    }
}

impl SlackFacts {
    /// Begins with nothing known of the oracle. `listed[i]` is the number of labellings of block i, where the margin
    /// oracle is to list them all ([`KBestPlanes`](crate::oracle::KBestPlanes)), else 0; blocks that it leaves out are
    /// not listed.
    pub fn new(listed: Vec<u32>) -> Self {
        SlackFacts { listed, ..SlackFacts::default() }
    }

    /// Returns bounds on the terms of scores; `None` before an oracle was made, or where the margin oracle has none or does
    /// not know the largest losses.
    pub fn magnitudes(&self) -> Option<Magnitudes> {
        self.magnitudes.get().cloned().flatten()
    }

    /// Takes from a margin oracle what it knows of all scores; once.
    pub(super) fn look_at(&self, inner: &mut impl MaxOracle) {
        self.magnitudes.get_or_init(|| {
            let blocks = inner.blocks();
            let known = inner.capabilities()?;
            let magnitudes = known.magnitudes()?;
            let largest = (0..blocks).try_fold(0.0, |most: f64, block| Some(most.max(known.hinge_at_zero(block)?)))?;
            Some(magnitudes.rescaled(largest * blocks as f64))
        });
    }

    /// How many labellings of a block are all listed; 0 where they are not.
    pub(super) fn listed(&self, block: usize) -> usize {
        self.listed.get(block).map_or(0, |&count| count as usize)
    }
}
