//! Feature templates: which columns of which neighbours make a feature of a token.
//!
//! `w[-1]|w[0]` is the word before together with the word itself. `w` is the first column, `p` the second, `cN` column
//! N from 0; `[k]` is the token k places on. CRF++'s `%x[-1,0]/%x[0,0]` means the same. Functions make affixes, shapes
//! and the like of a column (see `value`). A name stands for a usual set.

use super::value::{FARTHEST, Value};
use serde::{Deserialize, Serialize};

/// The named sets: what they are called, and their templates. Models hold templates, but specifications hold names: a
/// set that has been published stays what it is.
const SETS: [(&str, &str); 5] = [
    ("words", WORDS),
    (
        "tags",
        "p[-2] p[-1] p[0] p[1] p[2] p[-2]|p[-1] p[-1]|p[0] p[0]|p[1] p[1]|p[2] p[-2]|p[-1]|p[0] p[-1]|p[0]|p[1] \
         p[0]|p[1]|p[2]",
    ),
    ("chunking", "words tags"),
    ("forms", FORMS),
    // `tags` where there is such a column.
    (
        "tagging",
        "words forms suffix(w[-1],3) suffix(w[1],3) shape(w[-1]) shape(w[1]) shape(w[-1])|shape(w[0]) \
         shape(w[0])|shape(w[1])",
    ),
];
const WORDS: &str = "w[-2] w[-1] w[0] w[1] w[2] w[-1]|w[0] w[0]|w[1]";
const FORMS: &str = "lower(w[0]) prefix(w[0],1) prefix(w[0],2) prefix(w[0],3) prefix(w[0],4) suffix(w[0],1) \
                     suffix(w[0],2) \
                     suffix(w[0],3) suffix(w[0],4) shape(w[0]) is_title(w[0]) is_upper(w[0]) has_digit(w[0]) \
                     has_hyphen(w[0])";

/// Templates as users write them: a list, or one text divided by spaces, `;` or commas outside of brackets of both
/// kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextOrList")]
pub struct TemplateList(Vec<String>);

/// A list as users write it.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum TextOrList {
    /// One text, to be divided.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl From<TextOrList> for TemplateList {
    fn from(notation: TextOrList) -> Self {
        TemplateList(match notation {
            TextOrList::Text(text) => split(&text),
            TextOrList::List(list) => list.iter().flat_map(|text| split(text)).collect(),
        })
    }
}

/// Divides at spaces, `;` and commas outside of brackets.
fn split(text: &str) -> Vec<String> {
    let mut depth = 0usize;
    let divides = |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_ascii_whitespace() || c == ';' || c == ',')
    };
    text.split(divides).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// One kind of feature: its values together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateItem {
    /// In the notation of this module: with the values it makes the name of a feature.
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

/// Templates ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub(super) items: Vec<TemplateItem>,
}

impl Template {
    /// Reads templates for data of `width` columns, the label's among them; without a list, the usual ones: `words`,
    /// and `chunking` where there is a column between word and label. The error says which rule is broken.
    ///
    /// # Errors
    ///
    /// A template cannot be read, names a column that the data has not, or there is none.
    pub fn new(list: Option<&TemplateList>, width: usize) -> Result<Self, String> {
        let usual = TemplateList(vec![if width > 2 { "chunking" } else { "words" }.to_owned()]);
        Template::of(&list.unwrap_or(&usual).0, width)
    }

    /// Reads templates; the same twice counts once.
    ///
    /// # Errors
    ///
    /// A template cannot be read, names a column that the data has not, or there is none.
    pub fn of(texts: &[String], width: usize) -> Result<Self, String> {
        let mut template = Template { items: Vec::new() };
        texts.iter().try_for_each(|text| template.add(text, width))?;
        if template.items.is_empty() {
            return Err("task.template: found no template, expected at least one, as in w[0]".into());
        }
        Ok(template)
    }

    fn add(&mut self, text: &str, width: usize) -> Result<(), String> {
        if let Some((_, set)) = SETS.iter().find(|(name, _)| *name == text) {
            set.split(' ').try_for_each(|text| self.add(text, width))?;
            return if text == "tagging" && width > 2 { self.add("tags", width) } else { Ok(()) };
        }
        // CRF++ numbers its templates, as in U05:%x[0,0].
        let unnumbered =
            text.split_once(':').filter(|(number, _)| number.starts_with('U')).map_or(text, |(_, rest)| rest);
        let values =
            unnumbered.split(['|', '/']).map(|part| Value::read(part).map_err(|rule| mistake(text, part, &rule)));
        let values = values.collect::<Result<Vec<Value>, String>>()?;
        if let Some(value) = values.iter().find(|value| value.column + 1 >= width) {
            let column = value.column;
            return Err(format!(
                "task.template: `{text}` looks at column {column} (from 0), the data has {width} columns, the last of \
                 them the label"
            ));
        }
        let name = values.iter().map(Value::name).collect::<Vec<_>>().join("|");
        if self.items.iter().all(|item| item.name != name) {
            self.items.push(TemplateItem { name, values });
        }
        Ok(())
    }

