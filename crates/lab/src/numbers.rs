//! Numbers as people read them.

/// Returns a number of things of this name.
pub fn counted(number: u64, name: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {name}{ending}")
}

/// Returns a number with six significant digits, without trailing zeros.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    if !(1e-6..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Returns a value for readers, rounded to so many significant digits: 0.01, 250, 1.5k, 10k, 2M, 1e-7.
pub fn label(value: f64, digits: usize) -> String {
    let round = |value: f64| format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let value: f64 = round(value);
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-4..1e9).contains(&size) => format!("{value:e}"),
        size if size >= 1e6 => format!("{}M", round(value / 1e6)),
        size if size >= 1e3 => format!("{}k", round(value / 1e3)),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six digits, whatever the size.
    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.0, "0"), (0.0763812345, "0.0763812"), (4004.0, "4004"), (1.5e-9, "1.50000e-9")] {
            assert_eq!(number(value), text);
        }
    }
}
