//! Super-chunks, arrays and objects, in memory and in contiguous and sparse frames.

use superchunk_testkit::alloc::CountingAllocator;

mod arrays;
mod arrays_golden;
mod arrays_model;
mod changes;
mod check;
mod corruption;
mod dialects;
mod golden;
mod hostile;
mod integrity;
mod io;
mod model;
mod objects;
mod objects_corruption;
mod objects_packing;
mod printing;
mod sharing;
mod widths;

/// Counts what each thread takes: several tests bound it.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
