//! Decodes an LZ4 block.
//!
//! Two loops share the work. The *fast* one handles sequences that lie far enough from the end of
//! both buffers for copies in whole 16-byte steps; at the first sequence that does not (near an
//! end, a match in the dictionary, anything wrong) it stops at that sequence's token. The *careful*
//! one then decodes exactly one sequence with every bound checked, reports what is malformed, and
//! hands back. So the fast loop never has to explain an error and nothing is decided twice.

use crate::Malformed;
use crate::copy::{
    SLACK, STEP, copy_8, copy_16, copy_exact, copy_match_exact, copy_near_match, copy_wider,
    load_2, near_pattern, repeat_24, repeat_steps,
};
use crate::lz4::{MAX_DISTANCE, MIN_MATCH};

/// Decodes the block `src` into `dst`, which it must fill exactly.
///
/// `dict` is the history the encoder was given; it may be empty. Only its last 64 KiB can be
/// referred to.
///
/// # Errors
///
/// When the stream is cut short, goes on after the output is full or stops before, or points
/// before the history. The contents of `dst` are then unspecified.
pub fn decompress(dict: &[u8], src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
    decompress_prefix(dict, src, dst, usize::MAX)
}

/// Decodes like [`decompress`], but may stop once the first `needed` bytes of `dst` are right; what
/// follows them is then unspecified, and what is wrong with the rest of the stream stays unseen.
///
/// # Errors
///
/// As [`decompress`].
pub fn decompress_prefix(
    dict: &[u8],
    src: &[u8],
    dst: &mut [u8],
    needed: usize,
) -> Result<(), Malformed> {
    let mut cursor = Cursor { read: 0, written: 0 };
    loop {
        decode_fast(src, dst, &mut cursor, needed);
        if cursor.written >= needed || decode_sequence(dict, src, dst, &mut cursor)? {
            return Ok(());
        }
    }
}

/// How far decoding has come. `read <= src.len()` and `written <= dst.len()` always hold.
struct Cursor {
    read: usize,
    written: usize,
}

/// Input a sequence of the fast loop may touch without asking: a token, 16 bytes of literals (14
/// at most count), a distance.
const FAST_INPUT: usize = 1 + 16 + 2;

/// Output such a sequence may touch: 14 literals, a match of 18 bytes, and the copies' slack; as much
/// as a step of [`copy_steps`] may touch after long literals and matches.
const FAST_OUTPUT: usize = 14 + 18 + SLACK;
const _: () = assert!(FAST_OUTPUT >= STEP);

/// Decodes sequences while they lie within the margins; stops at the token of the first that
/// does not, or that is not plainly right, or when `needed` bytes are there.
#[inline(never)]
fn decode_fast(src: &[u8], dst: &mut [u8], cursor: &mut Cursor, needed: usize) {
    if src.len() - cursor.read < FAST_INPUT || dst.len() - cursor.written < FAST_OUTPUT {
        return;
    }
    let src_start = src.as_ptr();
    let dst_start = dst.as_mut_ptr();
    // SAFETY: the cursor lies within both slices, and each margin was just found to fit, so
    // `last_input` and `last_output` lie in the slices too, and `enough` is not after the latter.
    unsafe {
        let margins = Margins {
            dst_start,
            last_input: src_start.add(src.len() - FAST_INPUT),
            last_output: dst_start.add(dst.len() - FAST_OUTPUT),
            enough: dst_start.add(needed.min(dst.len() - FAST_OUTPUT)),
        };
        let (input, output) = (src_start.add(cursor.read), dst_start.add(cursor.written));
        let (input, output) = decode_within(&margins, input, output);
        cursor.read = input.offset_from_unsigned(src_start);
        cursor.written = output.offset_from_unsigned(dst_start);
    }
}

/// Where the fast loop is at home.
struct Margins {
    dst_start: *mut u8,
    /// [`FAST_INPUT`] bytes before the end of the input.
    last_input: *const u8,
    /// [`FAST_OUTPUT`] bytes before the end of the output.
    last_output: *mut u8,
    /// No more is needed than up to here, which is not after `last_output`.
    enough: *mut u8,
}

