//! Changes within the list. Each compresses one chunk anew.

use super::Objects;
use super::list::List;
use super::write::check_len;
use crate::error::{Error, Result};
use crate::wire::msgpack::Value;

impl Objects {
    /// Makes the list `len` objects long by removing those behind.
    pub fn truncate(&mut self, len: u64) -> Result<()> {
        if len >= self.len() {
            return Ok(());
        }
        self.begin()?;
        if let Some(kept) = len.checked_sub(self.stored_count()) {
            self.pending.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            return Ok(());
        }
        let number = self.chunk_of(len);
        let (start, _) = self.place_of(number)?;
        let mut kept = List::new();
        if len > start {
            kept = self.chunk(number)?;
            kept.truncate(usize::try_from(len - start).unwrap_or(usize::MAX));
        }
        self.splice(number, self.frame.chunk_count(), &[])?;
        self.starts.truncate(number + 1);
        self.pending = kept;
        self.taken_back = false;
        Ok(())
    }

    /// Puts another object in the place of object `index`.
    pub fn replace(&mut self, index: u64, object: &[u8]) -> Result<()> {
        let encoded = self.encoded(|out| self.packing.write(self.kind, object, out))?;
        self.rework(index, 1, Some(&encoded))
    }

    /// Puts another value, which must be of the kind of this store, in the place of object `index`.
    pub fn replace_value(&mut self, index: u64, value: &Value) -> Result<()> {
        let encoded = self.encoded(|out| self.write_value(value, out))?;
        self.rework(index, 1, Some(&encoded))
    }

    /// Inserts an object before object `index`.
    pub fn insert(&mut self, index: u64, object: &[u8]) -> Result<()> {
        if index == self.len() {
            return self.append(object);
        }
        let encoded = self.encoded(|out| self.packing.write(self.kind, object, out))?;
        self.rework(index, 0, Some(&encoded))
    }

    /// Inserts a value, which must be of the kind of this store, before object `index`.
    pub fn insert_value(&mut self, index: u64, value: &Value) -> Result<()> {
        if index == self.len() {
            return self.append_value(value);
        }
        let encoded = self.encoded(|out| self.write_value(value, out))?;
        self.rework(index, 0, Some(&encoded))
    }

    /// Removes object `index`.
    pub fn remove(&mut self, index: u64) -> Result<()> {
        self.rework(index, 1, None)
    }

    /// An object as it is stored.
    fn encoded(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Vec<u8>> {
        let mut encoded = Vec::new();
        write(&mut encoded)?;
        check_len(encoded.len())?;
        Ok(encoded)
    }

    /// Replaces so many objects from `index` on, which must exist, by another one or none.
    fn rework(&mut self, index: u64, gone: usize, encoded: Option<&[u8]>) -> Result<()> {
        self.begin()?;
        if index >= self.len() {
            let len = self.len();
            return Err(Error::invalid(format!("there is no object {index}: the store has {len}")));
        }
        if let Some(within) = index.checked_sub(self.stored_count()) {
            let within = usize::try_from(within).unwrap_or(usize::MAX);
            self.pending = self.pending.with(within, gone, encoded)?;
            return Ok(());
        }
        let number = self.chunk_of(index);
        let (start, count) = self.place_of(number)?;
        let within = usize::try_from(index - start).unwrap_or(usize::MAX);
        let list = self.chunk(number)?.with(within, gone, encoded)?;
        let each = self.block_objects()?;
        let ends: Vec<usize> =
            (0..list.len()).step_by(each).map(|first| list.len().min(first + each)).collect();
        self.splice(number, number + 1, &list.cut(self.packing, &ends)?)?;
        let (removed, added) = (count as u64, list.len() as u64);
        self.starts.iter_mut().skip(number + 1).for_each(|start| *start = *start - removed + added);
        if list.len() == 0 {
            self.starts.remove(number);
        }
        Ok(())
    }
}

impl List {
    /// The same list with another object, or none, in the place of so many from `at` on.
    fn with(&self, at: usize, gone: usize, object: Option<&[u8]>) -> Result<Self> {
        let mut list = Self::new();
        list.extend(self, 0..at)?;
        if let Some(object) = object {
            list.push(|out| {
                out.extend_from_slice(object);
                Ok(())
            })?;
        }
        list.extend(self, at + gone..self.len())?;
        Ok(list)
    }
}
