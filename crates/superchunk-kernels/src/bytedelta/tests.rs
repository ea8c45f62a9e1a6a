//! Every instruction set against the scalar definition, and that against the formula.

use alloc::vec;
use alloc::vec::Vec;

use super::*;

fn noise(len: usize) -> Vec<u8> {
    (3_u32..).take(len).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
}

/// `v[i] - v[i - 1]` inside each channel; `restart` says whether the byte at a place of a channel
/// of `m` forgets the one before.
fn by_formula(channels: usize, src: &[u8], restart: impl Fn(usize, usize) -> bool) -> Vec<u8> {
    let m = src.len().checked_div(channels).unwrap_or(0);
    let mut out = src.to_vec();
    for channel in 0..channels {
        for i in (1..m).filter(|&i| !restart(i, m)) {
            let at = channel * m + i;
            out[at] = src[at].wrapping_sub(src[at - 1]);
        }
    }
    out
}

#[test]
fn differences_follow_the_formula_and_sums_undo_them() {
    for channels in (0..20).chain([64, 255]) {
        for len in (0..300).chain([4096, 5003]) {
            let buffer = noise(len + 1);
            let src = &buffer[1..];
            let mut out = vec![0xa5; len];
            encode(channels, src, &mut out);
            assert_eq!(out, by_formula(channels, src, |_, _| false), "{channels} in {len}");
            let mut back = vec![0xa5; len];
            decode(channels, &out, &mut back);
            assert_eq!(back, src, "{channels} in {len}");
        }
    }
}

#[test]
fn the_older_filter_restarts_behind_the_last_whole_register() {
    for channels in (0..20).chain([64, 255]) {
        for len in (0..300).chain([4096, 5003]) {
            let src = noise(len);
            let encoded = by_formula(channels, &src, |i, m| m >= 16 && i == m - m % 16);
            let mut back = vec![0xa5; len];
            decode_restarting(channels, &encoded, &mut back);
            assert_eq!(back, src, "{channels} in {len}");
        }
    }
}

#[test]
fn every_instruction_set_sums_alike() {
    let best = isa();
    let mut sets = vec![Isa::Scalar, best];
    if best.has_avx2() {
        sets.push(Isa::Sse2);
    }
    let bytes = noise(5000);
    for set in sets {
        for len in (0..300).chain([4999]) {
            let src = &bytes[1..1 + len];
            let sums: Vec<u8> = src
                .iter()
                .scan(0_u32, |sum, &byte| {
                    *sum += u32::from(byte);
                    Some(sum.to_le_bytes()[0])
                })
                .collect();
            let mut out = vec![0xa5; len];
            // SAFETY: the list holds only what this machine has.
            unsafe { running_sum(set, src, &mut out) };
            assert_eq!(out, sums, "{set:?}, {len} bytes");
        }
    }
}

#[test]
fn lengths_that_differ_stop_at_the_shorter() {
    let mut out = [9; 4];
    encode(2, &[1, 3, 5, 6, 7, 8], &mut out);
    assert_eq!(out, [1, 2, 5, 1]);
    let mut out = [9; 6];
    decode(2, &[1, 2, 5, 1], &mut out);
    assert_eq!(out, [1, 3, 5, 6, 9, 9]);
}
