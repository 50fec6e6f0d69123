//! The coordinator: the weights that the shards agree on, F by the sums of planes they have sent, and the decisions of
//! a run.
//!
//! The weights follow the alternating direction method of multipliers (Boyd et al. 2011, Sec. 7.1). Shard k answers
//! with the planes of `w_k = argmin H_k(w) + rho/2 |w - (z - u_k)|^2`, H_k its hinges, `rho = lambda / sigma`, z the
//! weights agreed on. These are then `argmin lambda/2 |z - w0|^2 + rho/2 sum_k |z - (r_k + u_k)|^2` with the relaxed
//! `r_k = 1.6 w_k - 0.6 z` (Sec. 3.4.3), and `u_k` grows by `r_k - z`. F comes from [`ShardMaster`], which does not
//! steer.

use super::master::{ShardCut, ShardMaster};
use super::message::{MOST_SHARDS, ShardAnswer, ShardEvaluation, ShardFound, ShardOrder, ShardRequest};
use crate::certificate::GapTarget;
use crate::linalg;
use crate::observe::Certificate;
use crate::regularizer::Regularizer;
use crate::rounding::{PointTerms, Rounded, Rounding, TermSizes, UNIT};
use crate::run::is_possible;
use crate::state::finite;

/// First guess of the proven gap, as a share of the gaps seen by calls.
const USUAL_SHARE: f64 = 0.5;

/// The planes kept are looked at if the forecast is at most this many times the target.
const SLACK: f64 = 2.0;

/// The same for what the planes kept have shown last.
const SLACK_OF_FLOOR: f64 = 1.2;

/// The gap shown by the planes kept shrinks by this factor with every round, as the weights move on.
const FORGETS: f64 = 0.98;

/// The weights agreed on move so many times as far as the shards' own weights say.
const RELAXATION: f64 = 1.6;

/// Parameters of a sharded run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sharding {
    /// The gap to stop at.
    pub target: Option<GapTarget>,
    /// Most passes over the data: oracle calls / n.
    pub passes: Option<f64>,
    /// Parts that an exact pass is divided into.
    pub parts: u32,
    /// Rounds without a call that follow each part. With 0 shards may call in every round, and nothing is asked of the
    /// planes kept before an evaluation: for rounds that cost more than calls.
    pub replays: u32,
    /// The damping sigma of the local models for each shard there is, greater than 0.
    pub damping: f64,
    /// Sums of planes kept of each shard at most.
    pub cuts: usize,
}

/// Why a coordinator cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShardingError {
    /// An answer that does not fit; the shard comes first.
    #[error("shard {0}: {1}")]
    Answer(usize, String),
    /// F is above a proven P.
    #[error(
        "the dual value {dual} exceeds the primal value {primal}: answers of an oracle are not what they are declared"
    )]
    Contradicted {
        /// P, rounded outward.
        primal: f64,
        /// F, rounded outward.
        dual: f64,
    },
}

/// The next wish of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// An answer of every shard to this.
    Answers(ShardOrder),
    /// Nothing: the gap is proven.
    Reached,
    /// Nothing: the passes are spent.
    Spent,
}

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RoundReport {
    /// F.
    pub dual: f64,
    /// The gap to expect, which is no bound; infinite before every example was asked.
    pub gap_estimate: f64,
    /// Passes over the data so far.
    pub passes: f64,
}

/// The state of a sharded run that no shard has.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Coordinator {
    sharding: Sharding,
    regularizer: Regularizer,
    shares: Vec<f64>,
    examples: usize,
    master: ShardMaster,
    /// The weights agreed on, and how far each shard pulls away from them (`u_k`).
    agreed: Vec<f64>,
    pulls: Vec<Vec<f64>>,
    gaps: Vec<f64>,
    calls: Vec<u64>,
    order: ShardOrder,
    /// Answers for a sum over all shards.
    found: Vec<Option<ShardFound>>,
    /// Rounds of work, and those since the last one with calls.
    rounds: u64,
    replays: u32,
    best: Option<(Vec<f64>, Rounded, bool)>,
    dual: Option<Rounded>,
    /// The proven gap as a share of the gaps seen, and a lower bound by the planes kept.
    share: f64,
    floor: f64,
    /// The gap by the planes kept before the last evaluation, and what the proven one had above it.
    least: f64,
    excess: f64,
}

