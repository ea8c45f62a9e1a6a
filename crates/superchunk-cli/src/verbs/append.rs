//! `append`: data behind a frame or a Bloscpack file, all of it or none.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::bloscpack::Pack;
use superchunk::compat;
use superchunk::detect::{self, Format};
use superchunk::{NdArray, SuperChunk};

use crate::arrays;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::interrupt;
use crate::location::Location;
use crate::names::human;
use crate::objects::{self, Counts, RecordArgs};
use crate::output::{Document, object, path_value};
use crate::packs;
use crate::readers::{self, Reader, parse_reader};
use crate::source::Source;
use crate::tables::{self, Widened};

const EXAMPLES: &str = "\
Examples:
  superchunk append log.b2frame today.log more.b2frame     packed or plain
  tail -n 1000 live.log | superchunk append log.b2frame -
  superchunk append names.blp more.txt                     each line is an object
  superchunk append names.blp more.txt --replace 7         lines replace objects 7, 8 …
  superchunk append quotes.bcolz today.csv                 or JSON-lines, by heading
  superchunk append quotes.bcolz today.csv --widen         texts of any length
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
    /// Make columns of text as wide as the longest new text, in a new table
    #[arg(long)]
    widen: bool,
    #[command(flatten)]
    records: RecordArgs,
    /// Replace objects of a .blp file from this one on; append the rest
    #[arg(long, value_name = "NUMBER")]
    replace: Option<usize>,
    /// Refuse what NAME cannot read: blosc2[=VERSION], blosc, bloscpack or bcolz
    #[arg(long, value_name = "NAME", value_parser = parse_reader)]
    compat: Vec<Reader>,
}

pub(crate) fn run(args: &AppendArgs, context: &Context) -> Outcome {
    // What is appended is encoded like what is there.
    readers::check_path(&args.frame, &args.compat, context)?;
    if args.replace.is_some() {
        check_objects(&args.frame, context)?;
    }
    if let Some(widened) = tables::append(&args.frame, &args.inputs, args.widen, context)? {
        return report_rows(args, &widened, context);
    }
    let format = detect::path(&args.frame)?.format;
    if format == Format::Bloscpack
        && !Pack::open_with(&args.frame, &context.open_options())?.has_objects()
    {
        let (added, nbytes) = packs::append(&args.frame, &args.inputs, context)?;
        return report_bytes(args, added, nbytes, context);
    }
    let is_pack = format == Format::Bloscpack;
    if is_pack || is_list(&args.frame, format, context)? {
        let framing = args.records.framing();
        let (frame, inputs) = (&args.frame, &args.inputs);
        let counts = objects::append(frame, is_pack, args.replace, inputs, framing, context)?;
        let Counts { replaced, appended, all } = counts;
        let words = match args.replace {
            Some(_) => format!("{replaced} objects replaced, {appended} appended, {all} in all"),
            None => format!("{appended} objects appended, {all} in all"),
        };
        let document = document(args, [("appended_objects", appended), ("objects", all)])
            .with_some("replaced_objects", args.replace.map(|_| replaced));
        return report(args, document, &words, context);
    }
    let mut frame = context.edit(&args.frame)?;
    let before = frame.byte_len();
    if arrays::is_array(&frame) {
        let added = arrays::append(frame, &args.inputs, context)?;
        let after = NdArray::open_with(&args.frame, &context.open_options())?;
        return report_bytes(args, added, after.item_count() * after.item_size() as u64, context);
    }
    append_all(&mut frame, &args.inputs, context)?;
    // Chunks of other frames move as they are.
    readers::check(&compat::super_chunk(&frame)?, &args.compat)?;
    let after = frame.byte_len();
    interrupt::finally(|| frame.close())?;
    report_bytes(args, after - before, after, context)
}

/// Refuses what is not a Bloscpack file of objects.
fn check_objects(path: &Path, context: &Context) -> Outcome {
    let is_pack = detect::path(path)?.format == Format::Bloscpack;
    if is_pack && Pack::open_with(path, &context.open_options())?.has_objects() {
        return Ok(());
    }
    let name = path.display();
    Err(Failure::usage(format!(
        "--replace is for Bloscpack files of objects, and `{name}` is none"
    )))
}

