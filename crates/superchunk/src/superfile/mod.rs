//! The `blsk` layout of the carray proposal of 2012: columns of chunks in superchunk files.
//!
//! ```text
//! root/meta/{nrows, storage, attributes}      yaml, storage
//! root/data/__1__.bin, __2__.bin …            file: header, index, chunks with room to grow
//! root/data/<column>/…                        the same for each column, at any depth
//! ```
//!
//! [`Root`] is the tree, [`Column`] the layout of one column's chunks. See `docs/formats/blsk.md`.

mod column;
mod commit;
mod file;
mod journal;
mod pending;
mod root;
mod stage;
mod storage;
mod yaml;

pub use crate::dtype::ItemOrder;
pub use column::Updates;
pub use storage::Reserve;

pub(crate) use column::Column;
pub(crate) use file::{INDEX, Index, MAGIC};
pub(crate) use journal::FileId;
pub(crate) use root::{Access, Root, file_name};
pub(crate) use storage::{
    Compression, Leaf, MAX_CHUNK, Partial, Storage, Truncation, check_column_name,
};
pub(crate) use yaml::Yaml;
