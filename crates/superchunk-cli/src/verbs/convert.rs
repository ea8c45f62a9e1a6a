//! `convert`: from one format to another. Chunks move as they are where that is possible.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use superchunk::frame::Kind;
use superchunk::{SuperChunk, chunk};

use super::pack::size_of_path;
use crate::arrays;
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input, to_usize};
use crate::location::Location;
use crate::names::human;
use crate::output::{Document, ratio, rounded};
use crate::replace::replace;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  superchunk convert a.b2frame b.b2frame -c lz4      other parameters
  superchunk convert a.b2frame folder --to sparse    chunks move as they are
  superchunk convert cube.npy cube.b2nd --chunks 10,200,300";

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
    /// A NumPy file.
    Npy,
    /// Plain bytes.
    Raw,
}

/// The options of `convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// What to convert, or - for stdin
    input: OsString,
    /// Where to
    output: OsString,
    /// frame, sparse, chunk, b2nd, npy or raw; else the name of the output tells
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    to: Option<To>,
    /// Axes of a chunk of an array, like 100,200
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    chunks: Vec<usize>,
    /// Axes of a block of an array
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    blocks: Vec<usize>,
    /// Overwrite
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    encoding: EncodingArgs,
}

impl ConvertArgs {
    fn request(&self) -> arrays::Request<'_> {
        arrays::Request {
            chunks: &self.chunks,
            blocks: &self.blocks,
            ..arrays::Request::of(&self.encoding, self.force)
        }
    }
}

pub(crate) fn run(args: &ConvertArgs, context: &Context) -> Outcome {
    let input = Input::open(&Location::parse(&args.input), context)?;
    if input.slice.is_some() {
        return Err(
            Failure::usage("convert takes all of its input").with_help("cut it with `unpack`")
        );
    }
    let to = match args.to {
        Some(to) => to,
        None => guess(args, &input)?,
    };
    let target = Target::parse(&args.output);
    match (to, &target) {
        (To::Frame | To::Sparse | To::B2nd, Target::Path(path)) => {
            let is_array = matches!(input.content, Content::Array(_));
            if is_array && input.frame().is_none() || to == To::B2nd && !is_array {
                arrays::convert(&input, &args.request(), path, context)?;
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
        (To::Npy | To::Raw, _) => to_bytes(&input, to, args, &target)?,
    }
    report(&input, &target, context)
}

/// What the name of the output says.
fn guess(args: &ConvertArgs, input: &Input) -> Outcome<To> {
    let suffix = Path::new(&args.output).extension().and_then(|suffix| suffix.to_str());
    Ok(match suffix {
        _ if args.encoding.sparse => To::Sparse,
        Some("b2nd") => To::B2nd,
        Some("b2frame" | "b2") => To::Frame,
        Some("npy") => To::Npy,
        Some("chunk") => To::Chunk,
        Some("raw" | "bin") => To::Raw,
        _ if matches!(input.content, Content::Chunk(_) | Content::Raw(_)) => To::Frame,
        _ => {
            let words = format!("what is `{}` to be?", args.output.to_string_lossy());
            return Err(Failure::usage(words)
                .with_help("say it with --to frame, sparse, chunk, b2nd, npy or raw"));
        }
    })
}

fn to_frame(input: &Input, args: &ConvertArgs, to: To, path: &Path, context: &Context) -> Outcome {
    let kind = if to == To::Sparse { Kind::Sparse } else { Kind::Contiguous };
    let kind = kind_of(args, kind);
    replace(path, args.force, |temporary| {
        if input.frame().is_some() {
            return arrays::copy(input, temporary, &args.request(), kind, context);
        }
        let mut options = args.encoding.fresh(input.item_size(), context)?.with_kind(kind);
        let chunk = match &input.content {
            Content::Chunk(chunk) if !args.encoding.changes_chunks() => chunk,
            _ => {
                let mut frame = SuperChunk::create(temporary, &options)?;
                input.pieces(&mut |bytes| Ok(frame.append(bytes)?))?;
                return Ok(frame.close()?);
            }
        };
        options.chunk_size = Some(chunk.header.len().max(1));
        options.compress.codec = chunk.header.codec().unwrap_or(options.compress.codec);
        options.compress.filters = chunk.header.filters();
        let mut frame = SuperChunk::create(temporary, &options)?;
        if chunk.header.len() > 0 {
            frame.append_chunk(&chunk.bytes)?;
        }
        Ok(frame.close()?)
    })
}

fn kind_of(args: &ConvertArgs, kind: Kind) -> Kind {
    if args.encoding.sparse { Kind::Sparse } else { kind }
}

fn to_chunk(input: &Input, args: &ConvertArgs, target: &Target, context: &Context) -> Outcome {
    let lone = input.frame().filter(|frame| frame.chunk_count() == 1);
    let bytes = match lone.filter(|_| !args.encoding.changes_chunks()) {
        Some(frame) => frame.compressed_chunk(0)?,
        None => {
            let base = match input.frame() {
                Some(frame) => frame.frame_options(),
                None => args.encoding.fresh(input.item_size(), context)?,
            };
            let options = args.encoding.over(base, context)?;
            let len = to_usize(input.len())?;
            let mut all = Vec::with_capacity(len.min(1 << 30));
            input.pieces(&mut |bytes| {
                all.extend_from_slice(bytes);
                Ok(())
            })?;
            chunk::compress(&all, &options.compress)?
        }
    };
    target.write(args.force, |out: &mut dyn Write| {
        out.write_all(&bytes).map_err(|error| target.failed(error))
    })
}

fn to_bytes(input: &Input, to: To, args: &ConvertArgs, target: &Target) -> Outcome {
    let header = match (to, &input.content) {
        (To::Npy, _) => arrays::npy_header(input)?,
        _ => Vec::new(),
    };
    target.write(args.force, |out: &mut dyn Write| {
        out.write_all(&header).map_err(|error| target.failed(error))?;
        input.pieces(&mut |bytes| out.write_all(bytes).map_err(|error| target.failed(error)))
    })
}

fn report(input: &Input, target: &Target, context: &Context) -> Outcome {
    let Target::Path(path) = target else { return Ok(()) };
    let stored = size_of_path(path);
    if context.json() {
        return Document::new("convert")
            .with("path", input.name.as_str())
            .with("output", target.name())
            .with("nbytes", input.len())
            .with("stored", stored)
            .with("ratio", rounded(ratio(input.len(), stored)))
            .print();
    }
    context.tell(&format!("{} -> {}: {}", input.name, target.name(), human(stored)));
    Ok(())
}
