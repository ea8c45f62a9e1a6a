//! `salvage`: what can still be read of a damaged file or folder, into a new frame.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use superchunk::salvage::{self, Certainty, Hole, Piece, Report};
use superchunk::store::Folder;
use superchunk::{SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::output::{self, Document, object};
use crate::replace::replace;

const EXAMPLES: &str = "\
Examples:
  superchunk salvage broken.b2frame -o saved.b2frame
  superchunk salvage broken.b2nd -o saved.b2nd --json > report.json
Nothing is changed in place. Exits with 3 when anything is lost; what was saved is in OUT then.";

/// The options of `salvage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SalvageArgs {
    /// The damaged file or folder
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The new frame
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &SalvageArgs, context: &Context) -> Outcome {
    let (saved, report) = read(args, context)?;
    replace(&args.output, args.force, |temporary| {
        let copy = saved.copy_to(temporary, &saved.frame_options())?;
        Ok(copy.close()?)
    })?;
    if context.json() {
        document(args, &saved, &report).print()?;
    } else {
        tell(args, &report, context)?;
    }
    if report.is_whole() { Ok(()) } else { Err(Failure::Quiet(Exit::Corrupt)) }
}

fn read(args: &SalvageArgs, context: &Context) -> Outcome<(SuperChunk, Report)> {
    let limits = context.open_options().limits;
    if args.input.is_dir() {
        return Ok(salvage::sparse(&Folder::open(&args.input)?, &limits)?);
    }
    let bytes =
        fs::read(&args.input).map_err(|error| Failure::io("read it", &args.input, error))?;
    Ok(salvage::frame(&bytes, &limits)?)
}

fn document(args: &SalvageArgs, saved: &SuperChunk, report: &Report) -> Document {
    let piece = |piece: &Piece| {
        object([
            ("chunk", (piece.chunk as u64).into()),
            ("source", piece.source.to_string().as_str().into()),
            ("bytes", (piece.len as u64).into()),
            ("certainty", piece.certainty.to_string().as_str().into()),
        ])
    };
    let hole = |hole: &Hole| {
        let chunk = hole.chunk.map_or(Value::Nil, |chunk| (chunk as u64).into());
        let source = hole.source.to_string();
        let (source, reason) = (source.as_str().into(), hole.reason.as_str().into());
        object([("chunk", chunk), ("source", source), ("reason", reason)])
    };
    Document::new("salvage")
        .with("path", args.input.display().to_string())
        .with("output", args.output.display().to_string())
        .with("format", report.format)
        .with("whole", report.is_whole())
        .with("sealed", report.sealed)
        .with("order", report.order.to_string())
        .with("bytes", saved.len())
        .with("pieces", report.pieces.iter().map(piece).collect::<Vec<_>>())
        .with("holes", report.holes.iter().map(hole).collect::<Vec<_>>())
        .with("superseded", report.superseded as u64)
        .with("notes", output::texts(report.notes.iter().cloned()))
}

fn tell(args: &SalvageArgs, report: &Report, context: &Context) -> Outcome {
    let style = context.style();
    let mut text = String::new();
    for hole in &report.holes {
        let place = match hole.chunk {
            Some(chunk) => format!("chunk {chunk} reads as zeros"),
            None => hole.source.to_string(),
        };
        text.push_str(&format!("{} {place}: {}\n", style.red("lost:"), hole.reason));
    }
    for note in &report.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    let counts = [Certainty::Verified, Certainty::Decoded, Certainty::Assumed]
        .map(|certainty| format!("{} {certainty}", report.count(certainty)));
    let verdict = if report.is_whole() { style.green("whole") } else { style.red("not whole") };
    text.push_str(&format!(
        "{}: {verdict}, {} chunks ({}), order from {}\n",
        args.output.display(),
        report.pieces.len(),
        counts.join(", "),
        report.order,
    ));
    if context.is_quiet() && report.is_whole() { Ok(()) } else { output::print(&text) }
}
