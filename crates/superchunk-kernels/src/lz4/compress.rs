//! The fast LZ4 encoder: one probe a position, longer strides where nothing matches.
//!
//! A table remembers for each hash of 4 to 6 bytes the last position that had it. The encoder
//! walks the input, looks each position up and takes the first match it meets. Every 64 misses (at
//! acceleration 1) the stride grows by one, so incompressible stretches are crossed quickly.
//!
//! The table has 16 KiB, half of what the fastest cache holds: 8192 positions of 16 bits for inputs
//! up to 64 KiB, 4096 positions of 32 bits for longer ones.
//!
//! What the matches gain is watched, [`STRETCH`] by [`STRETCH`]:
//!
//! * Where many short matches gain next to nothing, matches shorter than [`LONG`] bytes are not
//!   taken until the longer ones gain something.
//! * Where distances are multiples of 4, the input is numbers: the first stretch of a long input is
//!   encoded a second time by the hashes of 6 bytes, and these are used from then on if it became
//!   no longer.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::lz4::emit::Block;
use crate::lz4::history::with_history;
use crate::lz4::search::{Progress, SKIP_SHIFT, TABLE_SIZE, Table, Window, enter, search};
use crate::lz4::{MATCH_MARGIN, MIN_MATCH};
use crate::marks::Marker;

/// Encodes LZ4 blocks quickly; keeps its working memory between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug)]
pub struct Encoder {
    tables: Tables,
    /// The dictionary and the input in one piece, when there is a dictionary.
    joined: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with an empty table.
    #[must_use]
    pub fn new() -> Self {
        let table = || Box::new([0; TABLE_SIZE]);
        let tables = Tables { first: table(), rival: table(), rival_block: Vec::new() };
        Encoder { tables, joined: Vec::new() }
    }

    /// Encodes `src` into `dst` and returns the length of the block, or `None` if it does not fit, or
    /// one of two ways to encode its first 16 KiB does not.
    ///
    /// `acceleration` is 1 for the best ratio; each step more makes the strides through
    /// incompressible data grow faster (0 counts as 1). Matches may refer to `dict`, of which the
    /// last 64 KiB count; the decoder then needs the same `dict`.
    pub fn compress(
        &mut self,
        acceleration: u32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        self.encode(acceleration, SHORT_INPUT, dict, src, Block::new(dst))
    }

    /// Encodes like [`compress`](Self::compress), but inputs of up to 64 KiB as longer ones: only matches of 5 bytes are
    /// looked for, which takes less time, and less to decode.
    pub fn compress_as_long(
        &mut self,
        acceleration: u32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        self.encode(acceleration, 0, dict, src, Block::new(dst))
    }

    /// Encodes like [`compress`](Self::compress), or [as a long input](Self::compress_as_long), without a dictionary, and has sequences marked.
    pub fn compress_marked(
        &mut self,
        acceleration: u32,
        as_long: bool,
        src: &[u8],
        dst: &mut [u8],
        marker: &mut Marker,
    ) -> Option<usize> {
        let short = if as_long { 0 } else { SHORT_INPUT };
        self.encode(acceleration, short, &[], src, Block::marked(dst, Some(marker)))
    }

    /// `short` is the most that counts as a short input.
    fn encode(
        &mut self,
        acceleration: u32,
        short: usize,
        dict: &[u8],
        src: &[u8],
        mut block: Block<'_>,
    ) -> Option<usize> {
        let (input, start) = with_history(dict, src, &mut self.joined);
        let mut anchor = start;
        // The table holds positions of 32 bits; a longer input would be a block of literals.
        if input.len() - start > MATCH_MARGIN && u32::try_from(input.len()).is_ok() {
            let first_misses = (acceleration.clamp(1, 65_536) as usize) << SKIP_SHIFT;
            let progress = Progress::new(start, first_misses);
            let table = &mut *self.tables.first;
            table.fill(0);
            // SAFETY: more than `MATCH_MARGIN` bytes follow `start`; the table is empty; only
            // inputs of up to 65 536 bytes are short.
            anchor = unsafe {
                if input.len() <= short {
                    index_history::<4>(table, input, start);
                    encode::<4>(table, input, progress, &mut block)?
                } else {
                    index_history::<5>(table, input, start);
                    self.tables.encode_long(input, progress, &mut block)?
                }
            };
        }
        block.finish(input.get(anchor..)?)
    }
}

/// Where an encoder keeps positions.
#[derive(Clone, Debug)]
struct Tables {
    first: Box<Table>,
    /// The table and the block of the second try of a first stretch.
    rival: Box<Table>,
    rival_block: Vec<u8>,
}

