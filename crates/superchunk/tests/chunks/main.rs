//! Chunks alone: all options, parts of chunks, vectors, damage.

use superchunk_testkit::alloc::CountingAllocator;

mod check;
mod corruption;
mod golden;
mod idle;
mod legacy_split;
mod marks;
mod options;
mod partial;
mod roundtrip;

/// Counts what each thread takes: several tests bound it.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
