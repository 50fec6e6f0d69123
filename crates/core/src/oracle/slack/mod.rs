//! Slack rescaling: a max-oracle of slack-rescaled planes around one of margin-rescaled planes.
//!
//! `H_i(w) = max_y Delta(y) (1 + s(y))` with `s(y) = <w, phi(x, y) - phi(x, y_i)>` (Tsochantaridis et al., JMLR 2005, Prop. 2)
//! is the largest of planes whose linear part is that of margin rescaling times Delta(y), and whose constant part is
//! Delta(y) as there. So whoever sees planes alone, solvers, working sets and certificates, goes on unchanged
//! ([ADR 0045](../../../../docs/adr/0045-slack-rescaling.md)).

mod oracle;
mod search;

pub use oracle::{SlackCount, SlackFacts, SlackOracle};
pub use search::bound_of_line;
