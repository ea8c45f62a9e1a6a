//! The BloscLZ decoder.
//!
//! It accepts and rejects exactly what the reference decoder does. Two of that decoder's habits are
//! part of the format: before an extension byte, before the low distance byte of a short match and
//! before the two far bytes, at least two bytes must be left to read; and a match after which the
//! input ends is not performed, so such a stream comes out short and is an error.

use super::{FAR_BASE, MAX_RUN};
use crate::Malformed;
use crate::copy;

/// Length of a match whose token announces extension bytes, before they are added.
const LONG_MATCH: usize = 9;

/// Decodes `src`, which must fill `dst` exactly.
///
/// # Errors
///
/// [`Malformed`] if the stream is cut short, a match begins before the first byte of `dst`, or the
/// output is longer or shorter than `dst`. The contents of `dst` are unspecified then.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
    decompress_prefix(src, dst, usize::MAX)
}

/// Decodes like [`decompress`], but may stop once the first `needed` bytes of `dst` are right; what
/// follows them is then unspecified, and what is wrong with the rest of the stream stays unseen.
///
/// # Errors
///
/// As [`decompress`].
pub fn decompress_prefix(src: &[u8], dst: &mut [u8], needed: usize) -> Result<(), Malformed> {
    let Some(&first) = src.first() else {
        return if dst.is_empty() { Ok(()) } else { malformed(0, "the stream is empty") };
    };
    let mut window = Window { dst, len: 0 };
    let mut token = first & 0x1f;
    let mut at = 1;
    loop {
        if at > 1 {
            at = window.decode_fast(src, at - 1, needed);
            if window.len >= needed {
                return Ok(());
            }
            let Some(&next) = src.get(at) else { break };
            token = next;
            at += 1;
        }
        if token < 32 {
            at = window.literals(src, at, usize::from(token) + 1)?;
            match src.get(at) {
                Some(&next) => token = next,
                None => break,
            }
            at += 1;
        } else {
            let repeat = Repeat::read(src, token, at)?;
            window.repeat(&repeat)?;
            if window.len >= needed {
                return Ok(());
            }
            token = repeat.next_token;
            at = repeat.end;
        }
    }
    if window.len == window.dst.len() {
        Ok(())
    } else {
        malformed(src.len(), "the stream ends before the output is full")
    }
}

/// One match, with the token after it: without one, the stream is malformed.
struct Repeat {
    len: usize,
    dist: usize,
    next_token: u8,
    end: usize,
}

impl Repeat {
    /// Reads the match announced by `token`; its other bytes begin at `at`.
    #[inline(always)]
    fn read(src: &[u8], token: u8, mut at: usize) -> Result<Self, Malformed> {
        let code = usize::from(token >> 5);
        let high = usize::from(token & 31);
        let mut len = code + 2;
        if code == 7 {
            (len, at) = Self::extended(src, at)?;
        }
        let Some(&[low, next_token]) = pair(src, at) else {
            return malformed(at, "the stream ends in a match");
        };
        at += 2;
        if high == 31 && low == 255 {
            return Self::far(src, len, next_token, at);
        }
        Ok(Self { len, dist: high * 256 + usize::from(low) + 1, next_token, end: at })
    }

    /// Sums up the extension bytes from `at` on; returns the length and where the next byte is.
    #[inline(always)]
    fn extended(src: &[u8], mut at: usize) -> Result<(usize, usize), Malformed> {
        let mut len = LONG_MATCH;
        loop {
            let Some(&[byte, _]) = pair(src, at) else {
                return malformed(at, "the stream ends in a match length");
            };
            at += 1;
            // At most 255 for each byte of the input: too long for the output perhaps, but far from
            // overflowing where addresses have 64 bits, and saturated where they have fewer.
            len = len.saturating_add(usize::from(byte));
            if byte != 255 {
                return Ok((len, at));
            }
        }
    }

    /// Reads the second byte of a far distance (the first was taken for the next token) and the
    /// token after it.
    #[inline(always)]
    fn far(src: &[u8], len: usize, first: u8, at: usize) -> Result<Self, Malformed> {
        let Some(&[second, next_token]) = pair(src, at) else {
            return malformed(at, "the stream ends in a match");
        };
        let dist = FAR_BASE + usize::from(u16::from_be_bytes([first, second]));
        Ok(Self { len, dist, next_token, end: at + 2 })
    }
}

/// The output buffer, of which `len` bytes have been produced. Invariant: `len <= dst.len()`.
struct Window<'a> {
    dst: &'a mut [u8],
    len: usize,
}

/// Input an instruction of the fast loop may touch: a token and 32 literals, or a match with one
/// extension byte; and the token after it.
const FAST_INPUT: usize = 1 + MAX_RUN + 1;

/// Output such an instruction may touch: 32 literals, or a match of 264 bytes and a step more.
const FAST_OUTPUT: usize = LONG_MATCH + 255 + copy::STEP;
const _: () = assert!(copy::STEP >= copy::SLACK);

