//! The list of orders, and how it is made into two types: the dial as a parameter, and the state of whichever order it
//! names.

use super::max_gap::{MaxGap, MaxGapVisits};
use super::permutation::{Permutation, PermutationVisits, Shrinking, ShrinkingVisits, Uniform, UniformVisits};
use super::weighted::{GapSampling, GapVisits, Lipschitz, LipschitzVisits};

crate::orders! {
    /// Every visit draws any block with equal probability (Lacoste-Julien et al. 2013).
    Uniform(Uniform) => UniformVisits;
    /// Every pass visits each block once, in a fresh random order (MP-BCFW, Alg. 3).
    Permutation(Permutation) => PermutationVisits;
    /// Draws blocks in proportion to a power of their last seen gap (Osokin et al. 2016, 3.1).
    Gap(GapSampling) => GapVisits;
    /// Always the block of the largest last seen gap.
    MaxGap(MaxGap) => MaxGapVisits;
    /// Draws blocks in proportion to their curvature, the largest squared length of a corner seen.
    Lipschitz(Lipschitz) => LipschitzVisits;
    /// Like a permutation, but blocks whose last seen gap was small wait for some passes.
    Shrinking(Shrinking) => ShrinkingVisits;
}

impl Default for Order {
    fn default() -> Self {
        Order::Permutation(Permutation {})
    }
}

/// Makes `Order` (the dial: a choice tagged by name, with the parameters of each) and `BlockOrder` (its state) of a
/// list of lines `/// doc`, `Name(Config) => State;`, where a `State` is a [`BlockVisits`](crate::order::BlockVisits).
#[macro_export]
macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident($config:ty) => $state:ty;)*) => {
        /// Dial 1: which block is visited next. A pass is n visits.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Order {
            $($(#[$doc])* $name($config),)*
        }

        impl Order {
            /// Returns whether blocks can go unseen for so long that a pass that only measures gaps pays.
            pub fn wants_gap_passes(self) -> bool {
                match self {
                    $(Order::$name(_) => <$state as $crate::order::BlockVisits>::WANTS_GAP_PASSES,)*
                }
            }

            /// Checks the parameters that come with the choice.
            ///
            /// # Errors
            ///
            /// The first parameter that breaks a rule.
            pub fn validate(self) -> Result<(), $crate::parameter::ParameterError> {
                match self {
                    $(Order::$name(config) => $crate::order::OrderConfig::validate(config),)*
                }
            }
        }

        /// The state of an order: draws the blocks of one pass after the other.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub struct BlockOrder {
            blocks: usize,
            visits: Visits,
        }

        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        enum Visits {
            $($name($state),)*
        }

        impl BlockOrder {
            /// Returns the state of `order` before the first pass over `blocks` blocks.
            pub fn new(order: Order, blocks: usize) -> Self {
                let visits = match order {
                    $(Order::$name(config) => Visits::$name($crate::order::BlockVisits::new(config, blocks)),)*
                };
                BlockOrder { blocks, visits }
            }

            /// Starts a pass. Blocks that wait are booked in `gaps`.
            pub fn begin_pass(
                &mut self,
                rng: &mut $crate::rng::Rng,
                gaps: &mut $crate::gaps::GapTable,
                visiting: $crate::order::Visiting,
            ) {
                match &mut self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::begin_pass(visits, rng, gaps, visiting),)*
                }
            }

            /// Returns the visits of the pass that has begun: n, or fewer where blocks wait.
            pub fn length(&self) -> usize {
                let length = match &self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::length(visits),)*
                };
                length.unwrap_or(self.blocks)
            }

            /// Returns the next block of the pass; call it [`length`](BlockOrder::length) times after
            /// [`begin_pass`](BlockOrder::begin_pass).
            pub fn next(&mut self, rng: &mut $crate::rng::Rng) -> usize {
                match &mut self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::next(visits, rng, self.blocks),)*
                }
            }

            /// Goes on with a pass of calls that passes over the planes kept have interrupted.
            pub fn resume_calls(&mut self) {
                match &mut self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::resume_calls(visits),)*
                }
            }

            /// Returns the blocks that [`next`](BlockOrder::next) will return in the rest of the pass, as far as that
            /// is settled.
            pub fn settled(&self) -> &[u32] {
                match &self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::settled(visits),)*
                }
            }

            /// Returns whether [`observe`](BlockOrder::observe) is to be told of calls.
            pub fn is_adaptive(&self) -> bool {
                match &self.visits {
                    $(Visits::$name(_) => <$state as $crate::order::BlockVisits>::ADAPTS,)*
                }
            }

            /// Learns that a call of the oracle has brought `gaps` up to date for `block`; `curvature` is that of its
            /// corner, `|corner|^2 / lambda`.
            pub fn observe(&mut self, block: usize, gaps: &$crate::gaps::GapTable, curvature: f64) {
                match &mut self.visits {
                    $(Visits::$name(visits) => {
                        $crate::order::BlockVisits::observe(visits, block, gaps, curvature)
                    })*
                }
            }

            /// Refuses a restored order that does not fit `blocks` blocks.
            ///
            /// # Errors
            ///
            /// What does not fit.
            pub fn check(&self, blocks: usize) -> Result<(), $crate::state::StateError> {
                let sound = match &self.visits {
                    $(Visits::$name(visits) => $crate::order::BlockVisits::is_sound(visits, blocks),)*
                };
                $crate::state::ensure(sound && self.blocks == blocks, "the order of visits")
            }
        }
    };
}
