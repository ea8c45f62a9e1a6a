//! Where rows go: a new or an old table, an array, a folder with a frame for each column.

use std::path::Path;

use superchunk::bcolz::{ArrayOptions, TableOptions};
use superchunk::table::Column;
use superchunk::{CompressOptions, FrameOptions, Json, Opened, bcolz, blsk};

use super::batch::Schema;
use super::frames::Frames;
use crate::attributes::blsk_attribute;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder, Pipeline};
use crate::failure::{Exit, Failure, Outcome};

/// What takes rows.
pub(crate) enum Sink {
    Table(Box<bcolz::Table>),
    Array(Box<bcolz::Array>),
    BlskTable(Box<blsk::Table>),
    BlskArray(Box<blsk::Array>),
    Frames(Box<Frames>),
}

impl Sink {
    /// A table or an array that is opened for changes. A folder of columns takes attributes, but no
    /// rows.
    pub(crate) fn of(table: Opened) -> Outcome<Self> {
        Ok(match table {
            Opened::BcolzTable(table) => Self::Table(table),
            Opened::BcolzArray(array) => Self::Array(array),
            Opened::BlskTable(table) => Self::BlskTable(table),
            Opened::BlskArray(array) => Self::BlskArray(array),
            Opened::Columns(folder) => Self::Frames(Box::new(Frames::attributes_of(*folder))),
            other => return Err(Failure::said(Exit::Busy, format!("it has become {other}"))),
        })
    }

    /// A new bcolz table or array.
    pub(super) fn bcolz(
        path: &Path,
        schema: &Schema,
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        encoding.check(Holder::Bcolz)?;
        let mut options = Vec::new();
        for column in &schema.columns {
            let compress = compress(column, encoding, context)?;
            let mut plain = ArrayOptions::new(column.dtype.clone())
                .with_row_shape(column.row_shape.clone())
                .with_compress(compress)
                .with_expected_rows(schema.rows);
            plain.chunk_rows = chunk_rows(encoding, column.row_size()).map(|rows| rows as u64);
            options.push((column.name.as_str(), plain));
        }
        match (schema.is_array, options.as_slice()) {
            (true, [(_, only)]) => Ok(Self::Array(Box::new(bcolz::Array::create(path, only)?))),
            _ => Ok(Self::Table(Box::new(bcolz::Table::create(path, &tree(&options))?))),
        }
    }

    /// A new blsk table or array.
    pub(super) fn blsk(
        path: &Path,
        schema: &Schema,
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        let Some(first) = schema.columns.first() else {
            return Err(Failure::usage("there is no column"));
        };
        if schema.columns.iter().any(|column| column.row_shape != first.row_shape) {
            return Err(Failure::usage("the rows of a blsk table have one shape in all columns")
                .with_help("convert the columns one by one, as PATH::COLUMN"));
        }
        encoding.check(Holder::Blsk)?;
        let shape: Vec<u64> = first.row_shape.iter().map(|side| *side as u64).collect();
        let base = blsk::TreeOptions::default();
        // Its filters act on items before there are chunks.
        let unfiltered = EncodingArgs { filters: None, ..encoding.clone() };
        let chosen = unfiltered.over(FrameOptions::new(base.compress.clone()), context)?;
        let mut options = base.with_compress(chosen.compress);
        if let Some(Pipeline(filters)) = &encoding.filters {
            options.compress.filters.clone_from(filters);
        }
        let widest = schema.columns.iter().map(Column::row_size).max().unwrap_or(1);
        options.chunk_rows = chunk_rows(encoding, widest);
        if schema.is_array {
            let array = blsk::Array::create(
                path,
                &blsk::ArrayOptions::new(first.dtype.clone())
                    .with_row_shape(shape)
                    .with_tree(options.clone()),
            )?;
            return Ok(Self::BlskArray(Box::new(array)));
        }
        let columns: Vec<_> =
            schema.columns.iter().map(|c| (c.name.as_str(), c.dtype.clone())).collect();
        let table = blsk::Table::create(
            path,
            &blsk::TableOptions::new()
                .with_columns(columns.clone())
                .with_row_shape(shape)
                .with_tree(options.clone()),
        )?;
        Ok(Self::BlskTable(Box::new(table)))
    }

    /// A new frame for each column in a new folder.
    pub(super) fn columns_at(
        path: &Path,
        schema: &Schema,
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        Ok(Self::Frames(Box::new(Frames::columns_at(path, schema, encoding, context)?)))
    }

    /// A new frame of one column, whose chunks and blocks may have these shapes.
    pub(super) fn array_at(
        path: &Path,
        schema: &Schema,
        shapes: (&[usize], &[usize]),
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        Ok(Self::Frames(Box::new(Frames::array_at(path, schema, shapes, encoding, context)?)))
    }

