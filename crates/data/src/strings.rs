//! Strings by number: each distinct one is stored once, numbered in the order of first appearance.
//!
//! Memory: the bytes of the strings, 8 per string for its end and 6 to 16 for finding it. Finding costs one hash of
//! the string, whose function is fixed: numbers and answers never depend on chance.

use std::hash::{DefaultHasher, Hasher};

/// Marks a place of the table that is free.
const FREE: u32 = u32::MAX;

/// Distinct strings, numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    bytes: String,
    /// The end of each string in `bytes`; it begins where the one before ends.
    ends: Vec<u64>,
    /// Numbers by hash, open addressing, at most two thirds full; a power of two long.
    table: Vec<u32>,
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
        let (mut hashes, mut start) = (Vec::with_capacity(ends.len()), 0);
        for (number, &end) in ends.iter().enumerate() {
            let string = usize::try_from(end).ok().and_then(|end| bytes.get(start..end));
            let string =
                string.ok_or_else(|| format!("string {number} ends before it begins or inside of a character"))?;
            hashes.push(hash(string));
            start = end as usize;
        }
        // Hashes are compared before strings, which lie further away.
        let mut table = vec![FREE; (2 * ends.len()).next_power_of_two().max(16)];
        let mut strings = Strings { bytes, ends: ends.to_vec(), table: Vec::new() };
        for (number, &own) in hashes.iter().enumerate() {
            let mut place = own as usize & (table.len() - 1);
            while table[place] != FREE {
                let other = table[place];
                if hashes[other as usize] == own && strings.get(other) == strings.get(number as u32) {
                    return Err(format!("string {number} stands there twice"));
                }
                place = (place + 1) & (table.len() - 1);
            }
            table[place] = number as u32;
        }
        strings.table = table;
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
        let number = self.table[self.place(string)];
        (number != FREE).then_some(number)
    }

    /// Returns the number of a string, which is added if it is not there.
    pub fn intern(&mut self, string: &str) -> u32 {
        if 3 * (self.len() + 1) > 2 * self.table.len() {
            self.grow();
        }
        let place = self.place(string);
        if self.table[place] == FREE {
            self.table[place] = self.len() as u32;
            self.bytes.push_str(string);
            self.ends.push(self.bytes.len() as u64);
        }
        self.table[place]
    }

    /// Returns the place of a string in the table, or the free place for it.
    fn place(&self, string: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(string) as usize & mask;
        while self.table[place] != FREE && self.get(self.table[place]) != string {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let size = (2 * self.table.len()).max(16);
        self.table.clear();
        self.table.resize(size, FREE);
        for number in 0..self.len() as u32 {
            let mut place = hash(self.get(number)) as usize & (size - 1);
            while self.table[place] != FREE {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = number;
        }
    }
}

fn hash(string: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(string.as_bytes());
    hasher.finish()
}
