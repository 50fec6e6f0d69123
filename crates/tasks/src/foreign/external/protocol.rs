//! The messages between us and an external program: one JSON object per line. docs/external-oracles.md describes them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::foreign::quality::DeclaredQuality;
use crate::probe::RawFeatures;

/// Version of the protocol.
pub const PROTOCOL: u64 = 1;

/// Characters of a line that a message quotes.
const QUOTED: usize = 120;

/// A request to a program.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Request<'a> {
    /// The first message.
    Hello {
        protocol: u64,
        /// The data file, if any.
        data: Option<&'a str>,
        /// The value that the program asked to be remembered with the model, if there is a model.
        #[serde(skip_serializing_if = "Option::is_none")]
        memory: Option<&'a Value>,
    },
    /// The weights of all later decodings: all of them, or those that changed.
    Weights {
        /// Their number, for programs that say it back.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        w: Option<&'a [f64]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        set: Option<Vec<(usize, f64)>>,
    },
    /// The best labellings at the weights.
    Decode {
        id: u64,
        /// The number of the weights.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
        examples: &'a [usize],
        augment: bool,
    },
    /// The true labellings.
    Truth { id: u64, examples: &'a [usize] },
    /// Features and loss of labellings.
    Describe { id: u64, examples: &'a [usize], labels: &'a [&'a Value] },
    /// The last message.
    End,
}

impl Request<'_> {
    /// Returns the message as a line.
    pub(super) fn line(&self) -> Vec<u8> {
        // Numbers, texts and lists of these: nothing in it can fail. Doubles are written so that their bits survive.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// The abilities of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Capability {
    /// Requests about several examples.
    Batch,
    /// Weights as changes.
    Changes,
    /// Weights with a number, which decodings say back.
    Versions,
}

/// The answer to hello.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Welcome {
    #[serde(rename = "protocol")]
    _protocol: u64,
    pub(super) examples: usize,
    pub(super) dim: usize,
    #[serde(default)]
    pub(super) quality: Option<DeclaredQuality>,
    #[serde(default)]
    pub(super) capabilities: Vec<Capability>,
    /// First and one past the last of weights that must stay `>= 0`.
    #[serde(default)]
    pub(super) nonnegative: Vec<(usize, usize)>,
    /// The values of a variable; every combination of them is then a labelling.
    #[serde(default)]
    pub(super) variables: Option<Vec<Value>>,
    #[serde(default)]
    pub(super) fingerprint: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) memory: Option<Value>,
}

impl Welcome {
    /// Returns if another process of the program says the same, where all must agree.
    pub(super) fn agrees(&self, other: &Welcome) -> bool {
        let data = self.examples == other.examples && self.dim == other.dim && self.fingerprint == other.fingerprint;
        let promises = self.quality == other.quality && self.nonnegative == other.nonnegative;
        data && promises && self.variables == other.variables
    }
}

/// A labelling with all that is known of it; nothing in it has been checked.
#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) label: Value,
    pub(super) features: RawFeatures,
    pub(super) loss: f64,
    pub(super) bound: Option<f64>,
}

/// The error that an answer states; a null is none.
fn error_of(value: &Value) -> Option<&Value> {
    value.get("error").filter(|reason| !reason.is_null())
}

/// Reads the answer to hello.
pub(super) fn welcome(line: &[u8]) -> Result<Welcome, String> {
    let value = parse(line)?;
    if let Some(reason) = error_of(&value) {
        return Err(format!("it refused: {}", text(reason)));
    }
    // Of another version nothing else need be readable.
    match value.get("protocol") {
        Some(version) if *version == PROTOCOL => {}
        Some(version) => return Err(format!("it speaks protocol {version}, expected {PROTOCOL}")),
        None => return Err(format!("found {}, expected an object with \"protocol\": {PROTOCOL}", quote(line))),
    }
    serde_json::from_value(value).map_err(|error| format!("its answer to hello: {error}"))
}

