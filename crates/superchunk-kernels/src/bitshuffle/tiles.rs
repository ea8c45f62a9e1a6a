//! The method all instruction sets share: a transposition of bytes, then one of bits across
//! registers.
//!
//! A group of eight items is `8 * item_size` bytes whatever they mean, so transposing the bytes of
//! groups never meets an odd size: byte `k * item_size + b` of every group, laid out as a *line*
//! with one byte per column, is byte `b` of every item whose number is `k` modulo 8. The eight lines
//! of one `b`, held in eight registers, turn into eight rows by swapping bits between registers, and
//! every byte is in its column already:
//!
//! ```text
//! groups ──16 × 16 bytes──▶ tile: lines k·item_size + b ──8 × 8 bits──▶ rows 8·b ‥ 8·b + 7
//! ```
//!
//! Backwards the same two steps run in the other order. The tile lives on the stack, in the first
//! cache. It is as wide as its size allows: rows of a power of two of bytes compete for the same
//! few places of the cache, so the more of a row is done at one go, the less often its lines are
//! fetched. Large items pass through the tile [`WINDOW`] bytes at a time, as the whole group would
//! not stay in the cache. Where the columns do not fill the last register, it takes columns already
//! done before them.

use core::mem::MaybeUninit;

use super::lanes::{Lanes, rotate_words, transpose_bits, transpose_bytes};
use super::{columns, scalar};
use crate::far;

/// Transposes whole groups of items into rows.
///
/// # Safety
/// The processor has the instruction set of `V`. If a register of `V` has more than one lane, there
/// are at least `V::WIDTH` whole groups of items, or too few for registers (`Job::is_small`).
#[inline(always)]
pub(super) unsafe fn bitshuffle<V: Lanes>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let job = Job::new(item_size, src.len().min(dst.len()));
    if job.is_small::<V>() {
        return scalar::bitshuffle(item_size, src, dst);
    }
    debug_assert!(V::WIDTH == 16 || job.columns >= V::WIDTH);
    let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: both slices hold `job.columns` groups, which `Job::new` derived from their lengths.
    // `is_small` checked that items of one byte fill a register, and that there are columns at all.
    // The processor has `V`, and columns that do not fill a register come with one lane: `avx2` and
    // `avx512` are compiled for theirs, and pass fewer columns on to `sse2`.
    unsafe {
        if item_size == 1 {
            job.bytes_to_rows::<V>(src, dst);
        } else if job.columns < V::WIDTH {
            job.groups_to_rows::<V, true>(src, dst);
        } else {
            job.groups_to_rows::<V, false>(src, dst);
        }
    }
}

/// Transposes rows back into whole groups of items; with `FAR` these are written past the caches.
///
/// # Safety
/// The processor has the instruction set of `V`. If a register of `V` has more than one lane, there
/// are at least `V::WIDTH` whole groups of items, or too few for registers (`Job::is_small`).
#[inline(always)]
pub(super) unsafe fn bitunshuffle<V: Lanes, const FAR: bool>(
    item_size: usize,
    src: &[u8],
    dst: &mut [u8],
) {
    let job = Job::new(item_size, src.len().min(dst.len()));
    if job.is_small::<V>() {
        return scalar::bitunshuffle(item_size, src, dst);
    }
    debug_assert!(V::WIDTH == 16 || job.columns >= V::WIDTH);
    let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: both slices hold `job.columns` groups, which `Job::new` derived from their lengths.
    // `is_small` checked that items of one byte fill a register, and that there are columns at all.
    // The processor has `V`, and columns that do not fill a register come with one lane: `avx2` and
    // `avx512` are compiled for theirs, and pass fewer columns on to `sse2`.
    unsafe {
        if item_size == 1 {
            job.rows_to_bytes::<V>(src, dst);
        } else if job.columns < V::WIDTH {
            job.rows_to_groups::<V, true>(src, dst);
        } else if FAR && item_size <= MAX_WHOLE {
            job.rows_to_far_groups::<V>(src, dst);
        } else {
            job.rows_to_groups::<V, false>(src, dst);
        }
    }
}

