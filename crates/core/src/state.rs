//! States as bytes: what a checkpoint holds of a solver and of a run, exact to the bit.
//!
//! A state is whatever its struct derives, so a new field is saved without a word. The encoding (postcard) has no
//! names and no tags: bytes are read by the program version that wrote them. Work buffers are left out: `skip` where
//! nothing of them matters, `blank` where their length does.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why bytes are no state of what is to be restored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct StateError(String);

impl StateError {
    /// With this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        StateError(reason.into())
    }
}

/// Appends a state to `out`.
pub fn encode<T: Serialize>(state: &T, out: &mut Vec<u8>) -> Result<(), StateError> {
    *out = postcard::to_extend(state, std::mem::take(out)).map_err(|error| StateError::new(error.to_string()))?;
    Ok(())
}

/// Reads a state from the front of `bytes`, and returns it with the bytes behind it.
pub fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), StateError> {
    postcard::take_from_bytes(bytes).map_err(|error| StateError::new(format!("the state cannot be read: {error}")))
}

/// Reads a state that takes up all of `bytes`; `fault` looks for what does not fit.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], fault: impl Fn(&T) -> Option<String>) -> Result<T, StateError> {
    let (state, rest) = decode_front(bytes)?;
    if !rest.is_empty() {
        return Err(StateError::new(format!("{} bytes are left over behind the state", rest.len())));
    }
    match fault(&state) {
        None => Ok(state),
        Some(fault) => Err(StateError::new(format!("the state does not fit: {fault}"))),
    }
}

/// The complaint `what` where `holds` is false: for checks of restored states.
pub(crate) fn expect(holds: bool, what: &str) -> Option<String> {
    (!holds).then(|| what.to_string())
}

/// Whether all numbers are finite.
pub(crate) fn finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

/// A work buffer that keeps its length; its content does not matter.
pub(crate) mod blank {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// No buffer is longer: 2^28 numbers.
    const LONGEST: u64 = 1 << 28;

    pub(crate) fn serialize<T, S: Serializer>(buffer: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        (buffer.len() as u64).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Default + Clone, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        match u64::deserialize(from)? {
            len if len <= LONGEST => Ok(vec![T::default(); len as usize]),
            len => Err(D::Error::custom(format!("a buffer of {len} numbers"))),
        }
    }
}

/// Parameters, which are tagged by name, as JSON text.
pub(crate) mod json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(value).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A generator goes on where it was, whatever the position; doubles come back to the bit; leftovers are refused.
    #[test]
    fn states_come_back() {
        let mut rng = Rng::new(5, 3);
        for _ in 0..40 {
            let mut bytes = Vec::new();
            encode(&rng, &mut bytes).unwrap();
            let mut other: Rng = decode(&bytes, |_| None).unwrap();
            assert_eq!(other.next_u64(), rng.next_u64());
        }
        let numbers = vec![0.1, f64::INFINITY, -0.0, f64::MIN_POSITIVE / 3.0];
        let mut bytes = Vec::new();
        encode(&numbers, &mut bytes).unwrap();
        let back: Vec<f64> = decode(&bytes, |_| None).unwrap();
        assert!(back.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        bytes.push(0);
        assert!(decode::<Vec<f64>>(&bytes, |_| None).is_err());
        assert!(decode::<Vec<f64>>(&[0xff; 9], |_| None).is_err(), "a length that no memory could hold");
    }
}
