//! The search for the largest `loss (1 + score)` by a margin oracle asked at scaled weights.
//!
//! Labellings are points (loss, score) in the plane. At weights `mu w` the margin oracle finds the largest `loss + mu score`,
//! a line that no point lies above, and a point on it: so it reaches the upper right part of the convex hull, and nothing
//! below it (Choi, Meshi and Srebro, AISTATS 2016, Sec. 4; Sarawagi and Gupta, ICML 2008). The product is quasi-concave where both
//! factors are positive. Let q be its largest point on the hull of what was found so far: the next question is the product's
//! gradient at q. Either the line touches q, then no point of the whole hull has a larger product, or a new corner is found:
//! the search ends. Where q is a corner itself, the answer is proven; where it lies on an edge, a labelling below the edge
//! may be better than both of its ends, by no more than q's product says.

use crate::rounding::UNIT;

/// Questions of one search, at most. Hulls have a few corners; where there are more, what is left is in the bound.
const MOST_QUESTIONS: usize = 24;

/// What values of one line may differ by, as a share of their terms: roundings.
const TOUCHING: f64 = 16.0 * UNIT;

/// A labelling by its loss and its score relative to the truth's; or a mixture of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlackPoint {
    pub(super) loss: f64,
    pub(super) score: f64,
}

impl SlackPoint {
    /// The truth.
    const TRUTH: SlackPoint = SlackPoint { loss: 0.0, score: 0.0 };

    /// `loss (1 + score)`.
    pub(super) fn product(self) -> f64 {
        self.loss * (1.0 + self.score)
    }

    fn on_line(self, factor: f64) -> f64 {
        self.loss + factor * self.score
    }

    /// The point of the segment to `other` that has the largest product, ends before what is between.
    fn best_toward(self, other: SlackPoint) -> SlackPoint {
        let (loss, score) = (other.loss - self.loss, other.score - self.score);
        let (curve, slope) = (loss * score, self.loss * score + (1.0 + self.score) * loss);
        let end = if other.product() > self.product() { other } else { self };
        let share = -0.5 * slope / curve;
        if !(curve < 0.0 && share > 0.0 && share < 1.0) {
            return end;
        }
        let between = SlackPoint { loss: self.loss + share * loss, score: self.score + share * score };
        if between.product() > end.product() { between } else { end }
    }
}

/// Returns what no labelling's `loss (1 + score)` exceeds where none has a `loss + factor score` above `height`; infinite for
/// a factor of 0, 0 where nothing is above the truth.
pub fn bound_of_line(factor: f64, height: f64) -> f64 {
    let loss = 0.5 * (factor + height).max(0.0);
    if factor > 0.0 { loss * (factor + height - loss).max(0.0) / factor } else { f64::INFINITY }
}

/// A search under way.
#[derive(Clone, Debug)]
pub(super) struct SlackSearch {
    /// Corners found, the truth first.
    corners: Vec<SlackPoint>,
    /// The best corner.
    best: SlackPoint,
    /// The point of the largest product on the hull of the corners.
    top: SlackPoint,
    /// Whether the last question was the gradient at `top`.
    follows: bool,
    /// Factors asked at.
    asked: Vec<f64>,
    /// The lowest bound of a line, and the factor that gave it.
    bound: (f64, f64),
    is_done: bool,
}

impl SlackSearch {
    /// Begins with the truth alone.
    pub(super) fn new() -> Self {
        let corners = vec![SlackPoint::TRUTH];
        let (best, top, bound) = (SlackPoint::TRUTH, SlackPoint::TRUTH, (f64::INFINITY, 1.0));
        SlackSearch { corners, best, top, follows: false, asked: Vec::new(), bound, is_done: false }
    }

    /// Begins anew.
    pub(super) fn restart(&mut self) {
        let (mut corners, mut asked) = (std::mem::take(&mut self.corners), std::mem::take(&mut self.asked));
        corners.truncate(1);
        asked.clear();
        *self = SlackSearch { corners, asked, ..SlackSearch::new() };
    }

    /// Returns the factor of w to ask the margin oracle at, while there is something to learn.
    pub(super) fn question(&mut self) -> Option<f64> {
        if self.is_done || self.asked.len() == MOST_QUESTIONS {
            return None;
        }
        self.follows = !self.asked.is_empty();
        let gradient = if self.top.product() > 0.0 { self.top.loss / (1.0 + self.top.score) } else { 0.0 };
        let factor = if self.follows { gradient } else { 1.0 };
        let is_new = factor.is_finite() && !self.asked.contains(&factor);
        is_new.then(|| {
            self.asked.push(factor);
            factor
        })
    }