/// The largest items of which a tile holds whole groups.
const MAX_WHOLE: usize = 32;
/// Bytes of a larger item that a tile holds.
const WINDOW: usize = 16;
/// Bytes of each group moved by one byte transposition.
const PIECE: usize = 16;
/// Columns of the narrowest and of the widest tile: wider ones were no faster.
const TILE_COLUMNS: (usize, usize) = (64, 256);
/// Columns from which on a register that they do not fill beats the scalar kernel.
const MIN_COLUMNS: usize = 3;
/// Bytes of a tile: the lines of the largest whole group.
const TILE_SIZE: usize = 8 * MAX_WHOLE * TILE_COLUMNS.0;

/// Bytes that a second-level cache is expected to hold, beside as many of the other buffer.
const NEAR: usize = 512 << 10;

/// Lines of intermediate bytes, one byte per column.
#[repr(align(64))]
struct Tile([MaybeUninit<u8>; TILE_SIZE]);

/// A run of columns done at one go: `steps` registers from column `start` on.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    steps: usize,
}

/// The bytes of an item that are in the tile: `held` from `first` on. Those before `wanted` were
/// already in the window before.
#[derive(Clone, Copy)]
struct Window {
    first: usize,
    held: usize,
    wanted: usize,
}

/// The sizes of one call. `columns` groups are `columns * group_size` bytes, and so are the rows.
struct Job {
    item_size: usize,
    group_size: usize,
    columns: usize,
    /// Columns of the tile. There are `8 * held` lines, so the tile has room for all of them.
    tile_columns: usize,
    /// The rows are not in a near cache: those of the next span are asked for in advance.
    far: bool,
}

impl Job {
    #[inline(always)]
    fn new(item_size: usize, len: usize) -> Self {
        let (narrow, wide) = TILE_COLUMNS;
        let tile_columns = match item_size {
            1..=MAX_WHOLE => (TILE_SIZE / 8 / item_size / narrow * narrow).min(wide),
            _ => narrow,
        };
        // Where the product would overflow there are no columns, and nothing is done with it.
        let group_size = item_size.wrapping_mul(8);
        Self {
            item_size,
            group_size,
            columns: columns(item_size, len),
            tile_columns,
            far: len > NEAR,
        }
    }

    /// Too few columns for registers to be of use, or none at all.
    #[inline(always)]
    fn is_small<V: Lanes>(&self) -> bool {
        self.columns < if self.item_size == 1 { V::WIDTH } else { MIN_COLUMNS }
    }

    /// The columns from `start` on. If they do not fill a register: the last of all columns, or all
    /// columns if there is `NARROW`ly less than a register of them.
    #[inline(always)]
    fn span<V: Lanes, const NARROW: bool>(&self, start: usize) -> Option<Span> {
        match self.columns - start {
            0 => None,
            left if NARROW || left >= V::WIDTH => {
                Some(Span { start, steps: (left.min(self.tile_columns) / V::WIDTH).max(1) })
            }
            _ => Some(Span { start: self.columns - V::WIDTH, steps: 1 }),
        }
    }

    /// Small items pass whole; large ones in windows, the last of which ends with the item.
    #[inline(always)]
    fn windows(&self) -> impl Iterator<Item = Window> {
        let held = if self.item_size <= MAX_WHOLE { self.item_size } else { WINDOW };
        let last = self.item_size - held;
        let window = move |wanted: usize| Window { first: wanted.min(last), held, wanted };
        (0..self.item_size).step_by(held).map(window)
    }

    /// The pieces of a group that make up a window: where each starts in the group, and the line of
    /// its first byte.
    #[inline(always)]
    fn pieces(&self, window: Window) -> impl Iterator<Item = (usize, usize)> {
        let (item_size, group_size) = (self.item_size, self.group_size);
        let whole = window.held == item_size;
        let count = if whole { group_size.div_ceil(PIECE) } else { 8 };
        let piece = move |index: usize| {
            // The last piece of an odd item size repeats half of the one before it.
            let in_group = (index * PIECE).min(group_size - PIECE);
            let in_item = (index * item_size + window.first, index * WINDOW);
            if whole { (in_group, in_group) } else { in_item }
        };
        (0..count).map(piece)
    }

