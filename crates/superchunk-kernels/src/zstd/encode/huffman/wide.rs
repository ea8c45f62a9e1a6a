//! Codes of 64 bytes at a time: AVX-512 looks them up and joins four by four.
//!
//! Tables of 256 bytes lie in four registers each. One has the low bytes of the codes, the other
//! the three bits above and the length. Neighbours are joined, the later byte's code below, then
//! pairs of them: 16 words of at most 44 bits, or 8 words where they fit. These are written one
//! after the other.

#![expect(clippy::indexing_slicing, reason = "there are two streams, and 16 words of each")]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpgt_epi64_mask,
    _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_movepi8_mask, _mm512_or_si512,
    _mm512_permutex2var_epi8, _mm512_permutex2var_epi64, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_sllv_epi32, _mm512_sllv_epi64, _mm512_srli_epi32, _mm512_srli_epi64,
    _mm512_storeu_si512, _mm512_unpackhi_epi8, _mm512_unpackhi_epi64, _mm512_unpacklo_epi8,
    _mm512_unpacklo_epi64,
};

use crate::copy::store_8;
use crate::zstd::encode::huffman::Codes;

/// So many bytes are coded at a time.
pub(super) const LANES: usize = 64;

/// A stream being written, its bits at the bottom.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub(super) pending: u64,
    /// How many bits wait, less than 8.
    pub(super) count: u64,
    pub(super) at: *mut u8,
}

impl Lane {
    /// # Safety
    ///
    /// `at` is valid for writes of 8 bytes, `count < 8`, and `bits <= 56`.
    #[inline(always)]
    unsafe fn put(&mut self, word: u64, bits: u64) {
        debug_assert!(self.count < 8 && bits <= 56, "more bits than a word has");
        self.pending |= word << self.count;
        self.count += bits;
        // SAFETY: 8 bytes can be written at `at`: `write` leaves codes of at least 8 bytes for
        // later. `count <= 7 + 56`, so that `at` moves on by at most 7 of these bytes.
        unsafe {
            store_8(self.at, self.pending);
            self.at = self.at.add((self.count >> 3) as usize);
        }
        self.pending >>= self.count & 0x38;
        self.count &= 7;
    }
}

/// Codes the last bytes of both sources, 64 of each at a time, as long as more than `tail` bytes of
/// both are left before them; returns what is left.
///
/// # Safety
///
/// * The processor has AVX-512 with BW and VBMI, and BMI2.
/// * Every byte of both sources has a code.
/// * `at` of each lane is valid for writes of the bytes that all codes of its source take, and
///   fewer than 8 bits wait.
/// * `tail >= 64`: that many codes take 8 bytes at least.
#[target_feature(enable = "bmi1,bmi2,avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn write<'a>(
    codes: &Codes,
    src: [&'a [u8]; 2],
    tail: usize,
    lanes: &mut [Lane; 2],
) -> [&'a [u8]; 2] {
    debug_assert!(tail >= 64, "the codes of the tail can take less than 8 bytes");
    let tables = Tables::new(codes);
    let (mut this, mut other) = (Joined::default(), Joined::default());
    let (mut now, mut next) = (&mut this, &mut other);
    let mut rest = src;
    let mut more = tables.take(&mut rest, tail, now);
    // The next codes are looked up before these are written: neither has to wait for the other.
    while more {
        more = tables.take(&mut rest, tail, next);
        // SAFETY: `take` leaves `tail` bytes of each source, whose codes take 8 bytes at least
        // after those of `now`.
        unsafe {
            if now.eights {
                put::<8>(lanes, now);
            } else {
                put::<16>(lanes, now);
            }
        }
        core::mem::swap(&mut now, &mut next);
    }
    rest
}

/// Writes the first words of both streams, the last first.
///
/// # Safety
///
/// Each lane is valid for writes of the bytes of its first `WORDS` words, and of 8 bytes after
/// them. No word has more than 56 bits.
#[inline]
#[target_feature(enable = "bmi1,bmi2,avx512f,avx512bw,avx512vbmi")]
unsafe fn put<const WORDS: usize>(lanes: &mut [Lane; 2], joined: &Joined) {
    let [mut a, mut b] = *lanes;
    let [a_words, b_words] = &joined.words;
    let [a_bits, b_bits] = &joined.bits;
    for i in (0..WORDS).rev() {
        // SAFETY: 8 bytes can be written: `write` leaves codes of at least 8 bytes after these
        // words. A word has four codes of at most 11 bits, or eight if `Words::fit` found at most
        // 56 bits.
        unsafe {
            a.put(a_words[i], a_bits[i]);
            b.put(b_words[i], b_bits[i]);
        }
    }
    *lanes = [a, b];
}

/// The codes of 64 bytes of both streams: 8 words of eight, or 16 of four.
#[derive(Default)]
#[repr(align(64))]
struct Joined {
    words: [[u64; 16]; 2],
    bits: [[u64; 16]; 2],
    eights: bool,
}

/// Words of codes, and how many bits each has.
#[derive(Clone, Copy)]
struct Words {
    words: __m512i,
    bits: __m512i,
}

