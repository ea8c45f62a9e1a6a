//! `inspect`: the stored parts as they are, byte by byte on request.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Args, Subcommand};
use superchunk::chunk::Header;
use superchunk::detect::Format;
use superchunk::frame::{Frame, Kind, Located, Opener, Step};
use superchunk::store::{FileReader, ReadAt};
use superchunk::{Error, SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::Input;
use crate::location::Location;
use crate::memory::to_usize;
use crate::opened::{Found, index_file};
use crate::output::{self, Document, Table, object};
use crate::parts::{Envelope, Field, chunk_fields, pack};
use crate::summary::unusual_entry_bits;
use crate::values::hex_line;

const EXAMPLES: &str = "\
Examples:
  superchunk inspect big.b2frame header
  superchunk inspect big.b2frame chunk 3 --bytes
  superchunk inspect big.b2frame index --json";

/// The options of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// A frame, a Bloscpack file or a chunk
    location: OsString,
    #[command(subcommand)]
    part: Option<Part>,
    /// Show the bytes of every field
    #[arg(long, global = true)]
    bytes: bool,
}

/// A stored part.
#[derive(Clone, Copy, Debug, Subcommand)]
enum Part {
    /// The header of the file, or of a lone chunk
    Header,
    /// Where each chunk is
    Index,
    /// What follows the chunks: attributes, fingerprint
    Trailer,
    /// The header of a chunk
    Chunk {
        /// Its number, from 0; -1 is the last
        #[arg(allow_negative_numbers = true)]
        number: i64,
    },
}

pub(crate) fn run(args: &InspectArgs, context: &Context) -> Outcome {
    let location = Location::parse(&args.location);
    location.check_unsliced("inspect")?;
    let Some(path) = location.path.as_deref() else {
        return Err(Failure::usage("stdin has no positions to show").with_help("save it to a file"));
    };
    let found = Found::at(&location)?;
    let format = found.format();
    let part = args.part.unwrap_or(Part::Header);
    match (format, part) {
        (Format::Chunk, Part::Header | Part::Chunk { number: 0 | -1 }) => {
            let start = Envelope::open(path, context.memory())?.bytes(0, 32)?;
            show("chunk", &chunk_fields(&start, 0), args.bytes, context)
        }
        (Format::Bloscpack, Part::Header) => {
            show("header", &pack::header_fields(path)?, args.bytes, context)
        }
        (Format::Bloscpack, Part::Index) => {
            let input = Input::of(found, context)?;
            let pack = input.need_pack()?;
            let place = |number| {
                let place = pack.chunk_position(number).map(|position| position.to_string());
                Ok(place.unwrap_or_default())
            };
            index(pack.superchunk()?, pack::index_start(pack), &place, context)
        }
        (Format::Bloscpack, Part::Chunk { number }) => {
            let input = Input::of(found, context)?;
            let pack = input.need_pack()?;
            let fields = pack::chunk(path, pack, chunk_number(number, pack.superchunk()?)?)?;
            show("chunk", &fields, args.bytes, context)
        }
        (Format::Frame | Format::SparseFrame, part) => {
            let file = Envelope::open(&index_file(path, format), context.memory())?;
            match part {
                Part::Header => show("header", &file.header(), args.bytes, context),
                Part::Trailer => show("trailer", &file.trailer()?, args.bytes, context),
                Part::Index => {
                    let input = Input::of(found, context)?;
                    let map = map_of(&input, context)?;
                    let place = |number| Ok(place_of(&map.locate(number)?));
                    index(input.need_frame()?, Some(file.index_start()), &place, context)
                }
                Part::Chunk { number } => chunk(found, number, args.bytes, context),
            }
        }
        (Format::Bloscpack | Format::Chunk, _) => {
            let words = format!("`{}` has no such part", location.name());
            Err(Failure::said(Exit::Unsupported, words)
                .with_help("a Bloscpack file has no trailer, a lone chunk only has its header"))
        }
        _ => Err(found.refuse("a frame, a Bloscpack file or a chunk")),
    }
}

/// Prints fields as a table, or with their bytes.
fn show(part: &str, fields: &[Field], with_bytes: bool, context: &Context) -> Outcome {
    if context.json() {
        let fields: Vec<Value> = fields.iter().map(Field::to_json).collect();
        return Document::new("inspect").with("part", part).with("fields", fields).print();
    }
    if with_bytes {
        return output::print(&annotated(fields));
    }
    let mut table = Table::new(["offset", "field", "value"]);
    for field in fields {
        table.row([field.offset.to_string(), field.name.to_owned(), field.value.clone()]);
    }
    output::print(&table.render())
}

