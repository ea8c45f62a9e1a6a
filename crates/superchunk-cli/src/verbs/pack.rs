//! `pack`: bytes, NumPy arrays and lists of objects become frames or Bloscpack files.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use superchunk::bloscpack::{ItemOrder, PackOptions};
use superchunk::detect::Format;
use superchunk::frame::Durability;
use superchunk::{FrameOptions, SuperChunk, Value};

use crate::args::FilterArgs;
use crate::arrays::{ExactSource, RawShape};
use crate::attributes;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder};
use crate::failure::{Exit, Failure, Outcome};
use crate::location::Location;
use crate::made::Sizes;
use crate::names::{parse_count, parse_length, parse_side};
use crate::objects::{PackingArgs, RecordArgs};
use crate::replace::replace;
use crate::scratch::Scratch;
use crate::sizes::size_of_path;
use crate::source::Source;
use crate::target::{Named, Target};
use crate::values::parse_dtype;
use crate::write::{self, array::Incoming, pack::PackFileArgs};

const EXAMPLES: &str = "\
Examples:
  superchunk pack cube.npy                      cube.b2nd, shape and dtype kept
  superchunk pack readings.f8 -t 8 -o readings.blp --checksum sha256
  superchunk pack names.txt --varlen            each line is an object, found by its number
  zcat big.gz | superchunk pack - -o big.b2frame --dtype '<f4' -m unit=K";

/// The bytes of the name of an attribute of a frame.
const LONGEST_NAME: usize = 31;

/// The options of `pack`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PackArgs {
    /// A file, or - for stdin
    #[arg(default_value = "-", hide_default_value = true)]
    input: OsString,
    /// Where to: .b2frame, .b2nd or .blp; IN.b2frame if not given, - is stdout
    #[arg(short, long, value_name = "OUT")]
    output: Option<OsString>,
    /// frame, b2nd or blp; else the name of OUT tells
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    to: Option<To>,
    /// Bytes of an item
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// Type of an item as NumPy spells it, like '<f4'; kept as attribute `dtype`
    #[arg(long, value_name = "TYPE", conflicts_with = "typesize")]
    dtype: Option<String>,
    /// Make an array of these axes, like 100,200; -1 for one: what is left
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_side)]
    shape: Vec<i64>,
    /// Axes of a chunk of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_count)]
    chunks: Vec<usize>,
    /// Axes of a block of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_count)]
    blocks: Vec<usize>,
    /// Take the input as plain bytes, whatever it is
    #[arg(long)]
    raw: bool,
    /// Let chunks have sizes of their own
    #[arg(long)]
    variable: bool,
    /// An attribute: text, or any JSON value
    #[arg(short, long = "meta", value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// Overwrite
    #[arg(short, long)]
    force: bool,
    /// Every line is an object of any length; also --packing: see docs/cli.md
    #[arg(long, conflicts_with_all = ["dtype", "typesize", "raw"])]
    varlen: bool,
    /// Objects are bytes, not texts
    #[arg(long, hide = true, requires = "varlen")]
    bytes: bool,
    #[command(flatten)]
    records: RecordArgs,
    #[command(flatten)]
    packing: PackingArgs,
    #[command(flatten)]
    encoding: EncodingArgs,
    #[command(flatten)]
    pack_file: PackFileArgs,
}

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    /// A frame.
    Frame,
    /// An array in a frame.
    B2nd,
    /// A Bloscpack file.
    Blp,
}

impl To {
    /// What the name of the output says, by its extension.
    fn of_name(output: &OsStr) -> Option<Self> {
        match Named::of(output) {
            Named::B2nd => Some(Self::B2nd),
            Named::Blp => Some(Self::Blp),
            Named::Frame | Named::Sparse => Some(Self::Frame),
            _ => None,
        }
    }
}

/// What the input is taken as.
enum Job {
    /// Records, each of which is an object.
    Objects,
    /// A NumPy file, or bytes to which options give a type and a shape.
    Array(Option<RawShape>),
    Bytes,
}

