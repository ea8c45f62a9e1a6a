//! Goes through the blocks of a frame and notes what they do.

use alloc::vec::Vec;
use core::ops::Range;

use super::super::bits::MARGIN;
use super::super::block::{BlockDecoder, sequence_count};
use super::super::dictionary::Dictionary;
use super::super::frame::{BlockHead, BlockKind, FrameHead, Magic};
use super::super::literals::Section;
use super::super::sequences::{FIRST_RECENT, Recent};
use super::kept::{Form, Kept};
use super::note::{Place, note};
use super::trace::{Mark, Trace};
use super::worth::Share;
use crate::Wanted;

/// Frames of more blocks are not worth the memory.
const MOST_KEPT: usize = 1 << 14;

/// The blocks of a frame, and how far they were noted.
pub(super) struct Blocks<'a> {
    decoder: &'a mut BlockDecoder,
    trace: &'a mut Trace,
    kept: &'a mut Vec<Kept>,
    src: &'a [u8],
    wanted: &'a Wanted,
    place: Place,
    recent: Recent,
    /// Where the code of the literals was described last.
    code: Option<usize>,
    /// Whether there were no sequences yet.
    first: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        decoder: &'a mut BlockDecoder,
        trace: &'a mut Trace,
        kept: &'a mut Vec<Kept>,
        src: &'a [u8],
        wanted: &'a Wanted,
    ) -> Self {
        kept.clear();
        decoder.begin_frame(&Dictionary::NONE);
        let place = Place { written: 0, literals: 0, needed: wanted.end() };
        let (recent, code, first) = (FIRST_RECENT, None, true);
        Self { decoder, trace, kept, src, wanted, place, recent, code, first }
    }

    /// Notes all blocks until what is needed is written, to an output of `room` bytes. Tells how many are.
    pub(super) fn note_frame(&mut self, room: usize) -> Option<usize> {
        let Magic::Frame = Magic::parse(self.src).ok()? else { return None };
        let frame = FrameHead::parse(self.src).ok()?;
        Dictionary::NONE.is_that_of(&frame).ok()?;
        if self.place.needed > room || frame.content_size.is_some_and(|size| size > room as u64) {
            return None;
        }
        let mut read = frame.len;
        while self.place.written < self.place.needed {
            let head = BlockHead::parse(self.src.get(read..)?).ok()?;
            let begin = read + BlockHead::LEN;
            read = begin + head.stored_len();
            if head.size > frame.largest_block || read > self.src.len() {
                return None;
            }
            match head.kind {
                BlockKind::Raw => {
                    self.keep(Form::Raw, begin..read, head.size)?;
                    self.note_literals(head.size)?;
                }
                BlockKind::Run => {
                    self.keep(Form::Run, begin..read, head.size)?;
                    self.note_literals(head.size)?;
                }
                BlockKind::Compressed => self.note_block(begin..read, frame.largest_block, room)?,
            }
            if head.last {
                break;
            }
        }
        (self.place.written >= self.place.needed).then_some(self.place.written)
    }

    /// Notes a compressed block.
    fn note_block(&mut self, place: Range<usize>, most: usize, room: usize) -> Option<()> {
        // As far back as the decoder looks, so that places in it are small.
        let cut = place.start.saturating_sub(MARGIN);
        let block = self.src.get(cut..place.end)?;
        let (section, rest) = Section::parse(block, place.start - cut).ok()?;
        if section.len > most {
            return None;
        }
        let (form, range) = section.stored();
        let range = range.start + cut..range.end + cut;
        if let Form::Coded { described: true, .. } = form {
            self.code = Some(range.start);
        }
        self.keep(form, range, section.len)?;
        let end = self.place.literals + section.len;
        let (count, rest) = sequence_count(rest).ok()?;
        if count > 0 {
            let share = Share {
                literals: section.len,
                sequences: count,
                stored: place.len(),
                all: self.src.len(),
            };
            let first = core::mem::replace(&mut self.first, false);
            if first && self.wanted.count == 1 && !share.may_pay(self.wanted, room) {
                return None;
            }
            let work = self.decoder.sequences.work(count, block, rest).ok()?;
            let (recent, place) = (&mut self.recent, &mut self.place);
            // SAFETY: `note` sets as many marks as it tells.
            unsafe { self.trace.note_all(count, |marks| note(&work, recent, marks, place))? };
        }
        // Sequences can take more literals than there are.
        let left = end.checked_sub(self.place.literals)?;
        if self.place.written < self.place.needed {
            self.note_literals(left)?;
        }
        self.place.literals = end;
        Some(())
    }

    /// Notes literals that no match follows. No mark must be empty: none holds the byte where it begins then.
    fn note_literals(&mut self, len: usize) -> Option<()> {
        if len == 0 {
            return Some(());
        }
        let begin = u32::try_from(self.place.written).ok()?;
        let matched = u32::try_from(self.place.written + len).ok()?;
        let literals = u32::try_from(self.place.literals).ok()?;
        self.place.written += len;
        self.place.literals += len;
        self.trace.note(Mark { begin, matched, literals, distance: 0 })
    }

    /// Remembers where the next `len` literals are.
    fn keep(&mut self, form: Form, range: Range<usize>, len: usize) -> Option<()> {
        if self.kept.len() >= MOST_KEPT {
            return None;
        }
        self.kept.push(Kept { first: self.place.literals, len, form, range, code: self.code });
        Some(())
    }
}
