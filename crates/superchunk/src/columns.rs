//! A folder of columns: a table as an array in a frame for each column, and the list of them.
//!
//! ```text
//! quotes/columns.json     {"columns": ["day", "eu/close"], "attributes": {"unit": "USD"}}
//! quotes/day.b2nd         the array of a column: its first axis is the rows
//! quotes/eu/close.b2nd    that of a column in a group
//! ```
//!
//! The format is described in `docs/formats/columns.md`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::{FileReader, Folder, ReadAt, Replacement, is_temporary};
use crate::wire::json::{Json, Style};

/// How the names of the files of columns end.
const SUFFIX: &str = ".b2nd";
/// The extension of a lock file of C-Blosc2, after the name of its frame.
const LOCK_EXTENSION: &str = "b2lock";

/// The list of a folder of columns: their names in order, and what users keep with the table. The
/// columns themselves are [arrays](crate::NdArray) at their [places](Self::place).
///
/// ```
/// use superchunk::columns::ColumnFolder;
/// use superchunk::{DType, Limits, NdArray, NdOptions};
/// # let folder = std::env::temp_dir().join(format!("superchunk-columns-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("quotes");
///
/// let mut quotes = ColumnFolder::create(&path, ["day", "close"])?;
/// for name in quotes.names() {
///     let mut column = NdArray::create(
///         quotes.place(name), &[3], &DType::of::<i64>(), &NdOptions::default())?;
///     column.write_box(&[0], &[3], bytemuck::cast_slice(&[1i64, 2, 3]))?;
///     column.close()?;
/// }
/// quotes.set_attr("unit", "USD")?;
/// quotes.commit()?;
///
/// let quotes = ColumnFolder::open(&path, &Limits::default())?;
/// assert_eq!(quotes.names(), ["day", "close"]);
/// assert_eq!(quotes.attrs().get("unit").and_then(|unit| unit.as_str()), Some("USD"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnFolder {
    folder: Folder,
    names: Vec<String>,
    attrs: Json,
    has_changed: bool,
    wait: Duration,
}

impl ColumnFolder {
    /// The name of the file that holds the list.
    pub const LIST: &str = "columns.json";

    /// Makes an empty folder with room for these columns, where nothing may be yet. It has no list
    /// until the [commit](Self::commit).
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for a name that leads out of the folder, or is there twice.
    pub fn create<N: Into<String>>(
        path: impl AsRef<Path>,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(N::into).collect();
        if !are_places(&names) {
            let words = "the name of a column is twice there, or leads out of the folder";
            return Err(Error::invalid(words));
        }
        let mut this = Self::over(Folder::create(path)?, names);
        // It needs a list, even without attributes.
        this.has_changed = true;
        for group in this.groups() {
            Folder::create(group)?;
        }
        Ok(this)
    }

