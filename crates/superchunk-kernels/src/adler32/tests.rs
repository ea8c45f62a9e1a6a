use alloc::vec::Vec;

use super::*;

/// The definition of the RFC.
fn naive(before: u32, src: &[u8]) -> u32 {
    let (mut a, mut b) = (before & 0xffff, before >> 16);
    for &byte in src {
        a = (a + u32::from(byte)) % MODULUS;
        b = (b + a) % MODULUS;
    }
    (b << 16) | a
}

type Kernel = fn(u32, &[u8]) -> u32;

/// Every kernel that this machine can run.
fn kernels() -> Vec<(&'static str, Kernel)> {
    let mut kernels: Vec<(&str, Kernel)> =
        alloc::vec![("chosen", adler32), ("scalar", scalar::adler32)];
    #[cfg(target_arch = "x86_64")]
    {
        kernels.push(("sse2", sse2::adler32));
        if isa() == Isa::Avx512 {
            // SAFETY: the machine has AVX-512 with VNNI.
            kernels.push(("avx512", |before, src| unsafe { avx512::adler32(before, src) }));
        }
        if isa().has_avx2() {
            // SAFETY: the machine has AVX2.
            kernels.push(("avx2", |before, src| unsafe { avx2::adler32(before, src) }));
        }
    }
    kernels
}

#[test]
fn known_sums() {
    for (name, kernel) in kernels() {
        assert_eq!(kernel(1, b""), 1, "{name}");
        assert_eq!(kernel(1, b"a"), 0x0062_0062, "{name}");
        assert_eq!(kernel(1, b"Wikipedia"), 0x11e6_0398, "{name}");
    }
}

#[test]
fn kernels_equal_the_definition_at_every_length() {
    let bytes: Vec<u8> = (0..30_000_u32).map(|i| (i * i / 7 % 256).to_le_bytes()[0]).collect();
    let largest = [255; 30_000];
    for (name, kernel) in kernels() {
        for len in (0..300).chain((5480..5620).step_by(3)).chain([11_103, 11_104, 29_999]) {
            for before in [1, 0, 0xfff0_fff0, 0x1234_5678] {
                for src in [&bytes, &largest[..]] {
                    let expected = naive(before, &src[..len]);
                    assert_eq!(kernel(before, &src[..len]), expected, "{name}, {len} bytes");
                }
            }
        }
    }
}

#[test]
fn a_sum_goes_on_where_another_ended() {
    let bytes: Vec<u8> = (0..9000_u32).map(|i| (i * 31 % 251).to_le_bytes()[0]).collect();
    for cut in (0..9000).step_by(97) {
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(adler32(adler32(1, head), tail), naive(1, &bytes));
    }
}
