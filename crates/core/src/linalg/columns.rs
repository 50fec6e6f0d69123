//! A few columns of the rows of a table: what scores and moves some labels of a variable.
//!
//! Cost: one number of the table for each entry and column, a few columns at a time, so that entries are read once for
//! all of them.

/// Columns that one pass over a sparse row takes.
const COLUMNS: usize = 4;

/// Accumulators of a column: with those of other columns, enough to hide the latency of additions.
const LANES: usize = 2;

/// `out[k] = sum_i values[i] * table[indices[i] * width + columns[k]]`: a few columns of rows of a row-major table,
/// added up; `values` is `None` where all are 1. Each sum has two accumulators, entries in turn. Panics if a place is
/// out of range.
pub fn column_sums(
    indices: &[u32],
    values: Option<&[f64]>,
    columns: &[u32],
    width: usize,
    table: &[f64],
    out: &mut [f64],
) {
    for (columns, out) in columns.chunks(COLUMNS).zip(out.chunks_mut(COLUMNS)) {
        match (columns, out) {
            (&[a], [one]) => [*one] = sums([a], indices, values, width, table),
            (&[a, b], [one, two]) => [*one, *two] = sums([a, b], indices, values, width, table),
            (&[a, b, c], [one, two, three]) => {
                [*one, *two, *three] = sums([a, b, c], indices, values, width, table);
            }
            (&[a, b, c, d], [one, two, three, four]) => {
                [*one, *two, *three, *four] = sums([a, b, c, d], indices, values, width, table);
            }
            _ => unreachable!("chunks hold at most {COLUMNS} columns, and as many numbers"),
        }
    }
}

/// The sums of `N` columns.
#[inline(always)]
fn sums<const N: usize>(
    columns: [u32; N],
    indices: &[u32],
    values: Option<&[f64]>,
    width: usize,
    table: &[f64],
) -> [f64; N] {
    let mut sums = [[0.0; N]; LANES];
    let mut add = |lane: usize, index: u32, value: f64| {
        let row = &table[index as usize * width..][..width];
        for k in 0..N {
            sums[lane][k] += value * row[columns[k] as usize];
        }
    };
    let (chunks, rest) = indices.as_chunks::<LANES>();
    match values {
        None => {
            for chunk in chunks {
                (0..LANES).for_each(|lane| add(lane, chunk[lane], 1.0));
            }
            rest.iter().enumerate().for_each(|(lane, &index)| add(lane, index, 1.0));
        }
        Some(values) => {
            let (value_chunks, value_rest) = values.as_chunks::<LANES>();
            for (chunk, values) in chunks.iter().zip(value_chunks) {
                (0..LANES).for_each(|lane| add(lane, chunk[lane], values[lane]));
            }
            rest.iter().zip(value_rest).enumerate().for_each(|(lane, (&index, &value))| add(lane, index, value));
        }
    }
    std::array::from_fn(|k| (0..LANES).map(|lane| sums[lane][k]).sum())
}

/// `table[index][column] += value * amount` for every entry of a sparse row and some columns with amounts, rows of the
/// table being `width` long; `values` is `None` where all stored values are 1. Panics if a place is out of range.
pub fn add_to_rows(indices: &[u32], values: Option<&[f64]>, columns: &[(u32, f64)], width: usize, table: &mut [f64]) {
    for columns in columns.chunks(COLUMNS) {
        match columns {
            [a] => add_columns([*a], indices, values, width, table),
            [a, b] => add_columns([*a, *b], indices, values, width, table),
            [a, b, c] => add_columns([*a, *b, *c], indices, values, width, table),
            [a, b, c, d] => add_columns([*a, *b, *c, *d], indices, values, width, table),
            _ => unreachable!("chunks hold at most {COLUMNS} columns"),
        }
    }
}

/// [`add_to_rows`] for `N` columns.
#[inline(always)]
fn add_columns<const N: usize>(
    columns: [(u32, f64); N],
    indices: &[u32],
    values: Option<&[f64]>,
    width: usize,
    table: &mut [f64],
) {
    let mut add = |index: u32, value: f64| {
        let row = &mut table[index as usize * width..][..width];
        for (column, amount) in columns {
            row[column as usize] += value * amount;
        }
    };
    match values {
        None => indices.iter().for_each(|&index| add(index, 1.0)),
        Some(values) => indices.iter().zip(values).for_each(|(&index, &value)| add(index, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Columns add up to what plain loops find, and go where plain loops put them, for every number of columns.
    #[test]
    fn columns_agree_with_plain_loops() {
        let (width, rows) = (11, 40);
        let table = vector(rows * width, 3);
        for count in 0..=9u32 {
            for entries in [0usize, 1, 2, 5, 40] {
                let indices: Vec<u32> = (0..rows as u32).take(entries).collect();
                let values = vector(entries, 4);
                let columns: Vec<u32> = (0..count).map(|k| (k * 5) % width as u32).collect();
                for values in [None, Some(&values[..])] {
                    let value = |at: usize| values.map_or(1.0, |values| values[at]);
                    let mut out = vec![f64::NAN; columns.len()];
                    column_sums(&indices, values, &columns, width, &table, &mut out);
                    let amounts: Vec<(u32, f64)> = columns.iter().copied().zip(vector(columns.len(), 5)).collect();
                    let (mut moved, mut expected) = (table.clone(), table.clone());
                    add_to_rows(&indices, values, &amounts, width, &mut moved);
                    for (k, (column, amount)) in amounts.iter().enumerate() {
                        let place = |&index: &u32| index as usize * width + *column as usize;
                        let sum: f64 = indices.iter().enumerate().map(|(at, i)| value(at) * table[place(i)]).sum();
                        assert!((out[k] - sum).abs() < 1e-13, "column {k} of {count}, {entries} entries");
                        indices.iter().enumerate().for_each(|(at, i)| expected[place(i)] += value(at) * amount);
                    }
                    assert_eq!(moved, expected, "{count} columns, {entries} entries");
                }
            }
        }
    }
}
