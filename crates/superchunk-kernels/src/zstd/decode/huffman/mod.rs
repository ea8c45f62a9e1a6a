//! Huffman codes of literals: their description, tables made of it, and the streams.

mod halves;
mod lanes;
mod streams;
mod table;
mod weights;

pub(super) use streams::{decode_four, decode_one};
pub(super) use table::Table;
