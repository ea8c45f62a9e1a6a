//! Chunks without blocks: stored bytes, and special chunks that are one value repeated.

use std::ops::Range;

use superchunk_kernels::{copy_far, runs};

use super::header::{BLOSC1_LEN, BLOSC2_LEN, Content, Header, VERSION_BLOSC1, VERSION_BLOSC2};
use super::tune;
use super::worker::{self, Output};
use crate::codecs::CodecId;
use crate::error::{Error, MustGet, Result};
use crate::exec::Executor;
use crate::filters::Slots;
use crate::options::CompressOptions;

const NAN_F32: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
const NAN_F64: [u8; 8] = 0x7FF8_0000_0000_0000_u64.to_le_bytes();

/// A chunk of `len` zero bytes, 32 bytes long.
pub fn zeros(item_size: usize, len: usize) -> Result<Vec<u8>> {
    build(Content::Zeros, item_size, len, default_blocksize(item_size, len), &[])
}

/// A chunk of `len` bytes of NaN items; `item_size` is 4 or 8.
pub fn nans(item_size: usize, len: usize) -> Result<Vec<u8>> {
    if !matches!(item_size, 4 | 8) {
        return Err(Error::invalid(format!("NaN items have 4 or 8 bytes, not {item_size}")));
    }
    build(Content::Nans, item_size, len, default_blocksize(item_size, len), &[])
}

/// A chunk of `count` items that all have the bytes of `value`.
pub fn repeated(value: &[u8], count: usize) -> Result<Vec<u8>> {
    let len = value.len().saturating_mul(count);
    repeated_in_blocks(value, count, default_blocksize(value.len(), len))
}

/// The same in a chunk that says it has blocks of this many bytes, as readers of arrays expect.
pub(crate) fn repeated_in_blocks(value: &[u8], count: usize, blocksize: usize) -> Result<Vec<u8>> {
    let len = value.len().checked_mul(count).ok_or_else(|| Error::limit("too many items"))?;
    if len == 0 {
        return Err(Error::invalid("a repeated value needs at least one byte and one item"));
    }
    build(Content::Value { width: value.len() }, value.len(), len, blocksize, value)
}

/// A chunk of `len` bytes that nobody has set yet. They read as zeros.
pub fn uninitialised(item_size: usize, len: usize) -> Result<Vec<u8>> {
    build(Content::Uninitialised, item_size, len, default_blocksize(item_size, len), &[])
}

/// The header of a Blosc1 chunk of `len` bytes, which follow as they are.
pub(crate) fn stored_header(item_size: usize, len: usize) -> Result<Vec<u8>> {
    let header = Header {
        version: VERSION_BLOSC1,
        extended: false,
        cbytes: BLOSC1_LEN + len,
        ..bare(Content::Stored, item_size, len, default_blocksize(item_size, len))
    };
    let mut out = Vec::with_capacity(BLOSC1_LEN);
    header.write(&mut out)?;
    Ok(out)
}

/// Fewer items than this are left to the codec: a value is stored as it is.
const FEWEST_REPEATS: usize = 4;

/// The special chunk that says the same as `src`, which has blocks of this size, if there is one.
pub(super) fn recognise(item_size: usize, src: &[u8], blocksize: usize) -> Result<Option<Vec<u8>>> {
    let repeats = src.len() / FEWEST_REPEATS >= item_size && is_one_value(item_size, src);
    let Some(value) = src.get(..item_size).filter(|_| repeats) else { return Ok(None) };
    let content = if runs::repeated_byte(value) == Some(0) {
        Content::Zeros
    } else if value == NAN_F32 || value == NAN_F64 {
        Content::Nans
    } else {
        Content::Value { width: item_size }
    };
    let payload = if matches!(content, Content::Value { .. }) { value } else { &[] };
    // C-Blosc2 fills block by block, and refuses blocks that do not hold whole values.
    let blocksize = match blocksize.is_multiple_of(item_size) {
        true => blocksize,
        false => default_blocksize(item_size, src.len()),
    };
    build(content, item_size, src.len(), blocksize, payload).map(Some)
}

/// Whether all items are the same.
pub(super) fn is_one_value(item_size: usize, src: &[u8]) -> bool {
    runs::repeats_every(item_size, src)
}

/// Writes all bytes of a chunk without blocks to `dst`, which is as long, on as many threads as it
/// takes to keep the memory busy.
pub(super) fn fill_all(
    executor: &Executor,
    header: &Header,
    chunk: &[u8],
    output: Output,
    dst: &mut [u8],
) -> Result<()> {
    if worker::useful_threads(executor, 2, dst.len()) == 1 {
        return fill(header, chunk, 0..dst.len(), output, dst);
    }
    let pieces = dst.chunks_mut(FILL_PIECE).map(|piece| (piece, Ok(())));
    let mut pieces: Vec<(&mut [u8], Result<()>)> = pieces.collect();
    let mut threads = vec![(); executor.thread_count().min(pieces.len())];
    executor.for_each(&mut threads, &mut pieces, |(), number, (piece, outcome)| {
        let start = number * FILL_PIECE;
        *outcome = fill(header, chunk, start..start + piece.len(), output, piece);
    });
    pieces.into_iter().try_for_each(|(_, outcome)| outcome)
}

/// Bytes that one thread fills at a time.
const FILL_PIECE: usize = 1 << 18;