    /// Returns the templates one by one, sets resolved.
    pub fn names(&self) -> Vec<String> {
        self.items.iter().map(|item| item.name.clone()).collect()
    }
}

/// Says what is wrong with a template: within a function, or all of it.
fn mistake(text: &str, part: &str, rule: &str) -> String {
    if part.contains('(') {
        let place = if part == text { String::new() } else { format!(" in `{text}`") };
        return format!("task.template: found `{part}`{place}: {rule}");
    }
    let sets = SETS.map(|(name, _)| name).join(", ");
    format!(
        "task.template: found `{text}`, expected {sets}, or columns of neighbours up to {FARTHEST} away as in w[0], \
         w[-1]|w[0], p[1], c2[0] or %x[-1,0], or functions of them as in suffix(w[0],3)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, width: usize) -> Result<String, String> {
        let list: TemplateList = serde_json::from_value(serde_json::json!(text)).unwrap();
        Template::new(Some(&list), width).map(|template| template.names().join(" "))
    }

    /// All notations of a template mean the same; repetitions count once.
    #[test]
    fn notations_agree() {
        let expected = Ok("w[-1]|w[0] c2[1]".to_owned());
        for text in [
            "w[-1]|w[0] c2[1]",
            "%x[-1,0]/%x[0,0],%x[1,2]",
            "U01:%x[-1, 0]/%x[0, 0]; U2:c2[1]",
            "w[-1]|w[+0];c2[1] w[-1]/w[0]",
        ] {
            assert_eq!(names(text, 4), expected, "{text}");
        }
        let list: TemplateList = serde_json::from_str(r#"["w[-1]|w[0]", "c2[1]"]"#).unwrap();
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"["w[-1]|w[0]","c2[1]"]"#);
    }

    /// Functions stand where columns do, alone and in products, and their commas divide nothing.
    #[test]
    fn functions_join_columns() {
        let text = "suffix(w[0], 2)|p[-1], lower(w[0]) U3:shape(%x[1, 0])/prefix(lower(w[0]), 3)";
        assert_eq!(names(text, 3).unwrap(), "suffix(w[0],2)|p[-1] lower(w[0]) shape(w[1])|prefix(lower(w[0]),3)");
    }

    /// `tagging` holds `words` and `forms`, and `tags` where the data has such a column; what it resolves to reads
    /// back.
    #[test]
    fn sets_follow_the_columns() {
        let count = |text, width| names(text, width).unwrap().split(' ').count();
        assert_eq!((count("forms", 2), count("tagging", 2), count("tagging", 3)), (14, 27, 39));
        let all = names("tagging", 3).unwrap();
        assert_eq!(names("tagging words forms tags", 3).unwrap(), all);
        assert_eq!(names(&all, 3).unwrap(), all);
    }

    /// The usual templates: 19 with parts of speech, 7 without.
    #[test]
    fn usual_templates_follow_the_columns() {
        let usual = |width| Template::new(None, width).unwrap();
        assert_eq!((usual(3).items.len(), usual(5).items.len(), usual(2).items.len()), (19, 19, 7));
        assert_eq!(names("chunking", 3), names("words tags", 3));
        assert_eq!(names("words", 2).unwrap(), WORDS);
    }

    /// Texts that are no template, or look at the label or beyond, are refused with the rule.
    #[test]
    fn mistakes_are_named() {
        for text in ["word", "w", "w[x]", "w[0", "w[101]", "d[0]", "c[0]", "%x[0]", "w[0]|", "w[0]||w[1]", "c-1[0]"] {
            assert!(names(text, 9).unwrap_err().contains(&format!("found `{text}`, expected words")), "{text}");
        }
        for (text, error) in [
            ("p[0]|prefix(w[0])", "found `prefix(w[0])` in `p[0]|prefix(w[0])`: expected a length from 1 to 20"),
            ("stem(w[0])", "found `stem(w[0])`: there is no function `stem`, expected one of prefix, suffix, lower"),
            ("shape(p[0])", "`shape(p[0])` looks at column 1 (from 0), the data has 2 columns"),
        ] {
            let found = names(text, 2).unwrap_err();
            assert!(found.contains(error), "{text}: {found}");
        }
        assert!(names("p[0]", 2).unwrap_err().contains("looks at column 1 (from 0), the data has 2 columns"));
        assert!(names("", 2).unwrap_err().contains("found no template"));
    }
}
