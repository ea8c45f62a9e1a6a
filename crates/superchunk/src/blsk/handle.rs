//! What arrays and tables have in common: both are handles of a tree.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::array::Array;
use super::attributes::Attribute;
use super::options::{ArrayOptions, TableOptions, TreeOptions};
use super::table::Table;
use super::tree::{Mode, Tree};
use crate::error::Result;
use crate::options::{Codec, Filter};
use crate::place::{Access, Place};
use crate::schunk::{OpenOptions, opens};
use crate::store::{Dir, MemoryFolder};
use crate::superfile::Updates;

/// A tree as what its columns say that it is.
pub(crate) enum Handle {
    Array(Array),
    Table(Table),
}

impl Handle {
    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        let tree = Tree::opened(place, options, Mode::of(access))?;
        match tree.storage.columns.as_slice() {
            [leaf] if leaf.path.is_empty() => Array::of(tree).map(Self::Array),
            _ => Table::of(tree).map(Self::Table),
        }
    }
}

macro_rules! handles {
    ($($container:ident, $options:ident: $what:literal;)*) => {$(
        opens!($container: folder);

        impl $container {
            pub(crate) fn opened(
                place: &Place<'_>,
                options: &OpenOptions,
                access: Access,
            ) -> Result<Self> {
                Self::of(Tree::opened(place, options, Mode::of(access))?)
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
                let columns = options.leaves()?;
                Self::of(Tree::created(place, columns, &options.row_shape, &options.tree)?)
            }

            #[doc = concat!("Opens ", $what, " for reading and writing whose `nrows` and shape")]
            /// differ, as after a crash of a writer that is not this one: the smaller number of rows
            /// counts, and a journal beyond repair is ignored.
            #[cfg(any(unix, windows))]
            pub fn recover(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
                let place = Place::Path(path.as_ref());
                Self::of(Tree::opened(&place, options, Mode::Recover)?)
            }

            /// The same for any folder.
            pub fn recover_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
                Self::of(Tree::opened(&Place::Folder(dir), options, Mode::Recover)?)
            }

            /// The length along each axis, the same for all columns; the first is the number of
            /// rows.
            #[must_use]
            pub fn shape(&self) -> &[u64] {
                &self.tree.storage.shape
            }

            /// The shape of a chunk, the same for all columns.
            #[must_use]
            pub fn chunk_shape(&self) -> &[usize] {
                &self.tree.storage.chunkshape
            }

            /// The number of rows.
            #[must_use]
            pub fn row_count(&self) -> u64 {
                self.tree.rows()
            }

            /// Whether there are no rows.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.row_count() == 0
            }

            /// The shape of a row; empty for single items.
            #[must_use]
            pub fn row_shape(&self) -> &[u64] {
                self.shape().split_first().map_or(&[], |(_, row)| row)
            }

            /// Makes it `rows` rows long: cuts, or appends zeros.
            pub fn resize(&mut self, rows: u64) -> Result<()> {
                self.tree.resize(rows)
            }

            /// Keeps the first `rows` rows; there must be as many.
            pub fn truncate(&mut self, rows: u64) -> Result<()> {
                self.tree.truncate(rows)
            }

            /// The names and values that users keep with it.
            pub fn attributes(&self) -> impl Iterator<Item = (&str, Attribute)> {
                self.tree.attributes.iter()
            }

            /// The attribute of this name.
            #[must_use]
            pub fn attribute(&self, name: &str) -> Option<Attribute> {
                self.tree.attributes.get(name)
            }

            /// Adds or changes an attribute.
            pub fn set_attribute(&mut self, name: &str, value: impl Into<Attribute>) -> Result<()> {
                self.tree.set_attribute(name, &value.into())
            }

            /// Removes an attribute; returns whether there was one.
            pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
                self.tree.remove_attribute(name)
            }

            /// Makes all changes durable, in one step: after a crash at any moment there is either
            /// the old state or the new one.
            pub fn commit(&mut self) -> Result<()> {
                self.tree.commit()
            }

            /// Commits and closes. What was not committed when it is dropped is discarded.
            pub fn close(mut self) -> Result<()> {
                self.commit()
            }

            /// What the last commit could not complete. Its rows are there and every reader sees
            /// them; the next writer completes it, or [`recover`](crate::recover).
            #[must_use]
            pub fn unfinished(&self) -> Option<String> {
                self.tree.root.unfinished()
            }

            /// The bytes of all files of chunks as of the last commit.
            pub fn stored_len(&self) -> Result<u64> {
                self.tree.stored_len()
            }

            /// What the commits of this handle have cost.
            #[must_use]
            pub fn updates(&self) -> Updates {
                self.tree.updates()
            }

            /// Options that make a tree like this one.
            pub fn options(&self) -> Result<TreeOptions> {
                self.tree.options(None, None)
            }

            #[doc = concat!("Options that make ", $what, " like this one, but for codec and filters: what is")]
            /// stored in the place of those that are given need not be known here.
            pub fn options_over(
                &self,
                codec: Option<Codec>,
                filters: Option<&[Filter]>,
            ) -> Result<TreeOptions> {
                self.tree.options(codec, filters)
            }

            #[doc = concat!("Makes ", $what, " at `path` with the same rows and attributes,")]
            /// compressed and cut as the options say.
            #[cfg(any(unix, windows))]
            pub fn copy_to(
                &self,
                path: impl AsRef<Path>,
                options: &TreeOptions,
            ) -> Result<()> {
                self.tree.copy_to(&Place::Path(path.as_ref()), options)
            }

            /// The same in any folder, which must be empty.
            pub fn copy_to_dir(
                &self,
                dir: Arc<dyn Dir>,
                options: &TreeOptions,
            ) -> Result<()> {
                self.tree.copy_to(&Place::Folder(dir), options)
            }
        }
    )*};
}

handles! {
    Array, ArrayOptions: "an array";
    Table, TableOptions: "a table";
}