    /// Asserts what the four functions between groups, lines and rows rely on.
    #[inline(always)]
    fn check<V: Lanes, const NARROW: bool>(&self, window: Window, span: Span) {
        let wide = span.steps * V::WIDTH;
        debug_assert!(NARROW || span.start + wide <= self.columns);
        debug_assert!(!NARROW || span.start == 0 && span.steps == 1 && V::WIDTH == 16);
        debug_assert!(wide <= self.tile_columns && window.first + window.held <= self.item_size);
        debug_assert!(8 * window.held * self.tile_columns <= TILE_SIZE);
    }

    /// # Safety
    /// The processor has `V`; `src` and `dst` are valid for [`Self::columns`] groups of at least
    /// two bytes an item, and there is at least one. `NARROW` is true if and only if these do not
    /// fill a register; `V` has one lane then.
    #[inline(always)]
    unsafe fn groups_to_rows<V: Lanes, const NARROW: bool>(&self, src: *const u8, dst: *mut u8) {
        debug_assert!(self.item_size >= 2 && self.columns > 0);
        debug_assert_eq!(NARROW, self.columns < V::WIDTH);
        debug_assert!(!NARROW || V::WIDTH == 16);
        let mut tile = Tile([MaybeUninit::uninit(); TILE_SIZE]);
        let lines = tile.0.as_mut_ptr().cast::<u8>();
        let mut start = 0;
        while let Some(span) = self.span::<V, NARROW>(start) {
            for window in self.windows() {
                // SAFETY: `src` and `dst` hold `columns` groups: `bitshuffle` derived the number
                // from the slices. `span` lies in these columns, or is the only one if they are
                // `NARROW`, and `window` in an item. A tile has room for both, as `Job::new` chose
                // `tile_columns` for it.
                unsafe {
                    self.groups_to_lines::<V, NARROW>(window, span, src, lines);
                    self.lines_to_rows::<V, NARROW>(window, span, lines, dst);
                }
            }
            start = (span.start + span.steps * V::WIDTH).min(self.columns);
        }
    }

    /// # Safety
    /// As [`Self::groups_to_rows`].
    #[inline(always)]
    unsafe fn rows_to_groups<V: Lanes, const NARROW: bool>(&self, src: *const u8, dst: *mut u8) {
        debug_assert!(self.item_size >= 2 && self.columns > 0);
        debug_assert_eq!(NARROW, self.columns < V::WIDTH);
        debug_assert!(!NARROW || V::WIDTH == 16);
        let mut tile = Tile([MaybeUninit::uninit(); TILE_SIZE]);
        let lines = tile.0.as_mut_ptr().cast::<u8>();
        let mut start = 0;
        while let Some(span) = self.span::<V, NARROW>(start) {
            for window in self.windows() {
                // SAFETY: `src` and `dst` hold `columns` groups: `bitunshuffle` derived the number
                // from the slices. `span` lies in these columns, or is the only one if they are
                // `NARROW`, and `window` in an item. A tile has room for both, as `Job::new` chose
                // `tile_columns` for it.
                unsafe {
                    self.rows_to_lines::<V, NARROW>(window, span, src, lines);
                    self.lines_to_groups::<V, NARROW>(window, span, lines, dst);
                }
            }
            start = (span.start + span.steps * V::WIDTH).min(self.columns);
        }
    }

    /// As [`Self::rows_to_groups`], for whole groups in a tile. Their pieces are put together in a second tile, since stores
    /// past the caches are fast only for whole lines in their order.
    ///
    /// # Safety
    /// As [`Self::groups_to_rows`] without `NARROW`; items have at most [`MAX_WHOLE`] bytes.
    #[inline(always)]
    unsafe fn rows_to_far_groups<V: Lanes>(&self, src: *const u8, dst: *mut u8) {
        debug_assert!((2..=MAX_WHOLE).contains(&self.item_size) && self.columns >= V::WIDTH);
        let mut tile = Tile([MaybeUninit::uninit(); TILE_SIZE]);
        let mut groups = Tile([MaybeUninit::uninit(); TILE_SIZE]);
        let (lines, groups) = (tile.0.as_mut_ptr().cast(), groups.0.as_mut_ptr().cast());
        let window = Window { first: 0, held: self.item_size, wanted: 0 };
        let mut start = 0;
        while let Some(span) = self.span::<V, false>(start) {
            let columns = span.steps * V::WIDTH;
            // SAFETY: `src` and `dst` hold `columns` groups, and items have at most `MAX_WHOLE`
            // bytes: `bitunshuffle` derived the number from the slices and compared the size.
            // `span` lies in these columns. It has at most `tile_columns` of them, which `Job::new`
            // chose so that their lines fit a tile, and so do their groups.
            unsafe {
                self.rows_to_lines::<V, false>(window, span, src, lines);
                let in_tile = Span { start: 0, ..span };
                self.lines_to_groups::<V, false>(window, in_tile, lines, groups);
                let to = dst.add(span.start * self.group_size);
                far::copy(groups, to, columns * self.group_size);
            }
            start = span.start + columns;
        }
        far::fence();
    }

