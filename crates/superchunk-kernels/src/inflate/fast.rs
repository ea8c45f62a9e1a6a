//! Decodes symbols away from the ends of both buffers.

use crate::copy::{SLACK, copy_match, load_8};
#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;
use crate::inflate::Output;
use crate::inflate::bits::Bits;
use crate::inflate::codes::Codes;
use crate::inflate::pairs::Literals;
#[cfg(target_arch = "x86_64")]
use crate::inflate::repeat;
use crate::inflate::table::{
    END_OF_BLOCK, EXCEPTIONAL, Entry, LITERALS, LONGER_CODES, all_bits, base, bits_of_first,
    code_bits, literals,
};

/// Input that one turn of the loop may touch: three times it reads 8 bytes, 7 of which may count.
const FAST_INPUT: usize = 3 * 8;

/// Output that one turn may touch: up to four entries of two literals, or three and a match of
/// usual length with the slack of its copy.
const FAST_OUTPUT: usize = 4 * 2 + USUAL_LENGTH + SLACK;

/// Longer matches are asked whether there is room for them.
const USUAL_LENGTH: usize = 32;

/// Output that the longest match may touch.
const LONG_OUTPUT: usize = 258 + SLACK;

/// Decodes symbols while they lie within the margins and fewer than `enough` bytes are written.
/// True at the end of the block; otherwise it stops before a symbol that is not plainly right, or
/// for which there is no room.
pub(super) fn decode(codes: &Codes, bits: &mut Bits, output: &mut Output, enough: usize) -> bool {
    if output.dst.len() - output.written < FAST_OUTPUT {
        return false;
    }
    if bits.src.len() - bits.read < FAST_INPUT {
        return decode_padded(codes, bits, output, enough);
    }
    decode_within(codes, bits, output, enough)
}

/// Decodes the end of the input with zeros behind it. If those were needed, nothing has happened.
#[inline(never)]
fn decode_padded(codes: &Codes, bits: &mut Bits, output: &mut Output, enough: usize) -> bool {
    let mut padded = [0; 3 * FAST_INPUT];
    let rest = bits.src.get(bits.read..).unwrap_or_default();
    padded.iter_mut().zip(rest).for_each(|(to, &byte)| *to = byte);
    let mut inner = Bits { src: &padded, read: 0, buffer: bits.buffer, count: bits.count };
    let written = output.written;
    let ended = decode_within(codes, &mut inner, output, enough);
    let (read, unused) = (bits.read + inner.read, inner.count);
    if 8 * read.saturating_sub(bits.src.len()) > unused as usize {
        output.written = written;
        return false;
    }
    // Whole bytes are given back: they may be padding.
    bits.read = read - (unused / 8) as usize;
    bits.count = unused % 8;
    bits.buffer = inner.buffer & ((1 << bits.count) - 1);
    ended
}

/// Decodes where there is `FAST_INPUT` and `FAST_OUTPUT`.
#[inline(always)]
fn decode_within(codes: &Codes, bits: &mut Bits, output: &mut Output, enough: usize) -> bool {
    if bits.src.len() - bits.read < FAST_INPUT || output.dst.len() - output.written < FAST_OUTPUT {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if isa().has_avx2() {
        // SAFETY: the processor has AVX2, BMI1 and BMI2, and both margins fit.
        return unsafe { decode_with_bmi2(codes, bits, output, enough) };
    }
    // SAFETY: both margins were found to fit.
    unsafe {
        match codes.literals.literals() {
            Literals::One => decode_body::<ONE>(codes, bits, output, enough, copy_match),
            Literals::Two => decode_body::<TWO>(codes, bits, output, enough, copy_match),
            Literals::Counted => decode_body::<COUNTED>(codes, bits, output, enough, copy_match),
        }
    }
}

/// [`decode_body`] with more instructions.
///
/// # Safety
///
/// As there, and the processor has them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn decode_with_bmi2(
    codes: &Codes,
    bits: &mut Bits,
    output: &mut Output,
    enough: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match codes.literals.literals() {
            Literals::One => decode_body::<ONE>(codes, bits, output, enough, repeat::copy_match),
            Literals::Two => decode_body::<TWO>(codes, bits, output, enough, repeat::copy_match),
            Literals::Counted => {
                decode_body::<COUNTED>(codes, bits, output, enough, repeat::copy_match)
            }
        }
    }
}

