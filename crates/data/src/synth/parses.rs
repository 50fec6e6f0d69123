//! Sentences as trees of words: every word hangs on another, and has a role that follows from that word's role, from
//! the side that it stands on, and from its own kind. Kinds are told by words that may belong to two, and by tags that
//! may be wrong. A sentence costs about fifty draws.

use super::dice::Dice;
use crate::trees::{NodeFeatures, TreeParts, Trees};

/// A word and what hangs on it, before and after it.
struct TreePhrase {
    kind: usize,
    role: &'static str,
    before: Vec<TreePhrase>,
    after: Vec<TreePhrase>,
}

/// Kinds of words, with the words; some stand under two.
const KINDS: [(&str, &[&str]); 6] = [
    ("DT", &["the", "a", "this", "every"]),
    ("JJ", &["small", "exact", "dual", "cold", "early", "fast", "plain", "light"]),
    ("NN", &["plane", "bound", "cut", "block", "step", "oracle", "plan", "run", "light", "cold"]),
    ("RB", &["soon", "fast", "early", "never"]),
    ("VB", &["cut", "step", "bound", "run", "plan", "keep", "find", "say"]),
    ("IN", &["of", "in", "by", "with"]),
];

/// Their numbers.
const DT: usize = 0;
const JJ: usize = 1;
const NN: usize = 2;
const RB: usize = 3;
const VB: usize = 4;
const IN: usize = 5;

/// Tags that are wrong, in a thousand.
const WRONG_PERMILLE: u32 = 80;

/// Deepest phrases that other phrases hang on.
const DEPTH: u32 = 2;

/// Returns `n` sentences as trees of words, in the order of the words: features `w=` and `t=` with word and tag, roles
/// as labels, and edges of the types `before` and `after`. The same `seed` gives the same sentences on every machine,
/// and the first of a longer set are those of a shorter one.
pub fn synthetic_trees(n: usize, seed: u64) -> Trees {
    let mut data = Trees::new(None);
    for index in 0..n as u64 {
        let mut dice = Dice::new(seed, index);
        let clause = clause(&mut dice, "root", 0);
        let mut tree = TreeParts { parents: Some(Vec::new()), ..TreeParts::default() };
        say(clause, None, &mut dice, &mut tree);
        data.push(tree, 0).unwrap_or_else(|fault| unreachable!("synthetic trees are sound: {fault}"));
    }
    data
}

fn leaf(kind: usize, role: &'static str) -> TreePhrase {
    TreePhrase { kind, role, before: Vec::new(), after: Vec::new() }
}

fn clause(dice: &mut Dice, role: &'static str, depth: u32) -> TreePhrase {
    let mut phrase = leaf(VB, role);
    phrase.before.push(noun(dice, "subject", depth + 1));
    if dice.chance(250) {
        phrase.before.push(leaf(RB, "adverb"));
    }
    if dice.chance(650) {
        phrase.after.push(noun(dice, "object", depth + 1));
    }
    if dice.chance(350) {
        phrase.after.push(preposition(dice, depth + 1));
    }
    if dice.chance(200) {
        phrase.after.push(leaf(RB, "adverb"));
    }
    if depth == 0 && dice.chance(200) {
        phrase.after.push(clause(dice, "clause", 1));
    }
    phrase
}

fn noun(dice: &mut Dice, role: &'static str, depth: u32) -> TreePhrase {
    let mut phrase = leaf(NN, role);
    for (kind, word, permille) in [(DT, "article", 650), (JJ, "attribute", 350), (JJ, "attribute", 150)] {
        if dice.chance(permille) {
            phrase.before.push(leaf(kind, word));
        }
    }
    if depth <= DEPTH && dice.chance(250) {
        phrase.after.push(preposition(dice, depth + 1));
    }
    phrase
}

fn preposition(dice: &mut Dice, depth: u32) -> TreePhrase {
    TreePhrase { after: vec![noun(dice, "complement", depth + 1)], ..leaf(IN, "preposition") }
}

/// Adds the words of a phrase in their order, and returns the number of the word that it hangs by.
fn say(phrase: TreePhrase, side: Option<&str>, dice: &mut Dice, tree: &mut TreeParts) -> usize {
    let before: Vec<usize> = phrase.before.into_iter().map(|child| say(child, Some("before"), dice, tree)).collect();
    let own = tree.features.len();
    let word = KINDS[phrase.kind].1[dice.below(KINDS[phrase.kind].1.len() as u32) as usize];
    let kind = if dice.chance(WRONG_PERMILLE) { dice.below(KINDS.len() as u32) as usize } else { phrase.kind };
    let features = vec![(format!("w={word}"), 1.0), (format!("t={}", KINDS[kind].0), 1.0)];
    tree.features.push(Some(NodeFeatures::Named(features)));
    tree.labels.push(Some(phrase.role.to_owned()));
    tree.types.push(side.map(str::to_owned));
    tree.parents.get_or_insert_default().push(None);
    let after: Vec<usize> = phrase.after.into_iter().map(|child| say(child, Some("after"), dice, tree)).collect();
    let parents = tree.parents.get_or_insert_default();
    before.into_iter().chain(after).for_each(|child| parents[child] = Some(own as i64));
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;

    /// The same seed gives the same sentences, and a longer set begins with the shorter one; roles depend on the word
    /// that a word hangs on.
    #[test]
    fn sentences_are_repeatable() {
        let hash = |data: Trees| Dataset::new(data).fingerprint();
        let long = Dataset::new(synthetic_trees(50, 3));
        let first: Vec<usize> = (0..20).collect();
        assert_eq!(hash(synthetic_trees(20, 3)), long.subset(&first).fingerprint());
        assert_ne!(hash(synthetic_trees(50, 4)), long.fingerprint());
        let data = synthetic_trees(300, 0);
        assert!((0..300).all(|tree| data.has_parents(tree) && (2..60).contains(&data.range(tree).len())));
        assert_eq!((data.names.len(), data.type_names.len()), (9, 3));
    }
}
