//! Marks behind the streams of a block: where in a stream a few bytes can be looked for, without decoding all that precedes them.
//!
//! ```text
//! ┌─────────┬────────┬─────────────────────────────────────────────────┬──────────┬───────┐
//! │ streams │ flags  │ of each stream: u8 × (u24, u24) │ u24 × n │  …  │ exponent │ check │  the next block
//! └─────────┴────────┴─────────────────────────────────────────────────┴──────────┴───────┘
//!            1 bit a   Zlib: the blocks inside,          marks             u8        u24
//!            stream    bit and byte of the output
//! ```
//!
//! A stream of `csize` bytes whose bit is set has a mark for each of its bytes `k << exponent`, from 1 on: the sequence that begins so many bytes (Zlib: bits) later
//! as the low 4 (6) bits of the mark say makes the output from the byte on that the others say. All low bits set: none is marked. `check` is the low end of the
//! XXH3 of all that precedes it.
//!
//! No other reader looks there: it goes where `bstarts` and the lengths of the streams lead, and never past the last stream of a block. See
//! `docs/formats/chunk.md`, 4.4.

use std::slice::ChunksExact;

use superchunk_kernels::{Mark, Marker, inflate};
use twox_hash::XxHash3_64;

use crate::codecs::Places;
use crate::error::{MustGet, Result};

/// What marks are apart in a stream, as a power of two; twice as far in long ones, and where bytes are dear.
const EXPONENT: u8 = 10;
const LONG_STREAM: usize = 512 * 1024;
/// Further apart, there is not more than one.
const MOST_EXPONENT: u8 = 20;
/// The bits and the bytes of one.
const MARK_BITS: u32 = 24;
const MARK: usize = 3;
/// The bytes of a block inside of a stream.
const INNER: usize = 6;
const CHECK: usize = 3;

/// Which blocks have marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    pub(super) places: Places,
    /// Those of so many streams.
    pub(super) streams: usize,
    /// So many bytes of an item are side by side in a stream; each of them may have to be looked for in another place.
    pub(super) item: usize,
    /// Whether matches are as long as can be, wherever that is: then few steps lead to a literal.
    pub(super) is_far: bool,
    /// Whether every byte counts.
    pub(super) is_dear: bool,
}

/// Makes the marks of a block.
#[derive(Default)]
pub(super) struct MarkWriter {
    marked: Option<Marked>,
    marker: Marker,
    inflate: inflate::Decoder,
    /// Whether streams that were not noted while they were compressed are read once more for that, which takes a quarter of the time.
    pub(super) reads_streams: bool,
    exponent: u8,
    flags: Vec<u8>,
    sections: Vec<u8>,
}

impl MarkWriter {
    /// Forgets the block before. The next one has these streams, and marks if `marked` says so.
    pub(super) fn begin(&mut self, streams: &ChunksExact<'_, u8>, marked: Option<Marked>) {
        let (count, first) = (streams.len(), streams.clone().next());
        let len = first.map_or(0, <[u8]>::len);
        self.marked = marked.filter(|marked| {
            marked.streams == count && len <= 1 << (MARK_BITS - late_bits(marked.places))
        });
        let is_dear = marked.is_some_and(|marked| marked.is_dear) || len >= LONG_STREAM;
        self.exponent = EXPONENT + u8::from(is_dear);
        self.flags.clear();
        self.flags.resize(count.div_ceil(8), 0);
        self.sections.clear();
    }

    /// What notes the places of the next stream while it is compressed, if they are asked for; encoders that cannot do so leave it as it is.
    pub(super) fn marker(&mut self) -> Option<&mut Marker> {
        let marked = self.marked?;
        self.marker.begin(place_of(marked.places, 1, self.exponent));
        Some(&mut self.marker)
    }

    /// Keeps the marks of stream `number`, which decodes to `len` bytes, if they are of use.
    pub(super) fn keep(&mut self, number: usize, stream: &[u8], len: usize) -> Result<()> {
        let Some(marked) = self.marked else { return Ok(()) };
        let is_noted = marked.places == Places::Bytes || !self.marker.inner().is_empty();
        let is_marked =
            is_noted || self.reads_streams && self.inflate.mark(stream, &mut self.marker).is_some();
        if !is_marked || self.marker.inner().len() > usize::from(u8::MAX) {
            return Ok(());
        }
        if !self.marker.marks().is_empty() && self.are_worth(marked, stream.len(), len) {
            self.add(marked.places, stream.len());
            *self.flags.must_get_mut(number / 8)? |= 1 << (number % 8);
        }
        Ok(())
    }

