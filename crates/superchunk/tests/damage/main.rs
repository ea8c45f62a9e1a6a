//! Damaged and hostile files: salvage, verification, recovery.

use superchunk_testkit::alloc::CountingAllocator;

mod bcolz;
mod blsk;
mod cells;
mod columns;
mod disk;
mod doubt;
mod folders;
mod frames;
mod hostile;
mod objects;
mod packs;
mod recover;
mod stops;
mod verify;

/// Counts what each thread takes: several tests bound it.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
