//! Records that are continued.
//!
//! One is accepted rightly where it begins with what the checkpoint says of it; it is cut back to there.

use std::path::Path;

use multiplane::{RecordFile, RecordPosition};
use sha2::{Digest, Sha256};

use crate::campaign::{Reader, Verdict};
use crate::{Row, bytes};

/// The record of a run.
pub(crate) fn rows() -> Vec<Row> {
    vec![("record", 2, Box::new(record))]
}

fn record() -> Reader {
    let text = b"{\"pass\": 1, \"primal\": 0.5}\n{\"pass\": 2, \"primal\": 0.25}\n".to_vec();
    let sha256: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let own = text.clone();
    let read = move |path: &Path, bytes: &[u8]| {
        let position = RecordPosition { path: path.into(), bytes: own.len() as u64, sha256: sha256.clone() };
        match RecordFile::reopen(&position) {
            Err(error) => Verdict::refused(error),
            Ok(_) if !bytes.starts_with(&own) => Verdict::Unsound("another record is continued".into()),
            Ok(file) => {
                drop(file);
                let left = std::fs::read(path).unwrap_or_default();
                Verdict::of(if left == own { Ok(()) } else { Err("it is not cut back".into()) })
            }
        }
    };
    Reader { corpus: vec![text], mutate: bytes::mutated, read: Box::new(read), names_file: true }
}
