//! The literals section of a block: raw, one byte repeated, or Huffman codes.
//!
//! ```text
//! ┌ kind: 2 bits ┬ format: 2 bits ┬ length ┬ coded length ┐┌ codes' description ┐┌ lengths of streams ┐┌ streams ┐
//! └──────────────────── 1 to 5 bytes ─────────────────────┘└ unless kept ───────┘└ if there are 4 ────┘
//! ```

use crate::runs::repeated_byte;
use crate::zstd::encode::census::{Census, MANY};
use crate::zstd::encode::histogram::{Half, Quarters, count_half, quarters};
use crate::zstd::encode::huffman::{Codes, describe, write_one, write_two, writes_pairs};
use crate::zstd::encode::sample::{UNIT, is_noise};

/// Fewer literals than this are not coded with codes of their own.
const FEW: usize = 48;

/// Up to this length one stream is shorter than four.
const ONE_STREAM: usize = 256;

/// The kinds of sections.
const RAW: usize = 0;
const REPEATED: usize = 1;
const CODED: usize = 2;
const CODED_AS_BEFORE: usize = 3;

/// The longest header.
const HEADER: usize = 5;

/// The codes a decoder knows from the block before, and those of this block.
#[derive(Clone, Debug, Default)]
pub(super) struct Literals {
    known: Option<Codes>,
    new: Option<Codes>,
    /// Codes have to gain one byte in `1 << gain_shift`.
    gain_shift: u32,
}

impl Literals {
    /// Before the first block of a frame.
    pub(super) fn reset(&mut self, gain_shift: u32) {
        self.gain_shift = gain_shift;
        self.known = None;
        self.new = None;
    }

    /// The block was written: what it described is known now.
    pub(super) fn keep(&mut self) {
        if self.new.is_some() {
            self.known = self.new.take();
        }
    }

    /// Writes the section; `None` if it does not fit `dst`. The first half of `literals` may
    /// have been counted before.
    ///
    /// # Safety
    ///
    /// If there are counts, `counted` has for each quarter of `literals` those of its first half,
    /// as [`count_half`] counts it.
    pub(super) unsafe fn write(
        &mut self,
        literals: &[u8],
        counted: Option<&Quarters>,
        dst: &mut [u8],
    ) -> Option<usize> {
        debug_assert!(
            counted.is_none_or(|counted| {
                let mut first_half = [[0; 256]; 4];
                count_half(literals, Half::First, &mut first_half);
                first_half == *counted
            }),
            "the counts are not those of the first half of these literals"
        );
        self.new = None;
        if literals.len() < FEW && (self.known.is_none() || literals.len() < 8) {
            return write_raw(literals, dst);
        }
        if let Some(byte) = repeated_byte(literals) {
            return write_plain(REPEATED, literals.len(), &[byte], dst);
        }
        if counted.is_none() && literals.len() >= UNIT / 2 && is_noise(literals, self.gain_shift) {
            return write_raw(literals, dst);
        }
        let census = Census::new(literals, counted);
        // SAFETY: `census` has the counts of each quarter of `literals`, or of the first half of
        // each: `Census::new` has just counted them, or taken over `counted`, which
        // `codes_only::Open::close` made of the same bytes.
        let written = unsafe { self.write_counted(literals, &census, dst) };
        // The other half may be of another kind.
        let failed = written.is_none_or(|(len, expected)| len > expected + expected / 64);
        let written = if census.is_half && failed {
            self.new = None;
            // SAFETY: `Census::all` adds the second half of each quarter of `literals` to the
            // first.
            unsafe { self.write_counted(literals, &census.all(literals), dst) }
        } else {
            written
        };
        written.map(|(len, _)| len)
    }

    /// Writes the section, coded if that gains anything; tells how long it is, and was expected to be.
    ///
    /// # Safety
    ///
    /// `census` has the counts of each quarter of `literals`; if `is_half`, of the first half of
    /// each.
    unsafe fn write_counted(
        &mut self,
        literals: &[u8],
        census: &Census,
        dst: &mut [u8],
    ) -> Option<(usize, usize)> {
        let raw = |dst| write_raw(literals, dst).map(|len| (len, len));
        let total = &census.total;
        // Codes would hardly gain anything where all bytes are about as frequent.
        let most = total.iter().max().copied().unwrap_or(0) as usize;
        if most <= (literals.len() >> (self.gain_shift + 1)) + literals.len() / 256 + 4 {
            return raw(dst);
        }
        let mut description = [0; 128];
        let known = self.known.as_ref().and_then(|codes| coded_len(codes, literals, total));
        let mut described = 0;
        let mut best = known;
        if literals.len() >= FEW {
            let codes = Codes::of_counts(total);
            if let Some(len) = describe(&codes, &mut description) {
                let coded = coded_len(&codes, literals, total).map(|coded| coded + len);
                if coded.is_some_and(|new| best.is_none_or(|known| new < known)) {
                    (best, described) = (coded, len);
                    self.new = Some(codes);
                }
            }
        }
        let gain = (literals.len() >> self.gain_shift) + 2;
        let Some(expected) = best.filter(|best| best + gain <= literals.len()) else {
            self.new = None;
            return raw(dst);
        };
        let codes = self.new.as_ref().or(self.known.as_ref())?;
        // SAFETY: `census` has the counts of the quarters of `literals`, or of their first halves:
        // `write` made it of them.
        let len =
            unsafe { write_coded(codes, literals, census, description.get(..described)?, dst)? };
        Some((len, expected))
    }
}