impl Tables {
    /// Encodes an input of more than 64 KiB: as [`encode`], but with the better of two hashes.
    ///
    /// # Safety
    ///
    /// * `progress.anchor < progress.at`, and `progress.at + MATCH_MARGIN <= input.len()`.
    /// * `self.first` holds positions before `progress.at`, entered with a `KEY` of 5, or zeros.
    unsafe fn encode_long(
        &mut self,
        input: &[u8],
        mut progress: Progress,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        debug_assert!(progress.anchor < progress.at);
        debug_assert!(progress.at + MATCH_MARGIN <= input.len());
        let mut rival = progress;
        // SAFETY: `progress.at + MATCH_MARGIN <= input.len()`: `Encoder::encode` compares the
        // length, and `search` stores only such a position in `progress` when it returns a window.
        // `first` was cleared and indexed by `Encoder::encode`; `rival` is cleared here and gets
        // position 0, where this input starts. Each table is searched with the `KEY` it was filled
        // with.
        unsafe {
            let first =
                search::<5, MIN_MATCH>(&mut self.first, input, &mut progress, STRETCH, block)?;
            let Some(first) = first else { return Some(progress.anchor) };
            if rival.anchor > 0 || !first.is_of_numbers() {
                return encode::<5>(&mut self.first, input, progress, block);
            }
            self.rival.fill(0);
            enter::<6>(&mut self.rival, input, 0);
            self.rival_block.resize(2 * STRETCH, 0);
            let mut other = Block::new(&mut self.rival_block);
            let second =
                search::<6, MIN_MATCH>(&mut self.rival, input, &mut rival, STRETCH, &mut other);
            let Some(Some(second)) = second else {
                return encode::<5>(&mut self.first, input, progress, block);
            };
            if !second.is_no_longer_than(&first) {
                return encode::<5>(&mut self.first, input, progress, block);
            }
            block.begin_with(self.rival_block.get(..second.written)?)?;
            encode::<6>(&mut self.rival, input, rival, block)
        }
    }
}

/// Inputs up to this length are hashed by 4 bytes, longer ones by 5: with more positions than the
/// table can hold, the ones that are likely to match for longer are the ones to keep. All positions
/// of a short input fit 16 bits and lie within reach.
const SHORT_INPUT: usize = 1 << 16;

/// After so many bytes of input it is asked what the matches have gained.
const STRETCH: usize = 1 << 14;

/// The same while only long matches are taken: what can be gained again should not wait.
const SHORT_STRETCH: usize = 1 << 10;

/// Bytes of a long match.
const LONG: usize = 6;

/// Enters the positions of the dictionary, every third: their neighbours are found by extending
/// matches backwards. Enters the first position of the source as well.
///
/// # Safety
///
/// At least 8 bytes of input follow `start`, and with a `KEY` of 4 the input is a short one.
unsafe fn index_history<const KEY: usize>(table: &mut Table, input: &[u8], start: usize) {
    for at in (0..start).step_by(3).chain([start]) {
        // SAFETY: `at <= start`, and 8 bytes follow that.
        unsafe { enter::<KEY>(table, input, at) };
    }
}

/// Writes all sequences that have a match; returns where the last literals begin.
///
/// # Safety
///
/// * `progress.anchor < progress.at`, and `progress.at + MATCH_MARGIN <= input.len()`.
/// * The table holds positions before `progress.at`, entered with the same `KEY`, or zeros.
/// * With a `KEY` of 4 the input has 65 536 bytes at most.
unsafe fn encode<const KEY: usize>(
    table: &mut Table,
    input: &[u8],
    mut progress: Progress,
    block: &mut Block<'_>,
) -> Option<usize> {
    debug_assert!(progress.anchor < progress.at && progress.at + MATCH_MARGIN <= input.len());
    debug_assert!(KEY != 4 || input.len() <= SHORT_INPUT);
    // What is still to come grows the table of a short input, and with it what matches gain.
    let growing = if KEY == 4 { input.len() } else { 0 };
    loop {
        // SAFETY: `progress.anchor < progress.at` and `progress.at + MATCH_MARGIN <= input.len()`:
        // the first `progress` comes from `Progress::new` in `Encoder::encode` or from a `search`
        // in `encode_long`, and `search` stores only such positions when it returns a window. It
        // enters only positions before `progress.at`, with this `KEY`. `Encoder::encode` chooses a
        // `KEY` of 4 only for short inputs.
        let window =
            unsafe { search::<KEY, MIN_MATCH>(table, input, &mut progress, STRETCH, block)? };
        let Some(window) = window else { return Some(progress.anchor) };
        if window.is_worth_it(growing / progress.anchor) {
            continue;
        }
        loop {
            // SAFETY: as above.
            let window =
                unsafe { search::<KEY, LONG>(table, input, &mut progress, SHORT_STRETCH, block)? };
            let Some(window) = window else { return Some(progress.anchor) };
            if window.gains_again() {
                break;
            }
        }
    }
}

impl Progress {
    /// Of an input whose source begins at `start`, the position before the first that can match.
    fn new(start: usize, first_misses: usize) -> Self {
        Progress { anchor: start, at: start + 1, misses: first_misses, first_misses, rare: 0 }
    }
}

impl Window {
    /// Whether short matches gained 1/256 of the input, or are too few to cost much.
    ///
    /// A table that `growing` times as much input as until now will fill lets more match by and by:
    /// there all counts that matches saved, though the lengths of literals between them took it away.
    fn is_worth_it(&self, growing: usize) -> bool {
        let Window { read, written, sequences, .. } = *self;
        let most_lengths = if growing > 0 { sequences + read / 255 } else { 0 };
        let saved = (read + most_lengths).saturating_sub(written);
        saved * (1 + growing) >= read >> 8 || sequences < read >> 11
    }

    /// Whether long matches gained 1/128 of the input.
    fn gains_again(&self) -> bool {
        self.written + (self.read >> 7) <= self.read
    }

    /// Whether this takes at most as many bytes of the block for as many of the input.
    fn is_no_longer_than(&self, other: &Window) -> bool {
        let product = |written: usize, read: usize| written as u128 * read as u128;
        product(self.written, other.read) <= product(other.written, self.read)
    }

    /// Whether there are many matches, and nearly all distances are whole numbers of 4 bytes.
    fn is_of_numbers(&self) -> bool {
        self.sequences >= self.read / 32 && self.aligned * 8 >= self.sequences * 7
    }
}
