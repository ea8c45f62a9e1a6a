//! The rules of the house that a compiler cannot see: layers and file lengths.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the core from bottom to top: each uses only what stands before it.
const LAYERS: &[&str] = &[
    "error",
    "limits",
    "wire",
    "dtype",
    "npy",
    "b2nd",
    "exec",
    "block_shape",
    "registry",
    "options",
    "filters",
    "codecs",
    "chunk",
    "store",
    "container",
    "pack",
    "carray",
    "frame",
    "superfile",
    "detect",
    "schunk",
    "table",
    "bloscpack",
    "bcolz",
    "nd",
    "blsk",
    "objects",
    "opened",
    "salvage",
    "verify",
    "compat",
    "recover",
    "lib",
];

/// A reader must be able to hold a file in the head.
const MAX_LINES: usize = 500;

#[test]
fn a_module_uses_only_the_layers_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in rust_files(&src) {
        let module = layer_of(file.strip_prefix(&src).unwrap());
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let place = format!("{}:{}", file.display(), number + 1);
            // Doc comments may point anywhere; a group import would hide its edges from grep.
            let code = line.split("//").next().unwrap();
            assert!(!code.contains("crate::{"), "{place}: one `use crate::module` a line");
            for used in code.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                assert!(
                    rank(used) <= rank(&module),
                    "{place}: `{module}` must not use `{used}`, which stands above it"
                );
            }
        }
    }
}

#[test]
fn every_module_has_its_layer() {
    let lib = include_str!("../../src/lib.rs");
    for line in lib.lines().map(|line| line.trim_start_matches("pub ")) {
        if let Some(module) = line.strip_prefix("mod ") {
            rank(module.trim_end_matches(';'));
        }
    }
}

#[test]
fn no_file_is_longer_than_a_head_can_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in ["crates", "xtask", "conformance", "fuzz"] {
        for file in rust_files(&root.join(folder)) {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", file.display());
        }
    }
}

fn rank(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| *layer == module)
        .unwrap_or_else(|| panic!("module `{module}` has no place in LAYERS"))
}

fn layer_of(path: &Path) -> String {
    let first = path.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// All Rust sources below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