/// Writes the bytes `range` of a chunk without blocks to `dst`, which is as long.
pub(super) fn fill(
    header: &Header,
    chunk: &[u8],
    range: Range<usize>,
    output: Output,
    dst: &mut [u8],
) -> Result<()> {
    let payload = chunk.must_get(header.header_len()..)?;
    let far = output.is_far(header.nbytes) && dst.len() >= FILL_PIECE;
    match header.content {
        Content::Stored => match payload.get(range) {
            Some(bytes) if far => copy_far(bytes, dst),
            Some(bytes) => dst.copy_from_slice(bytes),
            None => {
                return Err(Error::truncated("stored bytes are missing").at("chunk", "cbytes", 12));
            }
        },
        Content::Nans if header.typesize == 4 => repeat(&NAN_F32, range.start, far, dst),
        Content::Nans => repeat(&NAN_F64, range.start, far, dst),
        Content::Value { width } => {
            repeat(payload.must_get(..width)?, range.start, far, dst);
        }
        _ if far => repeat(&[0], 0, far, dst),
        _ => dst.fill(0),
    }
    Ok(())
}

/// Fills `dst` with `value` again and again, as if from the start of the chunk to `position`; past the caches if it is `far`.
fn repeat(value: &[u8], position: usize, far: bool, dst: &mut [u8]) {
    let phase = position % value.len().max(1);
    let turned = value.iter().cycle().skip(phase).take(value.len());
    let mut done = 0;
    for (byte, turned) in dst.iter_mut().zip(turned) {
        *byte = *turned;
        done += 1;
    }
    // What is written is a whole number of values: double it until the end, or until the rest can be copied from it.
    let end = if far { dst.len().min(SOURCE) } else { dst.len() };
    while done > 0 && done < end {
        let more = done.min(dst.len() - done);
        dst.copy_within(..more, done);
        done += more;
    }
    let (source, rest) = dst.split_at_mut(done);
    rest.chunks_mut(done.max(1)).for_each(|rest| copy_far(source, rest));
}

/// Bytes that stay in the fastest cache while they are copied to others.
const SOURCE: usize = 1 << 14;

/// The block size that the encoder's defaults give such a chunk.
fn default_blocksize(item_size: usize, len: usize) -> usize {
    tune::cut(&CompressOptions::new(item_size.max(1)), len).blocksize
}

fn build(
    content: Content,
    item_size: usize,
    len: usize,
    blocksize: usize,
    payload: &[u8],
) -> Result<Vec<u8>> {
    if item_size == 0 || !len.is_multiple_of(item_size) {
        return Err(Error::invalid(format!("{len} bytes are not whole items of {item_size}")));
    }
    CompressOptions::new(item_size).validate()?;
    let bare = bare(content, item_size, len, blocksize);
    let header = Header { cbytes: BLOSC2_LEN + payload.len(), ..bare };
    let mut out = Vec::with_capacity(header.cbytes);
    header.write(&mut out)?;
    out.extend_from_slice(payload);
    Ok(out)
}

/// A header without filters and without anything behind it.
fn bare(content: Content, item_size: usize, len: usize, blocksize: usize) -> Header {
    Header {
        version: VERSION_BLOSC2,
        extended: true,
        typesize: u8::try_from(item_size).unwrap_or(1),
        nbytes: len,
        blocksize,
        cbytes: BLOSC2_LEN,
        content,
        split: true,
        codec: CodecId::BLOSCLZ,
        slots: Slots::default(),
        dictionary: false,
        lazy: false,
        instrumented: false,
        repair: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_chunk_is_its_header_and_its_bytes() {
        let chunk = [stored_header(8, 1600).unwrap(), vec![7; 1600]].concat();
        assert_eq!(chunk[..8], [2, 1, 2, 8, 0x40, 6, 0, 0]);
        assert_eq!(crate::chunk::decompress(&chunk).unwrap(), [7; 1600]);
    }

    #[test]
    fn special_chunks_have_the_bytes_of_the_specification() {
        let header = |cbytes: u8, special: u8| {
            let mut bytes = vec![5, 1, 5, 4, 0xe8, 3, 0, 0, 0xe8, 3, 0, 0, cbytes, 0, 0, 0];
            bytes.extend([0; 15]);
            bytes.push(special);
            bytes
        };
        assert_eq!(zeros(4, 1000).unwrap(), header(32, 0x10));
        assert_eq!(nans(4, 1000).unwrap(), header(32, 0x20));
        assert_eq!(uninitialised(4, 1000).unwrap(), header(32, 0x40));
        let value = repeated(&[1, 2, 3, 4], 250).unwrap();
        assert_eq!(value, [&header(36, 0x30)[..], &[1, 2, 3, 4]].concat());
    }

    #[test]
    fn a_repeated_value_keeps_its_phase_anywhere() {
        let whole: Vec<u8> = [1, 2, 3].repeat(10);
        for start in 0..30 {
            for end in start..=30 {
                let mut part = vec![0; end - start];
                repeat(&[1, 2, 3], start, false, &mut part);
                assert_eq!(part, whole[start..end]);
            }
        }
        let whole = [1, 2, 3, 4, 5].repeat(20_000);
        for (start, len) in [(0, 100_000), (3, 99_990), (7, SOURCE), (8, 2 * SOURCE + 1), (9, 4)] {
            let mut part = vec![0; len];
            repeat(&[1, 2, 3, 4, 5], start, true, &mut part);
            assert!(part == whole[start..start + len], "{start}, {len}");
        }
        repeat(&[], 5, true, &mut [0; 9]);
    }
}
