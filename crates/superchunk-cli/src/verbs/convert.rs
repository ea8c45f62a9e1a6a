//! `convert`: from one format to another. Chunks move as they are where that is possible.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use superchunk::frame::Kind;
use superchunk::{SuperChunk, chunk, npy};

use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder, refuse, warn_of_delta};
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::Location;
use crate::made::Sizes;
use crate::memory::to_usize;
use crate::names::parse_count;
use crate::objects::PackingArgs;
use crate::opened::Found;
use crate::replace::replace;
use crate::sizes::size_of_path;
use crate::tables::{self, Made, Request};
use crate::target::{Named, Target};
use crate::text_form::TextForm;
use crate::values::Escape;
use crate::write::{self, pack::PackFileArgs};

const EXAMPLES: &str = "\
Examples:
  superchunk convert a.b2frame b.b2frame -c lz4      other parameters
  superchunk convert a.b2frame folder --to sparse    chunks move as they are
  superchunk convert cube.npy cube.b2nd --chunks 10,200,300
  superchunk convert old.blp new.b2frame             from Bloscpack, and back
  superchunk convert quotes.csv quotes.bcolz --dtype close=float32";

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// One file.
    Frame,
    /// A folder.
    Sparse,
    /// One chunk and nothing else.
    Chunk,
    /// An array in a frame.
    B2nd,
    /// A Bloscpack file.
    Blp,
    /// A NumPy file.
    Npy,
    /// Plain bytes.
    Raw,
    /// A folder of bcolz.
    Bcolz,
    /// A folder of blsk.
    Blsk,
    /// A folder with an array for each column of a table.
    Columns,
    /// A table as text.
    Csv,
}

/// The options of `convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// What to convert, or - for stdin
    input: OsString,
    /// Where to
    output: OsString,
    /// frame, sparse, chunk, b2nd, blp, npy, raw, bcolz, blsk, columns or csv
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    to: Option<To>,
    /// Axes of a chunk of an array, like 100,200
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_count)]
    chunks: Vec<usize>,
    /// Axes of a block of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_count)]
    blocks: Vec<usize>,
    /// Type of a column that comes as text; else its cells tell
    #[arg(long, value_name = "COLUMN=TYPE", allow_hyphen_values = true)]
    dtype: Vec<String>,
    /// In CSV, write bytes that are no text as \xff, and a backslash as two
    #[arg(long)]
    escape: bool,
    /// Put a column `a/b` of text into a table `a` inside of the table
    #[arg(long)]
    nested: bool,
    /// Overwrite
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    packing: PackingArgs,
    #[command(flatten)]
    encoding: EncodingArgs,
    #[command(flatten)]
    pack_file: PackFileArgs,
}

impl ConvertArgs {
    fn request(&self) -> write::array::Request<'_> {
        write::array::Request {
            chunks: &self.chunks,
            blocks: &self.blocks,
            ..write::array::Request::of(&self.encoding, self.force)
        }
    }
}

pub(crate) fn run(args: &ConvertArgs, context: &Context) -> Outcome {
    let location = Location::parse(&args.input);
    let target = Target::parse(&args.output);
    target.require_readers(&args.encoding.compat, context)?;
    target.claim(args.force, context)?;
    let found = Found::or_folder(&location)?;
    match (table_of(args, &location, found.as_ref())?, found) {
        (Some(made), found) => to_table(args, (&location, found), made, context),
        (None, found) if args.dtype.is_empty() => {
            // A folder of files is refused as such.
            let found = found.map_or_else(|| Found::at(&location), Ok)?;
            to_other(args, &location, found, context)
        }
        (None, found) => Err(tables::refuse_dtype(&location, found.as_ref().map(Found::format))),
    }
}