    /// Whether a byte is found sooner by marks than by decoding the stream up to it, half of it in the mean.
    fn are_worth(&self, marked: Marked, csize: usize, len: usize) -> bool {
        let times = Times::of(marked.places);
        let (steps, half) = (self.marker.steps(len).saturating_mul(marked.item), csize / 2);
        let passed = half.min(steps.saturating_mul(1 << self.exponent) / 2);
        let entered = steps.min(self.marker.inner().len());
        let found = steps.saturating_mul(times.step) + passed * times.pass + entered * times.enter;
        marked.is_far || found < half * times.decode
    }

    fn add(&mut self, places: Places, csize: usize) {
        let Self { marker, exponent, sections, .. } = self;
        let inner = marker.inner();
        if places == Places::Bits {
            sections.extend(u8::try_from(inner.len()));
            inner.iter().for_each(|block| {
                sections.extend(low_bytes(block.at));
                sections.extend(low_bytes(block.out));
            });
        }
        let (none, mut last) = (no_mark(places), 0);
        let mut marks = marker.marks().iter().peekable();
        for number in 1..=count_of(csize, *exponent) {
            let (place, next) = (place_of(places, number, *exponent), number + 1);
            let mark = marks.next_if(|mark| mark.at < place_of(places, next, *exponent));
            let late = mark.map_or(none, |mark| none.min(mark.at - place));
            last = mark.map_or(last, |mark| mark.out);
            sections.extend(low_bytes(last << late_bits(places) | late));
        }
    }

    /// Appends the marks to the streams of the block, if there are any.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        if self.sections.is_empty() {
            return Ok(());
        }
        let begin = out.len();
        out.extend_from_slice(&self.flags);
        out.extend_from_slice(&self.sections);
        out.push(self.exponent);
        let check = check_of(out.must_get(begin..)?);
        out.extend(check);
        Ok(())
    }
}

/// What it takes, by estimate, in tenths of a nanosecond.
struct Times {
    /// To go from a match to what it repeats.
    step: usize,
    /// To pass by a byte of a stream.
    pass: usize,
    /// To enter a block inside of a stream.
    enter: usize,
    /// To decode a byte of a stream.
    decode: usize,
}

impl Times {
    fn of(places: Places) -> Self {
        match places {
            Places::Bytes => Self { step: 500, pass: 6, enter: 0, decode: 10 },
            Places::Bits => Self { step: 500, pass: 40, enter: 40_000, decode: 40 },
        }
    }
}

/// The marks of a block.
#[derive(Clone)]
pub(super) struct BlockMarks<'a> {
    places: Places,
    exponent: u8,
    flags: &'a [u8],
    /// Those of the streams that were not asked for yet.
    rest: &'a [u8],
}

impl<'a> BlockMarks<'a> {
    /// What stands behind the streams of a block, if it is marks.
    pub(super) fn parse(bytes: &'a [u8], places: Places, streams: usize) -> Option<Self> {
        let (checked, check) = bytes.split_last_chunk::<CHECK>()?;
        let (&exponent, marks) = checked.split_last()?;
        let (flags, rest) = marks.split_at_checked(streams.div_ceil(8))?;
        let is_valid = exponent <= MOST_EXPONENT && check_of(checked) == *check;
        is_valid.then_some(Self { places, exponent, flags, rest })
    }

    /// Whether they are those of these streams, given by their numbers and lengths, and nothing else.
    pub(super) fn are_of(&self, mut coded: impl Iterator<Item = (usize, usize)>) -> bool {
        let mut marks = self.clone();
        coded.all(|(number, csize)| !marks.has(number) || marks.next(number, csize).is_some())
            && marks.rest.is_empty()
    }

