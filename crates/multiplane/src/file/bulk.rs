//! Long fields of a file's JSON: fields that grow with data or parameters (labels, cost matrices, the
//! memory of a program) stand in byte tensors of their own, so that the header stays small.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;

/// Largest header accepted, and written: ours are a few kilobytes, as long fields stand in tensors.
pub(super) const MAX_HEADER: u64 = 1 << 20;

/// Room in the header for names and places of tensors.
const OF_HEADER: usize = 1 << 14;

/// Field of our JSON that holds the checksum; it comes first.
pub(super) const CHECKSUM: &str = "checksum";

/// Digits of a checksum.
pub(super) const DIGITS: usize = 64;

/// The beginning of such tensors' names; the field's name follows.
const PREFIX: &str = "info.";

/// Most bytes of JSON that a field may have in the header.
const MAX_FIELD: usize = 1 << 15;

/// Most bytes of JSON that all fields of a file together may have.
pub(super) const MAX_INFO: usize = 1 << 28;

/// Returns what stands in the place of the checksum while it is taken.
pub(super) fn zero_checksum() -> String {
    "0".repeat(DIGITS)
}

/// Our JSON on its way into a file: what stands in the header, and the names and bytes of tensors beside it.
pub(super) struct Bulk {
    pub(super) json: String,
    pub(super) tensors: Vec<(String, Vec<u8>)>,
}

impl Bulk {
    /// Takes `info` apart, a struct whose first field is its checksum.
    pub(super) fn of(info: &impl Serialize) -> Result<Bulk, String> {
        let json = serde_json::to_string(info).map_err(|error| error.to_string())?;
        if json.len() > MAX_INFO {
            let found = json.len();
            return Err(format!(
                "what a file must say of its task and labels takes {found} bytes, expected at most {MAX_INFO}"
            ));
        }
        if json.len() <= MAX_FIELD {
            return Ok(Bulk { json, tensors: Vec::new() });
        }
        let fields: Map<String, Value> = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        let (mut json, mut tensors) = (format!("{{\"{CHECKSUM}\":{}", fields[CHECKSUM]), Vec::new());
        for (name, value) in fields.iter().filter(|(name, _)| *name != CHECKSUM) {
            let text = value.to_string();
            match text.len() > MAX_FIELD {
                true => tensors.push((format!("{PREFIX}{name}"), text.into_bytes())),
                false => json += &format!(",{}:{text}", Value::from(name.as_str())),
            }
        }
        json.push('}');
        Ok(Bulk { json, tensors })
    }

    /// The tensors with their names.
    pub(super) fn payloads(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.tensors.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }
}

/// Puts the fields that stand in tensors of bytes back beside those of the header; `tensors` may be others as well.
pub(super) fn gather<'a>(info: &mut Value, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<(), String> {
    let mut total = 0;
    for (name, bytes) in tensors {
        let Some(field) = name.strip_prefix(PREFIX) else { continue };
        total += bytes.len();
        if total > MAX_INFO {
            return Err(format!("its tensors {PREFIX}* have more than {MAX_INFO} bytes"));
        }
        let value =
            serde_json::from_slice(bytes).map_err(|error| format!("its tensor {name} is not sound: {error}"))?;
        let fields = info.as_object_mut().ok_or("what it says of itself is no object")?;
        if fields.insert(field.into(), value).is_some() {
            return Err(format!("its tensor {name} is in its header as well"));
        }
    }
    Ok(())
}

/// Refuses JSON that is too long for a header, where it stands as a string.
pub(super) fn check_header(json: &str) -> Result<(), String> {
    let (found, most) = (Value::from(json).to_string().len(), MAX_HEADER as usize - OF_HEADER);
    match found <= most {
        true => Ok(()),
        false => Err(format!(
            "what it says of itself takes {found} bytes of its header, expected at most {most} of the {MAX_HEADER} \
             that a \
             header may have"
        )),
    }
}

/// Refuses what no file could hold: for before the training.
///
/// # Errors
///
/// [`Error::Input`] with the limit.
pub(crate) fn check_fits(info: &impl Serialize) -> Result<(), Error> {
    #[derive(Serialize)]
    struct ChecksummedInfo<'a, T> {
        checksum: &'a str,
        #[serde(flatten)]
        info: &'a T,
    }
    let checksum = zero_checksum();
    let refuse = |reason: String| Error::input(format!("the model could not be saved: {reason}"));
    let bulk = Bulk::of(&ChecksummedInfo { checksum: &checksum, info }).map_err(refuse)?;
    check_header(&bulk.json).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct Info {
        checksum: String,
        labels: Vec<String>,
        #[serde(flatten)]
        own: Map<String, Value>,
    }

    fn info(labels: usize, own: Value) -> Info {
        let own = own.as_object().unwrap().clone();
        let labels = (0..labels).map(|k| if k == 0 { "0".repeat(64) } else { format!("\u{1}{k}") }).collect();
        Info { checksum: zero_checksum(), labels, own }
    }

    /// Short fields stay where they were, long ones leave, and the checksum comes first in any case.
    #[test]
    fn long_fields_leave_the_header() {
        let small = info(2, json!({"a": 1}));
        let bulk = Bulk::of(&small).unwrap();
        assert_eq!((bulk.json, bulk.tensors.len()), (serde_json::to_string(&small).unwrap(), 0));
        let long = "\"".repeat(MAX_FIELD);
        for (labels, names) in [(2, vec!["info.a\"b"]), (20_000, vec!["info.a\"b", "info.labels"])] {
            let all = info(labels, json!({"a\"b": long, "c": 0.1}));
            let bulk = Bulk::of(&all).unwrap();
            assert!(bulk.json.starts_with("{\"checksum\":") && bulk.json.len() < 1000);
            assert_eq!(bulk.payloads().map(|(name, _)| name).collect::<Vec<_>>(), names);
            let mut read: Value = serde_json::from_str(&bulk.json).unwrap();
            for (name, bytes) in bulk.payloads() {
                read[&name[PREFIX.len()..]] = serde_json::from_slice(bytes).unwrap();
            }
            assert_eq!(read, serde_json::to_value(&all).unwrap());
        }
    }

    /// Fields that no header or file can hold are refused with the limit: many fields, or one beyond all measure.
    #[test]
    fn limits_are_named() {
        let many: Map<String, Value> = (0..60).map(|k| (k.to_string(), "x".repeat(MAX_FIELD - 8).into())).collect();
        let error = check_fits(&many).unwrap_err().to_string();
        assert!(error.contains("1048576"), "{error}");
        let error = check_fits(&json!({"memory": "x".repeat(MAX_INFO)})).unwrap_err().to_string();
        assert!(error.contains(&MAX_INFO.to_string()), "{error}");
        check_fits(&json!({"memory": "x".repeat(1 << 21)})).unwrap();
    }
}
