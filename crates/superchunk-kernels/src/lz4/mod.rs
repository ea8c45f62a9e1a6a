//! LZ4 blocks: a decoder, a fast encoder and a high-compression encoder.
//!
//! A block is a row of *sequences*, with no header and no length of its own:
//!
//! ```text
//!   token            more length?     literals     distance    more length?
//! ┌────────┬───────┬───────────────┬────────────┬────────────┬───────────────┐
//! │ L 4bit │ M 4bit│ 255 … 255 x   │ L bytes    │ u16 LE     │ 255 … 255 x   │
//! └────────┴───────┴───────────────┴────────────┴────────────┴───────────────┘
//! ```
//!
//! `L` literals are copied from the stream; then `M + 4` bytes are repeated from `distance` bytes
//! back in the output. A nibble of 15 is continued by bytes that are added to it, up to and
//! including the first one below 255. The last sequence ends after its literals.
//!
//! A *dictionary* is history that both sides know: it lies logically right before the output, and
//! distances may reach into its last 64 KiB.
//!
//! An encoder leaves the last `LAST_LITERALS` bytes as literals and begins no match in the last
//! `MATCH_MARGIN` bytes: decoders in the field copy in wide steps and refuse streams that leave
//! them no room. This decoder needs no such room and accepts those streams too.

mod compress;
mod decompress;
mod emit;
mod hc;
mod history;
mod search;
mod sequences;
#[cfg(test)]
mod tests;

pub use compress::Encoder;
pub use decompress::{decompress, decompress_prefix};
pub use hc::HcEncoder;
pub use sequences::{fetch, mark};

/// The shortest match a sequence can hold.
const MIN_MATCH: usize = 4;

/// The longest distance a sequence can hold.
const MAX_DISTANCE: usize = 65_535;

/// So many bytes at the end of a block are always literals.
const LAST_LITERALS: usize = 5;

/// No match begins within so many bytes of the end of a block.
const MATCH_MARGIN: usize = 12;
