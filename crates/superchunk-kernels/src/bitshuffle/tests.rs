//! The scalar kernel is the definition bit by bit; every instruction set is the scalar kernel.

use super::{bitshuffle, bitunshuffle, bitunshuffle_far, scalar};

type Kernel = fn(usize, &[u8], &mut [u8]);

/// Name, forward and backward function of every instruction set of this architecture.
const INSTRUCTION_SETS: &[(&str, Kernel, Kernel)] = &[
    ("the dispatched one", bitshuffle, bitunshuffle),
    ("the dispatched one, past the caches", bitshuffle, bitunshuffle_far),
    #[cfg(target_arch = "x86_64")]
    ("sse2", super::sse2::bitshuffle, super::sse2::bitunshuffle),
    #[cfg(target_arch = "x86_64")]
    ("avx2", avx2::bitshuffle, avx2::bitunshuffle::<false>),
    #[cfg(target_arch = "x86_64")]
    ("avx2, past the caches", avx2::bitshuffle, avx2::bitunshuffle::<true>),
    #[cfg(target_arch = "x86_64")]
    ("avx512", avx512::bitshuffle, avx512::bitunshuffle::<false>),
    #[cfg(target_arch = "x86_64")]
    ("avx512, past the caches", avx512::bitshuffle, avx512::bitunshuffle::<true>),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    ("neon", super::neon::bitshuffle, super::neon::bitunshuffle),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    ("simd128", super::simd128::bitshuffle, super::simd128::bitunshuffle),
];

/// On processors without AVX2 the dispatched kernel is tested a second time instead.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::avx2;

    pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
        if !std::is_x86_feature_detected!("avx2") {
            return super::bitshuffle(item_size, src, dst);
        }
        // SAFETY: AVX2 was just detected.
        unsafe { avx2::bitshuffle(item_size, src, dst) }
    }

    pub(super) fn bitunshuffle<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
        if !std::is_x86_feature_detected!("avx2") {
            return super::bitunshuffle(item_size, src, dst);
        }
        // SAFETY: AVX2 was just detected.
        unsafe { avx2::bitunshuffle::<FAR>(item_size, src, dst) }
    }
}

/// On processors without AVX-512 the dispatched kernel is tested a second time instead.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::avx512;
    use crate::cpu::{Isa, isa};

    pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
        if isa() != Isa::Avx512 {
            return super::bitshuffle(item_size, src, dst);
        }
        // SAFETY: AVX-512 was just detected.
        unsafe { avx512::bitshuffle(item_size, src, dst) }
    }

    pub(super) fn bitunshuffle<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
        if isa() != Isa::Avx512 {
            return super::bitunshuffle(item_size, src, dst);
        }
        // SAFETY: AVX-512 was just detected.
        unsafe { avx512::bitunshuffle::<FAR>(item_size, src, dst) }
    }
}

/// Bytes without a pattern that a transposition could hide behind.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The rule of the format, one bit at a time.
fn naive(item_size: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len().checked_div(item_size).unwrap_or(0) / 8 * 8;
    let mut out = src.to_vec();
    out[..items * item_size].fill(0);
    for item in 0..items {
        for byte in 0..item_size {
            for bit in 0..8 {
                let value = src[item * item_size + byte] >> bit & 1;
                out[(byte * 8 + bit) * (items / 8) + item / 8] |= value << (item % 8);
            }
        }
    }
    out
}

/// Item sizes that take every path: whole groups, windows, and one byte.
fn item_sizes() -> Vec<usize> {
    let small = if cfg!(miri) { vec![1, 2, 3] } else { (1..=32).collect() };
    let large = if cfg!(miri) { vec![33] } else { vec![33, 47, 48, 49, 64, 101, 128, 255, 300] };
    [small, large].concat()
}

/// Lengths around every multiple of a register and a tile, for items of this size.
fn lengths(item_size: usize) -> Vec<usize> {
    if cfg!(miri) {
        return [0, 5, 17, 40].map(|columns| columns * 8 * item_size + 3).to_vec();
    }
    let mut lengths: Vec<usize> = (0..=300).collect();
    let most = if item_size > 32 { 70 } else { 600 };
    for columns in [1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 301, 520] {
        let whole = columns * 8 * item_size;
        if columns < most {
            lengths.extend([whole - 1, whole + 7 * item_size]);
        }
    }
    // Rows so long that tiles are wide, at several alignments.
    if matches!(item_size, 4 | 8 | 16) {
        let long = [2047, 2048, 2049, 4095, 4096, 4097, 4160, 4351, 4352, 4353];
        lengths.extend(long.map(|columns| columns * 8 * item_size));
    }
    lengths
}