impl Job {
    fn of(args: &PackArgs, format: Format, source: &Source) -> Outcome<Self> {
        let makes_array = !args.shape.is_empty() || args.to() == Some(To::B2nd);
        match (args.dtype.as_deref(), format) {
            (dtype, Format::Npy) if dtype.is_some() || !args.shape.is_empty() => {
                let words = format!("`{}` states its type and shape itself", source.name());
                Err(Failure::usage(words)
                    .with_help("leave out --dtype and --shape, or take it as bytes with --raw"))
            }
            (_, Format::Npy) => Ok(Self::Array(None)),
            (None, _) if !args.shape.is_empty() => {
                Err(Failure::usage("--shape needs the type of the items")
                    .with_help("give it, like --dtype '<f8'"))
            }
            (Some(dtype), _) if makes_array => {
                RawShape::new(parse_dtype(dtype)?, &args.shape, source).map(Some).map(Self::Array)
            }
            _ if args.varlen => Ok(Self::Objects),
            _ => Ok(Self::Bytes),
        }
    }
}

impl PackArgs {
    /// What the result is to be, if something tells.
    fn to(&self) -> Option<To> {
        self.to.or_else(|| self.output.as_deref().and_then(To::of_name))
    }

    /// How to compress; a name that ends with `.sparse` makes a folder, as `--sparse` does.
    fn encoding_of_name(&self) -> EncodingArgs {
        let named = self.output.as_deref().map(Named::of);
        let sparse = self.encoding.sparse || self.to.is_none() && named == Some(Named::Sparse);
        EncodingArgs { sparse, ..self.encoding.clone() }
    }

    /// Refuses the name of something that `pack` does not make, and an array of no type.
    fn check_name(&self, format: Format) -> Outcome {
        if self.to.is_none() {
            let made = [Named::Frame, Named::Sparse, Named::B2nd, Named::Blp];
            let help = "`superchunk convert` makes .npy, .bcolz, .blsk, .csv and .raw; --to frame makes a \
                        frame of any name";
            Named::check(self.output.as_deref().unwrap_or_default(), &made, help)?;
        }
        let is_array = format == Format::Npy || self.dtype.is_some();
        if self.to() == Some(To::B2nd) && !is_array {
            let words = "an array (.b2nd, --to b2nd) needs the type of its items";
            return Err(Failure::usage(words)
                .with_help("give it, like --dtype '<f8', or make a frame: .b2frame, --to frame"));
        }
        Ok(())
    }

    /// Refuses what does not go together.
    fn check(&self) -> Outcome {
        if let Some(option) = self.records.given().filter(|_| !self.varlen) {
            return Err(Failure::usage(format!("{option} requires --varlen"))
                .with_help("which makes a list of objects"));
        }
        if self.varlen && !self.shape.is_empty() {
            return Err(Failure::usage(
                "--shape is for arrays, --varlen for objects of any length",
            )
            .with_help("leave one of the two out"));
        }
        if self.variable && (self.varlen || self.to() == Some(To::Blp)) {
            return Err(refuse_variable());
        }
        if self.packing.packing().is_some() && (!self.varlen || self.to() == Some(To::Blp)) {
            return Err(Failure::usage("only objects in a frame are packed in some way")
                .with_help("say --varlen, too, and make no Bloscpack file"));
        }
        if self.pack_file.is_given() && self.to() != Some(To::Blp) {
            return Err(Failure::usage(
                "--checksum, --no-offsets and --reserve are for Bloscpack files",
            )
            .with_help("make one with --to blp, or an output called .blp"));
        }
        Ok(())
    }
}

pub(crate) fn run(args: &PackArgs, context: &Context) -> Outcome {
    args.check()?;
    let args = &PackArgs { encoding: args.encoding_of_name(), ..args.clone() };
    let input = Location::whole((args.input != "-").then(|| PathBuf::from(&args.input)));
    let mut source = Source::open(input.path.as_deref())?;
    let format = if args.raw || args.varlen { Format::Raw } else { source.detect()?.format };
    if matches!(format, Format::Frame | Format::Chunk | Format::Bloscpack) {
        let words = format!("`{}` is packed already", input.name());
        return Err(Failure::usage(words).with_help(
            "change it with `superchunk convert` or `repack`, or take it as bytes with --raw",
        ));
    }
    args.check_name(format)?;
    let job = Job::of(args, format, &source)?;
    let (is_array, is_pack_file) = (matches!(job, Job::Array(_)), args.to() == Some(To::Blp));
    if !is_array || is_pack_file {
        write::array::refuse_shapes(&args.chunks, &args.blocks)?;
    }
    if is_array && args.variable {
        return Err(refuse_variable());
    }
    let target = target_of(args, input.path.as_deref(), is_array)?;
    target.require_readers(&args.encoding.compat, context)?;
    target.claim(args.force, context)?;
    let attributes = args.meta.iter().map(|text| attribute(text, args.to()));
    let attributes = attributes.collect::<Outcome<Vec<_>>>()?;
    let (source, to) = (&mut source, (&target, context));
    let unmeasured = |(nbytes, stored)| Sizes { nbytes, stored, rate: 0.0 };
    let sizes = match job {
        Job::Objects => unmeasured(pack_objects(args, source, &attributes, to)?),
        Job::Array(raw) if is_pack_file => {
            unmeasured(pack_array_file(args, &raw, source, &attributes, to)?)
        }
        Job::Array(raw) => unmeasured(pack_array(args, raw, source, &attributes, to)?),
        Job::Bytes if is_pack_file => unmeasured(pack_bytes_file(args, source, attributes, to)?),
        Job::Bytes => {
            let options = options_of(args, context)?;
            let attributes = with_dtype(attributes, args);
            pack(source, &options, &attributes, (&target, args.force), context)?
        }
    };
    sizes.report("pack", &input, &target, context)
}

