//! Rows that were computed, as many as memory is given for; the one that was not used for longest makes room.
//!
//! Every access is O(1): a table says where a row is, and the places form a ring in the order of their use. Memory of a
//! place is taken when it is first needed, and never given back.

/// Says that there is none.
const NONE: u32 = u32::MAX;

/// A bounded number of rows of equal length.
pub(super) struct Cache<T> {
    /// Where each row is.
    place_of: Vec<u32>,
    places: Vec<Place<T>>,
    most: usize,
    /// The place used last; the ring goes on to older ones, and ends with the oldest before it.
    newest: u32,
}

struct Place<T> {
    row: u32,
    older: u32,
    newer: u32,
    values: Vec<T>,
}

impl<T: Copy + Default> Cache<T> {
    /// Makes room for as many rows of `rows` numbers as `bytes` hold, one at least.
    pub(super) fn new(rows: usize, bytes: usize) -> Self {
        let most = (bytes / (rows * size_of::<T>()).max(1)).clamp(1, rows.max(1));
        Cache { place_of: vec![NONE; rows], places: Vec::new(), most, newest: NONE }
    }

    /// Rows that it holds at most.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the place of a row that is held, without counting this as a use.
    pub(super) fn peek(&self, row: usize) -> Option<usize> {
        Some(self.place_of[row]).filter(|&place| place != NONE).map(|place| place as usize)
    }

    /// Returns the place of a row that is held, which is now the one used last.
    pub(super) fn find(&mut self, row: usize) -> Option<usize> {
        let place = self.peek(row)?;
        self.unlink(place as u32);
        self.link(place as u32);
        Some(place)
    }

    /// Gives a row that is not held a place, the one used last now; whatever it held is to be overwritten.
    pub(super) fn claim(&mut self, row: usize) -> usize {
        let place = if self.places.len() < self.most {
            let values = vec![T::default(); self.place_of.len()];
            self.places.push(Place { row: NONE, older: NONE, newer: NONE, values });
            self.places.len() as u32 - 1
        } else {
            let oldest = self.places[self.newest as usize].newer;
            self.place_of[self.places[oldest as usize].row as usize] = NONE;
            self.unlink(oldest);
            self.places[oldest as usize].values.resize(self.place_of.len(), T::default());
            oldest
        };
        self.places[place as usize].row = row as u32;
        self.place_of[row] = place;
        self.link(place);
        place as usize
    }

    /// Returns the rows that are held, the one used last at the end.
    pub(super) fn rows(&self) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.places.len());
        let mut place = self.newest;
        for _ in 0..self.places.len() {
            let Place { row, older, .. } = self.places[place as usize];
            rows.push(row);
            place = older;
        }
        rows.reverse();
        rows
    }

    /// Gives these rows places without numbers, in this order, as far as there is room for the last of them; forgets all
    /// others.
    pub(super) fn take_over(&mut self, rows: &[u32]) {
        self.places.clear();
        self.place_of.fill(NONE);
        self.newest = NONE;
        for &row in &rows[rows.len().saturating_sub(self.most)..] {
            let place = self.claim(row as usize);
            self.take(place);
        }
    }

    /// The numbers in a place; none where its row was only taken over.
    pub(super) fn values(&self, place: usize) -> &[T] {
        &self.places[place].values
    }

    /// Takes the numbers out of a place, to be put back.
    pub(super) fn take(&mut self, place: usize) -> Vec<T> {
        std::mem::take(&mut self.places[place].values)
    }

    /// Puts numbers into a place.
    pub(super) fn put(&mut self, place: usize, values: Vec<T>) {
        self.places[place].values = values;
    }

    fn unlink(&mut self, place: u32) {
        let Place { older, newer, .. } = self.places[place as usize];
        if older == place {
            self.newest = NONE; // it was alone
            return;
        }
        self.places[older as usize].newer = newer;
        self.places[newer as usize].older = older;
        if self.newest == place {
            self.newest = older;
        }
    }

    /// Puts a place before the newest.
    fn link(&mut self, place: u32) {
        let (older, newer) = match self.newest {
            NONE => (place, place),
            newest => (newest, self.places[newest as usize].newer),
        };
        self.places[place as usize].older = older;
        self.places[place as usize].newer = newer;
        self.places[older as usize].newer = place;
        self.places[newer as usize].older = place;
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_core::rng::Rng;

    /// Against a list in the order of use, over random accesses: the same rows are held, and the oldest makes room.
    #[test]
    fn the_oldest_makes_room() {
        for most in [1usize, 2, 3, 7, 20] {
            let mut cache: Cache<f32> = Cache::new(20, most * 20 * 4 + 79);
            assert_eq!(cache.most(), most);
            let (mut rng, mut list) = (Rng::new(most as u64, 0), Vec::new());
            for step in 0..3000 {
                let row = rng.below(20) as usize;
                let known = list.iter().position(|&held| held == row);
                let found = cache.find(row);
                assert_eq!(found.is_some(), known.is_some(), "step {step} with {most} places");
                match known {
                    Some(at) => drop(list.remove(at)),
                    None => {
                        let place = cache.claim(row);
                        let mut values = cache.take(place);
                        values.fill(row as f32);
                        cache.put(place, values);
                        if list.len() == most {
                            list.remove(0);
                        }
                    }
                }
                list.push(row);
                for row in 0..20 {
                    assert_eq!(cache.peek(row).is_some(), list.contains(&row), "step {step} with {most} places");
                    assert!(cache.peek(row).is_none_or(|place| cache.values(place) == [row as f32; 20]));
                }
            }
        }
    }
}
