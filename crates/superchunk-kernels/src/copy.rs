//! Copies for LZ decoders: literals and overlapping matches.
//!
//! An LZ decoder copies millions of tiny pieces. Asking `memcpy` for 7 bytes costs more than the
//! bytes, so away from the end of the output a decoder copies whole 16-byte steps and lets the
//! surplus be overwritten by what follows. Every such function says how far past the end of the
//! piece it may read or write: its *slack*. Close to the end of a buffer, where there is no slack,
//! the `_exact` functions touch nothing but the piece itself.
//!
//! A match may overlap its own output: distance 3 and length 9 mean "repeat the last 3 bytes three
//! times". For short distances the repeating pattern is built in a register (a multiplication
//! spreads it) and then only stored; copying byte by byte would make each load wait for the store
//! before it.

use core::ptr;

/// How many bytes past the end of a piece the wide copies of this module may touch.
///
/// It is an upper bound for all of them; each function names its own.
pub(crate) const SLACK: usize = 32;

/// Bytes that the widest copies write at a time: long matches are mostly below that, and one wide step
/// needs no guess at how many.
pub(crate) const STEP: usize = 64;

/// Copies `len` bytes in steps of 32: one step even for a length of zero.
///
/// # Safety
/// * `src` must be valid for reads and `dst` for writes of `len + 32` bytes (slack: 32).
/// * The two pieces, with their slack, do not overlap, or `dst` lies at least 16 bytes after `src`
///   (then the bytes repeat, as in a match of that distance: a step is two of 16 bytes, one after
///   the other).
#[inline(always)]
pub(crate) unsafe fn copy_wider(src: *const u8, dst: *mut u8, len: usize) {
    debug_assert!(dst.addr().wrapping_sub(src.addr()) >= 16);
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so 32 bytes from `done` lie within the `len + 32` bytes that can
        // be read at `src` and written at `dst`: encoders and decoders compare the length and this
        // slack with both buffers before.
        unsafe {
            copy_16(src.add(done), dst.add(done));
            copy_16(src.add(done + 16), dst.add(done + 16));
        }
        done += 32;
        if done >= len {
            return;
        }
    }
}

/// Copies exactly `len` bytes between pieces that do not overlap.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of `len` bytes, and the two must not overlap
/// (slack: none).
#[inline(always)]
pub(crate) unsafe fn copy_exact(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: `len` bytes can be read at `src` and written at `dst`, and the two do not overlap,
    // which is all that `copy_nonoverlapping` asks for bytes. `lz4::emit` and
    // `lz4::decompress::long_literals` compare `len` with the room in their output; the sinks of
    // deflate and zstd have reserved it.
    unsafe { ptr::copy_nonoverlapping(src, dst, len) };
}

/// Appends a match: repeats at `dst` the `len` bytes that begin `distance` bytes before it.
///
/// # Safety
/// * `distance >= 1`, and the `distance` bytes before `dst` belong to the same buffer.
/// * `dst` must be valid for reads and writes of `len + 32` initialised bytes (slack: 32).
#[inline(always)]
pub(crate) unsafe fn copy_match(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 1);
    // SAFETY: `dst - distance` is in the buffer (first point of `# Safety`); both arms write at
    // most 32 bytes past `len`, and what they read lies between `dst - distance` and there.
    unsafe {
        if distance >= 16 {
            copy_wider(dst.sub(distance), dst, len);
        } else {
            copy_near_match(dst, distance, len);
        }
    }
}

/// As [`copy_match`], for a distance below 16.
///
/// Distances of 1, 2, 4 and 8 are the common ones (runs of one item): their pattern is read by a
/// load of just its size, which the processor can take from the store before it.
///
/// # Safety
/// As [`copy_match`], and `distance < 16`.
#[inline(always)]
pub(crate) unsafe fn copy_near_match(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!((1..16).contains(&distance));
    // SAFETY: `dst - distance` is in the buffer: each decoder compares the distance with the bytes
    // it has written (`lz4::decompress::decode_within`, `decode_fast` and `repeat` of BloscLZ,
    // `inflate::lane::take_turn`, `has_room` of zstd). Each arm writes at most 32 bytes past `len`,
    // and what it reads lies between `dst - distance` and there.
    unsafe {
        match distance {
            1 => fill_wide(dst, *dst.sub(1), len),
            2 => repeat_8(dst, u64::from(load_2(dst.sub(2))) * 0x0001_0001_0001_0001, len),
            4 => repeat_8(dst, u64::from(load_4(dst.sub(4))) * 0x0000_0001_0000_0001, len),
            8 => repeat_8(dst, load_8(dst.sub(8)), len),
            9.. => copy_steps_of_8(dst, distance, len),
            _ => repeat_short(dst, distance, len),
        }
    }
}

