//! 64 items at a time to rows of bytes and back, in 64-byte registers.
//!
//! `W` registers hold 64 items of `W` bytes (1, 2, 4, 8 or 16) one after the other; `W` rows hold
//! byte 0 of all of them, byte 1, and so on. One permutation inside each register gathers the bytes
//! of the same place into a *unit* of `64 / W` bytes; then units are transposed between registers.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    clippy::cast_possible_truncation,
    reason = "places in a register and in a row of registers are below 64, and constants \
              once unrolled; iterator adapters are not always inlined into functions that are \
              compiled for another instruction set"
)]

use core::arch::x86_64::*;

/// Items in one step: bytes in a row.
pub(crate) const STEP: usize = 64;

/// Where steps begin: at 0, then every step from the first whole line on, and at the last place.
pub(crate) struct Steps {
    next: usize,
    aligned: usize,
    last: usize,
}

impl Steps {
    /// Of `len` places, at least a step; lines are whole from `aligned` on.
    pub(crate) fn new(len: usize, aligned: usize) -> Self {
        debug_assert!(len >= STEP);
        Self { next: 0, aligned: aligned % STEP, last: len.saturating_sub(STEP) }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<usize> {
        let e = self.next;
        if e > self.last {
            return None;
        }
        self.next = match e + STEP {
            _ if e == self.last => usize::MAX,
            _ if e < self.aligned => self.aligned.min(self.last),
            next => next.min(self.last),
        };
        Some(e)
    }
}

/// Items in registers, one after the other, to rows.
///
/// # Safety
/// The processor has AVX-512 F and VBMI.
#[inline(always)]
pub(crate) unsafe fn items_to_rows<const W: usize>(mut regs: [__m512i; W]) -> [__m512i; W] {
    // SAFETY: the processor has AVX-512 F and VBMI: the kernels of `shuffle::avx512` and
    // `bitshuffle::avx512`, the only callers, are inlined into functions compiled for both, which
    // run only where `cpu::isa` has found `Isa::Avx512`. The map has 64 bytes.
    unsafe {
        let map = _mm512_loadu_si512(const { transposing_map(W, 64 / W) }.as_ptr().cast());
        for i in 0..W {
            regs[i] = _mm512_permutexvar_epi8(map, regs[i]);
        }
        match W {
            2 => halves(&mut regs),
            4 => lanes(&mut regs, 0, 1),
            8 => {
                for i in 0..4 {
                    zip_8(&mut regs, 2 * i, 2 * i + 1);
                }
                lanes(&mut regs, 0, 2);
                lanes(&mut regs, 1, 2);
            }
            16 => {
                for i in 0..4 {
                    words(&mut regs, 4 * i);
                }
                for i in 0..4 {
                    lanes(&mut regs, i, 4);
                }
            }
            _ => {}
        }
    }
    regs
}

/// Rows to items in registers: the inverse of [`items_to_rows`].
///
/// # Safety
/// The processor has AVX-512 F and VBMI.
#[inline(always)]
pub(crate) unsafe fn rows_to_items<const W: usize>(mut regs: [__m512i; W]) -> [__m512i; W] {
    // SAFETY: the processor has AVX-512 F and VBMI: the kernels of `shuffle::avx512` and
    // `bitshuffle::avx512`, the only callers, are inlined into functions compiled for both, which
    // run only where `cpu::isa` has found `Isa::Avx512`. The map has 64 bytes.
    unsafe {
        match W {
            2 => halves(&mut regs),
            4 => lanes(&mut regs, 0, 1),
            8 => {
                lanes(&mut regs, 0, 2);
                lanes(&mut regs, 1, 2);
                for i in 0..4 {
                    zip_8(&mut regs, 2 * i, 2 * i + 1);
                }
            }
            16 => {
                for i in 0..4 {
                    lanes(&mut regs, i, 4);
                }
                for i in 0..4 {
                    words(&mut regs, 4 * i);
                }
            }
            _ => {}
        }
        let map = _mm512_loadu_si512(const { transposing_map(64 / W, W) }.as_ptr().cast());
        for i in 0..W {
            regs[i] = _mm512_permutexvar_epi8(map, regs[i]);
        }
    }
    regs
}

/// Swaps word `b` of register `a` with word `a` of register `b`, words of 8 bytes.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
pub(crate) unsafe fn transpose_words(regs: &mut [__m512i; 8]) {
    // SAFETY: the processor has AVX-512 F: `items_to_bits` and `bits_to_items` of
    // `bitshuffle::avx512`, the only callers, are inlined into functions compiled for it.
    unsafe {
        for i in 0..4 {
            zip_8(regs, 2 * i, 2 * i + 1);
        }
        lanes(regs, 0, 2);
        lanes(regs, 1, 2);
    }
}

/// Where the bytes of a register come from when `across` columns of `64 / across` bytes become
/// rows: `from[item * across + b]` to `b * down + item`.
pub(crate) const fn transposing_map(across: usize, down: usize) -> [u8; 64] {
    let mut map = [0; 64];
    let mut place = 0;
    while place < 64 {
        map[place] = (place % down * across + place / down) as u8;
        place += 1;
    }
    map
}

/// Swaps the upper half of the first register with the lower half of the second.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn halves<const W: usize>(regs: &mut [__m512i; W]) {
    let (a, b) = (regs[0], regs[1]);
    // SAFETY: the processor has AVX-512 F: `items_to_rows` and `rows_to_items`, the only callers,
    // require it.
    unsafe {
        regs[0] = _mm512_shuffle_i64x2::<0x44>(a, b);
        regs[1] = _mm512_shuffle_i64x2::<0xee>(a, b);
    }
}