/// Goes through the turns of the loop; `KIND` is what entries of literals hold.
///
/// # Safety
///
/// `FAST_INPUT` bytes are left in the input and `FAST_OUTPUT` in the output; `copy` can be called.
#[inline(always)]
unsafe fn decode_body<const KIND: u8>(
    codes: &Codes,
    bits: &mut Bits,
    output: &mut Output,
    enough: usize,
    copy: unsafe fn(*mut u8, usize, usize),
) -> bool {
    let (src, dst) = (bits.src.as_ptr(), output.dst.as_mut_ptr());
    let room = output.dst.len() - FAST_OUTPUT;
    // SAFETY: both margins fit, so the places where turns may begin last lie in the slices, and
    // what the turns have read and written, too.
    unsafe {
        let mut reader =
            Reader { input: src.add(bits.read), buffer: bits.buffer, left: bits.count };
        let mut out = dst.add(output.written);
        let last_input = src.add(bits.src.len() - FAST_INPUT);
        let last = dst.add(enough.min(room));
        // If there is no room at all, this is the begin, where no match can be.
        let last_long = dst.add(output.dst.len().saturating_sub(LONG_OUTPUT));
        let bounds = Bounds { last_input, first: dst, last, last_long };
        let ended = take_turns::<KIND>(codes, &mut reader, &mut out, bounds, copy);
        bits.read = reader.input.offset_from_unsigned(src);
        output.written = out.offset_from_unsigned(dst);
        (bits.buffer, bits.count) = (reader.buffer, reader.left & 63);
        ended
    }
}

/// Where a turn of the loop may begin, where a long match, and the begin of the output.
#[derive(Clone, Copy)]
struct Bounds {
    last_input: *const u8,
    first: *mut u8,
    last: *mut u8,
    last_long: *mut u8,
}

/// The loop. True at the end of the block.
///
/// # Safety
///
/// After `bounds.last_input` come `FAST_INPUT` readable bytes, after `bounds.last` come `FAST_OUTPUT`
/// that are initialised and may be written; `output` lies between `bounds.first` and the end of
/// those; after `bounds.last_long` come `LONG_OUTPUT` such bytes, or it is `bounds.first`.
/// `copy` can be called.
#[inline(always)]
unsafe fn take_turns<const KIND: u8>(
    codes: &Codes,
    reader: &mut Reader,
    output: &mut *mut u8,
    bounds: Bounds,
    copy: unsafe fn(*mut u8, usize, usize),
) -> bool {
    let literals = Lookup { entries: codes.literals.entries(), bits: codes.literals.bits() };
    let distances = Lookup { entries: codes.distances.entries(), bits: codes.distances.bits() };
    let (mut now, mut out) = (*reader, *output);
    let mut ended = false;
    // SAFETY:
    // * at the head of the loop `input <= last_input`: up to three refills read 8 bytes and go on by
    //   7 or less;
    // * there `out <= last`: up to four entries of literals write 2 bytes and go on by 2 or less, a
    //   match of usual length writes its slack, too; a longer one begins no later than `last_long`;
    // * a match begins in the output, as that is compared first, and its distance is not 0: no
    //   entry has the base 0 for a distance;
    // * indices are below the sizes of their tables.
    unsafe {
        now.refill();
        let mut entry = literals.first(now.buffer);
        while now.input <= bounds.last_input && out <= bounds.last {
            if entry & LITERALS != 0 {
                entry = put_row::<KIND>(&mut now, &mut out, entry, literals);
                if entry & LITERALS != 0 {
                    continue;
                }
            }
            let before = now;
            if entry & EXCEPTIONAL != 0 {
                entry = literals.longer(&mut now, entry);
                if entry & LITERALS != 0 {
                    put_literals::<KIND>(&mut now, &mut out, entry, literals);
                    now.refill();
                    entry = literals.first(now.buffer);
                    continue;
                }
                if entry & EXCEPTIONAL != 0 {
                    ended = entry & END_OF_BLOCK != 0;
                    if ended {
                        now.take(entry)
                    } else {
                        now = before
                    }
                    break;
                }
            }
            let length = now.take_value(entry);
            let mut entry_of_distance = distances.first(now.buffer);
            if entry_of_distance & EXCEPTIONAL != 0 {
                entry_of_distance = distances.longer(&mut now, entry_of_distance);
                if entry_of_distance & EXCEPTIONAL != 0 {
                    now = before;
                    break;
                }
            }
            let distance = now.take_value(entry_of_distance);
            if out.wrapping_sub(distance) < bounds.first
                || length > USUAL_LENGTH && out > bounds.last_long
            {
                now = before;
                break;
            }
            now.refill();
            entry = literals.first(now.buffer);
            copy(out, distance, length);
            out = out.add(length);
        }
    }
    (*reader, *output) = (now, out);
    ended
}

