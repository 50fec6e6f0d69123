//! Advice to a user about the scale of features: before a run that it would make slow, after one that it made
//! impossible.

use multiplane_core::run::{GapTarget, StopReason};
use multiplane_infer::file::quote;
use multiplane_tasks::builtin::unused_columns::used_columns;
use multiplane_tasks::problem::FeatureSizes;

use super::open::Session;
use super::summary::{SlackCost, Summary};
use crate::spec::Lambda;

/// `|x|^2 / (lambda n)` from which on convergence is slow. Of the data tried, USPS, whose pixels are within -1 and 1,
/// has 213 at lambda = 1/n and converges at once; letter (0 to 15) has 697 and does not.
const SLOW: f64 = 300.0;

/// How much smaller scaling must make `|x|^2` to be worth a hint; it is 1 for features that are 0 or 1.
const WORTH: f64 = 30.0;

/// `parts * |x|^2 / (lambda n)`, a bound on R for examples of many parts, from which on their length makes convergence
/// slow. Of 50 000 noisy tokens, sequences of 100 (1e6) reach 1 % in 27 passes, sequences of 1000 (1e8) not in 1500.
const LONG: f64 = 1e6;

/// A feature that is so many times larger than the median one spans too much for 64 bits.
const WIDE: f64 = 1e6;

/// If less than this share of a search's answers is proven to be the best, their bounds are what keeps a gap open.
const PROVEN: f64 = 0.9;

/// Features that are named at most.
const NAMED: usize = 3;

/// If the training loss is no more than this share of the mean of the largest losses, the data are learned by heart.
const FITTED: f64 = 0.01;

/// If the primal value is no less than this share of that of w = 0, next to nothing is learned.
const IDLE: f64 = 0.9;

/// From so many examples on there is something to divide.
const FEW: usize = 20;

/// Examples from which on a look at all that carry weight takes its time.
const MANY: usize = 1000;

/// If weights of examples are so much larger or smaller than 1 in the mean, they were not meant as copies.
const ODD: f64 = 1e6;

/// Beside bounds that agree so far, nothing of the gap is known but rounding.
const TINY: f64 = 1e-9;

/// How a parameter is set where the message is read: its dotted name and the value, as one writes them there.
pub type Setting = fn(&str, &str) -> String;

/// Hints and warnings of a session, in the words of the place where they are read.
pub struct Advice<'a> {
    session: &'a Session,
    set: Setting,
}

impl Session {
    /// Returns what there is to advise; `set` says how a parameter is set.
    pub fn advice(&self, set: Setting) -> Advice<'_> {
        Advice { session: self, set }
    }

    /// Returns if a training loss can lead to a hint about lambda.
    pub(super) fn wants_lambda_hint(&self) -> bool {
        let is_built_in = self.spec().task_entry().is_ok_and(|entry| !entry.is_program);
        self.spec().lambda == Lambda::OneOverN && is_built_in && self.problem().blocks() >= FEW && self.test().is_none()
    }
}

