//! Tables made of tables, arrays and text, and written as such.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;

use superchunk::detect::{self, Format};
use superchunk::table::{Column, Source};

use super::infer::infer;
use super::print::Shown;
use super::records::{Advice, Records, TextForm};
use super::sink::{Schema, Sink, check_names};
use super::{Rows, len_of, npy, print};
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::input::spool_stdin;
use crate::location::Location;
use crate::memory::Memory;
use crate::replace::{Scratch, replace};
use crate::span::Span;
use crate::target::{Named, Target};
use crate::values::Escape;
use crate::verbs::pack::stored_of_path;

/// What a table becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Bcolz,
    Blsk,
    /// A folder with a frame for each column.
    Columns,
    Csv,
    Npy,
    /// One array.
    B2nd,
}

impl Made {
    /// What the name of the output tells.
    pub(crate) fn of_name(output: &OsStr) -> Option<Self> {
        match Named::of(output) {
            Named::Bcolz => Some(Self::Bcolz),
            Named::Blsk => Some(Self::Blsk),
            Named::Csv => Some(Self::Csv),
            _ => None,
        }
    }
}

/// How it is to be made.
pub(crate) struct Request<'a> {
    pub(crate) made: Made,
    /// The shapes of chunks and blocks of an array.
    pub(crate) shapes: (&'a [usize], &'a [usize]),
    pub(crate) dtypes: &'a [String],
    pub(crate) escape: Escape,
    /// Whether `/` in the names of text columns means tables inside of each other.
    pub(crate) is_nested: bool,
    pub(crate) encoding: &'a EncodingArgs,
    pub(crate) force: bool,
}

/// Who gives the rows.
enum Feed {
    Rows(Rows),
    Text { path: PathBuf, name: String, form: TextForm, _kept: Option<Scratch> },
}

/// Converts; tells how many bytes the rows have.
pub(crate) fn convert(
    location: &Location,
    target: &Target,
    request: &Request<'_>,
    context: &Context,
) -> Outcome<u64> {
    let (feed, schema) = open(location, request, context)?;
    let nbytes = len_of(&schema.columns, schema.rows);
    schema.check(&location.name(), context.memory())?;
    let feed = &feed;
    match feed {
        Feed::Rows(rows) => rows.check_expansion(&schema.columns, schema.rows, context)?,
        Feed::Text { path, .. } => {
            context.check_output(&location.name(), nbytes, stored_of_path(path))?;
        }
    }
    match (request.made, target) {
        (Made::Csv, _) => to_csv(feed, &schema, target, request, context)?,
        (Made::Npy, _) => to_npy(feed, &schema, (target, request.force), context)?,
        (made, Target::Path(path)) => replace(path, request.force, context, |temporary| {
            let encoding = request.encoding;
            let mut sink = match made {
                Made::Blsk => Sink::blsk(temporary, &schema, encoding, context)?,
                Made::Columns => Sink::columns_at(temporary, &schema, encoding, context)?,
                Made::B2nd => {
                    Sink::array_at(temporary, &schema, request.shapes, encoding, context)?
                }
                _ => Sink::bcolz(temporary, &schema, encoding, context)?,
            };
            for (name, value) in &schema.attributes {
                sink.set_attr(name, value)?;
            }
            let mut progress = context.progress("converting", Some(nbytes));
            feed.batches(&schema, context.memory(), &mut |parts| {
                progress.add(parts.iter().map(Vec::len).sum());
                sink.put(&schema.columns, parts)
            })?;
            sink.close()
        })?,
        _ => return Err(Failure::usage("a table is made in a folder, not in a pipe")),
    }
    Ok(nbytes)
}

fn open(location: &Location, request: &Request<'_>, context: &Context) -> Outcome<(Feed, Schema)> {
    let (feed, mut schema) = opened(location, request.dtypes, context)?;
    let is_text = matches!(feed, Feed::Text { .. });
    if !is_text && !request.dtypes.is_empty() {
        return Err(refuse_dtype(location));
    }
    if !is_text && request.is_nested {
        return Err(Failure::usage("--nested is for columns that come as text")
            .with_help("leave it out: tables inside of each other stay so"));
    }
    if let Some(column) = schema.columns.iter().find(|column| column.name.contains('/'))
        && !matches!(&feed, Feed::Rows(rows) if rows.has_groups())
        && !request.is_nested
    {
        let words = format!("the name `{}` has a `/`, which stands for a folder", column.name);
        return Err(Failure::usage(words)
            .with_help("choose another name, or make tables inside of each other with --nested"));
    }
    if request.made == Made::Csv && is_text {
        let name = location.name();
        let words = format!("`{name}` is text: CSV is made of a table");
        let help = format!("`superchunk convert {name} OUT.bcolz` makes a table of it");
        return Err(Failure::usage(words).with_help(help));
    }
    check_names(request.made, &schema, &location.name())?;
    if let (Feed::Rows(rows), false) = (&feed, request.made == Made::Csv) {
        refuse_objects(rows, schema.columns.is_empty(), context)?;
    }
    if request.made == Made::B2nd {
        if schema.columns.len() != 1 {
            let help = "take one as PATH::COLUMN, or make a folder with --to columns";
            return Err(Failure::usage("an array has one column").with_help(help));
        }
        schema.is_array = true;
    }
    Ok((feed, schema))
}

