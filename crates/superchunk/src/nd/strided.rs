//! Copying boxes between buffers: the one loop under reading, writing, packing and transposing.

use std::ops::Range;

use superchunk_kernels::boxes::{Rows, copy_rows, join_rows_far};

use crate::error::{Error, MustGet, OrBug, Result};

/// Along a single axis, so many rows ahead are asked for.
const ROWS_AHEAD: usize = 8;

/// One axis of a box: how many items, and how far apart they are in either buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) count: usize,
    pub(crate) src: usize,
    pub(crate) dst: usize,
}

/// A box, reduced to the fewest axes that say the same, the innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copy {
    axes: Vec<Axis>,
    /// The bytes that lie together in both buffers.
    run: usize,
}

impl Copy {
    /// Axes of one item are dropped, and neighbours that lie as one axis are joined.
    pub(crate) fn new(axes: impl IntoIterator<Item = Axis>, item_size: usize) -> Self {
        let mut copy = Self { axes: Vec::new(), run: item_size };
        copy.set(axes, item_size);
        copy
    }

    /// The same for another box, with the memory of this one.
    pub(crate) fn set(&mut self, axes: impl IntoIterator<Item = Axis>, item_size: usize) {
        self.axes.clear();
        self.run = item_size;
        for axis in axes {
            if axis.count == 1 {
                continue;
            }
            match self.axes.last_mut() {
                Some(outer)
                    if outer.src == axis.src.saturating_mul(axis.count)
                        && outer.dst == axis.dst.saturating_mul(axis.count) =>
                {
                    *outer = Axis { count: outer.count.saturating_mul(axis.count), ..axis };
                }
                _ => self.axes.push(axis),
            }
        }
        if let Some(Axis { count, src, dst }) = self.axes.last().copied()
            && src == item_size
            && dst == item_size
        {
            self.run = count.saturating_mul(item_size);
            self.axes.pop();
        }
    }

    /// The bytes of a box that lies in one piece in both buffers.
    pub(crate) fn whole(&self) -> Option<usize> {
        self.axes.is_empty().then_some(self.run)
    }

    /// Copies the box from `src` at `from` to `dst` at `to`.
    pub(crate) fn run(&self, src: &[u8], from: usize, dst: &mut [u8], to: usize) -> Result<()> {
        let ends = self.ends((from, to));
        if ends.is_none_or(|(read, written)| read > src.len() || written > dst.len()) {
            return Err(Error::bug("a box lies inside of both buffers"));
        }
        match self.run {
            1 => self.go::<1>(src, from, dst, to),
            2 => self.go::<2>(src, from, dst, to),
            4 => self.go::<4>(src, from, dst, to),
            8 => self.go::<8>(src, from, dst, to),
            16 => self.go::<16>(src, from, dst, to),
            _ => self.go_rows(src, from, dst, to),
        }
    }

