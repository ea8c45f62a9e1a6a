//! Arrays in files as tables: a column each, or a column for each field of a structure.

use std::ops::Range;
use std::path::{Path, PathBuf};

use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::table::{Column, Source};
use superchunk::{DKind, DType, Error, ErrorKind, Json, NdArray, Result};

use super::array::VALUES;
use crate::arrays::Array;
use crate::attributes::json_of;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{Content, Input};
use crate::opened::Found;
use crate::sizes::stored_of_path;
use crate::values::parse_dtype;

/// Arrays of equally many rows.
pub(super) struct FileSource {
    arrays: Vec<Array>,
    columns: Vec<Column>,
    /// Which array a column is in, and where in its rows.
    places: Vec<(usize, usize)>,
    rows: u64,
    attributes: Vec<(String, Json)>,
    kept: Kept,
}

/// Where the arrays are.
enum Kept {
    /// A file with one array. That of a structure has a column for each field.
    File { stored: u64, has_fields: bool },
    /// A folder, in which each array is a column.
    Folder(Box<ColumnFolder>),
}

impl FileSource {
    /// The array of a file. A structure gives a column for each of its fields.
    pub(super) fn of_file(found: Found, context: &Context) -> Outcome<Self> {
        let input = Input::of(found, context)?;
        let stored = stored_of_path(&input.path);
        let attributes = input.free_attributes()?;
        let array = match input.content {
            Content::Array(array) => array,
            Content::Raw(_) => return Err(input.refuse("a table or an array")),
            _ => {
                let name = &input.name;
                let words = format!("`{name}` is not a table or an array: its items have no type");
                let help =
                    format!("`superchunk unpack {name} --dtype '<f8' -o OUT.npy` gives them one");
                return Err(Failure::said(Exit::Unsupported, words).with_help(help));
            }
        };
        let json = attributes.into_iter().map(|(name, value)| Ok((name, json_of(&value)?)));
        let dtype = parse_dtype(&array.dtype())?;
        let has_fields = dtype.kind() == DKind::Struct && array.shape().len() == 1;
        let kept = Kept::File { stored, has_fields };
        let mut source = Self::empty(kept, json.collect::<Outcome<_>>()?);
        if has_fields {
            source.add_fields(array, &dtype);
        } else {
            source.add(VALUES, array, dtype)?;
        }
        Ok(source)
    }

    /// The arrays of a folder of columns, or of one that has no list of them.
    pub(super) fn of_folder(path: &Path, context: &Context) -> Outcome<Self> {
        let folder = ColumnFolder::open_with(path, &context.open_options())?;
        Self::over(Box::new(folder), context)
    }

    /// The arrays of a folder that is open already.
    pub(super) fn over(folder: Box<ColumnFolder>, context: &Context) -> Outcome<Self> {
        if folder.names().is_empty() {
            let words = format!("`{}` is a folder without columns", folder.path().display());
            return Err(Failure::said(Exit::Unsupported, words)
                .with_help("a folder of columns has a .b2nd file for each"));
        }
        let places: Vec<_> =
            folder.names().iter().map(|name| (name.clone(), folder.place(name))).collect();
        let attributes = folder.attributes().as_object().unwrap_or_default().to_vec();
        let mut source = Self::empty(Kept::Folder(folder), attributes);
        let mut places = places.into_iter();
        let added = places.try_for_each(|(name, place)| source.add_frame(&name, place, context));
        match source.folder() {
            // What is wrong with some of the columns may be that others are those of another folder.
            Some(folder) if !folder.is_current().unwrap_or(false) => {
                let changed = Error::new(ErrorKind::Changed, "another writer has replaced it");
                Err(changed.within(folder.path().display().to_string()).into())
            }
            _ => added.map(|()| source),
        }
    }

    /// The values that its users keep with it.
    pub(super) fn attributes(&self) -> &[(String, Json)] {
        &self.attributes
    }

    /// The folder whose columns these are, if they are not of a single array.
    pub(super) fn folder(&self) -> Option<&ColumnFolder> {
        if let Kept::Folder(folder) = &self.kept { Some(folder) } else { None }
    }

    /// A new folder for the same columns, with the same attributes.
    pub(super) fn new_folder(&self, path: &Path) -> Outcome<ColumnFolder> {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let mut folder =
            ColumnFolder::create(path, &ColumnFolderOptions::new().with_columns(names))?;
        for (name, value) in &self.attributes {
            folder.set_attribute(name.clone(), value.clone())?;
        }
        Ok(folder)
    }

