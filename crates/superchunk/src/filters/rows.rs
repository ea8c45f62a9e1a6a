//! A part of a shuffled block, undone alone.
//!
//! A shuffle leaves rows: one for each byte (or bit) of an item, in which all items follow each other.
//! Items side by side need bytes side by side of every row, and these columns alone are a shuffled
//! block of just those items.
//!
//! ```text
//! row 0  a0 b0 c0 d0 …      columns 1 and 2:  b0 c0      undone:  b0 b1 b2  c0 c1 c2
//! row 1  a1 b1 c1 d1 …                        b1 c1
//! row 2  a2 b2 c2 d2 …                        b2 c2
//! ```

use std::ops::Range;

use superchunk_kernels::Wanted;

use super::Reference;
use super::step::Step;
use crate::error::Result;

/// A shuffled block as rows. A column of them is as many plain bytes as there are rows.
pub(crate) struct Rows<'p> {
    step: &'p Step,
    count: usize,
    columns: usize,
}

impl<'p> Rows<'p> {
    /// The rows that `step` makes of a block of `len` bytes; `None` where it is no shuffle.
    pub(super) fn of(step: &'p Step, len: usize) -> Option<Self> {
        let count = step.rows(len)?;
        let columns = len.checked_div(count)?;
        Some(Self { step, count, columns })
    }

    /// The columns that hold the plain bytes `part`; `None` when some of these lie behind the rows.
    pub(crate) fn columns_of(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let end = part.end.div_ceil(self.count);
        (end <= self.columns).then_some(part.start / self.count..end)
    }

    /// Which bytes of each of the `streams` that the shuffled block is cut into, of `len` bytes, hold these columns; `None` when a
    /// stream has more than whole rows.
    pub(crate) fn wanted(
        &self,
        columns: &Range<usize>,
        streams: usize,
        len: usize,
    ) -> Option<Wanted> {
        let count = self.count / streams.max(1);
        let is_whole = count * streams == self.count && count * self.columns == len;
        (streams == 1 || is_whole).then_some(Wanted {
            first: columns.start,
            len: columns.len(),
            step: self.columns,
            count,
        })
    }

    /// The plain bytes of these columns.
    pub(crate) fn plain(&self, columns: &Range<usize>) -> Range<usize> {
        columns.start * self.count..columns.end * self.count
    }

    /// Undoes the shuffle of columns, given one row behind the other, into `dst`, which is as long.
    pub(crate) fn undo(&self, columns: &[u8], dst: &mut [u8]) -> Result<()> {
        self.step.backward(Reference::Itself, columns, dst)
    }
}
