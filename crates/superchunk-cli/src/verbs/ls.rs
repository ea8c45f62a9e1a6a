//! `ls`: one line for each file, by content.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use superchunk::Value;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::folders;
use crate::input::Input;
use crate::location::Location;
use crate::names::human;
use crate::opened::Found;
use crate::output::{self, Document, Table, object, path_value, ratio};
use crate::summary::{Summary, sides};
use crate::tables::{self, Rows};

const EXAMPLES: &str = "\
Examples:
  superchunk ls                    this folder
  superchunk ls data/*.b2nd
  superchunk ls -r --all --json data
What cannot be read is listed with the reason, and the exit code is that of the first.";

/// The options of `ls`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LsArgs {
    /// Files and folders; this folder if there are none
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
    /// List files of no known format, too
    #[arg(short, long)]
    all: bool,
    /// List folders inside of folders, too
    #[arg(short, long)]
    recursive: bool,
}

pub(crate) fn run(args: &LsArgs, context: &Context) -> Outcome {
    let here = [OsString::from(".")];
    let given = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let mut found = Vec::new();
    for path in given {
        Location::check_whole(path, "ls")?;
        let path = Path::new(path);
        // What was named is listed in any case.
        match folders::is_plain(path) {
            false => found.push((path.to_owned(), true)),
            true => {
                let paths = folders::entries(path, args.recursive)?;
                found.extend(paths.into_iter().map(|path| (path, args.all)));
            }
        }
    }
    let (mut table, mut list, mut worst) = (heading(), Vec::new(), None);
    for (path, in_any_case) in found {
        let line = match look(&path, context) {
            Ok(line) if line.is_raw && !in_any_case => continue,
            Ok(line) => line,
            Err(failure) => {
                worst = worst.or(failure.exit());
                unreadable(&path, &failure)
            }
        };
        table.row(line.cells);
        list.push(line.entry);
    }
    if context.json() {
        Document::new("ls").with("entries", list).print()?;
    } else if !list.is_empty() {
        output::print(&table.render())?;
    }
    worst.map_or(Ok(()), |exit| Err(Failure::Quiet(exit)))
}

/// The line of what cannot be read: why.
fn unreadable(path: &Path, failure: &Failure) -> Line {
    let words = failure.words().unwrap_or_default();
    let (value, path) = (path_value(path), path.display().to_string());
    let entry = object([("path", value), ("error", words.as_str().into())]);
    let nothing = || "-".to_owned();
    let cells = ["?".to_owned(), nothing(), nothing(), nothing(), nothing(), words, path];
    Line { is_raw: false, cells, entry }
}

/// What is told of one file or folder.
struct Line {
    /// Whether it is of no known format.
    is_raw: bool,
    cells: [String; 7],
    entry: Value,
}

fn look(path: &Path, context: &Context) -> Outcome<Line> {
    let found = Found::at_path(path)?;
    if found.is_table() {
        let rows = Rows::of(&found, context)?;
        let (nbytes, stored, what) = tables::summary_line(&rows, path)?;
        let entry = object([
            ("path", path_value(path)),
            ("format", rows.kind().into()),
            ("nbytes", nbytes.into()),
            ("stored", stored.into()),
        ]);
        let times = format!("{:.2}", ratio(nbytes, stored));
        let (format, path) = (rows.kind().to_owned(), path.display().to_string());
        let cells = [format, human(nbytes), human(stored), times, "-".to_owned(), what, path];
        return Ok(Line { is_raw: false, cells, entry });
    }
    let summary = Summary::of(&Input::of(found, context)?)?;
    let is_raw = summary.format == "raw";
    Ok(Line { is_raw, cells: row(path, &summary), entry: entry(path, &summary) })
}

fn heading() -> Table {
    Table::new(["format", "data", "stored", "ratio", "codec", "what", "path"])
}

fn row(path: &Path, summary: &Summary) -> [String; 7] {
    [
        summary.format.to_owned(),
        human(summary.nbytes),
        human(summary.stored),
        format!("{:.2}", ratio(summary.nbytes, summary.stored)),
        summary.codec.clone().unwrap_or_else(|| "none".to_owned()),
        what(summary),
        path.display().to_string(),
    ]
}

fn what(summary: &Summary) -> String {
    match (&summary.array, summary.objects) {
        (Some((shape, dtype)), _) => format!("{} {dtype}", sides(shape)),
        (None, Some((count, kind))) => format!("{count} objects ({kind})"),
        (None, None) => {
            format!("{} x {} B", summary.nbytes / summary.typesize.max(1), summary.typesize)
        }
    }
}

fn entry(path: &Path, summary: &Summary) -> Value {
    object([
        ("path", path_value(path)),
        ("format", summary.format.into()),
        ("nbytes", summary.nbytes.into()),
        ("cbytes", summary.cbytes.into()),
        ("stored", summary.stored.into()),
        ("typesize", summary.typesize.into()),
        ("nchunks", summary.nchunks.into()),
        ("codec", summary.codec.clone().map_or(Value::Nil, Value::from)),
    ])
}
