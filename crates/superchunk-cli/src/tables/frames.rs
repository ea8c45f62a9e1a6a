//! Columns in frames, which take rows: new ones, or copies of those of a folder of columns.

use std::path::Path;

use superchunk::columns::ColumnFolder;
use superchunk::table::Column;
use superchunk::{Json, NdArray, NdOptions};

use super::attributes::value_of;
use super::files::FileSource;
use super::sink::Schema;
use crate::arrays;
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::Outcome;
use crate::folders;

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
        let folder = ColumnFolder::create(path, names(&schema.columns))?;
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
        let create =
            |column: &Column| create(path, column, schema, shapes, (encoding, context));
        let arrays = schema.columns.iter().map(create).collect::<Outcome<_>>()?;
        Ok(Self::over(arrays, &schema.columns))
    }

    /// The attributes of a folder of columns, to be changed in place.
    pub(super) fn attributes_of(path: &Path, context: &Context) -> Outcome<Self> {
        let folder = ColumnFolder::edit(path, &context.open_options())?;
        Ok(Self { columns: Vec::new(), arrays: Vec::new(), filled: 0, folder: Some(folder) })
    }

    /// A copy of a folder of columns, which takes more rows. The columns that have got another type are
    /// left out: `widen` makes their arrays at a place.
    pub(super) fn copy_of(
        files: &FileSource,
        path: &Path,
        columns: &[Column],
        context: &Context,
        widen: &dyn Fn(&NdArray, &Column, &Path) -> Outcome<NdArray>,
    ) -> Outcome<Self> {
        let mut folder = ColumnFolder::create(path, names(columns))?;
        for (name, value) in files.attributes() {
            folder.set_attr(name.clone(), value.clone())?;
        }
        let mut arrays = Vec::new();
        for ((old, array), new) in files.frames().zip(columns) {
            let place = folder.place(&new.name);
            arrays.push(if old.dtype == new.dtype {
                let from = files.folder().map(|folder| folder.place(&old.name)).unwrap_or_default();
                folders::copy_any(&from, &place)?;
                NdArray::from_superchunk(context.open_options().edit(&place)?)?
            } else {
                widen(array, new, &place)?
            });
        }
        let filled = first_side(&arrays);
        Ok(Self { columns: columns.to_vec(), arrays, filled, folder: Some(folder) })
    }

    /// Arrays without a folder that get their rows from the first on.
    pub(super) fn over(arrays: Vec<NdArray>, columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), arrays, filled: 0, folder: None }
    }

    /// Takes the next rows of these columns.
    pub(super) fn put(&mut self, named: &[(&str, &[u8])]) -> Outcome {
        let mut end = self.filled;
        for ((array, column), (_, part)) in self.arrays.iter_mut().zip(&self.columns).zip(named) {
            end = self.filled + (part.len() / column.row_size().max(1)) as u64;
            let (mut start, mut stop) = (vec![0; array.ndim()], array.shape().to_vec());
            match (start.first_mut(), stop.first_mut()) {
                (Some(from), Some(to)) if *to >= end => (*from, *to) = (self.filled, end),
                _ => {
                    array.append(0, part)?;
                    continue;
                }
            }
            array.write_box(&start, &stop, part)?;
        }
        self.filled = end;
        Ok(())
    }

    /// The first array, which is not committed yet.
    pub(super) fn into_array(self) -> Option<NdArray> {
        self.arrays.into_iter().next()
    }

    /// Adds or changes an attribute: of the folder, or of the single array.
    pub(super) fn set_attr(&mut self, name: &str, value: &Json) -> Outcome {
        if let Some(folder) = &mut self.folder {
            return Ok(folder.set_attr(name, value.clone())?);
        }
        let value = value_of(value);
        for array in &mut self.arrays {
            array.superchunk_mut().set_value(name, &value)?;
        }
        Ok(())
    }

    /// Removes an attribute of the folder; returns whether there was one.
    pub(super) fn remove_attr(&mut self, name: &str) -> bool {
        self.folder.as_mut().and_then(|folder| folder.remove_attr(name)).is_some()
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
        self.folder.map_or(Ok(()), |folder| folder.commit())
    }
}

fn names(columns: &[Column]) -> impl Iterator<Item = &str> {
    columns.iter().map(|column| column.name.as_str())
}

fn first_side(arrays: &[NdArray]) -> u64 {
    arrays.first().and_then(|array| array.shape().first().copied()).unwrap_or(0)
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
    arrays::check_axes((chunks, blocks), shape.len())?;
    let chunk = if chunks.is_empty() { chunk.as_slice() } else { chunks };
    let mut options = NdOptions::new(frame).with_chunks(chunk);
    if !blocks.is_empty() {
        options = options.with_blocks(blocks);
    }
    Ok(NdArray::create(place, &shape, &column.dtype, &options)?)
}
