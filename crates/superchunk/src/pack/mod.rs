//! Bloscpack files: a header, metadata, positions, and chunks of Blosc1 with digests.
//!
//! ```text
//! │ header │ metadata │ offsets │ chunk 0 │ digest 0 │ chunk 1 │ digest 1 │ … │ stale bytes
//! ```
//!
//! [`start`] reads what stands before the chunks, [`walk`] finds them, [`Packed`] is where a super-chunk
//! keeps them. [`crate::bloscpack`] is what users call. The format is described in
//! `docs/formats/bloscpack.md`.

mod ahead;
mod assemble;
mod checksum;
mod header;
mod layout;
mod metadata;
mod offsets;
mod plan;
mod replace;
mod space;
mod start;
mod stream;
mod walk;
mod writer;

pub use checksum::Checksum;
pub use header::PackHeader;
pub use metadata::{MetadataHeader, MetadataOptions};

pub(crate) use assemble::Assembly;
pub(crate) use header::{LEN as HEADER_LEN, MAX_CHUNK};
pub(crate) use layout::{CHUNK_SIZE, Packed, contents_of};
pub(crate) use plan::Policy;
pub(crate) use start::{Start, Trust};
pub(crate) use stream::StreamStart;
pub(crate) use walk::Chunks;
pub(crate) use writer::State;

/// What a disk writes in one piece: a change inside of it cannot be torn.
const SECTOR: usize = 512;
