//! A stream in the fast loops: one turn at a time.

use crate::copy::{SLACK, load_8};
use crate::inflate::bits::Bits;
use crate::inflate::codes::Codes;
use crate::inflate::pairs::Literals;
use crate::inflate::stream::Output;
use crate::inflate::table::{
    END_OF_BLOCK, EXCEPTIONAL, Entry, LITERALS, LONGER_CODES, all_bits, base, bits_of_first,
    code_bits, literals,
};

/// Input that one turn of the loop may touch: three times it reads 8 bytes, 7 of which may count.
pub(super) const FAST_INPUT: usize = 3 * 8;

/// Output that one turn may touch: up to four entries of two literals, or three and a match of
/// usual length with the slack of its copy.
pub(super) const FAST_OUTPUT: usize = 4 * 2 + USUAL_LENGTH + SLACK;

/// Longer matches are asked whether there is room for them.
const USUAL_LENGTH: usize = 32;

/// Output that the longest match may touch.
const LONG_OUTPUT: usize = 258 + SLACK;

/// Where a turn of the loop may begin, where a long match, and the begin of the output.
#[derive(Clone, Copy)]
struct Bounds {
    last_input: *const u8,
    first: *mut u8,
    last: *mut u8,
    last_long: *mut u8,
}

/// How a turn of the loop comes out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Another one may follow.
    Next,
    /// The next symbol is not plainly right, or there is no room for it.
    Stuck,
    /// The block is at its end.
    Ended,
}

/// A stream in the loop.
pub(super) struct Lane<'a> {
    now: Reader,
    out: *mut u8,
    /// That of the next bits.
    entry: Entry,
    literals: Lookup<'a>,
    distances: Lookup<'a>,
    bounds: Bounds,
}

impl<'a> Lane<'a> {
    /// # Safety
    ///
    /// `FAST_INPUT` bytes are left in the input and `FAST_OUTPUT` in the output.
    #[inline(always)]
    pub(super) unsafe fn new(
        codes: &'a Codes,
        bits: &mut Bits,
        output: &mut Output,
        enough: usize,
    ) -> Self {
        debug_assert!(bits.read + FAST_INPUT <= bits.src.len());
        debug_assert!(output.written + FAST_OUTPUT <= output.dst.len());
        let (src, dst) = (bits.src.as_ptr(), output.dst.as_mut_ptr());
        let room = output.dst.len() - FAST_OUTPUT;
        // SAFETY: both margins fit, so the places where turns may begin last lie in the slices; tables have an entry
        // for every index.
        unsafe {
            let mut now =
                Reader { input: src.add(bits.read), buffer: bits.buffer, left: bits.count };
            now.refill();
            let literals =
                Lookup { entries: codes.literals.entries(), bits: codes.literals.bits() };
            let distances =
                Lookup { entries: codes.distances.entries(), bits: codes.distances.bits() };
            let bounds = Bounds {
                last_input: src.add(bits.src.len() - FAST_INPUT),
                first: dst,
                last: dst.add(enough.min(room)),
                // If there is no room at all, this is the begin, where no match can be.
                last_long: dst.add(output.dst.len().saturating_sub(LONG_OUTPUT)),
            };
            let entry = literals.first(now.buffer);
            Self { now, out: dst.add(output.written), entry, literals, distances, bounds }
        }
    }

    /// Takes over how far the lane has come.
    ///
    /// # Safety
    ///
    /// It is that of these two.
    #[inline(always)]
    pub(super) unsafe fn leave(&self, bits: &mut Bits, output: &mut Output) {
        // SAFETY: what the turns have read and written lies in the slices.
        unsafe {
            bits.read = self.now.input.offset_from_unsigned(bits.src.as_ptr());
            output.written = self.out.offset_from_unsigned(output.dst.as_ptr());
        }
        (bits.buffer, bits.count) = (self.now.buffer, self.now.left & 63);
    }

    /// Whether a turn may begin here.
    #[inline(always)]
    pub(super) fn is_within(&self) -> bool {
        self.now.input <= self.bounds.last_input && self.out <= self.bounds.last
    }