impl Coordinator {
    /// Begins at the truths. `shares` (their sum is 1) say how much of the weight of all `examples` each shard has.
    ///
    /// # Errors
    ///
    /// No shard, or more than [`MOST_SHARDS`]; a damping that is no number above 0.
    pub fn new(
        sharding: Sharding,
        regularizer: Regularizer,
        dim: usize,
        shares: Vec<f64>,
        examples: usize,
    ) -> Result<Self, String> {
        let count = shares.len();
        if count == 0 || count > MOST_SHARDS {
            return Err(format!("{count} shards: expected 1 to {MOST_SHARDS}"));
        }
        let damping = sharding.damping * count as f64;
        if !(damping > 0.0 && damping.is_finite()) {
            return Err(format!("damping = {}: must be a number greater than 0", sharding.damping));
        }
        let order = ShardOrder::Work { damping, parts: sharding.parts.max(1) };
        let mut agreed = regularizer.prior().map_or_else(|| vec![0.0; dim], <[f64]>::to_vec);
        regularizer.clip_all(&mut agreed);
        Ok(Coordinator {
            master: ShardMaster::new(count, &regularizer, dim),
            sharding,
            regularizer,
            shares,
            examples,
            agreed,
            pulls: vec![vec![0.0; dim]; count],
            gaps: vec![f64::INFINITY; count],
            calls: vec![0; count],
            order,
            found: vec![None; count],
            rounds: 0,
            replays: 0,
            best: None,
            dual: None,
            share: USUAL_SHARE,
            floor: 0.0,
            least: 0.0,
            excess: 0.0,
        })
    }

    /// Returns a coordinator that was saved, with the parameters of this one.
    ///
    /// # Errors
    ///
    /// The part that is of another problem.
    pub fn continued(&self, saved: Coordinator) -> Result<Coordinator, String> {
        let fits =
            saved.regularizer == self.regularizer && saved.shares == self.shares && saved.examples == self.examples;
        match fits && saved.is_sound(self) {
            true => {
                let found = vec![None; self.shares.len()];
                let factor = self.sharding.damping / saved.sharding.damping;
                let mut next = Coordinator { sharding: self.sharding.clone(), found, ..saved };
                next.pulls.iter_mut().for_each(|pull| linalg::scale(factor, pull));
                let damping = self.damping();
                next.order = match next.order {
                    ShardOrder::Work { parts, .. } => ShardOrder::Work { damping, parts },
                    order => order,
                };
                Ok(next)
            }
            false => Err("the state of a coordinator of other shards, or at another lambda".into()),
        }
    }

    fn is_sound(&self, fresh: &Coordinator) -> bool {
        let count = fresh.shares.len();
        let numbers = self.gaps.len() == count && self.calls.len() == count && self.share.is_finite();
        let is_point = |point: &Vec<f64>| point.len() == fresh.agreed.len() && finite(point);
        numbers
            && self.floor.is_finite()
            && self.sharding.damping > 0.0
            && self.pulls.len() == count
            && self.pulls.iter().chain([&self.agreed]).all(is_point)
            && self.master.is_sound(count, fresh.master.free.len())
    }

    /// Returns what is wanted next.
    pub fn demand(&self) -> Demand {
        let spent = self.sharding.passes.is_some_and(|passes| self.passes() >= passes);
        match self.is_reached() {
            true => Demand::Reached,
            false if spent && matches!(self.order, ShardOrder::Work { .. }) => Demand::Spent,
            false => Demand::Answers(self.order),
        }
    }

    /// Returns the request to a shard; `None` if it has answered, and others have not.
    pub fn request(&self, shard: usize) -> Option<ShardRequest> {
        let vector = match self.order {
            ShardOrder::Work { .. } => {
                self.agreed.iter().zip(&self.pulls[shard]).map(|(agreed, pull)| agreed - pull).collect()
            }
            _ if self.found[shard].is_some() => return None,
            _ => self.agreed.clone(),
        };
        Some(ShardRequest { vector, order: self.order })
    }

    /// Returns the weights of the present dual point.
    pub fn point(&self) -> Vec<f64> {
        let mut w = self.master.free.clone();
        self.regularizer.clip_all(&mut w);
        w
    }

    /// Returns the dual value F of the present point.
    pub fn value(&self) -> f64 {
        self.master.value
    }

    /// Asks for an evaluation next, whatever is expected of it.
    pub fn evaluate(&mut self) {
        if self.order != ShardOrder::Evaluate {
            self.found.fill(None);
            self.order = ShardOrder::Evaluate;
        }
    }

    /// Returns the passes over the data so far.
    pub fn passes(&self) -> f64 {
        self.calls.iter().sum::<u64>() as f64 / self.examples as f64
    }

