//! Findings as they are made: of each kind the first is kept, the others are counted.

use super::finding::{Finding, Kind};

/// Findings so far, in the order in which their kinds were first seen.
#[derive(Default)]
pub(super) struct FindingLog {
    findings: Vec<Finding>,
}

impl FindingLog {
    /// Notes a fault; message and cause are only made for the first of its kind.
    pub(super) fn add(&mut self, kind: Kind, example: usize, text: impl FnOnce() -> (String, String)) {
        if let Some(known) = self.findings.iter_mut().find(|finding| finding.kind == kind) {
            known.count += 1;
            return;
        }
        let (message, cause) = text();
        self.findings.push(Finding { kind, example: Some(example), message, cause, count: 1 });
    }

    /// Whether there is a fault of this kind.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// Counts as many more of this kind.
    pub(super) fn count(&mut self, kind: Kind, count: usize) {
        if let Some(known) = self.findings.iter_mut().find(|finding| finding.kind == kind) {
            known.count = known.count.max(count);
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}