/// Appends a match like [`copy_match`] but touches no byte outside it.
///
/// After one period has been copied, two periods lie before the rest, then four: each step copies
/// all that is there, so a match of any length takes a few calls of `memcpy`.
///
/// # Safety
/// * `distance >= 1`, and the `distance` bytes before `dst` belong to the same buffer.
/// * `dst` must be valid for writes of `len` bytes (slack: none).
#[inline]
pub(crate) unsafe fn copy_match_exact(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 1);
    // SAFETY: `dst - distance` is in the buffer (first point of `# Safety`). Each step copies
    // `available` bytes or fewer from there to the byte right after them, so its two pieces touch
    // but do not overlap, and never more than is left of `len`.
    unsafe {
        let start = dst.sub(distance);
        if distance == 1 {
            ptr::write_bytes(dst, *start, len);
            return;
        }
        let mut available = distance;
        let mut left = len;
        while left > 0 {
            let step = available.min(left);
            ptr::copy_nonoverlapping(start, start.add(available), step);
            available += step;
            left -= step;
        }
    }
}

/// Reads 8 bytes as a little-endian number.
///
/// # Safety
/// `src` must be valid for reads of 8 bytes.
#[inline(always)]
pub(crate) unsafe fn load_8(src: *const u8) -> u64 {
    // SAFETY: 8 bytes can be read at `src`: each search passes positions up to its limit, and each
    // `refill` its place, 8 or more bytes before the end of the input; `copy_near_match` and
    // `repeat_short` pass a place in the output before their slack. The read is unaligned.
    u64::from_le(unsafe { src.cast::<u64>().read_unaligned() })
}

/// Writes 8 bytes as a little-endian number.
///
/// # Safety
/// `dst` must be valid for writes of 8 bytes.
#[inline(always)]
pub(crate) unsafe fn store_8(dst: *mut u8, value: u64) {
    // SAFETY: 8 bytes can be written at `dst`: the writers of bits of zstd and deflate compare or
    // reserve them, and `repeat_8` and `repeat_24` have slack. The write is unaligned.
    unsafe { dst.cast::<u64>().write_unaligned(value.to_le()) };
}

/// Reads 4 bytes as a little-endian number.
///
/// # Safety
/// `src` must be valid for reads of 4 bytes.
#[inline(always)]
pub(crate) unsafe fn load_4(src: *const u8) -> u32 {
    // SAFETY: 4 bytes can be read at `src`: searches pass positions up to their limit, `emit_few`
    // of deflate literals with as many after them, BloscLZ places within `FAST_INPUT`, and
    // `copy_near_match` the last 4 bytes before its output. The read is unaligned.
    u32::from_le(unsafe { src.cast::<u32>().read_unaligned() })
}

/// Writes 4 bytes as a little-endian number.
///
/// # Safety
/// `dst` must be valid for writes of 4 bytes.
#[inline(always)]
pub(crate) unsafe fn store_4(dst: *mut u8, value: u32) {
    // SAFETY: 4 bytes can be written at `dst`: `lz4::emit`, the only caller, has `SHORT_ROOM` bytes
    // of room there. The write is unaligned.
    unsafe { dst.cast::<u32>().write_unaligned(value.to_le()) };
}

/// Reads 2 bytes as a little-endian number.
///
/// # Safety
/// `src` must be valid for reads of 2 bytes.
#[inline(always)]
pub(crate) unsafe fn load_2(src: *const u8) -> u16 {
    // SAFETY: 2 bytes can be read at `src`: the loops of LZ4 and BloscLZ are within `FAST_INPUT`,
    // `lz4::hc` passes places up to its limit, and `near_pattern` and `copy_near_match` the bytes
    // around the end of what was written. The read is unaligned.
    u16::from_le(unsafe { src.cast::<u16>().read_unaligned() })
}

