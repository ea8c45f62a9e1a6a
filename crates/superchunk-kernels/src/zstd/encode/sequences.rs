//! The sequences section of a block: how many literals, then how long a match, how far back.
//!
//! ```text
//! ┌ number: 1 to 3 bytes ┐┌ modes: 1 byte ┐┌ tables: literals, offsets, matches ┐┌ coded sequences ┐
//! ```
//!
//! Each of the three numbers is a code and some bits. The codes of one kind share a table, which is
//! a fixed one, a single code, described here, or the one before, whatever is shortest.

#![expect(clippy::indexing_slicing, reason = "codes are below 64, and there are three kinds")]

use crate::zstd::encode::bits::Unchecked;
use crate::zstd::encode::fse::{Coder, SYMBOLS, Shares, Table};
use crate::zstd::encode::numbers::Coded;
use crate::zstd::encode::price::BIT;

/// The sequences of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) sequences: &'a [Coded],
    /// How often each code of literals, offsets and matches occurs.
    pub(super) counts: &'a [[u32; SYMBOLS]; 3],
}

impl Found<'_> {
    /// No sequences.
    pub(super) const NONE: Found<'static> = Found { sequences: &[], counts: &[[0; SYMBOLS]; 3] };
}

/// What is chosen for the codes of one kind.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Fixed = 0,
    Single = 1,
    Described = 2,
    AsBefore = 3,
}

/// The codes of one kind.
#[derive(Clone, Debug)]
struct Kind {
    table: Table,
    shares: Shares,
}

/// The tables a decoder knows from the block before, and those of this block.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    known: [Option<Kind>; 3],
    new: [Option<Kind>; 3],
    written: bool,
}

impl Sequences {
    /// Before the first block of a frame.
    pub(super) fn reset(&mut self) {
        self.known = [const { None }; 3];
        self.written = false;
    }

    /// The block was written: its tables are known now.
    pub(super) fn keep(&mut self) {
        if self.written {
            core::mem::swap(&mut self.known, &mut self.new);
        }
    }

    /// Writes the section; `None` if it does not fit `dst`.
    pub(super) fn write(&mut self, found: Found<'_>, dst: &mut [u8]) -> Option<usize> {
        let Found { sequences, counts } = found;
        self.written = !sequences.is_empty();
        let mut at = write_number(sequences.len(), dst)?;
        if sequences.is_empty() {
            return Some(at);
        }
        let modes_at = at;
        at += 1;
        let mut modes = 0;
        for (kind, counts) in counts.iter().enumerate() {
            let (mode, len) = self.choose(kind, counts, dst.get_mut(at..)?)?;
            modes |= (mode as u8) << (6 - 2 * kind);
            at += len;
        }
        *dst.get_mut(modes_at)? = modes;
        let single = Table::single();
        let tables =
            self.new.each_ref().map(|kind| kind.as_ref().map_or(&single, |kind| &kind.table));
        Some(at + write_all(tables, sequences, dst.get_mut(at..)?)?)
    }

    /// Chooses the table for the codes of one kind and writes what a decoder needs for it.
    fn choose(
        &mut self,
        kind: usize,
        counts: &[u32; SYMBOLS],
        dst: &mut [u8],
    ) -> Option<(Mode, usize)> {
        let total = counts.iter().sum();
        if let Some(single) = counts.iter().position(|&count| count == total)
            && (total > 2 || FIXED[kind].price(single).is_none())
        {
            *dst.first_mut()? = u8::try_from(single).ok()?;
            self.new[kind] = None;
            return Some((Mode::Single, 1));
        }
        let fixed = if total > MANY { None } else { FIXED[kind].price_of(counts) };
        let before = self.known[kind].as_ref().and_then(|known| known.shares.price_of(counts));
        let best = before.unwrap_or(u64::MAX).min(fixed.unwrap_or(u64::MAX));
        // Few codes never pay for a description, unless nothing else has them.
        if total > FEW || best == u64::MAX {
            let shares = Shares::of_counts(counts, total, MAX_LOG[kind]);
            let len = shares.describe(dst)?;
            let price = || Some(shares.price_of(counts)? + len as u64 * 8 * u64::from(BIT));
            if best == u64::MAX || price()? < best {
                self.new[kind] = Some(Kind { table: Table::new(&shares), shares });
                return Some((Mode::Described, len));
            }
        }
        let before = before.unwrap_or(u64::MAX);
        if fixed.is_none_or(|fixed| before <= fixed) {
            self.new[kind] = self.known[kind].clone();
            return Some((Mode::AsBefore, 0));
        }
        let shares = FIXED[kind];
        self.new[kind] = Some(Kind { table: Table::new(&shares), shares });
        Some((Mode::Fixed, 0))
    }
}