fn to_other(args: &ConvertArgs, location: &Location, found: Found, context: &Context) -> Outcome {
    let input = Input::of(found, context)?;
    if input.slice.is_some() {
        return Err(
            Failure::usage("convert takes all of its input").with_help("cut it with `unpack`")
        );
    }
    let to = match args.to {
        Some(to) => to,
        None => guess(args)?,
    };
    let target = Target::parse(&args.output);
    check(args, to, &input, context)?;
    let objects = if let Content::Objects(list) = &input.content { Some(list) } else { None };
    match (to, &target) {
        (To::Blp, _) => {
            let pack_file = &args.pack_file;
            write::to_pack(&input, &args.encoding, pack_file, (&target, args.force), context)?;
        }
        (To::B2nd | To::Chunk | To::Npy | To::Raw, _) if objects.is_some() => {
            let words = format!("`{}` holds objects of any length", input.name);
            return Err(Failure::usage(words)
                .with_help("`unpack` writes them as lines, --null, --lengths or --jsonl"));
        }
        (To::Frame | To::Sparse, _)
            if let Some(list) = objects
                && (list.pack().is_some()
                    || args.encoding.changes_chunks()
                    || args.packing.packing().is_some()) =>
        {
            let encoding = EncodingArgs { sparse: to == To::Sparse, ..args.encoding.clone() };
            let attributes = input.free_attributes()?;
            let request = write::object::Request {
                encoding: &encoding,
                pack_file: None,
                packing: args.packing.packing(),
                attributes: &attributes,
                force: args.force,
            };
            write::object::convert(list, &request, &target, context)?;
        }
        (To::Frame | To::Sparse | To::B2nd, Target::Path(path)) => {
            let is_array = matches!(input.content, Content::Array(_));
            if is_array && input.frame().is_none() || to == To::B2nd && !is_array {
                to_array(&input, args, to, path, context)?;
            } else {
                to_frame(&input, args, to, path, context)?;
            }
        }
        (To::Frame | To::Sparse | To::B2nd, _) => {
            return Err(
                Failure::usage("a frame is made in a file").with_help("use `pack` for pipes")
            );
        }
        (To::Chunk, _) => to_chunk(&input, args, &target, context)?,
        (To::Npy | To::Raw, _) => to_bytes(&input, to, args, &target, context)?,
        // These are tables, whatever they are made of.
        (To::Bcolz | To::Blsk | To::Columns | To::Csv, _) => {}
    }
    report(location, input.len(), &target, context)
}

/// Refuses options that the result has no use for, and results out of all proportion.
fn check(args: &ConvertArgs, to: To, input: &Input, context: &Context) -> Outcome {
    let given = args.encoding.given().into_iter();
    match to {
        To::Npy => refuse(given, "a NumPy file")?,
        To::Raw => refuse(given, "a file of plain bytes")?,
        To::Chunk => {
            let of_frames = ["--chunk-size (-z)", "--sparse", "--no-checksums"];
            refuse(given.filter(|option| of_frames.contains(option)), "a single chunk")?;
        }
        _ => {}
    }
    let of_tables = [("--escape", args.escape), ("--nested", args.nested)];
    if let Some((option, _)) = of_tables.iter().find(|(_, is_given)| *is_given) {
        let words = format!("{option} is for tables, and none is made here");
        return Err(Failure::usage(words).with_help("leave it out"));
    }
    if to != To::Blp && args.pack_file.is_given() {
        return Err(Failure::usage(
            "--checksum, --no-offsets and --reserve are for Bloscpack files",
        )
        .with_help("make one with --to blp, or an output called .blp"));
    }
    let makes_list = matches!((to, &input.content), (To::Frame | To::Sparse, Content::Objects(_)));
    if args.packing.packing().is_some() && !makes_list {
        return Err(Failure::usage("only objects in a frame are packed in some way"));
    }
    let is_array = matches!(input.content, Content::Array(_));
    if !(to == To::B2nd || is_array && matches!(to, To::Frame | To::Sparse)) {
        write::array::refuse_shapes(&args.chunks, &args.blocks)?;
    }
    // Frames and arrays are copied chunk by chunk, as they are where that is possible.
    let is_copied = match (to, &input.content) {
        (To::Frame | To::Sparse, Content::Frame(_)) => true,
        (To::Frame | To::Sparse | To::B2nd, Content::Array(array)) => array.frame().is_some(),
        (To::Frame | To::Sparse, Content::Objects(list)) => {
            let is_repacked = args.encoding.changes_chunks() || args.packing.packing().is_some();
            list.frame().is_some() && !is_repacked
        }
        _ => false,
    };
    if is_copied { Ok(()) } else { input.check_expansion(context) }
}

