//! Every instruction set against the scalar definition, and that against the formula.

use alloc::vec;
use alloc::vec::Vec;

use super::*;

/// The instruction sets of this machine, the least first.
fn available() -> Vec<Isa> {
    [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon, Isa::Simd128]
        .into_iter()
        .filter(|&other| {
            let best = isa();
            let wide = best.has_avx2();
            other == Isa::Scalar || other == best || (wide && other < best)
        })
        .collect()
}

/// Bytes without a pattern that a wrong transposition could keep.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// `out[b * m + e] = in[e * k + b]`, and the tail in place.
fn by_formula(k: usize, src: &[u8]) -> Vec<u8> {
    let mut out = src.to_vec();
    let m = src.len().checked_div(k).unwrap_or(0);
    for e in 0..m {
        for b in 0..k {
            out[b * m + e] = src[e * k + b];
        }
    }
    out
}

/// Both directions with every instruction set, between slices that start `skew` bytes into a
/// buffer and are followed by bytes that must survive.
fn check(k: usize, len: usize, skew: usize) {
    let buffer = noise(len + skew);
    let src = &buffer[skew..];
    let planes = by_formula(k, src);
    let whole = len - len % k;
    let m = whole / k;
    for isa in available() {
        let mut out = vec![0xa5; skew + len + 40];
        // SAFETY: `available` lists what this machine has.
        unsafe { items_to_planes(isa, k, &src[..whole], &mut out[skew..skew + whole]) };
        assert_eq!(&out[skew..skew + whole], &planes[..whole], "{isa:?} shuffle {k} of {len}");
        assert!(out[..skew].iter().chain(&out[skew + whole..]).all(|&byte| byte == 0xa5));

        out.fill(0xa5);
        // SAFETY: as above.
        unsafe {
            let planes = Planes::even(&planes[..whole], m);
            planes_to_items(isa, planes, &mut out[skew..skew + whole]);
        }
        assert_eq!(&out[skew..skew + whole], &src[..whole], "{isa:?} unshuffle {k} of {len}");
        assert!(out[..skew].iter().chain(&out[skew + whole..]).all(|&byte| byte == 0xa5));

        out.fill(0xa5);
        let apart: Vec<Vec<u8>> = planes[..whole]
            .chunks_exact(m.max(1))
            .enumerate()
            .map(|(b, plane)| [plane, &vec![7; b % 5]].concat())
            .collect();
        let apart: Vec<&[u8]> = apart.iter().map(Vec::as_slice).collect();
        // SAFETY: as above.
        unsafe { planes_to_items(isa, Planes::apart(&apart, m), &mut out[skew..]) };
        assert_eq!(&out[skew..skew + whole], &src[..whole], "{isa:?} planes {k} of {len}");
        assert!(out[..skew].iter().chain(&out[skew + whole..]).all(|&byte| byte == 0xa5));
    }
}

#[test]
fn past_the_caches_the_same_bytes_are_written() {
    for k in (1..=9).chain([16, 17, 32]) {
        for items in [1, 31, 32, 63, 64, 65, 72, 96, 100, 128, 129, 4096, 8200] {
            let src = noise(k * items + k / 2);
            let planes = by_formula(k, &src);
            let apart: Vec<&[u8]> = planes[..k * items].chunks_exact(items).collect();
            for skew in [0, 1, 8, 16, 24] {
                let mut out = vec![0xa5; src.len() + 64];
                let start = out.as_ptr().align_offset(16) + skew;
                let dst = &mut out[start..start + src.len()];
                unshuffle_far(k, &planes, dst);
                assert!(dst == src, "{items} items of {k}, {skew} bytes off");
                dst.fill(0xa5);
                unshuffle_planes_far(&apart, dst);
                assert!(dst[..k * items] == src[..k * items], "{items} planes of {k}, {skew}");
                assert!(dst[k * items..].iter().all(|&byte| byte == 0xa5));
                out.drain(start..start + src.len());
                assert!(out.iter().all(|&byte| byte == 0xa5), "{items} items of {k}, {skew}");
            }
        }
    }
}

#[test]
fn example_of_the_format() {
    let src: Vec<u8> = (0x01..=0x13).collect();
    let planes = [
        0x01, 0x03, 0x05, 0x07, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x02, 0x04, 0x06, 0x08, 0x0a, 0x0c,
        0x0e, 0x10, 0x12, 0x13,
    ];
    let mut out = [0; 19];
    shuffle(2, &src, &mut out);
    assert_eq!(out, planes);
    let mut back = [0; 19];
    unshuffle(2, &planes, &mut back);
    assert_eq!(back, src[..]);
}

#[test]
fn all_short_lengths_and_item_sizes() {
    for k in (1..=32).chain([33, 47, 63, 64, 65, 100, 127, 128, 255, 256, 299]) {
        for len in 0..300 {
            check(k, len, len % 3);
        }
    }
}

#[test]
fn many_items_of_every_size() {
    for k in (1..=32).chain([33, 40, 48, 63, 64, 65, 96, 127, 128, 200, 255, 256, 300]) {
        for items in [15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 79, 95, 97, 129, 257] {
            check(k, items * k + items % k, items % 17);
        }
    }
}

#[test]
fn planes_that_collide_in_the_cache() {
    for k in [2, 4, 7, 8, 12, 16, 17, 24, 32, 40] {
        for items in [4095, 4096, 4097, 8192, 8193] {
            check(k, items * k, items % 2);
        }
    }
}

#[test]
fn huge_items() {
    for (k, items) in [(1 << 20, 1), ((1 << 20) - 1, 3), (70_001, 33), (4096, 65)] {
        check(k, items * k + 5, 1);
    }
}

#[test]
fn lengths_that_differ_stop_at_the_shorter() {
    let src = noise(1000);
    for (k, room) in [(4, 333), (16, 999), (7, 6), (0, 10), (1, 10), (2000, 900)] {
        let mut out = vec![0xa5; room];
        shuffle(k, &src, &mut out);
        let m = room.checked_div(k).unwrap_or(0);
        let expected =
            if k < 2 || m == 0 { src[..room].to_vec() } else { by_formula(k, &src[..room]) };
        assert_eq!(out, expected, "{k}");
        let mut back = vec![0xa5; 1000];
        unshuffle(k, &out, &mut back);
        assert_eq!(&back[..room], &src[..room], "{k}");
        assert!(back[room..].iter().all(|&byte| byte == 0xa5));
    }
}

#[test]
fn planes_are_bounded_by_the_shortest_and_by_the_room() {
    let bytes = noise(600);
    let planes: [&[u8]; 3] = [&bytes[..200], &bytes[200..290], &bytes[300..500]];
    for (room, items) in [(600, 90), (270, 90), (269, 89), (100, 33), (2, 0), (0, 0)] {
        let mut out = vec![0xa5; room];
        unshuffle_planes(&planes, &mut out);
        for (at, &byte) in out.iter().enumerate() {
            let expected = if at < 3 * items { planes[at % 3][at / 3] } else { 0xa5 };
            assert_eq!(byte, expected, "byte {at} of {room}");
        }
    }
    unshuffle_planes(&[], &mut [1, 2, 3]);
    let mut single = [0; 4];
    unshuffle_planes(&[&[1, 2, 3]], &mut single);
    assert_eq!(single, [1, 2, 3, 0]);
}