impl Words {
    /// Joins each of these words with the next one, which stands in the same place of `later`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn join(self, later: Words) -> Words {
        Words {
            words: _mm512_or_si512(later.words, _mm512_sllv_epi64(self.words, later.bits)),
            bits: _mm512_add_epi64(self.bits, later.bits),
        }
    }

    /// Takes the words of two by turns, of each 16 bytes the lower or the upper half.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn even_odd(first: Words, second: Words) -> [Words; 2] {
        [
            Words {
                words: _mm512_unpacklo_epi64(first.words, second.words),
                bits: _mm512_unpacklo_epi64(first.bits, second.bits),
            },
            Words {
                words: _mm512_unpackhi_epi64(first.words, second.words),
                bits: _mm512_unpackhi_epi64(first.bits, second.bits),
            },
        ]
    }

    /// Whether all words and 7 bits more take less than 64 bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn fit(self) -> bool {
        _mm512_cmpgt_epi64_mask(self.bits, _mm512_set1_epi64(56)) == 0
    }
}

/// The codes as bytes: the low ones; above, the length in the upper half.
struct Tables {
    low: [__m512i; 4],
    high: [__m512i; 4],
}

impl Tables {
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,avx512f,avx512bw,avx512vbmi")]
    fn new(codes: &Codes) -> Self {
        let [low, high] = codes.halves.each_ref().map(|half| {
            let (quarters, _) = half.as_chunks::<LANES>();
            // SAFETY: 64 bytes are read.
            core::array::from_fn(|i| unsafe { _mm512_loadu_si512(quarters[i].as_ptr().cast()) })
        });
        Tables { low, high }
    }

    /// Takes the last 64 bytes of both, and joins their codes, if `tail` bytes of both are left.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,avx512f,avx512bw,avx512vbmi")]
    fn take(&self, rest: &mut [&[u8]; 2], tail: usize, joined: &mut Joined) -> bool {
        let [Some((a_front, a)), Some((b_front, b))] =
            rest.map(|rest| rest.split_last_chunk::<LANES>())
        else {
            return false;
        };
        if a_front.len() < tail || b_front.len() < tail {
            return false;
        }
        *rest = [a_front, b_front];
        let fours = [self.fours(a), self.fours(b)];
        let eights = fours.map(|[even, odd]| even.join(odd));
        joined.eights = eights[0].fit() && eights[1].fit();
        let (words, bits) = (&mut joined.words, &mut joined.bits);
        for (i, (eights, [even, odd])) in eights.into_iter().zip(fours).enumerate() {
            // SAFETY: there is room for 16 words, and 8 are written at a time.
            unsafe {
                let (words, bits) = (words[i].as_mut_ptr(), bits[i].as_mut_ptr());
                if joined.eights {
                    _mm512_storeu_si512(words.cast(), eights.words);
                    _mm512_storeu_si512(bits.cast(), eights.bits);
                } else {
                    for (half, indices) in [FIRST_HALF, SECOND_HALF].into_iter().enumerate() {
                        let indices = _mm512_loadu_si512(indices.as_ptr().cast());
                        let pick = |a, b| _mm512_permutex2var_epi64(a, indices, b);
                        _mm512_storeu_si512(
                            words.add(8 * half).cast(),
                            pick(even.words, odd.words),
                        );
                        _mm512_storeu_si512(bits.add(8 * half).cast(), pick(even.bits, odd.bits));
                    }
                }
            }
        }
        true
    }

    /// The codes of 64 bytes, four by four: those with even and those with odd numbers.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,avx512f,avx512bw,avx512vbmi")]
    fn fours(&self, bytes: &[u8; LANES]) -> [Words; 2] {
        // SAFETY: 64 bytes are read.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let upper = _mm512_movepi8_mask(bytes);
        let look_up = |table: &[__m512i; 4]| {
            let first = _mm512_permutex2var_epi8(table[0], bytes, table[1]);
            let second = _mm512_permutex2var_epi8(table[2], bytes, table[3]);
            _mm512_mask_blend_epi8(upper, first, second)
        };
        let (low, high) = (look_up(&self.low), look_up(&self.high));
        Words::even_odd(
            join_four(_mm512_unpacklo_epi8(low, high)),
            join_four(_mm512_unpackhi_epi8(low, high)),
        )
    }
}

/// Puts words with even and with odd numbers in their order.
const FIRST_HALF: [u64; 8] = [0, 8, 1, 9, 2, 10, 3, 11];
const SECOND_HALF: [u64; 8] = [4, 12, 5, 13, 6, 14, 7, 15];

/// From codes of 16 bits, the length in the upper four, to words of four codes and their lengths.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn join_four(codes: __m512i) -> Words {
    let values = _mm512_and_si512(codes, _mm512_set1_epi16(0x07FF));
    // The lengths of the later and of the earlier byte of each pair.
    let later = _mm512_srli_epi32::<28>(codes);
    let earlier = _mm512_and_si512(_mm512_srli_epi32::<12>(codes), _mm512_set1_epi32(0xF));
    let first = _mm512_and_si512(values, _mm512_set1_epi32(0xFFFF));
    let pairs = _mm512_or_si512(_mm512_srli_epi32::<16>(values), _mm512_sllv_epi32(first, later));
    let bits = _mm512_add_epi32(later, earlier);
    let low = _mm512_set1_epi64(0xFFFF_FFFF);
    let later = _mm512_srli_epi64::<32>(bits);
    let first = _mm512_and_si512(pairs, low);
    Words {
        words: _mm512_or_si512(_mm512_srli_epi64::<32>(pairs), _mm512_sllv_epi64(first, later)),
        bits: _mm512_add_epi64(later, _mm512_and_si512(bits, low)),
    }
}
