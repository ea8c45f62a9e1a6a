//! Copies of arrays and tables whose chunks are compressed in another way. Everything else stays:
//! rows, types, attributes of all columns, bounds, what `storage` says of new rows.

use std::collections::HashMap;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::array::Array;
use super::load::{Access, CARRAY, CTABLE, Parts, Setup};
use super::options::{ArrayOptions, chunk_options};
use super::table::{Table, TableColumn};
use crate::carray::{Attrs, Home, Rootdirs, Storage, default_bytes, write_objects};
use crate::chunk;
use crate::error::{Error, Result};
use crate::exec::Work;
use crate::options::CompressOptions;
use crate::place::Place;
use crate::store::Dir;

/// The bytes that are read and written in one step.
const PIECE: usize = 1 << 20;

impl Array {
    /// Options that make an array like this one. Of those of Python objects, see
    /// [`Array::is_object`], only the compression means something.
    #[must_use]
    pub fn options(&self) -> ArrayOptions {
        let storage = &self.storage;
        let compress = CompressOptions::new(1).with_codec(storage.codec());
        let compress = compress.with_level(storage.clevel).with_filters(storage.filter);
        let mut compress = chunk_options(&compress, &self.dtype);
        if self.is_object() {
            compress.item_size = 1;
        }
        let default = Some(storage.default.clone());
        ArrayOptions {
            row_shape: self.row_shape.clone(),
            compress,
            chunk_rows: Some(storage.chunk_len),
            expected_rows: u64::try_from(storage.expected_len).unwrap_or(0),
            default: default.filter(|value| default_bytes(&self.dtype, value).is_some()),
            quantize: storage.quantize,
            ..ArrayOptions::new(self.dtype.clone())
        }
    }

    /// Makes an array at `path` with the same rows and attributes, compressed as the options say.
    /// Python objects are copied without being looked into.
    #[cfg(any(unix, windows))]
    pub fn copy_to(&self, path: impl AsRef<Path>, options: &ArrayOptions) -> Result<()> {
        self.check_copy(options)?;
        new_home(&Place::Path(path.as_ref()), CARRAY, |home| self.copy_into(home, options))
    }

    /// The same in any folder, which must be empty.
    pub fn copy_to_dir(&self, dir: Arc<dyn Dir>, options: &ArrayOptions) -> Result<()> {
        self.check_copy(options)?;
        new_home(&Place::Folder(dir), CARRAY, |home| self.copy_into(home, options))
    }

    /// Refuses options of which no copy can be made.
    fn check_copy(&self, options: &ArrayOptions) -> Result<()> {
        if options.dtype != self.dtype || options.row_shape != self.row_shape {
            let words = "a copy has the type and the row shape of the original";
            return Err(Error::invalid(words).within(self.home.name()));
        }
        options.storage().map(drop)
    }

    fn copy_into(&self, home: Home, options: &ArrayOptions) -> Result<()> {
        if self.is_object() {
            return self.copy_objects(&home, options);
        }
        let root = home.root()?;
        let parts = Parts::create(home, root.as_ref(), options)?;
        let setup = Setup::creating(options.durability, &options.compress);
        let mut copy = Self::from_parts(parts, &setup, Access::Write)?;
        if self.has_bounds() {
            copy.keep_bounds();
        }
        for (name, value) in self.attributes().as_object().unwrap_or_default() {
            copy.set_attribute(name, value.clone())?;
        }
        let batch = (PIECE / self.row_size.max(1)).max(1) as u64;
        let mut first = 0;
        while first < self.row_count() {
            let stop = self.row_count().min(first.saturating_add(batch));
            let len = self.row_size.saturating_mul(usize::try_from(stop - first).unwrap_or(0));
            options.compress.executor.begin(
                Work::Copy,
                len,
                Some(self.row_count().saturating_mul(self.row_size as u64)),
            )?;
            let bytes = self.rows(first..stop)?;
            // Not as new rows, which would be rounded where `quantize` demands it.
            copy.body_mut()?.append(&bytes)?;
            first = stop;
        }
        copy.pack()?;
        copy.commit()?;
        // Bounds that are missing only cost time.
        let _ = copy.write_notes();
        Ok(())
    }

    fn copy_objects(&self, home: &Home, options: &ArrayOptions) -> Result<()> {
        let Storage { clevel, filter, cname, .. } = options.storage()?;
        let storage = Storage { clevel, filter, cname, ..self.storage.clone() };
        let compress =
            CompressOptions { item_size: 1, ..chunk_options(&options.compress, &self.dtype) };
        let objects = (0..self.row_count()).map(|row| {
            let pickle = self.object_bytes(row)?;
            compress.executor.begin(Work::Copy, pickle.len(), None)?;
            Ok((chunk::compress(&pickle, &compress)?, pickle.len()))
        });
        write_objects(home, (&storage, &self.attrs), objects)
    }
}

impl Table {
    /// Makes a table at `path` with the same columns, rows and attributes. The columns, by their
    /// paths, are compressed as `options` says, or as they are where it says nothing.
    #[cfg(any(unix, windows))]
    pub fn copy_to(
        &self,
        path: impl AsRef<Path>,
        options: impl Fn(&str) -> Option<ArrayOptions>,
    ) -> Result<()> {
        let options = self.checked(options)?;
        let place = Place::Path(path.as_ref());
        new_home(&place, CTABLE, |home| self.copy_into(&home, "", &options))
    }

