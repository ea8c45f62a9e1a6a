//! The order of the columns in a folder with a frame for each: a list of their names.

use std::fs;
use std::path::{Path, PathBuf};

use superchunk::table::Column;
use superchunk::{Json, JsonStyle};

use crate::failure::{Exit, Failure, Outcome};

/// The file that has the list.
const NAME: &str = "columns.json";
/// How the files of columns end.
const SUFFIX: &str = "b2nd";

/// Where the column of a folder is.
pub(super) fn place(folder: &Path, column: &str) -> PathBuf {
    folder.join(format!("{column}.{SUFFIX}"))
}

/// Writes the list for a new folder.
pub(super) fn write(folder: &Path, columns: &[Column]) -> Outcome {
    let names = columns.iter().map(|column| Json::from(column.name.as_str())).collect();
    let path = folder.join(NAME);
    let written = fs::write(&path, Json::Array(names).to_text(JsonStyle::Spaced) + "\n");
    written.map_err(|error| Failure::io("write it", &path, error))
}

/// The names of the columns in a folder: in the order of the list, then those that it does not have.
pub(super) fn names(folder: &Path) -> Outcome<Vec<String>> {
    let mut names = listed(folder)?;
    let failed = |error| Failure::io("list it", folder, error);
    let mut others = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_column = path.extension().is_some_and(|suffix| suffix == SUFFIX);
        others.extend(stem.filter(|stem| is_column && !names.contains(stem)));
    }
    others.sort();
    names.extend(others);
    Ok(names)
}

/// Whether a folder holds the columns of a list, and nothing else.
pub(crate) fn are_columns(folder: &Path) -> bool {
    let (Ok(names), Ok(mut entries)) = (listed(folder), fs::read_dir(folder)) else { return false };
    let top = |name: &String| match name.split_once('/') {
        Some((group, _)) => folder.join(group),
        None => place(folder, name),
    };
    let known: Vec<PathBuf> = names.iter().map(top).chain([folder.join(NAME)]).collect();
    let is_known = |entry: fs::DirEntry| known.contains(&entry.path());
    !names.is_empty() && entries.all(|entry| entry.is_ok_and(is_known))
}

fn listed(folder: &Path) -> Outcome<Vec<String>> {
    let path = folder.join(NAME);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).map_err(|error| Failure::io("read it", &path, error))?;
    let list = Json::parse(&text).ok();
    let names = list.as_ref().and_then(Json::as_array).and_then(|names| {
        let names = names.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<String>>>()
    });
    let is_inside = |name: &String| !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    names.filter(|names| names.iter().all(is_inside)).ok_or_else(|| {
        let words = format!("`{}` is no list of names", path.display());
        Failure::said(Exit::Corrupt, words).with_help("without it the columns come by name")
    })
}
