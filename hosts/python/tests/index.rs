//! The tests of `src/index`, which needs no Python: that is all of the package that Rust tests alone.

#![allow(dead_code, reason = "the package uses what these tests do not")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the numbers of these tests are small"
)]

#[path = "../src/index/mod.rs"]
mod index;
