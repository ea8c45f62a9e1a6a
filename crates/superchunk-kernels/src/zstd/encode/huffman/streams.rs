//! Writes bytes as codes: the last byte first, so that a decoder, which begins at the end, reads
//! them in their order.
//!
//! Newer bits stand above older ones, and the newest at the very top of a word of 64: an entry of
//! the table is added by one shift and one OR. Its lowest byte, the number of bits, is added
//! to the number of bits that wait; what it leaves at the bottom of the word is shifted out soon.

use crate::copy::{copy_exact, store_8};
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
const TAIL_ROOM: usize = ((TAIL + MAX_STEP) * MAX_BITS as usize).div_ceil(8) + 1 + 1 + 8;

/// Writes one stream of `bits` bits in all; returns its length if it fits `dst`.
///
/// # Safety
///
/// The codes of `src` have so many bits together.
pub(in crate::zstd::encode) unsafe fn write_one(
    codes: &Codes,
    src: &[u8],
    bits: u64,
    dst: &mut [u8],
) -> Option<usize> {
    let len = stream_len(bits)?;
    let place = dst.get_mut(..len)?;
    // SAFETY: the stream has so many bits, as the caller promises, and `place` is as long.
    unsafe { write_pair(codes, [src, &[]], [place.as_mut_ptr(), [0_u8; 1].as_mut_ptr()]) };
    Some(len)
}

/// Writes two streams, of so many bits each, behind each other; returns their lengths if both fit
/// `dst`.
///
/// # Safety
///
/// The codes of each source have so many bits together.
pub(in crate::zstd::encode) unsafe fn write_two(
    codes: &Codes,
    src: [&[u8]; 2],
    bits: [u64; 2],
    dst: &mut [u8],
) -> Option<[usize; 2]> {
    let lens = [stream_len(bits[0])?, stream_len(bits[1])?];
    let place = dst.get_mut(..lens[0] + lens[1])?;
    // SAFETY: the streams have so many bits, as the caller promises, and `place` is as long as both.
    unsafe {
        let first = place.as_mut_ptr();
        write_pair(codes, src, [first, first.add(lens[0])]);
    }
    Some(lens)
}

/// The bytes of a stream: its bits and the mark of its end.
fn stream_len(bits: u64) -> Option<usize> {
    usize::try_from(bits / 8 + 1).ok()
}

/// Writes two streams at the same time: neither has to wait for its own last step.
///
/// # Safety
///
/// Each of `dst` is valid for writes of the bytes that the codes of its source take, and one bit.
#[inline]
unsafe fn write_pair(codes: &Codes, src: [&[u8]; 2], dst: [*mut u8; 2]) {
    // SAFETY: the caller's promise; AVX2 is reported only together with BMI2.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match crate::cpu::isa() {
            Isa::Avx512 => return write_pair_avx512(codes, src, dst),
            Isa::Avx2 => return write_pair_bmi2(codes, src, dst),
            _ => (),
        }
        write_pair_body(codes, src, dst);
    }
}

/// # Safety
///
/// As [`write_pair`], and the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
unsafe fn write_pair_avx512(codes: &Codes, src: [&[u8]; 2], dst: [*mut u8; 2]) {
    // SAFETY: the caller's promise; AVX-512 is reported only together with BMI2. Each code has a
    // bit at least, so that those of the tail have 8 bytes. What is left is written behind.
    unsafe {
        let mut lanes = dst.map(|at| Lane { pending: 0, count: 0, at });
        let [a_rest, b_rest] = wide::write(codes, src, TAIL, &mut lanes);
        let [a, b] = lanes.map(Stream::of);
        finish_pair_bmi2(codes, [a, b], [a_rest, b_rest]);
    }
}

/// # Safety
///
/// As [`Stream::finish`], and the processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn finish_pair_bmi2(codes: &Codes, streams: [Stream; 2], rest: [&[u8]; 2]) {
    for (stream, rest) in streams.into_iter().zip(rest) {
        // SAFETY: the caller's promise; 7 bits and 4 codes take 57 bits at most.
        unsafe { stream.finish::<4>(codes, rest) };
    }
}

/// # Safety
///
/// As [`write_pair`], and the processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn write_pair_bmi2(codes: &Codes, src: [&[u8]; 2], dst: [*mut u8; 2]) {
    // SAFETY: the caller's promise.
    unsafe { write_pair_body(codes, src, dst) };
}

/// # Safety
///
/// As [`write_pair`].
#[inline(always)]
unsafe fn write_pair_body(codes: &Codes, src: [&[u8]; 2], dst: [*mut u8; 2]) {
    // SAFETY: the caller's promise; 7 bits and so many codes take 57 bits at most.
    unsafe {
        match codes.longest {
            0..=6 => write_pair_by::<8>(codes, src, dst),
            7..=8 => write_pair_by::<6>(codes, src, dst),
            9..=10 => write_pair_by::<5>(codes, src, dst),
            _ => write_pair_by::<4>(codes, src, dst),
        }
    }
}

