//! Steps that labellings of a chain must not take: from a label to the next, from the start, to the end.

use multiplane_core::linalg;
use multiplane_core::task::UNLABELLED;
use serde::{Deserialize, Serialize};

use crate::metrics::ChunkTags;
use crate::text::TextOrList;

/// Steps as users write them: a list, or one text divided by spaces or commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextOrList")]
pub struct StepList(Vec<String>);

impl From<TextOrList> for StepList {
    fn from(notation: TextOrList) -> Self {
        let divides = |c: char| c.is_ascii_whitespace() || c == ',';
        StepList(match notation {
            TextOrList::Text(text) => text.split(divides).filter(|step| !step.is_empty()).map(str::to_owned).collect(),
            TextOrList::List(list) => list,
        })
    }
}

/// The score that each step adds to a labelling: 0, or `-inf` if it is forbidden.
#[derive(Clone, Debug)]
pub struct AllowedSteps {
    labels: usize,
    /// `[from][to]`.
    pub(super) pairs: Vec<f64>,
    /// By first label.
    starts: Vec<f64>,
    /// By last label.
    ends: Vec<f64>,
}

impl AllowedSteps {
    /// Reads the steps for labels of these names.
    ///
    /// # Errors
    ///
    /// A step that cannot be read or has a name that is no label, a scheme that the labels are not of.
    pub fn new(transitions: &StepList, names: &[String]) -> Result<Self, String> {
        let labels = names.len();
        // Where one may be and where one may go: at the labels, and before the start and after the end.
        let mut allowed = vec![vec![true; labels + 1]; labels + 1];
        let mut required: Vec<Vec<usize>> = vec![Vec::new(); labels + 1];
        for step in &transitions.0 {
            if let Some(scheme) = ["bio", "bioes", "bilou"].into_iter().find(|scheme| scheme == step) {
                let tags = ChunkTags::new(names.iter().map(String::as_str)).filter(|tags| tags.is_of(scheme));
                let tags = tags.ok_or_else(|| {
                    format!("task.transitions = {scheme}: the labels are no tags of this scheme: {}", listed(names))
                })?;
                let label = |place: usize| (place < labels).then_some(place as u32);
                for (from, row) in allowed.iter_mut().enumerate() {
                    row.iter_mut().enumerate().for_each(|(to, ok)| *ok &= tags.allows(label(from), label(to)));
                }
                continue;
            }
            let (is_required, from, to) = read(step, names).ok_or_else(|| {
                let names = listed(names);
                format!(
                    "task.transitions: found `{step}`, expected bio, bioes, bilou, `A>B` (B must not follow A) or \
                     `A=>B` (only B may), of the labels {names}; without A at the start, without B at the end"
                )
            })?;
            match is_required {
                true => required[from].push(to),
                false => allowed[from][to] = false,
            }
        }
        for (row, required) in allowed.iter_mut().zip(&required).filter(|(_, required)| !required.is_empty()) {
            row.iter_mut().enumerate().for_each(|(to, ok)| *ok &= required.contains(&to));
        }
        let scores = |row: &[bool]| row.iter().map(|&ok| if ok { 0.0 } else { f64::NEG_INFINITY }).collect::<Vec<_>>();
        let last: Vec<bool> = allowed[..labels].iter().map(|row| row[labels]).collect();
        Ok(AllowedSteps {
            labels,
            pairs: allowed[..labels].iter().flat_map(|row| scores(&row[..labels])).collect(),
            starts: scores(&allowed[labels][..labels]),
            ends: scores(&last),
        })
    }

    /// Adds the scores of the first and the last label to those of positions, `[position][label]`.
    pub(super) fn add_ends(&self, unary: &mut [f64]) {
        if let Some(last) = unary.len().checked_sub(self.labels) {
            linalg::axpy(1.0, &self.starts, &mut unary[..self.labels]);
            linalg::axpy(1.0, &self.ends, &mut unary[last..]);
        }
    }

    /// Returns if one label may follow another; none stands for the start and for the end.
    pub fn allows(&self, from: Option<u32>, to: Option<u32>) -> bool {
        let score = match (from, to) {
            _ if [from, to].contains(&Some(UNLABELLED)) => 0.0, // nothing is known of the step
            (Some(from), Some(to)) => self.pairs[from as usize * self.labels + to as usize],
            (None, Some(to)) => self.starts[to as usize],
            (Some(from), None) => self.ends[from as usize],
            (None, None) => 0.0,
        };
        score == 0.0
    }

    /// Returns the first forbidden step of a labelling: the position that it leads to, their number for the end.
    pub fn first_fault(&self, y: &[u32]) -> Option<usize> {
        let before = |t: usize| t.checked_sub(1).map(|t| y[t]);
        (0..=y.len()).find(|&t| !self.allows(before(t), y.get(t).copied()))
    }

