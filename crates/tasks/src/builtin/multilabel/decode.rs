//! The best set of labels for scores of labels and pairs, exactly: messages along a forest, or a table over all sets.

use multiplane_core::oracle::Quality;

use super::graph::LabelGraph;
use super::layout::MOST_ENUMERATED;
use super::scores::SetScores;
use super::search;

/// Working memory of the decoder.
#[derive(Debug, Default)]
pub(super) struct SetDecoder {
    /// Labels that are not decided by their scores alone.
    free: Vec<u32>,
    /// Scores of absence and presence, with what decided labels add.
    folded: Vec<[f64; 2]>,
    /// By set of the labels so far: their score, and what the next label adds absent and present.
    sums: Vec<f64>,
    gains: [Vec<f64>; 2],
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

    /// Doubles a table of scores label by label: what a label adds is itself a table over the sets of those before it,
    /// doubled in the same way. About six additions a set, and nothing else.
    fn enumerate(&mut self, graph: &LabelGraph, scores: SetScores<'_>, y: &mut [u32]) {
        let SetDecoder { free, folded, sums, gains: [absent, present], .. } = self;
        let Some((&last, before)) = free.split_last() else { return };
        sums.clear();
        sums.push(0.0);
        for (place, &k) in free.iter().enumerate() {
            for (gain, value) in [(&mut *absent, 0), (&mut *present, 1)] {
                gain.clear();
                gain.push(folded[k as usize][value]);
                for &j in &free[..place] {
                    let half = gain.len();
                    gain.extend_from_within(..);
                    if let Some(edge) = graph.find(j, k) {
                        let (without, with) = gain.split_at_mut(half);
                        let table = &scores.pair[4 * edge..][..4];
                        without.iter_mut().for_each(|gain| *gain += table[value]);
                        with.iter_mut().for_each(|gain| *gain += table[2 + value]);
                    }
                }
            }
            if k != last {
                let half = sums.len();
                sums.extend_from_within(..);
                let (without, with) = sums.split_at_mut(half);
                without.iter_mut().zip(&*absent).for_each(|(sum, gain)| *sum += gain);
                with.iter_mut().zip(&*present).for_each(|(sum, gain)| *sum += gain);
            }
        }
        let (mut best, mut set) = (f64::NEG_INFINITY, 0);
        for (at, ((sum, absent), present)) in sums.iter().zip(&*absent).zip(&*present).enumerate() {
            let score = sum + if present > absent { present } else { absent };
            if score > best {
                (best, set) = (score, at);
            }
        }
        before.iter().enumerate().for_each(|(bit, &k)| y[k as usize] = (set >> bit & 1) as u32);
        y[last as usize] = u32::from(present[set] > absent[set]);
    }
}
