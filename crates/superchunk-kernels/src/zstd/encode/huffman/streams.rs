//! Writes bytes as codes: the last byte first, so that a decoder, which begins at the end, reads
//! them in their order.
//!
//! Newer bits stand above older ones, and the newest at the very top of a word of 64: codes are
//! added by one shift and one OR. The lowest byte of an entry of the table, the number of bits, is added
//! to the number of bits of the stream; what it leaves at the bottom of the word is shifted out soon.

use crate::copy::store_8;
use crate::zstd::encode::huffman::{Codes, MAX_BITS};
#[cfg(target_arch = "x86_64")]
use {
    crate::cpu::Isa,
    crate::zstd::encode::huffman::wide::{self, Lane},
};

/// The most bytes that are coded between two stores. With 7 bits left over, their codes take at
/// most 57 bits.
const MAX_STEP: usize = 8;

/// So many bytes of each stream are coded apart, where nothing may be written behind the stream.
/// As they take 8 bytes at least, a store of 8 before them stays inside.
const TAIL: usize = 64;

/// The tail's codes, the bits before them, the mark, and a store at the end of that.
const TAIL_ROOM: usize = ((TAIL + 2 * MAX_STEP) * MAX_BITS as usize).div_ceil(8) + 1 + 1 + 8;

/// Writes one stream; returns its length if it fits `dst`. All bytes of the source have codes.
pub(in crate::zstd::encode) fn write_one(
    codes: &Codes,
    src: &[u8],
    dst: &mut [u8],
) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::isa().has_avx2() {
        // SAFETY: AVX2 is reported only together with BMI1 and BMI2.
        return unsafe { write_bmi2(codes, src, Stream::new(dst)) };
    }
    write(codes, src, Stream::new(dst))
}

/// Whether two streams are written faster together than one after the other.
pub(in crate::zstd::encode) fn writes_pairs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::cpu::isa() == Isa::Avx512;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes two streams, one after the other; returns their lengths if both fit `dst`.
///
/// # Safety
///
/// Every byte of both sources has a code. The codes of `src[0]` have `bits[0]` bits together, those
/// of `src[1]` have `bits[1]`.
pub(in crate::zstd::encode) unsafe fn write_two(
    codes: &Codes,
    src: [&[u8]; 2],
    bits: [u64; 2],
    dst: &mut [u8],
) -> Option<[usize; 2]> {
    debug_assert!(
        src.iter().zip(bits).all(|(src, bits)| {
            let length = |&byte: &u8| codes.lengths.get(usize::from(byte)).copied().unwrap_or(0);
            src.iter().map(length).map(u64::from).sum::<u64>() == bits
        }),
        "the codes have another number of bits"
    );
    let lens = [stream_len(bits[0])?, stream_len(bits[1])?];
    let (first, rest) = dst.split_at_mut_checked(lens[0])?;
    let second = rest.get_mut(..lens[1])?;
    #[cfg(target_arch = "x86_64")]
    if writes_pairs() {
        // SAFETY: `writes_pairs` means AVX-512. All bytes have codes, and these have as many bits
        // as `bits` says: `literals::write_pairs` computes it by `bits_of`. So `first` and
        // `second`, of `stream_len` bytes, are as long as the streams.
        return unsafe { write_two_avx512(codes, src, [first, second]) };
    }
    Some([write_one(codes, src[0], first)?, write_one(codes, src[1], second)?])
}

/// The bytes of a stream: its bits and the mark of its end.
fn stream_len(bits: u64) -> Option<usize> {
    usize::try_from(bits / 8 + 1).ok()
}