/// Transposes the 16-byte lanes of four registers: `first`, and three more `apart`.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn lanes<const W: usize>(regs: &mut [__m512i; W], first: usize, apart: usize) {
    let at = [first, first + apart, first + 2 * apart, first + 3 * apart];
    let (a, b, c, d) = (regs[at[0]], regs[at[1]], regs[at[2]], regs[at[3]]);
    // SAFETY: the processor has AVX-512 F: `items_to_rows`, `rows_to_items` and `transpose_words`,
    // the only callers, require it.
    unsafe {
        let (ab_low, ab_high) =
            (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
        let (cd_low, cd_high) =
            (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
        regs[at[0]] = _mm512_shuffle_i32x4::<0x88>(ab_low, cd_low);
        regs[at[1]] = _mm512_shuffle_i32x4::<0xdd>(ab_low, cd_low);
        regs[at[2]] = _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high);
        regs[at[3]] = _mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high);
    }
}

/// In each lane swaps the upper 8 bytes of register `a` with the lower 8 of register `b`.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn zip_8<const W: usize>(regs: &mut [__m512i; W], a: usize, b: usize) {
    let (low, high) = (regs[a], regs[b]);
    // SAFETY: the processor has AVX-512 F: `items_to_rows`, `rows_to_items` and `transpose_words`,
    // the only callers, require it.
    unsafe {
        regs[a] = _mm512_unpacklo_epi64(low, high);
        regs[b] = _mm512_unpackhi_epi64(low, high);
    }
}

/// In each lane transposes the words of 4 bytes of four registers: `first` and the three after it.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn words<const W: usize>(regs: &mut [__m512i; W], first: usize) {
    let (a, b, c, d) = (regs[first], regs[first + 1], regs[first + 2], regs[first + 3]);
    // SAFETY: the processor has AVX-512 F: `items_to_rows` and `rows_to_items`, the only callers,
    // require it.
    unsafe {
        let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        regs[first] = _mm512_unpacklo_epi64(ab_low, cd_low);
        regs[first + 1] = _mm512_unpackhi_epi64(ab_low, cd_low);
        regs[first + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
        regs[first + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
    }
}