/// Writes an entry of literals and up to two more, as far as the bits that are ready suffice; makes
/// others ready and gives the next entry.
///
/// # Safety
///
/// `entry` has literals; 56 bits are ready; as [`put_literals`] for three entries, [`Reader::refill`]
/// and [`Lookup::first`].
#[inline(always)]
unsafe fn put_row<const KIND: u8>(
    reader: &mut Reader,
    out: &mut *mut u8,
    entry: Entry,
    table: Lookup,
) -> Entry {
    // SAFETY: the caller's promise. Codes that are counted may have 24 bits a pair, others 12.
    unsafe {
        put_literals::<KIND>(reader, out, entry, table);
        let mut entry = table.first(reader.buffer);
        if entry & LITERALS != 0 {
            put_literals::<KIND>(reader, out, entry, table);
            if KIND != COUNTED {
                entry = table.first(reader.buffer);
                if entry & LITERALS != 0 {
                    put_literals::<KIND>(reader, out, entry, table);
                }
            }
            reader.refill();
            entry = table.first(reader.buffer);
            return entry;
        }
        reader.refill();
        entry
    }
}

/// The next bits of the input, of which `left & 63` count; what follows above them are the same
/// bits as in the input, or zeros.
#[derive(Clone, Copy)]
struct Reader {
    input: *const u8,
    buffer: u64,
    left: u32,
}

impl Reader {
    /// Makes at least 56 bits ready.
    ///
    /// # Safety
    ///
    /// 8 bytes are readable at `input`.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: the caller's promise; the input goes on by at most 7 bytes.
        unsafe {
            self.buffer |= load_8(self.input) << (self.left & 63);
            self.input = self.input.add(((!self.left >> 3) & 7) as usize);
        }
        self.left |= 56;
    }

    /// Takes the bits of an entry.
    #[inline(always)]
    fn take(&mut self, entry: Entry) {
        self.buffer >>= all_bits(entry);
        self.left = self.left.wrapping_sub(entry);
    }

    /// Takes the bits of an entry and gives its value with the extra bits.
    #[inline(always)]
    fn take_value(&mut self, entry: Entry) -> usize {
        // Above the bits of the code are flags, which a value has not.
        let extra = low_bits(self.buffer, all_bits(entry)) >> ((entry >> 8) & 63);
        self.take(entry);
        base(entry) + extra
    }
}

/// The table of a code.
#[derive(Clone, Copy)]
struct Lookup<'a> {
    entries: &'a [Entry],
    bits: u32,
}

impl Lookup<'_> {
    /// The entry for the next bits.
    ///
    /// # Safety
    ///
    /// The table has `1 << bits` entries.
    #[inline(always)]
    unsafe fn first(&self, buffer: u64) -> Entry {
        // SAFETY: the caller's promise.
        unsafe { *self.entries.get_unchecked(low_bits(buffer, self.bits)) }
    }

    /// The entry of the longer code that `entry` leads to, or itself if there is none.
    ///
    /// # Safety
    ///
    /// `entry` was found in this table, which is a [`Table`](super::table::Table)'s.
    #[inline(always)]
    unsafe fn longer(&self, reader: &mut Reader, entry: Entry) -> Entry {
        if entry & LONGER_CODES == 0 {
            return entry;
        }
        reader.take(entry);
        let index = base(entry) + low_bits(reader.buffer, code_bits(entry));
        // SAFETY: such entries point to a table that ends within the entries.
        unsafe { *self.entries.get_unchecked(index) }
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits are asked for")]
fn low_bits(buffer: u64, bits: u32) -> usize {
    (buffer & ((1 << bits) - 1)) as usize
}

/// Writes the literals of an entry, and something behind one. Unless `JOINED`, there is only one.
///
/// # Safety
///
/// `out` is valid for writes of 2 bytes; as [`Lookup::first`].
#[inline(always)]
unsafe fn put_literals<const KIND: u8>(
    reader: &mut Reader,
    out: &mut *mut u8,
    entry: Entry,
    table: Lookup,
) {
    let [_, first, ..] = entry.to_le_bytes();
    // SAFETY: the caller's promise.
    unsafe {
        if KIND == ONE {
            **out = first;
            *out = out.add(1);
        } else {
            let mut both = entry >> 8;
            if KIND == COUNTED {
                let second = table.first(reader.buffer >> (bits_of_first(entry) & 63));
                both = (both & 0xff) | (second & 0xff00);
            }
            let [first, second, ..] = both.to_le_bytes();
            out.cast::<[u8; 2]>().write([first, second]);
            *out = out.add(literals(entry));
        }
    }
    reader.take(entry);
}

const ONE: u8 = Literals::One as u8;
const TWO: u8 = Literals::Two as u8;
const COUNTED: u8 = Literals::Counted as u8;