/// Writes two streams at the same time: neither has to wait for its own last step.
///
/// # Safety
///
/// The processor has AVX-512. Every byte of both sources has a code, and each of `dst` is as long
/// as the codes of its source and the mark take.
#[cfg(target_arch = "x86_64")]
unsafe fn write_two_avx512(
    codes: &Codes,
    src: [&[u8]; 2],
    dst: [&mut [u8]; 2],
) -> Option<[usize; 2]> {
    let [a, b] = dst;
    let begins = [a.as_mut_ptr(), b.as_mut_ptr()];
    let mut lanes = begins.map(|at| Lane { pending: 0, count: 0, at });
    // SAFETY: `Isa::Avx512` includes BW, VBMI, BMI1 and BMI2. `write_two` has cut each of `dst` to
    // the `stream_len` of the bits of its source. A code has a bit at least, so that those of
    // `TAIL` bytes have 8 bytes. The lanes begin at the start of `a` and `b`, and `wide::write`
    // stays in them.
    unsafe {
        let [a_rest, b_rest] = wide::write(codes, src, TAIL, &mut lanes);
        let [a_lane, b_lane] = lanes;
        Some([
            write_bmi2(codes, a_rest, Stream::behind(a_lane, a))?,
            write_bmi2(codes, b_rest, Stream::behind(b_lane, b))?,
        ])
    }
}

/// # Safety
///
/// The processor has BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn write_bmi2(codes: &Codes, src: &[u8], stream: Stream<'_>) -> Option<usize> {
    write(codes, src, stream)
}

/// Goes on with a stream up to its end; returns its length.
#[inline(always)]
fn write(codes: &Codes, src: &[u8], stream: Stream<'_>) -> Option<usize> {
    // With 7 bits, so many codes take 57 bits at most.
    match codes.longest {
        0..=6 => stream.finish::<8>(codes, src),
        7..=8 => stream.finish::<6>(codes, src),
        9..=10 => stream.finish::<5>(codes, src),
        _ => stream.finish::<4>(codes, src),
    }
}

/// The codes of some bytes: those of the first byte at the top of a word.
#[derive(Clone, Copy)]
struct Joined {
    word: u64,
    /// How many bits they are, in the lower half; what stands above means nothing.
    bits: u64,
}

impl Joined {
    /// The codes of some bytes, apart from those of the stream: only the whole has to wait for these.
    #[inline(always)]
    fn of<const STEP: usize>(codes: &Codes, bytes: &[u8; STEP]) -> Self {
        bytes.iter().rev().fold(NOTHING, |joined, &byte| joined.below(Joined::of_byte(codes, byte)))
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "a byte indexes 256 entries")]
    fn of_byte(codes: &Codes, byte: u8) -> Self {
        let entry = codes.entries[usize::from(byte)];
        Joined { word: entry, bits: entry }
    }

    /// These codes below those of the bytes before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "only the low 6 bits of a shift count")]
    fn below(self, before: Joined) -> Self {
        Joined {
            word: self.word.wrapping_shr(before.bits as u32) | before.word,
            bits: self.bits.wrapping_add(before.bits),
        }
    }
}

/// A stream being written.
struct Stream<'a> {
    /// The bits that wait, at the top.
    word: u64,
    /// How many bits the stream has, in the lower half; what stands above means nothing. What is more
    /// than whole bytes waits.
    bits: u64,
    dst: &'a mut [u8],
}

impl<'a> Stream<'a> {
    fn new(dst: &'a mut [u8]) -> Self {
        Stream { word: 0, bits: 0, dst }
    }

    /// Goes on where the wide way ends.
    ///
    /// # Safety
    ///
    /// `lane.at` points into `dst`, or to its end.
    #[cfg(target_arch = "x86_64")]
    unsafe fn behind(lane: Lane, dst: &'a mut [u8]) -> Self {
        debug_assert!(
            lane.at.addr().wrapping_sub(dst.as_ptr().addr()) <= dst.len(),
            "the lane has left its stream"
        );
        let waiting = lane.count & 7;
        // SAFETY: `lane.at` points into `dst`: `write_two_avx512` set it to the start of `dst`, and
        // `wide::write` moved it by the bytes that it has written there.
        let whole = unsafe { lane.at.cast_const().offset_from_unsigned(dst.as_ptr()) };
        let word = lane.pending.rotate_right(waiting as u32);
        Stream { word, bits: 8 * whole as u64 + waiting, dst }
    }

