//! Tables made of tables, arrays and text, and written as such.

use std::ffi::OsStr;
use std::io::Write;

use superchunk::detect::Format;
use superchunk::table::Source;

use super::batch::{Schema, each_batch, records_batches};
use super::infer::infer;
use super::names::check_names;
use super::print::Shown;
use super::records::{Advice, Records};
use super::sink::Sink;
use super::{Rows, len_of, npy, print};
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::location::Location;
use crate::memory::Memory;
use crate::opened::Found;
use crate::replace::replace;
use crate::sizes::stored_of_path;
use crate::span::Span;
use crate::target::{Named, Target};
use crate::text_form::TextForm;
use crate::values::Escape;

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
    Text { file: Found, form: TextForm },
}

/// Converts; tells how many bytes the rows have.
pub(crate) fn convert(
    location: &Location,
    found: Option<Found>,
    target: &Target,
    request: &Request<'_>,
    context: &Context,
) -> Outcome<u64> {
    let (feed, schema) = open(location, found, request, context)?;
    let nbytes = len_of(&schema.columns, schema.rows);
    schema.check(&location.name(), context.memory())?;
    let feed = &feed;
    match feed {
        Feed::Rows(rows) => rows.check_expansion(&schema.columns, schema.rows, context)?,
        Feed::Text { file, .. } => {
            context.check_output(&location.name(), nbytes, stored_of_path(&file.path))?;
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

fn open(
    location: &Location,
    found: Option<Found>,
    request: &Request<'_>,
    context: &Context,
) -> Outcome<(Feed, Schema)> {
    let format = found.as_ref().map(Found::format);
    let (feed, mut schema) = opened(location, found, request.dtypes, context)?;
    let is_text = matches!(feed, Feed::Text { .. });
    if !is_text && !request.dtypes.is_empty() {
        return Err(refuse_dtype(location, format));
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
pub(crate) fn refuse_dtype(location: &Location, format: Option<Format>) -> Failure {
    let name = location.name();
    let help = match format.filter(|_| location.path.is_some()) {
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

fn opened(
    location: &Location,
    found: Option<Found>,
    dtypes: &[String],
    context: &Context,
) -> Outcome<(Feed, Schema)> {
    let found = match found {
        Some(file) if let Some(form) = text_form(&file) => {
            let mut records = Records::open(&file.path, Some(form), context.memory())?;
            records.name = location.name();
            let (columns, rows) = infer(&mut records, dtypes)?;
            let schema = Schema { columns, rows, is_array: false, attributes: Vec::new() };
            return Ok((Feed::Text { file, form }, schema));
        }
        found => found,
    };
    let rows = Rows::of_any(location, found, context)?;
    let schema = Schema {
        columns: rows.typed_columns(),
        rows: rows.rows(),
        is_array: rows.is_array(),
        attributes: rows.attributes(),
    };
    Ok((Feed::Rows(rows), schema))
}

/// How a file of text, which is read twice, has its rows; what comes from stdin is CSV.
fn text_form(found: &Found) -> Option<TextForm> {
    match &found.location.path {
        Some(path) => TextForm::of_name(path).filter(|_| path.is_file()),
        None => Some(TextForm::Csv),
    }
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
        let Self::Text { file, form } = self else { return Ok(()) };
        let mut records = Records::open(&file.path, Some(*form), memory)?;
        records.name = file.location.name();
        let order: Vec<usize> = (0..schema.columns.len()).collect();
        records.advice = Advice::CONVERT;
        records_batches(&mut records, &schema.columns, &order, schema.batch_within(memory), take)
    }
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
