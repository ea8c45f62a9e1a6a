//! Removing the marks of a chunk before it is stored in another container: marks are a promise of
//! the program that wrote them, and nobody else's.

use std::borrow::Cow;

use super::decode::Decoder;
use super::encode::put_i32;
use super::header::{Content, Header};
use super::layout::{Layout, bstarts_end};
use super::targets::Blocks;
use crate::error::{MustGet, Result};

/// Where the length of a chunk stands in its header.
const CBYTES: usize = 12;

/// Returns the chunk without its marks; one that has none, or cannot be understood, as it is.
///
/// ```
/// use superchunk::{chunk, CompressOptions};
///
/// let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
/// let options = CompressOptions::new(4);
/// let marked = chunk::compress(&bytes, &options.clone().with_marks(true))?;
/// assert_eq!(*chunk::without_marks(&marked), *chunk::compress(&bytes, &options)?);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[must_use]
pub fn without_marks(chunk: &[u8]) -> Cow<'_, [u8]> {
    unmarked(chunk).ok().flatten().map_or(Cow::Borrowed(chunk), Cow::Owned)
}

fn unmarked(chunk: &[u8]) -> Result<Option<Vec<u8>>> {
    let header = Header::parse(chunk)?;
    let whole = header.whole_chunk(chunk)?;
    // Chunks with a dictionary have no marks.
    if header.content != Content::Blocks || header.dictionary {
        return Ok(None);
    }
    let layout = Layout::parse(&header, whole)?.with_extents()?;
    let reader = Decoder::new().block_reader(&header, &[])?;
    let bytes_of = |block| {
        let start = layout.block_start(block)?;
        Ok((start, whole.must_get(start..)?))
    };
    let blocks = Blocks { layout: &layout, reader: &reader, bytes_of };
    let mut out = whole.must_get(..bstarts_end(&header))?.to_vec();
    let mut has_marks = false;
    for number in 0..header.block_count() {
        let extent = layout.block_extent(number)?;
        let unmarked = blocks.without_marks(number)?;
        has_marks |= unmarked.is_some();
        let start = out.len();
        put_i32(&mut out, header.header_len() + 4 * number, start)?;
        out.extend_from_slice(unmarked.or_else(|| whole.get(extent)).unwrap_or_default());
    }
    let len = out.len();
    put_i32(&mut out, CBYTES, len)?;
    Ok(has_marks.then_some(out))
}