/// The fast loop: from a token and where its literals belong to those that it leaves.
///
/// # Safety
///
/// Both pointers lie in the buffers of `margins`, or at their ends.
#[inline(always)]
unsafe fn decode_within(
    margins: &Margins,
    mut input: *const u8,
    mut output: *mut u8,
) -> (*const u8, *mut u8) {
    let &Margins { dst_start, last_input, last_output, enough } = margins;
    // SAFETY:
    // * at the head of the loop `input <= last_input` and `output <= last_output`: the token, 16
    //   literal bytes and the distance are readable, 16 literal bytes writable;
    // * long lengths are compared with what is left, less the margin, before they are used;
    // * `distance - 1 < written` puts the match inside `dst`;
    // * a short match ends at most 32 bytes after the head's `output`: `SLACK` bytes remain.
    unsafe {
        while input <= last_input && output <= enough {
            let token = usize::from(*input);
            let mut next = input.add(1);
            let mut out = output;
            let mut literals = token >> 4;
            if literals == 15 {
                seldom();
                let room = last_output.offset_from_unsigned(out);
                let Some(long) = long_literals(&mut next, last_input, out, room) else { break };
                literals = long;
            } else {
                copy_16(next, out);
            }
            next = next.add(literals);
            out = out.add(literals);
            let distance = usize::from(load_2(next));
            next = next.add(2);
            // Not by comparing pointers: the difference could wrap around where memory begins at 0.
            if distance > out.offset_from_unsigned(dst_start) {
                break;
            }
            let from = out.sub(distance).cast_const();
            let mut length = (token & 15) + MIN_MATCH;
            if length < 15 + MIN_MATCH {
                if distance >= 8 {
                    copy_18(from, out);
                    (output, input) = (out.add(length), next);
                    continue;
                }
                if distance == 1 || distance == 2 {
                    repeat_24(out, near_pattern(from, distance));
                    (output, input) = (out.add(length), next);
                    continue;
                }
            } else {
                seldom();
                let room = last_output.addr().saturating_sub(out.addr());
                let Some(long) = long_length(&mut next, last_input, length, room) else { break };
                length = long;
                if distance >= 16 {
                    copy_long_match(from, out, distance, length);
                    (output, input) = (out.add(length), next);
                    continue;
                }
                if distance == 1 || distance == 2 {
                    repeat_steps(out, near_pattern(from, distance), length);
                    (output, input) = (out.add(length), next);
                    continue;
                }
            }
            seldom();
            if distance == 0 {
                break;
            }
            copy_near_match(out, distance, length);
            (output, input) = (out.add(length), next);
        }
    }
    (input, output)
}

/// Reads how many literals there are when the token cannot say, and copies them. `None` when they
/// are more than `room` or come too close to the end of the input.
///
/// # Safety
///
/// As [`long_length`]; and `out` is valid for writes of `room + STEP` bytes in another buffer.
#[inline(always)]
unsafe fn long_literals(
    input: &mut *const u8,
    last: *const u8,
    out: *mut u8,
    room: usize,
) -> Option<usize> {
    // SAFETY: all bytes from `*input` up to and including `last` can be read: `decode_within`
    // passes the byte after the token, and `last_input`, after which `FAST_INPUT` bytes of the
    // input follow.
    let literals = unsafe { long_length(input, last, 15, room)? };
    if literals + STEP > last.addr().saturating_sub(input.addr()) {
        return None;
    }
    // SAFETY: the literals and a step end before `last`, and `literals <= room`.
    unsafe {
        if literals > MANY {
            copy_exact(*input, out, literals);
        } else {
            copy_steps(*input, out, literals);
        }
    }
    Some(literals)
}