    /// Adds codes, which take 57 bits at most with 7 more, and stores all bits that wait; less than 8 of them go on
    /// waiting. `None` if there is no room for 8 bytes.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "only the low 6 bits of a shift count")]
    fn put(&mut self, codes: Joined) -> Option<()> {
        let at = self.at();
        if self.dst.len() < at + 8 {
            return None;
        }
        let whole = self.bits & !7;
        let Joined { word, bits } = Joined { word: self.word, bits: self.bits }.below(codes);
        (self.word, self.bits) = (word, bits);
        let stored = word.wrapping_shr(whole.wrapping_sub(bits) as u32);
        // SAFETY: 8 bytes are there from `at` on.
        unsafe { store_8(self.dst.as_mut_ptr().add(at), stored) };
        Some(())
    }

    /// Where the stream goes on.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "streams are shorter than 2^32 bits")]
    fn at(&self) -> usize {
        (self.bits as u32 >> 3) as usize
    }

    /// Codes what is left of the source, and marks the end; returns the length of the stream. Nothing behind that is
    /// touched.
    #[inline(always)]
    fn finish<const STEP: usize>(mut self, codes: &Codes, mut rest: &[u8]) -> Option<usize> {
        // Two steps at a time: the loop itself then costs half as much.
        while let Some((middle, later)) = rest.split_last_chunk::<STEP>()
            && let Some((front, first)) = middle.split_last_chunk::<STEP>()
            && front.len() >= TAIL
        {
            // The tail is still to be written, 8 bytes at least: without room for these it is of no use.
            self.put(Joined::of(codes, later))?;
            self.put(Joined::of(codes, first))?;
            rest = front;
        }
        let begin = self.at();
        let mut room = [0_u8; TAIL_ROOM];
        let mut tail = Stream { word: self.word, bits: self.bits & 7, dst: &mut room };
        while let Some((front, step)) = rest.split_last_chunk::<STEP>() {
            tail.put(Joined::of(codes, step))?;
            rest = front;
        }
        for &byte in rest.iter().rev() {
            tail.put(Joined::of_byte(codes, byte))?;
        }
        let len = tail.at() + 1;
        tail.put(END)?;
        let target = self.dst.get_mut(begin..begin + len)?;
        target.copy_from_slice(room.get(..len)?);
        Some(begin + len)
    }
}

const NOTHING: Joined = Joined { word: 0, bits: 0 };

/// The bit behind all codes.
const END: Joined = Joined { word: 1 << 63, bits: 1 };

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Bytes of which some are more frequent, the more so the larger the power.
    fn uneven(len: usize, power: u32) -> Vec<u8> {
        let mut state = 1_u64;
        let mut roll = || {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (state >> 40) % 256
        };
        (0..len).map(|_| u8::try_from((0..power).map(|_| roll()).min().unwrap()).unwrap()).collect()
    }

    fn counts(src: &[u8]) -> [u32; 256] {
        let mut counts = [0; 256];
        src.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        counts
    }

    #[test]
    fn every_way_writes_the_same_streams() {
        for power in [1, 2, 3, 5, 9, 30] {
            let data = uneven(3000, power);
            let codes = Codes::of_counts(&counts(&data));
            for (a, b) in
                [(10, 9), (63, 64), (65, 200), (127, 128), (129, 127), (700, 690), (1500, 1400)]
            {
                let src = [&data[..a], &data[a..a + b]];
                let bits = src.map(|src| codes.bits_of(&counts(src)).expect("all have codes"));
                let len = bits.map(|bits| stream_len(bits).expect("short"));
                let mut dst = vec![0; len[0] + len[1] + 9];
                // SAFETY: all bytes have codes, and `bits_of` returned the bits of each source.
                let written = unsafe { write_two(&codes, src, bits, &mut dst) };
                assert_eq!(written, Some(len));
                let mut plain = vec![0; len[0] + len[1] + 9];
                let (first, second) = plain.split_at_mut(len[0]);
                for (src, dst) in src.into_iter().zip([first, second]) {
                    let len = stream_len(codes.bits_of(&counts(src)).expect("all have codes"));
                    assert_eq!(Stream::new(dst).finish::<4>(&codes, src), len);
                }
                let shorter = &mut vec![0; len[0] - 1];
                assert_eq!(write_one(&codes, src[0], shorter), None);
                assert_eq!(dst, plain, "{power}: {a}, {b}");
            }
        }
    }
}
