//! What may be asked of examples beside the best labelling: the M best ones, and how sure each label is.

/// Most labellings of an example that are listed.
pub const MOST_LISTED: usize = 100_000;

/// The best labellings of one example.
#[derive(Clone, Debug, PartialEq)]
pub struct TopPrediction {
    /// The best first, all different; fewer than asked for where the example has no more. The first is the prediction.
    pub labellings: Vec<ScoredLabelling>,
    /// Whether these are proven to be the best.
    pub exact: bool,
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

/// How sure the labels of one example are.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginPrediction {
    /// The prediction as text, one line.
    pub text: String,
    /// Numbers of its labels, variable by variable.
    pub numbers: Vec<u32>,
    /// How many labels each variable has.
    pub counts: Vec<usize>,
    /// Variable by variable, the highest score of a labelling that has each label there.
    pub max_marginals: Vec<f64>,
}

impl MarginPrediction {
    /// Returns, by variable, how much higher the prediction scores than the best labelling with another label there; at
    /// least 0, and infinite where there is no other label.
    ///
    /// ```
    /// use multiplane_tasks::problem::MarginPrediction;
    /// let found = MarginPrediction {
    ///     text: "a b c".into(),
    ///     numbers: vec![0, 1, 0],
    ///     counts: vec![2, 3, 1],
    ///     max_marginals: vec![5.0, 4.5, 1.0, 5.0, 3.0, 5.0],
    /// };
    /// assert_eq!(found.margins(), [0.5, 2.0, f64::INFINITY]);
    /// ```
    pub fn margins(&self) -> Vec<f64> {
        let mut rest = &self.max_marginals[..];
        let margin = |(&count, &number): (&usize, &u32)| {
            let (own, after) = rest.split_at(count);
            rest = after;
            let others = own.iter().enumerate().filter(|(label, _)| *label != number as usize);
            let best = others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            (own[number as usize] - best).max(0.0) // rounding may make ties less
        };
        self.counts.iter().zip(&self.numbers).map(margin).collect()
    }
}
