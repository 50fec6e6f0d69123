//! An evaluation, with a model's scores label by label, as text for a terminal of 80 columns and as JSON.

use multiplane::Problem;
use multiplane::metrics::{ChunkReport, ClassScore, Evaluation, LabelReport, MeanScore, Unit};
use multiplane_lab::numbers::number;
use serde_json::{Value, json};

use crate::terminal::on_one_line;

/// Confusions that are printed, at most.
const MOST_CONFUSIONS: usize = 10;

/// Labels of a confusion matrix, at most; of more the pairs that were met say all.
const MOST_IN_MATRIX: usize = 1000;

/// Writes an evaluation as an object.
pub fn json(problem: &dyn Problem, evaluation: &Evaluation, report: Option<&LabelReport>) -> Value {
    let mut json = json!({ "task": problem.task(), "n": evaluation.n, "loss": evaluation.loss });
    if problem.predictor().unlabelled() > 0 {
        json["unlabelled"] = json!(problem.predictor().unlabelled());
    }
    for (metric, value) in &evaluation.metrics {
        json[metric.name] = match metric.unit {
            Unit::Count => json!(*value as u64),
            Unit::Share => json!(value),
        };
    }
    if let Some(report) = report {
        json["report"] = labels_json(report);
    }
    json
}

/// Writes an evaluation for people.
pub fn text(problem: &dyn Problem, evaluation: &Evaluation, report: Option<&LabelReport>) -> String {
    let mut text = format!("{} on {} examples\n", problem.task(), evaluation.n);
    let loss = evaluation.loss.map_or("unknown".into(), number);
    text += &format!("  {:<22}{loss}\n", "mean task loss");
    evaluation.lines.iter().for_each(|(what, much)| text += &format!("  {what:<22}{much}\n"));
    text + &report.map_or(String::new(), labels_text)
}

/// The report as an object.
fn labels_json(report: &LabelReport) -> Value {
    let (names, sets) = (report.names(), report.is_of_sets());
    let label = |(name, score): (&String, &ClassScore)| {
        json!({
            "label": name,
            "precision": score.precision(),
            "recall": score.recall(),
            "f1": score.f1(),
            "iou": score.iou(),
            "support": score.support,
            "predicted": score.predicted,
            "correct": score.correct,
        })
    };
    let mean = |mean: MeanScore| json!({ "precision": mean.precision, "recall": mean.recall, "f1": mean.f1 });
    let mistake = |(truth, predicted, count): (&str, &str, u64)| json!({ "truth": truth, "predicted": predicted, "count": count });
    json!({
        "variables": report.variables(),
        "labels": names.iter().zip(&report.scores()).map(label).collect::<Vec<_>>(),
        "micro": report.micro_mean().map(mean),
        "macro": mean(report.macro_mean()),
        "weighted": mean(report.weighted_mean()),
        "confusion": (!sets && names.len() <= MOST_IN_MATRIX).then(|| report.confusion()),
        "confusions": (!sets).then(|| report.mistakes().into_iter().map(mistake).collect::<Vec<_>>()),
        "chunks": report.chunks(false).map(|chunks| chunks_json(report, &chunks)),
    })
}

fn chunks_json(report: &LabelReport, chunks: &ChunkReport) -> Value {
    let score = |score: &ClassScore| {
        json!({
            "chunks": score.support,
            "predicted": score.predicted,
            "correct": score.correct,
            "precision": score.precision(),
            "recall": score.recall(),
            "f1": score.f1(),
        })
    };
    let of_type = |(name, of_type): &(String, ClassScore)| {
        let mut json = score(of_type);
        json["type"] = json!(name);
        json
    };
    let mut json = score(&chunks.all);
    json["tokens"] = json!(report.variables());
    json["accuracy"] = json!(report.accuracy());
    json["scheme"] = json!(chunks.scheme);
    let types = |chunks: &ChunkReport| chunks.types.iter().map(of_type).collect();
    json["types"] = types(chunks);
    json["strict"] = report.chunks(true).map_or(Value::Null, |strict| {
        let mut json = score(&strict.all);
        json["types"] = types(&strict);
        json
    });
    json
}

