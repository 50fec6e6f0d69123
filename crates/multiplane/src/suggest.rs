//! Messages about unknown names: say what was meant, most likely.

/// Words of other programs by kind, with the names here.
const WORDS: [(&str, &str, &[&str]); 15] = [
    ("task", "ner pos tagging tagger sequence sequences crf hmm", &["chain"]),
    ("task", "svm svc classification classifier classify linear", &["binary", "multiclass"]),
    ("task", "segmentation segment image images superpixels grid", &["graph"]),
    ("task", "parsing parser dependency", &["tree"]),
    ("task", "multi-label", &["multilabel"]),
    ("task", "pairwise energy potts", &["mrf"]),
    ("task", "custom python own", &["external"]),
    ("loss", "zero-one 0-1 01 error accuracy f1", &["hamming"]),
    ("loss", "cost costs matrix", &["cost-matrix"]),
    ("loss", "dice iou jaccard", &["balanced"]),
    ("kernel", "gaussian gauss radial", &["rbf"]),
    ("kernel", "chi2 chi-squared", &["chi-square"]),
    ("format", "json", &["jsonl"]),
    ("format", "iob bio", &["conll"]),
    ("format", "svm svmlight", &["libsvm"]),
];

/// Returns the names here of another program's word, of those that are known.
fn translated<'a>(kind: &str, name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let name = name.to_lowercase().replace('_', "-");
    let row = WORDS.iter().find(|(of, words, _)| *of == kind && words.split(' ').any(|word| word == name));
    let names = row.map_or(&[][..], |(_, _, names)| names);
    known.iter().copied().filter(|known| names.contains(known)).collect()
}

/// `unknown <kind> "<name>"`, with the closest of the known names, or all of them where none is close.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let translated = translated(kind, name, &known);
    let near = if translated.is_empty() { closest(name, &known) } else { translated };
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

    /// Words of other programs lead to the names here.
    #[test]
    fn words_are_translated() {
        let tasks = ["binary", "multiclass", "chain"];
        assert_eq!(unknown("task", "ner", tasks), "unknown task `ner`: did you mean `chain`?");
        assert_eq!(unknown("task", "SVM", tasks), "unknown task `SVM`: did you mean `binary` or `multiclass`?");
        assert_eq!(unknown("loss", "zero_one", ["hamming"]), "unknown loss `zero_one`: did you mean `hamming`?");
        assert_eq!(unknown("kernel", "gaussian", ["rbf", "none"]), "unknown kernel `gaussian`: did you mean `rbf`?");
        assert_eq!(unknown("solver", "ner", ["bcfw"]), "unknown solver `ner`: expected one of `bcfw`");
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
