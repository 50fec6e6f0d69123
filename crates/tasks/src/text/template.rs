//! Feature templates: which columns of which neighbours make a feature of a token.
//!
//! `w[-1]|w[0]` is the word before together with the word itself. `w` is the first column, `p` the second, `cN` column
//! N from 0; `[k]` is the token k places on. CRF++'s `%x[-1,0]/%x[0,0]` means the same. A name stands for a usual set.

use serde::{Deserialize, Serialize};

/// The named sets: what they are called, and their templates.
const SETS: [(&str, &str); 3] = [
    ("words", WORDS),
    (
        "tags",
        "p[-2] p[-1] p[0] p[1] p[2] p[-2]|p[-1] p[-1]|p[0] p[0]|p[1] p[1]|p[2] p[-2]|p[-1]|p[0] p[-1]|p[0]|p[1] p[0]|p[1]|p[2]",
    ),
    ("chunking", "words tags"),
];
const WORDS: &str = "w[-2] w[-1] w[0] w[1] w[2] w[-1]|w[0] w[0]|w[1]";

/// The farthest neighbour that a template may look at.
const FARTHEST: i32 = 100;

/// Templates as users write them: a list, or one text divided by spaces, `;` or commas outside of brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Notation")]
pub struct TemplateList(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Notation {
    Text(String),
    List(Vec<String>),
}

impl From<Notation> for TemplateList {
    fn from(notation: Notation) -> Self {
        TemplateList(match notation {
            Notation::Text(text) => split(&text),
            Notation::List(list) => list.iter().flat_map(|text| split(text)).collect(),
        })
    }
}

/// Divides at spaces, `;` and commas outside of brackets.
fn split(text: &str) -> Vec<String> {
    let mut inside = false;
    let divides = |c: char| {
        inside = c == '[' || inside && c != ']';
        !inside && (c.is_ascii_whitespace() || c == ';' || c == ',')
    };
    text.split(divides).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// One column of one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) offset: i32,
    pub(super) column: usize,
}

/// One kind of feature: the values of its atoms together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// In the notation of this module: with the values it makes the name of a feature.
    pub(super) name: String,
    pub(super) atoms: Vec<Atom>,
}

/// Templates ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub(super) items: Vec<Item>,
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
            return set.split(' ').try_for_each(|text| self.add(text, width));
        }
        // CRF++ numbers its templates, as in U05:%x[0,0].
        let unnumbered =
            text.split_once(':').filter(|(number, _)| number.starts_with('U')).map_or(text, |(_, rest)| rest);
        let atoms: Option<Vec<Atom>> = unnumbered.split(['|', '/']).map(atom).collect();
        let atoms = atoms.ok_or_else(|| {
            let sets = SETS.map(|(name, _)| name).join(", ");
            format!(
                "task.template: found `{text}`, expected {sets}, or columns of neighbours up to {FARTHEST} away as in \
                 w[0], w[-1]|w[0], p[1], c2[0] or %x[-1,0]"
            )
        })?;
        if let Some(atom) = atoms.iter().find(|atom| atom.column + 1 >= width) {
            let column = atom.column;
            return Err(format!(
                "task.template: `{text}` looks at column {column} (from 0), the data has {width} columns, the last of them the label"
            ));
        }
        let name = atoms.iter().map(Atom::name).collect::<Vec<_>>().join("|");
        if self.items.iter().all(|item| item.name != name) {
            self.items.push(Item { name, atoms });
        }
        Ok(())
    }

    /// Returns the templates one by one, sets resolved.
    pub fn names(&self) -> Vec<String> {
        self.items.iter().map(|item| item.name.clone()).collect()
    }
}

impl Atom {
    fn name(&self) -> String {
        match self.column {
            0 => format!("w[{}]", self.offset),
            1 => format!("p[{}]", self.offset),
            column => format!("c{column}[{}]", self.offset),
        }
    }
}

fn atom(text: &str) -> Option<Atom> {
    let (column, inside) = text.strip_suffix(']')?.split_once('[')?;
    let (offset, column) = match column {
        "%x" => inside.split_once(',').map(|(offset, column)| (offset, column.trim()))?,
        "w" => (inside, "0"),
        "p" => (inside, "1"),
        other => (inside, other.strip_prefix('c')?),
    };
    let offset: i32 = offset.trim().parse().ok()?;
    let column: u16 = column.parse().ok()?;
    (offset.abs() <= FARTHEST).then_some(Atom { offset, column: column.into() })
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

    /// The usual templates: 19 with parts of speech, 7 without.
    #[test]
    fn usual_templates_follow_the_columns() {
        let usual = |width| Template::new(None, width).unwrap();
        assert_eq!((usual(3).items.len(), usual(5).items.len(), usual(2).items.len()), (19, 19, 7));
        assert_eq!(names("chunking", 3), names("words tags", 3));
        assert_eq!(names("words", 2).unwrap(), WORDS);
    }

    /// What is no template, or looks at the label or beyond, is refused with the rule.
    #[test]
    fn mistakes_are_named() {
        for text in ["word", "w", "w[x]", "w[0", "w[101]", "d[0]", "c[0]", "%x[0]", "w[0]|", "w[0]||w[1]", "c-1[0]"] {
            assert!(names(text, 9).unwrap_err().contains(&format!("found `{text}`, expected words")), "{text}");
        }
        assert!(names("p[0]", 2).unwrap_err().contains("looks at column 1 (from 0), the data has 2 columns"));
        assert!(names("", 2).unwrap_err().contains("found no template"));
    }
}
