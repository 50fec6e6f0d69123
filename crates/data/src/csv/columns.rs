//! Columns of a table to leave out, and the label's: as users ask for them, by name or number, or as a
//! model tells.

use multiplane_infer::file::{DataError, quote};

use crate::rules::{Column, ReadRules};
use crate::text::Line;

/// The columns that are left out, in ascending order, each once: all of a name.
///
/// If a model or training data know the features by name, missing columns need not be left out; users alone must
/// name what is there.
pub(super) fn ignored_columns(
    line: &Line<'_>,
    names: Option<&[&str]>,
    width: usize,
    rules: &ReadRules,
) -> Result<Vec<usize>, DataError> {
    let known = rules.names.as_ref().filter(|_| names.is_some());
    let may_lack = known.is_some() && (rules.ignored_by_model || !rules.unlabelled);
    let is_feature = |column: usize| names.zip(known).is_some_and(|(names, known)| known.find(names[column]).is_some());
    let mut columns = Vec::new();
    for Column(asked) in &rules.ignored {
        let named = names.unwrap_or_default().iter().enumerate().filter(|(_, own)| *own == asked);
        let before = columns.len();
        columns.extend(named.map(|(column, _)| column));
        if columns.len() == before {
            match column_of(asked, width) {
                // A number counts columns of the training data, which may come in another order.
                Some(column) if may_lack && is_feature(column) => {}
                Some(column) => columns.push(column),
                None if may_lack => {}
                None => return Err(no_column(line, asked, "data.ignore", names, width)),
            }
        }
    }
    columns.sort_unstable();
    columns.dedup();
    match rules.features.filter(|_| rules.ignored_by_model && known.is_none()) {
        Some(features) if (features..=features + 1).contains(&width) => {
            let without = width - columns.len();
            if without < features {
                return Ok(Vec::new()); // they are left out already
            }
            let asked: Vec<&str> = rules.ignored.iter().map(|column| column.0.as_str()).collect();
            let found =
                format!("found {width} columns, and the model has {features} features and was trained without others");
            let rule = format!("say whether these are here: data.ignore={}, or data.ignore=[]", asked.join(","));
            Err(line.error(line.text.len(), format!("{found}: {rule}")))
        }
        _ => Ok(columns),
    }
}

/// The columns that are left out by their numbers.
pub(super) fn ignored_numbers(width: usize, rules: &ReadRules) -> Vec<usize> {
    rules.ignored.iter().filter_map(|Column(asked)| column_of(asked, width)).collect()
}

/// The column of the label, from 0; `None` where there is none. All columns are counted; those `ignored` are none of
/// it.
pub(super) fn label_column(
    line: &Line<'_>,
    names: Option<&[&str]>,
    width: usize,
    ignored: &[usize],
    rules: &ReadRules,
) -> Result<Option<usize>, DataError> {
    let is_kept = |column: &usize| ignored.binary_search(column).is_err();
    let asked = rules.label_column.as_ref().map(|column| column.0.as_str());
    let named = |name: &str| names.and_then(|names| names.iter().position(|own| *own == name));
    let numbered = asked.and_then(|asked| column_of(asked, width));
    if let (Some(asked), Some(column)) = (asked, asked.and_then(named).or(numbered))
        && !is_kept(&column)
    {
        let found = format!("found column {} as data.label_column and among data.ignore", quote(asked));
        return Err(line.error(0, format!("{found}, expected one of both")));
    }
    if let Some(column) = asked.and_then(named) {
        return Ok(Some(column));
    }
    let kept = width - ignored.len();
    // Where columns go by their names, the label is the one that is no feature, wherever it stands; not in the place
    // of one that was asked for and is not there.
    let may_stray = asked.is_none() || numbered.is_some();
    if let (Some(names), Some(known), true) = (names, &rules.names, may_stray) {
        let strangers: Vec<usize> =
            (0..width).filter(is_kept).filter(|&column| known.find(names[column]).is_none()).collect();
        match strangers[..] {
            [only] => return Ok(Some(only)),
            [_, _, ..] if asked.is_none() && kept - strangers.len() == known.len() => {
                let some: Vec<String> = strangers.iter().take(20).map(|&column| quote(names[column])).collect();
                let (some, more) = (some.join(", "), if strangers.len() > 20 { ", ..." } else { "" });
                let rule = "expected one at most, the label: name it by data.label_column, and leave others out by \
                            data.ignore";
                let found = format!("found columns {some}{more} that the model was not trained on");
                return Err(line.error(0, format!("{found}, {rule}")));
            }
            [] if asked.is_none() && !rules.unlabelled && kept == known.len() => {
                let rule = "expected one beside the columns of the features";
                return Err(line.error(line.text.len(), format!("found no column of labels, {rule}")));
            }
            _ => {}
        }
    }
    // As many columns as the model has features: the label is not there.
    if rules.unlabelled && rules.features == Some(kept) {
        return Ok(None);
    }
    let Some(asked) = asked else { return Ok((0..width).rev().find(is_kept)) };
    numbered.map(Some).ok_or_else(|| no_column(line, asked, "data.label_column", names, width))
}

/// Returns the error for a missing column that a parameter names.
fn no_column(line: &Line<'_>, asked: &str, parameter: &str, names: Option<&[&str]>, width: usize) -> DataError {
    let found = format!("found no column {} ({parameter})", quote(asked));
    if let Some(meant) = names.and_then(|names| names.iter().find(|name| name.eq_ignore_ascii_case(asked))) {
        return line.error(0, format!("{found}: did you mean {}?", quote(meant)));
    }
    let named = names.map_or(String::new(), |names| {
        let some: Vec<String> = names.iter().take(20).map(|name| quote(name)).collect();
        format!("{}{}, or ", some.join(", "), if names.len() > 20 { ", ..." } else { "" })
    });
    line.error(0, format!("{found}, expected {named}a number from 1 to {width} (from -1 counted from the last)"))
}

/// The column, from 0, of a number from 1 on, or from -1 on counted from the last, where there is such a column.
fn column_of(asked: &str, width: usize) -> Option<usize> {
    let column = match asked.parse::<i64>() {
        Ok(number) if number > 0 => usize::try_from(number - 1).ok(),
        Ok(number) if number < 0 => {
            usize::try_from(number.unsigned_abs()).ok().and_then(|back| width.checked_sub(back))
        }
        _ => None,
    };
    column.filter(|&column| column < width)
}
