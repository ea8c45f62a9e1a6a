//! Arrays in files as tables: a column each, or a column for each field of a structure.

use std::ops::Range;
use std::path::Path;

use superchunk::table::{Column, Source};
use superchunk::{DKind, DType, Error, Result, Value};

use super::array::VALUES;
use super::manifest;
use crate::arrays::Array;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::Location;
use crate::values::parse_dtype;

/// Arrays of equally many rows.
pub(super) struct FileSource {
    arrays: Vec<Array>,
    columns: Vec<Column>,
    /// Which array a column is in, and where in its rows.
    places: Vec<(usize, usize)>,
    rows: u64,
    attributes: Vec<(String, Value)>,
}

impl FileSource {
    /// The array of a file. A structure gives a column for each of its fields; tells whether it is one.
    pub(super) fn of_file(location: &Location, context: &Context) -> Outcome<(Self, bool)> {
        let input = Input::open(location, context)?;
        input.check_expansion(context)?;
        let attributes = input.attributes()?;
        let array = match input.content {
            Content::Array(array) => array,
            Content::Raw(_) => return Err(input.refuse("a table or an array")),
            _ => {
                let name = location.name();
                let words = format!("`{name}` is not a table or an array: its items have no type");
                let help =
                    format!("`superchunk unpack {name} --dtype '<f8' -o OUT.npy` gives them one");
                return Err(Failure::said(Exit::Unsupported, words).with_help(help));
            }
        };
        let mut source = Self::empty();
        source.attributes = attributes;
        let dtype = parse_dtype(&array.dtype())?;
        let is_structure = dtype.kind() == DKind::Struct && array.shape().len() == 1;
        source.add(VALUES, array, dtype)?;
        Ok((source, is_structure))
    }

    /// The `.b2nd` files of a folder; `None` if there are none.
    pub(super) fn of_folder(folder: &Path, context: &Context) -> Outcome<Option<Self>> {
        let names = manifest::names(folder)?;
        let mut source = Self::empty();
        for name in &names {
            let path = manifest::place(folder, name);
            let input = Input::open(&Location::whole(Some(path.clone())), context)?;
            input.check_expansion(context)?;
            if source.arrays.is_empty() {
                source.attributes = input.attributes()?;
            }
            let Content::Array(array) = input.content else {
                return Err(Failure::usage(format!("`{}` is no array", path.display())));
            };
            let dtype = parse_dtype(&array.dtype())?;
            source.add(name, array, dtype)?;
        }
        Ok((!names.is_empty()).then_some(source))
    }

    /// The values that its users keep with it; of a folder, those of its first column.
    pub(super) fn attributes(&self) -> &[(String, Value)] {
        &self.attributes
    }

    /// The same rows, for those who want to own what gives them.
    pub(super) fn source(&self) -> Box<dyn Source + '_> {
        Box::new(Borrowed(self))
    }

    fn empty() -> Self {
        let (arrays, columns, places, attributes) = Default::default();
        Self { arrays, columns, places, rows: 0, attributes }
    }

    fn add(&mut self, name: &str, array: Array, dtype: DType) -> Outcome {
        let Some((rows, sides)) = array.shape().split_first() else {
            return Err(Failure::usage(format!("`{name}` has no axes, and so no rows")));
        };
        if !self.arrays.is_empty() && *rows != self.rows {
            let words = format!("`{name}` has {rows} rows, those before it have {}", self.rows);
            return Err(Failure::usage(words));
        }
        self.rows = *rows;
        let number = self.arrays.len();
        if dtype.kind() == DKind::Struct && sides.is_empty() {
            for field in dtype.fields() {
                let column = Column::new(field.name(), field.dtype().clone());
                self.columns.push(column.with_row_shape(field.shape()));
                self.places.push((number, field.offset()));
            }
        } else {
            let sides: Vec<usize> =
                sides.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
            self.columns.push(Column::new(name, dtype).with_row_shape(&sides));
            self.places.push((number, 0));
        }
        self.arrays.push(array);
        Ok(())
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
