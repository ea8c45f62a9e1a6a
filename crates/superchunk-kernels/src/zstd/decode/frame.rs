//! The heads of frames and blocks.

use super::{CUT, LARGEST_BLOCK, Result};

/// What a frame begins with.
pub(super) enum Magic {
    Frame,
    /// A frame of so many bytes that is not for us.
    Skippable(usize),
}

impl Magic {
    pub(super) fn parse(src: &[u8]) -> Result<Self> {
        let magic = u32::from_le_bytes(*src.first_chunk::<4>().ok_or(CUT)?);
        if magic == 0xFD2F_B528 {
            return Ok(Self::Frame);
        }
        if magic & 0xFFFF_FFF0 != 0x184D_2A50 {
            return Err("zstd frame has another magic number");
        }
        let len = src.get(4..).and_then(<[u8]>::first_chunk::<4>).ok_or(CUT)?;
        let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
        Ok(Self::Skippable(len.saturating_add(8)))
    }
}

/// The head of a frame.
pub(super) struct FrameHead {
    /// Its bytes, with the magic number.
    pub(super) len: usize,
    pub(super) content_size: Option<u64>,
    pub(super) checksum: bool,
    /// The number of the dictionary that the frame was made with; 0 if it is not named.
    pub(super) dictionary: u32,
    /// The most bytes of a block: not more than the window.
    pub(super) largest_block: usize,
}

impl FrameHead {
    /// `src` begins with the magic number.
    pub(super) fn parse(src: &[u8]) -> Result<Self> {
        let descriptor = *src.get(4).ok_or(CUT)?;
        let single_segment = descriptor & 0x20 != 0;
        if descriptor & 0x08 != 0 {
            return Err("zstd frame has a feature that does not exist yet");
        }
        let window = usize::from(!single_segment);
        let stated_window = if single_segment { None } else { Some(window_size(src)?) };
        let dictionary = match descriptor & 3 {
            3 => 4,
            bytes => usize::from(bytes),
        };
        let size = match descriptor >> 6 {
            0 => usize::from(single_segment),
            flag => 1 << flag,
        };
        let fields = src.get(5 + window..).unwrap_or_default();
        let (dictionary, fields) = fields.split_at_checked(dictionary).ok_or(CUT)?;
        let number = little_endian(fields.get(..size).ok_or(CUT)?);
        // Two bytes need not tell what one can.
        let number = if size == 2 { number + 256 } else { number };
        let largest_block = stated_window.unwrap_or(number).min(LARGEST_BLOCK as u64);
        Ok(Self {
            len: 5 + window + dictionary.len() + size,
            content_size: (size > 0).then_some(number),
            checksum: descriptor & 0x04 != 0,
            dictionary: u32::try_from(little_endian(dictionary)).unwrap_or(u32::MAX),
            largest_block: usize::try_from(largest_block).unwrap_or(LARGEST_BLOCK),
        })
    }
}

/// Returns the number that at most 8 bytes store.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

/// The window that the byte behind the descriptor states: a power of two and some eighths of it.
fn window_size(src: &[u8]) -> Result<u64> {
    let byte = *src.get(5).ok_or(CUT)?;
    let log = 10 + (byte >> 3);
    if log > MOST_WINDOW_LOG {
        return Err("zstd window is larger than the format allows");
    }
    let size = 1 << log;
    Ok(size + (size >> 3) * u64::from(byte & 7))
}

/// What decoders accept: 2 GiB. The window is the output here, so that it costs nothing.
const MOST_WINDOW_LOG: u8 = 31;

/// How a block is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Raw,
    Run,
    Compressed,
}

/// The head of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockHead {
    pub(super) last: bool,
    pub(super) kind: BlockKind,
    /// The bytes of the block, or those that a run stands for.
    pub(super) size: usize,
}

impl BlockHead {
    /// The bytes of a head.
    pub(super) const LEN: usize = 3;

    pub(super) fn parse(src: &[u8]) -> Result<Self> {
        let [a, b, c] = *src.first_chunk::<3>().ok_or(CUT)?;
        let kind = match (a >> 1) & 3 {
            0 => BlockKind::Raw,
            1 => BlockKind::Run,
            2 => BlockKind::Compressed,
            _ => return Err("zstd block is of no kind that exists"),
        };
        let size = usize::from(a >> 3) | (usize::from(b) << 5) | (usize::from(c) << 13);
        Ok(Self { last: a & 1 == 1, kind, size })
    }

    /// The bytes that follow the head.
    pub(super) fn stored_len(&self) -> usize {
        if self.kind == BlockKind::Run { 1 } else { self.size }
    }
}
