//! Engines reuse their buffers: counted by the allocator.

#![allow(unsafe_code)] // a global allocator cannot be written without

mod common;
mod models;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Random, random_forest, random_graph};
use models::{Traits, random_model, redraw_unary};
use multiplane_infer::engine::unwatched;
use multiplane_infer::{Engine, tree::Tree, trws::Trws};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed to the system allocator unchanged; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A solve of a model of the same shape, with other energies, allocates nothing once the engine is warm. (One test
/// function: the counter is global.)
#[test]
fn solves_do_not_allocate_when_warm() {
    for (name, mut engine) in [("tree", Box::new(Tree::default()) as Box<dyn Engine>), ("trws", Box::<Trws>::default())]
    {
        let mut random = Random(3);
        let ends = match name {
            "tree" => random_forest(&mut random, 30, 0.1),
            _ => random_graph(&mut random, 30, 0.2),
        };
        let traits = Traits { integral: false, forbids: false };
        let mut mrf = random_model(&mut random, 30, &ends, traits);
        let mut labels = Vec::new();
        for solve in 0..20 {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            engine.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
            // The first solves meet the largest of what is drawn at random.
            assert!(allocated == 0 || solve < 10, "{name}, solve {solve}: {allocated} allocations");
            for node in 0..30 {
                redraw_unary(&mut random, &mut mrf, node, traits);
            }
        }
    }
}
