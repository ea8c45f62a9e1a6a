//! How new arrays and tables are made.

use crate::carray::{
    Storage, automatic_chunk_len, default_bytes, row_size, typesize, zero_default,
};
use crate::dtype::{DKind, DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Durability;
use crate::options::{ChunkFormat, CompressOptions};
use crate::wire::json::Json;

/// How a new [`Array`](super::Array) is made.
///
/// ```
/// use superchunk::bcolz::ArrayOptions;
/// use superchunk::{Codec, CompressOptions};
///
/// let faces = ArrayOptions::of::<f32>()
///     .with_row_shape([3, 112, 112])
///     .with_expected_rows(12_000)
///     .with_compress(CompressOptions::new(4).with_codec(Codec::Zstd));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ArrayOptions {
    /// The type of an item.
    pub dtype: DType,
    /// The shape of a row; empty when a row is one item.
    pub row_shape: Vec<usize>,
    /// Codec, level and shuffle of the chunks, and who does the work. The item size is that of the
    /// type, and chunks are of Blosc1, whatever is said here.
    pub compress: CompressOptions,
    /// The rows of a chunk. When `None`, bcolz's rule chooses by the expected length.
    pub chunk_rows: Option<u64>,
    /// How many rows are to come; a guess is good enough.
    pub expected_rows: u64,
    /// The value of rows that a resize adds; zero, false or empty when `None`.
    pub default: Option<Json>,
    /// How many decimal digits behind the point floats keep; 0 when they stay as they are, see
    /// [`Array::quantize`](super::Array::quantize).
    pub quantize: i64,
    /// When a commit returns.
    pub durability: Durability,
}

impl ArrayOptions {
    /// An array of this type, compressed as bcolz does by default: LZ4 at level 5, shuffled.
    #[must_use]
    pub fn new(dtype: DType) -> Self {
        Self {
            compress: CompressOptions::new(dtype.item_size().max(1)),
            dtype,
            row_shape: Vec::new(),
            chunk_rows: None,
            expected_rows: 0,
            default: None,
            quantize: 0,
            durability: Durability::Full,
        }
    }

    /// An array of numbers of type `T`.
    #[must_use]
    pub fn of<T: Element>() -> Self {
        Self::new(T::dtype())
    }

    /// The same options with rows of this shape.
    #[must_use]
    pub fn with_row_shape(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.row_shape = shape.into();
        self
    }

    /// The same options with another compression.
    #[must_use]
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
        self.compress = compress;
        self
    }

    /// The same options with this many rows in a chunk.
    #[must_use]
    pub fn with_chunk_rows(mut self, rows: u64) -> Self {
        self.chunk_rows = Some(rows);
        self
    }

    /// The same options for about this many rows in all.
    #[must_use]
    pub fn with_expected_rows(mut self, rows: u64) -> Self {
        self.expected_rows = rows;
        self
    }

    /// The same options with another value for rows that a resize adds.
    #[must_use]
    pub fn with_default(mut self, value: impl Into<Json>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// The same options with another durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// What the file `storage` is to say.
    pub(super) fn storage(&self) -> Result<Storage> {
        self.check_type()?;
        let caller = |error: Error| error.of_kind(ErrorKind::InvalidArgument);
        let row_size = row_size(self.dtype.item_size(), &self.row_shape).map_err(caller)?;
        let chunk_len =
            self.chunk_rows.unwrap_or(automatic_chunk_len(self.expected_rows, row_size));
        if chunk_len == 0 {
            return Err(Error::invalid("a chunk has at least one row"));
        }
        let default = self.default.clone().unwrap_or_else(|| zero_default(&self.dtype));
        if default_bytes(&self.dtype, &default).is_none() {
            return Err(Error::invalid(format!("`{}` has no such default value", self.dtype)));
        }
        let expected = i64::try_from(self.expected_rows).unwrap_or(i64::MAX);
        let storage =
            Storage::new(self.dtype.clone(), &self.compress, chunk_len, expected, default)?;
        Ok(Storage { quantize: self.quantize, ..storage })
    }

    /// Refuses types that bcolz cannot keep.
    fn check_type(&self) -> Result<()> {
        let why = match self.dtype.kind() {
            DKind::Struct => {
                "bcolz cannot open an array of structures: make a table with a column for each field"
            }
            DKind::Complex => {
                "bcolz has no complex numbers: keep real and imaginary parts as two columns"
            }
            DKind::Float if self.dtype.item_size() > 8 => {
                "bcolz has no floats of more than 64 bits"
            }
            _ => return Ok(()),
        };
        Err(Error::unsupported(why))
    }
}

/// How the chunks of an array are compressed.
pub(super) fn chunk_options(base: &CompressOptions, dtype: &DType) -> CompressOptions {
    CompressOptions { item_size: typesize(dtype), format: ChunkFormat::Blosc1, ..base.clone() }
}

/// How a new [`Table`](super::Table) is made: its columns, in order.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The names of the columns, and how each is made.
    pub columns: Vec<(String, ColumnOptions)>,
    /// When a commit returns; that of the columns does not count.
    pub durability: Durability,
    /// Whether the least and the greatest value of every chunk are kept, see
    /// [`Table::refresh_bounds`](super::Table::refresh_bounds).
    pub bounds: bool,
}

/// How a column is made.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum ColumnOptions {
    /// An array.
    Array(Box<ArrayOptions>),
    /// Columns inside of a column. bcolz has none of these: it cannot open such a table.
    Table(TableOptions),
}

impl TableOptions {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether new chunks of any column are to be checked; then those of all are.
    pub(super) fn checks(&self) -> bool {
        self.columns.iter().any(|(_, column)| match column {
            ColumnOptions::Array(array) => array.compress.check,
            ColumnOptions::Table(table) => table.checks(),
        })
    }

    /// The same options with one more column.
    #[must_use]
    pub fn with_column(mut self, name: impl Into<String>, options: ArrayOptions) -> Self {
        self.columns.push((name.into(), ColumnOptions::Array(Box::new(options))));
        self
    }

    /// The same options with a column that has columns itself. bcolz cannot open such a table.
    #[must_use]
    pub fn with_nested(mut self, name: impl Into<String>, options: TableOptions) -> Self {
        self.columns.push((name.into(), ColumnOptions::Table(options)));
        self
    }

    /// The same options with bounds of the chunks, so that scans can skip some. They are found while
    /// rows are appended, and written when the table is closed.
    #[must_use]
    pub fn with_bounds(mut self) -> Self {
        self.bounds = true;
        self
    }

    /// The same options with another durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}
