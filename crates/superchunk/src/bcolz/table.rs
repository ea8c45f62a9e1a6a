//! A table: columns of one length.

mod columns;
mod commit;
mod open;
pub(in crate::bcolz) use open::Listed;
mod rows;

use std::sync::Arc;

use super::array::Array;
use super::load::{Access, Setup};
use crate::carray::{Attrs, Home};
use crate::error::{Error, ErrorKind, Result};
use crate::wire::json::Json;

/// Columns of one length in a folder: a ctable of bcolz.
///
/// A column is found by its name; one that lies in a nested table by its path, such as `position/x`.
/// See [the module](super) for an example.
pub struct Table {
    home: Arc<Home>,
    columns: Vec<(String, TableColumn)>,
    pub(super) attrs: Attrs,
    setup: Setup,
    access: Access,
    /// Whether a change failed half-way, so that the columns may differ in length.
    broken: bool,
    /// Why the last commit could not be completed.
    unfinished: Option<Error>,
}

/// A column of a table.
#[non_exhaustive]
#[derive(Debug)]
pub enum TableColumn {
    /// Rows of one type.
    Array(Box<Array>),
    /// Columns again; bcolz has none of these.
    Table(Box<Table>),
}

impl Table {
    /// The number of rows.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.first_array().map_or(0, Array::row_count)
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The columns with their names, in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &TableColumn)> {
        self.columns.iter().map(|(name, column)| (name.as_str(), column))
    }

    /// A column by its name, or by its path into nested tables.
    pub fn column(&self, path: &str) -> Result<&TableColumn> {
        let (name, rest) = match path.split_once('/') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        let found = self.columns.iter().find(|(known, _)| known == name);
        let (_, column) = found.ok_or_else(|| self.no_column(path))?;
        match (rest, column) {
            (None, column) => Ok(column),
            (Some(rest), TableColumn::Table(table)) => table.column(rest),
            (Some(_), TableColumn::Array(_)) => Err(self.no_column(path)),
        }
    }

    /// A column that is an array, by its name or path.
    pub fn array(&self, path: &str) -> Result<&Array> {
        match self.column(path)? {
            TableColumn::Array(array) => Ok(array),
            TableColumn::Table(_) => Err(Error::invalid(format!(
                "the column `{path}` has columns itself: name one of them, as in `{path}/…`"
            ))
            .within(self.home.name())),
        }
    }

    /// All arrays, those of nested tables included, with their paths, in order.
    #[must_use]
    pub fn arrays(&self) -> Vec<(String, &Array)> {
        let mut arrays = Vec::new();
        for (name, column) in &self.columns {
            match column {
                TableColumn::Array(array) => arrays.push((name.clone(), &**array)),
                TableColumn::Table(table) => {
                    let inner = table.arrays().into_iter();
                    arrays.extend(inner.map(|(path, array)| (format!("{name}/{path}"), array)));
                }
            }
        }
        arrays
    }

    /// Gives an attribute of a column a value.
    pub fn set_column_attribute(
        &mut self,
        path: &str,
        name: &str,
        value: impl Into<Json>,
    ) -> Result<()> {
        self.check_writable()?;
        self.array_mut(path)?.set_attribute(name, value)
    }

    fn first_array(&self) -> Option<&Array> {
        self.columns.iter().find_map(|(_, column)| match column {
            TableColumn::Array(array) => Some(&**array),
            TableColumn::Table(table) => table.first_array(),
        })
    }

    fn array_mut(&mut self, path: &str) -> Result<&mut Array> {
        self.array(path)?;
        let missing = self.no_column(path);
        let mut arrays = self.arrays_mut().into_iter();
        arrays.find(|(known, _)| known == path).map(|(_, array)| array).ok_or(missing)
    }

    fn arrays_mut(&mut self) -> Vec<(String, &mut Array)> {
        let mut arrays = Vec::new();
        for (name, column) in &mut self.columns {
            match column {
                TableColumn::Array(array) => arrays.push((name.clone(), &mut **array)),
                TableColumn::Table(table) => {
                    let inner = table.arrays_mut().into_iter();
                    arrays.extend(inner.map(|(path, array)| (format!("{name}/{path}"), array)));
                }
            }
        }
        arrays
    }

    /// Refuses changes of what was opened for reading, and after one that failed.
    fn check_writable(&self) -> Result<()> {
        self.access.check_writable(self.home.name())?;
        if !self.broken {
            return Ok(());
        }
        let words = "an earlier change failed half-way: open the table again, it has its old rows";
        Err(Error::new(ErrorKind::Io, words).within(self.home.name()))
    }

    /// The same for changes of the length, the columns and the attributes.
    pub(super) fn check_whole(&self) -> Result<()> {
        self.check_writable()?;
        self.access.check_whole(self.home.name())
    }

    fn no_column(&self, path: &str) -> Error {
        let names: Vec<&str> = self.names().collect();
        let words = format!("there is no column `{path}`; there are: {}", names.join(", "));
        Error::not_found(words).within(self.home.name())
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.home.name())
            .field("len", &self.row_count())
            .field("names", &self.names().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
