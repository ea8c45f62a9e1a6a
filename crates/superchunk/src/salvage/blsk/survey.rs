//! What the files of a tree still say. Chunks are decoded here and copied later: what does not decode must not
//! have a say in how the tree is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::rebuild::{majority, most_padding};
use super::super::report::{FoundAt, SalvageReport};
use super::file::Remains;
use crate::error::Result;
use crate::limits::Limits;
use crate::store::{Dir, ReadAt};
use crate::superfile::{FileId, Partial, Root, Yaml, check_column_name, file_name};

/// How deep columns may be in folders.
const MAX_DEPTH: usize = 16;
/// The longest file of attributes.
const MAX_ATTRIBUTES: u64 = 16 << 20;

/// A tree, as far as it can be read.
pub(super) struct Survey {
    pub(super) root: Root,
    pub(super) storage: Partial,
    pub(super) rows: Option<u64>,
    pub(super) attributes: Option<String>,
    pub(super) columns: Vec<Column>,
    /// How many chunks may be added to those that are there.
    pub(super) most_padding: u64,
    /// Whether anything speaks for a tree.
    is_tree: bool,
}

/// The folder of a column that has files of chunks.
pub(super) struct Column {
    pub(super) path: Vec<String>,
    pub(super) folder: Arc<dyn Dir>,
    /// By the numbers of the files, which count from 0.
    pub(super) files: BTreeMap<u64, Remains>,
}

impl Survey {
    /// Looks at all files of a folder.
    pub(super) fn of(dir: &dyn Dir, limits: &Limits, report: &mut SalvageReport) -> Result<Self> {
        let root = Root::remains(dir, *limits);
        let (storage, whole) = match root.storage_bytes() {
            Ok(bytes) => Partial::parse(&bytes),
            Err(error) => (Partial::default(), Err(error)),
        };
        let rows = root.rows();
        let attributes = root.meta_text("attributes", MAX_ATTRIBUTES);
        let attributes = attributes.and_then(|text| Yaml::parse(&text).map(|_| text));
        for (file, error) in [
            ("meta/storage", whole.as_ref().err()),
            ("meta/nrows", rows.as_ref().err()),
            ("meta/attributes", attributes.as_ref().err()),
        ] {
            if let Some(error) = error {
                report.lose(FoundAt::File(file.to_owned()), error.to_string());
            }
        }
        let mut columns = Vec::new();
        let data = root.data().clone();
        walk(&root, data, &mut Vec::new(), limits, &mut columns, report)?;
        columns.sort_by(|one, other| one.path.cmp(&other.path));
        let is_tree = whole.is_ok() || rows.is_ok() || !columns.is_empty();
        Ok(Self {
            root,
            storage,
            rows: rows.ok(),
            attributes: attributes.ok(),
            columns,
            most_padding: most_padding(limits),
            is_tree,
        })
    }

    /// Whether it looks like a tree at all.
    pub(super) fn is_something(&self) -> bool {
        let named = self.storage.columns.is_some() && self.storage.shape.is_some();
        self.is_tree && (named || !self.columns.is_empty())
    }
}

impl Column {
    /// The name of a file in reports.
    pub(super) fn file_name(path: &[String], file: u64) -> String {
        let folders = path.iter().map(|folder| format!("{folder}/"));
        format!("data/{}{}", folders.collect::<String>(), file_name(file))
    }

    /// Opens a file.
    pub(super) fn open(&self, root: &Root, file: u64) -> Result<Arc<dyn ReadAt>> {
        open_file(root, self.folder.as_ref(), &self.path, file)
    }

    /// The item size that the heads of files state, where these make sense, and that of the chunks.
    pub(super) fn item_sizes(&self) -> (Option<usize>, Option<usize>) {
        let heads = self.files.values().filter(|file| file.head.is_ok());
        let stated = majority(heads.filter_map(|file| file.typesize));
        let chunks = self.files.values().flat_map(|file| &file.found);
        (stated, majority(chunks.map(|chunk| chunk.item_size)))
    }
}

/// Finds the folders that have files of chunks.
fn walk(
    root: &Root,
    folder: Arc<dyn Dir>,
    path: &mut Vec<String>,
    limits: &Limits,
    columns: &mut Vec<Column>,
    report: &mut SalvageReport,
) -> Result<()> {
    let names = folder.names().unwrap_or_default();
    let numbers: BTreeSet<u64> = names.iter().filter_map(|name| number(name)).collect();
    let most = (numbers.len() as u64).saturating_add(most_padding(limits));
    let far = numbers.range(most..).count();
    if far > 0 {
        let words = format!("{far} files have numbers far from all others");
        report.lose(FoundAt::File(format!("data/{}", path.join("/"))), words);
    }
    let mut files = BTreeMap::new();
    for number in numbers.range(..most) {
        let file = open_file(root, folder.as_ref(), path, *number);
        match file.and_then(|file| Remains::of(file.as_ref(), limits)) {
            Ok(remains) => drop(files.insert(*number, remains)),
            // It may be whole: that there is too little memory must not make it a hole.
            Err(error) if error.is_no_damage() => return Err(error),
            Err(_) => {}
        }
    }
    if !files.is_empty() {
        columns.push(Column { path: path.clone(), folder: folder.clone(), files });
    }
    if path.len() >= MAX_DEPTH {
        return Ok(());
    }
    let mut folders = folder.folder_names().unwrap_or_default();
    folders.retain(|name| !name.starts_with('.') && check_column_name(name).is_ok());
    for name in folders {
        let Ok(inner) = folder.open_folder(&name) else { continue };
        path.push(name);
        walk(root, inner, path, limits, columns, report)?;
        path.pop();
    }
    Ok(())
}

fn open_file(
    root: &Root,
    folder: &dyn Dir,
    path: &[String],
    number: u64,
) -> Result<Arc<dyn ReadAt>> {
    root.open_file(folder, &FileId { column: path.join("/"), number })
}

/// The number of a file of chunks, from 0 on, or of one that an interrupted commit was to put in its place.
fn number(name: &str) -> Option<u64> {
    let copy = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
    let name = copy.unwrap_or(name);
    let digits = name.strip_prefix("__")?.strip_suffix("__.bin")?;
    let number = digits.parse::<u64>().ok()?.checked_sub(1)?;
    (file_name(number) == name).then_some(number)
}
