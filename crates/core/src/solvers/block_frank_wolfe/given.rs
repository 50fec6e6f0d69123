//! Answers that an evaluation has brought: calls that an exact pass need not make.

/// By block, the number of exact passes begun when an answer came; 0 if there is none, or it was used. Empty if no
/// evaluation has brought any.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct PrepaidCalls(Vec<u64>);

impl PrepaidCalls {
    /// Books an answer for `block`, one of `blocks`, after `passes` exact passes were begun.
    pub(super) fn book(&mut self, block: usize, blocks: usize, passes: u64) {
        self.0.resize(blocks, 0);
        self.0[block] = passes;
    }

    /// Returns true if an answer for `block` came during the present exact pass, after `passes` were begun, or during
    /// the one before.
    pub(super) fn has(&self, block: usize, passes: u64) -> bool {
        self.0.get(block).is_some_and(|&given| given > 0 && given + 1 >= passes)
    }

    /// Takes the answer for `block` out of the books; returns whether there was one.
    pub(super) fn take(&mut self, block: usize, passes: u64) -> bool {
        let has = self.has(block, passes);
        if has {
            self.0[block] = 0;
        }
        has
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns true if restored books fit `blocks` blocks.
    pub(super) fn is_sound(&self, blocks: usize) -> bool {
        self.0.is_empty() || self.0.len() == blocks
    }
}
