//! The parse that knows nothing but runs of one byte.

use crate::common::common_length;
use crate::copy::load_4;
use crate::deflate::finder::MARGIN;
use crate::deflate::segment::Segment;

/// Longer runs are cut, so that counts stay small.
const MAX_RUN: usize = 1 << 28;

/// Parses the next segment.
pub(super) fn parse(segment: &mut Segment<'_>) {
    let src = segment.src;
    let base = src.as_ptr();
    let last_begin = src.len().saturating_sub(MARGIN);
    let mut at = segment.end.max(1);
    while at < segment.until.min(last_begin) {
        // SAFETY: `1 <= at < last_begin`, so 4 bytes follow, and one lies before; a match begins
        // where the last one ended, or later.
        unsafe {
            let difference = load_4(base.add(at)) ^ load_4(base.add(at - 1));
            if difference != 0 {
                // No run of 4 begins before the last byte that differs, nor with it.
                at += 4 - (difference.leading_zeros() / 8) as usize;
                continue;
            }
            let limit = src.len().min(at + MAX_RUN);
            let length = 4 + common_length(base, at + 4, 1, limit);
            segment.push(at, length, 1);
            at += length;
        }
    }
    segment.finish(if at >= last_begin { src.len() } else { at });
}
