//! `append`: data behind a frame or a Bloscpack file, all of it or none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::detect::{self, Format};
use superchunk::{NdArray, SuperChunk};

use crate::arrays;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::interrupt;
use crate::location::Location;
use crate::names::human;
use crate::objects::{self, RecordArgs};
use crate::output::Document;
use crate::packs;
use crate::source::Source;
use crate::tables::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  superchunk append log.b2frame today.log more.b2frame     packed or plain
  tail -n 1000 live.log | superchunk append log.b2frame -
  superchunk append names.blp more.txt                     each line is an object
  superchunk append quotes.bcolz today.csv                 or JSON-lines, by heading
A crash, a full disk or Ctrl-C leaves the frame as it was.";

/// The most bytes that are read at once.
const PIECE: usize = 1 << 20;

/// The options of `append`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AppendArgs {
    /// The frame, Bloscpack file or table
    frame: PathBuf,
    /// Files to append, or - for stdin
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<OsString>,
    #[command(flatten)]
    records: RecordArgs,
}

pub(crate) fn run(args: &AppendArgs, context: &Context) -> Outcome {
    if let Some(sink) = Sink::edit(&args.frame, context)? {
        let (added, rows) = tables::append(sink, &args.inputs, context)?;
        Sink::warn_if_unfinished(&args.frame, context);
        return report_rows(args, added, rows, context);
    }
    let format = detect::path(&args.frame)?.format;
    if format == Format::Bloscpack && !context.pack_reader().open(&args.frame)?.has_objects() {
        let (added, nbytes) = packs::append(&args.frame, &args.inputs, context)?;
        return report(args, added, nbytes, context);
    }
    let is_pack = format == Format::Bloscpack;
    if is_pack || is_list(&args.frame, format, context)? {
        let framing = args.records.framing();
        let (added, count) = objects::append(&args.frame, is_pack, &args.inputs, framing, context)?;
        return report_objects(args, added, count, context);
    }
    let mut frame = context.edit(&args.frame)?;
    let before = frame.len();
    if arrays::is_array(&frame) {
        let added = arrays::append(frame, &args.inputs, context)?;
        let after = NdArray::from_superchunk(context.open_options().open(&args.frame)?)?;
        return report(args, added, after.item_count() * after.item_size() as u64, context);
    }
    append_all(&mut frame, &args.inputs, context)?;
    let after = frame.len();
    interrupt::finally(|| frame.close())?;
    report(args, after - before, after, context)
}

/// Whether a frame holds objects.
fn is_list(path: &Path, format: Format, context: &Context) -> Outcome<bool> {
    let is_frame = matches!(format, Format::Frame | Format::SparseFrame);
    Ok(is_frame && objects::is_list(&context.open_options().open(path)?))
}

fn report_objects(args: &AppendArgs, added: u64, count: u64, context: &Context) -> Outcome {
    let path = args.frame.display().to_string();
    if context.json() {
        return Document::new("append")
            .with("path", path)
            .with("appended_objects", added)
            .with("objects", count)
            .print();
    }
    context.tell(&format!("{path}: {added} objects appended, {count} in all"));
    Ok(())
}

fn report_rows(args: &AppendArgs, added: u64, rows: u64, context: &Context) -> Outcome {
    let path = args.frame.display().to_string();
    if context.json() {
        return Document::new("append")
            .with("path", path)
            .with("appended_rows", added)
            .with("rows", rows)
            .print();
    }
    context.tell(&format!("{path}: {added} rows appended, {rows} in all"));
    Ok(())
}

fn report(args: &AppendArgs, added: u64, nbytes: u64, context: &Context) -> Outcome {
    let path = args.frame.display().to_string();
    if context.json() {
        return Document::new("append")
            .with("path", path)
            .with("appended", added)
            .with("nbytes", nbytes)
            .print();
    }
    context.tell(&format!("{path}: {} appended, {} in all", human(added), human(nbytes)));
    Ok(())
}

fn append_all(frame: &mut SuperChunk, inputs: &[OsString], context: &Context) -> Outcome {
    let item_size = frame.item_size() as u64;
    for input in inputs {
        let before = frame.len();
        append_one(frame, input, context)?;
        let added = frame.len() - before;
        if !added.is_multiple_of(item_size) {
            let words = format!("{added} bytes are not whole items of {item_size} bytes");
            return Err(Failure::usage(words).with_help("nothing was appended"));
        }
    }
    Ok(())
}

fn append_one(frame: &mut SuperChunk, input: &OsString, context: &Context) -> Outcome {
    if let Some(packed) = packed(input, context)? {
        return match &packed.content {
            Content::Frame(other) => Ok(frame.append_from(other)?),
            _ => {
                packed.check_expansion(context)?;
                packed.pieces(&mut |bytes| Ok(frame.append(bytes)?))
            }
        };
    }
    let piece = frame.chunk_size().map_or(PIECE, |size| size.min(PIECE));
    let mut source = Source::open((input != "-").then(|| Path::new(input)))?;
    let mut progress = context.progress("appending", source.total);
    source.pieces(piece, &mut progress, |bytes| Ok(frame.append(bytes)?))
}

/// An input that is packed itself: what is in it is appended.
pub(crate) fn packed(input: &OsString, context: &Context) -> Outcome<Option<Input>> {
    let path = Path::new(input);
    let is_stream = input == "-" || path.metadata().is_ok_and(|f| !f.is_file() && !f.is_dir());
    if is_stream || matches!(detect::path(path)?.format, Format::Raw) {
        return Ok(None);
    }
    let location = Location::whole(Some(path.to_owned()));
    Ok(Some(Input::open(&location, context)?))
}
