//! Arrays and tables in folders: bcolz and blsk.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::report::{Level, Verdict};
use super::walk::{Walk, verdict_of};
use crate::bcolz::{Array, Table};
use crate::blsk;
use crate::carray::{Intent, Rootdirs, chunk_name};
use crate::container::Integrity;
use crate::error::{Error, ErrorKind, Result};
use crate::place::{Access, Place};
use crate::schunk::Depth;
use crate::store::{Dir, Folder};

/// The most bytes of `__rootdirs__`.
const MAX_NAMES: u64 = 16 << 20;
/// Files beside the columns of a table.
const BESIDE: [&str; 4] = ["__attrs__", Rootdirs::FILE, Intent::FILE, ".b2lock"];

/// Looks at a bcolz array.
pub(super) fn array(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let array = Array::open_with(path, &walk.options.open);
    let Some(array) = opened(walk, array)? else { return Ok(()) };
    expect(walk, &array);
    look_at(walk, &array, &Folder::open(path)?)
}

/// Looks at a bcolz table: all columns, and whether they fit together.
pub(super) fn table(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let root: Arc<dyn Dir> = Arc::new(Folder::open(path)?);
    match Table::open_with(path, &walk.options.open) {
        Ok(table) => {
            walk.report.count(Level::Structure, Verdict::Verified);
            walk.report.count(Level::Files, Verdict::Verified);
            let arrays = table.arrays();
            let wanted = |name: &str| walk.options.wants_column(name);
            let arrays: Vec<_> = arrays.into_iter().filter(|(name, _)| wanted(name)).collect();
            check_found(walk, arrays.is_empty(), path)?;
            arrays.iter().for_each(|(_, array)| expect(walk, array));
            for (name, array) in arrays {
                let folder =
                    name.split('/').try_fold(root.clone(), |dir, part| dir.open_folder(part));
                look_at(walk, array, folder?.as_ref())?;
            }
        }
        Err(error) if super::is_damage(&error) || error.kind() == ErrorKind::NotFound => {
            // A column alone may be good.
            let level = match error.place() {
                Some(place) if place.field == "sizes" => Level::Files,
                _ if error.kind() == ErrorKind::NotFound => Level::Files,
                _ => Level::Structure,
            };
            walk.report.tell(level, Verdict::Corrupt, None, &error);
            columns(walk, root.clone(), "", &error)?;
        }
        Err(error) => return Err(error),
    }
    if walk.report.wants(Level::Files) {
        stray_columns(walk, root.as_ref(), "")?;
    }
    Ok(())
}

/// Looks at the columns of a table that cannot be opened; `known` is what is wrong with it.
fn columns(walk: &mut Walk<'_>, root: Arc<dyn Dir>, prefix: &str, known: &Error) -> Result<()> {
    let Ok(names) = names(root.as_ref()) else { return Ok(()) };
    for name in names {
        let path = format!("{prefix}{name}");
        let Ok(folder) = root.open_folder(&name) else { continue };
        if folder.open(Rootdirs::FILE).is_ok() {
            columns(walk, folder, &format!("{path}/"), known)?;
            continue;
        }
        if !walk.options.wants_column(&path) {
            continue;
        }
        match Array::open_in_dir(folder.clone(), &walk.options.open) {
            Ok(array) => {
                walk.report.count(Level::Structure, Verdict::Verified);
                expect(walk, &array);
                look_at(walk, &array, folder.as_ref())?;
            }
            // Told already.
            Err(error) if error.message() == known.message() => {}
            Err(error) => {
                let error = error.within(format!("column `{path}`"));
                walk.report.tell(Level::Structure, Verdict::Corrupt, None, error);
            }
        }
    }
    Ok(())
}

/// Looks at the chunks of an array, and at the files of its folder.
fn look_at(walk: &mut Walk<'_>, array: &Array, root: &dyn Dir) -> Result<()> {
    let name = |file: &str| format!("{}/data/{file}", array.name());
    let (count, damaged) = match array.superchunk() {
        Some(chunks) => (chunks.chunk_count() as u64, walk.chunks(chunks)),
        None => (array.row_count(), objects(walk, array)),
    };
    if !walk.report.wants(Level::Files) {
        return Ok(());
    }
    let found = match root.open_folder("data") {
        Ok(data) => data.names()?,
        // Version control and archives lose empty folders.
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            walk.report.tell(Level::Files, Verdict::Corrupt, None, error);
            return Ok(());
        }
    };
    let mut there = BTreeSet::new();
    for file in &found {
        match number_of(file).filter(|number| *number < count) {
            Some(number) => {
                there.insert(number);
                walk.report.count(Level::Files, Verdict::Verified);
            }
            None => {
                let words = format!("{}: no row is in this file", name(file));
                walk.report.tell(Level::Files, Verdict::Stray, None, words);
            }
        }
    }
    // However many are missing, it is told once.
    let first = (0..count).find(|number| !there.contains(number));
    if let Some(number) = first.filter(|number| !damaged.contains(number)) {
        let words = format!(
            "{}: {} of {count} chunk files are missing, this is the first",
            name(&chunk_name(number)),
            count - there.len() as u64
        );
        walk.report.tell(Level::Files, Verdict::Corrupt, Some(number), words);
    }
    Ok(())
}