/// Whether a frame holds objects.
fn is_list(path: &Path, format: Format, context: &Context) -> Outcome<bool> {
    let is_frame = matches!(format, Format::Frame | Format::SparseFrame);
    Ok(is_frame && objects::is_list(&SuperChunk::open_with(path, &context.open_options())?))
}

fn report(args: &AppendArgs, document: Document, words: &str, context: &Context) -> Outcome {
    if context.json() {
        return document.print();
    }
    context.tell(&format!("{}: {words}", args.frame.display()));
    Ok(())
}

/// A document that says how much came, and how much there is.
fn document(args: &AppendArgs, counts: [(&str, u64); 2]) -> Document {
    let document = Document::new("append").with("path", path_value(&args.frame));
    counts.into_iter().fold(document, |document, (key, count)| document.with(key, count))
}

fn report_bytes(args: &AppendArgs, added: u64, nbytes: u64, context: &Context) -> Outcome {
    let words = format!("{} appended, {} in all", human(added), human(nbytes));
    report(args, document(args, [("appended", added), ("nbytes", nbytes)]), &words, context)
}

fn report_rows(args: &AppendArgs, widened: &Widened, context: &Context) -> Outcome {
    let Widened { counts: (added, rows), columns } = widened;
    let mut words = format!("{added} rows appended, {rows} in all");
    let mut list = Vec::new();
    for (name, old, new) in columns {
        words.push_str(&format!("; `{name}` was {old} and is {new}"));
        let texts = [("column", name), ("from", old), ("to", new)];
        list.push(object(texts.map(|(key, text)| (key, text.as_str().into()))));
    }
    let document = document(args, [("appended_rows", *added), ("rows", *rows)]);
    let document = document.with_some("widened", args.widen.then_some(list));
    report(args, document, &words, context)
}

fn append_all(frame: &mut SuperChunk, inputs: &[OsString], context: &Context) -> Outcome {
    let item_size = frame.item_size() as u64;
    for input in inputs {
        let before = frame.byte_len();
        append_one(frame, input, context)?;
        let added = frame.byte_len() - before;
        if !added.is_multiple_of(item_size) {
            let words = format!("{added} bytes are not whole items of {item_size} bytes");
            return Err(Failure::usage(words).with_help("nothing was appended"));
        }
    }
    Ok(())
}

fn append_one(frame: &mut SuperChunk, input: &OsString, context: &Context) -> Outcome {
    if let Some(packed) = opened(input, context)? {
        if let Content::Frame(other) = &packed.content {
            if !frame.takes_chunks_of(other) {
                packed.check_expansion(context)?;
            }
            return Ok(frame.append_from(other)?);
        }
        packed.check_expansion(context)?;
        return packed.pieces(&mut |bytes| Ok(frame.append(bytes)?));
    }
    let piece = frame.chunk_size().map_or(PIECE, |size| size.min(PIECE));
    let mut source = Source::open((input != "-").then(|| Path::new(input)))?;
    let mut progress = context.progress("appending", source.total);
    source.pieces(piece, &mut progress, |bytes| Ok(frame.append(bytes)?))
}

/// Whether an input can be read only once: stdin, a pipe or a device.
pub(crate) fn is_stream(input: &OsStr) -> bool {
    let found = Path::new(input).metadata();
    input == "-" || found.is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// An input that is packed itself: what is in it is decoded and appended, unless it is out of
/// proportion to what is stored.
pub(crate) fn packed(input: &OsString, context: &Context) -> Outcome<Option<Input>> {
    let packed = opened(input, context)?;
    packed.as_ref().map_or(Ok(()), |packed| packed.check_expansion(context))?;
    Ok(packed)
}

fn opened(input: &OsString, context: &Context) -> Outcome<Option<Input>> {
    let path = Path::new(input);
    if is_stream(input) || matches!(detect::path(path)?.format, Format::Raw) {
        return Ok(None);
    }
    let location = Location::whole(Some(path.to_owned()));
    Ok(Some(Input::open(&location, context)?))
}
