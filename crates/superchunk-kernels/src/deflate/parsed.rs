//! What the parses make of the input, ready to be written: units, and the literals of all of them,
//! one after the other.
//!
//! A *unit* is up to four literals and a match behind them, or a long row of literals. Where there
//! are more than four literals before a match, units without one come first. So whoever writes units
//! need not ask how many literals there are, which is hard to foresee.

use alloc::vec::Vec;
use core::iter::repeat_n;

use crate::copy::{SLACK, copy_16, copy_exact};
use crate::deflate::stats::Counts;
use crate::deflate::symbols::{LENGTHS, MAX_MATCH, MIN_MATCH, distance_extra, distance_slot};

/// Literals that a unit has at most.
pub(super) const FEW: usize = 4;

/// So many literals make up to four units; more are a row.
const SEVERAL: usize = 4 * FEW;

/// A row has at most so many literals, and always a multiple of four.
const LONGEST_ROW: usize = 65_532;

/// So many bytes follow the literals of a block, for those who read in steps.
pub(super) const BEHIND: usize = SLACK;

/// Stands for the symbol of a length or distance where there is no match.
const NOTHING: u64 = 31;

/// Up to four literals and a match behind them, if there is one; or a row of literals.
///
/// ```text
///   bits 0-7    8-15            16-23         24-31              32-47
/// ┌──────────┬───────────────┬─────────────┬──────────────────┬─────────────┐
/// │ literals │ length symbol │ extra value │ distance symbol  │ extra value │
/// │ 255      │               │             │                  │ literals    │ a row
/// └──────────┴───────────────┴─────────────┴──────────────────┴─────────────┘
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit(u64);

impl Unit {
    /// Four literals and no match.
    const FULL: Unit = Unit::without_match(FEW);

    const fn without_match(literals: usize) -> Self {
        Unit(literals as u64 | NOTHING << 8 | NOTHING << 24)
    }

    fn row(literals: usize) -> Self {
        Unit(255 | (literals as u64) << 32)
    }

    /// Of at most four literals and a match of 3 to 258 bytes, at most 32768 bytes away.
    #[inline(always)]
    fn new(literals: usize, length: usize, distance: usize) -> Self {
        // SAFETY: the index is masked.
        let length = unsafe { *LENGTHS.get_unchecked((length - MIN_MATCH) & 255) };
        let slot = distance_slot(distance);
        let extra = (distance - 1) as u64 & ((1 << distance_extra(slot)) - 1);
        Unit(literals as u64 | u64::from(length) << 8 | (slot as u64) << 24 | extra << 32)
    }

    /// How many literals it has if it is a row.
    #[inline(always)]
    pub(super) fn as_row(self) -> Option<usize> {
        (self.literals() == 255).then_some(usize::from(self.distance_extra()))
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub(super) fn literals(self) -> usize {
        usize::from(self.0 as u8)
    }

    /// The symbol of the length, less 257, below 32; those from 29 on stand for nothing.
    #[inline(always)]
    pub(super) fn length_slot(self) -> usize {
        (self.0 >> 8 & 31) as usize
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub(super) fn length_extra(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// The symbol of the distance, below 32; those from 30 on stand for nothing.
    #[inline(always)]
    pub(super) fn distance_slot(self) -> usize {
        (self.0 >> 24 & 31) as usize
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    pub(super) fn distance_extra(self) -> u16 {
        (self.0 >> 32) as u16
    }
}

/// Units and literals that were not written yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    units: Vec<Unit>,
    /// The first ones are literals, the rest is room.
    literals: Vec<u8>,
    filled: usize,
}

/// The units of a block, and the literals of all of them with [`BEHIND`] bytes behind.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    units: &'a [Unit],
    literals: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn units(self) -> &'a [Unit] {
        self.units
    }

    /// The literals of all units, one after the other, and what is behind them.
    pub(super) fn literals_of_units(self) -> &'a [u8] {
        self.literals
    }

    /// As many as the units have, and [`BEHIND`] bytes more.
    pub(super) fn literals(self) -> *const u8 {
        self.literals.as_ptr()
    }
}

/// A place in what was parsed.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) units: usize,
    literals: usize,
}

