//! Columns in frames, which take rows: new ones, or copies of those of a folder of columns.

use std::path::Path;

use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::table::{Column, Source};
use superchunk::{Json, NdArray, NdOptions, NdStorage};

use super::batch::{Schema, each_batch, schema};
use super::files::FileSource;
use super::text_width::filled_up;
use crate::attributes::value_of;
use crate::context::Context;
use crate::encoding::{EncodingArgs, warn_of_delta};
use crate::failure::Outcome;
use crate::folders;
use crate::write::array::check_axes;

/// Arrays that get their rows one after the other.
pub(crate) struct Frames {
    columns: Vec<Column>,
    /// One for each column; none where only the attributes of a folder change.
    arrays: Vec<NdArray>,
    /// The number of rows that they have got so far.
    filled: u64,
    /// The folder of the arrays; `None` for a single one, which has attributes of its own.
    folder: Option<ColumnFolder>,
}

impl Frames {
    /// A new frame for each column in a new folder.
    pub(super) fn columns_at(
        path: &Path,
        schema: &Schema,
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        let names = schema.columns.iter().map(|column| column.name.as_str());
        let folder = ColumnFolder::create(path, &ColumnFolderOptions::new().with_columns(names))?;
        let mut arrays = Vec::new();
        for column in &schema.columns {
            let place = folder.place(&column.name);
            arrays.push(create(&place, column, schema, Default::default(), (encoding, context))?);
        }
        Ok(Self { columns: schema.columns.clone(), arrays, filled: 0, folder: Some(folder) })
    }

