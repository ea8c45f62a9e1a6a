//! BloscLZ streams: the byte codec that only the Blosc formats use.
//!
//! A stream is a row of tokens over bytes, and the bytes already produced are the window:
//!
//! ```text
//! 000ccccc                     c + 1 literal bytes follow (1 to 32)
//! kkkhhhhh [e]* l [b b]        a match, k = 1..7
//!     length    k + 2, or with k = 7: 9 + the sum of the extension bytes e,
//!               which go on as long as the byte just read is 255
//!     distance  h*256 + l + 1 (1 to 8191); if h = 31 and l = 255, two more bytes
//!               (big endian) are added to 8192 instead (8192 to 73727)
//! ```
//!
//! The first token is always literal (the top three bits of the very first byte are ignored; writers
//! set the lowest of them), and a stream must end in literals: the reference decoder does not perform
//! a match after which no byte follows.

mod compress;
mod decompress;
mod output;
mod sequences;

pub use compress::Encoder;
pub use decompress::{decompress, decompress_prefix};
pub use sequences::{fetch, mark};

/// Literals one token can announce.
const MAX_RUN: usize = 32;

/// The smallest distance that needs the two additional bytes.
const FAR_BASE: usize = 8192;

/// The largest distance the format can express.
const MAX_DISTANCE: usize = FAR_BASE + 65_535;

#[cfg(test)]
mod tests;
