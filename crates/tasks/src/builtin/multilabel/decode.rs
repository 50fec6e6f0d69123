//! The best set of labels for scores of labels and pairs, exactly: messages along a forest, or a table over all sets.

use multiplane_core::oracle::Quality;

use super::graph::LabelGraph;
use super::layout::MOST_ENUMERATED;
use super::scores::SetScores;
use super::search;
use super::table::SetTable;

/// Working memory of the decoder.
#[derive(Debug, Default)]
pub(super) struct SetDecoder {
    /// Labels that are not decided by their scores alone.
    free: Vec<u32>,
    /// Scores of absence and presence, with what decided labels add.
    folded: Vec<[f64; 2]>,
    table: SetTable,
    /// By label: the best of its subtree for each value of its parent, and the value that gives it.
    messages: Vec<[(f64, u32); 2]>,
}

impl SetDecoder {
    /// Writes the best set, 0 or 1 for every label. Of equal sets one with few labels wins.
    pub(super) fn solve(
        &mut self,
        graph: &LabelGraph,
        scores: SetScores<'_>,
        y: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        y.clear();
        y.resize(graph.labels(), 0);
        if graph.forest().is_some() {
            self.pass_messages(graph, scores, y);
            return Ok(Quality::Exact);
        }
        self.decide(graph, scores, y);
        if self.free.len() > MOST_ENUMERATED {
            return search::solve(graph, scores, y);
        }
        self.enumerate(graph, scores, y);
        Ok(Quality::Exact)
    }

    /// Max-product from leaves to roots and back.
    fn pass_messages(&mut self, graph: &LabelGraph, scores: SetScores<'_>, y: &mut [u32]) {
        let links = graph.forest().unwrap_or_default();
        self.folded.clear();
        self.folded.extend_from_slice(scores.unary);
        self.messages.clear();
        self.messages.resize(graph.labels(), [(0.0, 0); 2]);
        for link in links.iter().rev() {
            let own = self.folded[link.label as usize];
            for above in 0..2 {
                let with = |value: u32| match link.up {
                    None => own[value as usize],
                    Some((parent, edge)) if parent < link.label => {
                        own[value as usize] + scores.pair(edge as usize, above, value)
                    }
                    Some((_, edge)) => own[value as usize] + scores.pair(edge as usize, value, above),
                };
                let (absent, present) = (with(0), with(1));
                let best = if present > absent { (present, 1) } else { (absent, 0) };
                self.messages[link.label as usize][above as usize] = best;
                if let Some((parent, _)) = link.up {
                    self.folded[parent as usize][above as usize] += best.0;
                }
            }
        }
        for link in links {
            let above = link.up.map_or(0, |(parent, _)| y[parent as usize]);
            y[link.label as usize] = self.messages[link.label as usize][above as usize].1;
        }
    }

    /// Takes the values of labels that have only one, and adds their pairs to the scores of the others.
    fn decide(&mut self, graph: &LabelGraph, scores: SetScores<'_>, y: &mut [u32]) {
        let decided = |k: u32| scores.unary[k as usize].iter().position(|score| *score == f64::NEG_INFINITY);
        self.free.clear();
        for k in 0..graph.labels() as u32 {
            match decided(k) {
                Some(lost) => y[k as usize] = 1 - lost as u32,
                None => self.free.push(k),
            }
        }
        self.folded.clear();
        self.folded.extend_from_slice(scores.unary);
        if self.free.len() == graph.labels() {
            return;
        }
        for (edge, &[j, k]) in graph.edges().iter().enumerate() {
            for value in 0..2 {
                match (decided(j), decided(k)) {
                    (None, Some(_)) => {
                        self.folded[j as usize][value as usize] += scores.pair(edge, value, y[k as usize]);
                    }
                    (Some(_), None) => {
                        self.folded[k as usize][value as usize] += scores.pair(edge, y[j as usize], value);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Looks at all sets of the free labels: a table over the sets of the first few, and for the sets of the others,
    /// best bound first, what they add to it.
    fn enumerate(&mut self, graph: &LabelGraph, scores: SetScores<'_>, y: &mut [u32]) {
        self.table.fill(graph, scores, &self.free, &self.folded);
        let set = self.table.best();
        self.free.iter().enumerate().for_each(|(bit, &k)| y[k as usize] = (set >> bit & 1) as u32);
    }
}
