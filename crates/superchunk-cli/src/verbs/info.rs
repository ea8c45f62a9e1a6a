//! `info`: what something is. Only headers, index and metadata are read.

use std::ffi::OsString;

use clap::Args;
use superchunk::chunk::Content;
use superchunk::compat::{self, Compatibility};
use superchunk::detect::Format;
use superchunk::{Filter, SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::Input;
use crate::location::Location;
use crate::opened::Found;
use crate::output::{self, Document, Table, object};
use crate::readers;
use crate::summary::Summary;
use crate::tables::{self, Rows};

const EXAMPLES: &str = "\
Examples:
  superchunk info big.b2frame
  superchunk info big.b2frame --json | jq .ratio
  superchunk info big.b2frame --chunks";

/// The options of `info`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InfoArgs {
    /// Files, folders, or - for stdin
    #[arg(required = true, value_name = "LOCATION")]
    locations: Vec<OsString>,
    /// List the chunks, too
    #[arg(long)]
    chunks: bool,
    /// Say which versions of blosc2, blosc, bloscpack and bcolz read it, and why
    #[arg(long)]
    compat: bool,
}

pub(crate) fn run(args: &InfoArgs, context: &Context) -> Outcome {
    if context.json() {
        return print_document(args, context);
    }
    for given in &args.locations {
        let location = Location::parse(given);
        location.check_unsliced("info")?;
        let found = Found::at(&location)?;
        let readers = readers_of(&found, args, context)?;
        if found.is_table() {
            let rows = Rows::of(&found, context)?;
            tables::describe(&rows, &found.path, readers.as_deref())?;
            continue;
        }
        let input = Input::of(found, context)?;
        let summary = Summary::of(&input)?;
        let frame = if args.chunks { input.chunks()? } else { None };
        output::print(&(summary.text(&input) + &readers::text(readers.as_deref())))?;
        frame.map_or(Ok(()), table)?;
    }
    Ok(())
}

/// What other programs must be to read it, if that was asked for.
fn readers_of(
    found: &Found,
    args: &InfoArgs,
    context: &Context,
) -> Outcome<Option<Vec<Compatibility>>> {
    if !args.compat {
        return Ok(None);
    }
    if matches!(found.format(), Format::Npy | Format::Raw) {
        let (name, what) = (found.location.name(), found.format().description());
        let words = format!("--compat: `{name}` is {what}: no reader of Blosc data takes it");
        return Err(Failure::said(Exit::Unsupported, words).with_help("leave it out"));
    }
    Ok(Some(compat::path(&found.path, &context.open_options())?))
}

/// Prints one document: that of the only file, or one with those of all as `files`.
fn print_document(args: &InfoArgs, context: &Context) -> Outcome {
    let is_only = args.locations.len() == 1;
    let mut files = Vec::new();
    for given in &args.locations {
        let location = Location::parse(given);
        location.check_unsliced("info")?;
        let found = Found::at(&location)?;
        let readers = readers_of(&found, args, context)?;
        let readers = readers.as_deref().map(readers::to_json);
        let document = if found.is_table() {
            let rows = Rows::of(&found, context)?;
            tables::document(&rows, &found.path).with_some("readers", readers)
        } else {
            let input = Input::of(found, context)?;
            let document = Summary::of(&input)?.document(&input).with_some("readers", readers);
            match input.chunks()?.filter(|_| args.chunks) {
                Some(frame) if is_only => return document.print_list("chunk_list", list(frame)),
                Some(frame) => {
                    document.with("chunk_list", list(frame).collect::<Outcome<Vec<_>>>()?)
                }
                None => document,
            }
        };
        if is_only {
            return document.print();
        }
        files.push(document.into_part());
    }
    Document::new("info").with("files", files).print()
}

fn list(frame: &SuperChunk) -> impl Iterator<Item = Outcome<Value>> {
    (0..frame.chunk_count()).map(|number| {
        let header = frame.chunk_header(number)?;
        Ok(object([
            ("chunk", (number as u64).into()),
            ("nbytes", (header.byte_len() as u64).into()),
            ("cbytes", (header.compressed_len() as u64).into()),
            ("blocks", (header.block_count() as u64).into()),
            ("content", content_name(header.content()).into()),
        ]))
    })
}

fn table(frame: &SuperChunk) -> Outcome {
    let row = |number: usize| {
        let header = frame.chunk_header(number)?;
        let content = match header.content() {
            Content::Blocks | Content::VariableBlocks => {
                let codec = header.codec().map_or("unknown".to_owned(), |codec| codec.to_string());
                format!("{codec}, {}", Filter::pipeline_name(&header.filters()))
            }
            other => content_name(other).to_owned(),
        };
        Ok([
            number.to_string(),
            header.byte_len().to_string(),
            header.compressed_len().to_string(),
            format!(
                "{:.2}",
                output::ratio(header.byte_len() as u64, header.compressed_len() as u64)
            ),
            header.block_count().to_string(),
            content,
        ])
    };
    let headings = ["chunk", "nbytes", "cbytes", "ratio", "blocks", "content"];
    Table::print_rows(headings, (0..frame.chunk_count()).map(row))
}

/// What a chunk consists of, in a word.
fn content_name(content: Content) -> &'static str {
    match content {
        Content::Blocks => "blocks",
        Content::VariableBlocks => "variable-length blocks",
        Content::Stored => "stored",
        Content::Zeros => "zeros",
        Content::Nans => "NaN",
        Content::Value { .. } => "one value",
        Content::Uninitialised => "uninitialised",
        _ => "unknown",
    }
}
