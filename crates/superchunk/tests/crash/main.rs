//! Power cuts, full disks, failing syncs and killed writers: whatever happens, a container has its last
//! committed state or the next one.
//!
//! Every file tries one family of containers on a simulated disk; `kill` uses real processes and files.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

mod arrays;
mod careless;
mod carrays;
mod every;
mod faults;
mod frames;
#[cfg(unix)]
mod kill;
mod packs;
mod plain;
mod subjects;
mod trees;
