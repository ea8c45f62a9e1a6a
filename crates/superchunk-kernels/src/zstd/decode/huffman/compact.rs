//! Brings the symbols of pairs together.

use core::arch::x86_64::{
    _mm_castsi128_ps, _mm_loadl_epi64, _mm_loadu_si128, _mm_movemask_ps, _mm_shuffle_epi8,
    _mm_storel_epi64,
};

/// Writes the symbols of `count` entries of pairs, one after the other, and tells how many they are.
///
/// # Safety
///
/// The processor must have AVX2. `entries` are valid for reads of 4 bytes each, `to` for writes of 2
/// bytes each.
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn compact(entries: *const u8, count: usize, to: *mut u8) -> usize {
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
