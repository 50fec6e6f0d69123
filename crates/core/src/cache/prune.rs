//! Planes leave a working set: the idle, the longest idle, or those of low score.

use super::WorkingSets;

impl WorkingSets {
    /// Drops the planes last active before `oldest`, then the longest inactive ones until at most `limit` stay.
    /// Planes that carry mass always stay.
    pub fn prune(&mut self, block: usize, oldest: u32, limit: usize) {
        let mut k = 0;
        while k < self.sets[block].kept.len() {
            let set = &self.sets[block];
            if set.kept[k].last_active < oldest && set.alphas[k] == 0.0 {
                self.drop_plane(block, k);
            } else {
                k += 1;
            }
        }
        while self.sets[block].kept.len() > limit {
            let set = &self.sets[block];
            let free = (0..set.kept.len()).filter(|&k| set.alphas[k] == 0.0);
            let Some(idle) = free.min_by_key(|&k| set.kept[k].last_active) else { return };
            self.drop_plane(block, idle);
        }
    }

    /// Drops planes without mass, those of the lowest score at `w` first, until at most `limit` stay.
    pub fn prune_lowest(&mut self, block: usize, w: &[f64], limit: usize) {
        while self.sets[block].kept.len() > limit {
            let set = &self.sets[block];
            let mut lowest = (None, f64::INFINITY);
            for k in (0..set.kept.len()).filter(|&k| set.alphas[k] == 0.0) {
                let score = self.view(&set.kept[k]).score(w);
                if score < lowest.1 {
                    lowest = (Some(k), score);
                }
            }
            let Some(lowest) = lowest.0 else { return };
            self.drop_plane(block, lowest);
        }
    }

    /// Like [`prune_lowest`](WorkingSets::prune_lowest) where the scores are at hand; they follow.
    pub fn prune_scored(&mut self, block: usize, scores: &mut Vec<f64>, limit: usize) {
        while self.sets[block].kept.len() > limit {
            let alphas = &self.sets[block].alphas;
            let free = (0..alphas.len()).filter(|&k| alphas[k] == 0.0);
            let Some(lowest) = free.min_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { return };
            self.drop_plane(block, lowest);
            scores.remove(lowest);
        }
    }

    fn drop_plane(&mut self, block: usize, k: usize) {
        self.bytes -= self.bytes_of(block, k);
        let set = &mut self.sets[block];
        let code = set.codes.len() / set.kept.len();
        set.codes.drain(k * code..(k + 1) * code);
        let kept = set.kept.remove(k);
        set.alphas.remove(k);
        if !set.gram.is_empty() {
            let mut at = (0, 0);
            set.gram.retain(|_| {
                let (i, j) = at;
                at = if j == i { (i + 1, 0) } else { (i, j + 1) };
                i != k && j != k
            });
        }
        if let Some(slot) = kept.indices {
            self.indices.release(slot);
        }
        self.values.release(kept.values);
        self.planes -= 1;
    }
}
