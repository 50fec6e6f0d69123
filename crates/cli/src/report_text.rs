//! A model laid open as text for a terminal of 80 columns, or fewer.

use multiplane::model_report::{ElementName, LabelWeights, ModelReport, NamedWeight, TableReport, readable};
use multiplane_lab::numbers::number;
use serde_json::Value;

use crate::terminal::on_one_line;

/// Columns of a terminal.
const WIDTH: usize = 80;

/// Characters of a name that are shown; most names are far shorter.
const LONGEST_NAME: usize = 50;

/// Characters of a parameter's value that are shown: a cost matrix is longer.
const LONGEST_VALUE: usize = 200;

/// Labels whose weights are printed, and names of labels; programs get all.
const MOST_LABELS: usize = 50;

/// The text; `with_weights` unless it speaks of several models at once.
pub(crate) fn text(look: &ModelReport, with_weights: bool, columns: Option<usize>) -> String {
    let most = columns.map_or(WIDTH, |columns| columns.min(WIDTH));
    let mut text = format!("{} trained on {} examples, {} weights\n", on_one_line(&look.task), look.n, look.d);
    let mut fact = |name: &str, items: Vec<String>| text += &wrapped(&format!("  {name:<9}"), 11, &items, " ", most);
    if !look.features.labels.is_empty() {
        let shown = look.features.labels.iter().take(MOST_LABELS).map(|label| on_one_line(label));
        let more = look.features.labels.len().saturating_sub(MOST_LABELS);
        let more = (more > 0).then(|| format!("... and {more} more (--json lists all)"));
        fact("labels", [format!("{}:", look.features.labels.len())].into_iter().chain(shown).chain(more).collect());
    }
    if look.features.features > 0 {
        fact("features", words(&features(look)));
    }
    if let (Some(kernel), Some(rows)) = (&look.features.kernel, look.features.support_vectors) {
        fact("kernel", words(&format!("{}; {rows} rows carry weight", fields(kernel))));
    }
    fact("solver", words(&on_one_line(look.solver.as_deref().unwrap_or("unknown"))));
    if !look.changed.is_empty() {
        let clipped = |value: String| match value.char_indices().nth(LONGEST_VALUE) {
            Some((end, _)) => format!("{}... (--json has all)", &value[..end]),
            None => value,
        };
        let shown = |(key, value): (&String, &Value)| format!("{key}={}", clipped(plain(value)));
        fact("changed", look.changed.iter().map(shown).collect());
    }
    let lambda = match &look.lambda_given {
        Value::String(given) => format!("{} ({})", number(look.lambda), on_one_line(given)),
        _ => number(look.lambda),
    };
    if with_weights {
        fact("lambda", words(&lambda));
    }
    fact("seed", words(&format!("{}, clock {}", plain(&look.seed), plain(&look.clock))));
    if !look.stop.is_empty() {
        fact("stops", look.stop.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect());
    }
    fact("version", words(&on_one_line(&look.version)));
    fact("data", words(&format!("sha256 {}...", on_one_line(&look.fingerprint).chars().take(16).collect::<String>())));
    if with_weights {
        certificate(look, &mut fact);
        fact("nonzero", words(&format!("{} of {} weights", look.nonzero, look.d)));
        look.tables.iter().for_each(|table| text += &of_table(table, most));
    }
    text
}

/// Describes the features.
fn features(look: &ModelReport) -> String {
    let named = if look.features.named_features { ", by name" } else { "" };
    let template = match &look.features.template {
        Some(Value::Array(items)) => {
            format!(", of templates {}", items.iter().map(plain).collect::<Vec<_>>().join(" "))
        }
        _ => String::new(),
    };
    let scaled = if look.features.scaled { "; divided by their scale before weights apply" } else { "" };
    format!("{}{named}{template}{scaled}", look.features.features)
}

/// The bounds, or why there are none.
fn certificate(look: &ModelReport, fact: &mut impl FnMut(&str, Vec<String>)) {
    let bounds = &look.certificate;
    if bounds.primal.is_finite() {
        fact("primal", words(&number(bounds.primal)));
    }
    if let Some(dual) = bounds.dual {
        fact("dual", words(&number(dual)));
    }
    let proven = match &look.uncertified {
        None => "certified".to_owned(),
        Some(why) => format!("not certified: {why}"),
    };
    let gap = match bounds.gap {
        Some(gap) => {
            let percent = 100.0 * gap / bounds.primal.max(f64::MIN_POSITIVE);
            format!("{} ({percent:.2} % of the primal), {proven}", number(gap))
        }
        None => format!("none, {proven}"),
    };
    fact("gap", words(&gap));
}

