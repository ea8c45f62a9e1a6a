//! A few bytes of a frame without decoding what precedes them.
//!
//! The sequences of every block are read and noted as marks of a [`Trace`], but not carried out, and
//! literals are not decoded. They are numbered through all blocks of the frame:
//!
//! ```text
//! block      0             1     2 (raw)       3
//! literals   0 … 4999      -     5000 … 9999   10000 …
//! marks      many, one for the literals behind the last sequence; one for all of a raw block or a run
//! ```
//!
//! Then what is wanted is followed to the numbers of its literals, and those are looked up.

mod kept;
mod note;

use alloc::vec::Vec;

use self::kept::{Form, Kept};
use self::note::{Place, note};
use super::bits::MARGIN;
use super::block::{BlockDecoder, sequence_count};
use super::frame::{BlockHead, BlockKind, FrameHead, Magic};
use super::literals::Section;
use super::sequences::FIRST_RECENT;
use crate::trace::{Mark, Piece};
use crate::{Trace, Wanted};

/// Whether it may pay to look for what is wanted.
pub(super) fn may_pay(wanted: &Wanted) -> bool {
    /// What it takes to follow a further piece, and a byte, in bytes of a stream.
    const PIECE: usize = 4096;
    const BYTE: usize = 8;
    let end = wanted.end();
    let pieces = wanted.count.saturating_sub(1).saturating_mul(PIECE);
    let bytes = wanted.count.saturating_mul(wanted.len).saturating_mul(BYTE);
    (1024..1 << 30).contains(&end) && pieces.saturating_add(bytes) < end
}

/// What a block says of a stream.
struct Share {
    literals: usize,
    sequences: usize,
    /// The bytes of the block, and those of the stream.
    stored: usize,
    all: usize,
}

impl Share {
    /// Whether it may pay to follow a piece of an output of so many bytes, if all blocks are like this one.
    /// With few literals what matches repeat are other matches, and so on.
    fn may_pay(&self, wanted: &Wanted, output: usize) -> bool {
        /// In the time of a step from match to match so many sequences are noted.
        const STEP: usize = 40;
        /// So many sequences more take the time that there is to lose.
        const SPARE: usize = 1000;
        let share = |whole: usize, part: usize, of: usize| whole.saturating_mul(part) / of.max(1);
        let output = share(output, self.stored, self.all);
        let cuts = share(wanted.len, self.sequences, output);
        if cuts >= 4 && self.sequences > 2 * self.literals {
            return false;
        }
        let steps = (1 + cuts).saturating_mul(1 + share(8, self.sequences, self.literals));
        let noted = share(self.sequences, wanted.end(), output);
        steps.saturating_mul(STEP) <= noted.saturating_add(SPARE)
    }
}

/// Where literals are kept, and memory to look them up with.
#[derive(Default)]
pub(super) struct Finder {
    kept: Vec<Kept>,
    pieces: Vec<Piece>,
    symbols: Vec<u8>,
}

impl Finder {
    /// Writes what is `wanted` of the first frame of `src` to `dst`. `None` when something is unusual,
    /// wrong, or leads too far.
    pub(super) fn find(
        &mut self,
        blocks: &mut BlockDecoder,
        trace: &mut Trace,
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> Option<()> {
        trace.begin();
        self.kept.clear();
        self.pieces.clear();
        let mut place = Place { written: 0, literals: 0, needed: wanted.end() };
        self.note_frame(blocks, trace, src, dst.len(), wanted, &mut place)?;
        trace.follow(place.written, wanted, |piece| {
            self.pieces.push(piece);
            Some(())
        })?;
        self.pieces.sort_unstable_by_key(|piece| piece.from);
        kept::write(&self.kept, &self.pieces, &mut blocks.huffman, &mut self.symbols, src, dst)?;
        trace.repeat(dst);
        Some(())
    }

    /// Notes all blocks until what is needed is written.
    fn note_frame(
        &mut self,
        blocks: &mut BlockDecoder,
        trace: &mut Trace,
        src: &[u8],
        room: usize,
        wanted: &Wanted,
        place: &mut Place,
    ) -> Option<()> {
        let Magic::Frame = Magic::parse(src).ok()? else { return None };
        let frame = FrameHead::parse(src).ok()?;
        if place.needed > room || frame.content_size.is_some_and(|size| size > room as u64) {
            return None;
        }
        blocks.begin_frame();
        let mut recent = FIRST_RECENT;
        let mut read = frame.len;
        // Where the code of the literals was described last.
        let mut code = None;
        let mut first = true;
        while place.written < place.needed {
            let head = BlockHead::parse(src.get(read..)?).ok()?;
            let begin = read + BlockHead::LEN;
            read = begin + head.stored_len();
            if head.size > frame.largest_block || read > src.len() {
                return None;
            }
            match head.kind {
                BlockKind::Raw => {
                    self.keep(Form::Raw, begin..read, head.size, place)?;
                    note_literals(trace, place, head.size)?;
                }
                BlockKind::Run => {
                    self.keep(Form::Run, begin..read, head.size, place)?;
                    note_literals(trace, place, head.size)?;
                }
                BlockKind::Compressed => {
                    // As far back as the decoder looks, so that places in it are small.
                    let cut = begin.saturating_sub(MARGIN);
                    let block = src.get(cut..read)?;
                    let (section, rest) = Section::parse(block, begin - cut).ok()?;
                    if section.len > frame.largest_block {
                        return None;
                    }
                    let (form, range) = section.stored();
                    let range = range.start + cut..range.end + cut;
                    if let Form::Coded { described: true, .. } = form {
                        code = Some(range.start);
                    }
                    self.keep(form, range, section.len, place)?.code = code;
                    let end = place.literals + section.len;
                    let (count, rest) = sequence_count(rest).ok()?;
                    if count > 0 {
                        if wanted.count == 1 && core::mem::replace(&mut first, false) {
                            let (literals, sequences) = (section.len, count);
                            let (stored, all) = (head.size, src.len());
                            let share = Share { literals, sequences, stored, all };
                            if !share.may_pay(wanted, room) {
                                return None;
                            }
                        }
                        let work = blocks.sequences.work(count, block, rest).ok()?;
                        // SAFETY: `note` sets as many marks as it tells.
                        unsafe {
                            trace
                                .note_all(count, |marks| note(&work, &mut recent, marks, place))?;
                        }
                    }
                    // Sequences can take more literals than there are.
                    let left = end.checked_sub(place.literals)?;
                    if place.written < place.needed {
                        note_literals(trace, place, left)?;
                    }
                    place.literals = end;
                }
            }
            if head.last && place.written < place.needed {
                return None;
            }
        }
        Some(())
    }

    /// Remembers where the next `len` literals are.
    fn keep(
        &mut self,
        form: Form,
        range: core::ops::Range<usize>,
        len: usize,
        place: &Place,
    ) -> Option<&mut Kept> {
        self.kept.push(Kept { first: place.literals, len, form, range, code: None });
        self.kept.last_mut()
    }
}

/// Notes literals that no match follows. No mark must be empty: none holds the byte where it begins then.
fn note_literals(trace: &mut Trace, place: &mut Place, len: usize) -> Option<()> {
    if len == 0 {
        return Some(());
    }
    let begin = u32::try_from(place.written).ok()?;
    let matched = u32::try_from(place.written + len).ok()?;
    let literals = u32::try_from(place.literals).ok()?;
    place.written += len;
    place.literals += len;
    trace.note(Mark { begin, matched, literals, distance: 0 })
}
