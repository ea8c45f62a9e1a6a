//! The `blsk` layout: arrays and tables as folders of superchunk files, after the proposal of 2012 for
//! carray on disk.
//!
//! ```text
//! root/meta/nrows          how many rows there are
//! root/meta/storage        types, shapes and compression, in YAML
//! root/meta/attributes     what users keep with it, in YAML
//! root/data/__1__.bin …    up to `superchunksize` chunks each, with an index and room to grow
//! root/data/<column>/…     the same for every column of a table
//! ```
//!
//! An [`Array`] has one column, a [`Table`] has named ones, in groups of any depth. An edited chunk
//! usually fits its old place, because each has a [`Reserve`] behind it; only if it does not, its file
//! is rewritten. Everything that a commit changes is written down in a journal first, so that a crash
//! at any moment leaves the old state or the new one.
//!
//! The format is described in `docs/formats/blsk.md`.

mod array;
mod attributes;
mod copy;
mod grid;
mod handle;
mod options;
mod source;
mod table;
mod tree;

pub use crate::superfile::{ItemOrder, Reserve, Updates};
pub use array::Array;
pub use attributes::Attribute;
pub(crate) use handle::Handle;
pub use options::{ArrayOptions, TableOptions, TreeOptions};
pub use source::TableSource;
pub use table::Table;
