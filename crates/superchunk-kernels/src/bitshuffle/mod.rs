//! Bit shuffle: transposes items into bit planes and back (`docs/formats/chunk.md`, filter 2).
//!
//! The items are counted in groups of eight; `columns` is the number of whole groups. Row
//! `8 * b + t` holds bit `t` of byte `b` of every item, item `e` at bit `e % 8` of the row's byte
//! `e / 8`, so a row is `columns` bytes long and byte 0, bit 0 comes first:
//!
//! ```text
//! source       item 0      item 1      …  item 7    | item 8 …         group = column
//!              b0 b1 b2…   b0 b1 b2…      b0 b1 b2… |
//! destination  row 0: bit 0 of b0, items 0‥7 | items 8‥15 | …          columns bytes
//!              row 1: bit 1 of b0 …
//! ```
//!
//! Items after the last whole group, and bytes after the last whole item, are copied unchanged.
//!
//! `scalar` is the definition. The instruction sets share one method (`tiles`), written over
//! the few operations of a register that `lanes` names; `whole` is the way back of AVX2 for items of 4, 8 and 16 bytes.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod lanes;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod tiles;
#[cfg(target_arch = "x86_64")]
mod whole;

use crate::cpu;

/// Transposes the items of `src` into bit planes in `dst`.
///
/// Works on the first `min(src.len(), dst.len())` bytes of both. Fewer than eight items, or an item
/// size of 0, are copied.
pub fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_rest(item_size, src, dst);
    match cpu::isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `cpu::isa` answers `Avx512` only on a processor that has it.
        cpu::Isa::Avx512 => unsafe { avx512::bitshuffle(item_size, src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `cpu::isa` answers `Avx2` only on a processor that has it.
        cpu::Isa::Avx2 => unsafe { avx2::bitshuffle(item_size, src, dst) },
        #[cfg(target_arch = "x86_64")]
        cpu::Isa::Sse2 => sse2::bitshuffle(item_size, src, dst),
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        cpu::Isa::Neon => neon::bitshuffle(item_size, src, dst),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        cpu::Isa::Simd128 => simd128::bitshuffle(item_size, src, dst),
        _ => scalar::bitshuffle(item_size, src, dst),
    }
}

/// Transposes the bit planes of `src` back into items in `dst`: the inverse of [`bitshuffle`].
///
/// Works on the first `min(src.len(), dst.len())` bytes of both. Fewer than eight items, or an item
/// size of 0, are copied.
pub fn bitunshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    rows_to_items::<false>(item_size, src, dst);
}

/// As [`bitunshuffle`], for a `dst` that is one piece of an output too large for the caches: it is written past them where
/// the machine can.
pub fn bitunshuffle_far(item_size: usize, src: &[u8], dst: &mut [u8]) {
    rows_to_items::<true>(item_size, src, dst);
}

fn rows_to_items<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_rest(item_size, src, dst);
    match cpu::isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `cpu::isa` answers `Avx512` only on a processor that has it.
        cpu::Isa::Avx512 => unsafe { avx512::bitunshuffle::<FAR>(item_size, src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `cpu::isa` answers `Avx2` only on a processor that has it.
        cpu::Isa::Avx2 => unsafe { avx2::bitunshuffle::<FAR>(item_size, src, dst) },
        #[cfg(target_arch = "x86_64")]
        cpu::Isa::Sse2 => sse2::bitunshuffle(item_size, src, dst),
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        cpu::Isa::Neon => neon::bitunshuffle(item_size, src, dst),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        cpu::Isa::Simd128 => simd128::bitunshuffle(item_size, src, dst),
        _ => scalar::bitunshuffle(item_size, src, dst),
    }
}

/// Whole groups of eight items in `len` bytes: the length of a row.
fn columns(item_size: usize, len: usize) -> usize {
    len.checked_div(item_size).unwrap_or(0) / 8
}

/// Copies what is not transposed; returns what is: as many bytes of either, whole groups.
fn copy_rest<'a>(item_size: usize, src: &'a [u8], dst: &'a mut [u8]) -> (&'a [u8], &'a mut [u8]) {
    let len = src.len().min(dst.len());
    let whole = columns(item_size, len) * 8 * item_size;
    let (src, src_rest) = src.split_at(whole);
    let (dst, dst_rest) = dst.split_at_mut(whole);
    for (to, from) in dst_rest.iter_mut().zip(src_rest) {
        *to = *from;
    }
    (src, dst)
}
