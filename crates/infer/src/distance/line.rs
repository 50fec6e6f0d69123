//! The transform of one row.

use std::fmt::Display;

use crate::error::Error;

/// The cost of a difference d along one axis: `a d^2 + b d`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// How stiff: energy per square of a grid step; above 0.
    pub a: f64,
    /// Energy per grid step; of either sign.
    pub b: f64,
}

impl Spring {
    /// Returns the cost of a difference in grid steps.
    #[inline]
    pub fn energy(&self, d: f64) -> f64 {
        (self.a * d + self.b) * d
    }

    /// Refuses what no envelope has: stiffness that is not positive, numbers that are not finite.
    pub(super) fn check(&self, what: impl Display) -> Result<(), Error> {
        if !self.a.is_finite() || self.a <= 0.0 {
            let a = self.a;
            return Err(Error::invalid(format!("{what}: found stiffness a = {a}, expected a finite number above 0")));
        }
        if !self.b.is_finite() {
            return Err(Error::invalid(format!("{what}: found b = {}, expected a finite number", self.b)));
        }
        Ok(())
    }
}

/// Working memory: the parabolas of the envelope, by their p, and from where on each is the lowest.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    parabolas: Vec<(usize, f64)>,
}

impl Envelope {
    /// Writes `min_p from[p] + spring(p - q)` and the p to every q; where all are `+inf`, `+inf` and 0. Equal ones go to the
    /// lower p, up to rounding.
    pub(super) fn transform(&mut self, from: &[f64], spring: Spring, out: &mut [f64], places: &mut [u32]) {
        let parabolas = &mut self.parabolas;
        parabolas.clear();
        parabolas.reserve(from.len());
        let half = 0.5 / spring.a;
        // Lowest points are off p by this much, the same for all.
        let shift = spring.b * half;
        for (p, &height) in from.iter().enumerate().filter(|(_, height)| **height < f64::INFINITY) {
            let mut start = f64::NEG_INFINITY;
            while let Some(&(last, last_start)) = parabolas.last() {
                // Where this parabola crosses the last one: from there on it is below.
                let crossing = 0.5 * (p + last) as f64 + shift + (height - from[last]) * half / (p - last) as f64;
                if crossing > last_start {
                    start = crossing;
                    break;
                }
                parabolas.pop();
            }
            parabolas.push((p, start));
        }
        if parabolas.is_empty() {
            out.fill(f64::INFINITY);
            places.fill(0);
            return;
        }
        let mut at = 0;
        for (q, (out, place)) in out.iter_mut().zip(places).enumerate() {
            while at + 1 < parabolas.len() && parabolas[at + 1].1 < q as f64 {
                at += 1;
            }
            let p = parabolas[at].0;
            *out = from[p] + spring.energy(p as f64 - q as f64);
            *place = p as u32;
        }
    }
}