/// The report for people: labels that truth or prediction have, the most frequent mistakes, and chunks as the script
/// conlleval prints them.
fn labels_text(report: &LabelReport) -> String {
    let scores = report.scores();
    let names: Vec<String> = report.names().iter().map(|name| on_one_line(name)).collect();
    let met = || names.iter().zip(&scores).filter(|(_, score)| score.support + score.predicted > 0);
    let width = met().map(|(name, _)| name.chars().count()).max().unwrap_or(0).clamp("weighted mean".len(), 30);
    let mut text =
        format!("\n  {:width$} {:>10} {:>10} {:>10} {:>10}\n", "label", "precision", "recall", "F1", "support");
    let mut line = |name: &str, [precision, recall, f1]: [f64; 3], support: u64| {
        text += &format!("  {name:width$} {precision:>10.4} {recall:>10.4} {f1:>10.4} {support:>10}\n");
    };
    for (name, score) in met() {
        line(name, [score.precision(), score.recall(), score.f1()], score.support);
    }
    let all = report.micro_mean().map(|micro| ("all labels", micro));
    for (name, mean) in
        all.into_iter().chain([("mean", report.macro_mean()), ("weighted mean", report.weighted_mean())])
    {
        line(name, [mean.precision, mean.recall, mean.f1], report.variables());
    }
    let mistakes = report.mistakes();
    if !mistakes.is_empty() {
        text += "\n  most frequent mistakes (truth -> prediction)\n";
    }
    for (truth, predicted, count) in mistakes.iter().take(MOST_CONFUSIONS) {
        text += &format!("  {count:>10}  {} -> {}\n", on_one_line(truth), on_one_line(predicted));
    }
    if let Some(more) = mistakes.len().checked_sub(MOST_CONFUSIONS).filter(|more| *more > 0) {
        text += &format!("  {:>10}  {more} other pairs (--json lists all)\n", "...");
    }
    text + &report.chunks(false).map_or(String::new(), |chunks| format!("\n{}", conlleval(report, &chunks)))
}

/// Prints as the script conlleval of the CoNLL shared tasks does.
fn conlleval(report: &LabelReport, ChunkReport { all, types, .. }: &ChunkReport) -> String {
    let shares = |score: &ClassScore| {
        let [precision, recall, f1] = [score.precision(), score.recall(), score.f1()].map(|share| 100.0 * share);
        format!("precision: {precision:6.2}%; recall: {recall:6.2}%; FB1: {f1:6.2}")
    };
    let mut text = format!(
        "processed {} tokens with {} phrases; found: {} phrases; correct: {}.\naccuracy: {:6.2}%; {}\n",
        report.variables(),
        all.support,
        all.predicted,
        all.correct,
        100.0 * report.accuracy(),
        shares(all)
    );
    for (name, score) in types {
        text += &format!("{:>17}: {}  {}\n", on_one_line(name), shares(score), score.predicted);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the script's own documentation: fixed columns, types in order, the number found at the end.
    #[test]
    fn conlleval_by_hand() {
        let names = ["B-NP", "B-VP", "I-NP", "O"].map(str::to_owned);
        let mut report = LabelReport::new(names.to_vec()).with_chunks();
        report.add(&[0, 2, 3, 1], &[0, 2, 1, 1]);
        let text = labels_text(&report);
        let expected = "
processed 4 tokens with 2 phrases; found: 3 phrases; correct: 2.
accuracy:  75.00%; precision:  66.67%; recall: 100.00%; FB1:  80.00
               NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
               VP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.contains("           1  O -> B-VP\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let json = labels_json(&report);
        assert_eq!(json["confusion"], json!([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]));
        assert_eq!(json["chunks"]["types"][1]["type"], "VP");
        assert_eq!((&json["chunks"]["scheme"], &json["chunks"]["strict"]["correct"]), (&json!("BIO"), &json!(2)));
    }
}
