//! `salvage`: what can still be read of a damaged file or folder, into a new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use superchunk::detect::{self, Format};
use superchunk::salvage::{self, Certainty, Hole, Piece, Report};
use superchunk::store::{FileReader, Folder, ReadAt};
use superchunk::verify;
use superchunk::{Error, ErrorKind, Limits, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::names::human;
use crate::output::{self, Document, object};
use crate::replace::replace;
use crate::target::Target;

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
    /// The damaged frame, Bloscpack file, bcolz array or table, or blsk tree
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
    Target::Path(args.output.clone()).claim(args.force, context)?;
    let saved = replace(&args.output, args.force, context, |temporary| {
        let saved = match args.input.is_dir() {
            true => folder(&args.input, temporary, &limits)?,
            false => file(&args.input, temporary, context)?,
        };
        check(temporary, context)?;
        Ok(saved)
    });
    let (report, bytes) = saved.map_err(nothing_saved)?;
    if context.json() {
        document(args, &report, bytes).print()?;
    } else {
        tell(args, &report, context)?;
    }
    if report.is_whole() { Ok(()) } else { Err(Failure::Quiet(Exit::Corrupt)) }
}

/// Makes sure that what was saved is whole in itself.
fn check(saved: &Path, context: &Context) -> Outcome {
    let options = verify::Options::new().with_open(context.open_options());
    let report = verify::path(saved, &options, &mut |_, _| {})?;
    match report.corrupt().next() {
        None => Ok(()),
        Some(finding) => Err(Error::corrupt(finding.words.clone()).within("what was saved").into()),
    }
}

/// The exit code of damage means that something was saved: this is for when nothing was.
fn nothing_saved(failure: Failure) -> Failure {
    match (failure.exit(), failure.words()) {
        (Some(Exit::Corrupt), Some(words)) => Failure::said(Exit::Failure, words)
            .with_help("nothing was saved: no part of it can be trusted"),
        _ => failure,
    }
}

/// What can be read of a folder, as another one. A tree of `blsk` and a folder of bcolz have no file in common
/// by which they could be taken for each other; the index of a sparse frame may be what is missing.
fn folder(from: &Path, to: &Path, limits: &Limits) -> Outcome<(Report, u64)> {
    let dir = Folder::open(from)?;
    if detect::path(from).is_ok_and(|found| found.format == Format::SparseFrame) {
        return frame(salvage::sparse(&dir, limits)?, to);
    }
    let mut refusal = None;
    for rebuild in [salvage::blsk, salvage::bcolz] {
        match rebuild(&dir, Arc::new(Folder::create(to)?), limits) {
            Ok(report) => {
                let bytes = all(&report, "").iter().map(|(_, part)| recovered(part)).sum();
                return Ok((report, bytes));
            }
            // A failed write does not mean that the input has another format.
            Err(error) if error.kind() == ErrorKind::Io => return Err(error.into()),
            Err(error) => {
                fs::remove_dir_all(to).map_err(|error| Failure::io("remove it", to, error))?;
                refusal = Some(error);
            }
        }
    }
    let found = salvage::sparse(&dir, limits).map_err(|error| refusal.unwrap_or(error))?;
    frame(found, to)
}

/// What can be read of a file, as another one. Without its start nobody knows what it was: the chunks of
/// frames are not those of Bloscpack files.
fn file(from: &Path, to: &Path, context: &Context) -> Outcome<(Report, u64)> {
    let limits = &context.limits();
    let bytes = read(from, context)?;
    if !bytes.starts_with(b"blpk") {
        match salvage::frame(&bytes, limits) {
            Ok(saved) => return frame(saved, to),
            Err(error) => {
                let saved = salvage::pack(&bytes, limits).map_err(|_| error)?;
                return pack(saved, to);
            }
        }
    }
    pack(salvage::pack(&bytes, limits)?, to)
}

/// All of a regular file, if the memory that may be used holds it.
fn read(path: &Path, context: &Context) -> Outcome<Vec<u8>> {
    let file = FileReader::open(path)?;
    let len = file.len()?;
    let most = context.limit_mem().unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let wanted = usize::try_from(len).ok().filter(|_| len <= most);
    let has_room = wanted.is_some_and(|wanted| bytes.try_reserve_exact(wanted).is_ok());
    let Some(wanted) = wanted.filter(|_| has_room) else {
        let words = format!("salvage holds the file in memory, and it has {}", human(len));
        return Err(Error::limit(words).within(path.display().to_string()).into());
    };
    bytes.resize(wanted, 0);
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

fn frame((saved, report): (superchunk::SuperChunk, Report), to: &Path) -> Outcome<(Report, u64)> {
    saved.copy_to(to, &saved.frame_options())?.close()?;
    Ok((report, saved.len()))
}

fn pack((saved, report): (Vec<u8>, Report), to: &Path) -> Outcome<(Report, u64)> {
    let written = fs::File::create_new(to).and_then(|mut file| {
        std::io::Write::write_all(&mut file, &saved)?;
        file.sync_all()
    });
    written.map_err(|error| Failure::io("write it", to, error))?;
    let bytes = recovered(&report);
    Ok((report, bytes))
}

/// The bytes of all chunks that were found.
fn recovered(report: &Report) -> u64 {
    report.pieces.iter().map(|piece| piece.len as u64).sum()
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

fn document(args: &SalvageArgs, report: &Report, bytes: u64) -> Document {
    let piece = |column: &str, piece: &Piece| {
        object([
            ("column", column.into()),
            ("chunk", (piece.chunk as u64).into()),
            ("source", piece.source.to_string().as_str().into()),
            ("bytes", (piece.len as u64).into()),
            ("certainty", piece.certainty.to_string().as_str().into()),
        ])
    };
    let hole = |column: &str, hole: &Hole| {
        let chunk = hole.chunk.map_or(Value::Nil, |chunk| (chunk as u64).into());
        let source = hole.source.to_string();
        let (source, reason) = (source.as_str().into(), hole.reason.as_str().into());
        object([
            ("column", column.into()),
            ("chunk", chunk),
            ("source", source),
            ("reason", reason),
        ])
    };
    let reports = all(report, "");
    let (mut pieces, mut holes, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (column, report) in &reports {
        pieces.extend(report.pieces.iter().map(|found| piece(column, found)));
        holes.extend(report.holes.iter().map(|lost| hole(column, lost)));
        notes.extend(report.notes.iter().map(|note| said_of(column, note)));
    }
    Document::new("salvage")
        .with("path", args.input.display().to_string())
        .with("output", args.output.display().to_string())
        .with("format", report.format)
        .with("whole", report.is_whole())
        .with("sealed", report.sealed)
        .with("order", report.order.to_string())
        .with("bytes", bytes)
        .with("pieces", pieces)
        .with("holes", holes)
        .with("superseded", reports.iter().map(|(_, part)| part.superseded as u64).sum::<u64>())
        .with("notes", output::texts(notes))
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
