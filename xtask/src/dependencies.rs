//! The promise that the library needs no C compiler, kept by looking at what it depends on.

use crate::step::{Outcome, cargo, output};

/// Crates that exist to build or bind C.
const BUILDERS: [&str; 6] = ["cc", "cmake", "bindgen", "pkg-config", "vcpkg", "nasm-rs"];

/// Fails when anything the library is built from compiles or binds C.
pub(crate) fn no_c() -> Outcome {
    let mut tree = cargo(&["tree", "-e", "normal,build", "-p", "superchunk", "--all-features"]);
    tree.args(["--target", "all", "--prefix", "none", "--format", "{p}"]);
    let text = output(&mut tree)?;
    let found = c_crates(&text);
    if found.is_empty() {
        return Ok(());
    }
    Err(format!("the library must not need C, but depends on: {}", found.join(", ")))
}

fn c_crates(tree: &str) -> Vec<&str> {
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    // Bindings to an operating system are not C that somebody has to compile.
    let is_system = |name: &str| name.starts_with("windows") || name == "linux-raw-sys";
    let is_c = |name: &&str| BUILDERS.contains(name) || name.ends_with("-sys") && !is_system(name);
    let mut found: Vec<&str> = names.filter(is_c).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builders_and_bindings_are_found() {
        let tree =
            "superchunk v0.1.0 (/x)\nzstd-sys v2.0.0\ncc v1.0.0\nccc v1.0.0\ncc v1.0.0 (*)\n";
        assert_eq!(c_crates(tree), ["cc", "zstd-sys"]);
    }

    #[test]
    fn plain_crates_pass() {
        assert!(c_crates("superchunk v0.1.0\nwindows-sys v0.60.0\nsystem v1.0.0\n").is_empty());
    }
}