    fn is_reached(&self) -> bool {
        let certificate = self.certificate();
        let gap = certificate.gap.filter(|_| certificate.certified);
        gap.zip(self.sharding.target).is_some_and(|(gap, target)| gap <= target.at(certificate.primal))
    }

    /// Returns the best bounds so far.
    pub fn certificate(&self) -> Certificate {
        match (&self.best, self.dual) {
            (Some((_, primal, proven)), Some(dual)) => {
                let (primal, dual) = Rounded::bracket(*primal, dual);
                Certificate::new(primal, Some(dual), *proven)
            }
            (best, dual) => {
                let primal = best.as_ref().map_or(f64::INFINITY, |(_, primal, _)| primal.upper());
                Certificate::new(primal, dual.map(Rounded::lower), false)
            }
        }
    }

    /// Returns the weights with the lowest P so far; those agreed on if none were evaluated.
    pub fn weights(&self) -> Vec<f64> {
        self.best.as_ref().map_or_else(|| self.agreed.clone(), |(w, ..)| w.clone())
    }

    /// Takes the answers of the shards to the last requests, `None` of those that have not answered. A round of work
    /// goes on without them; a sum over all shards waits for them.
    ///
    /// # Errors
    ///
    /// An answer that does not fit, an oracle that contradicts itself.
    pub fn take(&mut self, answers: Vec<Option<ShardAnswer>>) -> Result<RoundReport, ShardingError> {
        let (dim, mut cuts) = (self.master.free.len(), Vec::new());
        for (shard, answer) in answers.into_iter().enumerate() {
            let Some(answer) = answer else { continue };
            let (share, sound) = (self.shares[shard], |cut: &ShardCut| cut.star.len() == dim && cut.is_finite());
            match (answer.found, self.order) {
                (ShardFound::Cut(cut), ShardOrder::Work { .. }) if sound(&cut) => {
                    let star = cut.star.iter().map(|star| share * star).collect();
                    cuts.push((shard, ShardCut { star, circ: share * cut.circ }));
                }
                (found @ ShardFound::Floor(_), ShardOrder::Floor)
                | (found @ ShardFound::Evaluation(_), ShardOrder::Evaluate) => {
                    self.found[shard] = Some(found);
                }
                _ => {
                    let reason = "an answer to something else, or without finite numbers";
                    return Err(ShardingError::Answer(shard, reason.into()));
                }
            }
            self.calls[shard] += answer.calls;
            self.gaps[shard] = share * answer.gap;
        }
        let complete = self.found.iter().all(Option::is_some);
        self.order = match self.order {
            ShardOrder::Work { parts, .. } => {
                self.agree(&cuts);
                self.master.add(cuts, self.sharding.cuts, &self.regularizer);
                self.rounds += 1;
                self.floor *= FORGETS;
                self.excess *= FORGETS;
                self.replays = if parts == 0 { self.replays + 1 } else { 0 };
                match self.is_near() {
                    true if self.sharding.replays == 0 => ShardOrder::Evaluate,
                    true => ShardOrder::Floor,
                    false => self.work(),
                }
            }
            ShardOrder::Floor if complete => {
                let gap = self.regularizer.penalty(&self.agreed) + self.floors() - self.value();
                let seen = self.gap_seen();
                self.floor = if seen > 0.0 && seen.is_finite() { (gap / seen).max(0.0) } else { 0.0 };
                self.least = gap;
                if gap + self.excess <= self.wanted() { ShardOrder::Evaluate } else { self.work() }
            }
            ShardOrder::Evaluate if complete => {
                self.settle()?;
                self.work()
            }
            waits => waits,
        };
        if complete || matches!(self.order, ShardOrder::Work { .. }) {
            self.found.fill(None);
        }
        let (dual, gap_estimate) = (self.value(), self.share * self.gap_seen());
        Ok(RoundReport { dual, gap_estimate, passes: self.passes() })
    }

    /// Moves the weights agreed on, by the sums of planes that shards have found. A shard that is late says nothing.
    fn agree(&mut self, cuts: &[(usize, ShardCut)]) {
        let (damping, count) = (self.damping(), self.pulls.len() as f64);
        for (shard, cut) in cuts {
            let pulls = self.pulls[*shard].iter_mut().zip(&self.agreed).zip(&cut.star).enumerate();
            for (k, ((pull, agreed), star)) in pulls {
                let own = self.regularizer.clip(k, agreed - *pull - damping / self.regularizer.lambda() * star);
                *pull += RELAXATION * (own - agreed);
            }
        }
        let mut moves = vec![0.0; self.agreed.len()];
        self.pulls.iter().for_each(|pull| linalg::axpy(1.0, pull, &mut moves));
        for (k, moved) in moves.iter_mut().enumerate() {
            let (agreed, prior) = (self.agreed[k], self.regularizer.prior().map_or(0.0, |prior| prior[k]));
            let free = agreed + (*moved + damping * (prior - agreed)) / (damping + count);
            *moved = self.regularizer.clip(k, free) - agreed;
        }
        self.pulls.iter_mut().for_each(|pull| linalg::axpy(-1.0, &moves, pull));
        linalg::axpy(1.0, &moves, &mut self.agreed);
        self.regularizer.clip_all(&mut self.agreed);
    }