    /// The same in any folder, which must be empty.
    pub fn copy_to_dir(
        &self,
        dir: Arc<dyn Dir>,
        options: impl Fn(&str) -> Option<ArrayOptions>,
    ) -> Result<()> {
        let options = self.checked(options)?;
        new_home(&Place::Folder(dir), CTABLE, |home| self.copy_into(&home, "", &options))
    }

    /// The options of every column, by its path; an error before anything is made.
    fn checked(
        &self,
        options: impl Fn(&str) -> Option<ArrayOptions>,
    ) -> Result<HashMap<String, ArrayOptions>> {
        let arrays = self.arrays().into_iter().map(|(path, array)| {
            let chosen = options(&path).unwrap_or_else(|| array.options());
            array.check_copy(&chosen).map(|()| (path, chosen))
        });
        arrays.collect()
    }

    /// `prefix` stands before the names of the columns in their paths.
    fn copy_into(
        &self,
        home: &Home,
        prefix: &str,
        options: &HashMap<String, ArrayOptions>,
    ) -> Result<()> {
        let root = home.root()?;
        for (name, column) in self.columns() {
            root.create_folder(name)?;
            let (child, path) = (home.child(name), format!("{prefix}{name}"));
            match (column, options.get(&path)) {
                (TableColumn::Array(array), Some(options)) => array.copy_into(child, options)?,
                (TableColumn::Array(array), None) => array.copy_into(child, &array.options())?,
                (TableColumn::Table(table), _) => {
                    table.copy_into(&child, &format!("{path}/"), options)?;
                }
            }
        }
        home.replace(root.as_ref(), Attrs::FILE, &self.attrs.write())?;
        let names = self.names().map(str::to_owned).collect();
        home.replace(root.as_ref(), Rootdirs::FILE, &Rootdirs { names }.write())
    }
}

/// Fills a new folder, which is kept from other writers.
fn new_home(
    place: &Place<'_>,
    nameless: &str,
    fill: impl FnOnce(Home) -> Result<()>,
) -> Result<()> {
    place.filled(|dir| {
        dir.lock()?;
        fill(Home::new(dir, place.told(nameless), true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::TableOptions;
    use crate::options::{ChunkFormat, Codec};
    use crate::schunk::OpenOptions;
    use crate::store::MemoryFolder;
    use crate::table::Source;

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn values_that_were_never_rounded_stay_and_new_ones_are_rounded() {
        let dir = Arc::new(MemoryFolder::new());
        let options = ArrayOptions { quantize: 1, ..ArrayOptions::of::<f64>() };
        let mut array = Array::create_in_dir(dir, &options).unwrap();
        let compress = CompressOptions::new(8).with_format(ChunkFormat::Blosc1);
        array.append_chunk(&chunk::compress(&bytes(&[0.123]), &compress).unwrap()).unwrap();
        array.append(&bytes(&[0.123])).unwrap();
        let rounded = array.to_vec().unwrap()[8..].to_vec();
        assert_ne!(rounded, bytes(&[0.123]));
        let to = Arc::new(MemoryFolder::new());
        array.copy_to_dir(to.clone(), &array.options()).unwrap();
        let mut copy = Array::edit_in_dir(to, &OpenOptions::new()).unwrap();
        assert_eq!(copy.to_vec().unwrap(), array.to_vec().unwrap());
        copy.append(&bytes(&[0.123])).unwrap();
        assert_eq!(copy.to_vec().unwrap()[16..], rounded);
    }

    #[test]
    fn a_table_keeps_its_bounds() {
        let column = ArrayOptions::of::<f64>().with_chunk_rows(4);
        let options = TableOptions::new().with_column("a", column.clone()).with_column("b", column);
        let dir = Arc::new(MemoryFolder::new());
        let mut table = Table::create_in_dir(dir.clone(), &options.with_bounds()).unwrap();
        let values = bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        table.append(&[("a", &values), ("b", &values)]).unwrap();
        table.close().unwrap();
        let table = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
        let to = Arc::new(MemoryFolder::new());
        let zstd = |array: &Array| {
            let options = array.options();
            options.clone().with_compress(options.compress.with_codec(Codec::Zstd))
        };
        let options = |name: &str| (name == "b").then(|| zstd(table.array("b").unwrap()));
        table.copy_to_dir(to.clone(), options).unwrap();
        let copy = Table::open_in_dir(to, &OpenOptions::new()).unwrap();
        let codecs = ["a", "b"].map(|name| copy.array(name).unwrap().options().compress.codec);
        assert_eq!(codecs, [Codec::Lz4, Codec::Zstd]);
        for (column, chunk) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let found = (copy.source().bounds(column, chunk), table.source().bounds(column, chunk));
            assert!(found.0.is_some() && found.0 == found.1, "{column} {chunk}: {found:?}");
        }
    }

    #[test]
    fn a_copy_of_another_type_is_refused_before_anything_is_made() {
        let array = Array::create_in_dir(Arc::new(MemoryFolder::new()), &ArrayOptions::of::<f64>())
            .unwrap();
        let to = Arc::new(MemoryFolder::new());
        assert!(array.copy_to_dir(to.clone(), &ArrayOptions::of::<f32>()).is_err());
        assert!(to.folder_names().unwrap().is_empty());
    }
}
