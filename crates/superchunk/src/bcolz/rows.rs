//! Rows: reading, appending, overwriting, changing their number.

use std::ops::Range;

use super::array::{Array, Body, objects};
use super::load::Access;
use crate::carray::{pickle, read_object};
use crate::dtype::{ByteOrder, DKind, Element};
use crate::error::{Error, MustGet, Result};
use crate::schunk::SuperChunk;
use crate::wire::msgpack::Value;

impl Array {
    /// Decodes rows into the start of `dst`. Only the blocks that hold them are read and decoded.
    pub fn read_rows(&self, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.body()?.read_items(rows, dst)
    }

    /// The bytes of rows.
    pub fn rows(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes_of(&rows)?];
        self.read_rows(rows, &mut bytes)?;
        Ok(bytes)
    }

    /// The items of rows as numbers of this machine's byte order. `T` must be the array's type; `u8`
    /// reads booleans, too, and `i64` times.
    pub fn read<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        let len = self.bytes_of(&rows)?;
        let mut items: Vec<T> = bytemuck::zeroed_vec(len / size_of::<T>());
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut items);
        self.read_rows(rows, bytes)?;
        if self.is_swapped() {
            bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        Ok(items)
    }

    /// All rows.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.rows(0..self.row_count())
    }

    /// Decodes single rows, in the order of `rows` and as often as they occur there, one after the
    /// other into the start of `dst`.
    pub fn gather(&self, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.body()?.gather(rows, dst)
    }

    /// Appends whole rows.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_rows_of(bytes)?;
        self.access.check_whole(self.home.name())?;
        let bytes = self.rounded(bytes);
        self.body_mut()?.append(&bytes)
    }

    /// Appends a compressed chunk of whole rows as it is.
    pub(crate) fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.body_mut()?.append_chunk(chunk)
    }

    /// Appends items, which must make whole rows. `T` must be the array's type, as for
    /// [`read`](Array::read).
    pub fn append_items<T: Element>(&mut self, items: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        match self.is_swapped() {
            false => self.append(bytemuck::cast_slice(items)),
            true => self.append(&swapped(items)),
        }
    }

    /// Overwrites rows from `start` on; they must exist.
    pub fn write_rows(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        self.check_rows_of(bytes)?;
        if let Access::Rows(rows) = &self.access {
            let count = (bytes.len() / self.row_size) as u64;
            if start < rows.start || start.saturating_add(count) > rows.end {
                return self.access.check_whole(self.home.name());
            }
        }
        let bytes = self.rounded(bytes);
        self.body_mut()?.write_item_bytes(start, &bytes)
    }

    /// Overwrites rows with items. `T` must be the array's type, as for [`read`](Array::read).
    pub fn write_items<T: Element>(&mut self, start: u64, items: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        match self.is_swapped() {
            false => self.write_rows(start, bytemuck::cast_slice(items)),
            true => self.write_rows(start, &swapped(items)),
        }
    }

    /// Makes it `rows` rows long: cuts, or appends rows of the default value.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.access.check_whole(self.home.name())?;
        let len = self.row_count();
        if rows <= len {
            return self.body_mut()?.resize(rows);
        }
        let item = self.default_item()?;
        let item = self.rounded(&item);
        let (row_size, chunk_len) = (self.row_size, self.chunk_rows());
        rows.checked_mul(row_size as u64)
            .ok_or_else(|| Error::limit("more rows than anything can hold"))?;
        let body = self.body_mut()?;
        if item.iter().all(|byte| *byte == 0) {
            return body.resize(rows);
        }
        let mut left = rows - len;
        let piece =
            usize::try_from(left.min(chunk_len)).unwrap_or(usize::MAX).saturating_mul(row_size);
        let filled: Vec<u8> = item.iter().copied().cycle().take(piece).collect();
        while left > 0 {
            let count = left.min(chunk_len);
            let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(row_size);
            body.append(filled.must_get(..bytes)?)?;
            left -= count;
        }
        Ok(())
    }

    /// The pickle of a row that is a Python object, as it is stored. It is not looked into.
    pub fn object_bytes(&self, row: u64) -> Result<Vec<u8>> {
        let Body::Objects(rows, limits) = &self.body else {
            return Err(Error::invalid("the rows are no Python objects").within(self.home.name()));
        };
        if row >= *rows {
            return Err(Error::invalid(format!("there is no row {row}: there are {rows}")));
        }
        read_object(&self.home, row, limits)
    }

    /// The value of a row that is a Python object, if it is a plain one: `None`, booleans, numbers,
    /// texts, bytes, and lists, tuples and dictionaries of these. Everything else is
    /// [`Unsupported`](crate::ErrorKind::Unsupported): a pickle is never executed.
    pub fn object(&self, row: u64) -> Result<Value> {
        let pickle = self.object_bytes(row)?;
        pickle::parse(&pickle)
            .map_err(|error| error.within(format!("{}, row {row}", self.home.name())))
    }

    pub(super) fn body(&self) -> Result<&SuperChunk> {
        match &self.body {
            Body::Rows(rows) => Ok(rows),
            Body::Objects(..) => Err(objects().within(self.home.name())),
        }
    }

    pub(super) fn body_mut(&mut self) -> Result<&mut SuperChunk> {
        self.access.check_writable(self.home.name())?;
        match &mut self.body {
            Body::Rows(rows) => Ok(rows),
            Body::Objects(..) => Err(objects().within(self.home.name())),
        }
    }

    /// The bytes of rows, if they exist and fit into the limits.
    fn bytes_of(&self, rows: &Range<u64>) -> Result<usize> {
        let count = rows.end.checked_sub(rows.start).filter(|_| rows.end <= self.row_count());
        let count = count.ok_or_else(|| {
            Error::invalid(format!(
                "rows {rows:?} are not inside of the {} there are",
                self.row_count()
            ))
        })?;
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(self.row_size));
        let len = len.ok_or_else(|| Error::limit("more bytes than the memory can hold"))?;
        self.body()?.check_memory(len)?;
        Ok(len)
    }

    fn check_rows_of(&self, bytes: &[u8]) -> Result<()> {
        self.body()?;
        if bytes.len().is_multiple_of(self.row_size) {
            return Ok(());
        }
        let words = format!("{} bytes are no whole rows of {}", bytes.len(), self.row_size);
        Err(Error::invalid(words).within(self.home.name()))
    }

    /// Refuses a Rust type that is not the array's.
    fn check_type<T: Element>(&self) -> Result<()> {
        self.body()?;
        let wanted = T::dtype();
        let alike = match (self.dtype.kind(), wanted.kind()) {
            (DKind::Bool, DKind::Uint) => true,
            (DKind::Datetime { .. } | DKind::Timedelta { .. }, DKind::Int) => true,
            (own, wanted) => own == wanted,
        };
        if alike && wanted.item_size() == self.dtype.item_size() {
            return Ok(());
        }
        Err(Error::invalid(format!("the items are `{}`, not `{wanted}`", self.dtype))
            .within(self.home.name()))
    }

    fn is_swapped(&self) -> bool {
        ![ByteOrder::native(), ByteOrder::Irrelevant].contains(&self.dtype.byte_order())
    }
}

/// The bytes of items in the other byte order.
fn swapped<T: Element>(items: &[T]) -> Vec<u8> {
    let mut bytes = bytemuck::cast_slice::<T, u8>(items).to_vec();
    bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    bytes
}