/// Copies a match of any length from a distance of 16 at least.
///
/// # Safety
///
/// `distance >= 16`, `src` lies `distance` bytes before `dst`, and both are valid for `len + STEP`
/// bytes of one buffer.
#[inline(always)]
unsafe fn copy_long_match(src: *const u8, dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 16 && src.wrapping_add(distance) == dst.cast_const());
    // SAFETY: `len + STEP` bytes can be read and written: `decode_within` checked that `src` is not
    // before the output and that `len` bytes end at `last_output` or before, which lies
    // `FAST_OUTPUT >= STEP` bytes before the end. Pieces that are `STEP` apart may be copied in
    // steps of that, those that are 16 apart by `copy_wider`.
    unsafe {
        if distance >= STEP {
            copy_steps(src, dst, len);
        } else {
            copy_wider(src, dst, len);
        }
    }
}

/// More literals than this are left to `memcpy`.
const MANY: usize = 256;

/// Copies `len` bytes in steps of [`STEP`], one even for a length of zero: long lengths are mostly
/// below that, and one wide step needs no guess at how many.
///
/// # Safety
///
/// `src` must be valid for reads and `dst` for writes of `len + STEP` bytes, and `dst` must not
/// overlap what lies less than `STEP` bytes after `src`.
#[inline(always)]
unsafe fn copy_steps(src: *const u8, dst: *mut u8, len: usize) {
    debug_assert!(dst.addr().wrapping_sub(src.addr()) >= STEP);
    let mut done = 0;
    loop {
        // SAFETY: `done <= len`, so `STEP` bytes from `done` lie within the `len + STEP` bytes that
        // can be read at `src` and written at `dst`: `long_literals` compares both, and
        // `decode_within` the match that it passes to `copy_long_match`.
        unsafe {
            let (from, to) = (src.add(done), dst.add(done));
            copy_16(from, to);
            copy_16(from.add(16), to.add(16));
            copy_16(from.add(32), to.add(32));
            copy_16(from.add(48), to.add(48));
        }
        done += STEP;
        if done >= len {
            return;
        }
    }
}

/// Reads the bytes that continue a length. `None` when they pass `last` or the length `limit`.
///
/// # Safety
///
/// `input` and all up to and including `last` must be readable bytes of one buffer, or `input`
/// lies past `last`.
#[inline(always)]
unsafe fn long_length(
    input: &mut *const u8,
    last: *const u8,
    base: usize,
    limit: usize,
) -> Option<usize> {
    let mut length = base;
    loop {
        if *input > last {
            return None;
        }
        // SAFETY: `*input <= last`, as was just compared, and `last` is a byte of the input:
        // `decode_within` passes `last_input`, which `decode_fast` derived from its length.
        let more = unsafe { **input };
        // SAFETY: one past a readable byte is within or at the end of its buffer.
        *input = unsafe { input.add(1) };
        length += usize::from(more);
        if length > limit {
            return None;
        }
        if more < 255 {
            return Some(length);
        }
    }
}

/// Tells the compiler that what leads here is not to be in the way of the rest.
#[cold]
#[inline(always)]
fn seldom() {}

/// Copies 18 bytes in steps of 8, 8 and 2.
///
/// Steps of 8 and not 16: items of 8 bytes make distances of 8 common, and a load that spans two
/// stores still on their way to memory has to wait for both.
///
/// # Safety
///
/// `src` must be valid for reads and `dst` for writes of 18 bytes; `dst` may overlap what lies 8
/// or more bytes after `src`.
#[inline(always)]
unsafe fn copy_18(src: *const u8, dst: *mut u8) {
    debug_assert!(dst.addr().wrapping_sub(src.addr()) >= 8);
    // SAFETY: 18 bytes can be written at `dst`: `decode_within`, the only caller, passes a place at
    // most 14 bytes after `last_output`, which lies `FAST_OUTPUT` (64) bytes before the end. They
    // can be read at `src`: it lies before `dst` and, since the distance was compared, in the
    // output. `[u8; 2]` has no alignment.
    unsafe {
        copy_8(src, dst);
        copy_8(src.add(8), dst.add(8));
        let rest = src.add(16).cast::<[u8; 2]>().read();
        dst.add(16).cast::<[u8; 2]>().write(rest);
    }
}