/// Copies 16 bytes through a register: all are read before any is written.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of 16 bytes. They may overlap.
#[inline(always)]
pub(crate) unsafe fn copy_16(src: *const u8, dst: *mut u8) {
    // SAFETY: 16 bytes can be read at `src` and written at `dst`: the decoders compare with
    // `FAST_INPUT` and `FAST_OUTPUT` or `SLACK`, the sinks of the encoders reserve the slack of a
    // copy and compare with the end of the input. `[u8; 16]` has no alignment.
    unsafe {
        let step = src.cast::<[u8; 16]>().read();
        dst.cast::<[u8; 16]>().write(step);
    }
}

/// Copies 8 bytes through a register: all are read before any is written.
///
/// # Safety
/// `src` must be valid for reads and `dst` for writes of 8 bytes. They may overlap.
#[inline(always)]
pub(crate) unsafe fn copy_8(src: *const u8, dst: *mut u8) {
    // SAFETY: 8 bytes can be read at `src` and written at `dst`: `copy_18` of LZ4, `append` and
    // `repeat` of BloscLZ and `copy_steps_of_8` have slack. `[u8; 8]` has no alignment.
    unsafe {
        let step = src.cast::<[u8; 8]>().read();
        dst.cast::<[u8; 8]>().write(step);
    }
}

/// Writes `len` times the same byte, in steps of 32.
///
/// # Safety
/// `dst` must be valid for writes of `len + 32` bytes (slack: 32).
#[inline(always)]
pub(crate) unsafe fn fill_wide(dst: *mut u8, byte: u8, len: usize) {
    let step = [byte; 32];
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so 32 bytes from `done` are within the `len + 32` that
        // `copy_near_match` and `inflate::repeat::copy_match`, the only callers, require.
        unsafe { dst.add(done).cast::<[u8; 32]>().write(step) };
        done += 32;
        if done >= len {
            return;
        }
    }
}

/// Writes the 8 bytes of a little-endian number again and again.
///
/// # Safety
/// `dst` is valid for writes of `len + 16` bytes (slack: 16).
#[inline(always)]
unsafe fn repeat_8(dst: *mut u8, pattern: u64, len: usize) {
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so 16 bytes from `done` are within `len + 16`, of the `len + 32`
        // that `copy_near_match`, the only caller, requires.
        unsafe {
            store_8(dst.add(done), pattern);
            store_8(dst.add(done + 8), pattern);
        }
        done += 16;
        if done >= len {
            return;
        }
    }
}

/// The byte or the two bytes at `from`, as many as the distance says, again and again. Other short
/// distances are rare.
///
/// # Safety
/// `from` is valid for reads of two bytes.
#[inline(always)]
pub(crate) unsafe fn near_pattern(from: *const u8, distance: usize) -> u64 {
    debug_assert!(matches!(distance, 1 | 2));
    // SAFETY: two bytes can be read at `from`, which lies `distance` (1 or 2) bytes before the next
    // byte of an output: `decode_within` of LZ4 and `append` of BloscLZ have room for a whole match
    // there.
    let bytes = u64::from(unsafe { load_2(from) });
    if distance == 1 {
        (bytes & 0xFF) * 0x0101_0101_0101_0101
    } else {
        bytes * 0x0001_0001_0001_0001
    }
}

/// Writes the 8 bytes of a little-endian number three times: enough for a short match.
///
/// # Safety
/// `dst` is valid for writes of 24 bytes.
#[inline(always)]
pub(crate) unsafe fn repeat_24(dst: *mut u8, pattern: u64) {
    // SAFETY: 24 bytes can be written at `dst`: `decode_within` of LZ4 passes a place at most 14
    // bytes after `last_output`, which lies `FAST_OUTPUT` (64) bytes before the end of the output.
    unsafe {
        store_8(dst, pattern);
        store_8(dst.add(8), pattern);
        store_8(dst.add(16), pattern);
    }
}