/// # Safety
///
/// As [`write_pair`], and 7 bits and `STEP` codes take 57 bits at most.
#[inline(always)]
unsafe fn write_pair_by<const STEP: usize>(codes: &Codes, src: [&[u8]; 2], dst: [*mut u8; 2]) {
    let [mut a_rest, mut b_rest] = src;
    let mut a = Stream { word: 0, count: 0, at: dst[0] };
    let mut b = Stream { word: 0, count: 0, at: dst[1] };
    while let (Some((a_front, a_step)), Some((b_front, b_step))) =
        (a_rest.split_last_chunk::<STEP>(), b_rest.split_last_chunk::<STEP>())
    {
        if a_front.len() < TAIL || b_front.len() < TAIL {
            break;
        }
        for (&a_byte, &b_byte) in a_step.iter().zip(b_step).rev() {
            a.put(codes, a_byte);
            b.put(codes, b_byte);
        }
        // SAFETY: the tails are still to be written, 8 bytes at least.
        unsafe {
            a.flush();
            b.flush();
        }
        (a_rest, b_rest) = (a_front, b_front);
    }
    // SAFETY: what is left of each stream is written to where it belongs.
    unsafe {
        a.finish::<STEP>(codes, a_rest);
        b.finish::<STEP>(codes, b_rest);
    }
}

/// A stream being written.
struct Stream {
    /// The bits that wait, at the top.
    word: u64,
    /// How many they are, in the lowest byte; what stands above means nothing.
    count: u64,
    at: *mut u8,
}

impl Stream {
    /// Goes on where the wide way ends.
    #[cfg(target_arch = "x86_64")]
    fn of(lane: Lane) -> Self {
        let word = lane.pending.rotate_right((lane.count & 7) as u32);
        Stream { word, count: lane.count, at: lane.at }
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "a byte indexes 256 entries")]
    #[expect(clippy::cast_possible_truncation, reason = "only the low 6 bits of a shift count")]
    fn put(&mut self, codes: &Codes, byte: u8) {
        let entry = codes.entries[usize::from(byte)];
        self.word = self.word.wrapping_shr(entry as u32) | entry;
        self.count = self.count.wrapping_add(entry);
    }

    /// Stores the bits that wait; less than 8 of them go on waiting.
    ///
    /// # Safety
    ///
    /// 8 bytes can be written where the stream goes on.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "only the low 6 bits of a shift count")]
    unsafe fn flush(&mut self) {
        let count = self.count & 0xFF;
        // SAFETY: the caller vouches for 8 bytes; at most 57 bits wait, so `at` goes on by 7.
        unsafe {
            store_8(self.at, self.word.wrapping_shr(count.wrapping_neg() as u32));
            self.at = self.at.add((count >> 3) as usize);
        }
        self.count = count & 7;
    }

    /// Codes what is left of the source, and marks the end; nothing behind that is touched.
    ///
    /// # Safety
    ///
    /// `at` is valid for writes of the bits that wait, the codes of `rest`, and one bit.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "only the low 6 bits of a shift count")]
    unsafe fn finish<const STEP: usize>(mut self, codes: &Codes, mut rest: &[u8]) {
        while let Some((front, step)) = rest.split_last_chunk::<STEP>() {
            if front.len() < TAIL {
                break;
            }
            for &byte in step.iter().rev() {
                self.put(codes, byte);
            }
            // SAFETY: the tail is still to be written, 8 bytes at least.
            unsafe { self.flush() };
            rest = front;
        }
        let mut room = [0_u8; TAIL_ROOM];
        let target = self.at;
        self.at = room.as_mut_ptr();
        for step in rest.rchunks(STEP) {
            for &byte in step.iter().rev() {
                self.put(codes, byte);
            }
            // SAFETY: `room` is long enough for the tail, and for a store at its end.
            unsafe { self.flush() };
        }
        self.word = (self.word >> 1) | 1 << 63;
        self.count += 1;
        // SAFETY: as above; what was written to `room` is what the caller has room for.
        unsafe {
            store_8(self.at, self.word.wrapping_shr((self.count as u32 & 0xFF).wrapping_neg()));
            let written = self.at.offset_from_unsigned(room.as_ptr());
            copy_exact(room.as_ptr(), target, written + 1);
        }
    }
}

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
                // SAFETY: the streams have so many bits.
                let written = unsafe { write_two(&codes, src, bits, &mut dst) };
                assert_eq!(written, Some(len));
                let mut plain = vec![0; len[0] + len[1] + 9];
                let (first, second) = plain.split_at_mut(len[0]);
                // SAFETY: each stream has as much room as it has bytes; 4 codes and 7 bits take 57.
                unsafe {
                    write_pair_by::<4>(&codes, src, [first.as_mut_ptr(), second.as_mut_ptr()])
                };
                assert_eq!(dst, plain, "{power}: {a}, {b}");
            }
        }
    }
}
