//! Programmes taken apart: variables that no row ties to each other.

use super::matrix::SparseMatrix;
use super::rows::Programme;

impl Programme {
    /// Returns programmes that no row ties to each other, with the variables of each in order, the largest first. Those
    /// of fewer than `small` variables are put together to about as many. Rows without entries belong to the first.
    pub fn components(&self, small: usize) -> Vec<(Vec<usize>, Programme)> {
        let part = self.groups(small);
        let count = part.iter().max().map_or(1, |most| most + 1);
        let (mut variables, mut rows) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        part.iter().enumerate().for_each(|(v, &part)| variables[part].push(v));
        for row in 0..self.matrix.rows() {
            rows[self.matrix.row(row).next().map_or(0, |(column, _)| part[column])].push(row);
        }
        let place = {
            let mut place = vec![0; self.variables()];
            variables.iter().for_each(|own| own.iter().enumerate().for_each(|(at, &v)| place[v] = at));
            place
        };
        let of = |(own, rows): (Vec<usize>, Vec<usize>)| {
            let pick = |from: &[f64], at: &[usize]| at.iter().map(|&at| from[at]).collect::<Vec<f64>>();
            let entries: Vec<Vec<(u32, f64)>> = rows
                .iter()
                .map(|&row| self.matrix.row(row).map(|(column, value)| (place[column] as u32, value)).collect())
                .collect();
            let programme = Programme {
                matrix: SparseMatrix::of_rows(entries.iter().map(Vec::as_slice), own.len()),
                row_lower: pick(&self.row_lower, &rows),
                row_upper: pick(&self.row_upper, &rows),
                lower: pick(&self.lower, &own),
                upper: pick(&self.upper, &own),
                integral: own.iter().map(|&v| self.integral[v]).collect(),
            };
            (own, programme)
        };
        variables.into_iter().zip(rows).map(of).collect()
    }

    /// Returns the number of the part that each variable is in.
    fn groups(&self, small: usize) -> Vec<usize> {
        let mut above: Vec<usize> = (0..self.variables()).collect();
        for row in 0..self.matrix.rows() {
            let mut columns = self.matrix.row(row).map(|(column, _)| column);
            let Some(first) = columns.next() else { continue };
            for column in columns {
                let (one, other) = (top(&mut above, first), top(&mut above, column));
                above[one.max(other)] = one.min(other);
            }
        }
        let tops: Vec<usize> = (0..self.variables()).map(|v| top(&mut above, v)).collect();
        let mut sizes = vec![0; tops.len()];
        tops.iter().for_each(|&top| sizes[top] += 1);
        let mut order: Vec<usize> = (0..tops.len()).filter(|&v| sizes[v] > 0).collect();
        order.sort_by_key(|&top| std::cmp::Reverse(sizes[top]));
        let (mut part, mut next, mut filled) = (vec![0; tops.len()], 0, 0);
        for top in order {
            if filled >= small.max(1) {
                (next, filled) = (next + 1, 0);
            }
            part[top] = next;
            filled += sizes[top];
        }
        tops.into_iter().map(|top| part[top]).collect()
    }
}

/// Returns the least variable that is tied to `v`, as far as rows have been read.
fn top(above: &mut [usize], mut v: usize) -> usize {
    while above[v] != v {
        above[v] = above[above[v]];
        v = above[v];
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of rows come from the rows that a part has, and an empty row is not lost.
    #[test]
    fn rows_go_with_their_variables() {
        let matrix = SparseMatrix::new(vec![0, 2, 2, 4], vec![1, 3, 2, 4], vec![1.0, 2.0, 3.0, 4.0], 5).unwrap();
        let (row_lower, row_upper) = (vec![0.0, -1.0, 1.0], vec![3.0, 4.0, 5.0]);
        let (lower, upper, integral) = (vec![0.0; 5], vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![true; 5]);
        let whole = Programme { matrix, row_lower, row_upper, lower, upper, integral };
        let parts = whole.components(1);
        assert_eq!(parts.iter().map(|part| part.0.clone()).collect::<Vec<_>>(), [vec![1, 3], vec![2, 4], vec![0]]);
        let of = |at: usize| &parts[at].1;
        assert_eq!((&of(0).row_upper[..], &of(0).upper[..]), (&[3.0, 4.0][..], &[2.0, 4.0][..]));
        assert_eq!((&of(1).row_upper[..], of(1).matrix.values()), (&[5.0][..], &[3.0, 4.0][..]));
        assert_eq!(of(2).matrix.rows(), 0);
        assert_eq!(
            whole.components(3).iter().map(|part| part.0.clone()).collect::<Vec<_>>(),
            [vec![1, 2, 3, 4], vec![0]]
        );
    }
}
