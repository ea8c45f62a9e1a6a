//! One table or column of any format.

use std::ops::Range;
use std::sync::Arc;

use superchunk::table::{self, Column, Source};
use superchunk::{Error, ErrorKind, OpenOptions, Opened, Result, Value, bcolz, blsk};

use super::Folder;

/// A table, which its scans share; or a column alone, whose name is empty.
pub(crate) enum Kind {
    Bcolz(Arc<bcolz::Table>),
    Blsk(Arc<blsk::Table>),
    Folder(Arc<Folder>),
    BcolzArray(Box<bcolz::Array>),
    BlskArray(Box<blsk::Array>),
}

impl Kind {
    /// What was opened, if it is a table or a column.
    pub(crate) fn of(opened: Opened, open: &OpenOptions) -> Result<Self> {
        Ok(match opened {
            Opened::BcolzTable(table) => Self::Bcolz(Arc::new(*table)),
            Opened::BlskTable(table) => Self::Blsk(Arc::new(*table)),
            Opened::Columns(list) => Self::Folder(Arc::new(Folder::open(*list, open)?)),
            Opened::BcolzArray(array) => Self::BcolzArray(array),
            Opened::BlskArray(array) => Self::BlskArray(array),
            other => return Err(Error::unsupported(format!("this is {other}, not a table"))),
        })
    }

    pub(super) fn is_table(&self) -> bool {
        !matches!(self, Self::BcolzArray(_) | Self::BlskArray(_))
    }