    /// Returns the lengths up to `most` of which no labelling is allowed, in ascending order.
    pub fn impossible(&self, most: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let all = 0..self.labels as u32;
        let mut last: Vec<u32> = all.clone().filter(|&to| self.allows(None, Some(to))).collect();
        for len in 1..=most {
            let is_possible = last.iter().any(|&label| self.allows(Some(label), None));
            found.extend((!is_possible).then_some(len));
            let follows = |to: &u32| last.iter().any(|&from| self.allows(Some(from), Some(*to)));
            let next: Vec<u32> = all.clone().filter(follows).collect();
            if next == last {
                found.extend((len + 1..=most).filter(|_| !is_possible));
                break;
            }
            last = next;
        }
        found
    }
}

/// The places of a step among the labels, the last for start and end, and if it is a required one; `None` if it can be
/// read in no way, or in several.
fn read(step: &str, names: &[String]) -> Option<(bool, usize, usize)> {
    let place = |name: &str| match name {
        "" => Some(names.len()),
        name => names.iter().position(|known| known == name),
    };
    let ways = step.match_indices('>').flat_map(|(at, _)| {
        let (from, to) = (&step[..at], &step[at + 1..]);
        [(false, Some(from), to), (true, from.strip_suffix('='), to)]
    });
    let mut ways = ways.filter_map(|(is_required, from, to)| {
        let [from, to] = [place(from?)?, place(to)?];
        (from.min(to) < names.len()).then_some((is_required, from, to))
    });
    ways.next().filter(|_| ways.next().is_none())
}

/// Names for a message, the first twenty of them.
fn listed(names: &[String]) -> String {
    let more = if names.len() > 20 { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(steps: serde_json::Value, names: &str) -> Result<AllowedSteps, String> {
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        AllowedSteps::new(&serde_json::from_value(steps).unwrap(), &names)
    }

    /// Schemes allow what they spell out: by hand, position of the first fault.
    #[test]
    fn schemes_by_hand() {
        let bio = "B-X B-Y I-X I-Y O"; // 0 to 4
        let (bioes, bilou) = ("B-X E-X I-X O S-X E-Y", "B-X L-X I-X O U-X L-Y"); // 0 to 5
        for (scheme, names, y, fault) in [
            ("bio", bio, &[0, 2, 2, 1, 3, 4][..], None),
            ("bio", bio, &[2], Some(0)),
            ("bio", bio, &[4, 2], Some(1)),
            ("bio", bio, &[0, 3], Some(1)),
            ("bio", bio, &[2, 2], Some(0)),
            ("bioes", bioes, &[0, 2, 1, 4, 3, 0, 1], None),
            ("bioes", bioes, &[0, 2], Some(2)),
            ("bioes", bioes, &[0, 3], Some(1)),
            ("bioes", bioes, &[0, 5], Some(1)),
            ("bilou", bilou, &[4, 1], Some(1)),
            ("bilou", bilou, &[0, 1, 4], None),
        ] {
            assert_eq!(rule(json!(scheme), names).unwrap().first_fault(y), fault, "{scheme} {y:?}");
        }
        assert!(rule(json!("bio"), bioes).is_err() && rule(json!("bioes"), bio).is_err());
        assert!(rule(json!("bio"), "NN VB").is_err());
    }

    /// Steps one by one: forbidden and required ones, starts and ends; what cannot be read is refused.
    #[test]
    fn steps_by_hand() {
        let found = rule(json!("a>b, >b c> c=>a"), "a b c").unwrap();
        for (y, fault) in [
            (&[0, 2, 0][..], None),
            (&[0, 1], Some(1)),
            (&[1], Some(0)),
            (&[0, 2], Some(2)),
            (&[0, 2, 2, 0], Some(2)),
            (&[0, 0], None),
        ] {
            assert_eq!(found.first_fault(y), fault, "{y:?}");
        }
        let odd = rule(json!(["a>>b", "=>=> =>"]), "a >b =>").err();
        assert!(odd.unwrap().contains("`=>=> =>`"), "a blank is no part of a list's names");
        assert!(rule(json!(["a>>b", ">=>"]), "a >b =>").is_ok_and(|rule| rule.first_fault(&[0, 1]) == Some(1)));
        for steps in [json!("a>d"), json!(">"), json!("a"), json!("BIO"), json!("=>"), json!(["a >b"])] {
            assert!(rule(steps.clone(), "a b c").unwrap_err().contains("expected bio, bioes"), "{steps}");
        }
    }

    /// Lengths that no labelling has are found, however the rule turns.
    #[test]
    fn impossible_lengths() {
        let length = |steps: serde_json::Value, most| rule(steps, "a b").unwrap().impossible(most);
        assert_eq!(length(json!(["a=>b", "b=>a", "b>a"]), 3), [1, 2, 3], "b leads nowhere, a to b alone");
        assert_eq!(length(json!([">b", "a>a", "b>b", "a>"]), 5), [1, 3, 5]);
        assert!(length(json!([">b", "a>a", "b>b", "b>"]), 1).is_empty());
        assert_eq!(length(json!([">b", "a>a", "b>b", "b>"]), 4), [2, 4]);
        assert_eq!(length(json!(["a>a", "a>b", "b>a", "b>b"]), 4), [2, 3, 4]);
        assert!(length(json!([]), 1_000_000).is_empty());
    }
}