/// Refuses types for columns that have some.
pub(crate) fn refuse_dtype(location: &Location) -> Failure {
    let name = location.name();
    let format = location.path.as_deref().and_then(|path| detect::path(path).ok());
    let help = match format.map(|found| found.format) {
        Some(Format::Raw) => {
            format!(
                "`superchunk pack {name} --dtype '<f8' -o OUT.b2nd` makes an array of plain bytes"
            )
        }
        Some(Format::Frame | Format::SparseFrame | Format::Bloscpack | Format::Chunk) => {
            format!("`superchunk unpack {name} --dtype '<f8' -o OUT.npy` gives items a type")
        }
        _ => "leave it out: other data has the types that it has".to_owned(),
    };
    Failure::usage("--dtype is for columns that come as text").with_help(help)
}

/// Reports that columns of objects are not in what is made; refuses if there are no others.
pub(super) fn refuse_objects(rows: &Rows, has_no_other: bool, context: &Context) -> Outcome {
    let Some(refusal) = rows.objects().refusal() else { return Ok(()) };
    if has_no_other {
        let help = "make CSV of them, or print them with `cat --format jsonl`";
        return Err(Failure::usage(refusal).with_help(help));
    }
    context.tell(&format!("left out: {refusal}"));
    Ok(())
}

fn opened(location: &Location, dtypes: &[String], context: &Context) -> Outcome<(Feed, Schema)> {
    let table = Rows::open(location, context)?;
    if table.is_none()
        && let Some((path, form, kept)) = text_of(location)?
    {
        let mut records = Records::open(&path, Some(form), context.memory())?;
        records.name = location.name();
        let (columns, rows) = infer(&mut records, dtypes)?;
        let schema = Schema { columns, rows, is_array: false, attributes: Vec::new() };
        let name = location.name();
        return Ok((Feed::Text { path, name, form, _kept: kept }, schema));
    }
    let rows = table.map_or_else(|| Rows::of_arrays(location, context), Ok)?;
    let schema = Schema {
        columns: rows.typed_columns(),
        rows: rows.rows(),
        is_array: rows.is_array(),
        attributes: rows.attributes(),
    };
    Ok((Feed::Rows(rows), schema))
}

/// A file of text, which is read twice; stdin is kept meanwhile.
fn text_of(location: &Location) -> Outcome<Option<(PathBuf, TextForm, Option<Scratch>)>> {
    if let Some(path) = &location.path {
        let form = TextForm::of_name(path).filter(|_| path.is_file());
        return Ok(form.map(|form| (path.clone(), form, None)));
    }
    let kept = spool_stdin()?;
    Ok(Some((kept.path().to_owned(), TextForm::Csv, Some(kept))))
}

impl Feed {
    fn source(&self) -> Option<Box<dyn Source + '_>> {
        match self {
            Self::Rows(rows) => Some(rows.source()),
            Self::Text { .. } => None,
        }
    }

    /// Calls `take` with the bytes of the columns, and the number of the first row.
    fn batches(
        &self,
        schema: &Schema,
        memory: Memory,
        take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
    ) -> Outcome {
        let Some(source) = self.source() else { return self.text_batches(schema, memory, take) };
        each_batch(&*source, schema, memory, take)
    }

    fn text_batches(
        &self,
        schema: &Schema,
        memory: Memory,
        take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
    ) -> Outcome {
        let Self::Text { path, name, form, .. } = self else { return Ok(()) };
        let mut records = Records::open(path, Some(*form), memory)?;
        records.name.clone_from(name);
        let order: Vec<usize> = (0..schema.columns.len()).collect();
        records.advice = Advice::CONVERT;
        records_batches(&mut records, &schema.columns, &order, schema.batch_within(memory), take)
    }
}

/// Reads rows of text to their end.
pub(super) fn records_batches(
    records: &mut Records,
    columns: &[Column],
    order: &[usize],
    batch: u64,
    take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
) -> Outcome {
    let mut parts = vec![Vec::new(); columns.len()];
    let mut count = 0;
    while let Some(cells) = records.next()? {
        records.items(columns, order, &cells, &mut parts)?;
        count += 1;
        if count == batch {
            take(&parts)?;
            parts.iter_mut().for_each(Vec::clear);
            count = 0;
        }
    }
    if count > 0 { take(&parts) } else { Ok(()) }
}

/// Reads all rows of the wanted columns.
pub(super) fn each_batch(
    source: &dyn Source,
    schema: &Schema,
    memory: Memory,
    take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
) -> Outcome {
    let place = |column: &Column| source.columns().iter().position(|c| c.name == column.name);
    let mut first = 0;
    while first < schema.rows {
        let stop = schema.rows.min(first + schema.batch_within(memory));
        let mut parts = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            let rows = usize::try_from(stop - first).unwrap_or(usize::MAX);
            let mut bytes = vec![0; rows.saturating_mul(column.row_size())];
            source.read(place(column).unwrap_or(usize::MAX), first..stop, &mut bytes)?;
            parts.push(bytes);
        }
        take(&parts)?;
        first = stop;
    }
    Ok(())
}

fn to_csv(
    feed: &Feed,
    schema: &Schema,
    target: &Target,
    request: &Request<'_>,
    context: &Context,
) -> Outcome {
    let Feed::Rows(rows) = feed else { return Ok(()) };
    let (source, columns, objects) = (rows.source(), rows.columns(), rows.objects());
    let shown =
        Shown { source: &*source, columns, objects: &objects, span: Span::all(schema.rows) };
    print::csv_to(&shown, (target, request.force), request.escape, context)
}

/// An array of plain items, or of structures.
fn to_npy(
    feed: &Feed,
    schema: &Schema,
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome {
    let header = npy::header(schema)?;
    target.write(force, context, |out: &mut dyn Write| {
        out.write_all(&header).map_err(|error| target.failed(error))?;
        feed.batches(schema, context.memory(), &mut |parts| {
            let bytes = npy::rows(&schema.columns, parts);
            out.write_all(&bytes).map_err(|error| target.failed(error))
        })
    })
}