impl Parsed {
    pub(super) fn clear(&mut self) {
        self.units.clear();
        self.filled = 0;
    }

    /// Its end.
    pub(super) fn mark(&self) -> Mark {
        Mark { units: self.units.len(), literals: self.filled }
    }

    /// What lies before a mark.
    pub(super) fn up_to(&self, mark: Mark) -> Tokens<'_> {
        match (self.units.get(..mark.units), self.literals.get(..mark.literals + BEHIND)) {
            (Some(units), Some(literals)) => Tokens { units, literals },
            _ => Tokens { units: &[], literals: &[] },
        }
    }

    /// Forgets what lies before a mark.
    pub(super) fn forget(&mut self, mark: Mark) {
        self.units.drain(..mark.units);
        self.literals.copy_within(mark.literals..self.filled, 0);
        self.filled -= mark.literals;
    }

    /// Takes up the segment from `begin` to `end` of `src`, whatever it consists of.
    pub(super) fn sink_for_any<'a>(
        &'a mut self,
        src: &'a [u8],
        begin: usize,
        end: usize,
    ) -> Sink<'a> {
        // No unit but the last stands for less than 3 bytes.
        self.sink(src, begin, end - begin, (end - begin) / MIN_MATCH + 2)
    }

    /// The same for a segment with so many matches, of `matched` bytes together.
    pub(super) fn sink_for<'a>(
        &'a mut self,
        src: &'a [u8],
        (begin, end): (usize, usize),
        matches: usize,
        matched: usize,
    ) -> Sink<'a> {
        let literals = end - begin - matched;
        // Each match has a unit, one for every 255 bytes, and one for what is left.
        let parts = matched / (MAX_MATCH - MIN_MATCH) + 2 * matches;
        self.sink(src, begin, literals, literals / FEW + parts + 2)
    }

    /// Takes up a segment of `src` that begins at `begin`, with room for so many literals and units.
    fn sink<'a>(
        &'a mut self,
        src: &'a [u8],
        begin: usize,
        literals: usize,
        units: usize,
    ) -> Sink<'a> {
        let room = self.filled + literals + BEHIND;
        if self.literals.len() < room {
            self.literals.resize(room, 0);
        }
        // Some may be written in advance.
        self.units.reserve(units + 4);
        let mark = self.mark();
        Sink {
            src,
            begin,
            anchor: begin,
            unit: self.units.spare_capacity_mut().as_mut_ptr().cast(),
            // SAFETY: so many literals there are.
            literal: unsafe { self.literals.as_mut_ptr().add(self.filled) },
            counts: Counts::new(),
            mark,
            parsed: self,
        }
    }
}

/// Takes the pieces of a segment, and counts them on the way.
pub(super) struct Sink<'a> {
    src: &'a [u8],
    /// Where the segment begins.
    begin: usize,
    /// Up to here pieces were added.
    pub(super) anchor: usize,
    /// Where the next unit goes, and the next literal.
    unit: *mut Unit,
    literal: *mut u8,
    counts: Counts,
    mark: Mark,
    parsed: &'a mut Parsed,
}

