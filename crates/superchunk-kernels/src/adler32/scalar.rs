//! The definition, with the reduction put off as long as possible.

use super::MODULUS;

/// So many bytes of 255 make `b` at most `255 * n * (n + 1) / 2 + (n + 1) * 65520 < 2^32`.
const MOST: usize = 5552;

/// See [`super::adler32`].
pub(super) fn adler32(before: u32, src: &[u8]) -> u32 {
    let (mut a, mut b) = (before & 0xffff, before >> 16);
    for piece in src.chunks(MOST) {
        for &byte in piece {
            a += u32::from(byte);
            b += a;
        }
        (a, b) = (a % MODULUS, b % MODULUS);
    }
    (b << 16) | a
}