/// How long these literals become, without a description of the codes, if all have a code.
fn coded_len(codes: &Codes, literals: &[u8], counts: &[u32; 256]) -> Option<usize> {
    let streams = if literals.len() < ONE_STREAM { 1 } else { 4 + 6 };
    Some(usize::try_from(codes.bits_of(counts)? / 8).ok()? + streams)
}

/// Writes literals as they are.
fn write_raw(literals: &[u8], dst: &mut [u8]) -> Option<usize> {
    write_plain(RAW, literals.len(), literals, dst)
}

/// Writes the header of a section that is not coded, and its content.
fn write_plain(kind: usize, len: usize, content: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (header, bytes) = match len {
        0..32 => (kind | len << 3, 1),
        32..4096 => (kind | 1 << 2 | len << 4, 2),
        _ => (kind | 3 << 2 | len << 4, 3),
    };
    let header = u32::try_from(header).ok()?.to_le_bytes();
    dst.get_mut(..bytes)?.copy_from_slice(header.get(..bytes)?);
    dst.get_mut(bytes..bytes + content.len())?.copy_from_slice(content);
    Some(bytes + content.len())
}

/// Writes a coded section; its header last, when all lengths are known.
///
/// # Safety
///
/// `census` has the counts of each quarter of `literals`; if `is_half`, of the first half of each.
unsafe fn write_coded(
    codes: &Codes,
    literals: &[u8],
    census: &Census,
    description: &[u8],
    dst: &mut [u8],
) -> Option<usize> {
    let kind = if description.is_empty() { CODED_AS_BEFORE } else { CODED };
    // A half is counted of more literals than the last but one format has room for.
    let most = usize::try_from(codes.bits_of(&census.total)? / 8).ok()? + 10 + description.len();
    let (format, bits, begin) = match literals.len().max(most) {
        0..1024 if literals.len() < ONE_STREAM => (0, 10, 3),
        0..1024 => (1, 10, 3),
        1024..MANY => (2, 14, 4),
        _ => (3, 18, 5),
    };
    let place = dst.get_mut(begin..)?;
    place.get_mut(..description.len())?.copy_from_slice(description);
    let place = place.get_mut(description.len()..)?;
    let streams = if format == 0 {
        write_one(codes, literals, place)?
    } else {
        // SAFETY: `census` has the counts of the quarters of `literals`, or of their first halves:
        // `Literals::write` made it of them.
        unsafe { write_four(codes, literals, census, place)? }
    };
    let coded = description.len() + streams;
    let header =
        kind as u64 | format << 2 | (literals.len() as u64) << 4 | (coded as u64) << (4 + bits);
    let header: [u8; 8] = header.to_le_bytes();
    dst.get_mut(..begin)?.copy_from_slice(header.get(..begin.min(HEADER))?);
    Some(begin + coded)
}

/// Writes the lengths of the first three streams, 2 bytes each, and all four streams.
///
/// # Safety
///
/// `census` has the counts of each quarter of `literals`; if `is_half`, of the first half of each.
unsafe fn write_four(
    codes: &Codes,
    literals: &[u8],
    census: &Census,
    dst: &mut [u8],
) -> Option<usize> {
    let (jump, place) = dst.split_first_chunk_mut::<6>()?;
    let parts = quarters(literals);
    let lens = if writes_pairs() {
        let all = census.is_half.then(|| census.all(literals));
        let counts = &all.as_ref().unwrap_or(census).quarters;
        // SAFETY: `counts` are those of all bytes of each part: `Literals::write` made `census` of
        // these literals, and where it has half of them, `Census::all` has just added the other
        // half.
        unsafe { write_pairs(codes, parts, counts, place)? }
    } else {
        let mut lens = [0; 4];
        let mut done = 0;
        for (len, part) in lens.iter_mut().zip(parts) {
            *len = write_one(codes, part, place.get_mut(done..)?)?;
            done += *len;
        }
        lens
    };
    for (place, len) in jump.as_chunks_mut::<2>().0.iter_mut().zip(lens) {
        *place = u16::try_from(len).ok()?.to_le_bytes();
    }
    Some(6 + lens.iter().sum::<usize>())
}

/// Writes four streams, two at a time; returns their lengths.
///
/// # Safety
///
/// Each of `counts` has the counts of all bytes of the part with the same number.
unsafe fn write_pairs(
    codes: &Codes,
    [a, b, c, d]: [&[u8]; 4],
    counts: &Quarters,
    dst: &mut [u8],
) -> Option<[usize; 4]> {
    let [ca, cb, cc, cd] = counts;
    let bits = |counts: &[u32; 256]| codes.bits_of(counts);
    // SAFETY: `write_four` passes the counts of all bytes of each part. So `bits_of` returns the
    // bits of their codes, or `None` if a byte has no code.
    let [a, b] = unsafe { write_two(codes, [a, b], [bits(ca)?, bits(cb)?], dst)? };
    let place = dst.get_mut(a + b..)?;
    // SAFETY: as above.
    let [c, d] = unsafe { write_two(codes, [c, d], [bits(cc)?, bits(cd)?], place)? };
    Some([a, b, c, d])
}
