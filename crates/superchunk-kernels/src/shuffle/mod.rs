//! Shuffle: transposes items into byte planes, and back.
//!
//! Of `m` items of `k` bytes, byte `b` of item `e` goes from `e * k + b` to `b * m + e`. Bytes of
//! one kind (all exponents, all low bytes) then stand together, and codecs find more repetition.
//! What is left behind the last whole item stays where it is.
//!
//! ```text
//! items   a0 a1 a2  b0 b1 b2  c0 c1 c2  t
//! planes  a0 b0 c0  a1 b1 c1  a2 b2 c2  t
//! ```
//!
//! `scalar.rs` is the definition. `forward.rs` and `backward.rs` do the same over any registers of
//! 16-byte lanes (`vector.rs`), which the file of each instruction set supplies.

#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(
        dead_code,
        unused_unsafe,
        unused_variables,
        reason = "without 16-byte registers only the scalar definition is used"
    )
)]

mod backward;
mod forward;
mod planes;
mod scalar;
mod tiles;
mod vector;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

use backward::Backward;
use forward::Forward;
use planes::Planes;
use tiles::{LINE, collide};
use vector::Vector;

use crate::cpu::{Isa, isa};

/// Items of `item_size` bytes in `src` to planes in `dst`.
///
/// Works on the length that `src` and `dst` have in common. Bytes behind the last whole item are
/// copied; so is everything when `item_size` is 0, 1 or more than the length.
pub fn shuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_what_stays(item_size, src, dst);
    // SAFETY: `isa` names only what this machine has.
    unsafe { items_to_planes(isa(), item_size, src, dst) }
}

/// Planes in `src` to items of `item_size` bytes in `dst`: the inverse of [`shuffle`].
pub fn unshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_what_stays(item_size, src, dst);
    let len = src.len().checked_div(item_size).unwrap_or(0);
    // SAFETY: `isa` names only what this machine has.
    unsafe { planes_to_items(isa(), Planes::even(src, len), dst) }
}

/// Planes that may lie anywhere to items of `planes.len()` bytes in `dst`.
///
/// As many items are written as the shortest plane has bytes and `dst` has room for; the rest of
/// `dst` is left alone.
pub fn unshuffle_planes(planes: &[&[u8]], dst: &mut [u8]) {
    let room = dst.len().checked_div(planes.len()).unwrap_or(0);
    let planes = Planes::apart(planes, room);
    // SAFETY: `isa` names only what this machine has.
    unsafe { planes_to_items(isa(), planes, dst) }
}

/// As [`unshuffle`], for a `dst` that is one piece of an output too large for the caches: it is
/// written past them where the machine can.
pub fn unshuffle_far(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_what_stays(item_size, src, dst);
    let len = src.len().checked_div(item_size).unwrap_or(0);
    far_planes_to_items(Planes::even(src, len), dst);
}

/// As [`unshuffle_planes`], for a `dst` that is one piece of an output too large for the caches: it
/// is written past them where the machine can.
pub fn unshuffle_planes_far(planes: &[&[u8]], dst: &mut [u8]) {
    let room = dst.len().checked_div(planes.len()).unwrap_or(0);
    far_planes_to_items(Planes::apart(planes, room), dst);
}

/// Cuts both slices to the whole units of their common length, and copies what is left of it: all,
/// when `unit` is 0 or more than the length.
pub(crate) fn copy_tail<'s, 'd>(
    unit: usize,
    src: &'s [u8],
    dst: &'d mut [u8],
) -> (&'s [u8], &'d mut [u8]) {
    let len = src.len().min(dst.len());
    let whole = len - len.checked_rem(unit).unwrap_or(len);
    let (src, src_tail) = src.split_at(whole);
    let (dst, dst_tail) = dst.split_at_mut(whole);
    for (to, &byte) in dst_tail.iter_mut().zip(src_tail) {
        *to = byte;
    }
    (src, dst)
}

/// As [`copy_tail`], but items of one byte are copied as well.
fn copy_what_stays<'s, 'd>(
    item_size: usize,
    src: &'s [u8],
    dst: &'d mut [u8],
) -> (&'s [u8], &'d mut [u8]) {
    copy_tail(if item_size < 2 { 0 } else { item_size }, src, dst)
}

