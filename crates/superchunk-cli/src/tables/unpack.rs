//! The rows of a table in files that every program reads: CSV, or a NumPy file for each column.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use superchunk::store::{Dir, Folder};
use superchunk::table::{Column, Source};

use super::batch::{Schema, each_batch};
use super::convert::refuse_objects;
use super::print::{Shown, csv_to};
use super::{Rows, len_of, npy, span_of};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::replace::replace;
use crate::span::Span;
use crate::target::{Target, fill};
use crate::values::Escape;

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpacked {
    Csv(Escape),
    /// One NumPy file: an array, or structures.
    Npy,
    /// A folder with a NumPy file for each column.
    Folder,
    /// The bytes of one column.
    Raw,
}

/// Writes all rows, or those of a slice; returns how many bytes they have.
pub(crate) fn unpack(
    rows: &Rows,
    slice: Option<&str>,
    made: Unpacked,
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome<u64> {
    let span = span_of(rows, slice)?;
    let source = rows.source();
    if !matches!(made, Unpacked::Csv(_)) {
        refuse_objects(rows, rows.typed_columns().is_empty(), context)?;
    }
    let schema = Schema {
        columns: rows.typed_columns(),
        rows: span.count(),
        is_array: rows.is_array(),
        attributes: Vec::new(),
    };
    let len = len_of(&schema.columns, schema.rows);
    rows.check_expansion(&schema.columns, schema.rows, context)?;
    schema.check(&rows.name, context.memory())?;
    let sliced = Sliced { source: &*source, span };
    match (made, target) {
        (Unpacked::Csv(escape), _) => {
            let (columns, objects) = (rows.columns(), rows.objects());
            let shown = Shown { source: &*source, columns, objects: &objects, span };
            csv_to(&shown, (target, force), escape, context)?;
        }
        (Unpacked::Npy | Unpacked::Raw, _) => {
            target.write(force, context, |out| {
                if made == Unpacked::Npy {
                    put(out, target, &npy::header(&schema)?)?;
                }
                items(&sliced, &schema, out, target, context)
            })?;
        }
        (Unpacked::Folder, Target::Path(path)) => {
            replace(path, force, context, |temporary| {
                folder(&sliced, &schema, temporary, target, context)
            })?;
        }
        (Unpacked::Folder, _) => {
            return Err(Failure::usage("a folder of columns is not made in a pipe")
                .with_help("-o FOLDER says where, PATH::COLUMN takes one column"));
        }
    }
    Ok(len)
}

/// A NumPy file for each column, those of groups in folders of their own.
fn folder(
    source: &dyn Source,
    schema: &Schema,
    path: &Path,
    target: &Target,
    context: &Context,
) -> Outcome {
    let failed = |error| target.failed(error);
    fs::create_dir(path).map_err(failed)?;
    for column in &schema.columns {
        let place = path.join(format!("{}.npy", column.name));
        let group = place.parent().unwrap_or(path);
        fs::create_dir_all(group).map_err(failed)?;
        let only = Schema {
            columns: vec![column.clone()],
            is_array: true,
            attributes: Vec::new(),
            ..*schema
        };
        let file = File::create_new(&place).map_err(failed)?;
        fill(file, &place, |out| {
            put(out, target, &npy::header(&only)?)?;
            items(source, &only, out, target, context)
        })?;
        Folder::open(group)?.sync()?;
    }
    Ok(Folder::open(path)?.sync()?)
}

fn items(
    source: &dyn Source,
    schema: &Schema,
    out: &mut dyn Write,
    target: &Target,
    context: &Context,
) -> Outcome {
    let mut progress = context.progress("unpacking", None);
    each_batch(source, schema, context.memory(), &mut |parts| {
        let bytes = npy::rows(&schema.columns, parts);
        progress.add(bytes.len());
        put(out, target, &bytes)
    })
}

fn put(out: &mut dyn Write, target: &Target, bytes: &[u8]) -> Outcome {
    out.write_all(bytes).map_err(|error| target.failed(error))
}

/// Some of the rows of a table.
struct Sliced<'a> {
    source: &'a dyn Source,
    span: Span,
}

impl Source for Sliced<'_> {
    fn rows(&self) -> u64 {
        self.span.count()
    }

    fn columns(&self) -> &[Column] {
        self.source.columns()
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> superchunk::Result<()> {
        let Span { start, step, .. } = self.span;
        let place = |row: u64| start.saturating_add(row.saturating_mul(step));
        if step == 1 {
            return self.source.read(column, place(rows.start)..place(rows.end), dst);
        }
        let numbers: Vec<u64> = rows.map(place).collect();
        self.source.gather(column, &numbers, dst)
    }
}
