//! Every command on files that are made to hurt, and on what is not a file at all.
//!
//! Each run is a process of one thread with `--limit-mem 64M` and an address space of 128 MB, or
//! one of four threads with 256 MB and 320 MB. It must end by itself with one of the documented
//! exit codes. When it fails, nothing in its folder has changed.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod arena;
mod bombs;
mod hostile;
mod places;
mod valid;
mod verbs;
