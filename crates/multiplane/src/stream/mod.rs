//! Learning from a stream: one pass over examples that come in windows and do not come back.
//!
//! | file | what |
//! |---|---|
//! | `learner.rs` | what is kept between windows, what a window does to it, which labels and features it takes |
//! | `feed.rs` | windows read off a pipe or file, on a thread of their own |
//! | `follow.rs` | window after window: records, snapshots, test data, stops |
//! | `summary.rs` | what it comes to |

mod feed;
mod follow;
mod learner;
mod summary;

pub use feed::Feed;
pub use follow::{Snapshots, StreamEnd, StreamOptions, TakeRecord, follow_stream};
pub use learner::{Learner, Window};
pub use summary::{StreamReason, StreamRecord, StreamSummary};