impl Sink<'_> {
    /// Adds the literals up to `begin`, and a match behind them, however long.
    ///
    /// # Safety
    ///
    /// The match has 3 bytes or more, and a distance from 1 to 32768. It begins at `anchor` or
    /// later, 16 bytes or more before the end of the input, and ends in the segment.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, begin: usize, length: usize, distance: usize) {
        let literals = begin - self.anchor;
        // SAFETY: there is room for all literals of the segment, and 32 more, and for all its
        // units. The 16 bytes of each step lie in the input.
        unsafe {
            let from = self.src.as_ptr().add(self.anchor);
            copy_16(from, self.literal);
            let mut left = literals;
            if literals > SEVERAL {
                let mut copied = 16;
                while copied < literals {
                    copy_16(from.add(copied), self.literal.add(copied));
                    copied += 16;
                }
                left = self.push_rows(literals);
            }
            self.literal = self.literal.add(literals);
            // How many units come first is hard to foresee: all that may be are written.
            for (at, full) in repeat_n(Unit::FULL, 3).enumerate() {
                self.unit.add(at).write(full);
            }
            let first = left.saturating_sub(1) / FEW;
            self.unit = self.unit.add(first);
            left -= first * FEW;
            self.anchor = begin + length;
            if length <= MAX_MATCH {
                self.push_unit(Unit::new(left, length, distance));
            } else {
                self.push_parts(left, length, distance);
            }
        }
    }

    /// Adds a unit with a match.
    ///
    /// # Safety
    ///
    /// `self.unit` is not at the end of the room for units.
    #[inline(always)]
    unsafe fn push_unit(&mut self, unit: Unit) {
        debug_assert!(
            self.unit.cast_const()
                < self.parsed.units.as_ptr().wrapping_add(self.parsed.units.capacity())
        );
        self.counts.add_match(unit);
        // SAFETY: there is room for the unit: `sink_for_any` reserves one for every 3 bytes of the
        // segment, and `sink_for` one for every 4 literals, two for every match and one more for
        // every 255 of its bytes.
        unsafe {
            self.unit.write(unit);
            self.unit = self.unit.add(1);
        }
    }

    /// Adds a match that is too long for one unit.
    ///
    /// # Safety
    ///
    /// There is room for its units: one for every part of 3 bytes or more.
    #[cold]
    #[inline(never)]
    unsafe fn push_parts(&mut self, mut literals: usize, length: usize, distance: usize) {
        let mut rest = length;
        while rest > 0 {
            // What is left over must not be too short for a match.
            let part = if rest <= MAX_MATCH { rest } else { MAX_MATCH.min(rest - MIN_MATCH) };
            // SAFETY: there is room for the unit: each part but the last has 256 bytes or more, and
            // `sink_for` reserves two units for the match and one more for every 255 bytes. Each
            // part has 3 bytes or more, for which `sink_for_any` reserves a unit.
            unsafe { self.push_unit(Unit::new(literals, part, distance)) };
            literals = 0;
            rest -= part;
        }
    }

    /// Adds rows of literals, and tells how many are left, less than four.
    ///
    /// # Safety
    ///
    /// There is room for their units: one for every row of 4 literals or more.
    #[cold]
    #[inline(never)]
    unsafe fn push_rows(&mut self, mut literals: usize) -> usize {
        while literals >= FEW {
            let row = (literals & !(FEW - 1)).min(LONGEST_ROW);
            // SAFETY: there is room for the unit: a row has 4 literals or more, for which
            // `sink_for` reserves a unit; `sink_for_any` reserves one for every 3 bytes.
            unsafe {
                self.unit.write(Unit::row(row));
                self.unit = self.unit.add(1);
            }
            literals -= row;
        }
        literals
    }

    /// How many bytes the matches have saved so far, if each takes three itself.
    pub(super) fn gained(&self) -> usize {
        // SAFETY: both lie in the room for literals.
        let literals = unsafe {
            let first = self.parsed.literals.as_ptr().add(self.mark.literals);
            self.literal.cast_const().offset_from_unsigned(first)
        };
        let matched = (self.anchor - self.begin).saturating_sub(literals);
        let matches: u32 = self.counts.distance.iter().sum();
        matched.saturating_sub(3 * matches as usize)
    }

    /// Ends the segment at `end` with literals, and tells how often each symbol occurs.
    ///
    /// # Safety
    ///
    /// It is the end of the segment.
    pub(super) unsafe fn finish(mut self, end: usize) -> Counts {
        let literals = end - self.anchor;
        // SAFETY: there is room for all literals and units of the segment. The pointers point into
        // the vectors, which have been written to up to them.
        unsafe {
            copy_exact(self.src.as_ptr().add(self.anchor), self.literal, literals);
            let left = self.push_rows(literals);
            self.unit.write(Unit::without_match(left));
            let parsed = self.parsed;
            let first = parsed.units.as_ptr();
            parsed.units.set_len(self.unit.add(1).cast_const().offset_from_unsigned(first));
            let first = parsed.literals.as_ptr();
            parsed.filled = self.literal.add(literals).cast_const().offset_from_unsigned(first);
            let literals = parsed.literals.get(self.mark.literals..parsed.filled);
            self.counts.finish(literals.unwrap_or_default());
        }
        self.counts
    }
}