    /// The marks of the next coded stream, if it has any.
    pub(super) fn next(&mut self, number: usize, csize: usize) -> Option<StreamMarks<'a>> {
        if !self.has(number) {
            return None;
        }
        let (mut inner, mut rest) = (&[][..], self.rest);
        if self.places == Places::Bits {
            let (&count, others) = rest.split_first()?;
            (inner, rest) = others.split_at_checked(usize::from(count) * INNER)?;
        }
        let (marks, rest) = rest.split_at_checked(count_of(csize, self.exponent) * MARK)?;
        self.rest = rest;
        let ((inner, _), (marks, _)) = (inner.as_chunks(), marks.as_chunks());
        Some(StreamMarks { places: self.places, exponent: self.exponent, inner, marks })
    }

    fn has(&self, number: usize) -> bool {
        self.flags.get(number / 8).is_some_and(|flags| flags >> (number % 8) & 1 == 1)
    }
}

/// The marks of a stream.
#[derive(Clone, Copy)]
pub(super) struct StreamMarks<'a> {
    places: Places,
    exponent: u8,
    inner: &'a [[u8; INNER]],
    marks: &'a [[u8; MARK]],
}

impl StreamMarks<'_> {
    /// The begins of the blocks inside of the stream.
    pub(super) fn inner(&self) -> impl Iterator<Item = Mark> {
        self.inner.iter().map(inner_mark)
    }

    /// Whether each of them is one of the sequences in `found`, which are all of the stream.
    pub(super) fn are_true(&self, found: &Marker) -> bool {
        let (bits, none) = (late_bits(self.places), no_mark(self.places));
        let mut last = 0;
        let mut is_true = |(index, mark): (usize, &[u8; MARK])| {
            let (out, late) = (number_of(mark) >> bits, number_of(mark) & none);
            // Marks are looked up by their place in the output, those that mark nothing included.
            let is_in_order = out >= std::mem::replace(&mut last, out);
            let at = place_of(self.places, index + 1, self.exponent) + late;
            let place = found.marks().binary_search_by_key(&at, |mark| mark.at);
            let known = place.ok().and_then(|place| found.marks().get(place));
            is_in_order && (late == none || known.is_some_and(|known| known.out == out))
        };
        self.inner().eq(found.inner().iter().copied())
            && self.marks.iter().enumerate().all(&mut is_true)
    }

    /// The last mark at or before a byte of the output.
    pub(super) fn before(&self, out: usize) -> Mark {
        let (bits, none) = (late_bits(self.places), no_mark(self.places));
        let mut number = self.marks.partition_point(|mark| number_of(mark) >> bits <= out);
        while let Some(mark) = number.checked_sub(1).and_then(|last| self.marks.get(last)) {
            let late = number_of(mark) & none;
            if late < none {
                let at = place_of(self.places, number, self.exponent) + late;
                return Mark { at, out: number_of(mark) >> bits };
            }
            number -= 1;
        }
        self.inner.first().map(inner_mark).unwrap_or_default()
    }
}

/// How many marks a stream of `csize` bytes has.
fn count_of(csize: usize, exponent: u8) -> usize {
    csize.saturating_sub(1) >> exponent
}

/// The place in a stream at or behind which a sequence has the mark of this number, from 1 on.
fn place_of(places: Places, number: usize, exponent: u8) -> usize {
    match places {
        Places::Bytes => number << exponent,
        Places::Bits => 8 * (number << exponent),
    }
}

/// The bits of a mark that say how far behind its place a sequence begins.
fn late_bits(places: Places) -> u32 {
    match places {
        Places::Bytes => 4,
        Places::Bits => 6,
    }
}

/// What they say if there is none.
fn no_mark(places: Places) -> usize {
    (1 << late_bits(places)) - 1
}

fn number_of(&[a, b, c]: &[u8; MARK]) -> usize {
    usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16
}

fn inner_mark(&[a, b, c, d, e, f]: &[u8; INNER]) -> Mark {
    Mark { at: number_of(&[a, b, c]), out: number_of(&[d, e, f]) }
}

fn low_bytes(number: usize) -> [u8; MARK] {
    let [a, b, c, ..] = (number as u64).to_le_bytes();
    [a, b, c]
}

fn check_of(bytes: &[u8]) -> [u8; CHECK] {
    let [a, b, c, ..] = XxHash3_64::oneshot(bytes).to_le_bytes();
    [a, b, c]
}