    pub(super) fn format(&self) -> &'static str {
        match self {
            Self::Bcolz(_) | Self::BcolzArray(_) => "bcolz",
            Self::Blsk(_) | Self::BlskArray(_) => "blsk",
            Self::Folder(_) => "columns",
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bcolz(table) => table.row_count(),
            Self::Blsk(table) => table.row_count(),
            Self::Folder(folder) => folder.rows(),
            Self::BcolzArray(array) => array.row_count(),
            Self::BlskArray(array) => array.row_count(),
        }
    }

    pub(super) fn columns(&self) -> Vec<Column> {
        match self {
            Self::Bcolz(table) => table.source().columns().to_vec(),
            Self::Blsk(table) => table.source().columns().to_vec(),
            Self::Folder(folder) => folder.columns().to_vec(),
            Self::BcolzArray(array) => vec![
                Column::new("", array.dtype().clone())
                    .with_row_shape(array.row_shape())
                    .with_chunk_rows(array.chunk_rows()),
            ],
            Self::BlskArray(array) => {
                let sides = array.row_shape().iter();
                let shape: Vec<usize> =
                    sides.map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
                let chunk = array.chunk_shape().first().map_or(0, |rows| *rows as u64);
                vec![
                    Column::new("", array.dtype().clone())
                        .with_row_shape(&shape)
                        .with_chunk_rows(chunk),
                ]
            }
        }
    }

    pub(super) fn column(&self, name: &str) -> Result<Column> {
        let found = self.columns().into_iter().find(|column| column.name == name);
        found.ok_or_else(|| Error::not_found(format!("there is no column `{name}`")))
    }

    /// Whether the rows of a column are Python objects.
    pub(super) fn is_object(&self, name: &str) -> bool {
        match self {
            Self::Bcolz(table) => table.array(name).is_ok_and(bcolz::Array::is_object),
            Self::BcolzArray(array) => array.is_object(),
            _ => false,
        }
    }

    pub(super) fn object(&self, name: &str, row: u64) -> Result<Value> {
        match self {
            Self::Bcolz(table) => table.array(name)?.object(row),
            Self::BcolzArray(array) => array.object(row),
            _ => Err(Error::invalid("the rows are no Python objects")),
        }
    }

    pub(super) fn read(&self, name: &str, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        match self {
            Self::Bcolz(table) => table.read_rows(name, rows, dst),
            Self::Blsk(table) => table.read_rows(name, rows, dst),
            Self::Folder(folder) => folder.read(folder.number(name)?, rows, dst),
            Self::BcolzArray(array) => array.read_rows(rows, dst),
            Self::BlskArray(array) => array.read_rows(rows, dst),
        }
    }

    pub(super) fn gather(&self, name: &str, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        match self {
            Self::Bcolz(table) => table.array(name)?.gather(rows, dst),
            Self::Blsk(table) => table.gather(name, rows, dst),
            Self::Folder(folder) => folder.gather(folder.number(name)?, rows, dst),
            Self::BcolzArray(array) => array.gather(rows, dst),
            Self::BlskArray(array) => array.gather(rows, dst),
        }
    }

    pub(super) fn write(&mut self, name: &str, start: u64, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Bcolz(table) => alone(table)?.write_rows(name, start, bytes),
            Self::Blsk(table) => alone(table)?.write_rows(name, start, bytes),
            Self::Folder(_) => Err(fixed()),
            Self::BcolzArray(array) => array.write_rows(start, bytes),
            Self::BlskArray(array) => array.write_rows(start, bytes),
        }
    }

    pub(super) fn append(&mut self, columns: &[(&str, &[u8])]) -> Result<()> {
        let first = || columns.first().map_or(&[][..], |(_, bytes)| *bytes);
        match self {
            Self::Bcolz(table) => alone(table)?.append(columns),
            Self::Blsk(table) => alone(table)?.append(columns),
            Self::Folder(_) => Err(fixed()),
            Self::BcolzArray(array) => array.append(first()),
            Self::BlskArray(array) => array.append(first()),
        }
    }

    pub(super) fn resize(&mut self, rows: u64) -> Result<()> {
        match self {
            Self::Bcolz(table) => alone(table)?.resize(rows),
            Self::Blsk(table) => alone(table)?.resize(rows),
            Self::Folder(_) => Err(fixed()),
            Self::BcolzArray(array) => array.resize(rows),
            Self::BlskArray(array) => array.resize(rows),
        }
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        match self {
            Self::Bcolz(table) => alone(table)?.commit(),
            Self::Blsk(table) => alone(table)?.commit(),
            Self::Folder(folder) => alone(folder)?.list.commit(),
            Self::BcolzArray(array) => array.commit(),
            Self::BlskArray(array) => array.commit(),
        }
    }

    pub(super) fn stored_len(&self) -> Result<u64> {
        let chunks =
            |array: &bcolz::Array| array.superchunk().map_or(Ok(0), |chunks| chunks.stored_len());
        match self {
            Self::Bcolz(table) => table.arrays().into_iter().map(|(_, array)| chunks(array)).sum(),
            Self::Blsk(table) => table.stored_len(),
            Self::Folder(folder) => folder.stored_len(),
            Self::BcolzArray(array) => chunks(array),
            Self::BlskArray(array) => array.stored_len(),
        }
    }

    /// The table, if it is one whose columns come and go.
    pub(super) fn bcolz_mut(&mut self) -> Result<&mut bcolz::Table> {
        match self {
            Self::Bcolz(table) => alone(table),
            other => Err(Error::unsupported(format!(
                "the columns of a {} table stay as they are",
                other.format()
            ))),
        }
    }

    /// A scan of all of it, which outlives this handle.
    pub(super) fn scan(&self) -> Result<table::Scan<'static>> {
        match self {
            Self::Bcolz(table) => Ok(table::scan(bcolz::TableSource::new(Arc::clone(table)))),
            Self::Blsk(table) => Ok(table::scan(blsk::TableSource::new(Arc::clone(table)))),
            Self::Folder(folder) => Ok(table::scan(Arc::clone(folder))),
            _ => Err(Error::invalid("a column alone is not scanned")),
        }
    }
}

/// The table, if no scan shares it.
pub(super) fn alone<T>(table: &mut Arc<T>) -> Result<&mut T> {
    Arc::get_mut(table).ok_or_else(|| {
        let words = "a scan of this table is not finished: go through it to its end, or drop it";
        Error::new(ErrorKind::Locked, words)
    })
}

fn fixed() -> Error {
    Error::unsupported(
        "nothing makes one commit of the files of a folder of columns: open the file of a column, or \
         write a new folder",
    )
}