/// Reads the answers to request `id` about `count` examples, at the weights of this number where that is to be said
/// back; each is a description or the program's own error.
pub(super) fn answers(
    line: &[u8],
    id: u64,
    version: Option<u64>,
    count: usize,
) -> Result<Vec<Result<Description, String>>, String> {
    let mut value = parse(line)?;
    match value.get("id") {
        Some(found) if *found == id => {}
        Some(found) => return Err(format!("an answer with id {found} came, expected id {id}")),
        None => return Err(format!("found {}, expected an object with \"id\": {id}", quote(line))),
    }
    if let Some(expected) = version {
        match value.get("version") {
            Some(found) if *found == expected => {}
            Some(found) => {
                return Err(format!("an answer for weights {found} came, expected one for weights {expected}"));
            }
            None => return Err(format!("found {}, expected an object with \"version\": {expected}", quote(line))),
        }
    }
    if let Some(reason) = error_of(&value) {
        let reason = format!("it says: {}", text(reason));
        return Ok(vec![Err(reason); count]);
    }
    let Some(Value::Array(answers)) = value.get_mut("answers").map(Value::take) else {
        return Err(format!("found {}, expected \"answers\": a list", quote(line)));
    };
    if answers.len() != count {
        return Err(format!("{} answers came to a question about {count}", answers.len()));
    }
    Ok(answers.into_iter().map(description).collect())
}

fn description(mut answer: Value) -> Result<Description, String> {
    if let Some(reason) = error_of(&answer) {
        return Err(format!("it says: {}", text(reason)));
    }
    if !answer.is_object() {
        return Err(format!("answered {}, expected an object", shortened(&answer.to_string())));
    }
    let mut take = |key: &str| answer.get_mut(key).map(Value::take);
    let missing = |key: &str| format!("its answer has no \"{key}\", expected label, features and loss");
    let label = take("label").ok_or_else(|| missing("label"))?;
    let features = raw_features(&take("features").ok_or_else(|| missing("features"))?)?;
    let loss = number(&take("loss").ok_or_else(|| missing("loss"))?).ok_or("its loss is not a number")?;
    let bound = match take("bound") {
        None | Some(Value::Null) => None,
        Some(bound) => Some(number(&bound).ok_or("its bound is not a number")?),
    };
    Ok(Description { label, features, loss, bound })
}

/// `{"indices": [...], "values": [...]}`, `[[index, value], ...]`, or all coordinates `[value, ...]`.
fn raw_features(value: &Value) -> Result<RawFeatures, String> {
    let rule = "expected {\"indices\", \"values\"}, a list of [index, value], or a list of all values";
    let fault = |what: &Value| format!("features: found {}, {rule}", shortened(&what.to_string()));
    match value {
        Value::Object(table) => {
            let (Some(Value::Array(indices)), Some(Value::Array(values))) = (table.get("indices"), table.get("values"))
            else {
                return Err(fault(value));
            };
            if indices.len() != values.len() {
                return Err(format!("features: {} indices and {} values", indices.len(), values.len()));
            }
            let pair = |(i, v)| Some((index(i)?, number(v)?));
            let pairs: Option<Vec<_>> = indices.iter().zip(values).map(pair).collect();
            Ok(RawFeatures::Pairs(pairs.ok_or_else(|| fault(value))?))
        }
        Value::Array(items) if items.first().is_some_and(Value::is_array) => {
            let pair = |item: &Value| match item.as_array().map(Vec::as_slice) {
                Some([i, v]) => Some((index(i)?, number(v)?)),
                _ => None,
            };
            let pairs = items.iter().map(|item| pair(item).ok_or_else(|| fault(item)));
            Ok(RawFeatures::Pairs(pairs.collect::<Result<_, _>>()?))
        }
        // No entry at all, rather than a vector without coordinates.
        Value::Array(items) if items.is_empty() => Ok(RawFeatures::Pairs(Vec::new())),
        Value::Array(items) => {
            let values = items.iter().map(|item| number(item).ok_or_else(|| fault(item)));
            Ok(RawFeatures::Dense(values.collect::<Result<_, _>>()?))
        }
        other => Err(fault(other)),
    }
}

fn index(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|index| index.fract() == 0.0).map(|index| index as i64))
}

/// A number; NaN and infinities come as text, see [`parse`].
fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some(text @ ("NaN" | "Infinity" | "-Infinity")) => text.parse().ok(),
        _ => value.as_f64(),
    }
}

/// The place for output of a program that is no answer.
const ELSEWHERE: &str = "write messages to standard error";

/// A line as JSON. NaN and infinities, which JSON does not have but some languages write, become texts: they are
/// found where a number is expected, and refused there by name.
fn parse(line: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(line).map_err(|_| format!("found {}, expected UTF-8", quote(line)))?;
    let parsed = serde_json::from_str(text).or_else(|error| match quoted_specials(text) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    });
    parsed.map_err(|error| {
        // What begins like no message is one of the program's own, such as what it prints to see where it stands.
        let advice = if text.trim_start().starts_with(['{', '[']) { error.to_string() } else { ELSEWHERE.to_owned() };
        format!("found {}, expected a line of JSON: {advice}", quote(line))
    })
}

