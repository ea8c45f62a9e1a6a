//! The description of codes: the weight of each byte but the last, FSE-coded or 4 bits each.
//!
//! ```text
//! ┌ n < 128 ┬ shares, states: n bytes ┐      ┌ 127 + weights ┬ two weights a byte ┐
//! ```
//!
//! A weight is 0 for no code, or one more than the code is shorter than the longest one. Of the
//! last byte that occurs the weight follows from the others.

#![expect(clippy::indexing_slicing, reason = "a weight is below 12, and positions below lengths")]

use crate::zstd::encode::bits::Unchecked;
use crate::zstd::encode::fse::{Coder, SYMBOLS, Shares, Table};
use crate::zstd::encode::huffman::Codes;

/// A description is never longer: 1 byte, then at most 127.
const LONGEST: usize = 128;

/// The finest division that weights may be coded with.
const WEIGHT_LOG: u32 = 6;

/// Writes the description of `codes`; `None` if it does not fit (or cannot be made).
pub(in crate::zstd::encode) fn describe(codes: &Codes, dst: &mut [u8]) -> Option<usize> {
    let last = codes.lengths.iter().rposition(|&length| length > 0)?;
    let mut weights = [0_u8; 256];
    #[expect(clippy::cast_possible_truncation, reason = "at most 12")]
    let above = codes.longest as u8 + 1;
    for (weight, &length) in weights.iter_mut().zip(&codes.lengths) {
        *weight = if length == 0 { 0 } else { above - length };
    }
    let weights = &weights[..last];
    let mut counts = [0_u32; SYMBOLS];
    for (count, &number) in
        counts.iter_mut().skip(1).zip(codes.numbers[1..].iter().take(codes.longest as usize).rev())
    {
        *count = number;
    }
    counts[usize::from(above - codes.lengths[last])] -= 1;
    counts[0] = u32::try_from(last).ok()? - counts.iter().sum::<u32>();
    let mut coded = [0; LONGEST + 8];
    let plain = 1 + weights.len().div_ceil(2);
    let len = match code_weights(weights, &counts, &mut coded[1..]) {
        Some(len) if len < 128 && (1 + len < plain || weights.len() > 128) => {
            coded[0] = u8::try_from(len).ok()?;
            1 + len
        }
        _ => write_plain(weights, &mut coded)?,
    };
    dst.get_mut(..len)?.copy_from_slice(&coded[..len]);
    Some(len)
}

/// Writes weights of 4 bits each: there may be at most 128.
fn write_plain(weights: &[u8], dst: &mut [u8]) -> Option<usize> {
    if weights.len() > 128 {
        return None;
    }
    dst[0] = u8::try_from(127 + weights.len()).ok()?;
    for (place, pair) in dst[1..].iter_mut().zip(weights.chunks(2)) {
        *place = pair[0] << 4 | pair.get(1).copied().unwrap_or(0);
    }
    Some(1 + weights.len().div_ceil(2))
}

/// Writes weights, of which there are so many of each, with two coding states that take turns.
fn code_weights(weights: &[u8], counts: &[u32; SYMBOLS], dst: &mut [u8]) -> Option<usize> {
    let total = u32::try_from(weights.len()).ok()?;
    if total < 3 || counts.contains(&total) {
        return None;
    }
    let shares = Shares::of_counts(counts, total, WEIGHT_LOG);
    let begin = shares.describe(dst)?;
    let len = write_weights(&Table::new(&shares), weights, dst.get_mut(begin..)?)?;
    Some(begin + len)
}

/// Writes the weights as codes, the last first.
fn write_weights(table: &Table, weights: &[u8], dst: &mut [u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if crate::cpu::isa().has_avx2() {
        // SAFETY: AVX2 is reported only together with BMI2.
        return unsafe { write_weights_bmi2(table, weights, dst) };
    }
    write_weights_body(table, weights, dst)
}

/// # Safety
///
/// The processor has BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn write_weights_bmi2(table: &Table, weights: &[u8], dst: &mut [u8]) -> Option<usize> {
    write_weights_body(table, weights, dst)
}

#[inline(always)]
fn write_weights_body(table: &Table, weights: &[u8], dst: &mut [u8]) -> Option<usize> {
    // At most 6 bits for each of 255, and the states, the mark, a store.
    let mut room = [0_u8; 255 * 6 / 8 + 16];
    let mut out = Unchecked { at: room.as_mut_ptr(), pending: 0, count: 0 };
    let (front, last) = weights.split_at(weights.len() - 2);
    let mut this = Coder::new(table, usize::from(last[0]));
    let mut other = Coder::new(table, usize::from(last[1]));
    // SAFETY: there is room for all weights; at most 7 bits wait, and 7 weights have 42.
    let len = unsafe {
        for &weight in front.iter().rev() {
            core::mem::swap(&mut this, &mut other);
            this.put(usize::from(weight), &mut out);
            out.flush();
        }
        other.finish(&mut out);
        this.finish(&mut out);
        out.add(1, 1);
        out.flush();
        out.at.offset_from_unsigned(room.as_ptr()) + usize::from(out.count > 0)
    };
    dst.get_mut(..len)?.copy_from_slice(&room[..len]);
    Some(len)
}
