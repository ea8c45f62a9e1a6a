//! Rows to groups with AVX2, for the item sizes whose groups are whole registers: 4, 8 and 16.
//!
//! The method is that of [`super::tiles`], with all distances known to the compiler. A tile is one cache line of each row, or
//! several of long rows: these mostly have a power of two of bytes, and all compete for the same few places of the first cache, so
//! that it is best to be done with a line at once. The two lanes of a register are two neighbouring pieces of the same group, so
//! that a register of the result is 32 bytes of the output.
//!
//! Groups are written in an order that no processor foresees, and mostly to memory that no cache holds: the places
//! of the next tile are asked for while this one is made. Where the output is too large for the caches, the groups of a tile are
//! put together in memory of its own first, and then written past them line by line.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::columns;
use super::lanes::{Lanes, transpose_bits, transpose_bytes};
use crate::far::{self, LINE};

/// Columns of a narrow tile: a cache line of each row.
const NARROW: usize = 64;

/// Transposes rows back into whole groups of items. False when there are too few of them, or of another size, and
/// nothing was done. With `FAR` they are written past the caches.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn bitunshuffle<const FAR: bool>(
    item_size: usize,
    src: &[u8],
    dst: &mut [u8],
) -> bool {
    let columns = columns(item_size, src.len().min(dst.len()));
    let (src, dst) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: both slices hold `columns` groups of items of `item_size`, as the number was derived
    // from the shorter one. They fill a tile: the first arm is for fewer than `NARROW`, and wider
    // tiles are only taken from 2048 on. The processor has AVX2: `avx2::bitunshuffle`, the only
    // caller, is compiled for it.
    unsafe {
        match (item_size, columns) {
            (_, ..NARROW) => return false,
            // A narrow tile of these is too short a piece to be written past the caches: it takes a tenth longer.
            (4, ..4096) => rows_to_groups::<4, NARROW, false>(columns, src, dst),
            (4, _) => rows_to_groups::<4, 256, FAR>(columns, src, dst),
            (8, ..4096) => rows_to_groups::<8, NARROW, FAR>(columns, src, dst),
            (8, _) => rows_to_groups::<8, 256, FAR>(columns, src, dst),
            (16, ..2048) => rows_to_groups::<16, NARROW, FAR>(columns, src, dst),
            (16, _) => rows_to_groups::<16, 128, FAR>(columns, src, dst),
            _ => return false,
        }
    }
    true
}

/// Byte `b` of the items that have the same number `k` in their groups is line `b` of `k`.
#[repr(align(64))]
struct Tile<const W: usize, const STEP: usize>([[[MaybeUninit<u8>; STEP]; W]; 8]);

impl<const W: usize, const STEP: usize> Tile<W, STEP> {
    const fn new() -> Self {
        Self([[[MaybeUninit::uninit(); STEP]; W]; 8])
    }
}

/// # Safety
/// The processor has AVX2; both pointers are valid for `columns` groups of items of `W` bytes, and
/// `columns >= STEP`.
#[inline(always)]
unsafe fn rows_to_groups<const W: usize, const STEP: usize, const FAR: bool>(
    columns: usize,
    src: *const u8,
    dst: *mut u8,
) {
    debug_assert!(columns >= STEP);
    let (mut tile, mut groups) = (Tile::<W, STEP>::new(), Tile::<W, STEP>::new());
    let (lines, groups) = (tile.0.as_mut_ptr().cast(), groups.0.as_mut_ptr().cast());
    let len = STEP * 8 * W;
    // Wide tiles but the first and the last are whole lines of the cache, if the rows are.
    let first = if STEP > NARROW { src.align_offset(LINE) % LINE } else { 0 };
    let starts = (first..columns).step_by(STEP);
    // The last tile takes columns already done, if it must, and so does the first.
    for start in (first > 0).then_some(0).into_iter().chain(starts) {
        let column = start.min(columns - STEP);
        // SAFETY: `column + STEP <= columns`, and both pointers are valid for `columns` groups:
        // `bitunshuffle` derived the number from the slices and compared it with the tile's. Groups
        // of a tile have as many bytes as its lines, so the second tile has room for them. The
        // processor has AVX2: `avx2::bitunshuffle`, into which this is inlined, is compiled for it.
        unsafe {
            let to = dst.add(column * 8 * W);
            if FAR {
                rows_to_lines::<W, STEP, false>(columns, src.add(column), lines, to);
                lines_to_groups::<W, STEP>(lines, groups);
                far::copy(groups, to, len);
            } else {
                let next = to.wrapping_add(len);
                rows_to_lines::<W, STEP, true>(columns, src.add(column), lines, next);
                lines_to_groups::<W, STEP>(lines, to);
            }
        }
    }
    if FAR {
        far::fence();
    }
}

/// Fills the lines of a tile; with `ASK` asks for the memory at `next`, which need not be valid. Processors foresee the rows of a wide
/// tile; for those of the next narrow one they are asked.
///
/// # Safety
/// The processor has AVX2; `src` is valid for a tile's columns of `8 * W` rows that are `columns` apart, and `lines` for
/// a tile's lines.
#[inline(always)]
unsafe fn rows_to_lines<const W: usize, const STEP: usize, const ASK: bool>(
    columns: usize,
    src: *const u8,
    lines: *mut u8,
    next: *const u8,
) {
    for b in 0..W {
        for column in (0..STEP).step_by(__m256i::WIDTH) {
            // SAFETY: `8 * W` rows that are `columns` apart hold `STEP` bytes from `src` on, since
            // `rows_to_groups` passes a column up to `columns - STEP`. Line `i * W + b` is one of
            // the `8 * W` lines of the tile.
            unsafe {
                let from = src.add(b * 8 * columns + column);
                let mut bits = [__m256i::zero(); 8];
                for (i, bits) in bits.iter_mut().enumerate() {
                    *bits = __m256i::load(from.add(i * columns));
                    if ASK && column % LINE == 0 {
                        __m256i::prefetch(next.wrapping_add((b * 8 + i) * STEP + column));
                    }
                    if STEP == NARROW && column % LINE != 0 {
                        __m256i::prefetch(from.wrapping_add(i * columns + __m256i::WIDTH));
                    }
                }
                transpose_bits(&mut bits);
                for (i, bits) in bits.into_iter().enumerate() {
                    bits.store(lines.add((i * W + b) * STEP + column));
                }
            }
        }
    }
}

/// Turns the lines of a tile into groups.
///
/// # Safety
/// The processor has AVX2; the lines of a tile were filled; `to` is valid for its groups.
#[inline(always)]
unsafe fn lines_to_groups<const W: usize, const STEP: usize>(lines: *const u8, to: *mut u8) {
    for column in (0..STEP).step_by(16) {
        for start in (0..8 * W).step_by(32) {
            // SAFETY: `8 * W` is a multiple of 32, so 32 lines from `start` on are in the tile, all
            // filled by `rows_to_lines` just before, and 32 bytes from `start` on are in a group.
            // `STEP` groups fit at `to`: `rows_to_groups` passes a tile, or `dst` from a column up
            // to `columns - STEP` on.
            unsafe {
                let from = lines.add(start * STEP + column);
                let to = to.add(column * 8 * W + start);
                let mut bytes = [__m256i::zero(); 16];
                for (i, bytes) in bytes.iter_mut().enumerate() {
                    *bytes = __m256i::gather(from.add(i * STEP), 16 * STEP);
                }
                transpose_bytes(&mut bytes);
                for (i, bytes) in bytes.into_iter().enumerate() {
                    bytes.store(to.add(i * 8 * W));
                }
            }
        }
    }
}
