//! The transform of one line of cells.

/// Stiffness below which a spring is as good as straight.
const STRAIGHT: f64 = 1e-300;

/// The score of an offset d along one axis: `slope d - stiffness d^2`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spring {
    /// Score lost per square of a step; usually at least 0.
    pub stiffness: f64,
    /// Score won per step.
    pub slope: f64,
}

impl Spring {
    /// Returns the score of an offset in steps.
    #[inline]
    pub fn score(&self, d: f64) -> f64 {
        (self.slope - self.stiffness * d) * d
    }
}

/// Working memory: the parabolas of the envelope by the places of their children, and where each begins to be the
/// highest.
#[derive(Clone, Debug, Default)]
pub(super) struct Parabolas {
    places: Vec<usize>,
    starts: Vec<f64>,
    /// `1 / k`, from k = 0 on.
    inverse: Vec<f64>,
}

impl Parabolas {
    /// Calls `put(p, best, c)` for every place p of the parent: `best = max_c from[c] + spring(c - p - anchor)`. If all
    /// scores are `-inf`, so is `best`, and c is 0. Of equal ones the same is taken each time.
    pub(super) fn transform(
        &mut self,
        from: &[f64],
        spring: Spring,
        anchor: f64,
        mut put: impl FnMut(usize, f64, usize),
    ) {
        let n = from.len();
        let Spring { stiffness, slope } = spring;
        if self.places.len() < n {
            self.places.resize(n, 0);
            self.starts.resize(n, 0.0);
            self.inverse = (0..n).map(|k| 1.0 / k as f64).collect();
        }
        let (places, starts) = (&mut self.places[..n], &mut self.starts[..n]);
        let mut count = 0;
        if stiffness.abs() < STRAIGHT {
            // The best child is the same for all parents.
            let score = |c: usize| from[c] + slope * c as f64;
            places[0] = (1..n).fold(0, |best, c| if score(c) > score(best) { c } else { best });
            count = usize::from(from[places[0]] > f64::NEG_INFINITY);
        } else {
            // From q on, the place of a parent with the anchor added, a later parabola is above those before it. With a
            // negative stiffness that holds in the other direction.
            let half = 0.5 / stiffness;
            for k in 0..n {
                let c = if stiffness > 0.0 { k } else { n - 1 - k };
                if from[c] == f64::NEG_INFINITY {
                    continue;
                }
                let mut start = f64::NEG_INFINITY;
                while count > 0 {
                    let last = places[count - 1];
                    let (between, rise) = match c > last {
                        true => (self.inverse[c - last], from[c] - from[last]),
                        false => (self.inverse[last - c], from[last] - from[c]),
                    };
                    start = 0.5 * (c + last) as f64 - (rise * between + slope) * half;
                    if start > starts[count - 1] {
                        break;
                    }
                    count -= 1;
                    start = f64::NEG_INFINITY;
                }
                (places[count], starts[count]) = (c, start);
                count += 1;
            }
        }
        if count == 0 {
            (0..n).for_each(|p| put(p, f64::NEG_INFINITY, 0));
            return;
        }
        let mut at = 0;
        for p in 0..n {
            let q = p as f64 + anchor;
            while at + 1 < count && starts[at + 1] < q {
                at += 1;
            }
            let c = places[at];
            put(p, from[c] + spring.score(c as f64 - q), c);
        }
    }
}
