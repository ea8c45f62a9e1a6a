//! `append` to a copy of a table, which takes the place of the old one in one step: with `--widen`,
//! because columns of text that are too narrow for new rows become wider, and of folders of columns.
//!
//! Of a bcolz table and a folder of columns only the columns that become wider are written; the
//! files of the others are copied. The columns of a blsk tree share their chunks, so all of them
//! are written.

use std::ffi::OsString;
use std::path::Path;

use superchunk::bcolz::{self, ArrayOptions};
use superchunk::blsk;
use superchunk::table::Column;

use super::append::{Incoming, append, append_all, matching};
use super::batch::{each_batch, schema};
use super::frames::Frames;
use super::sink::Sink;
use super::text_width::{filled_up, is_same_text, room, with_room};
use super::{Kept, Rows};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::folders;
use crate::input::is_stream;
use crate::memory::Memory;
use crate::opened::{Edited, Found};
use crate::replace::replace;
use crate::scratch::Scratch;

/// What was appended.
pub(crate) struct Widened {
    /// The rows that came, and how many there are.
    pub(crate) counts: (u64, u64),
    /// The columns that became wider, with their old and new types.
    pub(crate) columns: Vec<(String, String, String)>,
}

/// Appends rows to a copy of the table at `path`, unless its columns stay as they are and it can be
/// changed in one commit. Columns of text become as wide as they need if `widens`.
pub(crate) fn append_to_copy(
    found: &Found,
    inputs: &[OsString],
    widens: bool,
    context: &Context,
) -> Outcome<Widened> {
    let path = &found.path;
    context.claim(path)?;
    // Rows of text are read twice.
    let (inputs, _spools) = spooled(inputs)?;
    if !found.is_table() {
        let words = format!(
            "`{}` is not a table, and only columns of a table become wider",
            path.display()
        );
        return Err(Failure::said(Exit::Unsupported, words).with_help("leave out --widen"));
    }
    let rows = Rows::of(found, context)?;
    if let Some(refusal) = rows.objects().refusal() {
        return Err(Failure::said(Exit::Unsupported, refusal)
            .with_help("no rows can be appended: `convert` makes CSV, and of that another table"));
    }
    let wider = match widens {
        true => wider_columns(&rows, &inputs, context)?,
        false => rows.columns.clone(),
    };
    let changes: Vec<_> = rows.columns.iter().zip(&wider).filter(|(old, new)| old != new).collect();
    if changes.is_empty() && !matches!(rows.kept, Kept::Files(_)) {
        drop(rows);
        context.forget_claim();
        let counts = append(edit(path, context)?, &inputs, context)?;
        return Ok(Widened { counts, columns: Vec::new() });
    }
    let counts = replace(path, true, context, |temporary| {
        let mut sink = rows.kept.copy_to(path, temporary, &wider, context)?;
        let counts = append_all(&mut sink, &inputs, context)?;
        sink.close()?;
        Ok(counts)
    })?;
    let told = |(old, new): (&Column, &Column)| {
        (old.name.clone(), old.dtype.to_string(), new.dtype.to_string())
    };
    Ok(Widened { counts, columns: changes.into_iter().map(told).collect() })
}

/// The inputs, with what is in pipes in temporary files.
fn spooled(inputs: &[OsString]) -> Outcome<(Vec<OsString>, Vec<Scratch>)> {
    let (mut paths, mut spools) = (Vec::new(), Vec::new());
    for input in inputs {
        if !is_stream(input) {
            paths.push(input.clone());
            continue;
        }
        let spool = match input == "-" {
            true => Scratch::of_stdin()?,
            false => Scratch::of_pipe(Path::new(input))?,
        };
        paths.push(spool.path().into());
        spools.push(spool);
    }
    Ok((paths, spools))
}

/// The columns of a table with room for all rows of the inputs.
fn wider_columns(rows: &Rows, inputs: &[OsString], context: &Context) -> Outcome<Vec<Column>> {
    let columns = &rows.columns;
    let mut needed: Vec<usize> =
        columns.iter().map(|column| room(&column.dtype).unwrap_or(0)).collect();
    for input in inputs {
        match Incoming::open(input, columns, context)? {
            Incoming::Rows(other) => {
                for (theirs, (ours, needed)) in
                    matching(columns, &other)?.iter().zip(columns.iter().zip(&mut needed))
                {
                    if is_same_text(theirs, ours) {
                        *needed = room(&theirs.dtype).unwrap_or(0).max(*needed);
                    }
                }
            }
            Incoming::Text(mut records, order) => {
                while let Some(cells) = records.next()? {
                    records.measure(columns, &order, &cells, &mut needed);
                }
            }
        }
    }
    let wider = columns.iter().zip(needed).map(|(column, needed)| {
        let mut column = column.clone();
        if room(&column.dtype).is_some_and(|room| room < needed) {
            column.dtype = with_room(&column.dtype, needed)?;
        }
        Ok(column)
    });
    wider.collect()
}

