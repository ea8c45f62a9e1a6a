//! `append`: data behind a frame or a Bloscpack file, all of it or none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::SuperChunk;
use superchunk::compat;
use superchunk::detect::Format;

use crate::arrays;
use crate::context::Context;
use crate::encoding::warn_of_delta;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Content};
use crate::interrupt;
use crate::location::Location;
use crate::names::{human, parse_count};
use crate::objects::{self, RecordArgs};
use crate::opened::{Edited, Found};
use crate::output::{Document, object, path_value};
use crate::readers::{self, Reader, parse_reader};
use crate::source::Source;
use crate::tables::{self, Sink, Widened};
use crate::write::{
    self,
    object::{Counts, Writer},
};

const EXAMPLES: &str = "\
Examples:
  superchunk append log.b2frame today.log more.b2frame     packed or plain
  tail -n 1000 live.log | superchunk append log.b2frame -
  superchunk append names.blp more.txt                     each line is an object
  superchunk append names.blp more.txt --replace 7         lines replace objects 7, 8 …
  superchunk append quotes.bcolz today.csv                 or JSON-lines, by heading
  superchunk append quotes.bcolz today.csv --widen         texts of any length
A crash, a full disk or Ctrl-C leaves everything as it was. If a kill hits the moment in which the
columns of a bcolz table get their new lengths, bcolz itself sees columns of different lengths until
`superchunk recover` or the next append completes them; superchunk reads all rows meanwhile.";

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
    #[arg(long, value_name = "NUMBER", value_parser = parse_count)]
    replace: Option<usize>,
    /// Refuse what NAME cannot read: blosc2[=VERSION], blosc, bloscpack or bcolz
    #[arg(long, value_name = "NAME", value_parser = parse_reader)]
    compat: Vec<Reader>,
}

pub(crate) fn run(args: &AppendArgs, context: &Context) -> Outcome {
    let inputs = &args.inputs;
    Location::check_whole(args.frame.as_os_str(), "append")?;
    inputs.iter().try_for_each(|input| Location::check_whole(input, "append"))?;
    // What is appended is encoded like what is there.
    readers::check_path(&args.frame, &args.compat, &context.open_options())?;
    let found = Found::at_path(&args.frame)?;
    if args.replace.is_some() && found.format() != Format::Bloscpack {
        return Err(no_objects(args));
    }
    let name = args.frame.display().to_string();
    if found.is_table() {
        args.records.refuse(&name)?;
    }
    // Nothing makes one commit of those of several frames.
    if args.widen || found.format() == Format::Columns {
        let widened = tables::append_to_copy(&found, inputs, args.widen, context)?;
        return report_rows(args, &widened, context);
    }
    let edited = found.edit(context)?;
    let has_objects = match &edited {
        Edited::Pack(pack) => pack.has_objects(),
        Edited::Frame(frame) => objects::is_list(frame),
        Edited::Table(_) => false,
    };
    if !has_objects {
        args.records.refuse(&name)?;
    }
    if let Edited::Frame(frame) = &edited {
        warn_of_delta(&frame.options().filters, context);
    }
    match edited {
        Edited::Table(table) => {
            let counts = tables::append(Sink::of(table)?, inputs, context)?;
            report_rows(args, &Widened { counts, columns: Vec::new() }, context)
        }
        Edited::Pack(pack) if pack.has_objects() => {
            append_objects(args, Writer::of_pack(pack, args.replace)?, context)
        }
        Edited::Pack(_) if args.replace.is_some() => Err(no_objects(args)),
        Edited::Pack(pack) => {
            report_bytes(args, write::pack::append(*pack, inputs, context)?, context)
        }
        Edited::Frame(frame) if objects::is_list(&frame) => {
            append_objects(args, Writer::of_frame(*frame)?, context)
        }
        Edited::Frame(frame) if arrays::is_array(&frame) => {
            report_bytes(args, write::array::append(*frame, inputs, context)?, context)
        }
        Edited::Frame(frame) => report_bytes(args, append_bytes(*frame, args, context)?, context),
    }
}

/// Refuses to replace objects of what is not a Bloscpack file of objects.
fn no_objects(args: &AppendArgs) -> Failure {
    let name = args.frame.display();
    Failure::usage(format!("--replace is for Bloscpack files of objects, and `{name}` is none"))
}

fn append_objects(args: &AppendArgs, writer: Writer, context: &Context) -> Outcome {
    let counts = write::object::append(writer, &args.inputs, args.records.framing(), context)?;
    let Counts { replaced, appended, all } = counts;
    let words = match args.replace {
        Some(_) => format!("{replaced} objects replaced, {appended} appended, {all} in all"),
        None => format!("{appended} objects appended, {all} in all"),
    };
    let document = document(args, [("appended_objects", appended), ("objects", all)])
        .with_some("replaced_objects", args.replace.map(|_| replaced));
    report(args, document, &words, context)
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

fn report_bytes(args: &AppendArgs, (added, nbytes): (u64, u64), context: &Context) -> Outcome {
    let words = format!("{} appended, {} in all", human(added), human(nbytes));
    report(args, document(args, [("appended", added), ("nbytes", nbytes)]), &words, context)
}

fn report_rows(args: &AppendArgs, widened: &Widened, context: &Context) -> Outcome {
    Sink::warn_if_unfinished(&args.frame, context);
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

/// Appends bytes; returns how many came and how many there are.
fn append_bytes(
    mut frame: SuperChunk,
    args: &AppendArgs,
    context: &Context,
) -> Outcome<(u64, u64)> {
    let (first, item_size) = (frame.byte_len(), frame.item_size() as u64);
    for input in &args.inputs {
        let before = frame.byte_len();
        append_one(&mut frame, input, context)?;
        let added = frame.byte_len() - before;
        if !added.is_multiple_of(item_size) {
            let words = format!("{added} bytes are not whole items of {item_size} bytes");
            return Err(Failure::usage(words).with_help("nothing was appended"));
        }
    }
    // Chunks of other frames move as they are.
    readers::check(&compat::super_chunk(&frame)?, &args.compat)?;
    let after = frame.byte_len();
    interrupt::finally(|| frame.close())?;
    Ok((after - first, after))
}

fn append_one(frame: &mut SuperChunk, input: &OsString, context: &Context) -> Outcome {
    if let Some(packed) = input::opened(input, context)? {
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