fn of_table(table: &TableReport, most: usize) -> String {
    let axes: String = table.axes.iter().map(|axis| format!("[{}]", axis.name)).collect();
    let sizes = table.axes.iter().map(|axis| axis.size.to_string()).collect::<Vec<_>>().join(" x ");
    let mut text = format!("\n{}{axes}, {sizes}: {} of {} not 0\n", table.name, table.nonzero, table.size);
    if let Some(note) = table.note {
        text += &wrapped("  ", 2, &words(note), " ", most);
    }
    let shown = table.by_label.iter().take(MOST_LABELS).filter(|label| !label.strongest.is_empty());
    let names: Vec<String> = shown.clone().map(|label| of_element("label", &label.label)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp("highest".len(), 15);
    let mut line = |name: &str, weights: &[NamedWeight], skip: usize| {
        let weights: Vec<String> = weights.iter().map(|weight| of_weight(weight, skip)).collect();
        text += &wrapped(&format!("  {name:<width$}  "), 4, &weights, ",  ", most);
    };
    if table.by_label.is_empty() {
        if !table.highest.is_empty() {
            line("highest", &table.highest, 0);
        }
        if !table.lowest.is_empty() {
            line("lowest", &table.lowest, 0);
        }
        return text;
    }
    for (LabelWeights { strongest, .. }, name) in shown.zip(&names) {
        line(name, strongest, 1);
    }
    let more = table.by_label.len().saturating_sub(MOST_LABELS);
    if more > 0 {
        text += &format!("  ... and {more} more labels (--json lists all)\n");
    }
    text
}

/// A weight with its places, the first `skip` of them left out.
fn of_weight(weight: &NamedWeight, skip: usize) -> String {
    let axes: Vec<&str> = weight.at.iter().map(|(axis, _)| *axis).collect();
    let places: Vec<String> = weight.at.iter().skip(skip).map(|(axis, name)| of_element(axis, name)).collect();
    let places = match axes[..] {
        [.., "from", "to"] => {
            let (ends, before) = (&places[places.len() - 2..], &places[..places.len() - 2]);
            let before: Vec<&str> = before.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            format!("{}{}", before.iter().map(|name| format!("{name}: ")).collect::<String>(), ends.join(" -> "))
        }
        _ => places.join(" / "),
    };
    format!("{places} {}", number(weight.weight))
}

/// A name; of text features as `template=value|value`.
fn of_element(axis: &str, name: &ElementName) -> String {
    match name {
        ElementName::Number(number) => format!("{axis} {number}"),
        ElementName::Text(text) => {
            let clean = on_one_line(&readable(text));
            match clean.char_indices().nth(LONGEST_NAME) {
                Some((end, _)) => format!("{}...", &clean[..end]),
                None => clean,
            }
        }
    }
}

/// A value as it is typed.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => on_one_line(text),
        other => on_one_line(&other.to_string()),
    }
}

/// A choice and its fields.
fn fields(choice: &Value) -> String {
    let Value::Object(table) = choice else { return plain(choice) };
    let others =
        table.iter().filter(|(key, _)| *key != "name").map(|(key, value)| format!(", {key} = {}", plain(value)));
    format!("{}{}", plain(&choice["name"]), others.collect::<String>())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Items after `first`, divided by `between`, on lines of at most `most` characters where items are no longer than
/// that; lines after the first begin with so many spaces.
fn wrapped(first: &str, indent: usize, items: &[String], between: &str, most: usize) -> String {
    let mut text = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true; // of items
    for (k, item) in items.iter().enumerate() {
        let mark = if k + 1 < items.len() { between.trim_end() } else { "" };
        let space = if is_empty { 0 } else { between.len() - between.trim_end().len() };
        let needed = space + item.chars().count() + mark.len();
        if !is_empty && line.chars().count() + needed > most {
            text += line.trim_end();
            text.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line += &" ".repeat(space);
        }
        line += item;
        line += mark;
        is_empty = false;
    }
    text + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are filled and no longer than a terminal; a long item has a line of its own.
    #[test]
    fn lines_are_filled() {
        let items: Vec<String> = (0..30).map(|k| format!("item{k:02}")).collect();
        let text = wrapped("  name  ", 4, &items, ",  ", WIDTH);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("  name  item00,  item01,") && text.ends_with("item29\n"), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("    item")), "{text}");
        let words: Vec<&str> = text.split([' ', ',', '\n']).filter(|word| word.starts_with("item")).collect();
        assert_eq!(words, items);
        let long = ["a".to_owned(), "b".repeat(100), "c".to_owned()];
        assert_eq!(wrapped("- ", 2, &long, " ", WIDTH).lines().count(), 3);
        assert_eq!(wrapped("- ", 2, &[], " ", WIDTH), "-\n");
    }

    /// Features of text are readable, nothing commands a terminal, and long names are cut between characters.
    #[test]
    fn names_are_readable() {
        let name = |text: &str| of_element("feature", &ElementName::Text(text.into()));
        assert_eq!(name("w[-1]|w[0]\tthe\tdog"), "w[-1]|w[0]=the|dog");
        assert_eq!(name("a\nb\u{1b}[31m"), "a\\nb\\u001b[31m");
        assert_eq!(name(&"é".repeat(60)), format!("{}...", "é".repeat(LONGEST_NAME)));
        assert_eq!(of_element("row", &ElementName::Number(7)), "row 7");
        let at = |names: &[(&'static str, &str)]| NamedWeight {
            at: names.iter().map(|&(axis, name)| (axis, ElementName::Text(name.into()))).collect(),
            index: 0,
            weight: -0.5,
        };
        assert_eq!(of_weight(&at(&[("type", ""), ("from", "A"), ("to", "B")]), 0), "A -> B -0.5");
        assert_eq!(of_weight(&at(&[("type", "up"), ("from", "A"), ("to", "B")]), 0), "up: A -> B -0.5");
        assert_eq!(of_weight(&at(&[("label", "A"), ("feature", "f")]), 1), "f -0.5");
    }
}
