//! Generalised distance transforms, and the best placement of parts that deform quadratically.
//!
//! `out(q) = min_p f(p) + a (p - q)^2 + b (p - q)` for all q of a grid at once, in time linear in its size: each p is a
//! parabola, and the lower envelope of all is built from left to right. Felzenszwalb and Huttenlocher, "Distance transforms
//! of sampled functions" (Theory of Computing 8, 2012). What moves the rest position of a part is in b: a displacement of
//! v at no cost is `b = -2 a v`, up to a constant.
//!
//! * [`Transform`]: one and two dimensions, with the minimising p;
//! * [`PartTree`]: trees of parts over the places of a grid (pictorial structures).

mod grid;
mod line;
mod parts;

pub use grid::Transform;
pub use line::Spring;
pub use parts::{Part, PartTree};
