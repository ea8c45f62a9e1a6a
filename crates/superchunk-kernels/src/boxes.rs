//! Rows of boxes: what a part of an array is in memory.
//!
//! The rows of a box lie apart, and what lies between them belongs to others, so that every row begins where the
//! processor has not been and does not expect to be. Two ways around that:
//!
//! - the rows to come are asked for while others are copied;
//! - where the output is too large for the caches, rows that go side by side are put together first, and then written
//!   past them, line by line:
//!
//! ```text
//!  block 0   ┌ row 0 ┐┌ row 1 ┐ …          ┌ row 0 of all blocks ┐  … other rows of the array …
//!  block 1   ┌ row 0 ┐┌ row 1 ┐ …    →     ┌ row 1 of all blocks ┐
//! ```

use core::ops::Range;

use crate::far;

/// The longest rows that are put together.
pub const LONGEST_JOINED: usize = 4096;

/// As much of a row is asked for in advance: by then the processor expects the rest.
const ASKED_FOR: usize = 256;

/// Rows that lie apart in two buffers, both of which begin with the first row.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// How many.
    pub count: usize,
    /// How far apart they begin.
    pub src_step: usize,
    /// The same in the destination.
    pub dst_step: usize,
}

impl Rows {
    /// Whether the last row, of `len` bytes, ends inside of a buffer of `room` bytes.
    fn fit(&self, step: usize, len: usize, room: usize) -> bool {
        let last = self.count.saturating_sub(1).checked_mul(step);
        last.and_then(|last| last.checked_add(len)).is_some_and(|end| end <= room)
    }
}

/// Copies rows of `len` bytes. `ahead` tells how far behind a row the one lies that will be copied somewhat later, in `src` and in `dst`:
/// it is asked for, whether it is there or not. Where not all rows fit, none is copied.
pub fn copy_rows(rows: Rows, len: usize, src: &[u8], dst: &mut [u8], ahead: [usize; 2]) {
    if rows.count == 0
        || !rows.fit(rows.src_step, len, src.len())
        || !rows.fit(rows.dst_step, len, dst.len())
    {
        return;
    }
    let [src_ahead, dst_ahead] = ahead;
    for row in 0..rows.count {
        // SAFETY: the last row fits both buffers, so each one does. They do not overlap, as one is borrowed mutably.
        unsafe {
            let from = src.as_ptr().add(row * rows.src_step);
            let to = dst.as_mut_ptr().add(row * rows.dst_step);
            ask_for(from.wrapping_add(src_ahead), len);
            ask_for(to.wrapping_add(dst_ahead), len);
            from.copy_to_nonoverlapping(to, len);
        }
    }
}

/// Puts every row together from `pieces`, which are those of the first row in `src`, and writes it past the caches where the machine
/// can. Where not all rows fit, or a row is longer than [`LONGEST_JOINED`], none is written.
pub fn join_rows_far(rows: Rows, pieces: &[Range<usize>], src: &[u8], dst: &mut [u8]) {
    let mut row = [0; LONGEST_JOINED];
    let len = pieces.iter().fold(0, |len: usize, piece| len.saturating_add(piece.len()));
    let inside = |piece: &Range<usize>| rows.fit(rows.src_step, piece.end, src.len());
    if len > row.len() || !pieces.iter().all(inside) || !rows.fit(rows.dst_step, len, dst.len()) {
        return;
    }
    for number in 0..rows.count {
        let mut joined = 0;
        for piece in pieces {
            // SAFETY: each piece of the last row is inside of `src`, so those of every row are; together they fit `row`.
            unsafe {
                let from = src.as_ptr().add(number * rows.src_step + piece.start);
                from.copy_to_nonoverlapping(row.as_mut_ptr().add(joined), piece.len());
            }
            joined += piece.len();
        }
        // SAFETY: the last row fits `dst`, so each one does, and `row` is no part of it.
        unsafe { far::copy(row.as_ptr(), dst.as_mut_ptr().add(number * rows.dst_step), len) };
    }
    far::fence();
}

fn ask_for(row: *const u8, len: usize) {
    for line in (0..len.min(ASKED_FOR)).step_by(far::LINE) {
        far::prefetch(row.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    fn numbers(len: u32) -> Vec<u8> {
        (0..len).map(|i| (i * 37 % 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn rows_arrive_and_nothing_between_them_is_touched() {
        let src = numbers(5000);
        for (count, len, src_step, dst_step) in
            [(5, 128, 300, 700), (1, 77, 0, 0), (9, 3, 4, 64), (3, 300, 300, 300), (4, 0, 9, 9)]
        {
            for ahead in [[0, 0], [100, 9000]] {
                let mut dst = vec![0xa5; 4000];
                copy_rows(Rows { count, src_step, dst_step }, len, &src, &mut dst, ahead);
                let mut wanted = vec![0xa5; 4000];
                for row in 0..count {
                    wanted[row * dst_step..][..len].copy_from_slice(&src[row * src_step..][..len]);
                }
                assert!(dst == wanted, "{count} rows of {len}");
            }
        }
    }

    #[test]
    fn pieces_of_a_row_come_to_lie_side_by_side() {
        let src = numbers(9000);
        for skew in [0, 1, 16, 63] {
            let pieces = [40..168, 2000..2128, 4100..4109];
            let rows = Rows { count: 7, src_step: 128, dst_step: 600 };
            let mut dst = vec![0xa5; 5000];
            join_rows_far(rows, &pieces, &src, &mut dst[skew..]);
            let mut wanted = vec![0xa5; 5000];
            for row in 0..7 {
                let joined: Vec<u8> = pieces
                    .iter()
                    .flat_map(|piece| &src[piece.start + row * 128..piece.end + row * 128])
                    .copied()
                    .collect();
                wanted[skew + row * 600..][..joined.len()].copy_from_slice(&joined);
            }
            assert!(dst == wanted, "at {skew}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_alone() {
        let src = numbers(1000);
        let mut dst = [7; 1000];
        let mut refused = |count, src_step, dst_step, len| {
            copy_rows(Rows { count, src_step, dst_step }, len, &src, &mut dst, [0, 0]);
            join_rows_far(
                Rows { count, src_step, dst_step },
                &[0..len / 2, 0..len / 2],
                &src,
                &mut dst,
            );
            assert_eq!(dst, [7; 1000]);
        };
        refused(2, 1000, 0, 2);
        refused(2, 0, 999, 2);
        refused(3, usize::MAX, 1, 2);
        refused(3, 1, usize::MAX / 2 + 1, 2);
        refused(0, 1, 1, 2);
        let mut dst = vec![7; 2 * LONGEST_JOINED];
        let long = numbers(4096);
        let rows = Rows { count: 1, src_step: 0, dst_step: 0 };
        join_rows_far(rows, &[0..4096, 0..1], &long, &mut dst);
        assert!(dst.iter().all(|byte| *byte == 7));
    }
}
