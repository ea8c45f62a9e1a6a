//! Where the trailers of a frame are: every commit leaves one behind.

use std::collections::VecDeque;
use std::ops::Range;

use super::input::Input;
use crate::frame::remains::{LEAST_VALUES, TRAILER_START, trailer_len};

/// How far the end of a trailer is looked for, for all of them together.
const FAR: u64 = 1 << 26;
/// How many are kept: those of the last commits.
const MOST: usize = 1 << 12;

/// Where trailers are: from their first byte to the end of the last, or of the part that is left.
pub(super) fn trailers(input: &mut Input<'_>) -> Vec<Range<u64>> {
    let (mut found, mut from, mut budget) = (VecDeque::new(), 0, FAR);
    while let Some(at) = input.position_of(from..input.len(), |start| *start == TRAILER_START) {
        let end = trailer_end(input, at, &mut budget);
        found.push_back(at..end.unwrap_or(at));
        if found.len() > MOST {
            found.pop_front();
        }
        from = end.unwrap_or(at + 1);
    }
    found.into()
}

fn trailer_end(input: &mut Input<'_>, at: u64, budget: &mut u64) -> Option<u64> {
    let end = at.saturating_add(*budget).min(input.len());
    let mut from = at + LEAST_VALUES;
    let mut len = None;
    while from < end && len.is_none() {
        let ahead = input.ahead(from, 6);
        let mut places = ahead.windows(6).zip(from - at..end - at);
        len = places.find_map(|(place, before)| trailer_len(before, place.first_chunk()?));
        // The last bytes may be the first ones of the end.
        from += ahead.len().saturating_sub(5).max(1) as u64;
    }
    let end = len.and_then(|len| Some(at + len).filter(|end| *end <= input.len()));
    *budget -= end.map_or((*budget).min(input.len() - at), |end| (end - at).min(*budget));
    end
}
