//! Tables: rows in columns, whoever keeps them, and what can be asked of them.
//!
//! A [`Source`] gives columns by ranges of rows. [`scan`] reads some columns of some rows, where a
//! condition holds, in batches: it looks at the [bounds](Bounds) of chunks first, decodes the columns of
//! the condition next, and the others only where rows match. Sums, groups and orders stand on scans.
//!
//! ```
//! use superchunk::table::{self, MemoryTable};
//!
//! let quotes = MemoryTable::new()
//!     .with_values("day", &[1u32, 2, 3, 4])?
//!     .with_values("open", &[10.0f64, 11.0, 12.0, 11.5])?
//!     .with_values("close", &[11.0f64, 10.5, 12.5, 13.0])?;
//!
//! let mut days: Vec<u32> = Vec::new();
//! for batch in table::scan(&quotes).with_columns(["day"]).with_condition("close > open")?.batches()? {
//!     days.extend(batch?.values::<u32>("day")?);
//! }
//! assert_eq!(days, [1, 3, 4]);
//! # Ok::<(), superchunk::Error>(())
//! ```

mod aggregate;
mod bounds;
mod expr;
mod group;
mod keys;
mod memory;
mod number;
mod params;
mod scan;
mod sidecar;
mod sort;
mod source;
mod suggest;
mod text;
mod values;

pub use aggregate::Summary;
pub use bounds::{BoundRange, Bounds, of_chunk as chunk_bounds, of_column as column_bounds};
pub use expr::{Const, Expr};
pub use group::{Aggregate, Measure};
pub use memory::MemoryTable;
pub use number::Number;
pub use params::Params;
pub use scan::{Batch, Batches, ColumnData, Scan, ScanStats, scan};
pub use sidecar::{BoundsFile, ChunkToken};
pub use sort::SortBy;
pub(crate) use source::column_of;
pub use source::{Column, Source};
pub use text::parse_item;
