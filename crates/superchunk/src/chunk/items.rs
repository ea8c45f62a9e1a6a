//! A part of a chunk: only the blocks that hold it are decoded.

use std::ops::Range;

use super::decode::Decoder;
use super::header::{BLOSC2_LEN, Content, Header};
use super::vl;
use crate::error::{Error, Result};

/// A header and its bytes. To read and check one takes longer than to copy a few items, and the next ones
/// often come from the same chunk, so a decoder keeps the last one.
pub(super) struct Seen {
    bytes: [u8; BLOSC2_LEN],
    header: Header,
}

impl Decoder {
    /// Decodes the items `range` into the start of `dst` and returns their length in bytes.
    ///
    /// Items have the size that the header states, see [`Header::item_size`].
    pub fn read_items(
        &mut self,
        chunk: &[u8],
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<usize> {
        self.with_header(chunk, |this, header| {
            let range = byte_range(&range, header.item_size())?;
            this.read_range(header, chunk, range, dst)
        })
    }

    /// Decodes the bytes `range` into the start of `dst` and returns their number.
    pub fn read_bytes(
        &mut self,
        chunk: &[u8],
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<usize> {
        self.with_header(chunk, |this, header| this.read_range(header, chunk, range, dst))
    }

    #[inline]
    fn with_header<T>(
        &mut self,
        chunk: &[u8],
        work: impl FnOnce(&mut Self, &Header) -> Result<T>,
    ) -> Result<T> {
        let Some(bytes) = chunk.first_chunk::<BLOSC2_LEN>() else {
            return work(self, &Header::parse(chunk)?);
        };
        let seen = match self.seen.take() {
            Some(seen) if seen.bytes == *bytes => seen,
            _ => Box::new(Seen { bytes: *bytes, header: Header::parse(bytes)? }),
        };
        let done = work(self, &seen.header);
        self.seen = Some(seen);
        done
    }

    #[inline]
    fn read_range(
        &mut self,
        header: &Header,
        chunk: &[u8],
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<usize> {
        let chunk = header.whole_chunk(chunk)?;
        let dst = destination(header, &range, dst)?;
        let len = dst.len();
        self.limits.check_decoded(len)?;
        self.begin(len)?;
        if header.content == Content::VariableBlocks {
            vl::decode_range(self, header, chunk, range, dst)?;
        } else {
            self.decode_range(header, chunk, range, dst)?;
        }
        Ok(len)
    }
}

/// The bytes of a range of items.
#[inline]
pub(crate) fn byte_range(items: &Range<usize>, item_size: usize) -> Result<Range<usize>> {
    match (items.start.checked_mul(item_size), items.end.checked_mul(item_size)) {
        (Some(start), Some(end)) => Ok(start..end),
        _ => Err(Error::invalid(format!("items {items:?} are past any chunk"))),
    }
}

/// The start of `dst` that a byte range of the chunk fills.
#[inline]
pub(super) fn destination<'d>(
    header: &Header,
    range: &Range<usize>,
    dst: &'d mut [u8],
) -> Result<&'d mut [u8]> {
    if range.start > range.end || range.end > header.nbytes {
        return Err(Error::invalid(format!(
            "bytes {range:?} are not inside of the chunk's {}",
            header.nbytes
        )));
    }
    let (len, room) = (range.end - range.start, dst.len());
    dst.get_mut(..len)
        .ok_or_else(|| Error::invalid(format!("{len} bytes were asked for, the buffer has {room}")))
}
