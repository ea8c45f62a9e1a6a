//! An allocator that counts, to prove how much memory an input can make a decoder take.
//!
//! A test binary installs it and measures one call:
//!
//! ```
//! use superchunk_testkit::alloc::{CountingAllocator, peak_of};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let (bytes, peak) = peak_of(|| vec![0u8; 1 << 20]);
//! assert!(peak >= bytes.len() && peak < bytes.len() + 4096);
//! ```
//!
//! Counts are per thread: tests that run side by side do not disturb each other, and work handed to
//! other threads is not seen, so measure with an inline executor.

#![expect(
    unsafe_code,
    reason = "GlobalAlloc is an unsafe trait; every call is passed on to System"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system allocator with a count of live and peak bytes per thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

#[derive(Clone, Copy)]
struct Counts {
    live: isize,
    peak: isize,
}

thread_local! {
    // Const-initialised and without a destructor: reading it never allocates.
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { live: 0, peak: 0 }) };
}

/// Runs `work` and tells how many bytes were live at once on this thread beyond those before it.
///
/// # Panics
///
/// When [`CountingAllocator`] is not the global allocator of this binary: the answer would be 0.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNTS.get();
    let probe = std::hint::black_box(Box::new([0u8; 64]));
    assert!(COUNTS.get().live > before.live, "install CountingAllocator as the global allocator");
    drop(probe);
    let start = COUNTS.get().live;
    COUNTS.set(Counts { live: start, peak: start });
    let result = work();
    let peak = COUNTS.get().peak - start;
    (result, usize::try_from(peak).unwrap_or(0))
}

/// How many bytes this thread has taken and not given back, less those that it gave back for others.
///
/// Without [`CountingAllocator`] it is always 0.
#[must_use]
pub fn live() -> isize {
    COUNTS.get().live
}

fn count(grown: usize, shrunk: usize) {
    // Layout sizes fit isize, so the conversions are exact.
    let change = grown.cast_signed().wrapping_sub(shrunk.cast_signed());
    let _ = COUNTS.try_with(|counts| {
        let Counts { live, peak } = counts.get();
        let live = live.wrapping_add(change);
        counts.set(Counts { live, peak: peak.max(live) });
    });
}

// SAFETY: every method passes its arguments unchanged to System and returns its answer; the counting
// around it neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise about `layout` is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise about `layout` is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise about `pointer` and `layout` is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Old and new block may live at once while the bytes move.
        count(new_size, 0);
        count(0, layout.size());
        // SAFETY: the caller's promises are handed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
