//! What arrays and tables have in common: how they are opened and made, and their attributes.

use std::ops::Range;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::array::Array;
use super::load::{Access, CARRAY, CTABLE};
use super::options::{ArrayOptions, TableOptions};
use super::table::Table;
use crate::detect::Format;
use crate::error::Result;
use crate::place::{self, Place};
use crate::schunk::{OpenOptions, opens};
use crate::store::{Dir, MemoryFolder, again_if_changed};
use crate::wire::json::Json;

macro_rules! handles {
    ($($container:ident, $options:ident, $format:expr, $nameless:expr, $what:literal, $recovers:literal;)*) => {$(
        opens!($container: folder);

        impl $container {
            pub(crate) fn opened(
                place: &Place<'_>,
                options: &OpenOptions,
                access: place::Access,
            ) -> Result<Self> {
                let is_read = access == place::Access::Read;
                Self::opened_for(place, options, if is_read { Access::Read } else { Access::Write })
            }

            fn opened_for(
                place: &Place<'_>,
                options: &OpenOptions,
                access: Access,
            ) -> Result<Self> {
                again_if_changed(options.wait, || {
                    let dir = place.folder(access.claim(), options.wait);
                    let opened = dir.and_then(|dir| {
                        Self::opened_in(dir, place.told($nameless), options, access.clone())
                    });
                    opened.map_err(|error| place.explained(error, &[$format], 0))
                })
            }

            #[doc = concat!("Makes ", $what, " without rows at `path`, where nothing may be yet.")]
            #[cfg(any(unix, windows))]
            pub fn create(path: impl AsRef<Path>, options: &$options) -> Result<Self> {
                Self::created(&Place::Path(path.as_ref()), options)
            }

            #[doc = concat!("Makes ", $what, " without rows in any folder, which must be empty.")]
            pub fn create_in_dir(dir: Arc<dyn Dir>, options: &$options) -> Result<Self> {
                Self::created(&Place::Folder(dir), options)
            }

            #[doc = concat!("Makes ", $what, " without rows in memory.")]
            pub fn in_memory(options: &$options) -> Result<Self> {
                Self::create_in_dir(Arc::new(MemoryFolder::new()), options)
            }

            fn created(place: &Place<'_>, options: &$options) -> Result<Self> {
                Self::check_options(options)?;
                Self::created_in(place.new_folder()?, place.told($nameless), options)
            }

            #[doc = concat!("Opens ", $what, " for overwriting these rows, which must be whole")]
            /// chunks, as `shards` gives them. Several processes can do so at once, each with rows
            /// of its own; writers that would change the length are kept out.
            #[cfg(any(unix, windows))]
            pub fn edit_rows(
                path: impl AsRef<Path>,
                rows: Range<u64>,
                options: &OpenOptions,
            ) -> Result<Self> {
                Self::opened_for(&Place::Path(path.as_ref()), options, Access::Rows(rows))
            }

            /// The same for any folder.
            pub fn edit_rows_in_dir(
                dir: Arc<dyn Dir>,
                rows: Range<u64>,
                options: &OpenOptions,
            ) -> Result<Self> {
                Self::opened_for(&Place::Folder(dir), options, Access::Rows(rows))
            }

            #[doc = $recovers]
            #[cfg(any(unix, windows))]
            pub fn recover(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
                Self::recovered_at(&Place::Path(path.as_ref()), options)
            }

            /// The same in any folder.
            pub fn recover_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
                Self::recovered_at(&Place::Folder(dir), options)
            }

            fn recovered_at(place: &Place<'_>, options: &OpenOptions) -> Result<Self> {
                let dir = place.folder(place::Access::Edit, options.wait);
                let opened =
                    dir.and_then(|dir| Self::recovered(dir, place.told($nameless), options));
                opened.map_err(|error| place.explained(error, &[$format], 0))
            }

            /// The attributes, a JSON object.
            #[must_use]
            pub fn attributes(&self) -> &Json {
                self.attrs.json()
            }

            /// The attribute of this name.
            #[must_use]
            pub fn attribute(&self, name: &str) -> Option<&Json> {
                self.attributes().get(name)
            }

            /// Adds or changes an attribute.
            pub fn set_attribute(&mut self, name: &str, value: impl Into<Json>) -> Result<()> {
                self.check_whole()?;
                self.attrs.set(name, value.into())
            }

            /// Removes an attribute; returns whether there was one.
            pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
                self.check_whole()?;
                Ok(self.attrs.remove(name).is_some())
            }

            /// Whether there are no rows.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.row_count() == 0
            }

            /// Keeps the first `rows` rows; there must be as many.
            pub fn truncate(&mut self, rows: u64) -> Result<()> {
                self.check_kept(rows)?;
                self.resize(rows)
            }

            fn check_kept(&self, rows: u64) -> Result<()> {
                match self.row_count() {
                    known if rows > known => Err(crate::error::Error::invalid(format!(
                        "{rows} rows cannot be kept of {known}"
                    ))),
                    _ => Ok(()),
                }
            }
        }
    )*};
}

handles! {
    Array, ArrayOptions, Format::BcolzArray, CARRAY, "an array",
        "Sets the length to what the chunk files hold, and opens the array for writing. For arrays \
         whose writer was stopped before it wrote the length: bcolz writes chunks at once, and the \
         length only when it is flushed.";
    Table, TableOptions, Format::BcolzTable, CTABLE, "a table",
        "Cuts all columns to the length of the shortest, and opens the table for writing. For tables \
         whose writer was stopped between two columns.";
}
