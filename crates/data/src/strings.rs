//! Strings by number: each distinct one is stored once, numbered in the order of first appearance.
//!
//! Memory: the bytes of the strings, 8 per string for its end and 12 to 24 for finding it. Finding costs one hash of
//! the string, whose function is fixed: numbers and answers never depend on chance. Strings of other hashes are not
//! looked at.

use multiplane_core::linalg;

/// Marks a place of the table that is free.
const FREE: u64 = u64::MAX;

/// Distinct strings, numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    bytes: String,
    /// The end of each string in `bytes`; it begins where the one before ends.
    ends: Vec<u64>,
    /// Hashes, each with the number of its string in the lower half. Open addressing, at most two thirds full; a power
    /// of two long.
    table: Vec<u64>,
}

impl PartialEq for Strings {
    fn eq(&self, other: &Self) -> bool {
        (&self.bytes, &self.ends) == (&other.bytes, &other.ends)
    }
}

impl Eq for Strings {}

impl Strings {
    /// Begins with no strings yet.
    pub fn new() -> Self {
        Strings::default()
    }

    /// Begins with a table for so many strings.
    fn with_table(count: usize) -> Self {
        let size = (count * 3 / 2 + 1).next_power_of_two().max(16);
        Strings { table: vec![FREE; size], ..Strings::default() }
    }

    /// Returns the strings whose bytes stand one after the other in `bytes`, each ending at its entry of `ends`.
    ///
    /// # Errors
    ///
    /// The bytes are not UTF-8, an end does not fit them, or a string stands there twice.
    pub fn from_parts(bytes: Vec<u8>, ends: &[u64]) -> Result<Self, String> {
        let bytes = String::from_utf8(bytes).map_err(|error| format!("its strings are not UTF-8: {error}"))?;
        if ends.last().copied().unwrap_or(0) != bytes.len() as u64 {
            return Err("the last string does not end where the bytes do".into());
        }
        let mut strings = Strings { bytes, ends: ends.to_vec(), ..Strings::with_table(ends.len()) };
        let mut start = 0;
        for (number, &end) in ends.iter().enumerate() {
            let string = usize::try_from(end).ok().and_then(|end| strings.bytes.get(start..end));
            let string =
                string.ok_or_else(|| format!("string {number} ends before it begins or inside of a character"))?;
            let hash = hash(string);
            let place = strings.place(string, hash);
            if strings.table[place] != FREE {
                return Err(format!("string {number} stands there twice"));
            }
            strings.table[place] = hash << 32 | number as u64;
            start = end as usize;
        }
        Ok(strings)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no string.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns all strings' bytes, one after the other.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_bytes()
    }

    /// Returns where each string ends in [`bytes`](Strings::bytes).
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// Returns string `number`.
    ///
    /// # Panics
    /// If there is no such string.
    #[inline]
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[number] as usize]
    }

    /// Returns the strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }

    /// Returns the number of a string, if it is there.
    pub fn find(&self, string: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        let slot = self.table[self.place(string, hash(string))];
        (slot != FREE).then_some(slot as u32)
    }

    /// Returns the number of a string, which is added if it is not there.
    pub fn intern(&mut self, string: &str) -> u32 {
        if 3 * (self.len() + 1) > 2 * self.table.len() {
            self.resize((2 * self.table.len()).max(16));
        }
        self.intern_hashed(string, hash(string))
    }

    /// The same where the table has room, and the hash is known.
    fn intern_hashed(&mut self, string: &str, hash: u64) -> u32 {
        let place = self.place(string, hash);
        if self.table[place] == FREE {
            self.table[place] = hash << 32 | self.len() as u64;
            self.bytes.push_str(string);
            self.ends.push(self.bytes.len() as u64);
        }
        self.table[place] as u32
    }

    /// Adds the strings whose bytes stand one after the other in `bytes`, each ending at its entry of `ends`, to none;
    /// returns the number of each. Places of the table are asked for ahead, so that strings wait less for memory.
    pub(super) fn numbered(bytes: &str, ends: &[usize]) -> (Self, Vec<u32>) {
        const AHEAD: usize = 8;
        let mut strings = Strings::with_table(ends.len());
        let string = |number: usize| &bytes[number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]];
        let mut next = [0; AHEAD];
        let mut numbers = Vec::with_capacity(ends.len());
        for ahead in 0..ends.len() + AHEAD {
            if let Some(number) = ahead.checked_sub(AHEAD) {
                numbers.push(strings.intern_hashed(string(number), next[ahead % AHEAD]));
            }
            if ahead < ends.len() {
                let hash = hash(string(ahead));
                let place = hash as usize & (strings.table.len() - 1);
                linalg::prefetch(&strings.table[place..=place]);
                next[ahead % AHEAD] = hash;
            }
        }
        (strings, numbers)
    }

    /// Returns the place of a string in the table, or the free place for it.
    fn place(&self, string: &str, hash: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash as usize & mask;
        while self.table[place] != FREE
            && (self.table[place] >> 32 != hash || self.get(self.table[place] as u32) != string)
        {
            place = (place + 1) & mask;
        }
        place
    }

    /// Gives the table so many places.
    fn resize(&mut self, size: usize) {
        for slot in std::mem::replace(&mut self.table, vec![FREE; size]).into_iter().filter(|slot| *slot != FREE) {
            let mut place = (slot >> 32) as usize & (size - 1);
            while self.table[place] != FREE {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = slot;
        }
    }
}

/// Returns a hash of 32 bits.
fn hash(string: &str) -> u64 {
    let bytes = string.as_bytes();
    let short = || bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let last = bytes.last_chunk().map_or_else(short, |last| u64::from_le_bytes(*last));
    let words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    let start = folded(bytes.len() as u64);
    folded(words.fold(start, |state, word| folded(state ^ word)) ^ last) >> 32
}

/// Mixes the bits of a number: a product's upper half over its lower, by digits of pi and of the golden ratio.
#[inline]
pub(super) fn folded(number: u64) -> u64 {
    let product = u128::from(number ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}
