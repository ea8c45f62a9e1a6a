//! The rules of the house that a compiler cannot see: layers, file lengths, and invariants that are
//! not hidden.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the core from bottom to top: each uses only what stands before it.
const LAYERS: &[&str] = &[
    "error",
    "text",
    "spares",
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
    "columns",
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

/// Places of the core where what must be there is replaced by a default, or nothing is done, where `error/must.rs` would give
/// `ErrorKind::Bug`. In those that are left the lines around show that it is there, or nothing depends on it. This number
/// only falls.
const MAX_HIDDEN: usize = 19;

/// The calls that look for a part of a slice.
const LOOKUPS: &[&str] = &[
    ".get(",
    ".get_mut(",
    ".first()",
    ".last()",
    ".first_chunk()",
    ".last_chunk()",
    ".split_at_checked(",
    ".split_at_mut_checked(",
    ".split_first()",
    ".split_last()",
    ".nth(",
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

#[test]
fn broken_invariants_are_not_hidden() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut hidden = Vec::new();
    for file in rust_files(&src) {
        if !file.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests")) {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let places = hidden_in(code).into_iter();
            hidden.extend(places.map(|line| format!("{}:{line}", file.display())));
        }
    }
    let (found, list) = (hidden.len(), hidden.join("\n"));
    assert!(
        found <= MAX_HIDDEN,
        "{found} places, one of them is new: use `must_get` and `or_bug`\n{list}"
    );
    assert!(found == MAX_HIDDEN, "better than before: make MAX_HIDDEN {found}");
}

#[test]
fn hidden_invariants_are_found() {
    let hidden = [
        "let a = b.get(1..2).unwrap_or_default();",
        "let a = b\n    .get(c(d)..)\n    .copied()\n    .unwrap_or(0);",
        "let (a, b) = c.split_at_checked(1).unwrap_or((c, &[]));",
        "if let Some(a) = b.get_mut(0) {\n    *a = 1;\n}\n",
        "if let (Some(a), Some(b)) = (c.get(..1), d.get(..1)) {\n    e(a, b);\n}\n",
    ];
    for code in hidden {
        assert_eq!(hidden_in(code).len(), 1, "{code}");
    }
    let open = [
        "let a = b.must_get(1..2)?; // .get(1..2).unwrap_or_default()",
        "let a = options.wait.unwrap_or_default();",
        "let a = json.get(\"name\").unwrap_or(&Json::Null);",
        "let a = mutex.get_mut().unwrap_or_else(PoisonError::into_inner);",
        "if let Some(a) = b.get_mut(0) {\n    *a = 1;\n} else {\n    c();\n}\n",
        "if let Some(a) = b.get(..1) {\n    return a;\n}\n",
    ];
    for code in open {
        assert_eq!(hidden_in(code).len(), 0, "{code}");
    }
}

/// The lines where a part that must be there is looked for, and nothing is said if it is not: a
/// default follows, or an `if let` that goes on.
fn hidden_in(code: &str) -> Vec<usize> {
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    let code = &lines.collect::<Vec<_>>().join("\n");
    let mut places = Vec::new();
    for (at, rest) in LOOKUPS.iter().flat_map(|name| code.match_indices(name)) {
        let arguments = &code[at + rest.find('(').unwrap()..];
        let behind = arguments[closing(arguments, '(', ')') + 1..].trim_start();
        let copied = [".copied()", ".cloned()"].iter().find_map(|name| behind.strip_prefix(name));
        let is_key =
            arguments.starts_with("(\"") || rest.ends_with('(') && arguments.starts_with("()");
        if !is_key && copied.unwrap_or(behind).trim_start().starts_with(".unwrap_or") {
            places.push(at);
        }
    }
    for (at, _) in code.match_indices("if let ") {
        let Some(open) = code[at..].find("{\n") else { continue };
        let (head, block) = (&code[at..at + open], &code[at + open..]);
        let end = closing(block, '{', '}');
        let is_lookup =
            [".get_mut(", ".first_mut(", ".last_mut("].iter().any(|name| head.contains(name))
                || head.contains(".get(") && head.contains("..");
        let leaves = ["return", "break"].iter().any(|word| block[..end].contains(word));
        if is_lookup && !leaves && !block[end + 1..].trim_start().starts_with("else") {
            places.push(at);
        }
    }
    places.into_iter().map(|at| 1 + code[..at].matches('\n').count()).collect()
}

/// Where what the first character opens is closed.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    let closes = |c: char| {
        depth += i32::from(c == open) - i32::from(c == close);
        depth == 0
    };
    text.find(closes).unwrap()
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
