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
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::column_list::{ColumnList, LIST, SUFFIX, are_places, entries, failed};
use crate::container;
use crate::error::{Error, Result};
use crate::place::{Access, Place};
use crate::schunk::OpenOptions;
use crate::store::{Folder, Replacement, is_temporary};
use crate::wire::json::Json;

/// The extension of a lock file of C-Blosc2, after the name of its frame.
const LOCK_EXTENSION: &str = "b2lock";

/// The columns of a new folder, in order.
///
/// ```
/// use superchunk::columns::ColumnFolderOptions;
///
/// let options = ColumnFolderOptions::new().with_column("day").with_columns(["eu/close", "us/close"]);
/// assert_eq!(options.columns.len(), 3);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct ColumnFolderOptions {
    /// Their names; those of groups have slashes.
    pub columns: Vec<String>,
}

impl ColumnFolderOptions {
    /// No columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options with one more column.
    #[must_use]
    pub fn with_column(self, name: impl Into<String>) -> Self {
        self.with_columns([name])
    }

    /// The same options with more columns.
    #[must_use]
    pub fn with_columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns.extend(names.into_iter().map(N::into));
        self
    }
}

/// The list of a folder of columns: their names in order, and what users keep with the table. The
/// columns themselves are [arrays](crate::NdArray) at their [places](Self::place).
///
/// ```
/// use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
/// use superchunk::{NdArray, NdOptions};
/// # let folder = std::env::temp_dir().join(format!("superchunk-columns-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("quotes");
///
/// let options = ColumnFolderOptions::new().with_columns(["day", "close"]);
/// let mut quotes = ColumnFolder::create(&path, &options)?;
/// for name in quotes.names() {
///     let mut column = NdArray::create(quotes.place(name), &NdOptions::of::<i64>(&[3]))?;
///     column.write_box(&[0], &[3], bytemuck::cast_slice(&[1i64, 2, 3]))?;
///     column.close()?;
/// }
/// quotes.set_attribute("unit", "USD")?;
/// quotes.commit()?;
///
/// let quotes = ColumnFolder::open(&path)?;
/// assert_eq!(quotes.names(), ["day", "close"]);
/// assert_eq!(quotes.attribute("unit").and_then(|unit| unit.as_str()), Some("USD"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnFolder {
    folder: Folder,
    list: ColumnList,
    has_changed: bool,
    is_writable: bool,
    wait: Duration,
}

impl ColumnFolder {
    /// The name of the file that holds the list.
    pub const LIST: &str = LIST;

    /// Makes an empty folder with room for these columns, where nothing may be yet. It has no list
    /// until the [commit](Self::commit).
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for a name that leads out of the folder, or is there twice.
    pub fn create(path: impl AsRef<Path>, options: &ColumnFolderOptions) -> Result<Self> {
        let names = options.columns.clone();
        if !are_places(&names) {
            let words = "the name of a column is twice there, or leads out of the folder";
            return Err(Error::invalid(words));
        }
        let mut this = Self::over(Folder::create(path)?, ColumnList::of(names));
        // It needs a list, even without attributes.
        (this.has_changed, this.is_writable) = (true, true);
        for group in this.groups() {
            Folder::create(group)?;
        }
        Ok(this)
    }

    /// Opens a folder for reading. Arrays that the list lacks come after those that it has, by
    /// name; where there is no list, so do all of them, those in folders below included.
    ///
    /// # Errors
    ///
    /// `Corrupt` when the list is none, `LimitExceeded` when it is too long.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// Opens a folder for reading, as the options say.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::opened(&Place::Path(path.as_ref()), options, Access::Read)
    }

    /// Opens a folder to change its attributes. Other writers are kept out until this is dropped.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &OpenOptions::new())
    }

    /// Opens a folder to change its attributes, as the options say.
    pub fn edit_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::opened(&Place::Path(path.as_ref()), options, Access::Edit)
    }

    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        options.check_no_offset()?;
        let Place::Path(path) = place else {
            return Err(Error::unsupported("a folder of columns is opened by its path"));
        };
        let wait = options.wait.unwrap_or_default();
        let is_writable = access != Access::Read;
        let folder = if is_writable { Folder::claim(path, wait)? } else { Folder::open(path)? };
        let list = ColumnList::read(path, &options.limits)?;
        Ok(Self { is_writable, wait, ..Self::over(folder, list) })
    }

    /// The arrays of a folder by name, whatever its list says.
    pub(crate) fn without_list(path: &Path) -> Result<Self> {
        Ok(Self::over(Folder::open(path)?, ColumnList::unlisted(path)?))
    }

    /// The same folder with all arrays in it and below, if the list names some that are not there:
    /// it may be damaged.
    pub(crate) fn with_misnamed(mut self) -> Result<Self> {
        if self.names().iter().all(|name| self.place(name).exists()) {
            return Ok(self);
        }
        for name in ColumnList::unlisted(self.path())?.names {
            if !self.list.names.contains(&name) {
                self.list.names.push(name);
            }
        }
        Ok(self)
    }

    /// The same folder with these of its columns.
    pub(crate) fn with_names(mut self, names: Vec<String>) -> Self {
        self.list.names = names;
        self
    }

    /// The names of the columns, in order; those of groups have slashes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.list.names
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

    /// What users keep with the table, a JSON object.
    #[must_use]
    pub fn attributes(&self) -> &Json {
        &self.list.attributes
    }

    /// The attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Json> {
        self.attributes().get(name)
    }

    /// Adds or changes an attribute, which is kept by the [commit](Self::commit).
    pub fn set_attribute(&mut self, name: impl Into<String>, value: impl Into<Json>) -> Result<()> {
        self.check_writable()?;
        self.list.attributes.set(name, value)?;
        self.has_changed = true;
        Ok(())
    }

    /// Removes an attribute, which is gone with the [commit](Self::commit); returns whether there
    /// was one.
    pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
        self.check_writable()?;
        let found = self.list.attributes.remove(name).is_some();
        self.has_changed |= found;
        Ok(found)
    }

    /// Writes the list, in one step, and returns when it survives a power cut.
    pub fn commit(&mut self) -> Result<()> {
        self.check_writable()?;
        let path = self.path().join(LIST);
        let new = Replacement::begin(&path, self.wait)?;
        let written = File::create_new(new.path()).and_then(|mut file| {
            file.write_all(self.list.to_text().as_bytes())?;
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
        let places = self.names().iter().map(|name| self.place(name));
        let known = places.chain([self.path().join(LIST)]).collect();
        let mut strays = Vec::new();
        add_strays(self.path(), &known, &mut strays)?;
        strays.sort();
        Ok(strays)
    }

    fn over(folder: Folder, list: ColumnList) -> Self {
        Self { folder, list, has_changed: false, is_writable: false, wait: Duration::ZERO }
    }

    fn check_writable(&self) -> Result<()> {
        if self.is_writable { Ok(()) } else { Err(container::read_only()) }
    }

    /// The folders of the groups, outer ones first.
    fn groups(&self) -> BTreeSet<PathBuf> {
        let slashes = |name: &str| -> Vec<PathBuf> {
            let starts = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
            starts.map(|group| self.path().join(group)).collect()
        };
        self.names().iter().flat_map(|name| slashes(name)).collect()
    }
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
