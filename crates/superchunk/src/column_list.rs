//! The list of a folder of columns, and what belongs to it.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Component, Path};

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::{FileReader, ReadAt};
use crate::wire::json::{Json, Style};

/// The name of the file that holds the list.
pub(crate) const LIST: &str = "columns.json";
/// How the names of the files of columns end.
pub(crate) const SUFFIX: &str = ".b2nd";
/// How deep groups are looked for where no list names them.
const MAX_DEPTH: usize = 16;

/// The names of the columns in order, and what users keep with the table, a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct ColumnList {
    pub(crate) names: Vec<String>,
    pub(crate) attributes: Json,
}

impl ColumnList {
    /// A list without attributes.
    pub(crate) fn of(names: Vec<String>) -> Self {
        Self { names, attributes: Json::Object(Vec::new()) }
    }

    /// The list of a folder, followed by the arrays in the folder that it lacks, by name; where there
    /// is no list, all of them, those in folders below included.
    pub(crate) fn read(folder: &Path, limits: &Limits) -> Result<Self> {
        let path = folder.join(LIST);
        if path.symlink_metadata().is_err() {
            return Self::unlisted(folder);
        }
        let file = FileReader::open(&path)?;
        let len = file.len()?;
        limits.check_parsed("list of columns", len)?;
        let mut text = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        file.read_exact_at(0, &mut text)?;
        let parsed = std::str::from_utf8(&text).ok().and_then(Self::parse);
        let mut list = parsed.ok_or_else(|| {
            Error::corrupt("it is not a list of columns").within(path.display().to_string())
        })?;
        let known: BTreeSet<&str> = list.names.iter().map(String::as_str).collect();
        let mut unlisted = arrays_in(folder, 0)?;
        unlisted.retain(|name| !known.contains(name.as_str()));
        list.names.extend(unlisted);
        Ok(list)
    }

    /// The arrays of a folder and of those below it, whatever its list says.
    pub(crate) fn unlisted(folder: &Path) -> Result<Self> {
        Ok(Self::of(arrays_in(folder, MAX_DEPTH)?))
    }

    /// The names and the attributes of a list: an object, or the names alone.
    fn parse(text: &str) -> Option<Self> {
        let list = Json::parse(text).ok()?;
        let names = list.get("columns").unwrap_or(&list).as_array()?;
        let names: Option<Vec<String>> =
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
        let attributes = list.get("attributes").cloned().unwrap_or(Json::Object(Vec::new()));
        let names = names.filter(|names| are_places(names))?;
        attributes.as_object().is_some().then_some(Self { names, attributes })
    }

    pub(crate) fn to_text(&self) -> String {
        let names = self.names.iter().map(|name| Json::from(name.as_str())).collect();
        let columns = ("columns".to_owned(), Json::Array(names));
        let attributes = ("attributes".to_owned(), self.attributes.clone());
        Json::Object(vec![columns, attributes]).to_text(Style::Spaced) + "\n"
    }
}

/// Whether a folder is one of columns: it has a list, and an array at least.
pub(crate) fn are_in(path: &Path) -> bool {
    if !path.join(LIST).is_file() {
        return false;
    }
    // With a damaged list it is still one.
    let found = ColumnList::read(path, &Limits::default());
    let found = found.or_else(|_| ColumnList::unlisted(path));
    let exists = |name: &String| path.join(format!("{name}{SUFFIX}")).exists();
    found.is_ok_and(|found| found.names.iter().any(exists))
}

/// Whether these names are those of files inside of a folder, each another one.
pub(crate) fn are_places(names: &[String]) -> bool {
    let is_plain = |part: &str| {
        let mut components = Path::new(part).components();
        matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
    };
    let is_inside = |name: &String| name.split('/').all(is_plain);
    let different: BTreeSet<&String> = names.iter().collect();
    different.len() == names.len() && names.iter().all(is_inside)
}

/// The names of the arrays in a folder, and in `depth` levels of folders below it, sorted.
fn arrays_in(folder: &Path, depth: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    add_names(folder, "", depth, &mut names)?;
    names.sort();
    Ok(names)
}

/// Adds the names of the arrays in a folder, and in those below it, after a prefix.
fn add_names(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) -> Result<()> {
    for entry in entries(folder)? {
        let file = entry.file_name().to_string_lossy().into_owned();
        // Hidden files are those of other programs, or of writers that were stopped.
        if file.starts_with('.') {
            continue;
        } else if let Some(name) = file.strip_suffix(SUFFIX) {
            names.push(format!("{prefix}{name}"));
        } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_names(&entry.path(), &format!("{prefix}{file}/"), depth - 1, names)?;
        }
    }
    Ok(())
}

pub(crate) fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    listed.map_err(failed("cannot list it", folder))
}

pub(crate) fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let name = path.display().to_string();
    move |error| Error::io(what, error).within(name)
}
