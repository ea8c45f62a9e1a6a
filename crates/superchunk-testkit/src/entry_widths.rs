//! Frames whose index has entries of another width than 64 bits, which no known program writes.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that uses it fails by panicking"
)]

use std::ops::Range;

use crate::naive;

/// The entries of the index of a frame that states 64 bits.
///
/// # Panics
///
/// If `frame` is not a frame with an index.
#[must_use]
pub fn entries(frame: &[u8]) -> Vec<u64> {
    let index = naive::decompress(&frame[index_place(frame)]).unwrap();
    index.as_chunks().0.iter().map(|entry| u64::from_le_bytes(*entry)).collect()
}

/// The entries with `len` bytes each; the marks of runs stay in the most significant byte.
///
/// # Panics
///
/// If an entry does not fit.
#[must_use]
pub fn stored(entries: &[u64], len: usize) -> Vec<u8> {
    let one = |entry: &u64| {
        let mut stored = entry.to_le_bytes().to_vec();
        let mark = if entry >> 63 == 1 { stored.pop() } else { None };
        let cut = len - usize::from(mark.is_some());
        assert!(stored.iter().skip(cut).all(|byte| *byte == 0), "{entry:#x} in {len} bytes");
        stored.resize(cut, 0);
        stored.extend(mark);
        stored
    };
    entries.iter().flat_map(one).collect()
}

/// The frame with `index` in the place of its entries, in a chunk of items of `item_size` bytes. The
/// flags state the width `stated_code`: 0 is 32 bits, 1 is 64, 2 is 128, 3 is 256.
///
/// # Panics
///
/// If `frame` is not a frame with an index, or has a fingerprint.
#[must_use]
pub fn with_index(frame: &[u8], index: &[u8], item_size: u8, stated_code: u8) -> Vec<u8> {
    let place = index_place(frame);
    let trailer = &frame[place.end..];
    assert_eq!(trailer[trailer.len() - 17], 0, "a frame without a fingerprint");
    let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
    let mut out = frame[..place.start].to_vec();
    // A stored chunk: flags 07, no filters.
    out.extend([5, 1, 7, item_size]);
    out.extend([len(index.len()), len(index.len()), len(32 + index.len())].concat());
    out.extend([0; 16]);
    out.extend(index);
    out.extend(trailer);
    let frame_len = out.len() as u64;
    out[16..24].copy_from_slice(&frame_len.to_be_bytes());
    out[25] = out[25] & !0x30 | stated_code << 4;
    out
}

/// The frame with entries of `4 << code` bytes, and with flags that state so.
///
/// # Panics
///
/// If `frame` is not a frame with an index, or has a fingerprint, or an entry does not fit.
#[must_use]
pub fn with_width(frame: &[u8], code: u8) -> Vec<u8> {
    let len = 4 << code;
    with_index(frame, &stored(&entries(frame), len), u8::try_from(len).unwrap(), code)
}

fn index_place(frame: &[u8]) -> Range<usize> {
    let header_len = u32::from_be_bytes(*frame[11..].first_chunk().unwrap());
    let cbytes = u64::from_be_bytes(*frame[39..].first_chunk().unwrap());
    let is_sparse = frame[0] == 0x9e && frame[26] == 1;
    let start = u64::from(header_len) + if is_sparse { 0 } else { cbytes };
    let start = usize::try_from(start).unwrap();
    let len = u32::from_le_bytes(*frame[start + 12..].first_chunk().unwrap());
    start..start + usize::try_from(len).unwrap()
}