    /// The bytes of the files.
    pub(super) fn stored(&self) -> u64 {
        match &self.kept {
            Kept::File { stored, .. } => *stored,
            Kept::Folder(folder) => stored_of_path(folder.path()),
        }
    }

    /// The array of each column, in order; none of a single array.
    pub(super) fn frames(&self) -> impl Iterator<Item = (&Column, &NdArray)> {
        let arrays = self.arrays.iter().filter_map(|array| match array {
            Array::Frame(array) => Some(&**array),
            _ => None,
        });
        self.columns.iter().zip(arrays).filter(|_| self.folder().is_some())
    }

    /// Whether it is an array, whose one column has no name.
    pub(super) fn is_array(&self) -> bool {
        matches!(self.kept, Kept::File { has_fields: false, .. })
    }

    /// The same rows, for those who want to own what gives them.
    pub(super) fn source(&self) -> Box<dyn Source + '_> {
        Box::new(Borrowed(self))
    }

    fn empty(kept: Kept, attributes: Vec<(String, Json)>) -> Self {
        let (arrays, columns, places) = Default::default();
        Self { arrays, columns, places, rows: 0, attributes, kept }
    }

    fn add_frame(&mut self, name: &str, place: PathBuf, context: &Context) -> Outcome {
        let input = Input::of(Found::at_path(&place)?, context)?;
        if !matches!(&input.content, Content::Array(Array::Frame(_))) {
            return Err(input.refuse("an array in a frame"));
        }
        let Content::Array(array) = input.content else { return Ok(()) };
        let dtype = parse_dtype(&array.dtype())?;
        self.add(name, array, dtype)
    }

    fn add(&mut self, name: &str, array: Array, dtype: DType) -> Outcome {
        let (shape, grid) = (array.shape().to_vec(), array.grid());
        let Some((rows, sides)) = shape.split_first() else {
            return Err(Failure::usage(format!("`{name}` has no axes, and so no rows")));
        };
        if !self.arrays.is_empty() && *rows != self.rows {
            let words = format!("`{name}` has {rows} rows, those before it have {}", self.rows);
            return Err(Failure::said(Exit::Corrupt, words));
        }
        let sides: Vec<usize> =
            sides.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        let chunk_rows = grid.and_then(|(chunks, _)| chunks.first().copied()).unwrap_or(0);
        let column = Column::new(name, dtype).with_row_shape(&sides).with_chunk_rows(chunk_rows);
        self.rows = *rows;
        self.columns.push(column);
        self.places.push((self.arrays.len(), 0));
        self.arrays.push(array);
        Ok(())
    }

    fn add_fields(&mut self, array: Array, dtype: &DType) {
        for field in dtype.fields() {
            let column = Column::new(field.name(), field.dtype().clone());
            self.columns.push(column.with_row_shape(field.shape()));
            self.places.push((self.arrays.len(), field.offset()));
        }
        self.rows = array.shape().first().copied().unwrap_or(0);
        self.arrays.push(array);
    }
}

impl Source for FileSource {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let missing = || Error::invalid(format!("there is no column {column}"));
        let (number, offset) = *self.places.get(column).ok_or_else(missing)?;
        let array = self.arrays.get(number).ok_or_else(missing)?;
        let size = self.columns.get(column).ok_or_else(missing)?.row_size();
        let wide = array.row();
        let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let range = rows.start * wide as u64..rows.end * wide as u64;
        let read = |dst: &mut [u8]| array.read(range, dst).map_err(library);
        if wide == size {
            let len = count.saturating_mul(size);
            return read(dst.get_mut(..len).ok_or_else(|| Error::invalid("too little room"))?);
        }
        let mut whole = vec![0; count.saturating_mul(wide)];
        read(&mut whole)?;
        for (row, to) in whole.chunks_exact(wide).zip(dst.chunks_exact_mut(size.max(1))) {
            to.copy_from_slice(row.get(offset..offset + size).ok_or_else(missing)?);
        }
        Ok(())
    }
}

/// The rows of a source that stays where it is.
struct Borrowed<'a>(&'a FileSource);

impl Source for Borrowed<'_> {
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    fn columns(&self) -> &[Column] {
        self.0.columns()
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.0.read(column, rows, dst)
    }
}

fn library(failure: Failure) -> Error {
    match failure {
        Failure::Library(error) => error,
        _ => Error::invalid("the array cannot be read"),
    }
}
