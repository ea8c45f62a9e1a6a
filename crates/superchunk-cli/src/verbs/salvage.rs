//! `salvage`: what can still be read of a damaged file or folder, into a new one.

use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::detect::{self, Detected, Format};
use superchunk::salvage::{self, Certainty, Hole, Piece, Report};
use superchunk::verify::{self, Verdict};
use superchunk::{Error, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::foreign;
use crate::names::is_packed_name;
use crate::output::{self, Document, object, path_value};
use crate::replace::replace;
use crate::target::{Named, Target};

const EXAMPLES: &str = "\
Examples:
  superchunk salvage broken.b2frame -o saved.b2frame
  superchunk salvage broken.blp -o saved.blp
  superchunk salvage broken.bcolz -o saved.bcolz --json > report.json
  superchunk salvage broken.blsk -o saved.blsk
OUT has the format of IN. Nothing is changed in place. Exits with 0 when all came back, with 3 when
something is lost but OUT is valid; with any other code OUT is not written.";

/// The options of `salvage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SalvageArgs {
    /// The damaged frame, Bloscpack file, bcolz array or table, blsk tree, or folder of columns
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The new one
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &SalvageArgs, context: &Context) -> Outcome {
    let limits = context.open_options().limits;
    let detected = args.input.is_file().then(|| detect::path(&args.input)).and_then(Result::ok);
    if let Some(detected) = detected.filter(|found| foreign::is_other(&args.input, found)) {
        return Err(refuse(args, &detected));
    }
    Target::Path(args.output.clone()).claim(args.force, context)?;
    let saved = replace(&args.output, args.force, context, |temporary| {
        let saved = salvage::path(&args.input, temporary, &limits)?;
        check_name(&args.output, saved.0.format)?;
        check(temporary, context)?;
        Ok(saved)
    });
    let (report, bytes) = saved.map_err(|failure| nothing_saved(args, failure))?;
    if context.json() {
        document(args, &report, bytes)?;
    } else {
        tell(args, &report, context)?;
    }
    if report.is_whole() { Ok(()) } else { Err(Failure::Quiet(Exit::Corrupt)) }
}

/// Refuses an output whose name says that it is of another format than what was saved.
fn check_name(output: &Path, format: &str) -> Outcome {
    let made: &[Named] = match format {
        "blsk array" | "blsk table" => &[Named::Blsk],
        "bcolz array" | "bcolz table" | "bcolz objects" => &[Named::Bcolz],
        "bloscpack" => &[Named::Blp],
        "folder of columns" => &[],
        "sparse frame" => &[Named::Frame, Named::Sparse, Named::B2nd],
        _ => &[Named::Frame, Named::B2nd],
    };
    Named::check(output.as_os_str(), made, "`salvage` keeps the format of what is damaged")
}

/// Makes sure that what was saved is whole in itself, all of it.
fn check(saved: &Path, context: &Context) -> Outcome {
    let options = verify::Options::new().with_open(context.open_options());
    let report = verify::path(saved, &options, &mut |_, _| {})?;
    let unchecked = report.findings.iter().find(|found| found.verdict == Verdict::Unchecked);
    let error = match (report.corrupt().next(), unchecked) {
        (None, None) => return Ok(()),
        (Some(finding), _) => Error::corrupt(finding.words.clone()),
        // Chunks of unknown codecs are not kept: only a limit is left.
        (None, Some(finding)) => Error::limit(finding.words.clone()),
    };
    Err(error.within("what was saved").into())
}

/// The exit code of damage means that something was saved: this is for when nothing was.
fn nothing_saved(args: &SalvageArgs, failure: Failure) -> Failure {
    let is_bytes = |found: &Detected| found.format == Format::Raw && !is_packed_name(&args.input);
    let bytes = detect::path(&args.input).ok().filter(is_bytes);
    match (failure.exit(), failure.words()) {
        (Some(Exit::Corrupt), _) if bytes.is_some() => {
            bytes.map_or(failure, |found| refuse(args, &found))
        }
        (Some(Exit::Corrupt), Some(words)) => Failure::said(Exit::Failure, words)
            .with_help("nothing was saved: no part of it can be trusted"),
        _ => failure,
    }
}

