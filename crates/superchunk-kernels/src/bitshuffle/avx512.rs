//! Bit shuffle with 64-byte registers.
//!
//! Items of 1, 2, 4, 8 and 16 bytes: 64 items, which are eight groups, become rows of bytes as in a
//! byte shuffle; one instruction transposes the eight bytes of a group as 8 × 8 bits; eight times
//! that make 64 columns:
//!
//! ```text
//! 64 items ──▶ row b: 8 groups of 8 bytes ──8 × 8 bits──▶ 8 groups of 8 bits ──▶ 8 bits of 8 groups
//! eight of these, words of 8 bytes transposed ──▶ rows 8·b ‥ 8·b + 7 of 64 columns
//! ```
//!
//! Other items take the method of the other instruction sets, with four lanes a register.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "indices are constants once unrolled; iterator adapters are not always inlined into \
              functions that are compiled for another instruction set"
)]

use core::arch::x86_64::*;

use super::lanes::{Lanes, low_bits};
use super::{avx2, columns, tiles};
use crate::far;
use crate::rows512::{STEP, Steps, items_to_rows, rows_to_items, transpose_words, transposing_map};

/// Transposes whole groups of items into rows.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let columns = columns(item_size, src.len().min(dst.len()));
    if columns < STEP {
        return avx2::bitshuffle(item_size, src, dst);
    }
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: this function is compiled for AVX-512, VBMI and GFNI. Both slices hold `columns`
    // groups, as the number was derived from the shorter one, and these fill a step, as was just
    // compared.
    unsafe {
        match item_size {
            1 => items_to_bits::<1>(columns, from, to),
            2 => items_to_bits::<2>(columns, from, to),
            4 => items_to_bits::<4>(columns, from, to),
            8 => items_to_bits::<8>(columns, from, to),
            16 => items_to_bits::<16>(columns, from, to),
            _ => tiles::bitshuffle::<__m512i>(item_size, src, dst),
        }
    }
}

/// Transposes rows back into whole groups of items; with `FAR` these are written past the caches.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn bitunshuffle<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let columns = columns(item_size, src.len().min(dst.len()));
    if columns < STEP {
        return avx2::bitunshuffle::<FAR>(item_size, src, dst);
    }
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: this function is compiled for AVX-512, VBMI and GFNI. Both slices hold `columns`
    // groups, as the number was derived from the shorter one, and these fill a step, as was just
    // compared.
    unsafe {
        match item_size {
            1 => bits_to_items::<1, FAR>(columns, from, to),
            2 => bits_to_items::<2, FAR>(columns, from, to),
            4 => bits_to_items::<4, FAR>(columns, from, to),
            8 => bits_to_items::<8, FAR>(columns, from, to),
            16 => bits_to_items::<16, FAR>(columns, from, to),
            _ => tiles::bitunshuffle::<__m512i, FAR>(item_size, src, dst),
        }
    }
    if FAR {
        far::fence();
    }
}

/// The bits of 64 columns, for each byte of an item: eight registers of eight columns.
type Tile<const W: usize> = [[__m512i; 8]; W];

/// # Safety
/// The processor has AVX-512, VBMI and GFNI; both pointers are valid for `columns` groups of items
/// of `W` bytes, and `columns >= STEP`.
#[inline(always)]
unsafe fn items_to_bits<const W: usize>(columns: usize, from: *const u8, to: *mut u8) {
    debug_assert!(columns >= STEP);
    let mut steps = Steps::new(columns, to.align_offset(STEP));
    // SAFETY: `column + STEP <= columns`, as `Steps` ends at `columns - STEP`, and both pointers
    // are valid for `columns` groups: `bitshuffle` derived the number from the slices and compared
    // it with `STEP`. It is compiled for AVX-512, VBMI and GFNI, and this is inlined into it.
    unsafe {
        let mut tile: Tile<W> = [[_mm512_setzero_si512(); 8]; W];
        while let Some(column) = steps.next() {
            for eight in 0..8 {
                let from = from.add((column + eight * 8) * 8 * W);
                let mut regs = [_mm512_setzero_si512(); W];
                for i in 0..W {
                    regs[i] = _mm512_loadu_si512(from.add(i * STEP).cast());
                }
                regs = items_to_rows::<W>(regs);
                for b in 0..W {
                    tile[b][eight] = gather_bits(regs[b]);
                }
            }
            for b in 0..W {
                transpose_words(&mut tile[b]);
                for bit in 0..8 {
                    let at = (b * 8 + bit) * columns + column;
                    _mm512_storeu_si512(to.add(at).cast(), tile[b][bit]);
                }
            }
        }
    }
}

