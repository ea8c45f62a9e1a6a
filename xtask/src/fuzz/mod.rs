//! `cargo xtask fuzz`: builds the fuzz targets with libFuzzer and a sanitizer, and runs them.
//!
//! Everything is under `target/fuzz`: `seeds`, made anew each time from the conformance vectors; `corpus`, what the
//! fuzzers have found worth keeping; `smoke`, the same of a short run that starts afresh; `findings`, the inputs that made
//! a target fail; `logs`; `notes`, where C-Blosc2 has another opinion.

mod build;
mod search;
mod wishes;

use crate::needs::{Need, provide};
use crate::step::{Outcome, step};
use crate::{debian, peers};
use wishes::Wishes;

/// Searches as long as the options say, or runs one input.
pub(crate) fn fuzz(options: &[String]) -> Outcome {
    let wishes = Wishes::parse(options)?;
    step("setup", || provide(&needs(), true))?;
    all(&wishes)
}

/// Returns what the targets are built with, and the peers that they ask.
pub(crate) fn needs() -> Vec<Need> {
    let mut needs = peers::needs();
    needs.push(Need::Package(&debian::GPP));
    needs
}

/// A short run of every target, as part of `cargo xtask test`: always from the seeds and with the same
/// random numbers.
pub(crate) fn smoke() -> Outcome {
    all(&Wishes::smoke())
}

fn all(wishes: &Wishes) -> Outcome {
    let peers = &peers::variables();
    step("fuzz: build", build::targets)?;
    step("fuzz: seeds", build::seeds)?;
    match &wishes.input {
        Some(input) => search::one_input(&wishes.targets, input, peers),
        None => step("fuzz: search", || search::search(wishes, peers)),
    }
}