    /// Takes the answer to the last question, and the height of a line that no labelling is above, where one is known.
    /// Returns whether its product is the largest so far, and above the truth's.
    pub(super) fn learn(&mut self, point: SlackPoint, height: Option<f64>) -> bool {
        let factor = self.asked.last().copied().unwrap_or(1.0);
        if let Some(height) = height {
            let bound = bound_of_line(factor, height);
            if bound < self.bound.0 {
                self.bound = (bound, factor);
            }
            if factor == 0.0 && height <= 0.0 {
                self.bound = (0.0, factor); // no loss at all
            }
        }
        let terms = |point: SlackPoint| point.loss + factor * point.score.abs();
        let touching = TOUCHING * (terms(point) + terms(self.top));
        self.is_done = self.follows && point.on_line(factor) <= self.top.on_line(factor) + touching;
        for &corner in &self.corners {
            let between = corner.best_toward(point);
            if between.product() > self.top.product() {
                self.top = between;
            }
        }
        self.corners.push(point);
        let is_better = point.product() > self.best.product();
        if is_better {
            self.best = point;
        }
        is_better
    }

    /// Returns the best labelling found; the truth where none is above it.
    #[cfg(test)]
    pub(super) fn best(&self) -> SlackPoint {
        self.best
    }

    /// Returns what no labelling's product exceeds, and the factor of the line that says so.
    pub(super) fn bound(&self) -> (f64, f64) {
        self.bound
    }

    /// Returns whether the best labelling found is proven to be the best of all, but for roundings.
    pub(super) fn is_proven(&self) -> bool {
        let terms = self.best.loss * (1.0 + self.best.score.abs());
        self.bound.0 <= self.best.product() + TOUCHING * terms
    }

    /// Returns the number of questions asked.
    pub(super) fn questions(&self) -> usize {
        self.asked.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Searches among points with an exact margin oracle.
    fn search(points: &[SlackPoint]) -> SlackSearch {
        let mut search = SlackSearch::new();
        while let Some(factor) = search.question() {
            let better = |a: &&SlackPoint, b: &&SlackPoint| a.on_line(factor).total_cmp(&b.on_line(factor));
            let found = *points.iter().rev().max_by(better).unwrap();
            search.learn(found, Some(found.on_line(factor)));
        }
        search
    }

    /// Points drawn with losses of a few values, or any; scores of any size.
    fn points(rng: &mut Rng) -> Vec<SlackPoint> {
        let (count, levels) = (1 + rng.below(30), [1.0, 4.0, 20.0, 1e9][rng.below(4) as usize]);
        let (size, shift) = (10f64.powf(4.0 * rng.unit() - 2.0), rng.unit());
        let most = [1.0, 0.1, 14.0][rng.below(3) as usize];
        let mut point = || SlackPoint {
            loss: most * (1.0 + (levels * rng.unit()).floor()) / levels,
            score: size * (rng.unit() - shift),
        };
        let drawn: Vec<SlackPoint> = (0..count).map(|_| point()).collect();
        [SlackPoint::TRUTH].into_iter().chain(drawn).collect()
    }

    /// The answer is a labelling, the bound holds, and what is proven is the best. The bound is that of the whole hull: no
    /// mixture of two points has a larger product than it, and one has it.
    #[test]
    fn bounds_hold_and_are_those_of_the_hull() {
        let mut rng = Rng::new(1, 0);
        let (mut proven, mut best_found) = (0, 0);
        const COUNT: usize = 4000;
        for case in 0..COUNT {
            let points = points(&mut rng);
            let found = search(&points);
            let best = points.iter().map(|point| point.product()).fold(0.0, f64::max);
            let (value, bound) = (found.best().product(), found.bound().0);
            assert!(found.best() == SlackPoint::TRUTH || points.contains(&found.best()), "case {case}");
            let near = 1e-12 * (1.0 + best);
            assert!(value <= best + near && best <= bound + near, "case {case}: {value} {best} {bound}");
            if found.is_proven() {
                assert!(best - value <= near, "case {case}: {value} is not {best}");
                proven += 1;
            }
            best_found += usize::from(best - value <= near);
            let hull = points.iter().flat_map(|&a| points.iter().map(move |&b| a.best_toward(b).product()));
            let hull = hull.fold(0.0, f64::max);
            assert!(found.questions() < MOST_QUESTIONS, "case {case}: {} questions", found.questions());
            assert!((bound - hull).abs() <= 1e-9 * (1.0 + hull), "case {case}: bound {bound}, hull {hull}");
        }
        assert!(proven > COUNT / 4 && proven < COUNT && best_found > proven, "{proven} proven, {best_found} found");
    }

    /// Losses of one value alone: a margin that is exceeded is proven after two questions.
    #[test]
    fn one_loss_takes_two_questions() {
        let found =
            search(&[SlackPoint::TRUTH, SlackPoint { loss: 1.0, score: 0.3 }, SlackPoint { loss: 1.0, score: -0.2 }]);
        assert!(found.is_proven() && found.questions() == 2, "{found:?}");
        assert_eq!(found.best(), SlackPoint { loss: 1.0, score: 0.3 });
    }

    /// Where nothing has a loss nothing is above the truth, and that is proven.
    #[test]
    fn without_losses_the_truth_is_proven() {
        let found = search(&[SlackPoint::TRUTH, SlackPoint { loss: 0.0, score: -3.0 }]);
        assert!(found.is_proven() && found.best() == SlackPoint::TRUTH && found.bound().0 == 0.0, "{found:?}");
    }
}