    /// # Safety
    ///
    /// The lane [is within](Self::is_within) its bounds: after `last_input` come `FAST_INPUT` readable bytes, after
    /// `last` come `FAST_OUTPUT` that are initialised and may be written; `out` is not before `first`;
    /// after `last_long` come `LONG_OUTPUT` such bytes, or it is `first`. `copy` can be called.
    #[inline(always)]
    pub(super) unsafe fn take_turn<const KIND: u8>(
        &mut self,
        copy: unsafe fn(*mut u8, usize, usize),
    ) -> Turn {
        let Self { now, out, entry, literals, distances, bounds } = self;
        // SAFETY:
        // * `input <= last_input`: up to three refills read 8 bytes and go on by 7 or less;
        // * `out <= last`: up to four entries of literals write 2 bytes and go on by 2 or less, a
        //   match of usual length writes its slack, too; a longer one begins no later than `last_long`;
        // * a match begins in the output, as that is compared first, and its distance is not 0: no
        //   entry has the base 0 for a distance;
        // * indices are below the sizes of their tables.
        unsafe {
            if *entry & LITERALS != 0 {
                *entry = put_row::<KIND>(now, out, *entry, *literals);
                if *entry & LITERALS != 0 {
                    return Turn::Next;
                }
            }
            let before = *now;
            if *entry & EXCEPTIONAL != 0 {
                *entry = literals.longer(now, *entry);
                if *entry & LITERALS != 0 {
                    put_literals::<KIND>(now, out, *entry, *literals);
                    now.refill();
                    *entry = literals.first(now.buffer);
                    return Turn::Next;
                }
                if *entry & END_OF_BLOCK != 0 && *entry & EXCEPTIONAL != 0 {
                    now.take(*entry);
                    return Turn::Ended;
                }
                if *entry & EXCEPTIONAL != 0 {
                    *now = before;
                    return Turn::Stuck;
                }
            }
            let length = now.take_value(*entry);
            let mut entry_of_distance = distances.first(now.buffer);
            if entry_of_distance & EXCEPTIONAL != 0 {
                entry_of_distance = distances.longer(now, entry_of_distance);
                if entry_of_distance & EXCEPTIONAL != 0 {
                    *now = before;
                    return Turn::Stuck;
                }
            }
            let distance = now.take_value(entry_of_distance);
            // Not by comparing pointers: the difference could wrap around where memory begins at 0.
            if distance > out.addr() - bounds.first.addr()
                || length > USUAL_LENGTH && *out > bounds.last_long
            {
                *now = before;
                return Turn::Stuck;
            }
            now.refill();
            *entry = literals.first(now.buffer);
            copy(*out, distance, length);
            *out = out.add(length);
            Turn::Next
        }
    }
}

/// Writes an entry of literals and up to two more, as far as the bits that are ready suffice; makes
/// others ready and gives the next entry.
///
/// # Safety
///
/// `out` is valid for writes of 6 bytes, the literals of three entries; 8 bytes can be read at
/// `reader.input`; `table` has `1 << table.bits` entries.
#[inline(always)]
unsafe fn put_row<const KIND: u8>(
    reader: &mut Reader,
    out: &mut *mut u8,
    entry: Entry,
    table: Lookup,
) -> Entry {
    // SAFETY: 6 bytes can be written at `out` and 8 read at `input`: `take_turn`, the only caller,
    // begins with `FAST_OUTPUT` and `FAST_INPUT` of them. `table` is the lane's, see
    // `Lookup::first`. The 56 bits that are ready suffice: codes that are counted may have 24 bits
    // a pair, others 12.
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
        // SAFETY: 8 bytes can be read at `input`: `FAST_INPUT` (24) bytes are left in `Lane::new`,
        // and where a turn begins (`Lane::is_within`); a turn refills up to three times, and each
        // time the input advances by at most 7 bytes.
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
        debug_assert!(1_usize << self.bits <= self.entries.len());
        // SAFETY: the index is below `1 << bits`, which is at most the number of entries:
        // `Lane::new` takes both from one `Table`, and `Codes::build` passes no more bits to
        // `Table::build` than the size of that table has room for.
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

/// Writes the literals of an entry, and any byte after a single one. If `KIND` is `ONE`, there is
/// only one, and nothing is written after it.
///
/// # Safety
///
/// `out` is valid for writes of 2 bytes, and `table` has `1 << table.bits` entries.
#[inline(always)]
unsafe fn put_literals<const KIND: u8>(
    reader: &mut Reader,
    out: &mut *mut u8,
    entry: Entry,
    table: Lookup,
) {
    let [_, first, ..] = entry.to_le_bytes();
    // SAFETY: 2 bytes can be written at `out`: `take_turn` begins with `FAST_OUTPUT` bytes of room,
    // and it and `put_row` write at most four entries of 2 bytes before a match. `table` is the
    // lane's, see `Lookup::first`.
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

pub(super) const ONE: u8 = Literals::One as u8;
pub(super) const TWO: u8 = Literals::Two as u8;
pub(super) const COUNTED: u8 = Literals::Counted as u8;