impl Kept {
    /// Makes a copy of what is at `path`, with these columns, that rows can be appended to.
    fn copy_to(
        &self,
        path: &Path,
        copy: &Path,
        columns: &[Column],
        context: &Context,
    ) -> Outcome<Sink> {
        match self {
            Self::Array(array) => {
                let [column] = columns else { return Err(gone(path)) };
                let sink = Sink::Array(Box::new(widened(array, column, copy, context)?));
                filled(self, sink, columns, context.memory())
            }
            Self::Table(table) => {
                if path.join(".b2commit").exists() {
                    let words = format!("a writer of `{}` was stopped half-way", path.display());
                    return Err(Failure::said(Exit::Failure, words)
                        .with_help("`superchunk recover` completes what it began"));
                }
                let old = self.source().columns().to_vec();
                let changed: Vec<&Column> =
                    columns.iter().filter(|new| !old.contains(new)).collect();
                let is_left_out =
                    |place: &Path| changed.iter().any(|column| place == path.join(&column.name));
                folders::copy(path, copy, &is_left_out)?;
                for column in changed {
                    let array = table.array(&column.name)?;
                    let new = widened(array, column, &copy.join(&column.name), context)?;
                    let sink = Sink::Array(Box::new(new));
                    filled(self, sink, std::slice::from_ref(column), context.memory())?.close()?;
                }
                edit(copy, context)
            }
            Self::BlskTable(table) => {
                let options =
                    wider_chunks(table.options()?, (self.source().columns(), columns), context);
                let typed: Vec<_> =
                    columns.iter().map(|c| (c.name.as_str(), c.dtype.clone())).collect();
                let mut new = blsk::Table::create(
                    copy,
                    &blsk::TableOptions::new()
                        .with_columns(typed.clone())
                        .with_row_shape(table.row_shape())
                        .with_tree(options.clone()),
                )?;
                table.attributes().try_for_each(|(name, value)| new.set_attribute(name, value))?;
                filled(self, Sink::BlskTable(Box::new(new)), columns, context.memory())
            }
            Self::BlskArray(array) => {
                let [column] = columns else { return Err(gone(path)) };
                let options =
                    wider_chunks(array.options()?, (self.source().columns(), columns), context);
                let mut new = blsk::Array::create(
                    copy,
                    &blsk::ArrayOptions::new(column.dtype.clone())
                        .with_row_shape(array.row_shape())
                        .with_tree(options.clone()),
                )?;
                array.attributes().try_for_each(|(name, value)| new.set_attribute(name, value))?;
                filled(self, Sink::BlskArray(Box::new(new)), columns, context.memory())
            }
            Self::Files(files) => {
                let copied = Frames::copy_of(files, copy, columns, context)?;
                Ok(Sink::Frames(Box::new(copied)))
            }
        }
    }
}

/// A new array like another one, without its rows, whose items have the type of a column. Its chunks
/// have about as many bytes as before.
fn widened(
    array: &bcolz::Array,
    column: &Column,
    path: &Path,
    context: &Context,
) -> Outcome<bcolz::Array> {
    let Some(chunks) = array.superchunk() else { return Err(gone(path)) };
    let chunk = array.chunk_rows().saturating_mul(array.row_size() as u64);
    let options = ArrayOptions::new(column.dtype.clone())
        .with_row_shape(column.row_shape.clone())
        .with_compress(context.equip(chunks.options().clone()))
        .with_chunk_rows((chunk / column.row_size().max(1) as u64).max(1))
        .with_expected_rows(u64::try_from(array.expected_rows()).unwrap_or(0))
        .with_default(array.default_value().clone());
    let mut new = bcolz::Array::create(path, &options)?;
    for (name, value) in array.attributes().as_object().unwrap_or_default() {
        new.set_attribute(name, value.clone())?;
    }
    Ok(new)
}

/// The same options for wider columns: the chunks of the widest have about as many bytes as before.
fn wider_chunks(
    options: blsk::TreeOptions,
    (old, new): (&[Column], &[Column]),
    context: &Context,
) -> blsk::TreeOptions {
    let widest =
        |columns: &[Column]| columns.iter().map(Column::row_size).max().unwrap_or(1).max(1);
    let rows = options.chunk_rows.unwrap_or(1).saturating_mul(widest(old)) / widest(new);
    let compress = context.equip(options.compress.clone());
    options.with_compress(compress).with_chunk_rows(rows.max(1))
}

/// Puts the rows of these columns into a new table.
fn filled(kept: &Kept, mut sink: Sink, columns: &[Column], memory: Memory) -> Outcome<Sink> {
    let source = kept.source();
    let find = |name: &str| source.columns().iter().find(|column| column.name == name).cloned();
    let old: Vec<Column> = columns.iter().filter_map(|column| find(&column.name)).collect();
    each_batch(&*source, &schema(&old, source.rows()), memory, &mut |parts| {
        sink.put(columns, &filled_up(parts, &old, columns))
    })?;
    Ok(sink)
}

/// Opens a table again, for changes.
fn edit(path: &Path, context: &Context) -> Outcome<Sink> {
    match Found::at_path(path)?.edit(context)? {
        Edited::Table(table) => Sink::of(table),
        _ => Err(gone(path)),
    }
}

fn gone(path: &Path) -> Failure {
    let words = format!("`{}` is not the table any more that it was", path.display());
    Failure::said(Exit::Busy, words).with_help("try again")
}
