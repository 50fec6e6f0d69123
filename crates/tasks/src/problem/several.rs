//! Questions about examples besides the best labelling: the M best ones, and how sure each label is.

/// Most labellings of an example that are listed.
pub const MOST_LISTED: usize = 100_000;

/// The best labellings of one example.
#[derive(Clone, Debug, PartialEq)]
pub struct TopPrediction {
    /// The best first, all different; fewer than asked for where the example has no more. The first is the prediction.
    pub labellings: Vec<ScoredLabelling>,
    /// True if these are proven to be the best.
    pub exact: bool,
    /// Numbers of the labels of the truth, if one is known.
    pub truth: Option<Vec<u32>>,
}

/// A labelling with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredLabelling {
    /// As text, one line.
    pub text: String,
    /// Numbers of the labels, variable by variable.
    pub numbers: Vec<u32>,
    /// `<w, phi(x, y)>`, with what is added that has no weights.
    pub score: f64,
}

/// How probable the labels of one example are, if `p(y)` is proportional to `e^score(y)`.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginalPrediction {
    /// How many labels each variable has.
    pub counts: Vec<usize>,
    /// Variable by variable, the probability of each label; they sum to 1.
    pub probabilities: Vec<f64>,
}

/// How sure the labels of one example are.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginPrediction {
    /// The prediction as text, one line.
    pub text: String,
    /// Numbers of its labels, variable by variable.
    pub numbers: Vec<u32>,
    /// How many labels each variable has.
    pub counts: Vec<usize>,
    /// Variable by variable, the highest score of a labelling that has each label there, or an upper bound on it.
    pub max_marginals: Vec<f64>,
    /// The score of the prediction if these are upper bounds; nothing if they are exact.
    pub score: Option<f64>,
    /// Numbers of the true labels; nothing where no label is known. An unknown one has no max-marginal.
    pub truth: Option<Vec<u32>>,
}

/// Takes the max-marginals of an example.
pub type EachMargin<'a> = &'a mut dyn FnMut(MarginPrediction);

/// The best rival of a true label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// The variable.
    pub variable: usize,
    /// The true label, and the label beside it of the highest max-marginal, of equals the lowest.
    pub labels: [u32; 2],
    /// The max-marginal of the rival less that of the true label: above 0 where the model prefers the rival.
    pub lead: f64,
}

impl MarginPrediction {
    /// Returns, by variable, how much higher the prediction scores than the best labelling with another label there; at
    /// least 0, and infinite where there is no other label. Where max-marginals are upper bounds, these are lower
    /// bounds, and below 0 if such a labelling might be better.
    ///
    /// ```
    /// use multiplane_tasks::problem::MarginPrediction;
    /// let found = MarginPrediction {
    ///     text: "a b c".into(),
    ///     numbers: vec![0, 1, 0],
    ///     counts: vec![2, 3, 1],
    ///     max_marginals: vec![5.0, 4.5, 1.0, 5.0, 3.0, 5.0],
    ///     score: None,
    ///     truth: None,
    /// };
    /// assert_eq!(found.margins(), [0.5, 2.0, f64::INFINITY]);
    /// ```
    pub fn margins(&self) -> Vec<f64> {
        let margin = |(own, number): (&[f64], u32)| {
            let best = others(own, number).map(|(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
            match self.score {
                None => (own[number as usize] - best).max(0.0), // rounding may make ties less
                Some(score) => score - best,
            }
        };
        self.variables().map(margin).collect()
    }

    /// Returns, by variable, the label of the best labelling with another label there, of equals the lower; `None`
    /// where there is no other label.
    ///
    /// ```
    /// use multiplane_tasks::problem::MarginPrediction;
    /// let found = MarginPrediction {
    ///     text: "a b c".into(),
    ///     numbers: vec![0, 1, 0],
    ///     counts: vec![2, 4, 1],
    ///     max_marginals: vec![5.0, 4.5, 1.0, 5.0, 3.0, 3.0, 5.0],
    ///     score: None,
    ///     truth: None,
    /// };
    /// assert_eq!(found.runners_up(), [Some(1), Some(2), None]);
    /// ```
    pub fn runners_up(&self) -> Vec<Option<u32>> {
        self.variables().map(|(own, number)| Some(best_other(own, number)?.0)).collect()
    }

    /// Returns the best rival of every true label that the model knows and that has one, variable by variable.
    ///
    /// ```
    /// use multiplane_tasks::problem::{MarginPrediction, Rival};
    /// let found = MarginPrediction {
    ///     text: "a b".into(),
    ///     numbers: vec![0, 1],
    ///     counts: vec![2, 3],
    ///     max_marginals: vec![5.0, 4.5, 1.0, 5.0, 3.0],
    ///     score: None,
    ///     truth: Some(vec![7, 2]),
    /// };
    /// assert_eq!(found.rivals(), [Rival { variable: 1, labels: [2, 1], lead: 2.0 }]);
    /// ```
    pub fn rivals(&self) -> Vec<Rival> {
        let truth = self.truth.iter().flatten().enumerate();
        let rival = |((variable, &label), (own, _)): ((usize, &u32), (&[f64], u32))| {
            let (other, score) = best_other(own, label)?;
            Some(Rival { variable, labels: [label, other], lead: score - own.get(label as usize)? })
        };
        truth.zip(self.variables()).filter_map(rival).collect()
    }

    /// The max-marginals of every variable, with its label.
    fn variables(&self) -> impl Iterator<Item = (&[f64], u32)> {
        let mut rest = &self.max_marginals[..];
        self.counts.iter().zip(&self.numbers).map(move |(&count, &number)| {
            let (own, after) = rest.split_at(count);
            rest = after;
            (own, number)
        })
    }
}

/// Returns the label other than `number` of the highest max-marginal, of equals the lowest, with it.
fn best_other(own: &[f64], number: u32) -> Option<(u32, f64)> {
    let better = |best: Option<(u32, f64)>, other: (u32, f64)| match best {
        Some(best) if best.1 >= other.1 => Some(best),
        _ => Some(other),
    };
    others(own, number).fold(None, better)
}

/// The max-marginals of other labels.
fn others(own: &[f64], number: u32) -> impl Iterator<Item = (u32, f64)> {
    (0..).zip(own.iter().copied()).filter(move |&(label, score)| label != number && score > f64::NEG_INFINITY)
}
