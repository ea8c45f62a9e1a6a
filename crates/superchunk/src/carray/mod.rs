//! The folder of a bcolz carray, and what a ctable has beside its columns.
//!
//! ```text
//! root/__attrs__            attrs      the user's values, JSON
//! root/meta/sizes           sizes      shape; a commit replaces it last
//! root/meta/storage         storage    type, compression, rows of a chunk
//! root/data/__N.blp         chunk_file one chunk each: rows N·chunklen and on
//!
//! root/__rootdirs__         rootdirs   a table: the names of its columns, each a folder as above
//! root/.b2commit            intent     a table between two states; bcolz ignores it
//! ```
//!
//! One reader covers carray 0.5, BLZ, bcolz 0.7 to 1.2 and bcolz-zipline; written is what bcolz 1.1
//! and later write. The format is described in `docs/formats/bcolz.md`.

mod attrs;
#[cfg(any(unix, windows))]
mod beyond;
mod chunk_file;
mod default_value;
mod geometry;
mod home;
mod intent;
mod layout;
mod object;
pub(crate) mod pickle;
mod rootdirs;
mod sizes;
mod staged;
mod storage;
mod watch;

pub(crate) use attrs::Attrs;
#[cfg(any(unix, windows))]
pub(crate) use beyond::remove_beyond;
pub(crate) use chunk_file::{HEADER_LEN, check_header, chunk_name};
pub(crate) use default_value::{default_bytes, zero_default};
pub(crate) use geometry::{Geometry, automatic_chunk_len, row_size, typesize};
pub(crate) use home::Home;
pub(crate) use intent::Intent;
pub(crate) use layout::Carray;
pub(crate) use object::{read_object, write_objects};
pub(crate) use rootdirs::Rootdirs;
pub(crate) use sizes::Sizes;
pub(crate) use staged::{Control, Staged};
pub(crate) use storage::{ItemType, Storage};
pub(crate) use watch::Watch;

/// Which program wrote the folder, as far as its files tell.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// carray 0.5 or bcolz up to 1.0: no codec is named, it is BloscLZ.
    Early,
    /// bcolz 1.1 and later, bcolz-zipline, and this library.
    Modern,
    /// BLZ: the compression stands under `bparams`.
    Blz,
}