    /// # Safety
    /// As [`Self::groups_to_rows`], with `span` and `window` of this job and `lines` a whole tile.
    #[inline(always)]
    unsafe fn groups_to_lines<V: Lanes, const NARROW: bool>(
        &self,
        window: Window,
        span: Span,
        src: *const u8,
        lines: *mut u8,
    ) {
        self.check::<V, NARROW>(window, span);
        for step in 0..span.steps {
            let column = span.start + step * V::WIDTH;
            for (start, line) in self.pieces(window) {
                debug_assert!(start + PIECE <= self.group_size && line + PIECE <= 8 * window.held);
                // SAFETY: a piece lies in its group; groups `column` to `column + V::WIDTH` exist,
                // or are replaced by the last one; lines `line` to `line + 15` are in the tile.
                unsafe {
                    let from = src.add(column * self.group_size + start);
                    let to = lines.add(line * self.tile_columns + step * V::WIDTH);
                    let mut bytes = [V::zero(); 16];
                    for (i, bytes) in bytes.iter_mut().enumerate() {
                        let group = if NARROW { i.min(self.columns - 1) } else { i };
                        *bytes = V::gather(from.add(group * self.group_size), 16 * self.group_size);
                    }
                    transpose_bytes(&mut bytes);
                    for (i, bytes) in bytes.into_iter().enumerate() {
                        bytes.store(to.add(i * self.tile_columns));
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Self::groups_to_lines`].
    #[inline(always)]
    unsafe fn lines_to_groups<V: Lanes, const NARROW: bool>(
        &self,
        window: Window,
        span: Span,
        lines: *const u8,
        dst: *mut u8,
    ) {
        self.check::<V, NARROW>(window, span);
        for step in 0..span.steps {
            let column = span.start + step * V::WIDTH;
            for (start, line) in self.pieces(window) {
                debug_assert!(start + PIECE <= self.group_size && line + PIECE <= 8 * window.held);
                // SAFETY: as in `groups_to_lines`, but groups that do not exist are left out; the
                // lines were filled by `rows_to_lines`.
                unsafe {
                    let from = lines.add(line * self.tile_columns + step * V::WIDTH);
                    let to = dst.add(column * self.group_size + start);
                    let mut bytes = [V::zero(); 16];
                    for (i, bytes) in bytes.iter_mut().enumerate() {
                        *bytes = V::load(from.add(i * self.tile_columns));
                    }
                    transpose_bytes(&mut bytes);
                    for (i, bytes) in bytes.into_iter().enumerate() {
                        if NARROW && i >= self.columns {
                            break;
                        }
                        bytes.scatter(to.add(i * self.group_size), 16 * self.group_size);
                    }
                }
            }
        }
    }

    /// Rows are written in their order: what a narrow one has too much, the next one overwrites.
    ///
    /// # Safety
    /// As [`Self::groups_to_lines`].
    #[inline(always)]
    unsafe fn lines_to_rows<V: Lanes, const NARROW: bool>(
        &self,
        window: Window,
        span: Span,
        lines: *const u8,
        dst: *mut u8,
    ) {
        self.check::<V, NARROW>(window, span);
        for byte in window.wanted..window.first + window.held {
            for step in 0..span.steps {
                // SAFETY: the lines of `byte`, `window.held` apart, are in the tile and were filled
                // by `groups_to_lines`; the rows exist and hold the span's columns.
                unsafe {
                    let line = (byte - window.first) * self.tile_columns + step * V::WIDTH;
                    let mut bits = [V::zero(); 8];
                    for (i, bits) in bits.iter_mut().enumerate() {
                        *bits = V::load(lines.add(line + i * window.held * self.tile_columns));
                    }
                    transpose_bits(&mut bits);
                    for (i, bits) in bits.into_iter().enumerate() {
                        let at = (byte * 8 + i) * self.columns + span.start + step * V::WIDTH;
                        if NARROW && at + V::WIDTH > self.columns * self.group_size {
                            bits.store_part(dst.add(at), self.columns);
                        } else {
                            bits.store(dst.add(at));
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Self::groups_to_lines`].
    #[inline(always)]
    unsafe fn rows_to_lines<V: Lanes, const NARROW: bool>(
        &self,
        window: Window,
        span: Span,
        src: *const u8,
        lines: *mut u8,
    ) {
        self.check::<V, NARROW>(window, span);
        for byte in window.first..window.first + window.held {
            for step in 0..span.steps {
                // SAFETY: the rows exist and hold the span's columns; the lines of `byte`,
                // `window.held` apart, are in the tile.
                unsafe {
                    let line = (byte - window.first) * self.tile_columns + step * V::WIDTH;
                    let mut bits = [V::zero(); 8];
                    for (i, bits) in bits.iter_mut().enumerate() {
                        let at = (byte * 8 + i) * self.columns + span.start + step * V::WIDTH;
                        *bits = if NARROW && at + V::WIDTH > self.columns * self.group_size {
                            V::load_part(src.add(at), self.columns)
                        } else {
                            V::load(src.add(at))
                        };
                        if self.far {
                            V::prefetch(src.wrapping_add(at + self.tile_columns));
                        }
                    }
                    transpose_bits(&mut bits);
                    for (i, bits) in bits.into_iter().enumerate() {
                        bits.store(lines.add(line + i * window.held * self.tile_columns));
                    }
                }
            }
        }
    }

    /// Items of one byte: a group is a word, and eight registers of words need no tile.
    ///
    /// # Safety
    /// The processor has `V`; `src` and `dst` are valid for [`Self::columns`] groups of one-byte
    /// items, and these fill a register.
    #[inline(always)]
    unsafe fn bytes_to_rows<V: Lanes>(&self, src: *const u8, dst: *mut u8) {
        let mut start = 0;
        while let Some(Span { start: column, .. }) = self.span::<V, false>(start) {
            debug_assert!(self.item_size == 1 && column + V::WIDTH <= self.columns);
            // SAFETY: `span` names a column that is followed by `V::WIDTH` at least.
            unsafe {
                let mut words = [V::zero(); 8];
                for (i, words) in words.iter_mut().enumerate() {
                    *words = V::gather(src.add(column * 8 + i * 16), 128);
                }
                rotate_words::<V, 4>(&mut words);
                transpose_bits(&mut words);
                for (i, bits) in words.into_iter().enumerate() {
                    bits.store(dst.add(i * self.columns + column));
                }
            }
            start = column + V::WIDTH;
        }
    }

    /// # Safety
    /// As [`Self::bytes_to_rows`].
    #[inline(always)]
    unsafe fn rows_to_bytes<V: Lanes>(&self, src: *const u8, dst: *mut u8) {
        let mut start = 0;
        while let Some(Span { start: column, .. }) = self.span::<V, false>(start) {
            debug_assert!(self.item_size == 1 && column + V::WIDTH <= self.columns);
            // SAFETY: `span` names a column that is followed by `V::WIDTH` at least.
            unsafe {
                let mut bits = [V::zero(); 8];
                for (i, bits) in bits.iter_mut().enumerate() {
                    *bits = V::load(src.add(i * self.columns + column));
                }
                transpose_bits(&mut bits);
                rotate_words::<V, 3>(&mut bits);
                for (i, words) in bits.into_iter().enumerate() {
                    words.scatter(dst.add(column * 8 + i * 16), 128);
                }
            }
            start = column + V::WIDTH;
        }
    }
}
