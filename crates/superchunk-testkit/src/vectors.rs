//! Where the conformance vectors are, and what their index files say of them.
//!
//! Vectors live in `conformance/vectors` of this repository and in the further folder that the
//! environment variable `SUPERCHUNK_VECTORS` names. Each has a sub-folder per family (`chunk`, `frame`,
//! `hostile`, …) with `INDEX.json` (or `index.json`): an object whose `samples` are objects with at
//! least a `file` or `path`; or with `MANIFEST.tsv`: a header line, then one line a sample. A path that
//! is a remark in parentheses stands for an input that a test has to make; it is left out. A sample may
//! be a directory (a sparse frame, a store): it is found and named like a file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// One vector: its file and all that its index says.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The file (or directory) itself.
    pub path: PathBuf,
    /// The fields of its entry in the index.
    pub fields: Map<String, Value>,
}

impl Vector {
    /// The name that the index gives it.
    #[must_use]
    pub fn name(&self) -> &str {
        name_in(&self.fields).unwrap_or("?")
    }

    /// The text found by walking these keys, when there is one (`null` is none).
    #[must_use]
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        self.value(keys)?.as_str()
    }

    /// The whole number found by walking these keys.
    #[must_use]
    pub fn integer(&self, keys: &[&str]) -> Option<i64> {
        self.value(keys)?.as_i64()
    }

    /// The bytes of the file.
    ///
    /// # Panics
    ///
    /// When it cannot be read: an index that names a missing file is a broken checkout. Also for a
    /// directory, which has no bytes; open its path.
    #[must_use]
    #[expect(clippy::panic, reason = "a vector that is not there must fail its test")]
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap_or_else(|e| panic!("{}: {e}", self.path.display()))
    }

    fn value(&self, keys: &[&str]) -> Option<&Value> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.fields.get(*first)?, |value, key| value.get(key))
    }
}

/// The folders that hold vectors: the repository's, then the one of `SUPERCHUNK_VECTORS`.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    let own = crate::repository().join("conformance/vectors");
    let further = std::env::var_os("SUPERCHUNK_VECTORS").map(PathBuf::from);
    std::iter::once(own).chain(further).filter(|folder| folder.is_dir()).collect()
}

/// Every vector of a family, from all folders; a folder without that family adds nothing.
///
/// # Panics
///
/// When an index exists but cannot be understood.
#[must_use]
pub fn family(name: &str) -> Vec<Vector> {
    folders().iter().flat_map(|folder| read_index(&folder.join(name))).collect()
}

/// SHA-256 as the indexes write it: 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_index(folder: &Path) -> Vec<Vector> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let entries = if let Some(text) = read("INDEX.json").or_else(|| read("index.json")) {
        json_entries(&text)
    } else {
        read("MANIFEST.tsv").map(|text| tsv_entries(&text)).unwrap_or_default()
    };
    let locate = |fields: Map<String, Value>| {
        let name = name_in(&fields).filter(|name| !name.starts_with('('))?;
        Some(Vector { path: folder.join(name), fields })
    };
    entries.into_iter().filter_map(locate).collect()
}

fn name_in(fields: &Map<String, Value>) -> Option<&str> {
    ["file", "path"].into_iter().find_map(|key| fields.get(key)?.as_str())
}

#[expect(clippy::panic, reason = "an index that is not JSON must fail the test that needs it")]
fn json_entries(text: &str) -> Vec<Map<String, Value>> {
    let index: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("broken index: {e}"));
    let samples = index.get("samples").and_then(Value::as_array).cloned().unwrap_or_default();
    samples.iter().filter_map(|sample| sample.as_object().cloned()).collect()
}

fn tsv_entries(text: &str) -> Vec<Map<String, Value>> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let entry = |line: &str| {
        let cells = line.split('\t').map(Value::from);
        columns.iter().map(|column| (*column).to_owned()).zip(cells).collect()
    };
    lines.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_tsv_indexes_are_read_alike() {
        let json = r#"{"samples": [{"file": "a.chunk", "sha": {"blosc1": null, "blosc2": "00"}}]}"#;
        let fields = json_entries(json).remove(0);
        let vector = Vector { path: PathBuf::new(), fields };
        assert_eq!(vector.name(), "a.chunk");
        assert_eq!(vector.text(&["sha", "blosc2"]), Some("00"));
        assert_eq!(vector.text(&["sha", "blosc1"]), None);
        let fields = tsv_entries("id\tpath\twhy\nx\tx.chunk\tshort\n").remove(0);
        assert_eq!(name_in(&fields), Some("x.chunk"));
    }

    #[test]
    fn every_indexed_file_is_there() {
        for vector in
            ["chunk", "frame", "hostile", "legacy", "legacy/bloscpack"].into_iter().flat_map(family)
        {
            assert!(vector.path.exists(), "{}", vector.path.display());
        }
    }

    #[test]
    fn directories_are_found_like_files() {
        let is_folder = |vector: &Vector| vector.path.is_dir();
        let folders: Vec<Vector> =
            ["frame", "hostile"].into_iter().flat_map(family).filter(is_folder).collect();
        for name in ["21_sframe.b2frame", "39_dictstore.b2d", "s01_missing.b2frame"] {
            let vector = folders.iter().find(|vector| vector.name() == name);
            let entries = fs::read_dir(&vector.unwrap().path).unwrap();
            assert!(entries.count() > 1, "{name}");
        }
    }

    #[test]
    fn the_digest_is_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256_hex(b""), empty);
    }
}
