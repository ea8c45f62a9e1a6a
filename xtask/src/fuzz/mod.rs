//! `cargo xtask fuzz`: builds the fuzz targets with libFuzzer and a sanitizer, and runs them.
//!
//! Everything is under `target/fuzz`: `seeds`, made anew each time from the conformance vectors; `corpus`, what the
//! fuzzers have found worth keeping; `smoke`, the same of a short run that starts afresh; `findings`, the inputs that made
//! a target fail; `logs`; `notes`, where C-Blosc2 has another opinion.

mod build;
mod search;
mod wishes;

use std::ffi::OsString;

use crate::peers;
use crate::step::{Outcome, step};
use wishes::Wishes;

/// The variables that tell where the peers are.
type Peers = [(&'static str, OsString)];

/// Searches as long as the options say, or runs one input.
pub(crate) fn fuzz(options: &[String]) -> Outcome {
    let wishes = Wishes::parse(options)?;
    let peers = step("setup", peers::setup)?;
    all(&wishes, &peers)
}

/// A minute of every target, as part of `cargo xtask test`: always from the seeds and with the same random numbers.
pub(crate) fn smoke(peers: &Peers) -> Outcome {
    all(&Wishes::smoke(), peers)
}

fn all(wishes: &Wishes, peers: &Peers) -> Outcome {
    step("fuzz: build", build::targets)?;
    step("fuzz: seeds", build::seeds)?;
    match &wishes.input {
        Some(input) => search::one_input(&wishes.targets, input, peers),
        None => step("fuzz: search", || search::search(wishes, peers)),
    }
}
