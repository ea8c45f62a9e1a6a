//! Zlib streams (RFC 1950), whose blocks are DEFLATE (RFC 1951): a decoder.
//!
//! ```text
//!  byte 0             1                              2 …               4 bytes
//! ┌────────┬────────┬────────────┬──────┬─────────┬─────────────────┬──────────────────────┐
//! │ 8      │ window │ check of   │ dict │ level   │ blocks, bit by  │ Adler-32 of the      │
//! │ (4 bit)│ (4 bit)│ both (5bit)│(1bit)│ (2 bit) │ bit; then zeros │ output, big-endian   │
//! └────────┴────────┴────────────┴──────┴─────────┴─────────────────┴──────────────────────┘
//! ```
//!
//! A block begins with a bit that is set in the last one, and two bits for its kind: bytes as they
//! are, symbols in the fixed codes, or symbols in codes that the block brings along. A symbol is a
//! literal, the end of the block, or a length that a distance follows: so many bytes are repeated
//! from that far back.
//!
//! As for LZ4, two loops share the work: the *fast* one stops at the first symbol that is near an
//! end or not plainly right, the *careful* one decodes that with every bound checked. Several streams are decoded
//! two at a time, see `two`.

mod bits;
mod careful;
mod code;
mod codes;
mod fast;
mod lane;
mod pairs;
#[cfg(target_arch = "x86_64")]
mod repeat;
mod sequences;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod two;

use core::fmt;

use crate::Malformed;
use stream::{Stream, Tables};

/// Decodes zlib streams; keeps its tables between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Default)]
pub struct Decoder {
    /// One for each stream that is decoded at a time.
    tables: [Tables; 2],
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// Decodes the stream at the start of `src`, which must fill `dst` exactly; bytes after its end
    /// are left alone.
    ///
    /// # Errors
    ///
    /// When the stream is cut short or corrupt, its checksum is another, it needs a preset
    /// dictionary, or it does not fill `dst` or has more. The contents of `dst` are then
    /// unspecified.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
        self.decompress_prefix(src, dst, usize::MAX)
    }

    /// Decodes like [`decompress`](Self::decompress), but may stop once the first `needed` bytes of
    /// `dst` are right, if those are not all; what follows them is then unspecified, and what is
    /// wrong with the rest of the stream stays unseen.
    ///
    /// # Errors
    ///
    /// As [`decompress`](Self::decompress).
    pub fn decompress_prefix(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
    ) -> Result<(), Malformed> {
        let [tables, _] = &mut self.tables;
        Stream::begin(src, dst, needed)?.finish(tables)
    }

    /// Decodes several streams, each as [`decompress_prefix`](Self::decompress_prefix) does, in less time than one after the other.
    /// False when one of them is wrong: alone it then tells what is wrong with it.
    pub fn decompress_all<'a>(
        &mut self,
        streams: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
        needed: usize,
    ) -> bool {
        two::decompress(&mut self.tables, streams, needed).is_ok()
    }
}