/// # Safety
/// As [`items_to_bits`].
#[inline(always)]
unsafe fn bits_to_items<const W: usize, const FAR: bool>(
    columns: usize,
    from: *const u8,
    to: *mut u8,
) {
    debug_assert!(columns >= STEP);
    // No choice of columns moves groups of a whole line or more; it can still move the rows.
    let aligned = if W < 8 { to.align_offset(STEP) / (8 * W) } else { from.align_offset(STEP) };
    let mut steps = Steps::new(columns, aligned);
    // SAFETY: `column + STEP <= columns`, as `Steps` ends at `columns - STEP`, and both pointers
    // are valid for `columns` groups: `bitunshuffle` derived the number from the slices and
    // compared it with `STEP`. It is compiled for AVX-512, VBMI and GFNI, and this is inlined into
    // it. Stores past the caches go only to multiples of `STEP`, their alignment.
    unsafe {
        let mut tile: Tile<W> = [[_mm512_setzero_si512(); 8]; W];
        while let Some(column) = steps.next() {
            for b in 0..W {
                for bit in 0..8 {
                    let at = (b * 8 + bit) * columns + column;
                    tile[b][bit] = _mm512_loadu_si512(from.add(at).cast());
                }
                transpose_words(&mut tile[b]);
            }
            for eight in 0..8 {
                let to = to.add((column + eight * 8) * 8 * W);
                let mut regs = [_mm512_setzero_si512(); W];
                for b in 0..W {
                    regs[b] = scatter_bits(tile[b][eight]);
                }
                regs = rows_to_items::<W>(regs);
                let far = FAR && to.addr().is_multiple_of(STEP);
                for i in 0..W {
                    let to = to.add(i * STEP).cast();
                    if far {
                        _mm512_stream_si512(to, regs[i]);
                    } else {
                        _mm512_storeu_si512(to, regs[i]);
                    }
                }
            }
        }
    }
}

/// Eight groups of eight bytes to eight words: word `t` has bit `t` of all bytes of each group.
///
/// # Safety
/// The processor has AVX-512, VBMI and GFNI.
#[inline(always)]
unsafe fn gather_bits(groups: __m512i) -> __m512i {
    // SAFETY: the processor has AVX-512, VBMI and GFNI: `items_to_bits`, the only caller, requires
    // them. The map has 64 bytes.
    unsafe {
        let map = _mm512_loadu_si512(const { transposing_map(8, 8) }.as_ptr().cast());
        _mm512_permutexvar_epi8(map, transpose_bits(groups))
    }
}

/// The inverse of [`gather_bits`].
///
/// # Safety
/// The processor has AVX-512, VBMI and GFNI.
#[inline(always)]
unsafe fn scatter_bits(words: __m512i) -> __m512i {
    // SAFETY: the processor has AVX-512, VBMI and GFNI: `bits_to_items`, the only caller, requires
    // them. The map has 64 bytes.
    unsafe {
        let map = _mm512_loadu_si512(const { transposing_map(8, 8) }.as_ptr().cast());
        transpose_bits(_mm512_permutexvar_epi8(map, words))
    }
}