    /// Opens a folder for reading. Arrays that the list lacks come after those that it has, by
    /// name; so do all of them where there is no list.
    ///
    /// # Errors
    ///
    /// `Corrupt` when the list is none, `LimitExceeded` when it is too long.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Self> {
        Self::over(Folder::open(path)?, Vec::new()).load(limits)
    }

    /// Opens a folder to change its attributes. Other writers are kept out until this is dropped.
    /// `wait` is how long it waits for another writer.
    pub fn edit(path: impl AsRef<Path>, limits: &Limits, wait: Duration) -> Result<Self> {
        let mut this = Self::over(Folder::claim(path.as_ref(), wait)?, Vec::new());
        this.wait = wait;
        this.load(limits)
    }

    /// The arrays of a folder by name, whatever its list says.
    pub(crate) fn without_list(path: &Path) -> Result<Self> {
        let mut this = Self::over(Folder::open(path)?, Vec::new());
        this.names = this.unlisted()?;
        Ok(this)
    }

    /// The same folder with these of its columns.
    pub(crate) fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The names of the columns, in order; those of groups have slashes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where the folder is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the array of a column is.
    #[must_use]
    pub fn place(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}{SUFFIX}"))
    }

    /// What users keep with the table.
    #[must_use]
    pub fn attrs(&self) -> &Json {
        &self.attrs
    }

    /// Adds or changes an attribute, which is kept by the [commit](Self::commit).
    pub fn set_attr(&mut self, name: impl Into<String>, value: impl Into<Json>) -> Result<()> {
        self.has_changed = true;
        self.attrs.set(name, value)
    }

    /// Removes an attribute, which is gone with the [commit](Self::commit).
    pub fn remove_attr(&mut self, name: &str) -> Option<Json> {
        self.has_changed = true;
        self.attrs.remove(name)
    }

    /// Writes the list, in one step, and returns when it survives a power cut.
    pub fn commit(&mut self) -> Result<()> {
        let names = self.names.iter().map(|name| Json::from(name.as_str())).collect();
        let columns = ("columns".to_owned(), Json::Array(names));
        let list = Json::Object(vec![columns, ("attributes".to_owned(), self.attrs.clone())]);
        let path = self.path().join(Self::LIST);
        let new = Replacement::begin(&path, self.wait)?;
        let written = File::create_new(new.path()).and_then(|mut file| {
            file.write_all((list.to_text(Style::Spaced) + "\n").as_bytes())?;
            file.sync_all()
        });
        written.map_err(failed("cannot write it", &path))?;
        new.finish()?;
        self.has_changed = false;
        Ok(())
    }

    /// Commits attributes that were changed, and closes.
    pub fn close(mut self) -> Result<()> {
        if self.has_changed { self.commit() } else { Ok(()) }
    }

    /// Whether its path still leads to this folder, and to no other that has taken its place.
    pub fn is_current(&self) -> Result<bool> {
        self.folder.is_in_place()
    }

    /// The files in the folder that belong neither to it nor to its columns.
    pub fn strays(&self) -> Result<Vec<PathBuf>> {
        let places = self.names.iter().map(|name| self.place(name));
        let known = places.chain([self.path().join(Self::LIST)]).collect();
        let mut strays = Vec::new();
        add_strays(self.path(), &known, &mut strays)?;
        strays.sort();
        Ok(strays)
    }

    fn over(folder: Folder, names: Vec<String>) -> Self {
        Self {
            folder,
            names,
            attrs: Json::Object(Vec::new()),
            has_changed: false,
            wait: Duration::ZERO,
        }
    }

    fn load(mut self, limits: &Limits) -> Result<Self> {
        let path = self.path().join(Self::LIST);
        if path.symlink_metadata().is_ok() {
            let file = FileReader::open(&path)?;
            let len = file.len()?;
            limits.check_parsed("list of columns", len)?;
            let mut text = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            file.read_exact_at(0, &mut text)?;
            let list = std::str::from_utf8(&text).ok().and_then(parse).ok_or_else(|| {
                Error::corrupt("it is not a list of columns").within(path.display().to_string())
            })?;
            (self.names, self.attrs) = list;
        }
        self.names.extend(self.unlisted()?);
        Ok(self)
    }

    /// The names of the arrays in the folder that the list does not have, sorted.
    fn unlisted(&self) -> Result<Vec<String>> {
        let known: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        let mut names = Vec::new();
        for entry in entries(self.path())? {
            let file = entry.file_name().to_string_lossy().into_owned();
            let name = file.strip_suffix(SUFFIX).filter(|name| !known.contains(name));
            // Hidden files are those of other programs, or of writers that were stopped.
            names.extend(name.filter(|name| !name.starts_with('.')).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// The folders of the groups, outer ones first.
    fn groups(&self) -> BTreeSet<PathBuf> {
        let slashes = |name: &str| -> Vec<PathBuf> {
            let starts = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
            starts.map(|group| self.path().join(group)).collect()
        };
        self.names.iter().flat_map(|name| slashes(name)).collect()
    }
}

/// Whether a folder is one of columns: it has a list, and an array at least.
pub(crate) fn are_in(path: &Path) -> bool {
    if !path.join(ColumnFolder::LIST).is_file() {
        return false;
    }
    // With a damaged list it is still one.
    let found = ColumnFolder::open(path, &Limits::default());
    let found = found.or_else(|_| ColumnFolder::without_list(path));
    found.is_ok_and(|found| found.names.iter().any(|name| found.place(name).exists()))
}

/// The names and the attributes of a list: an object, or the names alone.
fn parse(text: &str) -> Option<(Vec<String>, Json)> {
    let list = Json::parse(text).ok()?;
    let names = list.get("columns").unwrap_or(&list).as_array()?;
    let names: Option<Vec<String>> =
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    let attrs = list.get("attributes").cloned().unwrap_or(Json::Object(Vec::new()));
    let names = names.filter(|names| are_places(names))?;
    attrs.as_object().is_some().then_some((names, attrs))
}

/// Whether these names are those of files inside of a folder, each another one.
fn are_places(names: &[String]) -> bool {
    let is_plain = |part: &str| {
        let mut components = Path::new(part).components();
        matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
    };
    let is_inside = |name: &String| name.split('/').all(is_plain);
    let different: BTreeSet<&String> = names.iter().collect();
    different.len() == names.len() && names.iter().all(is_inside)
}

fn add_strays(folder: &Path, known: &BTreeSet<PathBuf>, strays: &mut Vec<PathBuf>) -> Result<()> {
    for entry in entries(folder)? {
        let path = entry.path();
        let is_lock = path.extension() == Some(OsStr::new(LOCK_EXTENSION))
            && known.contains(&path.with_extension(""));
        // Nobody misses what a writer left that was stopped.
        let is_leftover = is_temporary(&entry.file_name().to_string_lossy());
        if known.contains(&path) || is_lock || is_leftover {
            continue;
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_strays(&path, known, strays)?;
        } else {
            strays.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<DirEntry>> {
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    listed.map_err(failed("cannot list it", folder))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let name = path.display().to_string();
    move |error| Error::io(what, error).within(name)
}
