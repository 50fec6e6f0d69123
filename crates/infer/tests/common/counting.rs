//! An allocator that counts by thread, for test files that declare this module: what the test harness does beside, such
//! as telling after a minute that a test still runs, is not counted. It counts calls, and the bytes that a thread
//! holds.

#![allow(unsafe_code)] // a global allocator cannot be written without
#![allow(dead_code)] // not every test asks for both counts

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Needs neither memory nor a destructor, so that the allocator may use it at any time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes held, and the most of them. What one thread takes and another gives back is taken off there.
    static HELD: Cell<[i64; 2]> = const { Cell::new([0; 2]) };
}

/// Allocations and reallocations of this thread so far.
pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Begins to watch for the most bytes that this thread holds, and returns how many it holds now.
pub(crate) fn bytes_held() -> i64 {
    let [held, _] = HELD.get();
    HELD.set([held; 2]);
    held
}

/// The most bytes that this thread has held since [`bytes_held`].
pub(crate) fn most_bytes() -> i64 {
    HELD.get()[1]
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

fn hold(bytes: i64) {
    let [held, most] = HELD.get();
    HELD.set([held + bytes, most.max(held + bytes)]);
}

// SAFETY: every call is handed to the system allocator unchanged; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        hold(size as i64 - layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
