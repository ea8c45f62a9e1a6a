//! Decodes frames into a buffer of the caller's.

mod backward;
mod bits;
mod block;
mod codes;
mod dictionary;
mod execute;
mod frame;
mod fse;
mod here;
mod huffman;
mod literals;
mod output;
mod repeat;
mod sequences;
mod wanted;

use alloc::boxed::Box;
use core::fmt;

use self::bits::MARGIN;
use self::block::{Block, BlockDecoder};
pub use self::dictionary::Dictionary;
use self::frame::{BlockHead, BlockKind, FrameHead, Magic};
use self::output::{TOO_LONG, Target};
use self::wanted::Finder;
use super::xxh64::xxh64;
use crate::{Malformed, Wanted};

/// The most bytes of a block, before and after.
const LARGEST_BLOCK: usize = 128 * 1024;

/// What is wrong with a block; where is known to the caller.
type Result<T> = core::result::Result<T, &'static str>;

/// Decodes frames. Its tables are kept from stream to stream; its results do not depend on them.
pub struct Decoder {
    blocks: Box<BlockDecoder>,
    finder: Finder,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self { blocks: Box::new(BlockDecoder::new()), finder: Finder::default() }
    }
}

impl Decoder {
    /// Decodes the frames of `src`, which must fill `dst` exactly.
    ///
    /// # Errors
    ///
    /// When the stream is cut short, is not made of frames, needs a dictionary, or does not fill `dst`. The contents of
    /// `dst` are then unspecified.
    pub fn decompress(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
    ) -> core::result::Result<(), Malformed> {
        self.decompress_prefix(src, dst, usize::MAX)
    }

    /// Decodes like [`Decoder::decompress`], but may stop once the first `needed` bytes of `dst` are right; what follows them
    /// is then unspecified, and what is wrong with the rest of the stream stays unseen.
    ///
    /// # Errors
    ///
    /// As [`Decoder::decompress`].
    pub fn decompress_prefix(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
    ) -> core::result::Result<(), Malformed> {
        self.decompress_prefix_with(&Dictionary::NONE, src, dst, needed)
    }

