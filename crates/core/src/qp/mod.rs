//! The simplex QP: `max_alpha  b.alpha - 1/(2 lambda) alpha' G alpha` over the simplex, by steps with closed-form
//! line search on cached inner products. A pairwise step costs O(planes), one toward or away from a vertex O(planes^2),
//! whatever the dimension.
//!
//! One vertex is the ground truth, whose plane is zero; it has no row in G. The others are planes with their inner
//! products. Instead of b, the scores `a = b - G alpha / lambda` are kept: at a block, the planes' scores
//! at the present w. Coordinates whose weights must stay `>= 0` are carried beside G.

mod constrained;
mod joint;
mod newton;
mod simplex;
#[cfg(test)]
mod tests;

pub use constrained::ConstrainedPart;
pub use joint::{JointQp, JointSolution};
pub use simplex::{Gram, SimplexQp};
