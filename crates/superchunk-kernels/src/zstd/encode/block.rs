//! The blocks of a frame, behind its header.
//!
//! ```text
//! frame: ┌ magic: 4 bytes ┐┌ descriptor ┐┌ length of the content: 1 to 8 bytes ┐┌ blocks … ┐
//! block: ┌ last: 1 bit ┬ kind: 2 bits ┬ length: 21 bits ┐┌ bytes | one byte | literals, sequences ┐
//! ```

use alloc::vec::Vec;

use crate::zstd::encode::histogram::Quarters;
use crate::zstd::encode::literals::Literals;
use crate::zstd::encode::sequences::{Found, MAX_SEQUENCE, Sequences};

/// No block holds more bytes, decoded or coded.
pub(super) const MAX_BLOCK: usize = 1 << 17;

const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// In the descriptor: the content is one piece, which needs no window beside it.
const ONE_SEGMENT: u8 = 1 << 5;

/// The kinds of blocks.
const RAW: usize = 0;
const RUN: usize = 1;
const COMPRESSED: usize = 2;

const BLOCK_HEADER: usize = 3;

/// A block's headers and descriptions take at most so many bytes.
const DESCRIPTIONS: usize = 1024;

/// What a decoder knows from earlier blocks, and working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Entropy {
    literals: Literals,
    sequences: Sequences,
    /// A block, where the destination is too short to write it there and see how long it is.
    aside: Vec<u8>,
}

/// A frame being written.
pub(super) struct Frame<'a> {
    entropy: &'a mut Entropy,
    dst: &'a mut [u8],
    at: usize,
    /// How many bytes of the content are not in a block yet.
    left: usize,
    /// A block is compressed if that gains one byte in `1 << gain_shift`.
    gain_shift: u32,
}

impl<'a> Frame<'a> {
    /// Writes the header of a frame for `len` bytes. They are coded where that gains one byte in
    /// `1 << gain_shift`.
    pub(super) fn new(
        entropy: &'a mut Entropy,
        len: usize,
        gain_shift: u32,
        dst: &'a mut [u8],
    ) -> Option<Self> {
        entropy.literals.reset(gain_shift);
        entropy.sequences.reset();
        let (code, stored, bytes) = match len as u64 {
            len @ 0..256 => (0, len, 1),
            len @ 256..65_792 => (1, len - 256, 2),
            len @ 65_792..=0xFFFF_FFFF => (2, len, 4),
            len => (3, len, 8),
        };
        let mut frame = Frame { entropy, dst, at: 0, left: len, gain_shift };
        frame.append(&MAGIC)?;
        frame.append(&[code << 6 | ONE_SEGMENT])?;
        frame.append(stored.to_le_bytes().get(..bytes)?)?;
        if len == 0 {
            frame.header(RAW, 0, 0)?;
        }
        Some(frame)
    }

    /// How long the frame is, when all of the content is in blocks.
    pub(super) fn finish(self) -> Option<usize> {
        (self.left == 0).then_some(self.at)
    }

    /// Adds the next bytes of the content as they are.
    pub(super) fn raw(&mut self, piece: &[u8]) -> Option<()> {
        for part in piece.chunks(MAX_BLOCK) {
            self.header(RAW, part.len(), part.len())?;
            self.append(part)?;
        }
        Some(())
    }

    /// Adds the next `len` bytes of the content, which are all the same.
    pub(super) fn run(&mut self, byte: u8, mut len: usize) -> Option<()> {
        while len > 0 {
            let part = len.min(MAX_BLOCK);
            self.header(RUN, part, part)?;
            self.append(&[byte])?;
            len -= part;
        }
        Some(())
    }

    /// Adds the next bytes of the content, at most [`MAX_BLOCK`]: compressed if that is shorter.
    /// They are these literals and sequences; the first half of the literals may have been counted before. Tells whether
    /// it became shorter.
    ///
    /// # Safety
    ///
    /// If there are counts, `counted` has for each quarter of `literals` those of its first half,
    /// as [`count_half`](super::histogram::count_half) counts it.
    pub(super) unsafe fn compressed(
        &mut self,
        piece: &[u8],
        literals: &[u8],
        counted: Option<&Quarters>,
        found: Found<'_>,
    ) -> Option<bool> {
        let bound = literals.len() + found.sequences.len() * MAX_SEQUENCE + DESCRIPTIONS;
        let begin = self.at + BLOCK_HEADER;
        let roomy = self.dst.len().saturating_sub(begin) >= bound;
        let Frame { entropy, dst, .. } = self;
        let len = if roomy {
            // SAFETY: `counted` has the counts of the first half of each quarter of `literals`:
            // only `codes_only::Open::close` passes any, which it made by `count_half`.
            unsafe { entropy.write(literals, counted, found, dst.get_mut(begin..)?)? }
        } else {
            let mut aside = core::mem::take(&mut entropy.aside);
            aside.resize(aside.len().max(bound), 0);
            // SAFETY: `counted` has the counts of the first half of each quarter, as above.
            let len = unsafe { entropy.write(literals, counted, found, &mut aside) };
            entropy.aside = aside;
            len?
        };
        if len + (piece.len() >> self.gain_shift) + 2 > piece.len() {
            self.raw(piece)?;
            return Some(false);
        }
        self.entropy.literals.keep();
        self.entropy.sequences.keep();
        self.header(COMPRESSED, len, piece.len())?;
        if !roomy {
            let place = self.dst.get_mut(self.at..self.at + len)?;
            place.copy_from_slice(self.entropy.aside.get(..len)?);
        }
        self.at += len;
        Some(true)
    }

    /// Writes the header of a block of so many bytes, which stand for `content` bytes.
    fn header(&mut self, kind: usize, len: usize, content: usize) -> Option<()> {
        self.left = self.left.checked_sub(content)?;
        let header = usize::from(self.left == 0) | kind << 1 | len << 3;
        self.append((header as u64).to_le_bytes().get(..BLOCK_HEADER)?)
    }

    fn append(&mut self, bytes: &[u8]) -> Option<()> {
        self.dst.get_mut(self.at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }
}

impl Entropy {
    /// Writes the content of a compressed block.
    ///
    /// # Safety
    ///
    /// If there are counts, `counted` has for each quarter of `literals` those of its first half.
    unsafe fn write(
        &mut self,
        literals: &[u8],
        counted: Option<&Quarters>,
        found: Found<'_>,
        dst: &mut [u8],
    ) -> Option<usize> {
        // SAFETY: `counted` has the counts of the first half of each quarter of `literals`:
        // `Frame::compressed` passes both on from its caller.
        let len = unsafe { self.literals.write(literals, counted, dst)? };
        Some(len + self.sequences.write(found, dst.get_mut(len..)?)?)
    }
}
