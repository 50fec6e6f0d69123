//! Slots of numbers cut from large chunks, with free lists by size: planes come and go without the allocator.

/// Numbers in a chunk; a larger slot gets a chunk of its own.
const CHUNK: usize = 1 << 15;

/// Sizes of slots per doubling: a slot is at most 25 % larger than what was asked for (but at least 4).
const STEPS: u32 = 4;

/// More size classes than the largest plane needs.
const MOST_CLASSES: usize = 4 * 31;

/// A slot of a [`Pool`].
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Slot {
    chunk: u32,
    start: u32,
    len: u32,
    /// Size class of the place, which may be larger than the length asks for.
    class: u32,
}

impl Slot {
    /// Numbers in the slot.
    pub(super) fn len(self) -> usize {
        self.len as usize
    }
}

/// Storage for many short vectors of `T`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pool<T> {
    chunks: Vec<Vec<T>>,
    /// The chunk that new slots are cut from.
    current: usize,
    /// Freed slots by size class, with room for all slots of the class: giving back never allocates.
    free: Vec<Vec<(u32, u32)>>,
    /// Slots cut so far, by size class.
    cut: Vec<usize>,
}

impl<T: Copy> Pool<T> {
    pub(super) fn new() -> Self {
        Pool { chunks: Vec::new(), current: 0, free: Vec::new(), cut: Vec::new() }
    }

    /// Copies `items` into a slot.
    pub(super) fn store(&mut self, items: &[T]) -> Slot {
        let Some(&filler) = items.first() else {
            return Slot { chunk: 0, start: 0, len: 0, class: 0 };
        };
        let class = class_of(items.len());
        // A free place of up to twice the size is better than a new one: peaks of one class do not add up.
        let free = (class..=class + STEPS as usize).find(|&class| self.free.get(class).is_some_and(|f| !f.is_empty()));
        let class = free.unwrap_or(class);
        let (chunk, start) = match free.and_then(|class| self.free[class].pop()) {
            Some(place) => place,
            None => self.cut(class, filler),
        };
        let from = start as usize;
        self.chunks[chunk as usize][from..from + items.len()].copy_from_slice(items);
        Slot { chunk, start, len: items.len() as u32, class: class as u32 }
    }

    /// The numbers in a slot.
    pub(super) fn get(&self, slot: Slot) -> &[T] {
        if slot.len == 0 {
            return &[];
        }
        let from = slot.start as usize;
        &self.chunks[slot.chunk as usize][from..from + slot.len as usize]
    }

    /// Gives a slot back.
    pub(super) fn release(&mut self, slot: Slot) {
        if slot.len == 0 {
            return;
        }
        self.free[slot.class as usize].push((slot.chunk, slot.start));
    }

    /// Returns true if a slot that was restored lies in this pool.
    pub(super) fn has(&self, slot: Slot) -> bool {
        if slot.len == 0 {
            return true;
        }
        if slot.class as usize >= self.free.len() {
            return false;
        }
        let size = size_of(slot.class as usize);
        let in_chunk = |chunk: &Vec<T>| slot.start as usize + size <= chunk.len();
        slot.len as usize <= size && self.chunks.get(slot.chunk as usize).is_some_and(in_chunk)
    }

    /// Returns true if a pool that was restored holds together.
    pub(super) fn is_sound(&self) -> bool {
        let classes = self.free.len();
        let room: usize = self.chunks.iter().map(Vec::len).sum();
        let fits = |class: usize| {
            let size = size_of(class);
            let place = |&(chunk, start): &(u32, u32)| {
                self.chunks.get(chunk as usize).is_some_and(|chunk| start as usize + size <= chunk.len())
            };
            let cut = self.cut[class];
            self.free[class].len() <= cut
                && cut.checked_mul(size).is_some_and(|cut| cut <= room)
                && self.free[class].iter().all(place)
        };
        classes == self.cut.len() && classes <= MOST_CLASSES && (0..classes).all(fits)
    }

    /// Cuts a fresh slot of a size class.
    fn cut(&mut self, class: usize, filler: T) -> (u32, u32) {
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
            self.cut.resize(class + 1, 0);
        }
        self.cut[class] += 1;
        let spare = self.free[class].len();
        self.free[class].reserve(self.cut[class] - spare);
        let size = size_of(class);
        let room = self.chunks.get(self.current).map_or(0, |chunk| chunk.capacity() - chunk.len());
        if room < size {
            self.chunks.push(Vec::with_capacity(size.max(CHUNK)));
            self.current = self.chunks.len() - 1;
        }
        let chunk = &mut self.chunks[self.current];
        let start = chunk.len();
        chunk.resize(start + size, filler);
        (self.current as u32, start as u32)
    }
}

/// The size class of a slot for `len >= 1` numbers.
fn class_of(len: usize) -> usize {
    if len <= 4 {
        return 0;
    }
    let octave = usize::BITS - 1 - (len - 1).leading_zeros(); // 2^octave < len <= 2^(octave+1)
    let step = ((len - 1 - (1 << octave)) >> (octave - 2)) as u32;
    ((octave - 2) * STEPS + step + 1) as usize
}

/// Numbers in a slot of this class.
fn size_of(class: usize) -> usize {
    if class == 0 {
        return 4;
    }
    let (octave, step) = ((class as u32 - 1) / STEPS + 2, (class as u32 - 1) % STEPS);
    (1 << octave) + ((step as usize + 1) << (octave - 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A class holds every length that maps to it, wasting at most a quarter.
    #[test]
    fn classes_fit_their_lengths() {
        for len in 1..20_000 {
            let size = size_of(class_of(len));
            assert!(size >= len && (size <= 4 || size * 4 <= len * 5 + 4), "length {len} in a slot of {size}");
        }
    }

    /// Slots never overlap, and freed ones are used again: storage stays bounded.
    #[test]
    fn slots_are_reused_and_never_overlap() {
        let mut rng = Rng::new(5, 0);
        let mut pool = Pool::new();
        let mut live: Vec<(Slot, Vec<u32>)> = Vec::new();
        let mut chunks_then = 0;
        for round in 0..30_000u32 {
            if live.len() < 400 {
                let len = rng.below(if round % 100 == 0 { 40_000 } else { 300 }) as usize;
                let items = vec![round; len];
                live.push((pool.store(&items), items));
            } else {
                let gone = live.swap_remove(rng.below(live.len() as u64) as usize);
                assert_eq!(pool.get(gone.0), gone.1);
                pool.release(gone.0);
            }
            if round == 20_000 {
                chunks_then = pool.chunks.len();
            }
        }
        assert!(live.iter().all(|(slot, items)| pool.get(*slot) == items));
        assert!(pool.chunks.len() <= chunks_then + chunks_then / 4, "freed slots are not used again");
    }
}