/// The text with NaN and infinities in quotes; `None` where there are none.
fn quoted_specials(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len() + 16);
    let (mut rest, mut found, mut inside, mut escaped) = (text, false, false, false);
    while let Some(character) = rest.chars().next() {
        let special = ["NaN", "Infinity", "-Infinity"].into_iter().find(|special| !inside && rest.starts_with(special));
        if let Some(special) = special {
            mended.extend(["\"", special, "\""]);
            (rest, found) = (&rest[special.len()..], true);
            continue;
        }
        inside ^= character == '"' && !escaped;
        escaped = inside && character == '\\' && !escaped;
        mended.push(character);
        rest = &rest[character.len_utf8()..];
    }
    found.then_some(mended)
}

/// A reason, which should be a text.
fn text(reason: &Value) -> String {
    shortened(reason.as_str().map_or_else(|| reason.to_string(), str::to_string).trim())
}

fn quote(line: &[u8]) -> String {
    format!("`{}`", shortened(String::from_utf8_lossy(&line[..line.len().min(4 * QUOTED)]).trim_end()))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Doubles cross the border with their bits, in both directions.
    #[test]
    fn bits_survive() {
        let w = [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 1.0 / 3.0, 4.0];
        let line = Request::Weights { version: None, w: Some(&w), set: None }.line();
        let value: Value = serde_json::from_slice(&line).unwrap();
        let back: Vec<f64> = value["w"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
        assert_eq!(back.iter().map(|w| w.to_bits()).collect::<Vec<_>>(), w.map(f64::to_bits));
    }

    /// The three notations of features mean the same; NaN and infinities are read, for others to refuse.
    #[test]
    fn notations_of_features() {
        let read = |features: &str| {
            let line =
                format!("{{\"id\": 3, \"answers\": [{{\"label\": \"NaN\", \"features\": {features}, \"loss\": 0}}]}}");
            answers(line.as_bytes(), 3, None, 1).unwrap().remove(0).map(|answer| answer.features)
        };
        let pairs = RawFeatures::Pairs(vec![(0, 0.5), (7, -2.0)]);
        assert_eq!(read("{\"indices\": [0, 7.0], \"values\": [0.5, -2]}").unwrap(), pairs);
        assert_eq!(read("[[0, 0.5], [7, -2.0]]").unwrap(), pairs);
        assert_eq!(read("[]").unwrap(), RawFeatures::Pairs(Vec::new()));
        assert_eq!(read("[0.5, 1]").unwrap(), RawFeatures::Dense(vec![0.5, 1.0]));
        let Ok(RawFeatures::Dense(special)) = read("[NaN, -Infinity, 1]") else { panic!() };
        assert!(special[0].is_nan() && special[1] == f64::NEG_INFINITY);
        for bad in ["3", "[[1]]", "[\"a\"]", "{\"indices\": [1], \"values\": []}", "[[0.5, 1]]"] {
            assert!(read(bad).unwrap_err().starts_with("features:"), "{bad}");
        }
    }

    /// Lines that are no answer are refused, with what came and the rule.
    #[test]
    fn bad_answers_are_refused() {
        let refused = |line: &str| answers(line.as_bytes(), 3, None, 2).map(|_| ()).unwrap_err();
        assert!(refused("hello").contains("found `hello`, expected a line of JSON: write messages to standard error"));
        assert!(refused("{\"dim\": }").contains("expected a line of JSON: expected value"));
        assert!(refused("{\"id\": 4}").contains("id 4 came, expected id 3"));
        assert!(refused("[]").contains("expected an object with \"id\": 3"));
        assert!(refused("{\"id\": 3}").contains("expected \"answers\""));
        assert!(refused("{\"id\": 3, \"answers\": [1]}").contains("1 answers came to a question about 2"));
        let both = answers(b"{\"id\": 3, \"answers\": [{\"label\": 1}, {\"error\": \"no\"}]}", 3, None, 2).unwrap();
        assert!(both[0].as_ref().unwrap_err().contains("no \"features\""));
        assert_eq!(both[1].as_ref().unwrap_err(), "it says: no");
        assert!(welcome(b"{\"protocol\": 7}").unwrap_err().contains("protocol 7, expected 1"));
        assert!(
            welcome(b"{\"protocol\": 1, \"examples\": 1, \"dim\": 1, \"qality\": 0}").unwrap_err().contains("qality")
        );
    }
}
