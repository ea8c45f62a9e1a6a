//! Huffman codes of literals: their description, tables made of it, and the streams.
//!
//! | module | what it does |
//! |---|---|
//! | `weights` | reads the description of a code |
//! | `table` | tables of one symbol and of two, by the next bits |
//! | `streams` | one stream or four: where they lie, how they are best decoded, their last symbols |
//! | `halves` | four streams as eight, from their middles on |
//! | `few`, `parts` | a few symbols of one stream; one stream as eight |
//! | `lanes` | the loops for every processor |
//! | `eight`, `steps`, `compact` | the same for `x86_64` with AVX2: up to eight streams, the loops, pairs of symbols brought together |

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
mod compact;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
mod eight;
mod few;
mod halves;
mod lanes;
mod parts;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
mod steps;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod weights;

pub(super) use few::{Coded, SPARE, cost};
pub(super) use streams::{LENGTHS, decode_four, decode_one, ends_of_four};
pub(super) use table::Table;
