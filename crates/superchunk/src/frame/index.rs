//! The index: a chunk of little-endian entries, one for each chunk of the frame.
//!
//! The header states entries of 32, 64, 128 or 256 bits. Every known writer stores 64 bits, whatever
//! it states, so the width is that of the index chunk itself (`docs/formats/cframe.md`, section 3.2).

use crate::chunk::{self, Decoder, Output};
use crate::container::{Entry, MAX_CHUNKS};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::options::CompressOptions;

/// The bytes of an entry, in every frame that is written.
pub(super) const ENTRY_LEN: usize = 8;
/// The bytes that an entry may have, by the two bits of `general_flags`.
pub(super) const ENTRY_LENS: [usize; 4] = [4, ENTRY_LEN, 16, 32];

/// What the header of a frame says about its index.
#[derive(Clone, Copy, Default)]
pub(super) struct Stated {
    /// The number of chunks; `None` if they vary in size.
    pub(super) count: Option<u64>,
    /// The bytes of an entry; `None` if there is no header to ask.
    pub(super) entry_len: Option<usize>,
}

/// The bytes of an entry that `general_flags` state.
pub(super) fn stated_entry_len(flags: u8) -> usize {
    4 << (flags >> 4 & 3)
}

/// Decodes the index chunk at the start of `bytes`: the entries, and the bytes that each has.
pub(super) fn parse(bytes: &[u8], stated: Stated, limits: &Limits) -> Result<(Vec<Entry>, usize)> {
    let header = chunk::Header::parse(bytes).map_err(of_index)?;
    let len = header.byte_len();
    let entry_len = entry_len(len, header.item_size(), stated).map_err(of_index)?;
    let count = len / entry_len;
    if count > MAX_CHUNKS {
        return Err(too_many());
    }
    limits.check_metadata("index", len.max(count * ENTRY_LEN) as u64)?;
    let mut decoder = Decoder::new().with_limits(*limits);
    decoder.for_output(Output::ReadAtOnce);
    if entry_len == ENTRY_LEN {
        let mut stored: Vec<u64> = bytemuck::zeroed_vec(count);
        let decoded = decoder.decompress_into(bytes, bytemuck::cast_slice_mut(&mut stored));
        decoded.map_err(of_index)?;
        return Ok((stored.into_iter().map(|it| Entry(u64::from_le(it))).collect(), entry_len));
    }
    let mut stored = vec![0; len];
    decoder.decompress_into(bytes, &mut stored).map_err(of_index)?;
    let entry = |(number, stored): (usize, &[u8])| {
        entry_of(stored).ok_or_else(|| {
            let bits = 8 * entry_len;
            let text = format!("entry {number} has {bits} bits, and its value needs more than 63");
            Error::corrupt(text).at("frame", "index", number * entry_len)
        })
    };
    let entries = stored.chunks_exact(entry_len).enumerate().map(entry);
    Ok((entries.collect::<Result<_>>()?, entry_len))
}

/// The bytes of an entry in an index that decodes to `len` bytes.
///
/// The number of chunks decides where it is known. Otherwise the item size of the index chunk does,
/// because writers compress entries as items. A width other than 64 bits must be the stated one.
fn entry_len(len: usize, item_size: usize, stated: Stated) -> Result<usize> {
    let fits = |entry_len: &usize| match stated.count {
        Some(count) => (*entry_len as u64).checked_mul(count) == Some(len as u64),
        None => *entry_len == item_size,
    };
    let found = ENTRY_LENS.into_iter().find(fits);
    let found = match stated.count {
        Some(count) => found.ok_or_else(|| {
            let widths = "entries of 32, 64, 128 or 256 bits";
            Error::corrupt(format!("{len} bytes are not {count} {widths}"))
        })?,
        None => found.or(stated.entry_len).unwrap_or(ENTRY_LEN),
    };
    if let Some(stated) = stated.entry_len.filter(|it| found != ENTRY_LEN && *it != found) {
        let (found, stated) = (8 * found, 8 * stated);
        return Err(Error::corrupt(format!(
            "its entries have {found} bits, the header states {stated}"
        )));
    }
    if !len.is_multiple_of(found) {
        let bits = 8 * found;
        return Err(Error::corrupt(format!("{len} bytes are not whole entries of {bits} bits")));
    }
    Ok(found)
}

/// An entry of any width as one of 64 bits; `None` if it does not fit. In each width the most
/// significant byte marks a chunk that is not stored.
fn entry_of(stored: &[u8]) -> Option<Entry> {
    let (top, rest) = stored.split_last()?;
    let is_run = top & 0x80 != 0;
    let (number, room) = if is_run { (rest, 7) } else { (stored, 8) };
    let (low, high) = number.split_at_checked(room).map_or((number, &[][..]), |parts| parts);
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(low).for_each(|(byte, stored)| *byte = *stored);
    let value = u64::from_le_bytes(bytes);
    let entry = if is_run { Entry(value | u64::from(*top) << 56) } else { Entry::stored(value) };
    (high.iter().all(|byte| *byte == 0) && (is_run || entry.0 == value)).then_some(entry)
}

/// The index chunk of `entries`, checked if the caller wants that; nothing when there are none.
pub(super) fn to_bytes(entries: &[Entry], check: bool) -> Result<Vec<u8>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    if entries.len() > MAX_CHUNKS {
        return Err(too_many());
    }
    let stored: Vec<u64> = entries.iter().map(|entry| entry.0.to_le()).collect();
    let options = CompressOptions::new(ENTRY_LEN).with_check(check);
    chunk::compress(bytemuck::cast_slice(&stored), &options)
}

fn too_many() -> Error {
    Error::limit(format!("a frame has at most {MAX_CHUNKS} chunks"))
}

fn of_index(error: Error) -> Error {
    Error::new(error.kind(), format!("it cannot be read: {error}")).at("frame", "index", 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Run, Slot};

    #[test]
    fn entries_of_every_width_are_positions_or_runs() {
        for len in [4, 16, 32] {
            let mut stored = vec![0; len];
            stored[..3].copy_from_slice(&[1, 2, 3]);
            assert_eq!(entry_of(&stored), Some(Entry::stored(0x03_02_01)), "{len}");
            let mut run = vec![0; len];
            run[len - 1] = 0x82;
            assert_eq!(entry_of(&run).unwrap().slot(0).unwrap(), Slot::Run(Run::Nans), "{len}");
        }
        assert_eq!(entry_of(&[0xff, 0xff, 0xff, 0x7f]), Some(Entry::stored(0x7fff_ffff)));
    }

    #[test]
    fn wide_entries_hold_63_bits_at_most() {
        let wide = |value: u128| entry_of(&value.to_le_bytes());
        assert_eq!(wide((1 << 63) - 1), Some(Entry::stored((1 << 63) - 1)));
        for value in [1 << 63, 1 << 64, 1 << 100] {
            assert_eq!(wide(value), None, "{value:#x}");
        }
        assert_eq!(wide(0x81 << 120 | 1 << 60), None, "a run with bits that no entry has");
    }
}