impl Window<'_> {
    /// Decodes from the token at `at` on while everything lies far from the ends of both buffers, and
    /// fewer than `needed` bytes are there. Returns the position of the first token that it left.
    #[inline(never)]
    fn decode_fast(&mut self, src: &[u8], at: usize, needed: usize) -> usize {
        let room = self.dst.len() - self.len;
        if src.len() - at < FAST_INPUT || room < FAST_OUTPUT {
            return at;
        }
        let dst = self.dst.as_mut_ptr();
        // SAFETY: `at` and `len` lie in their slices, at least so far before the ends as was just seen;
        // hence `last` and `last_out` lie in them, too. In the loop:
        // * at its head `input <= last` and `out <= last_out`: all that an instruction reads is
        //   readable, and what it writes, with the slack of the copies, writable;
        // * a match that needs more, or begins before `dst`, is left to the careful loop.
        unsafe {
            let last = src.as_ptr().add(src.len() - FAST_INPUT);
            let last_out = dst.add((self.dst.len() - FAST_OUTPUT).min(needed));
            let mut input = src.as_ptr().add(at);
            let mut out = dst.add(self.len);
            while input <= last && out <= last_out {
                let token = usize::from(*input);
                if token < 32 {
                    copy::copy_16(input.add(1), out);
                    copy::copy_16(input.add(17), out.add(16));
                    input = input.add(token + 2);
                    out = out.add(token + 1);
                    continue;
                }
                // Whether there is an extension byte cannot be foreseen: no jump depends on it.
                let mut word = copy::load_4(input.add(1)) as usize;
                let mut len = (token >> 5) + 2;
                let extended = len == LONG_MATCH;
                if extended {
                    len += word & 0xFF;
                    word >>= 8;
                }
                if len == LONG_MATCH + 255 {
                    break;
                }
                let mut next = input.add(2 + usize::from(extended));
                let mut dist = (token & 31) << 8 | word & 0xFF;
                if dist == FAR_BASE - 1 {
                    dist += usize::from(copy::load_2(next).swap_bytes());
                    next = next.add(2);
                }
                dist += 1;
                if dist > out.offset_from_unsigned(dst) {
                    break;
                }
                Self::append(out, dist, len);
                input = next;
                out = out.add(len);
            }
            self.len = out.offset_from_unsigned(dst);
            input.offset_from_unsigned(src.as_ptr())
        }
    }

    /// Appends a match: mostly a short one, or a run of one byte or two.
    ///
    /// # Safety
    ///
    /// `dist >= 1`, the `dist` bytes before `out` belong to the same buffer, and `len + STEP`
    /// initialised bytes from `out` on can be read and written.
    #[inline(always)]
    unsafe fn append(out: *mut u8, dist: usize, len: usize) {
        debug_assert!(dist >= 1);
        // SAFETY: `dist` is at most the number of bytes before `out`, which `decode_fast` compares,
        // and `len + STEP <= FAST_OUTPUT` bytes follow: its loop starts no instruction after
        // `last_out`. Each branch writes at most `STEP` bytes past the match.
        unsafe {
            let from = out.sub(dist);
            if len <= 24 && dist >= 8 {
                copy::copy_8(from, out);
                copy::copy_8(from.add(8), out.add(8));
                copy::copy_8(from.add(16), out.add(16));
            } else if dist <= 2 {
                copy::repeat_steps(out, copy::near_pattern(from, dist), len);
            } else {
                copy::copy_match(out, dist, len);
            }
        }
    }

    /// Appends `count` (1 to 32) literal bytes from `src[at..]`; returns the position after them.
    #[inline(always)]
    fn literals(&mut self, src: &[u8], at: usize, count: usize) -> Result<usize, Malformed> {
        let room = self.dst.len() - self.len;
        let left = src.len() - at;
        if left >= MAX_RUN && room >= MAX_RUN && count <= MAX_RUN {
            // SAFETY: 32 bytes can be read from `at` and written from `len` on (checked just now),
            // `len` and `at` are inside or at the end of their slices, and a shared and a mutable
            // slice do not overlap.
            unsafe {
                let from = src.as_ptr().add(at);
                let to = self.dst.as_mut_ptr().add(self.len);
                copy::copy_16(from, to);
                copy::copy_16(from.add(16), to.add(16));
            }
        } else {
            let Some(bytes) = src.get(at..at + count) else {
                return malformed(at, "the stream ends in a literal run");
            };
            let Some(room) = self.dst.get_mut(self.len..self.len + count) else {
                return malformed(at, "a literal run overflows the output");
            };
            room.copy_from_slice(bytes);
        }
        self.len += count;
        Ok(at + count)
    }

    /// Appends a match.
    #[inline(always)]
    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Malformed> {
        let &Repeat { len, dist, end, .. } = repeat;
        let room = self.dst.len() - self.len;
        if dist > self.len {
            return malformed(end, "a match begins before the output");
        }
        if len > room {
            return malformed(end, "a match overflows the output");
        }
        // SAFETY: `len <= room` bytes from `self.len` on are inside the slice, and so are the `dist`
        // bytes before them, `dist` being 1 or more by its definition (all checked just now). The
        // wide copies run only where the slice goes on for their slack behind the match.
        unsafe {
            let to = self.dst.as_mut_ptr().add(self.len);
            if room - len >= copy::SLACK {
                if len <= 8 && dist >= 8 {
                    copy::copy_8(to.sub(dist), to);
                } else {
                    copy::copy_match(to, dist, len);
                }
            } else {
                copy::copy_match_exact(to, dist, len);
            }
        }
        self.len += len;
        Ok(())
    }
}

/// The two bytes at `at`, if there are two.
#[inline(always)]
fn pair(src: &[u8], at: usize) -> Option<&[u8; 2]> {
    src.get(at..)?.first_chunk()
}

#[cold]
fn malformed<T>(at: usize, reason: &'static str) -> Result<T, Malformed> {
    Err(Malformed { at, reason })
}
