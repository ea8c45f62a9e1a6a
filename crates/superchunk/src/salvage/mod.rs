//! Getting data back out of what a crash, a bad disk or another program has left.
//!
//! Nothing is changed in place. The result is new, and goes where the caller says: of frames
//! another [`SuperChunk`](crate::SuperChunk), of Bloscpack files another file, of bcolz's folders,
//! `blsk` trees and folders of columns another folder. Neither the source nor the result is ever in
//! memory as a whole. A [`Report`] names every piece with how sure it is, and every hole. What has
//! to be compressed is decoded again and compared before it is stored. Only what cannot be read or
//! makes no sense becomes a hole: an error of writing the result, or limits that are too small for
//! it, end the salvage.
//!
//! ```
//! use superchunk::store::Bytes;
//! use superchunk::{CompressOptions, FrameOptions, Limits, SuperChunk, salvage};
//!
//! let mut numbers = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::of::<u32>()))?;
//! numbers.append_items(&(0..1000u32).collect::<Vec<_>>())?;
//! let mut bytes = numbers.to_bytes()?;
//! bytes[..80].fill(0xff); // the header is gone
//!
//! let create = &mut |options: &FrameOptions| SuperChunk::in_memory(options);
//! let (saved, report) = salvage::frame(&Bytes::new(bytes), create, &Limits::default())?;
//! assert_eq!(saved.items::<u32>(0..1000)?, numbers.items::<u32>(0..1000)?);
//! assert!(!report.is_whole());
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! What is lost or uncertain stays recognisable: the result has the attribute [`ATTRIBUTE`], a list
//! of lines in words, unless it is whole and checksums vouch for all of it. A chunk that no line
//! names has the bytes of one that was stored.
//!
//! What cannot be known is said in the report: without an index the chunks come in the order in which
//! they were stored; runs of one value exist in the index only, and are lost with it; where a chunk
//! was changed and the last index is lost, an older version of it may come back beside the new one.

mod bcolz;
mod blsk;
#[cfg(any(unix, windows))]
mod columns;
mod frame;
mod generations;
mod input;
#[cfg(feature = "bloscpack")]
mod pack;
#[cfg(any(unix, windows))]
mod path;
mod rebuild;
mod report;
mod scan;
mod sparse;
mod trailers;

pub use bcolz::bcolz;
pub use blsk::blsk;
#[cfg(any(unix, windows))]
pub use columns::columns;
pub use frame::frame;
#[cfg(feature = "bloscpack")]
pub use pack::pack;
#[cfg(any(unix, windows))]
pub use path::path;
pub use rebuild::Create;
pub use report::{ATTRIBUTE, Certainty, Hole, Order, Piece, Report, Source};
pub use sparse::sparse;
