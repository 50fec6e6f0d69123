//! One binary pairwise energy as slopes and capacities (Kolmogorov and Zabih 2004).

/// The energies of an edge at the four pairs of labels (tail, head).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corners {
    pub(crate) both_zero: f64,
    pub(crate) head_one: f64,
    pub(crate) tail_one: f64,
    pub(crate) both_one: f64,
}

/// An energy as `E(0,0) + tail [a=1] + head [b=1] + forward [a=1, b=0] + backward [a=0, b=1]`, with capacities that are
/// not negative and may be `+inf`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decomposed {
    pub(crate) tail: f64,
    pub(crate) head: f64,
    pub(crate) forward: f64,
    pub(crate) backward: f64,
    /// How much the decomposition is above the energy, at most.
    pub(crate) neglected: f64,
}

/// Part of the largest entry by which a sum of four may be wrong.
const ROUNDING: f64 = 1e-12;

/// Evaluates an energy at the four pairs.
pub(crate) fn corners(energy: impl Fn(u32, u32) -> f64) -> Corners {
    Corners { both_zero: energy(0, 0), head_one: energy(0, 1), tail_one: energy(1, 0), both_one: energy(1, 1) }
}

impl Corners {
    /// Returns the decomposition, or by how much submodularity is violated. Capacities share what the labels'
    /// difference costs as evenly as possible, which leaves the least to the terminals: nothing, for Potts.
    pub(crate) fn decompose(&self) -> Result<Decomposed, f64> {
        let Corners { both_zero, head_one, tail_one, both_one } = *self;
        if both_zero == f64::INFINITY || both_one == f64::INFINITY {
            return Err(f64::INFINITY);
        }
        let excess = (both_zero - head_one) + (both_one - tail_one);
        let largest = both_zero.abs().max(both_one.abs()).max(head_one.abs()).max(tail_one.abs());
        match excess > ROUNDING * largest {
            true => Err(excess),
            false => Ok(self.decompose_near()),
        }
    }

    /// Returns the decomposition of the nearest submodular energy, for entries on the diagonal that are finite.
    pub(crate) fn decompose_near(&self) -> Decomposed {
        let Corners { both_zero, head_one, tail_one, both_one } = *self;
        let excess = (both_zero - head_one) + (both_one - tail_one);
        let (room, neglected) = ((-excess).max(0.0), excess.max(0.0));
        let middle = both_zero / 2.0 + both_one / 2.0;
        let (forward, backward) = if tail_one < f64::INFINITY {
            let forward = (tail_one - middle).clamp(0.0, room);
            (forward, room - forward)
        } else {
            (f64::INFINITY, (head_one - middle).max(0.0))
        };
        let whole = both_one - both_zero;
        let tail = match (tail_one < f64::INFINITY, head_one < f64::INFINITY) {
            (true, _) => tail_one - both_zero - forward,
            (false, true) => whole - (head_one - both_zero - backward),
            (false, false) => whole / 2.0,
        };
        Decomposed { tail, head: whole - tail, forward, backward, neglected }
    }
}