    /// A new frame of one column, whose chunks and blocks may have these shapes.
    pub(super) fn array_at(
        path: &Path,
        schema: &Schema,
        shapes: (&[usize], &[usize]),
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<Self> {
        let create = |column: &Column| create(path, column, schema, shapes, (encoding, context));
        let arrays = schema.columns.iter().map(create).collect::<Outcome<_>>()?;
        Ok(Self { columns: schema.columns.clone(), arrays, filled: 0, folder: None })
    }

    /// The attributes of a folder of columns, to be changed in place.
    pub(super) fn attributes_of(folder: ColumnFolder) -> Self {
        Self { columns: Vec::new(), arrays: Vec::new(), filled: 0, folder: Some(folder) }
    }

    /// A copy of a folder of columns, which takes more rows. Columns of another type than before
    /// are written anew, and so are those whose only chunk is short; the files of the others are
    /// copied.
    pub(super) fn copy_of(
        files: &FileSource,
        path: &Path,
        columns: &[Column],
        context: &Context,
    ) -> Outcome<Self> {
        let folder = files.new_folder(path)?;
        let usual = usize::try_from(schema(columns, 0).batch()).unwrap_or(usize::MAX);
        let filters = files.frames().flat_map(|(_, array)| array.options().frame.compress.filters);
        warn_of_delta(&filters.collect::<Vec<_>>(), context);
        let mut arrays = Vec::new();
        for ((old, array), new) in files.frames().zip(columns) {
            let place = folder.place(&new.name);
            let mut options = array.options();
            let sides = [&[usual][..], &new.row_shape].concat();
            let chunk_rows = array.chunk_shape().first().copied().unwrap_or(usual);
            let is_short = chunk_rows < usual && files.rows() <= chunk_rows as u64;
            if is_short {
                (options.chunks, options.blocks) = (Some(sides), None);
            }
            arrays.push(if is_short || old.dtype != new.dtype {
                renewed(files, (old, array), (new, options), (&place, context))?
            } else {
                let from = files.folder().map(|folder| folder.place(&old.name));
                folders::copy_any(&from.unwrap_or_default(), &place)?;
                NdArray::edit_with(&place, &context.open_options())?
            });
        }
        let (columns, filled) = (columns.to_vec(), files.rows());
        Ok(Self { columns, arrays, filled, folder: Some(folder) })
    }

    /// Takes the next rows of these columns.
    pub(super) fn put(&mut self, named: &[(&str, &[u8])]) -> Outcome {
        let mut end = self.filled;
        for ((array, column), (_, part)) in self.arrays.iter_mut().zip(&self.columns).zip(named) {
            end = put(array, column, self.filled, part)?;
        }
        self.filled = end;
        Ok(())
    }

    /// Adds or changes an attribute: of the folder, or of the single array.
    pub(super) fn set_attr(&mut self, name: &str, value: &Json) -> Outcome {
        if let Some(folder) = &mut self.folder {
            return Ok(folder.set_attribute(name, value.clone())?);
        }
        let value = value_of(value);
        for array in &mut self.arrays {
            array.superchunk_mut().set_attribute(name, value.clone())?;
        }
        Ok(())
    }

    /// Removes an attribute of the folder; returns whether there was one.
    pub(super) fn remove_attr(&mut self, name: &str) -> superchunk::Result<bool> {
        self.folder.as_mut().map_or(Ok(false), |folder| folder.remove_attribute(name))
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many rows they have got so far.
    pub(super) fn rows(&self) -> u64 {
        self.filled
    }

    /// Commits the arrays, then the list that makes a table of them.
    pub(super) fn close(self) -> superchunk::Result<()> {
        self.arrays.into_iter().try_for_each(NdArray::close)?;
        self.folder.map_or(Ok(()), |mut folder| folder.commit())
    }
}

/// Writes rows of a column from `first` on, for which the array has room or grows; returns where
/// they end.
fn put(array: &mut NdArray, column: &Column, first: u64, rows: &[u8]) -> Outcome<u64> {
    let end = first + (rows.len() / column.row_size().max(1)) as u64;
    let (mut start, mut stop) = (vec![0; array.ndim()], array.shape().to_vec());
    match (start.first_mut(), stop.first_mut()) {
        (Some(from), Some(to)) if *to >= end => {
            (*from, *to) = (first, end);
            array.write_box(&start, &stop, rows)?;
        }
        _ => array.append(0, rows)?,
    }
    Ok(end)
}

/// A new array made with these options, with the rows and the attributes of an old one.
fn renewed(
    files: &FileSource,
    (old, array): (&Column, &NdArray),
    (new, mut options): (&Column, NdStorage),
    (place, context): (&Path, &Context),
) -> Outcome<NdArray> {
    options.frame.compress.item_size = new.dtype.item_size();
    options.frame.compress.executor = context.executor();
    let mut copy = NdArray::create(
        place,
        &NdOptions::new(array.shape(), new.dtype.clone()).with_storage(options.clone()),
    )?;
    for name in array.superchunk().attribute_names() {
        let value = array.superchunk().attribute_bytes(name)?;
        copy.superchunk_mut().set_attribute_bytes(name, &value)?;
    }
    let (old, new) = (std::slice::from_ref(old), std::slice::from_ref(new));
    let (source, mut at) = (files.source(), 0);
    each_batch(&*source, &schema(old, files.rows()), context.memory(), &mut |parts| {
        for (column, rows) in new.iter().zip(filled_up(parts, old, new).iter()) {
            at = put(&mut copy, column, at, rows)?;
        }
        Ok(())
    })?;
    Ok(copy)
}

/// A new array with room for all rows of a column.
fn create(
    place: &Path,
    column: &Column,
    schema: &Schema,
    (chunks, blocks): (&[usize], &[usize]),
    (encoding, context): (&EncodingArgs, &Context),
) -> Outcome<NdArray> {
    let sides = column.row_shape.iter().map(|side| *side as u64);
    let shape: Vec<u64> = std::iter::once(schema.rows).chain(sides).collect();
    let batch = usize::try_from(schema.batch().min(schema.rows.max(1))).unwrap_or(1);
    let chunk: Vec<usize> =
        std::iter::once(batch).chain(column.row_shape.iter().copied()).collect();
    let frame = encoding.fresh(column.dtype.item_size(), context)?;
    check_axes((chunks, blocks), shape.len())?;
    let chunk = if chunks.is_empty() { chunk.as_slice() } else { chunks };
    let mut options = NdStorage::new(frame).with_chunks(chunk);
    if !blocks.is_empty() {
        options = options.with_blocks(blocks);
    }
    Ok(NdArray::create(
        place,
        &NdOptions::new(&shape, column.dtype.clone()).with_storage(options.clone()),
    )?)
}
