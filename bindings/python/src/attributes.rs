//! Attributes of tokens as Python has them: dicts, lists and sets, copied under the interpreter lock into one buffer.
//! Data is made of it without the lock.

use multiplane::data::Tagged;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use crate::errors::value_error;

/// Most dicts that may stand in each other.
const DEEPEST: usize = 100;

/// Attributes of tokens, one after the other.
#[derive(Default)]
pub(crate) struct TokenAttributes {
    /// The names, one after the other.
    text: String,
    /// The end of each name in `text`, and its number.
    attributes: Vec<(usize, f64)>,
    /// The end of each token in `attributes`.
    tokens: Vec<usize>,
    /// The beginning of the names within the dicts that are open.
    prefix: String,
}

/// The token at fault, by sequence and position.
#[derive(Clone, Copy)]
struct TokenPlace(usize, usize);

impl TokenPlace {
    fn fault(self, text: impl std::fmt::Display) -> PyErr {
        value_error(format!("X[{}][{}] {text}", self.0, self.1))
    }
}

impl TokenAttributes {
    /// Copies the tokens of sequence `i`. Returns their number.
    pub(crate) fn gather(&mut self, i: usize, sequence: &Bound<'_, PyAny>) -> PyResult<usize> {
        let before = self.tokens.len();
        for (at, token) in sequence.try_iter()?.enumerate() {
            let (token, place) = (token?, TokenPlace(i, at));
            if !(token.is_instance_of::<PyDict>() || token.is_instance_of::<PyList>() || is_set(&token)) {
                let found = shown(&token)?;
                return Err(
                    place.fault(format_args!("is {found}: expected a dict, or a list of attributes, as in X[0][0]"))
                ); // a tuple is columns of text
            }
            self.items(&token, place, 0)?;
            self.tokens.push(self.attributes.len());
        }
        Ok(self.tokens.len() - before)
    }

    /// Copies names with numbers: `name=value` of a text, `name:below` of what is nested, `name:0` and so on of a
    /// vector. Sets are sorted.
    fn items(&mut self, token: &Bound<'_, PyAny>, place: TokenPlace, depth: usize) -> PyResult<()> {
        let Ok(table) = token.cast::<PyDict>() else { return self.names(token, place) };
        for (name, value) in table.iter() {
            let Ok(name) = name.cast::<PyString>() else {
                let (found, kind) = (name.repr()?, name.get_type().name()?);
                return Err(place.fault(format_args!("has the name {found} of type {kind}: expected a text")));
            };
            let start = self.text.len();
            self.text.push_str(&self.prefix);
            add(&mut self.text, name)?;
            if let Ok(value) = value.cast::<PyString>() {
                self.text.push('=');
                add(&mut self.text, value)?;
                self.end(1.0);
            } else if let Some(number) = number(&value)? {
                self.end(number);
            } else if let Some(numbers) = vector(&value)? {
                let name = self.text.split_off(start);
                for (k, number) in numbers.into_iter().enumerate() {
                    self.text.push_str(&format!("{name}:{k}"));
                    self.end(number);
                }
            } else if is_nested(&value) {
                if depth == DEEPEST {
                    return Err(place.fault(format_args!("has dicts in dicts, deeper than {DEEPEST}")));
                }
                let outer = self.prefix.len();
                self.prefix.push_str(&self.text[start + outer..]);
                self.prefix.push(':');
                self.text.truncate(start);
                self.items(&value, place, depth + 1)?;
                self.prefix.truncate(outer);
            } else {
                let (name, value) = (name.repr()?, value.repr()?);
                return Err(place.fault(format_args!("has {name}: {value}: expected a number, a text, True or False")));
            }
        }
        Ok(())
    }

    fn names(&mut self, token: &Bound<'_, PyAny>, place: TokenPlace) -> PyResult<()> {
        let mut names = Vec::new();
        for name in token.try_iter()? {
            let name = name?;
            let Ok(name) = name.cast::<PyString>() else {
                let found = name.repr()?;
                return Err(place.fault(format_args!("holds {found}: expected the names of attributes")));
            };
            names.push(name.to_str()?.to_owned());
        }
        if is_set(token) {
            names.sort_unstable();
        }
        for name in names {
            self.text.push_str(&self.prefix);
            self.text.push_str(&name);
            self.end(1.0);
        }
        Ok(())
    }

    /// Ends an attribute.
    fn end(&mut self, number: f64) {
        self.attributes.push((self.text.len(), number));
    }

    /// Makes data of sequences of these lengths, with the label that `label` says of each token.
    pub(crate) fn tagged<'a>(
        &self,
        lengths: &[usize],
        label: impl Fn(usize, usize) -> Option<&'a str>,
    ) -> Result<Tagged, String> {
        let mut data = Tagged::of_attributes();
        let (mut start, mut first, mut ends) = (0, 0, self.tokens.iter());
        for (i, &length) in lengths.iter().enumerate() {
            for (t, &last) in ends.by_ref().take(length).enumerate() {
                let mut bad = None;
                let named = self.attributes[first..last].iter().map(|&(end, number)| {
                    let name = &self.text[start..end];
                    start = end;
                    if name.is_empty() || name.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
                        bad.get_or_insert(name);
                    }
                    (name, number)
                });
                let pushed = data.push_attributes(label(i, t), named);
                if let Some(name) = bad {
                    return Err(format!(
                        "X[{i}][{t}] has the attribute {name:?}: expected a name without tabs and line breaks"
                    ));
                }
                pushed.map_err(|fault| format!("X[{i}][{t}]: {fault}"))?;
                first = last;
            }
            data.end_sequence();
        }
        Ok(data)
    }
}

/// Adds a text as f-strings show it.
fn add(to: &mut String, text: &Bound<'_, PyString>) -> PyResult<()> {
    match text.is_exact_instance_of::<PyString>() {
        true => to.push_str(text.to_str()?),
        false => to.push_str(text.call_method1("__format__", ("",))?.cast::<PyString>()?.to_str()?),
    }
    Ok(())
}

fn is_set(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>()
}

fn is_nested(object: &Bound<'_, PyAny>) -> bool {
    let listed = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    listed || object.is_instance_of::<PyDict>() || is_set(object)
}

/// The numbers of a list or of an array of one dimension; None for anything else, and if there is none.
fn vector(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<f64>>> {
    let list = if object.hasattr("tolist")? { object.call_method0("tolist")? } else { object.clone() };
    if !(list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>()) {
        return Ok(None);
    }
    let mut numbers = Vec::new();
    for item in list.try_iter()? {
        match number(&item?)? {
            Some(number) => numbers.push(number),
            None => return Ok(None),
        }
    }
    Ok(Some(numbers).filter(|numbers| !numbers.is_empty()))
}

/// A number of Python or NumPy, True and False among them; None for anything else.
fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    static OF_NUMPY: PyOnceLock<Py<PyTuple>> = PyOnceLock::new();
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(Some(number.value()));
    }
    let py = object.py();
    let kinds = OF_NUMPY.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let kinds = ["bool_", "integer", "floating"].map(|name| numpy.getattr(name));
        PyTuple::new(py, kinds.into_iter().collect::<PyResult<Vec<_>>>()?).map(Bound::unbind)
    })?;
    let is_number = object.is_instance_of::<PyInt>() || object.is_instance(kinds.bind(py))?;
    is_number.then(|| object.extract()).transpose()
}

/// Shortens the text that stands for a token in a message.
fn shown(token: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = token.repr()?.to_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(match text.chars().count() {
        ..=40 => text,
        _ => text.chars().take(37).chain("...".chars()).collect(),
    })
}
