//! One stream: a length, then what the length says.
//!
//! ```text
//!  csize > 0, = the stream's length   that many raw bytes
//!  csize > 0, any other               that many bytes of codec output
//!  csize = 0                          nothing: all bytes are zero
//!  csize = -v, 1 ≤ v ≤ 255            a token byte with bit 0 set: all bytes are v
//! ```
//!
//! Runs exist behind 32-byte headers only. See `docs/formats/chunk.md#streams`.

use superchunk_kernels::{Wanted, runs};

use super::worker;
use crate::codecs::{CodecState, Method};
use crate::error::{Error, MustGet, Result};
use crate::wire::{self, Reader};

/// A stream as stored.
#[derive(Clone, Copy)]
pub(super) enum Stream<'a> {
    Raw(&'a [u8]),
    Run(u8),
    /// Codec output and its position in the block's bytes.
    Coded(&'a [u8], usize),
}

impl<'a> Stream<'a> {
    /// Reads the next stream, which decodes to `len` bytes.
    pub(super) fn parse(reader: &mut Reader<'a>, len: usize, runs_allowed: bool) -> Result<Self> {
        let position = reader.position();
        let csize = reader.i32("csize")?;
        if let Some(csize) = wire::index(csize).filter(|csize| *csize > 0) {
            let bytes = reader.take("stream", csize)?;
            let coded = Self::Coded(bytes, position + 4);
            return Ok(if csize == len { Self::Raw(bytes) } else { coded });
        }
        let complaint = match u8::try_from(csize.unsigned_abs()) {
            _ if !runs_allowed => "a chunk with a 16-byte header holds no runs",
            Ok(0) => return Ok(Self::Run(0)),
            Ok(value) if reader.u8("token")? & 1 == 1 => return Ok(Self::Run(value)),
            Ok(_) => "the token of a run must have bit 0 set",
            Err(_) => "a run of a value above 255",
        };
        Err(Error::corrupt(format!("{complaint} (csize {csize})")).at("chunk", "csize", position))
    }

    /// Writes the decoded stream to `dst`.
    pub(super) fn decode(
        self,
        codec: &mut CodecState,
        method: &Method,
        dict: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        let all = Wanted::range(0..dst.len());
        self.decode_wanted(codec, method, dict, dst, &all)
    }

    /// Writes at least the bytes `wanted` of the decoded stream to their places in `dst`, which has room for
    /// all of it.
    pub(super) fn decode_wanted(
        self,
        codec: &mut CodecState,
        method: &Method,
        dict: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> Result<()> {
        let head = dst.len().min(wanted.end());
        match self {
            Self::Raw(bytes) => {
                dst.must_get_mut(..head)?.copy_from_slice(bytes.must_get(..head)?);
            }
            Self::Run(value) => dst.must_get_mut(..head)?.fill(value),
            Self::Coded(bytes, position) => {
                codec
                    .decompress_wanted(method, dict, bytes, dst, wanted)
                    .map_err(|error| error.moved_by(position))?;
            }
        }
        Ok(())
    }
}

/// The most bytes that codec output may take for a stream of `len`: as many would mean that it is raw, and if less than
/// 1/256 were gained it is better raw, since it then need not be decoded.
pub(super) fn longest_coded(len: usize) -> usize {
    (len - len / 256).saturating_sub(1)
}

/// Appends the stream of a filtered plane or block, as a run or as codec output. False, and nothing
/// appended, when neither is shorter than the bytes themselves.
pub(super) fn write_short(
    plane: &[u8],
    runs_allowed: bool,
    out: &mut Vec<u8>,
    compress: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<bool>,
) -> Result<bool> {
    if let Some(value) = runs::repeated_byte(plane).filter(|_| runs_allowed) {
        out.extend((-i32::from(value)).to_le_bytes());
        out.extend((value != 0).then_some(1));
        return Ok(true);
    }
    let position = out.len();
    out.extend([0; 4]);
    if !compress(plane, out)? {
        out.truncate(position);
        return Ok(false);
    }
    let csize = wire::stored(out.len() - position - 4)?.to_le_bytes();
    out.must_get_mut(position..position + 4)?.copy_from_slice(&csize);
    Ok(true)
}

/// Appends the stream of a plane or block that nothing makes shorter: the bytes themselves.
pub(super) fn write_raw(plane: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.extend(wire::stored(plane.len())?.to_le_bytes());
    worker::append(plane, out);
    Ok(())
}