/// What table is to be made, if it is one, or is made of one.
fn table_of(
    args: &ConvertArgs,
    location: &Location,
    found: Option<&Found>,
) -> Outcome<Option<Made>> {
    let is_table = found.is_some_and(Found::is_table)
        || location.path.as_ref().is_some_and(|path| TextForm::of_name(path).is_some());
    let named = Made::of_name(&args.output);
    Ok(match args.to {
        Some(To::Bcolz) => Some(Made::Bcolz),
        Some(To::Blsk) => Some(Made::Blsk),
        Some(To::Columns) => Some(Made::Columns),
        Some(To::Csv) => Some(Made::Csv),
        Some(To::Npy) if is_table => Some(Made::Npy),
        Some(To::B2nd) if is_table => Some(Made::B2nd),
        Some(_) if is_table => {
            let words = format!("`{}` is a table", location.name());
            return Err(Failure::usage(words)
                .with_help("it becomes bcolz, blsk, columns, csv or npy, PATH::COLUMN also b2nd"));
        }
        None if named.is_some() => named,
        None if is_table => match Named::of(&args.output) {
            Named::Npy => Some(Made::Npy),
            Named::B2nd => Some(Made::B2nd),
            _ => {
                let made = [Named::Bcolz, Named::Blsk, Named::Csv, Named::Npy, Named::B2nd];
                let help = "--to bcolz, blsk, columns, csv, npy or b2nd makes that of any name";
                Named::check(&args.output, &made, help)?;
                let words = format!(
                    "expected an output with an extension, or --to, got `{}`",
                    args.output.display()
                );
                return Err(Failure::usage(words).with_help(help));
            }
        },
        _ => None,
    })
}

fn to_table(
    args: &ConvertArgs,
    (location, found): (&Location, Option<Found>),
    made: Made,
    context: &Context,
) -> Outcome {
    if location.slice.is_some() {
        return Err(Failure::usage("convert takes all rows")
            .with_help("`cat PATH@10:20 --format csv` shows some"));
    }
    check_options(args, made)?;
    let target = Target::parse(&args.output);
    let request = Request {
        made,
        shapes: (&args.chunks, &args.blocks),
        dtypes: &args.dtype,
        escape: Escape::of(args.escape),
        is_nested: args.nested,
        encoding: &args.encoding,
        force: args.force,
    };
    let nbytes = tables::convert(location, found, &target, &request, context)?;
    report(location, nbytes, &target, context)
}

/// Refuses options that what is made of a table has no use for.
fn check_options(args: &ConvertArgs, made: Made) -> Outcome {
    const OF_TABLES: [&str; 4] = ["--codec (-c)", "--level (-l)", "--filters", "--chunk-size (-z)"];
    const OF_FRAMES: [&str; 6] =
        ["--codec (-c)", "--level (-l)", "--filters", "--split", "--dict", "--no-checksums"];
    const OF_FRAME: [&str; 3] = ["--sparse", "--chunks", "--blocks"];
    let (what, taken) = match made {
        Made::Bcolz => ("a bcolz table", OF_TABLES.to_vec()),
        Made::Blsk => ("a blsk tree", OF_TABLES.to_vec()),
        Made::Csv => ("CSV", Vec::new()),
        Made::Npy => ("a NumPy file", Vec::new()),
        Made::Columns => ("a folder of columns", OF_FRAMES.to_vec()),
        Made::B2nd => ("an array of a column", [&OF_FRAMES[..], &OF_FRAME].concat()),
    };
    if made == Made::B2nd {
        // Which says what to give instead.
        write::array::refuse_sizes(&args.encoding)?;
    }
    let others = [
        ("--chunks", !args.chunks.is_empty()),
        ("--blocks", !args.blocks.is_empty()),
        ("--packing", args.packing.packing().is_some()),
        ("--checksum", args.pack_file.checksum.is_some()),
        ("--no-offsets", args.pack_file.no_offsets),
        ("--reserve", args.pack_file.reserve.is_some()),
        ("--escape", args.escape && made != Made::Csv),
    ];
    let given = others.into_iter().filter_map(|(option, is_given)| is_given.then_some(option));
    let given = args.encoding.given().into_iter().chain(given);
    refuse(given.filter(|option| !taken.contains(option)), what)
}

/// What the name of the output says.
fn guess(args: &ConvertArgs) -> Outcome<To> {
    let made = [
        Named::Frame,
        Named::Sparse,
        Named::B2nd,
        Named::Blp,
        Named::Npy,
        Named::Chunk,
        Named::Raw,
    ];
    let help = "--to frame, sparse, chunk, b2nd, blp, npy or raw makes that of any name";
    Named::check(&args.output, &made, help)?;
    Ok(match Named::of(&args.output) {
        Named::Blp => To::Blp,
        Named::Npy => To::Npy,
        Named::Chunk => To::Chunk,
        Named::Raw => To::Raw,
        Named::Sparse => To::Sparse,
        _ if args.encoding.sparse => To::Sparse,
        Named::B2nd => To::B2nd,
        _ => To::Frame,
    })
}

