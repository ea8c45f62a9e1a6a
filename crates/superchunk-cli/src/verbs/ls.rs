//! `ls`: one line for each file, by content.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::{Value, detect};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::Input;
use crate::location::Location;
use crate::names::human;
use crate::output::{self, Document, Table, object, ratio};
use crate::summary::{Summary, sides};
use crate::tables::{self, Rows};

const EXAMPLES: &str = "\
Examples:
  superchunk ls                    this folder
  superchunk ls data/*.b2nd
  superchunk ls --all --json data";

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
}

pub(crate) fn run(args: &LsArgs, context: &Context) -> Outcome {
    let here = [OsString::from(".")];
    let given = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let mut found = Vec::new();
    for path in given {
        let path = Path::new(path);
        let is_plain_folder = path.is_dir() && detect::path(path).is_err();
        // What was named is listed in any case.
        match is_plain_folder {
            false => found.push((path.to_owned(), true)),
            true => found.extend(entries(path)?.into_iter().map(|path| (path, args.all))),
        }
    }
    let (mut table, mut list) = (heading(), Vec::new());
    for (path, in_any_case) in found {
        match look(&path, context) {
            Ok(line) if line.is_raw && !in_any_case => {}
            Ok(line) => {
                table.row(line.cells);
                list.push(line.entry);
            }
            Err(_) if !in_any_case => {}
            Err(failure) => return Err(failure),
        }
    }
    if context.json() {
        return Document::new("ls").with("entries", list).print();
    }
    if list.is_empty() { Ok(()) } else { output::print(&table.render()) }
}

/// What is told of one file or folder.
struct Line {
    /// Whether it is of no known format.
    is_raw: bool,
    cells: [String; 7],
    entry: Value,
}

fn look(path: &Path, context: &Context) -> Outcome<Line> {
    let location = Location::whole(Some(path.to_owned()));
    if let Some(rows) = Rows::open(&location, context)? {
        let (nbytes, stored, what) = tables::summary_line(&rows, path)?;
        let entry = object([
            ("path", path.display().to_string().into()),
            ("format", rows.kind().into()),
            ("nbytes", nbytes.into()),
            ("stored", stored.into()),
        ]);
        let times = format!("{:.2}", ratio(nbytes, stored));
        let (format, path) = (rows.kind().to_owned(), path.display().to_string());
        let cells = [format, human(nbytes), human(stored), times, "-".to_owned(), what, path];
        return Ok(Line { is_raw: false, cells, entry });
    }
    let summary = Summary::of(&Input::open(&location, context)?)?;
    let is_raw = summary.format == "raw";
    Ok(Line { is_raw, cells: row(path, &summary), entry: entry(path, &summary) })
}

fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |error| Failure::io("list it", folder, error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_data = path.is_file() || detect::path(&path).is_ok();
        if is_data && !is_hidden {
            paths.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
        }
    }
    paths.sort();
    Ok(paths)
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
        ("path", path.display().to_string().into()),
        ("format", summary.format.into()),
        ("nbytes", summary.nbytes.into()),
        ("cbytes", summary.cbytes.into()),
        ("stored", summary.stored.into()),
        ("typesize", summary.typesize.into()),
        ("nchunks", summary.nchunks.into()),
        ("codec", summary.codec.clone().map_or(Value::Nil, Value::from)),
    ])
}