/// Writes all sequences, the last first.
fn write_all(tables: [&Table; 3], coded: &[Coded], dst: &mut [u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::isa().has_avx2() {
        // SAFETY: AVX2 is reported only together with BMI2.
        return unsafe { write_all_bmi2(tables, coded, dst) };
    }
    write_all_body(tables, coded, dst)
}

/// # Safety
///
/// The processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn write_all_bmi2(tables: [&Table; 3], coded: &[Coded], dst: &mut [u8]) -> Option<usize> {
    write_all_body(tables, coded, dst)
}

/// A decoder reads for each: the bits of offset, match and literals, then the next states of
/// literals, match and offset. All of this is written in the opposite order.
#[inline(always)]
fn write_all_body(tables: [&Table; 3], coded: &[Coded], dst: &mut [u8]) -> Option<usize> {
    if dst.len() < coded.len() * MAX_SEQUENCE + END {
        return None;
    }
    let begin = dst.as_mut_ptr();
    let mut out = Unchecked { at: begin, pending: 0, count: 0 };
    let [literals, offset, length] = tables;
    let (last, coded) = coded.split_last()?;
    let [l, o, m] = last.codes();
    let mut literals = Coder::new(literals, l);
    let mut offset = Coder::new(offset, o);
    let mut length = Coder::new(length, m);
    // SAFETY: a sequence has at most 26 bits of states and 63 beside: less than `MAX_SEQUENCE` bytes.
    // The states at the end and the mark take 27 bits; a store takes 8 bytes.
    unsafe {
        add_extra(last, &mut out);
        for one in coded.iter().rev() {
            let [l, o, m] = one.codes();
            offset.put(o, &mut out);
            length.put(m, &mut out);
            literals.put(l, &mut out);
            add_extra(one, &mut out);
        }
        length.finish(&mut out);
        offset.finish(&mut out);
        literals.finish(&mut out);
        out.add(1, 1);
        out.flush();
        let whole = out.at.offset_from_unsigned(begin);
        Some(whole + usize::from(out.count > 0))
    }
}

/// A sequence takes at most so many bytes: 26 bits of states and 63 beside.
pub(super) const MAX_SEQUENCE: usize = 12;

/// The last states, the mark, and a store.
const END: usize = 16;

/// With 7 bits that wait and 26 of states, so many more can be added before a flush.
const FREE_BITS: u32 = 30;

/// Writes the bits beside the codes.
///
/// # Safety
///
/// * At most `63 - FREE_BITS` bits wait in `out`.
/// * `out.at` is valid for writes of the bytes of these bits and of `coded.bits()` more, and of 8
///   bytes after them.
#[inline(always)]
unsafe fn add_extra(coded: &Coded, out: &mut Unchecked) {
    let (mut extra, mut bits) = (coded.extra, coded.bits());
    debug_assert!(out.count <= 63 - FREE_BITS, "too many bits wait");
    // SAFETY: `write_all_body` has checked that its output has `MAX_SEQUENCE` bytes for each
    // sequence and `END` more. At most 63 bits wait before each flush: 33 and `FREE_BITS`, or 7 and
    // 32.
    unsafe {
        if bits > FREE_BITS {
            out.flush();
            let first = bits.min(32);
            out.add(extra & ((1 << first) - 1), first);
            out.flush();
            extra >>= first;
            bits -= first;
        }
        out.add(extra, bits);
        out.flush();
    }
}

/// Writes the number of sequences.
fn write_number(number: usize, dst: &mut [u8]) -> Option<usize> {
    let (bytes, len) = match u16::try_from(number).unwrap_or(u16::MAX) {
        number @ 0..128 => ([number.to_le_bytes()[0], 0, 0], 1),
        number @ 128..0x7F00 => {
            let [high, low] = number.to_be_bytes();
            ([high + 128, low, 0], 2)
        }
        _ => {
            let [low, high] = u16::try_from(number - 0x7F00).ok()?.to_le_bytes();
            ([255, low, high], 3)
        }
    };
    dst.get_mut(..len)?.copy_from_slice(bytes.get(..len)?);
    Some(len)
}

/// So many codes never pay for a description.
const FEW: u32 = 16;

/// So many always do, when the fixed table is what they would have instead.
const MANY: u32 = 400;

/// The finest divisions for literals, offsets and matches.
const MAX_LOG: [u32; 3] = [9, 8, 9];

/// The fixed tables.
static FIXED: [Shares; 3] = [
    shares(
        6,
        &[
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1,
            1, 1, 1, -1, -1, -1, -1,
        ],
    ),
    shares(
        5,
        &[
            1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1,
            -1,
        ],
    ),
    shares(
        6,
        &[
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ],
    ),
];

const fn shares(log: u32, listed: &[i16]) -> Shares {
    let mut of = [0; SYMBOLS];
    let mut i = 0;
    while i < listed.len() {
        of[i] = listed[i];
        i += 1;
    }
    Shares { log, of }
}