/// The number of the chunk file that is called so.
fn number_of(file: &str) -> Option<u64> {
    let number = file.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()?;
    (chunk_name(number) == file).then_some(number)
}

/// Looks at rows that are Python objects, each in a file of its own. They are not executed.
fn objects(walk: &mut Walk<'_>, array: &Array) -> Vec<u64> {
    let mut damaged = Vec::new();
    if !walk.report.wants(Level::Decode) {
        return damaged;
    }
    for row in walk.choose(array.row_count()) {
        if !walk.goes_on(0) {
            break;
        }
        match array.object_bytes(row) {
            Ok(_) => {
                walk.report.count(Level::Decode, Verdict::Verified);
                walk.report.by_decoding += 1;
            }
            Err(error) => {
                walk.report.tell(Level::Decode, Verdict::Corrupt, Some(row), error);
                damaged.push(row);
            }
        }
    }
    damaged
}

/// Compares the folders of a table with its list of columns.
fn stray_columns(walk: &mut Walk<'_>, root: &dyn Dir, prefix: &str) -> Result<()> {
    let Ok(names) = names(root) else { return Ok(()) };
    let mut folders = root.folder_names()?;
    folders.sort();
    for folder in folders {
        if !names.contains(&folder) {
            let words = format!("the table does not name the folder {prefix}{folder}");
            walk.report.tell(Level::Files, Verdict::Stray, None, words);
        } else if let Ok(inner) = root.open_folder(&folder)
            && inner.open(Rootdirs::FILE).is_ok()
        {
            stray_columns(walk, inner.as_ref(), &format!("{prefix}{folder}/"))?;
        }
    }
    let mut files = root.names()?;
    files.retain(|file| !BESIDE.contains(&file.as_str()));
    files.sort();
    for file in files {
        let words = format!("the file {prefix}{file} is no part of a table");
        walk.report.tell(Level::Files, Verdict::Stray, None, words);
    }
    Ok(())
}

/// Looks at a blsk tree.
pub(super) fn blsk(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let found = blsk::Handle::opened(&Place::Path(path), &walk.options.open, Access::Read);
    let table = match opened(walk, found)? {
        None => return Ok(()),
        Some(blsk::Handle::Array(array)) => {
            let band = array.chunk_shape().first().map_or(1, |rows| *rows as u64);
            let (rows, size) = (array.row_count(), array.row_size());
            return bands(walk, "", rows, band, size, |rows, dst| array.read_rows(rows, dst));
        }
        Some(blsk::Handle::Table(table)) => table,
    };
    walk.report.count(Level::Files, Verdict::Verified);
    let band = table.chunk_shape().first().map_or(1, |rows| *rows as u64);
    let names: Vec<_> = table.names().filter(|name| walk.options.wants_column(name)).collect();
    check_found(walk, names.is_empty(), path)?;
    for name in names {
        let size = table.row_size(name)?;
        bands(walk, name, table.row_count(), band, size, |rows, dst| {
            table.read_rows(name, rows, dst)
        })?;
    }
    Ok(())
}

/// Reads the rows of a column, as many at once as share chunks.
fn bands(
    walk: &mut Walk<'_>,
    column: &str,
    rows: u64,
    band: u64,
    row_size: usize,
    read: impl Fn(std::ops::Range<u64>, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let band = band.max(1);
    let count = rows.div_ceil(band);
    walk.expect(rows.saturating_mul(row_size as u64), count);
    let numbers = walk.choose(count);
    if !walk.report.wants(Level::Decode) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    for number in numbers {
        let range = number * band..rows.min((number + 1) * band);
        let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let len = count.saturating_mul(row_size);
        walk.options.open.limits.check_decoded(len)?;
        if !walk.goes_on(len) {
            break;
        }
        bytes.resize(len, 0);
        match read(range, &mut bytes) {
            Ok(()) => {
                walk.report.count(Level::Decode, Verdict::Verified);
                walk.report.by_decoding += 1;
            }
            Err(error) => {
                let words = match column {
                    "" => error.to_string(),
                    _ => format!("column `{column}`: {error}"),
                };
                let verdict = verdict_of(&error, Depth::Decode, Integrity::None);
                walk.report.tell(Level::Decode, verdict, Some(number), words);
            }
        }
    }
    Ok(())
}

/// What was opened, if it is not damaged.
fn opened<T>(walk: &mut Walk<'_>, result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if !super::is_damage(&error) => Err(error),
        result => Ok(walk.report.result(Level::Structure, result)),
    }
}

/// Refuses a column that is not there.
pub(super) fn check_found(walk: &Walk<'_>, none: bool, path: &Path) -> Result<()> {
    match &walk.options.column {
        Some(name) if none => Err(Error::not_found(format!("there is no column called `{name}`"))
            .within(path.display().to_string())),
        _ => Ok(()),
    }
}

fn expect(walk: &mut Walk<'_>, array: &Array) {
    if let Some(chunks) = array.superchunk() {
        walk.expect(chunks.byte_len(), chunks.chunk_count() as u64);
    }
}

/// The names of the columns of a table.
fn names(root: &dyn Dir) -> Result<Vec<String>> {
    let file = root.open(Rootdirs::FILE)?;
    let len = file.len()?.min(MAX_NAMES);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(0, &mut bytes)?;
    Ok(Rootdirs::parse(&String::from_utf8_lossy(&bytes))?.names)
}
