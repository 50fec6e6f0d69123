//! Inference engines: energies in, labellings out.
//!
//! Many problems come down to this: give each of many *nodes* (pixels, superpixels, atoms, radio links) one of a few
//! *labels*, so that a sum of costs is as small as can be. Each node has a cost per label, its *unary energies*; each
//! *edge* of two nodes has a cost for the pair of their labels. This crate holds such problems ([`Mrf`], for Markov
//! random field), reads and writes their files ([`mod@format`]), and solves them, exactly where that is possible and
//! with a proven bound where it is not.
//!
//! ```
//! use multiplane_infer::{Mrf, Term, engine::unwatched, registry};
//!
//! // Three pixels in a row; the one in the middle is not sure what it is.
//! let mut mrf = Mrf::new();
//! let left = mrf.add_node(&[0.0, 3.0])?;
//! let middle = mrf.add_node(&[1.0, 0.9])?;
//! let right = mrf.add_node(&[0.2, 2.0])?;
//! let potts = mrf.add_term(Term::Potts)?; // 0 for equal labels, 1 for different ones ...
//! mrf.add_edge(left, middle, potts, 0.5)?; // ... times 0.5
//! mrf.add_edge(middle, right, potts, 0.5)?;
//!
//! let (entry, mut engine) = registry::automatic(&mrf)?;
//! let mut labels = Vec::new();
//! let answer = engine.solve(&mrf, &mut unwatched, &mut labels)?;
//! assert_eq!((entry.name, &labels[..]), ("tree", &[0, 0, 0][..]));
//! assert!((answer.energy - 1.2).abs() < 1e-12 && answer.is_exact());
//! # Ok::<(), multiplane_infer::InferError>(())
//! ```
//!
//! # Which engine
//!
//! All of these are an [`Engine`] of the same methods, and [`registry::automatic`] takes the first that applies:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`tree`] | graphs without cycles | exact: max-product |
//! | [`min_cut`] | two labels, submodular edges (equal labels cost no more than different ones) | exact: one minimum cut |
//! | [`brute`] | anything small | exact, by enumeration: the judge of the others |
//! | [`trws`] | anything | a lower bound and a good labelling: tree-reweighted message passing |
//! | [`expansion`] | Potts and metric edges | a labelling that no expansion move betters; for Potts a good bound: alpha-expansion |
//!
//! An [`Answer`] has the energy of the labelling and a *bound* that no labelling's energy is below. Where both meet,
//! the labelling is proven optimal, whatever the engine. A [`Watch`] sees both during a long solve and may end it.
//!
//! Around them:
//!
//! * [`several`]: the M best labellings, or several that are good and different, over any engine;
//! * [`min_marginals`]: the lowest energy with each label of each node, over any exact engine;
//! * [`persistency`]: which labels of a Potts model are proven before it is solved;
//! * [`restricted`]: the best combination of a few known labellings;
//! * [`grid`]: images, whose edges follow from their size: two labels are cut without a list of edges;
//! * [`marginals`]: sum-product: how probable labels are, and the log-partition;
//! * [`maxflow`]: maximum flow and minimum cut by themselves;
//! * [`programme`]: integer programmes, with the feature `highs` solved by HiGHS;
//! * [`boxes`]: the best rectangle in a map of visual words, by branch and bound or a sweep;
//! * [`parts`]: trees of parts on the cells of a grid, by distance transforms;
//! * [`mod@file`]: how data files are opened, plain or gzip, with errors that name line and column.
//!
//! Engines own their working memory and are meant to be used again: a second solve of a model of the same shape, with
//! other numbers, starts from what the last one left. It allocates nothing, but for the last search of TRW-S where
//! pairs of labels are forbidden.
//!
//! # Chains and trees of scores
//!
//! Some structures have engines of their own, which *maximise scores*, the negated energies, as their users are used
//! to:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`viterbi`] | chains | exact |
//! | [`lattice`] | chains with a few candidate labels per position | exact |
//! | [`score_tree`] | trees with the same labels at every node | exact |
//! | [`arborescence`] | which word depends on which: directed spanning trees | exact, and their distribution |
//! | [`best_paths`] | the M best labellings of chains | exact |

pub mod arborescence;
pub mod best_paths;
pub mod boxes;
pub mod brute;
pub mod chain;
mod cut_graph;
pub mod engine;
pub mod entry;
pub mod error;
pub mod expansion;
pub mod file;
mod forest;
pub mod format;
pub mod grid;
pub mod lattice;
pub mod logs;
pub mod marginals;
pub mod maxflow;
mod messages;
pub mod min_cut;
pub mod min_marginals;
pub mod mrf;
mod pairs;
pub mod parts;
pub mod persistency;
pub mod programme;
mod proof;
pub mod registry;
pub mod restricted;
pub mod score_tree;
pub mod several;
mod shape;
mod sum;
pub mod term;
pub mod tree;
pub mod trws;
pub mod viterbi;

pub use engine::{Answer, Engine, SolveProgress, Watch};
pub use error::InferError;
pub use min_marginals::MinMarginals;
pub use mrf::{Edge, Mrf};
pub use several::MBest;
pub use term::{Table, Term};

/// The examples of the page on inference.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/inference.md")]
pub struct PageOnInference;
