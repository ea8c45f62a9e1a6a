//! Zstandard frames, [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878).
//!
//! ```text
//! frame    = magic, header, block…, checksum?
//! block    = bytes as they are | one byte, repeated | literals, sequences
//! literals = bytes as they are | one byte, repeated | Huffman codes in one or four streams
//! sequence = so many literals, then so many bytes from so far back
//! ```
//!
//! The decoder writes straight into the caller's buffer, which also is its window: a frame cannot make it allocate.

mod decode;
mod encode;
mod xxh64;

pub use decode::{Decoder, Dictionary};
pub use encode::Encoder;

#[cfg(test)]
mod dictionary_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod wanted_tests;