impl Advice<'_> {
    /// Returns hints of what would make a run faster.
    pub fn before(&self) -> Vec<String> {
        [self.length().or_else(|| self.scale()), self.kernel()].into_iter().flatten().collect()
    }

    /// Returns warnings of what is wrong with the gap of a run.
    pub fn warnings(&self, summary: &Summary) -> Vec<String> {
        [self.rounding(summary), self.gap(summary)].into_iter().flatten().collect()
    }

    /// Returns what to do, where examples are so long that it makes the run slow.
    fn length(&self) -> Option<String> {
        let layout = self.session.problem().layout();
        let (n, square) = (self.session.problem().blocks(), layout.feature_sizes()?.mean_square);
        let parts = (0..n).filter_map(|i| Some(layout.rows(i)?.len())).sum::<usize>() as f64 / n as f64;
        let scale = self.session.lambda() * n as f64;
        let is_long = parts * square >= LONG * scale && square < SLOW * scale * parts;
        is_long.then(|| {
            format!(
                "an example has {parts:.0} parts in the mean, and a plane sums up their features, which makes training \
                 slow at this lambda; shorter examples or a larger lambda take fewer passes"
            )
        })
    }

    /// Returns what to do, where the features should be scaled (`task.scale`) as that would make the run much faster.
    fn scale(&self) -> Option<String> {
        let sizes = self.ill_scaled()?;
        let widest = sizes.greatest().first().copied()?;
        let effect = match is_wide(&sizes, widest) {
            true => {
                "more than 64-bit numbers hold beside the others: training is slow, and its gap may be lost in rounding"
            }
            false => "which makes training slow",
        };
        Some(format!(
            "features are as large as {} (feature {}; in the median {}), {effect}; {}",
            short(sizes.largest[widest]),
            self.feature_name(widest),
            short(sizes.median()),
            self.scale_advice()?
        ))
    }

    /// Returns the name of a feature: of its column if that has one, else its number in the file.
    fn feature_name(&self, feature: usize) -> String {
        let vocabulary = self.session.problem().vocabulary();
        let names = vocabulary.dictionary.as_ref().filter(|names| feature < names.len());
        match (used_columns(vocabulary), names) {
            (Some((_, used)), _) => used.get(feature).map_or(feature + 1, |&column| column as usize + 1).to_string(),
            (None, Some(names)) => quote(names.get(feature as u32)), // a dictionary is counted in 32 bits
            (None, None) => (feature + 1).to_string(),
        }
    }

    /// Names the features that are much larger than most.
    fn wide(&self, sizes: &FeatureSizes) -> String {
        let wide: Vec<usize> = sizes.greatest().into_iter().take_while(|&k| is_wide(sizes, k)).collect();
        let named: Vec<String> = wide
            .iter()
            .take(NAMED)
            .map(|&k| format!("{} (up to {})", self.feature_name(k), short(sizes.largest[k])))
            .collect();
        let more = if wide.len() > NAMED { format!(" and {} more", wide.len() - NAMED) } else { String::new() };
        let median = short(sizes.median());
        match wide.len() {
            0 => String::new(),
            1 => format!("; feature {} spans too much, the median feature goes up to {median}", named[0]),
            _ => format!("; features {}{more} span too much, the median feature goes up to {median}", named.join(", ")),
        }
    }

    /// Returns the sizes of features whose scale makes runs slow, and which the task could scale.
    fn ill_scaled(&self) -> Option<FeatureSizes> {
        let sizes = self.session.problem().layout().feature_sizes()?;
        let condition = sizes.mean_square / (self.session.lambda() * self.session.problem().blocks() as f64);
        (condition >= SLOW && sizes.mean_square >= WORTH * sizes.scaled_mean_square).then_some(sizes)
    }

    /// Returns what is to be said of a run of this session whose gap is mostly rounding and was not reached.
    fn rounding(&self, summary: &Summary) -> Option<String> {
        let rounding = summary.aside.rounding.filter(|_| summary.stop_reason != StopReason::Gap)?;
        let much = match rounding.is_finite() {
            true => format!("rounding may be as much as {} where bounds were evaluated", short(rounding)),
            false => "rounding has no bound".into(),
        };
        let wide = self.session.problem().layout().feature_sizes().map_or(String::new(), |sizes| self.wide(&sizes));
        let advice =
            self.weight_advice().or_else(|| self.scale_advice()).map_or(String::new(), |advice| format!("; {advice}"));
        Some(format!("64-bit numbers do not suffice here: {much}{wide}{advice}"))
    }

    /// Returns since when a run of this session that ended short of its gap has stood still, and why, as far as there
    /// is evidence for it.
    pub fn standstill(&self, summary: &Summary) -> Option<String> {
        let certificate = &summary.certificate;
        let ended = matches!(summary.stop_reason, StopReason::Passes | StopReason::Calls | StopReason::Seconds);
        let since = summary.aside.still_since.filter(|_| ended && certificate.dual.is_some())?;
        let is_known = certificate.primal.is_finite();
        let least = certificate.gap.filter(|gap| gap.abs() <= TINY * certificate.primal.abs());
        let why = if summary.aside.rounding.is_some() {
            "what is left is lost in rounding".into()
        } else if is_known && !certificate.certified {
            let more = if self.session.spec().stop.estimated {
                ""
            } else {
                ", and an estimated gap ends no run (stop.estimated)"
            };
            format!("some of the oracle's answers are not proven to be the best{more}")
        } else if let Some(slack) = summary.slack.as_ref().filter(|slack| is_unproven(slack)) {
            format!(
                "this gap cannot be closed by more passes, as only {} of {} answers of the search were proven to be the best \
                 (task.rescaling = slack)",
                slack.slack_exact, slack.slack_answers
            )
        } else if least.is_some() {
            "what is left is as small as rounding".into()
        } else if let Some(length) = self.length() {
            length
        } else if let Some(advice) = self.ill_scaled().and_then(|_| self.scale_advice()) {
            format!("features are large for this lambda; {advice}")
        } else {
            "training is slow at this lambda, a larger one takes fewer passes".into()
        };
        Some(format!("dual value and gap have hardly moved since pass {since:.1}: {why}"))
    }

    /// Returns hints of what would predict better, whatever has ended a run but an interrupt.
    pub fn after(&self, summary: &Summary) -> Vec<String> {
        [self.lambda(summary), self.loss()].into_iter().flatten().filter(|_| !is_interrupted(summary)).collect()
    }

    /// Returns what loss to train text with, where none is given.
    fn loss(&self) -> Option<String> {
        let task = &self.session.spec().task;
        let is_text = task.name == "chain" && self.session.problem().vocabulary().dictionary.is_some();
        (is_text && !task.params.contains_key("loss")).then(|| {
            let set = (self.set)("task.loss", "hamming-sum");
            format!(
                "the loss is the share of wrong labels in a sequence; on text {set}, their number, usually tags better"
            )
        })
    }

    /// Returns what lambda to begin with, where the task warns of the default, or where the default fits the training
    /// data too well to generalise.
    fn lambda(&self, summary: &Summary) -> Option<String> {
        if self.session.spec().lambda != Lambda::OneOverN {
            return None;
        }
        let entry = self.session.spec().task_entry().ok()?;
        if let Some(advice) = entry.lambda {
            let set = (self.set)("lambda", "cv");
            let task = &summary.subject.task;
            return Some(format!(
                "lambda = 1/n is small here; for task `{task}` begin with {advice}; {set} chooses one"
            ));
        }
        let zero = summary.aside.primal_at_zero.or(entry.unit_loss.then_some(1.0))?;
        let (train, primal) = (summary.losses.train?, summary.certificate.primal);
        if !self.session.wants_lambda_hint() || summary.losses.test.is_some() {
            return None;
        }
        let is_idle = summary.stop_reason == StopReason::Gap && primal >= IDLE * zero;
        let found = if train <= FITTED * zero {
            let train = short(train);
            format!(
                "the training loss is {train}, next to nothing at lambda = 1/n: a larger lambda usually predicts better"
            )
        } else if is_idle && self.doubt(summary).is_none() {
            let (primal, zero) = (short(primal), short(zero));
            format!(
                "the primal value, {primal}, is hardly below {zero}, the most that w = 0 can have: a lambda below 1/n \
                 may learn more"
            )
        } else {
            return None;
        };
        Some(format!("{found}; {} chooses one, and so does a run without stops", (self.set)("lambda", "cv")))
    }

    /// Returns what is to be said where the gap asked for is one that w = 0 has.
    fn gap(&self, summary: &Summary) -> Option<String> {
        match (self.session.spec().stop.gap, summary.aside.primal_at_zero) {
            (Some(GapTarget::Absolute(gap)), Some(zero)) if gap >= zero => Some(format!(
                "a gap of {gap} is absolute, and any model meets it: the primal value of w = 0 is {}; {gap}% is relative",
                short(zero)
            )),
            _ => None,
        }
    }

    /// Returns a warning if the weights are hardly better than w = 0: w = 0 has a lower primal value, nothing better was
    /// found, or the difference is at most the gap. Not of solvers that do not go by lambda, nor with patience: P is
    /// none of their aims.
    pub fn doubt(&self, summary: &Summary) -> Option<String> {
        let (entry, zero) = (self.session.spec().solver.entry, summary.aside.primal_at_zero);
        let primal = summary.certificate.primal;
        if !entry.minimises || !primal.is_finite() || summary.early_stopping.is_some() {
            return None;
        }
        // Of data with one label that is said already.
        if zero == Some(0.0) && primal == 0.0 && self.session.problem().vocabulary().labels.len() != 1 {
            return Some(
                "w = 0 has the primal value 0, so all weights are 0 and nothing is learned: no labelling was found that has a \
                 loss; does the loss tell wrong labellings from the truth?"
                    .into(),
            );
        }
        // Who has interrupted a run knows that it is short of its end.
        if zero == Some(0.0) || self.gap(summary).is_some() || is_interrupted(summary) {
            return None;
        }
        let is_reached = summary.stop_reason == StopReason::Gap;
        let advice = match is_reached {
            true => "where no label has a majority the hinge can do no better: look at held-out data",
            false => "more passes or a larger lambda bring it down",
        };
        if summary.aside.is_zero {
            return Some(format!(
                "nothing better than w = 0 was found, so all weights are 0, and the primal value is {}; {advice}",
                short(primal)
            ));
        }
        let zero = zero?;
        if let Some(multiple) = summary.aside.multiple {
            let these = match multiple < 1.0 {
                true => format!("these weights are {} times the best, and predict as it does", short(multiple)),
                false => "these weights are the best".into(),
            };
            return Some(format!(
                "no iterate was better than w = 0, whose primal value is {}: {these}; {advice}",
                short(zero)
            ));
        }
        if is_reached && summary.certificate.gap.is_some_and(|gap| (0.0..=gap).contains(&(zero - primal))) {
            let (primal, zero) = (short(primal), short(zero));
            return Some(format!(
                "the primal value is {primal}; w = 0 has {zero}, which is higher by less than the gap: look at held-out \
                 data, or ask for a smaller gap"
            ));
        }
        if !is_reached && summary.lower_at_zero().is_some() {
            let why = match entry.is_online {
                true => format!(
                    "they are the latest, as solver `{}` learns online, and far from the optimum; {advice}",
                    entry.name
                ),
                false => "too few rows carry weight (task.kernel_budget)".into(),
            };
            let (primal, zero) = (short(primal), short(zero));
            return Some(format!("the primal value of these weights is {primal}, and w = 0 has {zero}: {why}"));
        }
        None
    }

    /// Returns what would make the run faster, where the solver is slow without a kernel and the task has one.
    fn kernel(&self) -> Option<String> {
        let spec = self.session.spec();
        // Measured where an example has one plane.
        spec.task_entry().ok().filter(|entry| entry.shares_table)?;
        let kernel = spec.task.params.get("kernel")?;
        let is_none = kernel.get("name").unwrap_or(kernel) == "none";
        let is_slow = is_none && spec.solver.config.prefers_kernels();
        (is_slow && self.session.problem().blocks() >= MANY).then(|| {
            format!(
                "after every step solver `{}` scores all examples with weight anew, feature by feature; with {} a step costs \
                 one number of each, which is faster where examples have more than a few features",
                spec.solver.entry.name,
                (self.set)("task.kernel", "linear")
            )
        })
    }

    /// Returns what to do where the weights of examples make lambda what it is: a number that nobody meant.
    fn weight_advice(&self) -> Option<String> {
        let (sum, n) = (self.session.problem().facts().total_weight, self.session.problem().blocks() as f64);
        let goes_by_sum = matches!(self.session.spec().lambda, Lambda::OneOverN | Lambda::FromC(_));
        let is_odd = goes_by_sum && !(1.0 / ODD..ODD).contains(&(sum / n));
        is_odd.then(|| {
            format!(
                "the weights of the examples sum up to {sum:.2e}, and lambda, which goes by this sum, is {:.2e}: divide them by \
                 their mean, or give lambda as a number",
                self.session.lambda()
            )
        })
    }

    /// Returns what to do about features of different sizes, where there is something left to do.
    fn scale_advice(&self) -> Option<String> {
        self.session.problem().layout().feature_sizes()?;
        let helps = (self.set)("task.scale", "max-abs");
        match self.session.spec().task.params.get("scale").and_then(|scale| scale.as_str()) {
            Some("max-abs") => None,
            Some("standard") => Some(format!(
                "task.scale=standard does not centre, so what varies little beside its size stays large: use {helps}"
            )),
            _ => Some(format!("scale them by {helps}")),
        }
    }
}

fn is_interrupted(summary: &Summary) -> bool {
    summary.stop_reason == StopReason::Interrupt
}

/// Returns true if so few answers of a search were proven to be the best that its bounds are the gap.
fn is_unproven(slack: &SlackCost) -> bool {
    (slack.slack_exact as f64) < PROVEN * slack.slack_answers as f64
}

/// Returns true if a feature is much larger than most.
fn is_wide(sizes: &FeatureSizes, feature: usize) -> bool {
    sizes.largest[feature] > WIDE * sizes.median()
}

/// Three digits are enough to see an order of magnitude.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&value.abs()) {
        format!("{:.3}", value).trim_end_matches('0').trim_end_matches('.').into()
    } else {
        format!("{value:.2e}")
    }
}
