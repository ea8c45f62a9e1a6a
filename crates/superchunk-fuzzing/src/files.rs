//! Folders in memory, made of an input: pieces, each with the number of its file and its length.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use superchunk::Result;
use superchunk::store::{Dir, MemoryFolder};

use crate::input::Input;

/// The files that an input may have, with `/` between folder and file.
pub(crate) struct Files(&'static [&'static str]);

impl Files {
    /// A sparse frame.
    pub(crate) const SPARSE: Self = Self(&[
        "chunks.b2frame",
        "00000000.chunk",
        "00000001.chunk",
        "00000002.chunk",
        "00000003.chunk",
        "00000004.chunk",
        ".b2lock",
    ]);

    /// An array of bcolz, and a table whose columns are `a` and `b`.
    pub(crate) const BCOLZ: Self = Self(&[
        "meta/storage",
        "meta/sizes",
        "data/__0.blp",
        "data/__1.blp",
        "data/__2.blp",
        "__attrs__",
        "__rootdirs__",
        ".b2commit",
        "a/meta/storage",
        "a/meta/sizes",
        "a/data/__0.blp",
        "a/data/__1.blp",
        "a/__attrs__",
        "b/meta/storage",
        "b/meta/sizes",
        "b/data/__0.blp",
    ]);

    /// A tree of blsk: an array of three files, and a table.
    pub(crate) const BLSK: Self = Self(&[
        "meta/storage",
        "meta/nrows",
        "meta/attributes",
        "meta/.b2journal",
        "data/__1__.bin",
        "data/__2__.bin",
        "data/__3__.bin",
        "data/.__1__.bin.new",
        "data/col1/__1__.bin",
        "data/col1/__2__.bin",
        "data/col2/sc1/__1__.bin",
        "data/col2/sc3/__1__.bin",
        "data/col3/__1__.bin",
    ]);

    /// The folder that an input describes.
    pub(crate) fn folder(&self, input: &[u8]) -> Arc<MemoryFolder> {
        let mut files: BTreeMap<&str, &[u8]> = BTreeMap::new();
        let mut input = Input::new(input);
        while !input.is_empty() {
            let number = usize::from(input.byte()) % self.0.len();
            let len = input.pair();
            files.insert(self.0.get(number).copied().unwrap_or_default(), input.take(len));
        }
        let root = Arc::new(MemoryFolder::new());
        for (path, bytes) in files {
            put(root.clone(), path, bytes)
                .unwrap_or_else(|error| panic!("no file {path} in memory: {error}"));
        }
        root
    }

    /// The input that describes a folder on disk, as far as it has these files; those of columns come in the order of
    /// their names.
    pub(crate) fn describe(&self, folder: &Path) -> Vec<u8> {
        let mut columns: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().join("meta").is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        columns.sort();
        let mut input = Vec::new();
        for (number, path) in (0u8..).zip(self.0) {
            let column = |letter: &str, at: usize| {
                let rest = path.strip_prefix(letter)?;
                Some(columns.get(at).map_or_else(String::new, |name| format!("{name}/{rest}")))
            };
            let place = column("a/", 0).or_else(|| column("b/", 1)).unwrap_or((*path).to_owned());
            let Ok(bytes) = std::fs::read(folder.join(place)) else { continue };
            if let Ok(len) = u16::try_from(bytes.len()) {
                input.push(number);
                input.extend(len.to_le_bytes());
                input.extend(bytes);
            }
        }
        input
    }
}

fn put(root: Arc<dyn Dir>, path: &str, bytes: &[u8]) -> Result<()> {
    match path.split_once('/') {
        Some((folder, rest)) => {
            let folder = root.open_folder(folder).or_else(|_| root.create_folder(folder))?;
            put(folder, rest, bytes)
        }
        None => root.create(path)?.write_at(0, bytes),
    }
}
