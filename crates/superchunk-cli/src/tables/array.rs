//! An array as a table of one column.

use std::ops::Range;

use superchunk::table::{Column, Source};
use superchunk::{Result, bcolz, blsk};

/// The name of the only column.
pub(super) const VALUES: &str = "values";

/// An array as scans see it.
pub(super) struct ArraySource<'a> {
    array: Either<'a>,
    columns: [Column; 1],
}

enum Either<'a> {
    Bcolz(&'a bcolz::Array),
    Blsk(&'a blsk::Array),
}

impl<'a> ArraySource<'a> {
    pub(super) fn of_bcolz(array: &'a bcolz::Array) -> Self {
        let column = Column::new(VALUES, array.dtype().clone());
        let column = column.with_row_shape(array.row_shape()).with_chunk_rows(array.chunk_rows());
        Self { array: Either::Bcolz(array), columns: [column] }
    }

    pub(super) fn of_blsk(array: &'a blsk::Array) -> Self {
        let sides = array.row_shape().iter();
        let shape: Vec<usize> =
            sides.map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        let rows = array.chunk_shape().first().map_or(0, |rows| *rows as u64);
        let column = Column::new(VALUES, array.dtype().clone());
        let columns = [column.with_row_shape(&shape).with_chunk_rows(rows)];
        Self { array: Either::Blsk(array), columns }
    }
}

impl Source for ArraySource<'_> {
    fn rows(&self) -> u64 {
        match self.array {
            Either::Bcolz(array) => array.row_count(),
            Either::Blsk(array) => array.row_count(),
        }
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, _: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        match self.array {
            Either::Bcolz(array) => array.read_rows(rows, dst),
            Either::Blsk(array) => array.read_rows(rows, dst),
        }
    }

    fn gather(&self, _: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        match self.array {
            Either::Bcolz(array) => array.gather(rows, dst),
            Either::Blsk(array) => array.gather(rows, dst),
        }
    }
}