    /// Where the last runs end that are read and written; `None` where no memory reaches so far.
    fn ends(&self, begin: (usize, usize)) -> Option<(usize, usize)> {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Some((0, 0));
        }
        let first = (begin.0.checked_add(self.run)?, begin.1.checked_add(self.run)?);
        self.axes.iter().try_fold(first, |(read, written), axis| {
            let steps = axis.count - 1;
            let read = read.checked_add(axis.src.checked_mul(steps)?)?;
            Some((read, written.checked_add(axis.dst.checked_mul(steps)?)?))
        })
    }

    /// Copies boxes that are like this one and come to lie side by side from `to` on, past the caches. `pieces` are the first
    /// runs of the boxes in `src`.
    pub(crate) fn join_far(
        &self,
        pieces: &[Range<usize>],
        src: &[u8],
        dst: &mut [u8],
        to: usize,
    ) -> Result<()> {
        let row = pieces.iter().map(Range::len).sum::<usize>();
        let last = pieces.iter().map(|piece| piece.end).max();
        let begin = (last.map_or(0, |end| end.saturating_sub(self.run)), to);
        let fits = |(read, written): (usize, usize)| {
            read <= src.len() && written - self.run.min(written) + row <= dst.len()
        };
        if !self.ends(begin).is_some_and(fits) {
            return Err(Error::bug("boxes lie inside of both buffers"));
        }
        self.each_inner((0, to), |rows, from, to| {
            join_rows_far(rows, pieces, src.must_get(from..)?, dst.must_get_mut(to..)?);
            Ok(())
        })
    }

    /// Whether another box differs in nothing but the length of its runs.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.axes == other.axes
    }

    /// The bytes that lie together in both buffers.
    pub(crate) fn run_len(&self) -> usize {
        self.run
    }

    /// Runs of `N` bytes.
    fn go<const N: usize>(&self, src: &[u8], from: usize, dst: &mut [u8], to: usize) -> Result<()> {
        self.each_inner((from, to), |rows, mut from, mut to| {
            for _ in 0..rows.count {
                copy_run::<N>(src, from, dst, to).or_bug("runs lie inside of both buffers")?;
                from += rows.src_step;
                to += rows.dst_step;
            }
            Ok(())
        })
    }

    /// Runs of any length.
    fn go_rows(&self, src: &[u8], from: usize, dst: &mut [u8], to: usize) -> Result<()> {
        let ahead = match self.axes.as_slice() {
            [.., next, _] => [next.src, next.dst],
            [only] => [only.src, only.dst].map(|step| step.saturating_mul(ROWS_AHEAD)),
            [] => [0, 0],
        };
        self.each_inner((from, to), |rows, from, to| {
            copy_rows(rows, self.run, src.must_get(from..)?, dst.must_get_mut(to..)?, ahead);
            Ok(())
        })
    }

    /// Hands on the runs along the innermost axis, and where in the buffers the first of them is, for all places along the
    /// others.
    fn each_inner(
        &self,
        (mut from, mut to): (usize, usize),
        mut work: impl FnMut(Rows, usize, usize) -> Result<()>,
    ) -> Result<()> {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return Ok(());
        }
        let Some((inner, outer)) = self.axes.split_last() else {
            return work(Rows { count: 1, src_step: 0, dst_step: 0 }, from, to);
        };
        let mut index = [0usize; 32];
        loop {
            work(Rows { count: inner.count, src_step: inner.src, dst_step: inner.dst }, from, to)?;
            let mut carry = true;
            for (axis, at) in outer.iter().zip(&mut index).rev() {
                *at += 1;
                from += axis.src;
                to += axis.dst;
                if *at < axis.count {
                    carry = false;
                    break;
                }
                *at = 0;
                from -= axis.src * axis.count;
                to -= axis.dst * axis.count;
            }
            if carry {
                return Ok(());
            }
        }
    }
}

#[inline]
fn copy_run<const N: usize>(src: &[u8], from: usize, dst: &mut [u8], to: usize) -> Option<()> {
    let run = src.get(from..)?.first_chunk::<N>()?;
    *dst.get_mut(to..)?.first_chunk_mut::<N>()? = *run;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_copied_item_by_item() {
        let src: Vec<u8> = (0..=255).collect();
        // A (3, 4) box of items of 2 bytes from rows of 16 bytes, transposed.
        let axes = [Axis { count: 3, src: 16, dst: 2 }, Axis { count: 4, src: 2, dst: 6 }];
        let copy = Copy::new(axes, 2);
        assert_eq!(copy.whole(), None);
        let mut dst = [0; 24];
        copy.run(&src, 5, &mut dst, 0).unwrap();
        for row in 0..3 {
            for column in 0..4 {
                let at = 5 + 16 * row + 2 * column;
                let got = &dst[6 * column + 2 * row..][..2];
                assert_eq!(got, &src[at..at + 2]);
            }
        }
    }

    #[test]
    fn what_lies_together_is_one_run() {
        let axes = [
            Axis { count: 2, src: 40, dst: 40 },
            Axis { count: 1, src: 7, dst: 9 },
            Axis { count: 5, src: 8, dst: 8 },
        ];
        assert_eq!(Copy::new(axes, 8).whole(), Some(80));
        let none = [Axis { count: 0, src: 8, dst: 8 }];
        let mut dst = [7; 8];
        Copy::new(none, 8).run(&[1; 8], 0, &mut dst, 0).unwrap();
        assert_eq!(dst, [7; 8]);
    }

    #[test]
    fn the_ends_of_a_box_are_those_of_its_last_run() {
        let axes = [Axis { count: 3, src: 16, dst: 2 }, Axis { count: 4, src: 2, dst: 6 }];
        let copy = Copy::new(axes, 2);
        assert_eq!(copy.ends((5, 0)), Some((5 + 2 * 16 + 3 * 2 + 2, 2 * 2 + 3 * 6 + 2)));
        assert_eq!(copy.ends((usize::MAX - 30, 0)), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "inside of both buffers")]
    fn a_box_that_leaves_a_buffer_is_a_bug() {
        let axes = [Axis { count: 3, src: 16, dst: 2 }];
        drop(Copy::new(axes, 2).run(&[0; 33], 0, &mut [0; 6], 0));
    }
}
