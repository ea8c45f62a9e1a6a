//! Brings the symbols of pairs together.

use core::arch::x86_64::{
    _mm_castsi128_ps, _mm_loadl_epi64, _mm_loadu_si128, _mm_movemask_ps, _mm_shuffle_epi8,
    _mm_storel_epi64, _mm256_storeu_si256, _mm512_castsi512_si256, _mm512_cmplt_epi32_mask,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_setzero_si512, _pdep_u64,
};

use crate::cpu::Isa;

/// Writes the symbols of `count` entries of pairs, one after the other, and tells how many they are.
///
/// # Safety
///
/// * The processor must have AVX2, and POPCNT, which every processor with AVX2 has.
/// * `entries` is valid for reads of `4 * count` bytes, and `to` for writes of `2 * count` bytes.
pub(super) unsafe fn compact(entries: *const u8, count: usize, to: *mut u8) -> usize {
    // SAFETY: `Work::leave` passes a row of `count` entries, which `Step::take` wrote, and an
    // output that has room for two symbols for each (`Work::possible_steps`). `lanes::run` has
    // found AVX2; `Isa::Avx512` includes VBMI2 and BMI2.
    unsafe {
        if crate::cpu::isa() == Isa::Avx512 {
            compact_512(entries, count, to)
        } else {
            compact_fours(entries, count, to)
        }
    }
}

/// # Safety
///
/// As [`compact`], and the processor must have AVX-512 VBMI2.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
unsafe fn compact_512(entries: *const u8, count: usize, to: *mut u8) -> usize {
    /// The bytes of entries where the first and the second symbols are.
    const FIRST: u64 = 0x2222_2222_2222_2222;
    const SECOND: u64 = 0x4444_4444_4444_4444;
    let mut written = 0;
    let sixteens = count / 16 * 16;
    for entry in (0..sixteens).step_by(16) {
        // SAFETY: 16 entries are read. 32 bytes are written, behind at most 2 for each entry before.
        unsafe {
            let sixteen = _mm512_loadu_si512(entries.add(4 * entry).cast());
            let pairs = u64::from(_mm512_cmplt_epi32_mask(sixteen, _mm512_setzero_si512()));
            let symbols = FIRST | _pdep_u64(pairs, SECOND);
            let together = _mm512_maskz_compress_epi8(symbols, sixteen);
            let together = _mm512_castsi512_si256(together);
            _mm256_storeu_si256(to.add(written).cast(), together);
            written += 16 + pairs.count_ones() as usize;
        }
    }
    // SAFETY: what is left of the entries, and the room for them.
    written + unsafe { compact_fours(entries.add(4 * sixteens), count - sixteens, to.add(written)) }
}

/// # Safety
///
/// As [`compact`].
#[target_feature(enable = "avx2,popcnt")]
unsafe fn compact_fours(entries: *const u8, count: usize, to: *mut u8) -> usize {
    let mut written = 0;
    let fours = count / 4 * 4;
    for entry in (0..fours).step_by(4) {
        // SAFETY: four entries are read; 8 bytes are written, behind at most 2 for each entry before.
        unsafe {
            let four = _mm_loadu_si128(entries.add(4 * entry).cast());
            let pairs = _mm_movemask_ps(_mm_castsi128_ps(four)).cast_unsigned();
            let order = ORDERS.get_unchecked(pairs as usize % ORDERS.len());
            let symbols = _mm_shuffle_epi8(four, _mm_loadl_epi64(order.as_ptr().cast()));
            _mm_storel_epi64(to.add(written).cast(), symbols);
            written += 4 + pairs.count_ones() as usize;
        }
    }
    for entry in fours..count {
        // SAFETY: as above, 4 bytes and 2.
        unsafe {
            let [_, first, second, pair] = entries.add(4 * entry).cast::<[u8; 4]>().read();
            to.add(written).cast::<[u8; 2]>().write([first, second]);
            written += 1 + usize::from(pair >> 7);
        }
    }
    written
}

/// The places of the symbols in four entries, by which of them are pairs.
#[expect(clippy::indexing_slicing, reason = "while compiling")]
static ORDERS: [[u8; 8]; 16] = {
    let mut orders = [[0; 8]; 16];
    let mut pairs = 0;
    while pairs < 16 {
        let (mut entry, mut place) = (0, 0);
        while entry < 4 {
            orders[pairs][place] = 4 * entry + 1;
            orders[pairs][place + 1] = 4 * entry + 2;
            place += 1 + (pairs >> entry & 1);
            entry += 1;
        }
        pairs += 1;
    }
    orders
};