/// Writes the 8 bytes of a little-endian number again and again, in steps of [`STEP`].
///
/// # Safety
/// `dst` is valid for writes of `len + STEP` bytes.
#[inline(always)]
pub(crate) unsafe fn repeat_steps(dst: *mut u8, pattern: u64, len: usize) {
    let pattern = [pattern.to_le(); STEP / 8];
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so a step from `done` is within `len + STEP`: `decode_within` of
        // LZ4 compared the match's end with `last_output`, `append` of BloscLZ requires that room.
        unsafe { dst.add(done).cast::<[u64; STEP / 8]>().write_unaligned(pattern) };
        done += STEP;
        if done >= len {
            return;
        }
    }
}

/// Copies a match of a distance from 8 to 15 in steps of 8 bytes.
///
/// # Safety
/// `distance >= 8`, the `distance` bytes before `dst` are readable, and `dst` is valid for reads
/// and writes of `len + 16` bytes (slack: 16).
#[inline(always)]
unsafe fn copy_steps_of_8(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 8);
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so the 16 bytes written are within `len + 16`; each read of 8
        // ends at or before the byte its write begins with, as the distance is 8 or more.
        unsafe {
            copy_8(dst.add(done).sub(distance), dst.add(done));
            copy_8(dst.add(done + 8).sub(distance), dst.add(done + 8));
        }
        done += 16;
        if done >= len {
            return;
        }
    }
}

/// Repeats the 2 to 7 bytes before `dst`: 16 bytes of the pattern are made in a register and
/// stored at steps of the largest multiple of the distance that is at most 16.
///
/// # Safety
/// `2 <= distance <= 7`, the `distance` bytes before `dst` are readable, and `dst` is valid for
/// reads and writes of `len + 16` bytes (slack: 16).
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the index is masked to the 8 entries of the tables")]
unsafe fn repeat_short(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!((2..8).contains(&distance));
    // SAFETY: the 8 bytes from `dst - distance` end at most 6 bytes after `dst`: initialised
    // slack, whose stale values the mask removes.
    let raw = unsafe { load_8(dst.sub(distance)) };
    let period = u128::from(raw & PERIOD_MASK[distance & 7]);
    let pattern = period.wrapping_mul(PERIOD_SPREAD[distance & 7]).to_le_bytes();
    let step = PERIOD_STEP[distance & 7];
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so 16 bytes from `done` are within `len + 16`, of the `len + 32`
        // that `copy_near_match`, the only caller, requires.
        unsafe { dst.add(done).cast::<[u8; 16]>().write(pattern) };
        done += step;
        if done >= len {
            return;
        }
    }
}

/// For a period of so many bytes: the mask that keeps it out of 8 loaded bytes.
const PERIOD_MASK: [u64; 8] = [
    0x0000_0000_0000_0000,
    0x0000_0000_0000_00FF,
    0x0000_0000_0000_FFFF,
    0x0000_0000_00FF_FFFF,
    0x0000_0000_FFFF_FFFF,
    0x0000_00FF_FFFF_FFFF,
    0x0000_FFFF_FFFF_FFFF,
    0x00FF_FFFF_FFFF_FFFF,
];

/// For a period of so many bytes: the factor that repeats it over 16 bytes, a 1 at each begin.
const PERIOD_SPREAD: [u128; 8] = [
    0x0000_0000_0000_0000_0000_0000_0000_0000,
    0x0101_0101_0101_0101_0101_0101_0101_0101,
    0x0001_0001_0001_0001_0001_0001_0001_0001,
    0x0100_0001_0000_0100_0001_0000_0100_0001,
    0x0000_0001_0000_0001_0000_0001_0000_0001,
    0x0100_0000_0001_0000_0000_0100_0000_0001,
    0x0000_0001_0000_0000_0001_0000_0000_0001,
    0x0001_0000_0000_0000_0100_0000_0000_0001,
];