/// Decodes one sequence with all bounds checked. True when it was the last one.
#[inline(never)]
fn decode_sequence(
    dict: &[u8],
    src: &[u8],
    dst: &mut [u8],
    cursor: &mut Cursor,
) -> Result<bool, Malformed> {
    let token = take_byte(src, cursor)?;
    let literals = take_length(src, token >> 4, dst.len() - cursor.written, cursor)?;
    let from = src.get(cursor.read..cursor.read + literals).ok_or(cursor.malformed(CUT_SHORT))?;
    let written = cursor.written;
    let to = dst.get_mut(written..written + literals).ok_or(cursor.malformed(TOO_LONG))?;
    to.copy_from_slice(from);
    cursor.read += literals;
    cursor.written += literals;
    if cursor.read == src.len() {
        let full = cursor.written == dst.len();
        return if full { Ok(true) } else { Err(cursor.malformed("the output is not filled")) };
    }

    let low = take_byte(src, cursor)?;
    let high = take_byte(src, cursor)?;
    let distance = usize::from(u16::from_le_bytes([low, high]));
    let left = dst.len() - cursor.written;
    let length = take_length(src, token & 15, left, cursor)?.saturating_add(MIN_MATCH);
    if length > left {
        return Err(cursor.malformed(TOO_LONG));
    }
    if distance == 0 {
        return Err(cursor.malformed("a match of distance zero"));
    }
    append_match(dict, dst, cursor, distance, length)?;
    Ok(false)
}

const CUT_SHORT: &str = "the stream is cut short";
const TOO_LONG: &str = "the stream holds more than the output";

impl Cursor {
    fn malformed(&self, reason: &'static str) -> Malformed {
        Malformed { at: self.read, reason }
    }
}

fn take_byte(src: &[u8], cursor: &mut Cursor) -> Result<u8, Malformed> {
    let byte = *src.get(cursor.read).ok_or(cursor.malformed(CUT_SHORT))?;
    cursor.read += 1;
    Ok(byte)
}

/// The length that begins with this nibble. It is refused as soon as it exceeds `limit`, so that
/// no row of continuation bytes can overflow it.
fn take_length(
    src: &[u8],
    nibble: u8,
    limit: usize,
    cursor: &mut Cursor,
) -> Result<usize, Malformed> {
    let mut length = usize::from(nibble);
    if nibble == 15 {
        loop {
            let more = take_byte(src, cursor)?;
            length += usize::from(more);
            if length > limit {
                return Err(cursor.malformed(TOO_LONG));
            }
            if more < 255 {
                break;
            }
        }
    }
    Ok(length)
}

/// Appends a match of `length <= dst.len() - written` bytes, whose begin may lie in `dict`.
fn append_match(
    dict: &[u8],
    dst: &mut [u8],
    cursor: &mut Cursor,
    distance: usize,
    length: usize,
) -> Result<(), Malformed> {
    let (at, mut left) = (cursor.written, length);
    if distance > at {
        let before = distance - at;
        let window = dict.get(dict.len().saturating_sub(MAX_DISTANCE)..).unwrap_or(dict);
        let start = window.len().checked_sub(before);
        let start = start.ok_or(cursor.malformed("a match before the begin of the history"))?;
        let step = before.min(left);
        let (Some(from), Some(to)) = (window.get(start..start + step), dst.get_mut(at..at + step))
        else {
            return Err(cursor.malformed(TOO_LONG));
        };
        to.copy_from_slice(from);
        cursor.written += step;
        left -= step;
    }
    if left > 0 {
        debug_assert!((1..=cursor.written).contains(&distance));
        debug_assert!(left <= dst.len() - cursor.written);
        // SAFETY: `written + left` is the match's end, which `decode_sequence` found in `dst`; and
        // `1 <= distance <= written`: either it was so from the begin, or the dictionary's part
        // advanced `written` to `distance` exactly, as `left > 0`.
        unsafe { copy_match_exact(dst.as_mut_ptr().add(cursor.written), distance, left) };
        cursor.written += left;
    }
    Ok(())
}
