//! Samples: the k examples that a step of an online method is about. O(k) a sample; by importance O(k log n).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weighted::Weighted;
use crate::parameter::{ParameterError, require};
use crate::rng::Rng;
use crate::state::{StateError, ensure};

/// How samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Sampling {
    /// Different examples, every set of them with equal probability.
    Uniform,
    /// The next ones, and the first ones again after the last.
    Sequential(InOrder),
    /// In proportion to the residual margin that was last seen of an example; those not seen yet come first, in random
    /// order. An example whose margin was met waits until none is left whose was not.
    Importance,
    /// Chosen among more that are drawn uniformly and asked about: a call for each, beside those of the step.
    Active(Active),
}

/// Parameters of active selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Active {
    /// Examples asked about for each that a step takes.
    pub candidates: u32,
    /// Which of them it takes.
    pub prefer: Prefer,
}

impl Default for Active {
    fn default() -> Self {
        Active { candidates: 5, prefer: Prefer::default() }
    }
}

/// Which of the candidates are taken first; those without a hinge come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prefer {
    /// Those with the largest hinge.
    #[default]
    Largest,
    /// Any with a hinge above 0.
    Violating,
    /// Those with a hinge above 0 whose labelling found and truth are nearest in score.
    Boundary,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling::Sequential(InOrder::default())
    }
}

/// Parameters of samples in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InOrder {
    /// Whether the order is one permutation drawn at the start; else it is that of the data.
    pub shuffle: bool,
}

impl Default for InOrder {
    fn default() -> Self {
        InOrder { shuffle: true }
    }
}

impl Sampling {
    /// Checks the parameters that come with the choice.
    ///
    /// # Errors
    ///
    /// The parameter at fault.
    pub fn validate(self) -> Result<(), ParameterError> {
        let Sampling::Active(Active { candidates, .. }) = self else { return Ok(()) };
        require(candidates >= 1, "candidates", candidates, "must be at least 1")
    }

    /// Returns how many of `blocks` examples are asked about to choose `size` of them; `None` where there is no choice.
    pub fn candidates(self, size: usize, blocks: usize) -> Option<usize> {
        let Sampling::Active(Active { candidates, .. }) = self else { return None };
        Some(size.saturating_mul(candidates as usize).min(blocks))
    }
}

/// Checks the size of a sample as a user gives it: a whole number, or a share of all examples below 1.
///
/// # Errors
///
/// `path` with the rule that `size` breaks.
pub fn check_size(path: &str, size: f64) -> Result<(), ParameterError> {
    let holds = size.is_finite() && size > 0.0 && (size < 1.0 || size.fract() == 0.0);
    require(holds, path, size, "must be a whole number of examples, or above 0 and below 1 a share of them")
}

/// Returns what is to be said of a `size` at `path` that is more than all of `blocks` examples.
pub fn size_note(path: &str, size: f64, blocks: usize) -> Option<String> {
    (size > blocks as f64)
        .then(|| format!("{path} = {size} is more than the {blocks} examples there are: a step takes all {blocks}"))
}

/// Returns the examples that a `size` that passes [`check_size`] means of `blocks`: at least one, at most all.
pub fn size_of(size: f64, blocks: usize) -> usize {
    let examples = if size < 1.0 { (size * blocks as f64).round() } else { size };
    (examples as usize).clamp(1, blocks.max(1))
}

/// Draws sample after sample; a state that is saved and restored goes on with the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExampleSampler {
    /// All examples, in the order in which they come.
    blocks: Vec<u32>,
    rule: SampleRule,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum SampleRule {
    Uniform,
    Sequential { to_shuffle: bool, cursor: usize },
    Importance(Weighted),
}

impl ExampleSampler {
    /// Returns the state before the first sample of `blocks` examples.
    pub fn new(sampling: Sampling, blocks: usize) -> Self {
        let rule = match sampling {
            Sampling::Uniform | Sampling::Active(_) => SampleRule::Uniform,
            Sampling::Sequential(InOrder { shuffle }) => SampleRule::Sequential { to_shuffle: shuffle, cursor: 0 },
            Sampling::Importance => SampleRule::Importance(Weighted::new(blocks)),
        };
        ExampleSampler { blocks: (0..blocks as u32).collect(), rule }
    }

