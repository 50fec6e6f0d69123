//! States as bytes: what a checkpoint holds of a solver and of a run, exact to the bit.
//!
//! A state is whatever its struct derives, so a new field is saved without a word. The encoding (postcard) has no
//! names and no tags: bytes are read by programs of the same [`FORMAT`] alone. Work buffers are left out: `skip` where
//! nothing of them matters, `blank` where their length does.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Version of all saved states. Raise it with every change of a saved struct, and of code that decides how a run goes
/// on.
pub const FORMAT: u32 = 11;

/// Why bytes are no state of what is to be restored, or a state has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The encoding failed.
    #[error("the state cannot be written: {0}")]
    Unwritable(String),
    /// The bytes are not of this type.
    #[error("the state cannot be read: {0}")]
    Unreadable(String),
    /// There are so many bytes too many.
    #[error("{0} bytes are left over behind the state")]
    Leftover(usize),
    /// The state is of another problem or solver, or was damaged; says what does not fit.
    #[error("the state does not fit: {0}")]
    Misfit(String),
}

/// Appends a state to `out`.
///
/// # Errors
///
/// [`StateError::Unwritable`].
pub fn encode<T: Serialize>(state: &T, out: &mut Vec<u8>) -> Result<(), StateError> {
    let bytes = postcard::to_extend(state, std::mem::take(out));
    *out = bytes.map_err(|error| StateError::Unwritable(error.to_string()))?;
    Ok(())
}

/// Reads a state from the front of `bytes`, and returns it with the bytes behind it.
///
/// # Errors
///
/// [`StateError::Unreadable`].
pub fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), StateError> {
    postcard::take_from_bytes(bytes).map_err(|error| StateError::Unreadable(error.to_string()))
}

/// Reads a state that takes up all of `bytes` and passes `check`.
///
/// # Errors
///
/// Bytes that are not of this type or too many, and what `check` says.
pub fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    check: impl FnOnce(&T) -> Result<(), StateError>,
) -> Result<T, StateError> {
    decode_with(bytes, |_| (), check)
}

/// As [`decode`], of a state to which `complete` gives what no file holds, before it is checked.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_with<T: DeserializeOwned>(
    bytes: &[u8],
    complete: impl FnOnce(&mut T),
    check: impl FnOnce(&T) -> Result<(), StateError>,
) -> Result<T, StateError> {
    let (mut state, rest) = decode_front(bytes)?;
    complete(&mut state);
    if !rest.is_empty() {
        return Err(StateError::Leftover(rest.len()));
    }
    check(&state)?;
    Ok(state)
}

/// Refuses a restored state of which `what` does not fit, unless it `holds`.
///
/// # Errors
///
/// [`StateError::Misfit`] with `what`, where it does not hold.
pub fn ensure(holds: bool, what: &str) -> Result<(), StateError> {
    if holds { Ok(()) } else { Err(StateError::Misfit(what.into())) }
}

/// Returns whether all numbers are finite.
pub fn finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}

/// A solver's state as bytes.
pub trait SolverState<O: ?Sized> {
    /// Appends to `out` everything that decides the solver's future.
    ///
    /// # Errors
    ///
    /// A state that cannot be encoded.
    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError>;

    /// Goes on from where a solver of the same parameters and problem was saved; the error says why it cannot, and
    /// then nothing has changed. `oracle` is asked whether it knows the labellings that are kept.
    ///
    /// # Errors
    ///
    /// Bytes that are no state of such a solver on this problem.
    fn restore(&mut self, state: &[u8], oracle: &mut O) -> Result<(), StateError>;
}

/// A solver whose state is what its struct derives.
pub trait SavedState<O: ?Sized>: Serialize + DeserializeOwned {
    /// Takes from `fresh`, a solver of the same parameters and problem, what no file holds.
    fn complete(&mut self, _fresh: &Self) {}

    /// Refuses to be saved while steps have left something for later.
    ///
    /// # Errors
    ///
    /// The bytes that are left.
    fn check_settled(&self) -> Result<(), StateError> {
        Ok(())
    }

    /// Refuses a state that was read and cannot take the place of `fresh`.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError>;
}

impl<O: ?Sized, S: SavedState<O>> SolverState<O> for S {
    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError> {
        self.check_settled()?;
        encode(self, out)
    }

    fn restore(&mut self, state: &[u8], oracle: &mut O) -> Result<(), StateError> {
        *self = decode_with(state, |read: &mut S| read.complete(self), |read| read.check(self, oracle))?;
        Ok(())
    }
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

/// Writes parameters, which are tagged by name, as JSON text: for `#[serde(with = "json")]`.
pub mod json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a value as text.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(value).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Reads a value from text.
    ///
    /// # Errors
    ///
    /// Those of the deserializer, or a text that is no such value.
    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
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
            let mut other: Rng = decode(&bytes, |_| Ok(())).unwrap();
            assert_eq!(other.next_u64(), rng.next_u64());
        }
        let numbers = vec![0.1, f64::INFINITY, -0.0, f64::MIN_POSITIVE / 3.0];
        let mut bytes = Vec::new();
        encode(&numbers, &mut bytes).unwrap();
        let back: Vec<f64> = decode(&bytes, |_| Ok(())).unwrap();
        assert!(back.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        bytes.push(0);
        assert!(decode::<Vec<f64>>(&bytes, |_| Ok(())).is_err());
        assert!(decode::<Vec<f64>>(&[0xff; 9], |_| Ok(())).is_err(), "a length that no memory could hold");
    }
}