#[test]
fn the_vector_of_the_format_is_reproduced() {
    let source: Vec<u8> = (1..=19).collect();
    let mut shuffled = [0; 19];
    bitshuffle(2, &source, &mut shuffled);
    let planes = [0xff, 0xaa, 0xcc, 0xf0, 0, 0, 0, 0, 0, 0x55, 0x66, 0x78, 0x80, 0, 0, 0];
    assert_eq!(shuffled[..16], planes);
    assert_eq!(shuffled[16..], [0x11, 0x12, 0x13]);
    let mut back = [0; 19];
    bitunshuffle(2, &shuffled, &mut back);
    assert_eq!(back[..], source);
}

#[test]
fn scalar_is_the_bit_by_bit_definition() {
    for item_size in item_sizes() {
        for columns in [0, 1, 2, 9, 40] {
            let source = noise(columns * 8 * item_size);
            let expected = naive(item_size, &source);
            let mut shuffled = vec![0xee; source.len()];
            scalar::bitshuffle(item_size, &source, &mut shuffled);
            assert!(shuffled == expected, "item size {item_size}, {columns} columns");
            let mut back = vec![0xee; source.len()];
            scalar::bitunshuffle(item_size, &expected, &mut back);
            assert!(back == source, "back: item size {item_size}, {columns} columns");
        }
    }
}

#[test]
fn any_length_is_shuffled_by_the_definition_and_comes_back() {
    for item_size in item_sizes() {
        for len in lengths(item_size).into_iter().step_by(3) {
            let source = noise(len);
            let mut shuffled = vec![0xee; len];
            bitshuffle(item_size, &source, &mut shuffled);
            assert!(shuffled == naive(item_size, &source), "item size {item_size}, length {len}");
            let mut back = vec![0xee; len];
            bitunshuffle(item_size, &shuffled, &mut back);
            assert!(back == source, "back: item size {item_size}, length {len}");
        }
    }
}

#[test]
fn every_instruction_set_is_scalar_at_every_alignment() {
    for &(name, forward, back) in INSTRUCTION_SETS {
        for item_size in item_sizes() {
            for (turn, len) in lengths(item_size).into_iter().enumerate() {
                let whole = len / item_size / 8 * 8 * item_size;
                let (from, to) = (turn % 33, turn * 7 % 35);
                let source = noise(whole + from);
                let source = &source[from..];
                let mut expected = vec![0; whole];
                let mut room = vec![0xee; to + whole + 40];
                for (kernel, definition) in
                    [(forward, scalar::bitshuffle as Kernel), (back, scalar::bitunshuffle)]
                {
                    definition(item_size, source, &mut expected);
                    kernel(item_size, source, &mut room[to..to + whole]);
                    let context = format!("{name}, item size {item_size}, {whole} bytes");
                    assert!(room[to..to + whole] == expected, "{context}");
                    let outside = room[..to].iter().chain(&room[to + whole..]);
                    assert!(outside.copied().all(|byte| byte == 0xee), "outside: {context}");
                }
            }
        }
    }
}

#[test]
fn too_few_items_and_no_item_size_are_copied() {
    let source = noise(100);
    for item_size in [0, 13, 50, 100, 101, usize::MAX / 8 + 2, usize::MAX] {
        for kernel in [bitshuffle as Kernel, bitunshuffle] {
            let mut copied = vec![0; 100];
            kernel(item_size, &source, &mut copied);
            assert_eq!(copied, source, "item size {item_size}");
        }
    }
}

#[test]
fn the_shorter_slice_sets_the_length() {
    let source = noise(1000);
    let mut short = vec![0; 777];
    bitshuffle(3, &source, &mut short);
    assert_eq!(short, naive(3, &source[..777]));
    let mut long = vec![0xee; 1000];
    bitunshuffle(3, &short, &mut long);
    assert_eq!(long[..777], source[..777]);
    assert_eq!(long[777..], [0xee; 223]);
}