/// Every field with its bytes; long ones as a dump.
fn annotated(fields: &[Field]) -> String {
    let mut text = String::new();
    for field in fields {
        let bytes: Vec<String> = field.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if field.bytes.len() <= 16 {
            let bytes = bytes.join(" ");
            let _ = writeln!(
                text,
                "{:08x}  {bytes:<47}  {:<16} {}",
                field.offset, field.name, field.value
            );
            continue;
        }
        let _ =
            writeln!(text, "{:08x}  {:<47}  {:<16} {}", field.offset, "", field.name, field.value);
        for (line, part) in field.bytes.chunks(16).enumerate() {
            hex_line(field.offset + 16 * line as u64, part, &mut text);
        }
    }
    text
}

/// Prints where each chunk is; `start` is where that is stored.
fn index(
    chunks: &SuperChunk,
    start: Option<u64>,
    place: &dyn Fn(usize) -> Outcome<String>,
    context: &Context,
) -> Outcome {
    let part = |number: usize| -> Outcome<(String, u64, u64)> {
        let header = chunks.chunk_header(number)?;
        Ok((place(number)?, header.byte_len() as u64, header.compressed_len() as u64))
    };
    let numbers = 0..chunks.chunk_count();
    let entry_bits = unusual_entry_bits(chunks);
    if context.json() {
        let document = Document::new("inspect").with("part", "index");
        let items = numbers.map(|number| {
            let (place, nbytes, cbytes) = part(number)?;
            Ok(object([
                ("chunk", (number as u64).into()),
                ("place", place.into()),
                ("nbytes", nbytes.into()),
                ("cbytes", cbytes.into()),
            ]))
        });
        let document = document.with_or_null("offset", start);
        return document.with_some("index_entry_bits", entry_bits).print_list("chunks", items);
    }
    let heading = start.map_or("no index".to_owned(), |start| format!("index at byte {start}"));
    let width = entry_bits.map_or(String::new(), |bits| format!(", entries of {bits} bits"));
    output::print(&format!("{heading}{width}\n"))?;
    let rows = numbers.map(|number| {
        let (place, nbytes, cbytes) = part(number)?;
        Ok([number.to_string(), place, nbytes.to_string(), cbytes.to_string()])
    });
    Table::print_rows(["chunk", "place", "nbytes", "cbytes"], rows)
}

/// The chunk that a number means, from the end if it is negative.
fn chunk_number(number: i64, chunks: &SuperChunk) -> Outcome<usize> {
    let count = chunks.chunk_count();
    let from_start = if number < 0 { number.saturating_add_unsigned(count as u64) } else { number };
    let found = usize::try_from(from_start).ok().filter(|number| *number < count);
    found.ok_or_else(|| {
        Failure::usage(format!("there is no chunk {number}: the number of chunks is {count}"))
    })
}

fn chunk(found: Found, number: i64, with_bytes: bool, context: &Context) -> Outcome {
    let input = Input::of(found, context)?;
    let number = chunk_number(number, input.need_frame()?)?;
    let (bytes, base) = match map_of(&input, context)?.locate(number)? {
        Located::At(position) => {
            let file = index_file(&input.path, input.detected.format);
            (Envelope::open(&file, context.memory())?.bytes(position, 32)?, position)
        }
        Located::File(name) => {
            (Envelope::open(&input.path.join(name), context.memory())?.bytes(0, 32)?, 0)
        }
        Located::Run(chunk) => (chunk, 0),
        _ => return Err(Error::unsupported("a chunk in a place of an unknown kind").into()),
    };
    // A header that makes no sense is what people want to see, too.
    if let Err(error) = Header::parse(&bytes) {
        context.tell(&format!("note: {error}"));
    }
    show("chunk", &chunk_fields(&bytes, base), with_bytes, context)
}

fn place_of(located: &Located) -> String {
    match located {
        Located::At(position) => position.to_string(),
        Located::File(name) => name.clone(),
        _ => "- (a run)".to_owned(),
    }
}

/// Where the chunks of a frame are.
fn map_of(input: &Input, context: &Context) -> Outcome<Box<Frame>> {
    let kind = match input.detected.format {
        Format::SparseFrame => Kind::Sparse,
        _ => Kind::Contiguous,
    };
    let file = FileReader::open(index_file(&input.path, input.detected.format))?;
    let mut opener = Opener::new(kind, file.len()?).with_limits(context.limits());
    loop {
        match opener.step()? {
            Step::Need(range) => {
                let mut bytes = vec![0; to_usize(range.end - range.start)?];
                file.read_exact_at(range.start, &mut bytes)?;
                opener.supply(bytes);
            }
            Step::Done(frame) => return Ok(frame),
        }
    }
}
