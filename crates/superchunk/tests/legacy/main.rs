//! Bloscpack files, bcolz folders, blsk trees, and questions asked of tables.

use superchunk_testkit::alloc::CountingAllocator;

mod bcolz;
mod bcolz_changes;
mod bcolz_golden;
#[cfg(unix)]
mod bcolz_replaced;
mod blsk;
mod blsk_corruption;
mod blsk_filters;
mod blsk_golden;
mod column_writers;
mod door;
mod door_options;
mod json;
mod owned_scans;
mod packs;
mod packs_corruption;
mod packs_golden;
mod packs_replace;
mod packs_reserve;
mod tables;

/// Counts what each thread takes: several tests bound it.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
