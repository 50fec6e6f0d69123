//! Messages about unknown names: say what was meant, most likely.

/// `unknown <kind> "<name>"`, with the closest of the known names, or all of them where none is close.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = closest(name, &known);
    let (intro, shown) = if near.is_empty() { ("expected one of", known) } else { ("did you mean", near) };
    let shown = shown.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match &shown[..] {
        [] => format!("unknown {kind} `{name}`: there is none"),
        [first @ .., last] if !first.is_empty() && intro == "did you mean" => {
            format!("unknown {kind} `{name}`: {intro} {} or {last}?", first.join(", "))
        }
        [only] if intro == "did you mean" => format!("unknown {kind} `{name}`: {intro} {only}?"),
        all => format!("unknown {kind} `{name}`: {intro} {}", all.join(", ")),
    }
}

/// Returns the known name that `name` is a slip of the finger away from, or two where it is long.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = if name.len() < 6 { 1 } else { 2 };
    let distances = known.into_iter().map(|known| (strsim::damerau_levenshtein(name, known), known));
    distances.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// At most three names that are close to `name`, the closest first.
fn closest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|&known| (strsim::jaro_winkler(&name, known), known))
        .filter(|&(likeness, _)| likeness >= 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slip of the finger is recognised; something else entirely gets the whole list.
    #[test]
    fn suggests_what_is_near() {
        let known = ["bcfw", "mp-bcfw", "ssg"];
        assert_eq!(unknown("solver", "mp-bcwf", known), "unknown solver `mp-bcwf`: did you mean `mp-bcfw`?");
        assert_eq!(unknown("solver", "adam", known), "unknown solver `adam`: expected one of `bcfw`, `mp-bcfw`, `ssg`");
    }

    /// Near is a letter or two, not a likeness.
    #[test]
    fn nearest_is_near() {
        let known = ["passes", "gap", "seed", "seconds"];
        for (name, near) in [("pases", Some("passes")), ("gpa", Some("gap")), ("speed", Some("seed")), ("pass", None)] {
            assert_eq!(nearest(name, known), near, "{name}");
        }
    }
}