    /// Takes the next rows.
    pub(super) fn put(&mut self, columns: &[Column], parts: &[Vec<u8>]) -> Outcome {
        let named = columns.iter().zip(parts);
        let named: Vec<(&str, &[u8])> =
            named.map(|(column, part)| (column.name.as_str(), part.as_slice())).collect();
        let only = parts.first().map(Vec::as_slice).unwrap_or_default();
        match self {
            Self::Table(table) => table.append(&named)?,
            Self::BlskTable(table) => table.append(&named)?,
            Self::Array(array) => array.append(only)?,
            Self::BlskArray(array) => array.append(only)?,
            Self::Frames(frames) => frames.put(&named)?,
        }
        Ok(())
    }

    /// Adds or changes an attribute.
    pub(crate) fn set_attr(&mut self, name: &str, value: &Json) -> Outcome {
        match self {
            Self::Table(table) => table.set_attribute(name, value.clone())?,
            Self::Array(array) => array.set_attribute(name, value.clone())?,
            Self::BlskTable(table) => table.set_attribute(name, blsk_attribute(value))?,
            Self::BlskArray(array) => array.set_attribute(name, blsk_attribute(value))?,
            Self::Frames(frames) => frames.set_attr(name, value)?,
        }
        Ok(())
    }

    /// Removes an attribute; tells whether there was one.
    pub(crate) fn remove_attr(&mut self, name: &str) -> Outcome<bool> {
        Ok(match self {
            Self::Table(table) => table.remove_attribute(name)?,
            Self::Array(array) => array.remove_attribute(name)?,
            Self::BlskTable(table) => table.remove_attribute(name)?,
            Self::BlskArray(array) => array.remove_attribute(name)?,
            Self::Frames(frames) => frames.remove_attr(name)?,
        })
    }

    /// The columns, if it was there before.
    pub(super) fn columns(&self) -> Vec<Column> {
        use super::array::ArraySource;
        use superchunk::table::Source;
        match self {
            Self::Table(table) => table.source().columns().to_vec(),
            Self::BlskTable(table) => table.source().columns().to_vec(),
            Self::Array(array) => ArraySource::of_bcolz(array).columns().to_vec(),
            Self::BlskArray(array) => ArraySource::of_blsk(array).columns().to_vec(),
            Self::Frames(frames) => frames.columns().to_vec(),
        }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        match self {
            Self::Table(table) => table.row_count(),
            Self::Array(array) => array.row_count(),
            Self::BlskTable(table) => table.row_count(),
            Self::BlskArray(array) => array.row_count(),
            Self::Frames(frames) => frames.rows(),
        }
    }

    /// Says if a change of the table at `path` is in, but left for the next writer to complete.
    pub(crate) fn warn_if_unfinished(path: &Path, context: &Context) {
        if [".b2commit", "meta/.b2journal"].iter().any(|name| path.join(name).exists()) {
            context.warn("the rows are in; finishing is left to the next writer, or to `recover`");
        }
    }

    /// Commits.
    pub(crate) fn close(self) -> Outcome {
        let closed = match self {
            Self::Table(table) => table.close(),
            Self::Array(array) => array.close(),
            Self::BlskTable(table) => table.close(),
            Self::BlskArray(array) => array.close(),
            Self::Frames(frames) => frames.close(),
        };
        Ok(closed?)
    }
}

/// The rows that chunks of the wanted size have.
fn chunk_rows(encoding: &EncodingArgs, row_size: usize) -> Option<usize> {
    encoding.chunk_size.map(|size| (size / row_size.max(1)).max(1))
}

fn compress(
    column: &Column,
    encoding: &EncodingArgs,
    context: &Context,
) -> Outcome<CompressOptions> {
    let base = CompressOptions::new(column.dtype.item_size().max(1));
    Ok(encoding.over(FrameOptions::new(base), context)?.compress)
}

/// Columns called `a/b` stand in a table `a`.
fn tree(columns: &[(&str, ArrayOptions)]) -> TableOptions {
    let mut options = TableOptions::new();
    let mut rest = columns;
    while let Some((name, column)) = rest.first() {
        let Some((group, _)) = name.split_once('/') else {
            options = options.with_column(*name, column.clone());
            rest = rest.get(1..).unwrap_or_default();
            continue;
        };
        let inside = |name: &str| name.split_once('/').is_some_and(|(first, _)| first == group);
        let count = rest.iter().take_while(|(name, _)| inside(name)).count();
        let (together, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        let inner: Vec<(&str, ArrayOptions)> = together
            .iter()
            .filter_map(|(name, column)| Some((name.split_once('/')?.1, column.clone())))
            .collect();
        options = options.with_nested(group, tree(&inner));
        rest = others;
    }
    options
}