fn to_array(input: &Input, args: &ConvertArgs, to: To, path: &Path, context: &Context) -> Outcome {
    let sparse = args.encoding.sparse || to == To::Sparse;
    let encoding = EncodingArgs { sparse, ..args.encoding.clone() };
    let request = write::array::Request { encoding: &encoding, ..args.request() };
    write::array::convert(input, &request, path, context)
}

fn to_frame(input: &Input, args: &ConvertArgs, to: To, path: &Path, context: &Context) -> Outcome {
    let kind = if to == To::Sparse { Kind::Sparse } else { Kind::Contiguous };
    let kind = kind_of(args, kind);
    replace(path, args.force, context, |temporary| {
        if input.frame().is_some() {
            return write::array::copy(input, temporary, &args.request(), kind, context);
        }
        args.encoding.check(Holder::Frame)?;
        let mut options = args.encoding.fresh(input.item_size(), context)?.with_kind(kind);
        let chunk = match &input.content {
            Content::Chunk(chunk) if !args.encoding.changes_chunks() => chunk,
            _ => {
                let mut frame = SuperChunk::create(temporary, &options)?;
                for (name, value) in input.free_attributes()? {
                    frame.set_attribute(&name, value)?;
                }
                input.pieces(&mut |bytes| Ok(frame.append(bytes)?))?;
                return Ok(frame.close()?);
            }
        };
        options.chunk_size = Some(chunk.header().byte_len().max(1));
        options.compress.codec = chunk.header().codec().unwrap_or(options.compress.codec);
        options.compress.filters = chunk.header().filters();
        warn_of_delta(&options.compress.filters, context);
        let mut frame = SuperChunk::create(temporary, &options)?;
        if chunk.header().byte_len() > 0 {
            frame.append_chunk(chunk.bytes()?)?;
        }
        Ok(frame.close()?)
    })
}

fn kind_of(args: &ConvertArgs, kind: Kind) -> Kind {
    if args.encoding.sparse { Kind::Sparse } else { kind }
}

fn to_chunk(input: &Input, args: &ConvertArgs, target: &Target, context: &Context) -> Outcome {
    args.encoding.check(Holder::Frame)?;
    let lone = input.frame().filter(|frame| frame.chunk_count() == 1);
    let bytes = match lone.filter(|_| !args.encoding.changes_chunks()) {
        Some(frame) => chunk::without_marks(&frame.compressed_chunk(0)?).into_owned(),
        None => {
            let base = match input.frame() {
                Some(frame) => frame.frame_options(),
                None => args.encoding.fresh(input.item_size(), context)?,
            };
            let options = args.encoding.over(base, context)?;
            input.check_held(input.len())?;
            let mut all = Vec::with_capacity(to_usize(input.len())?);
            input.pieces(&mut |bytes| {
                all.extend_from_slice(bytes);
                Ok(())
            })?;
            chunk::compress(&all, &options.compress)?
        }
    };
    target.write(args.force, context, |out: &mut dyn Write| {
        out.write_all(&bytes).map_err(|error| target.failed(error))
    })
}

fn to_bytes(
    input: &Input,
    to: To,
    args: &ConvertArgs,
    target: &Target,
    context: &Context,
) -> Outcome {
    let header = match to {
        To::Npy => {
            let (dtype, shape) = input.type_and_shape()?;
            npy::write_header(&dtype, &shape)
        }
        _ => Vec::new(),
    };
    target.write(args.force, context, |out: &mut dyn Write| {
        out.write_all(&header).map_err(|error| target.failed(error))?;
        input.pieces(&mut |bytes| out.write_all(bytes).map_err(|error| target.failed(error)))
    })
}

/// Says how long what was made is, unless it went to a pipe or a device.
fn report(from: &Location, nbytes: u64, target: &Target, context: &Context) -> Outcome {
    let Target::Path(path) = target else { return Ok(()) };
    let stored = size_of_path(path);
    Sizes { nbytes, stored, rate: 0.0 }.report("convert", from, target, context)
}
