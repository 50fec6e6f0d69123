//! The M best arborescences: what is left after a tree was found is cut into parts, each one search.

use super::scores::{HeadScores, HeadTree};

/// Trees that have the heads of `tree` for the words before `word`, and there none of `excluded`; `tree` is the best.
struct TreePart {
    tree: HeadTree,
    word: usize,
    excluded: Vec<u32>,
}

/// Returns the best trees; `find` writes the best tree under some scores, or says that there is none.
pub(super) fn trees(
    scores: HeadScores<'_>,
    count: usize,
    masked: &mut Vec<f64>,
    mut find: impl FnMut(HeadScores<'_>, &mut Vec<u32>) -> bool,
) -> Vec<HeadTree> {
    let mut listed = Vec::new();
    let mut parts = Vec::new();
    let mut open = |scores_of_part: HeadScores<'_>, word, excluded, parts: &mut Vec<TreePart>| {
        let mut heads = Vec::new();
        if find(scores_of_part, &mut heads) {
            let score = scores.score(&heads);
            parts.push(TreePart { tree: HeadTree { heads, score }, word, excluded });
        }
    };
    if count > 0 {
        open(scores, 0, Vec::new(), &mut parts);
    }
    while listed.len() < count {
        // The first of equal ones.
        let best =
            (0..parts.len()).max_by(|&a, &b| parts[a].tree.score.total_cmp(&parts[b].tree.score).then(b.cmp(&a)));
        let Some(best) = best else { break };
        let TreePart { tree, word, mut excluded } = parts.remove(best);
        if listed.len() + 1 < count {
            masked.clear();
            masked.extend_from_slice(scores.scores);
            (0..word).for_each(|fixed| keep(masked, scores.words, fixed, |head| head == tree.heads[fixed]));
            for word in word..scores.words {
                excluded.push(tree.heads[word]);
                keep(masked, scores.words, word, |head| !excluded.contains(&head));
                open(HeadScores { scores: masked, ..scores }, word, excluded.clone(), &mut parts);
                restore(masked, scores, word);
                keep(masked, scores.words, word, |head| head == tree.heads[word]);
                excluded.clear();
            }
        }
        listed.push(tree);
    }
    listed
}

/// Forbids the heads of a word that are not allowed.
fn keep(masked: &mut [f64], words: usize, word: usize, allowed: impl Fn(u32) -> bool) {
    for head in (0..=words).filter(|&head| !allowed(head as u32)) {
        masked[head * (words + 1) + word + 1] = f64::NEG_INFINITY;
    }
}

fn restore(masked: &mut [f64], scores: HeadScores<'_>, word: usize) {
    for at in (word + 1..masked.len()).step_by(scores.words + 1) {
        masked[at] = scores.scores[at];
    }
}