/// For a period of so many bytes: its largest multiple that is at most 16.
const PERIOD_STEP: [usize; 8] = [16, 16, 16, 15, 16, 15, 12, 14];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A buffer of `before` varied bytes, `len` zeros to write to, and `slack` marker bytes.
    fn buffer(before: usize, len: usize, slack: usize) -> Vec<u8> {
        let history = (0..before).map(|i| u8::try_from(i * 37 % 251).unwrap());
        history.chain((0..len).map(|_| 0)).chain((0..slack).map(|_| 0xEE)).collect()
    }

    /// The definition of a match: one byte after the other.
    fn naive_match(buf: &mut [u8], at: usize, distance: usize, len: usize) {
        for i in at..at + len {
            buf[i] = buf[i - distance];
        }
    }

    const LENGTHS: [usize; 14] = [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 100, 301];

    #[test]
    fn matches_equal_the_byte_by_byte_definition() {
        for distance in 1..=70 {
            for len in LENGTHS {
                let mut expected = buffer(distance, len, 0);
                naive_match(&mut expected, distance, distance, len);

                let mut wide = buffer(distance, len, SLACK);
                // SAFETY: `distance` bytes lie before the position and `len + SLACK` after it.
                unsafe { copy_match(wide.as_mut_ptr().add(distance), distance, len) };
                assert_eq!(wide[..distance + len], expected, "wide {distance} {len}");

                let mut exact = buffer(distance, len, 1);
                // SAFETY: `distance` bytes lie before the position and `len` after it.
                unsafe { copy_match_exact(exact.as_mut_ptr().add(distance), distance, len) };
                assert_eq!(exact[..distance + len], expected, "exact {distance} {len}");
                assert_eq!(exact[distance + len], 0xEE, "touched the byte after {distance} {len}");
            }
        }
    }

    #[test]
    fn patterns_of_one_and_two_bytes_are_matches_of_that_distance() {
        for distance in 1..=2 {
            for len in LENGTHS {
                let mut expected = buffer(2, len, 0);
                naive_match(&mut expected, 2, distance, len);
                let mut steps = buffer(2, len, STEP + 1);
                let mut short = buffer(2, len, 24 + 1);
                // SAFETY: two bytes lie before the position, and `len + STEP` or 24 after it.
                unsafe {
                    let to = steps.as_mut_ptr().add(2);
                    repeat_steps(to, near_pattern(to.sub(distance), distance), len);
                    let to = short.as_mut_ptr().add(2);
                    repeat_24(to, near_pattern(to.sub(distance), distance));
                }
                assert_eq!(steps[..2 + len], expected, "steps {distance} {len}");
                assert_eq!(steps[2 + len + STEP], 0xEE, "touched too much {distance} {len}");
                let len = len.min(24);
                assert_eq!(short[..2 + len], expected[..2 + len], "short {distance} {len}");
            }
        }
    }

    #[test]
    fn wide_copies_stay_within_their_slack() {
        for len in LENGTHS {
            let src = buffer(len + SLACK, 0, 0);
            let mut dst = buffer(0, len, SLACK + 1);
            // SAFETY: both buffers hold `len + SLACK` bytes or more and are distinct.
            unsafe { copy_wider(src.as_ptr(), dst.as_mut_ptr(), len) };
            assert_eq!(dst[..len], src[..len]);
            assert_eq!(dst[len + SLACK], 0xEE);
            let src = buffer(len, 0, 0);
            let mut dst = buffer(0, len, 1);
            // SAFETY: both buffers hold `len` bytes and are distinct.
            unsafe { copy_exact(src.as_ptr(), dst.as_mut_ptr(), len) };
            assert_eq!(dst[..len], src[..len]);
            assert_eq!(dst[len], 0xEE);
        }
    }

    #[test]
    fn loads_and_stores_are_little_endian() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        // SAFETY: 8 bytes are readable.
        let (two, four, eight) =
            unsafe { (load_2(bytes.as_ptr()), load_4(bytes.as_ptr()), load_8(bytes.as_ptr())) };
        assert_eq!((two, four, eight), (0x0201, 0x0403_0201, 0x0807_0605_0403_0201));
        let mut out = [0; 8];
        // SAFETY: 8 bytes are writable.
        unsafe { store_8(out.as_mut_ptr(), eight) };
        assert_eq!(out, bytes);
    }
}
