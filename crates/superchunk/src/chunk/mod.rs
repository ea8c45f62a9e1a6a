//! One compressed buffer: the Blosc1 and Blosc2 chunk, both ways.
//!
//! [`compress`] and [`decompress`] are one call each; [`compress_items`] and [`decompress_items`]
//! take typed slices and cannot forget the item size. An [`Encoder`] or a [`Decoder`] keeps its
//! memory for a loop; the decoder also reads parts. [`Header`] tells what a chunk is without
//! decoding it, [`LazyChunk`] where its blocks are without having them.
//!
//! The format is described in `docs/formats/chunk.md`.

mod block;
mod check;
mod decode;
mod dict;
mod effort;
mod encode;
mod explore;
mod fetched;
mod flags;
mod gains;
mod geometry;
mod header;
mod input;
mod items;
mod layout;
mod lazy;
mod line;
mod marked;
mod marks;
mod parts;
mod piece;
mod special;
mod splice;
mod stream;
mod targets;
mod tune;
mod two;
mod unmark;
mod vl;
mod worker;

pub(crate) use block::Stretches;
pub use decode::Decoder;
pub use encode::Encoder;
pub(crate) use fetched::ChunkBytes;
pub use header::{Content, Header, Repair};
pub(crate) use input::FillBlock;
pub(crate) use items::byte_range;
pub use lazy::LazyChunk;
pub(crate) use parts::{Parts, each};
pub use special::{nans, repeated, uninitialised, zeros};
pub(crate) use special::{repeated_in_blocks, stored_header};
pub use unmark::without_marks;
pub(crate) use vl::vl_prefix_len;
pub(crate) use worker::{FAR_OUTPUT, Output};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::options::CompressOptions;

/// Compresses `bytes` into a chunk.
pub fn compress(bytes: &[u8], options: &CompressOptions) -> Result<Vec<u8>> {
    Encoder::new(options)?.compress(bytes)
}

/// Decompresses a chunk.
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>> {
    Decoder::new().decompress(chunk)
}

/// Compresses items; their size replaces that of the options.
pub fn compress_items<T: Pod>(items: &[T], options: &CompressOptions) -> Result<Vec<u8>> {
    let mut options = options.clone();
    options.item_size = size_of::<T>();
    compress(bytemuck::cast_slice(items), &options)
}

/// Decompresses a chunk of items, which must have the size of `T`.
pub fn decompress_items<T: Pod>(chunk: &[u8]) -> Result<Vec<T>> {
    let header = Header::parse(chunk)?;
    let mut decoder = Decoder::new();
    header.whole_chunk(chunk)?;
    let wanted = size_of::<T>();
    // A header has no room for sizes above 255 and says 1 instead.
    let fits = header.item_size() == wanted || (wanted > 255 && header.item_size() == 1);
    if wanted == 0 || !fits || !header.byte_len().is_multiple_of(wanted) {
        return Err(Error::invalid(format!(
            "the chunk has {} bytes of items of {}, not items of {wanted}",
            header.byte_len(),
            header.item_size()
        ))
        .at("chunk", "typesize", 3));
    }
    let mut items = bytemuck::zeroed_vec(header.byte_len() / wanted);
    decoder.decompress_into(chunk, bytemuck::cast_slice_mut(&mut items))?;
    Ok(items)
}
