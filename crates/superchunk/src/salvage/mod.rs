//! Getting data back out of what a crash, a bad disk or another program has left.
//!
//! Nothing is changed in place. The result is new: of frames a [`SuperChunk`](crate::SuperChunk) in memory, to be
//! copied to wherever it should be, of Bloscpack files the bytes of another one, of bcolz's folders and `blsk`
//! trees another folder. A [`Report`] names every piece with how sure it is, and every hole.
//!
//! ```
//! use superchunk::{CompressOptions, FrameOptions, Limits, SuperChunk, salvage};
//!
//! let mut numbers = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::of::<u32>()))?;
//! numbers.append_items(&(0..1000u32).collect::<Vec<_>>())?;
//! let mut bytes = numbers.to_bytes()?;
//! bytes[..80].fill(0xff); // the header is gone
//!
//! let (saved, report) = salvage::frame(&bytes, &Limits::default())?;
//! assert_eq!(saved.items::<u32>(0..1000)?, numbers.items::<u32>(0..1000)?);
//! assert!(!report.is_whole());
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! What cannot be known is said in the report: without an index the chunks come in the order in which
//! they were stored; runs of one value exist in the index only, and are lost with it; where a chunk
//! was changed and the last index is lost, an older version of it may come back beside the new one.

mod bcolz;
mod blsk;
mod frame;
mod generations;
#[cfg(feature = "bloscpack")]
mod pack;
mod rebuild;
mod report;
mod scan;
mod sparse;

pub use bcolz::bcolz;
pub use blsk::blsk;
pub use frame::frame;
#[cfg(feature = "bloscpack")]
pub use pack::pack;
pub use report::{Certainty, Hole, Order, Piece, Report, Source};
pub use sparse::sparse;
