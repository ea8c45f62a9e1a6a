//! `pack`: bytes and NumPy arrays become frames.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::detect::Format;
use superchunk::frame::Durability;
use superchunk::{FrameOptions, SuperChunk, Value};

use crate::args::FilterArgs;
use crate::arrays;
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::location::Location;
use crate::names::{human, parse_length};
use crate::output::{Document, ratio, rounded};
use crate::replace::{Scratch, replace};
use crate::source::Source;
use crate::target::Target;
use crate::values::parse_dtype;

const EXAMPLES: &str = "\
Examples:
  superchunk pack readings.f8 -t 8 -9           readings.f8.b2frame
  superchunk pack cube.npy                      cube.b2nd, shape and dtype kept
  zcat big.gz | superchunk pack - -o big.b2frame --dtype '<f4' -m unit=K";

/// The options of `pack`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PackArgs {
    /// A file, or - for stdin
    #[arg(default_value = "-", hide_default_value = true)]
    input: OsString,
    /// Where to; IN.b2frame if not given, - is stdout
    #[arg(short, long, value_name = "OUT")]
    output: Option<OsString>,
    /// Bytes of an item
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// Type of an item as NumPy spells it, like '<f4'; kept as attribute `dtype`
    #[arg(long, value_name = "TYPE", conflicts_with = "typesize")]
    dtype: Option<String>,
    /// Make an array of these axes, like 100,200
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "dtype")]
    shape: Vec<u64>,
    /// Axes of a chunk of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    chunks: Vec<usize>,
    /// Axes of a block of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
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
    #[command(flatten)]
    encoding: EncodingArgs,
}

/// What was packed.
struct Packed {
    nbytes: u64,
    stored: u64,
}

pub(crate) fn run(args: &PackArgs, context: &Context) -> Outcome {
    let input = Location::whole((args.input != "-").then(|| PathBuf::from(&args.input)));
    let mut source = Source::open(input.path.as_deref())?;
    let format = if args.raw { Format::Raw } else { source.detect()?.format };
    if matches!(format, Format::Frame | Format::Chunk) {
        let words = format!("`{}` is packed already", input.name());
        return Err(Failure::usage(words).with_help(
            "change it with `superchunk convert` or `repack`, or take it as bytes with --raw",
        ));
    }
    let raw = array_of(args, &source)?;
    let is_array = format == Format::Npy || raw.is_some();
    let target = target_of(args, input.path.as_deref(), is_array)?;
    let mut attributes =
        args.meta.iter().map(|text| attribute(text)).collect::<Outcome<Vec<_>>>()?;
    if is_array {
        let request = arrays::Request {
            encoding: &args.encoding,
            raw: raw.filter(|_| format != Format::Npy),
            chunks: &args.chunks,
            blocks: &args.blocks,
            attributes: &attributes,
            force: args.force,
        };
        let (nbytes, stored) = arrays::pack(&mut source, &request, &target, context)?;
        return report(&input.name(), &target, &Packed { nbytes, stored }, 0.0, context);
    }
    let options = options_of(args, context)?;
    attributes.extend(args.dtype.as_deref().map(|dtype| ("dtype".to_owned(), dtype.into())));
    pack(&mut source, &options, &attributes, (&target, args.force), &input.name(), context)
}

/// Compresses stdin to stdout.
pub(crate) fn filter(args: &FilterArgs, context: &Context) -> Outcome {
    let encoding = EncodingArgs { codec: args.codec, level: args.level, ..EncodingArgs::default() };
    let options = encoding.fresh(args.typesize.unwrap_or(1), context)?;
    let mut source = Source::open(None)?;
    drop(crate::output::binary()?);
    let packed = pack_to(&mut source, &options, &[], (&Target::Stdout, false), context)?;
    if context.is_verbose() {
        report("stdin", &Target::Stdout, &packed.0, packed.1, context)?;
    }
    Ok(())
}

/// Packs a source with given options; `tune` ends here, too.
pub(crate) fn pack(
    source: &mut Source,
    options: &FrameOptions,
    attributes: &[(String, Value)],
    target: (&Target, bool),
    name: &str,
    context: &Context,
) -> Outcome {
    let (packed, rate) = pack_to(source, options, attributes, target, context)?;
    report(name, target.0, &packed, rate, context)
}

