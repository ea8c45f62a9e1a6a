//! Samples of the columns of a table, which are measured one by one.

use superchunk::table::Column;
use superchunk::{ChunkFormat, CompressOptions};

use super::{Kept, Rows};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::location::Location;
use crate::measure::{Extent, samples_of};

/// A column that is measured.
pub(crate) struct ColumnSamples {
    /// The bytes of an item, as its chunks state it.
    pub(crate) item_size: usize,
    /// The bytes of all rows.
    pub(crate) len: u64,
    pub(crate) samples: Vec<Vec<u8>>,
    format: ChunkFormat,
}

impl ColumnSamples {
    /// Options for chunks of the kind that the table has.
    pub(crate) fn options(&self) -> CompressOptions {
        CompressOptions::new(self.item_size).with_format(self.format)
    }
}

impl Rows {
    /// Refuses what has no meaning where columns are measured.
    pub(crate) fn check_measured(&self, location: &Location, item_size: Option<usize>) -> Outcome {
        if location.slice.is_some() {
            return Err(Failure::usage("samples are taken of all rows")
                .with_help("leave the slice out, --limit and --sample say how much is measured"));
        }
        match item_size {
            Some(_) => Err(Failure::usage("the columns of a table have their types")
                .with_help("leave out --typesize")),
            None => Ok(()),
        }
    }

    /// The columns that can be measured; says which cannot.
    pub(crate) fn measured_columns(&self, context: &Context) -> Outcome<Vec<Column>> {
        let columns = self.typed_columns();
        if columns.is_empty() {
            return Err(Failure::usage(format!("`{}` has no data to measure", self.name))
                .with_help("Python objects are not measured"));
        }
        let objects = self.objects();
        for column in self.columns().iter().filter(|column| objects.contain(&column.name)) {
            context.tell(&format!("not measured: column `{}` holds Python objects", column.name));
        }
        Ok(columns)
    }

    /// Samples of a column, with `most` bytes together.
    pub(crate) fn samples(
        &self,
        column: &Column,
        most: u64,
        piece: usize,
    ) -> Outcome<ColumnSamples> {
        let source = self.source();
        let place = source.columns().iter().position(|known| known.name == column.name);
        let row_len = column.row_size().max(1) as u64;
        let len = self.rows().saturating_mul(row_len);
        let extent = Extent { name: &self.name, len, unit: row_len };
        let samples = samples_of(&extent, most, piece, &mut |range, bytes| {
            let rows = range.start / row_len..range.end / row_len;
            Ok(source.read(place.unwrap_or(usize::MAX), rows, bytes)?)
        })?;
        let plain = column.dtype.item_size();
        let (item_size, format) = match &self.kept {
            Kept::Table(table) => {
                (table.array(&column.name)?.options().compress.item_size, ChunkFormat::Blosc1)
            }
            Kept::Array(array) => (array.options().compress.item_size, ChunkFormat::Blosc1),
            // What a Blosc1 chunk cannot state counts as bytes.
            Kept::BlskTable(_) | Kept::BlskArray(_) if plain > 255 => (1, ChunkFormat::Blosc1),
            Kept::BlskTable(_) | Kept::BlskArray(_) => (plain, ChunkFormat::Blosc1),
            Kept::Files(_) => (plain, ChunkFormat::Blosc2),
        };
        Ok(ColumnSamples { item_size, len, samples, format })
    }
}
