//! Changes of JSON that leave it JSON: keys and items go, come twice, change type, size, sign and place.

use multiplane_core::rng::Rng;
use serde_json::{Value, json};

use crate::bytes::{below, mutated, nasty_number, one_of};

/// A value that fits in few places.
fn nasty(rng: &mut Rng) -> Value {
    match rng.below(12) {
        0 => Value::Null,
        1 => json!(rng.below(2) == 0),
        2 => json!([]),
        3 => json!({}),
        4 => json!(""),
        5 => json!("x".repeat(1 << rng.below(17))),
        6 => json!("\u{202e}\n\0\u{1b}[2J"),
        7 => json!(nasty_number(rng)),
        8 => (0..1 << rng.below(7)).fold(json!(1), |inner, _| json!([inner])),
        9 => json!(vec![rng.below(3); 1 << rng.below(10)]),
        _ => serde_json::from_str(nasty_number(rng)).unwrap_or_else(|_| json!(0.5)),
    }
}

/// The values inside, this one among them, by the steps on the way.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(table) => table.values().map(count).sum(),
        _ => 0,
    }
}

/// The `k`-th value inside, in the order of [`count`].
fn find(value: &mut Value, mut k: usize) -> Option<&mut Value> {
    if k == 0 {
        return Some(value);
    }
    k -= 1;
    let inside: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(table) => table.values_mut().collect(),
        _ => Vec::new(),
    };
    for item in inside {
        let size = count(item);
        if k < size {
            return find(item, k);
        }
        k -= size;
    }
    None
}

/// One change.
pub(crate) fn change(rng: &mut Rng, value: &mut Value) {
    let size = count(value);
    let other = find(value, below(rng, size)).map(|other| other.clone());
    let Some(place) = find(value, below(rng, size)) else { return };
    match (rng.below(10), place) {
        (0, place) => *place = other.unwrap_or_default(),
        (1..=4, Value::Object(table)) if !table.is_empty() => {
            let key = table.keys().nth(below(rng, table.len())).cloned().unwrap_or_default();
            match rng.below(4) {
                0 => drop(table.remove(&key)),
                1 => drop(table.insert(key, nasty(rng))),
                2 => drop(table.insert(format!("{key}_"), nasty(rng))),
                _ => {
                    let own = table.remove(&key).unwrap_or_default();
                    let names = ["", "name", "x\n\u{1b}"];
                    table.insert((*one_of(rng, &names)).into(), own);
                }
            }
        }
        (1..=4, Value::Array(items)) if !items.is_empty() => {
            let (at, to) = (below(rng, items.len()), below(rng, items.len()));
            match rng.below(4) {
                0 => drop(items.remove(at)),
                1 => items.insert(to, items[at].clone()),
                2 => items.swap(at, to),
                _ => items[at] = nasty(rng),
            }
        }
        (5, Value::Number(number)) => {
            let by = [1.0, -1.0, 1e3, 0.5][below(rng, 4)];
            *number = serde_json::Number::from_f64(number.as_f64().unwrap_or(0.0) * by + by).unwrap_or(0.into());
        }
        (6, Value::Number(number)) => {
            *number = number.as_i64().map_or(7.into(), |own| own.wrapping_add([1, -1, 2, -2][below(rng, 4)]).into());
        }
        (7, Value::String(text)) => {
            let bytes = mutated(rng, &[std::mem::take(text).into_bytes()]);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        (8, place) => *place = json!([place.take()]),
        (_, place) => *place = nasty(rng),
    }
}

/// One of `corpus`, lines of JSON, with one to three changes of a line that leave it JSON; every third time as bytes.
pub(crate) fn mutated_lines(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    if rng.below(3) == 0 {
        return mutated(rng, corpus);
    }
    let bytes = one_of(rng, corpus);
    let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = below(rng, lines.len());
    let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) else { return mutated(rng, corpus) };
    for _ in 0..1 + rng.below(3) {
        change(rng, &mut value);
    }
    lines[at] = value.to_string().into_bytes();
    lines.join(&b'\n')
}