fn pack_to(
    source: &mut Source,
    options: &FrameOptions,
    attributes: &[(String, Value)],
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome<(Packed, f64)> {
    let mut progress = context.progress("packing", source.total);
    let piece = options.chunk_size.unwrap_or(1 << 20);
    let mut fill = |frame: &mut SuperChunk| -> Outcome {
        for (name, value) in attributes {
            frame.set_value(name, value)?;
        }
        source.pieces(piece, &mut progress, |bytes| Ok(frame.append(bytes)?))
    };
    if let Target::Path(path) = target {
        let packed = replace(path, force, |temporary| {
            let mut frame = SuperChunk::create(temporary, options)?;
            fill(&mut frame)?;
            frame.commit()?;
            let nbytes = frame.len();
            frame.close()?;
            Ok(Packed { nbytes, stored: size_of_path(temporary) })
        })?;
        return Ok((packed, progress.rate()));
    }
    // The header comes first and states all lengths: chunks wait in a file that has no name.
    let scratch = Scratch::new();
    let options = options.clone().with_durability(Durability::Process);
    let mut frame = SuperChunk::create(scratch.path(), &options)?;
    if cfg!(unix) {
        drop(scratch);
    }
    fill(&mut frame)?;
    let stored = write_frame(&frame, target, force)?;
    Ok((Packed { nbytes: frame.len(), stored }, progress.rate()))
}

/// Writes a frame from front to back, and returns its length.
pub(crate) fn write_frame(frame: &SuperChunk, target: &Target, force: bool) -> Outcome<u64> {
    target.write(force, |out| {
        let mut counter = Counter { out, count: 0 };
        frame.write_to(&mut counter)?;
        Ok(counter.count)
    })
}

/// Counts what is written.
struct Counter<'a> {
    out: &'a mut dyn std::io::Write,
    count: u64,
}

impl std::io::Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The length of a file, or of all files of a folder.
pub(crate) fn size_of_path(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |found| found.len());
    };
    let lens = entries.flatten().filter_map(|entry| Some(entry.metadata().ok()?.len()));
    lens.sum()
}

/// The type and shape of plain bytes that are to become an array.
fn array_of<'a>(args: &'a PackArgs, source: &Source) -> Outcome<Option<(&'a str, Vec<u64>)>> {
    let Some(dtype) = args.dtype.as_deref() else { return Ok(None) };
    if !args.shape.is_empty() {
        return Ok(Some((dtype, args.shape.clone())));
    }
    let output = args.output.as_ref().map(Path::new);
    if output.and_then(Path::extension).is_none_or(|suffix| suffix != "b2nd") {
        return Ok(None);
    }
    let total = source.total.ok_or_else(|| {
        Failure::usage("an array needs its shape before its data").with_help("say it with --shape")
    })?;
    Ok(Some((dtype, vec![total / parse_dtype(dtype)?.item_size().max(1) as u64])))
}

fn options_of(args: &PackArgs, context: &Context) -> Outcome<FrameOptions> {
    let of_dtype = args.dtype.as_deref().map(parse_dtype).transpose()?;
    let item_size = args.typesize.or(of_dtype.map(|dtype| dtype.item_size())).unwrap_or(1);
    let options = args.encoding.fresh(item_size, context)?;
    Ok(if args.variable { options.with_variable_chunks() } else { options })
}

fn target_of(args: &PackArgs, input: Option<&Path>, is_array: bool) -> Outcome<Target> {
    match (&args.output, input) {
        (Some(output), _) => Ok(Target::parse(output)),
        (None, Some(path)) if is_array => Ok(Target::Path(path.with_extension("b2nd"))),
        (None, Some(path)) => {
            let mut name = path.as_os_str().to_owned();
            name.push(".b2frame");
            Ok(Target::Path(name.into()))
        }
        (None, None) if std::io::stdout().is_terminal() => {
            Err(Failure::usage("where to?").with_help("say it with -o FILE"))
        }
        (None, None) => Ok(Target::Stdout),
    }
}

/// `KEY=VALUE`: JSON if it is, else text.
pub(crate) fn attribute(text: &str) -> Outcome<(String, Value)> {
    let (key, value) = text.split_once('=').ok_or_else(|| {
        Failure::said(Exit::Usage, format!("`{text}` is no KEY=VALUE")).with_help("like -m unit=K")
    })?;
    Ok((key.to_owned(), json_or_text(value)))
}

/// A JSON value, or the text itself if it is none.
pub(crate) fn json_or_text(text: &str) -> Value {
    Value::from_json(text).unwrap_or_else(|_| text.into())
}

fn report(name: &str, target: &Target, packed: &Packed, rate: f64, context: &Context) -> Outcome {
    let times = ratio(packed.nbytes, packed.stored);
    if context.json() && *target != Target::Stdout {
        return Document::new("pack")
            .with("path", name)
            .with("output", target.name())
            .with("nbytes", packed.nbytes)
            .with("stored", packed.stored)
            .with("ratio", rounded(times))
            .print();
    }
    let speed = if rate > 0.0 { format!(", {:.0} MB/s", rate / 1e6) } else { String::new() };
    context.tell(&format!(
        "{name} -> {}: {} -> {}, ratio {times:.2}{speed}",
        target.name(),
        human(packed.nbytes),
        human(packed.stored)
    ));
    Ok(())
}
