//! Values of templates: a column of a neighbour, or a function of its text.
//!
//! `suffix(w[0],3)` is made of the word's last three characters, `shape(w[0])` of the classes of all; functions nest,
//! as in `suffix(lower(w[0]),3)`. Characters are Unicode's, not bytes. O(length of the text) each.

/// The farthest neighbour that a template may look at.
pub(super) const FARTHEST: i32 = 100;

/// The longest prefix or suffix.
const LONGEST_AFFIX: usize = 20;

/// The most functions around a column.
const MOST_FUNCTIONS: usize = 4;

/// One column of one neighbour, and the functions that its text goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) offset: i32,
    pub(super) column: usize,
    /// The innermost first.
    pub(super) functions: Vec<TemplateFunction>,
}

/// A function of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateFunction {
    /// The first so many characters; a shorter text is its own prefix.
    Prefix(usize),
    /// The last so many characters; a shorter text is its own suffix.
    Suffix(usize),
    /// Every letter in lower case.
    Lower,
    /// Classes of characters, equal neighbours once: `X` upper case, `x` other letters, `d` digits, all else itself.
    Shape,
    /// True if the first character is in upper case and no other is.
    IsTitle,
    /// True if there are letters and none is in lower case.
    IsUpper,
    /// True if there is a digit.
    HasDigit,
    /// True if there is a `-`.
    HasHyphen,
}

/// Functions without a length, by name.
const PLAIN: [(&str, TemplateFunction); 6] = [
    ("lower", TemplateFunction::Lower),
    ("shape", TemplateFunction::Shape),
    ("is_title", TemplateFunction::IsTitle),
    ("is_upper", TemplateFunction::IsUpper),
    ("has_digit", TemplateFunction::HasDigit),
    ("has_hyphen", TemplateFunction::HasHyphen),
];

/// Makes the function of an affix from its length.
type Affix = fn(usize) -> TemplateFunction;

/// Functions with a length, by name.
const AFFIXES: [(&str, Affix); 2] = [("prefix", TemplateFunction::Prefix), ("suffix", TemplateFunction::Suffix)];

impl Value {
    /// Reads a value; the error is the rule that `text` breaks.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut functions = Vec::new();
        while let Some((name, inside)) = rest.strip_suffix(')').and_then(|call| call.split_once('(')) {
            let (function, argument) = read_call(name.trim(), inside)?;
            functions.push(function);
            rest = argument.trim();
            if functions.len() > MOST_FUNCTIONS {
                return Err(format!("expected at most {MOST_FUNCTIONS} functions around a column"));
            }
        }
        functions.reverse();
        let (offset, column) = read_column(rest).ok_or_else(|| {
            format!("expected a column of a neighbour up to {FARTHEST} away as in w[0], p[1], c2[0] or %x[-1,0]")
        })?;
        Ok(Value { offset, column, functions })
    }

    /// Returns the value in the notation of templates.
    pub(super) fn name(&self) -> String {
        let offset = self.offset;
        let column = match self.column {
            0 => format!("w[{offset}]"),
            1 => format!("p[{offset}]"),
            column => format!("c{column}[{offset}]"),
        };
        self.functions.iter().fold(column, |inner, function| function.around(&inner))
    }
}

/// Writes what functions make of a text, the first of them the innermost, after what `out` holds.
pub(super) fn write_made(functions: &[TemplateFunction], text: &str, out: &mut String) {
    match functions {
        [] => out.push_str(text),
        [only] => only.write(text, out),
        [first, others @ ..] => {
            let mut inner = String::new();
            first.write(text, &mut inner);
            write_made(others, &inner, out);
        }
    }
}

impl TemplateFunction {
    fn around(self, inner: &str) -> String {
        let affix = |name, length| format!("{name}({inner},{length})");
        match self {
            TemplateFunction::Prefix(length) => affix("prefix", length),
            TemplateFunction::Suffix(length) => affix("suffix", length),
            other => {
                let name = PLAIN.iter().find(|(_, function)| *function == other).map_or("", |(name, _)| name);
                format!("{name}({inner})")
            }
        }
    }

    fn write(self, text: &str, out: &mut String) {
        let yes = match self {
            TemplateFunction::Prefix(length) => {
                let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
                return out.push_str(&text[..end]);
            }
            TemplateFunction::Suffix(length) => {
                let start = text.char_indices().rev().nth(length - 1).map_or(0, |(start, _)| start);
                return out.push_str(&text[start..]);
            }
            TemplateFunction::Lower => return out.extend(text.chars().flat_map(char::to_lowercase)),
            TemplateFunction::Shape => return write_shape(text, out),
            TemplateFunction::IsTitle => {
                let mut characters = text.chars();
                characters.next().is_some_and(char::is_uppercase) && !characters.any(char::is_uppercase)
            }
            TemplateFunction::IsUpper => text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase),
            TemplateFunction::HasDigit => text.chars().any(char::is_numeric),
            TemplateFunction::HasHyphen => text.contains('-'),
        };
        out.push_str(if yes { "yes" } else { "no" });
    }
}

fn write_shape(text: &str, out: &mut String) {
    let mut before = None;
    for character in text.chars() {
        let class = match character {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => 'd',
            other => other,
        };
        if before != Some(class) {
            out.push(class);
        }
        before = Some(class);
    }
}