/// Makes a list of objects, in a frame or a Bloscpack file.
fn pack_objects(
    args: &PackArgs,
    source: &mut Source,
    attributes: &[(String, Value)],
    (target, context): (&Target, &Context),
) -> Outcome<(u64, u64)> {
    let request = write::object::Request {
        encoding: &args.encoding,
        pack_file: (args.to() == Some(To::Blp)).then_some(&args.pack_file),
        packing: args.packing.packing(),
        attributes,
        force: args.force,
    };
    let how = (args.records.framing(), args.bytes);
    write::object::pack(source, how, &request, target, context)
}

/// Makes an array in a frame.
fn pack_array(
    args: &PackArgs,
    raw: Option<RawShape>,
    source: &mut Source,
    attributes: &[(String, Value)],
    (target, context): (&Target, &Context),
) -> Outcome<(u64, u64)> {
    let request = write::array::Request {
        encoding: &args.encoding,
        raw,
        chunks: &args.chunks,
        blocks: &args.blocks,
        attributes,
        force: args.force,
    };
    write::array::pack(source, &request, target, context)
}

/// Makes a Bloscpack file of an array.
fn pack_array_file(
    args: &PackArgs,
    raw: &Option<RawShape>,
    source: &mut Source,
    attributes: &[(String, Value)],
    (target, context): (&Target, &Context),
) -> Outcome<(u64, u64)> {
    let mut progress = context.progress("packing", source.total);
    let Incoming { dtype, shape, is_fortran, needed } = Incoming::of(raw, source)?;
    let mut usual = PackOptions::new();
    usual.compress.item_size = dtype.item_size().max(1);
    let options = args.pack_file.options(usual, &args.encoding, context)?;
    let order = if is_fortran { ItemOrder::Fortran } else { ItemOrder::C };
    let options = write::pack::array_metadata(options, dtype, &shape, order, attributes)?;
    let mut source = ExactSource::new(source, needed)?;
    write::pack::write(target, args.force, &options, context, &mut |sink| {
        source.pieces(1 << 20, &mut progress, sink)
    })
}

/// Makes a Bloscpack file of bytes.
fn pack_bytes_file(
    args: &PackArgs,
    source: &mut Source,
    attributes: Vec<(String, Value)>,
    (target, context): (&Target, &Context),
) -> Outcome<(u64, u64)> {
    let mut progress = context.progress("packing", source.total);
    let mut usual = PackOptions::new();
    usual.compress.item_size = item_size(args)?;
    let mut options = args.pack_file.options(usual, &args.encoding, context)?;
    options.metadata = write::pack::metadata_of(&with_dtype(attributes, args))?;
    options.expected_len = source.total;
    write::pack::write(target, args.force, &options, context, &mut |sink| {
        source.pieces(1 << 20, &mut progress, sink)
    })
}

/// The attributes of bytes, whose type is one of them.
fn with_dtype(mut attributes: Vec<(String, Value)>, args: &PackArgs) -> Vec<(String, Value)> {
    attributes.extend(args.dtype.as_deref().map(|dtype| ("dtype".to_owned(), dtype.into())));
    attributes
}