    fn floors(&self) -> f64 {
        let floor = |(found, share): (&Option<ShardFound>, &f64)| match found {
            Some(ShardFound::Floor(floor)) => share * floor,
            _ => 0.0,
        };
        self.found.iter().zip(&self.shares).map(floor).sum()
    }

    fn work(&self) -> ShardOrder {
        let parts = if self.replays < self.sharding.replays { 0 } else { self.sharding.parts.max(1) };
        ShardOrder::Work { damping: self.damping(), parts }
    }

    fn damping(&self) -> f64 {
        self.sharding.damping * self.shares.len() as f64
    }

    fn gap_seen(&self) -> f64 {
        self.gaps.iter().sum()
    }

    /// Returns the gap to reach if F is P.
    fn wanted(&self) -> f64 {
        self.sharding.target.map_or(0.0, |target| target.at(self.value()))
    }

    fn is_near(&self) -> bool {
        let (seen, wanted) = (self.gap_seen(), self.wanted());
        let (slack, slack_of_floor) = if self.sharding.replays == 0 { (1.0, 1.0) } else { (SLACK, SLACK_OF_FLOOR) };
        self.share * seen <= slack * wanted && self.floor * seen <= slack_of_floor * wanted
    }

    /// Takes the bounds of an evaluation by all shards.
    fn settle(&mut self) -> Result<(), ShardingError> {
        let (w, seen, lambda) = (self.agreed.clone(), self.gap_seen(), self.regularizer.lambda());
        let (mut sum, mut of_hinges, mut proven, mut score, mut length) = (0.0, 0.0, true, 0.0, 0.0);
        for (shard, found) in self.found.iter().enumerate() {
            let Some(ShardFound::Evaluation(ShardEvaluation { hinges, proven: all, error })) = found else { continue };
            let share = self.shares[shard];
            if !hinges.value.is_finite() {
                return Err(ShardingError::Answer(shard, format!("the hinges sum up to {}", hinges.value)));
            }
            sum += share * hinges.value;
            of_hinges += share * hinges.rounding;
            proven &= all;
            // Every round may have made one sum of two: so many roundings more.
            let more = 1.0 + 4.0 * UNIT * self.rounds as f64 / error.share;
            score += share * more * error.score;
            length += share * more * error.length;
        }
        // Errors of scores were told at the weights agreed on: at the dual point they are larger by no more than this.
        let away = self.point().iter().zip(&w).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let own = Rounding::default();
        let primal = own.primal(&self.regularizer, &w, sum, TermSizes::default());
        let sums = 2.0 * UNIT * MOST_SHARDS as f64 * sum;
        let primal = Rounded::new(primal.value, primal.rounding + of_hinges + sums);
        let free = &self.master.free;
        let point = PointTerms { free, circ: 0.0, additions: 0.0, image: 0.0, present: true };
        let dual = own.dual(&self.regularizer, self.value(), point, |_| TermSizes::default());
        let dual = Rounded::new(dual.value, dual.rounding + score + length * (away + length / lambda));
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let is_better = |(_, best, was_proven): &(Vec<f64>, Rounded, bool)| match proven == *was_proven {
            true => primal.upper() < best.upper(),
            false => proven,
        };
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some((w, primal, proven));
        }
        self.dual = [Some(dual), self.dual].into_iter().flatten().reduce(Rounded::higher);
        let gap = primal.value - self.value();
        self.excess = (gap - self.least).max(0.0);
        if seen > 0.0 && seen.is_finite() && gap >= 0.0 {
            self.share = (gap / seen).min(1.0);
            if self.sharding.replays == 0 {
                self.floor = gap / seen;
            }
        }
        match self.certificate() {
            Certificate { primal, dual: Some(dual), certified: true, .. } if !is_possible(primal, dual) => {
                Err(ShardingError::Contradicted { primal, dual })
            }
            _ => Ok(()),
        }
    }
}
