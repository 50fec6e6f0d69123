//! Damage to bytes, as disks, editors and people do it: each mutator makes one change, and some make a few.

use multiplane_core::rng::Rng;

/// What stands for a number: signs, limits of types, exponents, what is no number, digits that are not ASCII.
const NUMBERS: [&str; 36] = [
    "0",
    "-0",
    "-1",
    "1",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "268435456",
    "268435457",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "-1e308",
    "1e309",
    "1e154",
    "1e-320",
    "1e-999",
    "5e-324",
    "1e999999999999",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "1.#INF",
    "0000000000000000000007",
    "+3",
    "0x10",
    "1_000",
    "\u{663}\u{664}",
    "\u{ff11}",
    "1.",
];

/// What stands where it should not.
const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\n",
    b"\n\n\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"",
    b":",
    b",",
    b"#",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"-",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    "\u{202e}\u{85}".as_bytes(),
    b"\x1b]0;x\x07",
];

/// A place in `0..bound`, or 0.
pub(crate) fn below(rng: &mut Rng, bound: usize) -> usize {
    if bound == 0 { 0 } else { rng.below(bound as u64) as usize }
}

/// One of some things.
pub(crate) fn one_of<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[below(rng, all.len())]
}

/// A number that is no fun.
pub(crate) fn nasty_number(rng: &mut Rng) -> &'static str {
    NUMBERS[below(rng, NUMBERS.len())]
}

/// One of `corpus`, changed one to four times; at times of two files spliced.
pub(crate) fn mutated(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = one_of(rng, corpus).clone();
    if rng.below(12) == 0 {
        let other = one_of(rng, corpus);
        let (from, to) = (below(rng, bytes.len() + 1), below(rng, other.len() + 1));
        bytes.truncate(from);
        bytes.extend_from_slice(&other[to..]);
    }
    for _ in 0..1 + rng.below(2) * rng.below(4) {
        change(rng, &mut bytes);
    }
    bytes
}

/// One change.
pub(crate) fn change(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = below(rng, bytes.len() + 1);
    let length = 1 << rng.below(8);
    let to = (at + below(rng, length)).min(bytes.len());
    match rng.below(18) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        1 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..to)),
        4 => drop(bytes.splice(at..at, one_of(rng, &PIECES).iter().copied())),
        5 => drop(bytes.splice(at..at, nasty_number(rng).bytes())),
        6 => {
            let again = bytes[at..to].repeat(1 + below(rng, 3));
            bytes.splice(at..at, again);
        }
        7 => swap_ranges(rng, bytes),
        8..=10 => replace_number(rng, bytes),
        11 => on_lines(rng, bytes, |rng, lines| drop(lines.remove(below(rng, lines.len())))),
        12 => on_lines(rng, bytes, |rng, lines| {
            let (from, to) = (below(rng, lines.len()), below(rng, lines.len() + 1));
            lines.insert(to, lines[from].clone());
        }),
        13 => on_lines(rng, bytes, |rng, lines| {
            let (one, other) = (below(rng, lines.len()), below(rng, lines.len()));
            lines.swap(one, other);
        }),
        14 => separator(rng, bytes),
        15 => {
            let ends: &[u8] = if rng.below(2) == 0 { b"\r\n" } else { b"\r" };
            *bytes = bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(ends);
        }
        16 => {
            let long = vec![*one_of(rng, b"x1 \n\t,:[{\"-."); 1 << rng.below(18)];
            bytes.splice(at..at, long);
        }
        17 if rng.below(4) == 0 => drop(bytes.splice(0..0, *b"\xef\xbb\xbf")),
        _ => bytes.insert(at, rng.next_u64() as u8),
    }
}

/// Two stretches change places.
fn swap_ranges(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let mut cuts = [0; 4].map(|_| below(rng, bytes.len() + 1));
    cuts.sort_unstable();
    let [a, b, c, d] = cuts;
    *bytes = [&bytes[..a], &bytes[c..d], &bytes[b..c], &bytes[a..b], &bytes[d..]].concat();
}

/// A run of digits, with its point and exponent, becomes another number.
fn replace_number(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
    let begins = |&at: &usize| bytes[at].is_ascii_digit() && (at == 0 || !is_part(bytes[at - 1]));
    let starts: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    if starts.is_empty() {
        return;
    }
    let from = *one_of(rng, &starts);
    let to = from + bytes[from..].iter().take_while(|byte| is_part(**byte)).count();
    let new: Vec<u8> = match rng.below(3) {
        0 => std::str::from_utf8(&bytes[from..to]).ok().and_then(|text| text.parse::<i64>().ok()).map_or_else(
            || b"7".to_vec(),
            |number| number.wrapping_add([1, -1, 2, 1000][below(rng, 4)]).to_string().into_bytes(),
        ),
        _ => nasty_number(rng).as_bytes().to_vec(),
    };
    bytes.splice(from..to, new);
}

/// A change of the list of lines.
fn on_lines(rng: &mut Rng, bytes: &mut Vec<u8>, change: impl Fn(&mut Rng, &mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if !lines.is_empty() {
        change(rng, &mut lines);
        *bytes = lines.concat();
    }
}

/// A separator goes, doubles, or becomes another.
fn separator(rng: &mut Rng, bytes: &mut Vec<u8>) {
    const SEPARATORS: &[u8] = b" \t\n,:;=\"[]{}()";
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| SEPARATORS.contains(&bytes[at])).collect();
    if places.is_empty() {
        return;
    }
    let at = *one_of(rng, &places);
    match rng.below(3) {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        _ => bytes[at] = *one_of(rng, SEPARATORS),
    }
}
