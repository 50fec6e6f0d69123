//! A command line, split into words as a shell would, without its expansions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "must be a command line, or a list of words")]
pub enum CommandLine {
    /// One text; words are divided by blanks, quotes and backslashes keep what they hold together.
    Text(String),
    /// The words as they are.
    Words(Vec<String>),
}

impl Default for CommandLine {
    fn default() -> Self {
        CommandLine::Text(String::new())
    }
}

impl CommandLine {
    /// Returns the program and its arguments.
    ///
    /// # Errors
    ///
    /// A quote is not closed, or there is no word.
    pub fn words(&self) -> Result<Vec<String>, String> {
        let words = match self {
            CommandLine::Text(text) => split(text).map_err(|fault| format!("task.command = {text}: {fault}"))?,
            CommandLine::Words(words) => words.clone(),
        };
        if words.first().is_none_or(String::is_empty) {
            return Err("no program given: set 'task.command=PROGRAM ARGUMENTS'".into());
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err("task.command: a word holds a zero byte, which no program can be given".into());
        }
        Ok(words)
    }
}

/// Splits at blanks outside of quotes. In single quotes everything stands for itself; in double quotes a backslash
/// keeps a quote or a backslash; outside it keeps any character.
fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            blank if blank.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("a ' has no partner")? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or("a \" has no partner")? {
                        '"' => break,
                        '\\' => match characters.next().ok_or("a \" has no partner")? {
                            kept @ ('"' | '\\') => word.push(kept),
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next().ok_or("a \\ at the end keeps nothing")?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<String>, String> {
        CommandLine::Text(text.into()).words()
    }

    /// Blanks divide, quotes and backslashes keep together, an empty pair of quotes is a word.
    #[test]
    fn commands_are_split_as_by_a_shell() {
        assert_eq!(words(" python3  my\\ oracle.py\t-n 3 ").unwrap(), ["python3", "my oracle.py", "-n", "3"]);
        assert_eq!(words(r#"a "b \"c\" \n" 'd "\' e'f'"#).unwrap(), ["a", r#"b "c" \n"#, r#"d "\"#, "ef"]);
        assert_eq!(words("a '' \"\"").unwrap(), ["a", "", ""]);
        assert_eq!(CommandLine::Words(vec!["my prog".into(), "a b".into()]).words().unwrap(), ["my prog", "a b"]);
    }

    /// A value that is no command is refused, with the rule.
    #[test]
    fn unfinished_commands_are_refused() {
        for (text, part) in
            [("", "no program"), ("''", "no program"), ("a 'b", "partner"), ("a \"b", "partner"), ("a\\", "at the end")]
        {
            assert!(words(text).unwrap_err().contains(part), "{text}");
        }
        assert!(CommandLine::Words(Vec::new()).words().is_err());
    }
}