/// Swaps bit `b` of byte `a` with bit `a` of byte `b`, in each word of 8 bytes.
///
/// # Safety
/// The processor has AVX-512 and GFNI.
#[inline(always)]
unsafe fn transpose_bits(words: __m512i) -> __m512i {
    /// Byte `i` has bit `i` only. Multiplied by a word, it takes one bit of every byte, the last
    /// byte's first; multiplied with a byte, it reverses the byte.
    const EACH_BIT: i64 = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);
    // SAFETY: the processor has AVX-512 and GFNI: `gather_bits` and `scatter_bits`, the only
    // callers, require them.
    unsafe {
        let each_bit = _mm512_set1_epi64(EACH_BIT);
        let reversed = _mm512_gf2p8affine_epi64_epi8::<0>(each_bit, words);
        _mm512_gf2p8affine_epi64_epi8::<0>(reversed, each_bit)
    }
}

impl Lanes for __m512i {
    const WIDTH: usize = 64;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the processor has AVX-512: `bitshuffle` and `bitunshuffle` above, into which this
        // is inlined, are compiled for it.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 64 bytes can be read at `from`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, or `load_part` its array. The load needs no
        // alignment. AVX-512: see `zero`.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 64 bytes can be written at `to`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, or `store_part` its array. The store needs no
        // alignment. AVX-512: see `zero`.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, lane_stride: usize) -> Self {
        // SAFETY: 16 bytes can be read at `from` and up to three strides later: `tiles`, the only
        // caller, passes a piece of a group, of which `WIDTH` are there, and the stride of 16
        // groups. AVX-512: see `zero`.
        unsafe {
            let lane = |lane: usize| _mm_loadu_si128(from.add(lane * lane_stride).cast());
            let lanes = _mm512_castsi128_si512(lane(0));
            let lanes = _mm512_inserti32x4::<1>(lanes, lane(1));
            let lanes = _mm512_inserti32x4::<2>(lanes, lane(2));
            _mm512_inserti32x4::<3>(lanes, lane(3))
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, lane_stride: usize) {
        // SAFETY: 16 bytes can be written at `to` and up to three strides later: `tiles`, the only
        // caller, passes a piece of a group, of which `WIDTH` are there, and the stride of 16
        // groups. AVX-512: see `zero`.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm512_castsi512_si128(self));
            _mm_storeu_si128(to.add(lane_stride).cast(), _mm512_extracti32x4_epi32::<1>(self));
            _mm_storeu_si128(to.add(2 * lane_stride).cast(), _mm512_extracti32x4_epi32::<2>(self));
            _mm_storeu_si128(to.add(3 * lane_stride).cast(), _mm512_extracti32x4_epi32::<3>(self));
        }
    }

    #[inline(always)]
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        // SAFETY: the processor has AVX-512: `bitshuffle` and `bitunshuffle` above, into which this
        // is inlined, are compiled for it.
        unsafe { _mm512_unpacklo_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        // SAFETY: the processor has AVX-512: `bitshuffle` and `bitunshuffle` above, into which this
        // is inlined, are compiled for it.
        unsafe { _mm512_unpackhi_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        /// The table of "where the first has a bit, the second's, else the third's".
        const CHOOSE: i32 = 0xca;
        // SAFETY: the processor has AVX-512: `bitshuffle` and `bitunshuffle` above, into which this
        // is inlined, are compiled for it.
        unsafe {
            let mask = _mm512_set1_epi8(low_bits(SHIFT).cast_signed());
            let (down, up) = match SHIFT {
                1 => (_mm512_srli_epi64::<1>(a), _mm512_slli_epi64::<1>(b)),
                2 => (_mm512_srli_epi64::<2>(a), _mm512_slli_epi64::<2>(b)),
                _ => (_mm512_srli_epi64::<4>(a), _mm512_slli_epi64::<4>(b)),
            };
            (
                _mm512_ternarylogic_epi64::<CHOOSE>(mask, a, up),
                _mm512_ternarylogic_epi64::<CHOOSE>(mask, down, b),
            )
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        // SAFETY: a prefetch reads nothing and SSE is part of `x86_64`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
}
