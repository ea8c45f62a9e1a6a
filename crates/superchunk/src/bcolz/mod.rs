//! bcolz data: arrays and tables of compressed columns in folders, as bcolz, bcolz-zipline, carray
//! and BLZ keep them.
//!
//! An [`Array`] is a carray: rows of one type, plain or N-d, of which chunks of some thousand lie in
//! a file each. A [`Table`] is a ctable: columns that are arrays of one length. Both are read, made,
//! appended to and changed in place, and bcolz opens the result.
//!
//! ```
//! use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
//! # let folder = std::env::temp_dir().join(format!("superchunk-bcolz-doc-{}", std::process::id()));
//! # let path = folder.join("quotes.bcolz");
//! # std::fs::create_dir_all(&folder).unwrap();
//!
//! let options = TableOptions::new()
//!     .with_column("day", ArrayOptions::of::<u32>())
//!     .with_column("close", ArrayOptions::of::<f64>());
//! let mut quotes = Table::create(&path, &options)?;
//! quotes.append(&[
//!     ("day", bytes_of(&[20_000u32, 20_001, 20_002])),
//!     ("close", bytes_of(&[101.5f64, 99.25, 103.0])),
//! ])?;
//! quotes.set_attribute("currency", "USD")?;
//! quotes.commit()?; // both columns together, or neither
//! # drop(quotes);
//!
//! let quotes = Table::open(&path)?;
//! assert_eq!(quotes.names().collect::<Vec<_>>(), ["day", "close"]);
//! assert_eq!(quotes.array("close")?.read::<f64>(1..3)?, [99.25, 103.0]);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # fn bytes_of<T: superchunk::Element>(items: &[T]) -> &[u8] { bytemuck::cast_slice(items) }
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! Changes are seen by the handle that makes them at once, and by everyone else after a commit; a
//! handle that is dropped discards what was not committed. A commit that adds rows to an array or a
//! table is one step: whatever stops the writer, readers find all of its rows or none. Rows that
//! are overwritten appear chunk by chunk.
//!
//! The format is described in `docs/formats/bcolz.md`, the way from bcolz to this library in
//! `docs/guide/bcolz-data.md`.

mod array;
mod copy;
mod handle;
mod load;
mod notes;
mod options;
mod quantize;
mod recover;
mod rows;
mod shards;
mod source;
mod table;

pub use crate::carray::Origin;
pub use array::Array;
pub use options::{ArrayOptions, ColumnOptions, TableOptions};
pub use source::TableSource;
pub use table::{Table, TableColumn};
