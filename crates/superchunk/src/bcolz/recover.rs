//! Repairing lengths after a writer was stopped, on request only: rows may appear that nobody meant to
//! be there, or go.

use std::sync::Arc;

use super::array::Array;
use super::load::{Access, Parts, Setup};
use super::table::{Listed, Table};
use crate::carray::{HEADER_LEN, Home, ItemType, check_header, chunk_name};
use crate::chunk::Header;
use crate::error::{Error, Result};
use crate::schunk::OpenOptions;
use crate::store::Dir;

impl Array {
    pub(super) fn recovered(
        dir: Arc<dyn Dir>,
        name: String,
        options: &OpenOptions,
    ) -> Result<Self> {
        dir.lock()?;
        let setup = Setup::of(options)?;
        let home = Home::new(dir.clone(), name, setup.durable);
        let mut parts = Parts::read(home, dir.as_ref(), &setup.limits)?;
        let rows = match parts.storage.item_type {
            ItemType::Plain(_) => rows_in_files(&parts)?,
            ItemType::Object => (0..).find(|row| rows_of_file(&parts, *row).is_none()).unwrap_or(0),
        };
        parts.set_rows(rows)?;
        Self::from_parts(parts, &setup, Access::Write)
    }
}

impl Table {
    pub(super) fn recovered(
        dir: Arc<dyn Dir>,
        name: String,
        options: &OpenOptions,
    ) -> Result<Self> {
        dir.lock()?;
        let setup = Setup::of(options)?;
        let home = Home::new(dir.clone(), name, setup.durable);
        let (mut listed, intent) = Listed::read(home, dir.as_ref(), &setup)?;
        if let Some(intent) = intent {
            listed.complete(dir.as_ref(), &intent)?;
        }
        let rows = listed.arrays().iter().map(|(_, parts)| parts.sizes.rows).min().unwrap_or(0);
        for (_, parts) in listed.arrays() {
            if parts.sizes.rows != rows {
                parts.set_rows(rows)?;
            }
        }
        Self::from_listed(listed, &setup, &Access::Write)
    }
}

impl Parts {
    /// Writes another length.
    fn set_rows(&mut self, rows: u64) -> Result<()> {
        let nbytes = rows.checked_mul(self.row_size()? as u64);
        self.sizes.nbytes = nbytes.ok_or_else(|| Error::limit("more rows than anything holds"))?;
        self.sizes.rows = rows;
        self.home.replace(self.home.meta()?, "sizes", &self.sizes.write())
    }
}

/// The rows of all chunk files up to the first that is missing, damaged or not full.
fn rows_in_files(parts: &Parts) -> Result<u64> {
    let row_size = parts.row_size()? as u64;
    let chunk_len = parts.storage.chunk_len;
    let mut rows = 0u64;
    for number in 0.. {
        let Some(bytes) = rows_of_file(parts, number) else { break };
        let here = (bytes / row_size).min(chunk_len);
        rows = rows.saturating_add(here);
        if here < chunk_len {
            break;
        }
    }
    Ok(rows)
}

/// The decoded bytes of a chunk file, if it is one.
fn rows_of_file(parts: &Parts, number: u64) -> Option<u64> {
    let file = parts.home.data().ok()?.open(&chunk_name(number)).ok()?;
    let mut start = [0; HEADER_LEN + 16];
    let found = file.read_at(0, &mut start).ok()?;
    let start = start.get(..found)?;
    check_header(start).ok()?;
    let header = Header::parse(start.get(HEADER_LEN..)?).ok()?;
    let whole = file.len().ok()? >= (HEADER_LEN + header.compressed_len()) as u64;
    whole.then_some(header.byte_len() as u64)
}