/// Whole items to planes with the given instruction set, or a lesser one for few items.
///
/// # Safety
/// The machine must have the instruction set.
unsafe fn items_to_planes(isa: Isa, item_size: usize, src: &[u8], dst: &mut [u8]) {
    debug_assert!(isa <= crate::cpu::isa(), "the machine does not have {isa:?}");
    let len = src.len().checked_div(item_size).unwrap_or(0);
    // SAFETY: the machine has `isa`, as `shuffle`, the only caller, passes what `cpu::isa` has
    // found. Each arm runs kernels of that set, or of a lesser one that it includes.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if avx512::items_to_planes(item_size, src, dst) => {}
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 if len >= <avx2::Avx2>::STEP => {
                forward::<avx2::Avx2>(item_size, src, dst);
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 | Isa::Sse2 if len >= sse2::Sse2::STEP => {
                forward::<sse2::Sse2>(item_size, src, dst);
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Isa::Neon if len >= neon::Neon::STEP => forward::<neon::Neon>(item_size, src, dst),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Isa::Simd128 if len >= simd128::Simd128::STEP => {
                forward::<simd128::Simd128>(item_size, src, dst);
            }
            _ => scalar::items_to_planes(item_size, src, dst),
        }
    }
}

/// Planes to whole items with the given instruction set, or a lesser one for few items.
///
/// # Safety
/// The machine must have the instruction set.
unsafe fn planes_to_items(isa: Isa, planes: Planes<'_>, dst: &mut [u8]) {
    debug_assert!(isa <= crate::cpu::isa(), "the machine does not have {isa:?}");
    let len = planes.len();
    // SAFETY: the machine has `isa`: `unshuffle`, `unshuffle_planes` and `far_planes_to_items` pass
    // what `cpu::isa` has found, `backward_far` the AVX2 that it requires. Each arm runs kernels of
    // that set, or of a lesser one that it includes.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if avx512::planes_to_items::<false>(planes, dst) => {}
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 if len >= <avx2::Avx2>::STEP => {
                backward::<avx2::Avx2>(planes, dst);
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 | Isa::Sse2 if len >= sse2::Sse2::STEP => {
                backward::<sse2::Sse2>(planes, dst);
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Isa::Neon if len >= neon::Neon::STEP => backward::<neon::Neon>(planes, dst),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Isa::Simd128 if len >= simd128::Simd128::STEP => {
                backward::<simd128::Simd128>(planes, dst);
            }
            _ => scalar::planes_to_items(planes, dst),
        }
    }
}

/// Planes to whole items past the caches, where there is a kernel that can; else as always.
fn far_planes_to_items(planes: Planes<'_>, dst: &mut [u8]) {
    let isa = isa();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `isa` names only what this machine has.
    if isa == Isa::Avx512 && unsafe { avx512::planes_to_items::<true>(planes, dst) } {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if isa.has_avx2() {
        // SAFETY: `isa` names only what this machine has.
        return unsafe { backward_far(planes, dst) };
    }
    // SAFETY: `isa` names only what this machine has.
    unsafe { planes_to_items(isa, planes, dst) }
}

/// Runs `V` on `$kernel<SIZE, WIDTH, STAGED>` with the parameters its documentation asks for.
macro_rules! run_for_item_size {
    ($vector:ident, $item_size:expr, $staged:expr, $kernel:ident $fields:tt) => {
        match ($item_size, $staged) {
            (2, _) => $vector::run($kernel::<2, 2, false> $fields),
            (3, _) => $vector::run($kernel::<3, 4, false> $fields),
            (4, _) => $vector::run($kernel::<4, 4, false> $fields),
            (5, _) => $vector::run($kernel::<5, 8, false> $fields),
            (6, _) => $vector::run($kernel::<6, 8, false> $fields),
            (7, _) => $vector::run($kernel::<7, 8, false> $fields),
            (8, false) => $vector::run($kernel::<8, 8, false> $fields),
            (8, true) => $vector::run($kernel::<8, 8, true> $fields),
            (9, _) => $vector::run($kernel::<9, 16, false> $fields),
            (10, _) => $vector::run($kernel::<10, 16, false> $fields),
            (11, _) => $vector::run($kernel::<11, 16, false> $fields),
            (12, _) => $vector::run($kernel::<12, 16, false> $fields),
            (13, _) => $vector::run($kernel::<13, 16, false> $fields),
            (14, _) => $vector::run($kernel::<14, 16, false> $fields),
            (15, _) => $vector::run($kernel::<15, 16, false> $fields),
            (16, false) => $vector::run($kernel::<16, 16, false> $fields),
            (16, true) => $vector::run($kernel::<16, 16, true> $fields),
            (_, false) => $vector::run($kernel::<0, 16, false> $fields),
            (_, true) => $vector::run($kernel::<0, 16, true> $fields),
        }
    };
}

/// Items to planes with the registers of `V`.
///
/// # Safety
/// The machine must have the instruction set of `V`.
unsafe fn forward<V: Vector>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let len = src.len().checked_div(item_size).unwrap_or(0);
    if item_size < 2 || len < V::STEP || dst.len() < item_size * len {
        return scalar::items_to_planes(item_size, src, dst);
    }
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    let staged = len >= LINE && collide(len);
    // SAFETY: both slices were just seen to hold `item_size * len` bytes, `len` to be at least a
    // step, and a line when staged. The machine has the instruction set of `V`: `items_to_planes`
    // chooses `V` by its `isa`.
    unsafe { run_for_item_size!(V, item_size, staged, Forward { item_size, len, from, to }) }
}