    /// Decodes like [`Decoder::decompress`], but only the bytes `wanted` of `dst` need to be right; the others are then
    /// unspecified, and what is wrong elsewhere in the stream stays unseen.
    ///
    /// # Errors
    ///
    /// As [`Decoder::decompress`].
    pub fn decompress_wanted(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> core::result::Result<(), Malformed> {
        let Self { blocks, finder } = self;
        if wanted::may_pay(wanted) && finder.find(blocks, src, dst, wanted).is_some() {
            return Ok(());
        }
        self.decompress_wanted_with(&Dictionary::NONE, src, dst, wanted)
    }

    /// Decodes like [`Decoder::decompress_wanted`] the frames that were made with `dictionary`.
    ///
    /// # Errors
    ///
    /// As [`Decoder::decompress`], and when a frame names another dictionary.
    pub fn decompress_wanted_with(
        &mut self,
        dictionary: &Dictionary,
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> core::result::Result<(), Malformed> {
        // Up to the end means to the end: what follows there is looked at, too.
        let needed = Some(wanted.end()).filter(|end| *end < dst.len());
        self.decompress_prefix_with(dictionary, src, dst, needed.unwrap_or(usize::MAX))
    }

    fn decompress_prefix_with(
        &mut self,
        dictionary: &Dictionary,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
    ) -> core::result::Result<(), Malformed> {
        let mut cursor = Cursor { read: 0, written: 0 };
        let outcome = self.frames(dictionary, src, dst, needed, &mut cursor);
        outcome.map_err(|reason| Malformed { at: cursor.read, reason })
    }

    fn frames(
        &mut self,
        dictionary: &Dictionary,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
        cursor: &mut Cursor,
    ) -> Result<()> {
        while cursor.written < needed && cursor.read < src.len() {
            match Magic::parse(src.get(cursor.read..).unwrap_or_default())? {
                Magic::Skippable(len) => cursor.skip(len, src)?,
                Magic::Frame => self.frame(dictionary, src, dst, needed, cursor)?,
            }
        }
        if cursor.written >= needed || cursor.written == dst.len() {
            Ok(())
        } else {
            Err("zstd stream is shorter than its block")
        }
    }

    fn frame(
        &mut self,
        dictionary: &Dictionary,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
        cursor: &mut Cursor,
    ) -> Result<()> {
        let head = FrameHead::parse(src.get(cursor.read..).unwrap_or_default())?;
        dictionary.is_that_of(&head)?;
        cursor.skip(head.len, src)?;
        let dst = dst.get_mut(cursor.written..).unwrap_or_default();
        if head.content_size.is_some_and(|size| size > dst.len() as u64) {
            return Err(TOO_LONG);
        }
        let needed = needed.saturating_sub(cursor.written);
        let history = dictionary.content();
        let mut frame =
            Frame { dst, history, written: 0, needed, largest_block: head.largest_block };
        self.blocks.begin_frame(dictionary);
        loop {
            let last = self.block(src, cursor, &mut frame)?;
            if frame.written >= needed {
                cursor.written += frame.written;
                return Ok(());
            }
            if last {
                break;
            }
        }
        let content = frame.dst.get(..frame.written).unwrap_or_default();
        if head.content_size.is_some_and(|size| size != content.len() as u64) {
            return Err("zstd frame has not the size it states");
        }
        if head.checksum {
            let stored = src.get(cursor.read..).and_then(<[u8]>::first_chunk::<4>).ok_or(CUT)?;
            if u64::from(u32::from_le_bytes(*stored)) != xxh64(content) & 0xFFFF_FFFF {
                return Err("zstd checksum does not match");
            }
            cursor.read += 4;
        }
        cursor.written += frame.written;
        Ok(())
    }

    /// Decodes the next block, and tells whether it is the last of its frame.
    fn block(
        &mut self,
        src: &[u8],
        cursor: &mut Cursor,
        frame: &mut Frame<'_, '_>,
    ) -> Result<bool> {
        let head = BlockHead::parse(src.get(cursor.read..).unwrap_or_default())?;
        if head.size > frame.largest_block {
            return Err("zstd block is larger than the format allows");
        }
        let begin = cursor.read + BlockHead::LEN;
        let end = begin + head.stored_len();
        let stored = src.get(begin..end).ok_or(CUT)?;
        let room = frame.dst.get_mut(frame.written..).unwrap_or_default();
        match head.kind {
            BlockKind::Raw => {
                room.get_mut(..head.size).ok_or(TOO_LONG)?.copy_from_slice(stored);
                frame.written += head.size;
            }
            BlockKind::Run => {
                let byte = stored.first().copied().unwrap_or(0);
                room.get_mut(..head.size).ok_or(TOO_LONG)?.fill(byte);
                frame.written += head.size;
            }
            BlockKind::Compressed => {
                // With so much before it that its streams have a margin, and not more: all places in
                // it can be told in bits then, also where numbers are of 32 bits.
                let cut = begin.saturating_sub(MARGIN);
                let src = src.get(cut..end).unwrap_or_default();
                let block = Block { src, begin: begin - cut, most: frame.largest_block };
                let target = Target {
                    dst: frame.dst,
                    history: frame.history,
                    written: frame.written,
                    needed: frame.needed,
                };
                frame.written = self.blocks.decode(block, target)?;
            }
        }
        cursor.read = end;
        Ok(head.last)
    }
}

/// The output of a frame.
struct Frame<'a, 'b> {
    dst: &'a mut [u8],
    /// The content of the dictionary.
    history: &'b [u8],
    written: usize,
    /// Decoding may stop once this many bytes are written.
    needed: usize,
    /// The most bytes of a block.
    largest_block: usize,
}

/// What is said of a stream that ends too early.
const CUT: &str = "zstd stream is cut short";

/// How far decoding has come.
struct Cursor {
    read: usize,
    written: usize,
}

impl Cursor {
    fn skip(&mut self, bytes: usize, src: &[u8]) -> Result<()> {
        let read = self.read.saturating_add(bytes);
        if read > src.len() {
            return Err(CUT);
        }
        self.read = read;
        Ok(())
    }
}