/// Reads a function and returns what stands in it.
fn read_call<'a>(name: &str, inside: &'a str) -> Result<(TemplateFunction, &'a str), String> {
    if let Some((_, function)) = PLAIN.iter().find(|(known, _)| *known == name) {
        return Ok((*function, inside));
    }
    let Some((_, affix)) = AFFIXES.iter().find(|(known, _)| *known == name) else {
        let names = AFFIXES.map(|(name, _)| name).into_iter().chain(PLAIN.map(|(name, _)| name));
        return Err(format!("there is no function `{name}`, expected one of {}", names.collect::<Vec<_>>().join(", ")));
    };
    let length = inside.rsplit_once(',').and_then(|(argument, length)| Some((argument, length.trim().parse().ok()?)));
    match length {
        Some((argument, length)) if (1..=LONGEST_AFFIX).contains(&length) => Ok((affix(length), argument)),
        _ => Err(format!("expected a length from 1 to {LONGEST_AFFIX} as in {name}(w[0],3)")),
    }
}

/// Reads offset and column.
fn read_column(text: &str) -> Option<(i32, usize)> {
    let (column, inside) = text.strip_suffix(']')?.split_once('[')?;
    let (offset, column) = match column {
        "%x" => inside.split_once(',').map(|(offset, column)| (offset, column.trim()))?,
        "w" => (inside, "0"),
        "p" => (inside, "1"),
        other => (inside, other.strip_prefix('c')?),
    };
    let offset: i32 = offset.trim().parse().ok()?;
    let column: u16 = column.parse().ok()?;
    (offset.checked_abs()? <= FARTHEST).then_some((offset, column.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(value: &str, text: &str) -> String {
        let mut out = "before ".to_owned();
        write_made(&Value::read(value).unwrap().functions, text, &mut out);
        out.strip_prefix("before ").unwrap().to_owned()
    }

    /// Every function by hand, characters of several bytes and texts that are too short among them.
    #[test]
    fn functions_by_hand() {
        for (value, text, expected) in [
            ("prefix(w[0],3)", "trading", "tra"),
            ("prefix(w[0],3)", "of", "of"),
            ("prefix(w[0],2)", "Ödön", "Öd"),
            ("suffix(w[0],3)", "trading", "ing"),
            ("suffix(w[0],3)", "of", "of"),
            ("suffix(w[0],2)", "naïveté", "té"),
            ("suffix(w[0],1)", "", ""),
            ("lower(w[0])", "McÄdam", "mcädam"),
            ("shape(w[0])", "McDonald's", "XxXx'x"),
            ("shape(w[0])", "1,000.50", "d,d.d"),
            ("shape(w[0])", "U.S.", "X.X."),
            ("shape(w[0])", "...", "."),
            ("shape(w[0])", "東京2020", "xd"),
            ("shape(w[0])", "", ""),
            ("is_title(w[0])", "Rockwell", "yes"),
            ("is_title(w[0])", "McDonald", "no"),
            ("is_title(w[0])", "rockwell", "no"),
            ("is_upper(w[0])", "U.S.", "yes"),
            ("is_upper(w[0])", "1.5", "no"),
            ("is_upper(w[0])", "USAir", "no"),
            ("has_digit(w[0])", "mid-1980s", "yes"),
            ("has_digit(w[0])", "mid", "no"),
            ("has_hyphen(w[0])", "mid-1980s", "yes"),
            ("suffix(lower(w[0]),2)", "TRADING", "ng"),
            ("shape(prefix(suffix(lower(w[0]),4),2))", "A4-B", "xd"),
            ("w[0]", "as it is", "as it is"),
        ] {
            assert_eq!(made(value, text), expected, "{value} of {text}");
        }
    }

    /// A value is read back from its name, whatever the spaces were.
    #[test]
    fn names_read_back() {
        for (text, name) in [
            ("prefix( w[+1] , 3 )", "prefix(w[1],3)"),
            ("suffix(lower(%x[-1, 2]),20)", "suffix(lower(c2[-1]),20)"),
            ("is_title(shape(p[0]))", "is_title(shape(p[0]))"),
        ] {
            let value = Value::read(text).unwrap();
            assert_eq!(value.name(), name);
            assert_eq!(Value::read(name), Ok(value));
        }
        PLAIN.iter().for_each(|(name, _)| {
            assert_eq!(Value::read(&format!("{name}(w[0])")).unwrap().name(), format!("{name}(w[0])"))
        });
    }

    /// Faults within a value are named.
    #[test]
    fn mistakes_are_named() {
        for (text, rule) in [
            ("prefix(w[0])", "expected a length from 1 to 20 as in prefix(w[0],3)"),
            ("suffix(w[0],0)", "expected a length from 1 to 20 as in suffix(w[0],3)"),
            ("suffix(w[0],21)", "expected a length from 1 to 20"),
            ("suffix(w[0],-1)", "expected a length from 1 to 20"),
            ("stem(w[0])", "no function `stem`, expected one of prefix, suffix, lower, shape, is_title"),
            ("lower(w[0],3)", "expected a column of a neighbour"),
            ("lower()", "expected a column of a neighbour"),
            ("lower(w[0]", "expected a column of a neighbour"),
            ("w[-2147483648]", "expected a column of a neighbour"),
            ("lower(lower(lower(lower(lower(w[0])))))", "expected at most 4 functions"),
        ] {
            let found = Value::read(text).unwrap_err();
            assert!(found.contains(rule), "{text}: {found}");
        }
    }
}
