//! The bytes of a file of objects that belong to none of them.
//!
//! ```text
//! │ offsets │ −1 … │ dead │ object │ digest │ zeros │ dead │ object │ …
//!            room for       present           reserve  former places
//!            offsets        place                      of the next object
//! ```
//!
//! A chunk never begins with a zero, and an object only ever moves towards the end of the file. The
//! zeros that follow an object are therefore bytes that no object was ever in.

use std::ops::Range;

use crate::container::Space;
use crate::error::{MustGet, Result};
use crate::store::ReadAt;

/// The bytes of one read.
const PIECE: usize = 64 * 1024;
/// The most bytes that are searched for the end of reserves. What is not searched counts as
/// reserve.
const MOST_SEARCHED: u64 = 1 << 30;

/// Returns the number of zero bytes at the start of `range`.
pub(super) fn zeros(store: &dyn ReadAt, range: Range<u64>) -> Result<u64> {
    let mut piece = vec![0; PIECE.min(len_of(&range))];
    let mut at = range.start;
    while at < range.end {
        let len = len_of(&(at..range.end)).min(piece.len());
        let found = store.read_at(at, piece.must_get_mut(..len)?)?;
        let other = piece.iter().take(found).position(|byte| *byte != 0);
        at += other.unwrap_or(found) as u64;
        if other.is_some() || found == 0 {
            break;
        }
    }
    Ok(at - range.start)
}

/// Returns the bytes at the start of `range` that are left for offsets: each of them is −1, or 0.
pub(super) fn room_for_offsets(store: &dyn ReadAt, range: Range<u64>) -> Result<u64> {
    let mut ahead = super::ahead::Ahead::new(store);
    let mut at = range.start;
    while at + super::offsets::WIDTH <= range.end {
        match ahead.array(at)?.map(i64::from_le_bytes) {
            Some(-1 | 0) => at += super::offsets::WIDTH,
            _ => break,
        }
    }
    Ok(at - range.start)
}

/// Looks at all bytes between objects, of which each range is one with its digest, and at those
/// before the first one and after the offsets, and at those up to the end of the file.
pub(super) fn measure(
    store: &dyn ReadAt,
    offsets_end: u64,
    objects: impl Iterator<Item = Result<Range<u64>>>,
    file_end: u64,
) -> Result<Space> {
    let mut space = Space::default();
    let mut left = MOST_SEARCHED;
    let mut end = None;
    let mut add = |gap: Range<u64>, space: &mut Space, is_first: bool| -> Result<()> {
        let searched = gap.start..gap.end.min(gap.start.saturating_add(left));
        let len = gap.end.saturating_sub(gap.start);
        let unused = match is_first {
            true => room_for_offsets(store, searched.clone())?,
            false => zeros(store, searched.clone())?,
        };
        left = left.saturating_sub(unused);
        let is_cut = searched.end < gap.end && searched.start + unused >= searched.end;
        space.dead += if is_cut { 0 } else { len.saturating_sub(unused) };
        space.free += if is_first { len.saturating_sub(unused) } else { len };
        Ok(())
    };
    for object in objects {
        let object = object?;
        add(end.unwrap_or(offsets_end)..object.start, &mut space, end.is_none())?;
        space.live += object.end.saturating_sub(object.start);
        end = Some(object.end);
    }
    if let Some(end) = end {
        add(end..file_end, &mut space, false)?;
    }
    Ok(space)
}

fn len_of(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Bytes;

    #[test]
    fn zeros_end_at_the_first_other_byte_and_at_the_end_of_the_range() {
        let mut bytes = vec![0; 3 * PIECE];
        bytes[2 * PIECE + 5] = 1;
        let store = Bytes::new(bytes);
        let count = |range: Range<u64>| zeros(&store, range).unwrap();
        let piece = PIECE as u64;
        assert_eq!(count(0..3 * piece), 2 * piece + 5);
        assert_eq!(count(7..9), 2);
        assert_eq!(count(2 * piece + 5..3 * piece), 0);
        assert_eq!(count(3 * piece - 2..4 * piece), 2);
        assert_eq!(count(4..4), 0);
    }

    #[test]
    fn what_is_no_object_is_room_for_offsets_reserve_or_dead() {
        // Two offsets and room for two more; a former place; an object; a reserve; a former place; an
        // object; a reserve.
        let parts: [&[u8]; 8] =
            [&[9; 16], &[0xff; 16], &[2; 10], &[2; 7], &[0; 5], &[2, 0, 0], &[2; 4], &[0; 6]];
        let store = Bytes::new(parts.concat());
        let objects = [Ok(42..49), Ok(57..61)];
        let space = measure(&store, 16, objects.into_iter(), 67).unwrap();
        assert_eq!(space, Space { live: 11, free: 10 + 5 + 3 + 6, dead: 10 + 3 });
    }
}