/// Compresses stdin to stdout.
pub(crate) fn filter(args: &FilterArgs, context: &Context) -> Outcome {
    let FilterArgs { codec, level, digit, .. } = *args;
    let encoding = EncodingArgs { codec, level, digit, ..EncodingArgs::default() };
    let options = encoding.fresh(args.typesize.unwrap_or(1), context)?;
    let mut source = Source::open(None)?;
    drop(crate::output::binary()?);
    let packed = pack(&mut source, &options, &[], (&Target::Stdout, false), context)?;
    match context.is_verbose() {
        true => packed.report("pack", &Location::whole(None), &Target::Stdout, context),
        false => Ok(()),
    }
}

/// Packs a source.
fn pack(
    source: &mut Source,
    options: &FrameOptions,
    attributes: &[(String, Value)],
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome<Sizes> {
    let mut progress = context.progress("packing", source.total);
    let piece = options.chunk_size.unwrap_or(1 << 20);
    let mut fill = |frame: &mut SuperChunk| -> Outcome {
        for (name, value) in attributes {
            frame.set_attribute(name, value.clone())?;
        }
        source.pieces(piece, &mut progress, |bytes| Ok(frame.append(bytes)?))
    };
    if let Target::Path(path) = target {
        let (nbytes, stored) = replace(path, force, context, |temporary| {
            let mut frame = SuperChunk::create(temporary, options)?;
            fill(&mut frame)?;
            frame.commit()?;
            let nbytes = frame.byte_len();
            frame.close()?;
            Ok((nbytes, size_of_path(temporary)))
        })?;
        return Ok(Sizes { nbytes, stored, rate: progress.rate() });
    }
    // The header comes first and states all lengths: chunks wait in a file that has no name.
    let scratch = Scratch::new()?;
    let options = options.clone().with_durability(Durability::Process);
    let mut frame = SuperChunk::create(scratch.path(), &options)?;
    if cfg!(unix) {
        drop(scratch);
    }
    fill(&mut frame)?;
    let stored = target.write_frame(&frame, force, context)?;
    Ok(Sizes { nbytes: frame.byte_len(), stored, rate: progress.rate() })
}

fn refuse_variable() -> Failure {
    Failure::usage(
        "--variable is for frames of bytes: other chunks have one size, or that of an object",
    )
    .with_help("leave it out")
}

fn options_of(args: &PackArgs, context: &Context) -> Outcome<FrameOptions> {
    args.encoding.check(Holder::Frame)?;
    let options = args.encoding.fresh(item_size(args)?, context)?;
    Ok(if args.variable { options.with_variable_chunks() } else { options })
}

fn item_size(args: &PackArgs) -> Outcome<usize> {
    let of_dtype = args.dtype.as_deref().map(parse_dtype).transpose()?;
    Ok(args.typesize.or(of_dtype.map(|dtype| dtype.item_size())).unwrap_or(1))
}

fn target_of(args: &PackArgs, input: Option<&Path>, is_array: bool) -> Outcome<Target> {
    let is_pack_file = args.to() == Some(To::Blp);
    match (&args.output, input) {
        (Some(output), _) => Ok(Target::parse(output)),
        (None, Some(path)) if is_array => {
            Ok(Target::Path(path.with_extension(if is_pack_file { "blp" } else { "b2nd" })))
        }
        (None, Some(path)) => {
            let mut name = path.as_os_str().to_owned();
            name.push(if is_pack_file { ".blp" } else { ".b2frame" });
            Ok(Target::Path(name.into()))
        }
        (None, None) if std::io::stdout().is_terminal() => {
            Err(Failure::usage("where to?").with_help("say it with -o FILE"))
        }
        (None, None) => Ok(Target::Stdout),
    }
}

/// `KEY=VALUE`: JSON if it is, else text.
fn attribute(text: &str, to: Option<To>) -> Outcome<(String, Value)> {
    let (key, value) = text.split_once('=').ok_or_else(|| {
        Failure::said(Exit::Usage, format!("--meta (-m): expected KEY=VALUE, got `{text}`"))
            .with_help("like -m unit=K")
    })?;
    let is_long = key.len() > LONGEST_NAME && to != Some(To::Blp);
    if key.is_empty() || is_long {
        let words = format!("--meta (-m) {text}: a name has 1 to {LONGEST_NAME} bytes");
        return Err(Failure::usage(words).with_help("like -m unit=K"));
    }
    Ok((key.to_owned(), attributes::json_or_text(value)))
}
