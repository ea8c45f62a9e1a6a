//! Huffman codes of literals: their description, tables made of it, and the streams.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod compact;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod eight;
mod halves;
mod lanes;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod steps;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod weights;

pub(super) use streams::{decode_four, decode_one};
pub(super) use table::Table;