fn refuse(args: &SalvageArgs, detected: &Detected) -> Failure {
    let name = args.input.display().to_string();
    foreign::refuse(&name, &args.input, detected, "something that can be salvaged")
}

/// A report and those of its columns, with their paths.
fn all<'r>(report: &'r Report, path: &str) -> Vec<(String, &'r Report)> {
    let mut reports = vec![(path.to_owned(), report)];
    for (name, column) in &report.columns {
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        reports.extend(all(column, &path));
    }
    reports
}

/// Prints the report as a document.
fn document(args: &SalvageArgs, report: &Report, bytes: u64) -> Outcome {
    let reports = all(report, "");
    let notes = reports
        .iter()
        .flat_map(|(column, part)| part.notes.iter().map(move |note| said_of(column, note)));
    let mut pieces = reports
        .iter()
        .flat_map(|(column, part)| part.pieces.iter().map(|piece| Ok(piece_value(column, piece))));
    let mut holes = reports
        .iter()
        .flat_map(|(column, part)| part.holes.iter().map(|hole| Ok(hole_value(column, hole))));
    Document::new("salvage")
        .with("path", path_value(&args.input))
        .with("output", path_value(&args.output))
        .with("format", report.format)
        .with("whole", report.is_whole())
        .with("sealed", report.sealed)
        .with("order", report.order.to_string())
        .with("bytes", bytes)
        .with("superseded", reports.iter().map(|(_, part)| part.superseded as u64).sum::<u64>())
        .with("notes", output::texts(notes))
        .print_lists([("pieces", &mut pieces), ("holes", &mut holes)])
}

fn piece_value(column: &str, piece: &Piece) -> Value {
    object([
        ("column", column.into()),
        ("chunk", (piece.chunk as u64).into()),
        ("source", piece.source.to_string().as_str().into()),
        ("bytes", (piece.len as u64).into()),
        ("certainty", piece.certainty.to_string().as_str().into()),
    ])
}

fn hole_value(column: &str, hole: &Hole) -> Value {
    object([
        ("column", column.into()),
        ("chunk", hole.chunk.map_or(Value::Nil, |chunk| (chunk as u64).into())),
        ("source", hole.source.to_string().as_str().into()),
        ("reason", hole.reason.as_str().into()),
    ])
}

fn said_of(column: &str, note: &str) -> String {
    if column.is_empty() { note.to_owned() } else { format!("column {column}: {note}") }
}

fn tell(args: &SalvageArgs, report: &Report, context: &Context) -> Outcome {
    let style = context.style();
    let mut text = String::new();
    let reports = all(report, "");
    for (column, part) in &reports {
        let filled = match part.format {
            "bcolz array" => "has default values",
            "bcolz objects" => "is None",
            _ => "reads as zeros",
        };
        for hole in &part.holes {
            let place = match hole.chunk {
                Some(chunk) => format!("chunk {chunk} {filled}"),
                None => hole.source.to_string(),
            };
            let words = said_of(column, &format!("{place}: {}", hole.reason));
            text.push_str(&format!("{} {words}\n", style.red("lost:")));
        }
        for note in &part.notes {
            text.push_str(&format!("note: {}\n", said_of(column, note)));
        }
    }
    let counts = [Certainty::Verified, Certainty::Decoded, Certainty::Assumed];
    let pieces: usize = counts.iter().map(|certainty| report.count(*certainty)).sum();
    let counts = counts.map(|certainty| format!("{} {certainty}", report.count(certainty)));
    let verdict = if report.is_whole() { style.green("whole") } else { style.red("not whole") };
    text.push_str(&format!(
        "{}: {verdict}, {pieces} chunks ({}), order from {}\n",
        args.output.display(),
        counts.join(", "),
        report.order,
    ));
    if context.is_quiet() && report.is_whole() { Ok(()) } else { output::print(&text) }
}