    /// Draws `size` examples into `out`. They differ, but where importance has run out of examples that matter.
    pub fn draw(&mut self, size: usize, rng: &mut Rng, out: &mut Vec<u32>) {
        out.clear();
        let all = self.blocks.len();
        match &mut self.rule {
            SampleRule::Uniform => (0..size.min(all)).for_each(|at| out.push(self.another(at, rng))),
            SampleRule::Sequential { to_shuffle, cursor } => {
                if std::mem::take(to_shuffle) {
                    rng.shuffle(&mut self.blocks);
                }
                for _ in 0..size {
                    out.push(self.blocks[*cursor]);
                    *cursor = (*cursor + 1) % all;
                }
            }
            SampleRule::Importance(weighted) => {
                weighted.begin(rng, all);
                for _ in 0..size {
                    let block = weighted.next(rng, all);
                    weighted.observe(block, 0.0); // not twice in a sample; what it is now is observed after it
                    out.push(block as u32);
                }
            }
        }
    }

    /// Draws another example uniformly, none of the `at` that were drawn like that before it. There must be one left.
    pub fn another(&mut self, at: usize, rng: &mut Rng) -> u32 {
        let other = at + rng.below((self.blocks.len() - at) as u64) as usize;
        self.blocks.swap(at, other);
        self.blocks[at]
    }

    /// Learns the residual margin of an example.
    pub fn observe(&mut self, block: usize, margin: f64) {
        if let SampleRule::Importance(weighted) = &mut self.rule {
            weighted.observe(block, margin);
        }
    }

    /// Refuses a state that was restored and is not of `blocks` examples.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, blocks: usize) -> Result<(), StateError> {
        let known = self.blocks.len() == blocks && self.blocks.iter().all(|&block| (block as usize) < blocks);
        let sound = match &self.rule {
            SampleRule::Uniform => true,
            SampleRule::Sequential { cursor, .. } => *cursor < blocks.max(1),
            SampleRule::Importance(weighted) => weighted.is_sound(blocks),
        };
        ensure(known && sound, "the samples")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(sampling: Sampling, size: usize, count: usize) -> Vec<Vec<u32>> {
        let (mut sampler, mut rng) = (ExampleSampler::new(sampling, 10), Rng::new(3, 0));
        let mut out = Vec::new();
        let draw = |_| {
            sampler.draw(size, &mut rng, &mut out);
            out.iter().for_each(|&block| sampler.observe(block as usize, 1.0));
            out.clone()
        };
        (0..count).map(draw).collect()
    }

    /// Samples have no example twice; samples in order go through all, each once, in one order again and again.
    #[test]
    fn samples_are_sets() {
        let shuffled = Sampling::Sequential(InOrder { shuffle: true });
        for sampling in [Sampling::Uniform, shuffled, Sampling::Importance] {
            for sample in samples(sampling, 5, 40) {
                let distinct: std::collections::BTreeSet<_> = sample.iter().collect();
                assert_eq!(distinct.len(), 5, "{sampling:?}: {sample:?}");
            }
        }
        let of_file = samples(Sampling::Sequential(InOrder { shuffle: false }), 4, 3);
        assert_eq!(of_file, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]);
        let drawn = samples(shuffled, 5, 4);
        assert!(drawn[0] == drawn[2] && drawn[1] == drawn[3] && drawn[0] != [0, 1, 2, 3, 4]);
        let (mut first, mut all) = (drawn[0].clone(), (0..10).collect::<Vec<u32>>());
        first.extend(&drawn[1]);
        first.sort_unstable();
        assert_eq!(first, std::mem::take(&mut all));
    }

    /// Uniform samples take every example equally often; by importance draws follow the margins once all were seen.
    #[test]
    fn draws_follow_their_rule() {
        let mut counts = [0; 10];
        samples(Sampling::Uniform, 3, 10_000).iter().flatten().for_each(|&block| counts[block as usize] += 1);
        assert!(counts.iter().all(|count| (2700..3300).contains(count)), "{counts:?}");
        let (mut sampler, mut rng, mut out) =
            (ExampleSampler::new(Sampling::Importance, 4), Rng::new(1, 0), Vec::new());
        let margins = [0.0, 1.0, 3.0, 0.0];
        let mut counts = [0; 4];
        for round in 0..8004 {
            sampler.draw(1, &mut rng, &mut out);
            let block = out[0] as usize;
            counts[block] += usize::from(round >= 4);
            sampler.observe(block, margins[block]);
        }
        assert!(counts[0] + counts[3] == 0 && (1800..2200).contains(&counts[1]), "{counts:?}");
    }

    /// Sizes are counts from 1 on, shares below, and never none or more than all.
    #[test]
    fn sizes_are_counts_or_shares() {
        assert_eq!(
            [(0.01, 35_000), (0.01, 20), (5.0, 20), (50.0, 20)].map(|(size, n)| size_of(size, n)),
            [350, 1, 5, 20]
        );
        assert!(check_size("size", 0.5).is_ok() && check_size("size", 7.0).is_ok());
        for bad in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
            assert!(check_size("size", bad).is_err(), "{bad}");
        }
    }
}
