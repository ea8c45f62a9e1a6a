//! Writers at the same time, as real processes and without any delay: no change is lost, and
//! readers see the content before or after a change.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod arena;
#[path = "../common/content.rs"]
mod content;
mod library;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod overtaken;
mod pairs;
#[path = "../common/program.rs"]
mod program;
mod python;
