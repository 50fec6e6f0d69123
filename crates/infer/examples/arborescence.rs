//! Best trees and log-partitions of sentences on standard input: for `benchmarks/scripts/arborescence.py`.
//!
//! A line is the number of words, 1 or 0 for whether the root has one child, and all scores, head by head. A line of
//! JSON comes back: `score` and `log_partition`, null where there is no tree.

use std::error::Error;
use std::io::BufRead;

use multiplane_infer::arborescence::{Arborescence, EdgeMarginals, HeadScores, MatrixTree};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut engine, mut theorem, mut heads, mut out) =
        (Arborescence::default(), MatrixTree::default(), Vec::new(), EdgeMarginals::default());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_ascii_whitespace();
        let count: usize = words.next().ok_or("an empty line")?.parse()?;
        let single_root = words.next() == Some("1");
        let scores = words.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let scores = HeadScores { words: count, scores: &scores, single_root };
        let text = |number: Option<f64>| number.map_or("null".to_string(), |number| number.to_string());
        let score = engine.solve(scores, &mut heads).ok();
        let log = theorem.solve(scores, &mut out).ok().map(|()| out.log_partition);
        println!("{{\"score\":{},\"log_partition\":{}}}", text(score), text(log));
    }
    Ok(())
}