/// Planes to items with the registers of `V`.
///
/// # Safety
/// The machine must have the instruction set of `V`.
unsafe fn backward<V: Vector>(planes: Planes<'_>, dst: &mut [u8]) {
    let (item_size, len) = (planes.count(), planes.len());
    if item_size < 2 || len < V::STEP || dst.len() / item_size < len {
        return scalar::planes_to_items(planes, dst);
    }
    let to = dst.as_mut_ptr();
    let staged = len >= LINE && collide(planes.distance());
    // SAFETY: `dst` was just seen to hold `item_size * len` bytes, `len` to be at least a step, and
    // a line when staged. The machine has the instruction set of `V`: `planes_to_items` chooses `V`
    // by its `isa`.
    unsafe { run_for_item_size!(V, item_size, staged, Backward { planes, to }) }
}

/// As [`backward`] with AVX2, with stores past the caches where items fill their registers and `dst`
/// lies on multiples of 16.
///
/// # Safety
/// The machine must have AVX2.
#[cfg(target_arch = "x86_64")]
unsafe fn backward_far(planes: Planes<'_>, dst: &mut [u8]) {
    type Far = avx2::Avx2<true>;
    let (item_size, len) = (planes.count(), planes.len());
    let even = (item_size * len).is_multiple_of(16) && dst.as_ptr().addr().is_multiple_of(16);
    let whole = item_size.checked_mul(len).is_some_and(|size| size <= dst.len());
    if !even || !whole || len < LINE || !matches!(item_size, 2 | 4 | 8 | 16) {
        // SAFETY: the machine has AVX2: `far_planes_to_items` asks `has_avx2` of what `isa` has
        // found.
        return unsafe { planes_to_items(Isa::Avx2, planes, dst) };
    }
    let to = dst.as_mut_ptr();
    let staged = collide(planes.distance());
    // SAFETY: `dst` was just seen to hold `item_size * len` bytes, and `len` to be at least a line.
    // Steps begin at items whose number is a multiple of 32, or 32 or 64 items before the end: both
    // lie on multiples of 16, since `dst` and the end of its items do. The machine has AVX2, as
    // above. The fence lets other threads see what was written past the caches.
    unsafe {
        match (item_size, staged) {
            (2, _) => Far::run(Backward::<2, 2, false> { planes, to }),
            (4, _) => Far::run(Backward::<4, 4, false> { planes, to }),
            (8, false) => Far::run(Backward::<8, 8, false> { planes, to }),
            (8, true) => Far::run(Backward::<8, 8, true> { planes, to }),
            (_, false) => Far::run(Backward::<16, 16, false> { planes, to }),
            (_, true) => Far::run(Backward::<16, 16, true> { planes, to }),
        }
        core::arch::x86_64::_mm_sfence();
    }
}
