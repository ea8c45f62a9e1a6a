//! The crates that the library and the program are built from, as `cargo tree` lists them.

use std::path::Path;

use crate::step::{Outcome, cargo, output};

/// One line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// A folder, a repository or a registry; `None` for crates.io.
    pub(crate) source: Option<&'a str>,
    /// The expression in the manifest, which may be empty.
    pub(crate) licence: &'a str,
}

impl Crate<'_> {
    /// Returns whether the crate is part of this repository.
    pub(crate) fn is_own(&self, root: &Path) -> bool {
        self.source.is_some_and(|source| Path::new(source).starts_with(root))
    }
}

/// The packages that users build: the library and the program.
pub(crate) const ROOTS: [&str; 2] = ["superchunk", "superchunk-cli"];

/// Lists the crates of the workspace at `root` for all systems and with all features, also those
/// that only run during a build. Cargo may have to download crates that this system does not use.
pub(crate) fn list(root: &Path) -> Outcome<String> {
    let mut tree = cargo(&["tree", "--all-features"]);
    tree.args(ROOTS.iter().flat_map(|name| ["-p", *name])).current_dir(root);
    tree.args(["-e", "normal,build", "--target", "all", "--prefix", "none"]);
    output(tree.args(["--format", "{p}|{l}"]))
}

/// Reads what [`list`] returned: each crate once, sorted by name and version.
pub(crate) fn parse(tree: &str) -> Outcome<Vec<Crate<'_>>> {
    let lines = tree.lines().filter(|line| !line.is_empty());
    let crates = lines.map(|line| {
        parse_line(line).ok_or_else(|| format!("unexpected line of cargo tree: {line}"))
    });
    let mut crates = crates.collect::<Outcome<Vec<_>>>()?;
    crates.sort_unstable();
    crates.dedup();
    Ok(crates)
}

/// Reads `NAME vVERSION|LICENCE`. The version may be followed by `(proc-macro)` and `(SOURCE)`, the
/// licence by `(*)`, which marks a crate that was listed before.
fn parse_line(line: &str) -> Option<Crate<'_>> {
    let (package, licence) = line.strip_suffix(" (*)").unwrap_or(line).rsplit_once('|')?;
    let (name, rest) = package.split_once(" v")?;
    let (version, notes) = rest.split_once(' ').unwrap_or((rest, ""));
    let notes = notes.trim_start_matches("(proc-macro)").trim_end_matches("(proc-macro)").trim();
    let source = notes.strip_prefix('(').and_then(|notes| notes.strip_suffix(')'));
    if source.is_none() && !notes.is_empty() {
        return None;
    }
    Some(Crate { name, version, source, licence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_once_and_sorted() {
        let tree = "own v0.1.0 (/x/own)|MIT\nb v2.0.0 (proc-macro)|A OR B\n\
                    b v2.0.0 (proc-macro)|A OR B (*)\n\n\
                    a v1.0.0+meta|\nm v3.0.0 (proc-macro) (https://host/m?rev=1#2)|(A)\n";
        let expected = [
            Crate { name: "a", version: "1.0.0+meta", source: None, licence: "" },
            Crate { name: "b", version: "2.0.0", source: None, licence: "A OR B" },
            Crate {
                name: "m",
                version: "3.0.0",
                source: Some("https://host/m?rev=1#2"),
                licence: "(A)",
            },
            Crate { name: "own", version: "0.1.0", source: Some("/x/own"), licence: "MIT" },
        ];
        assert_eq!(parse(tree), Ok(expected.to_vec()));
    }

    #[test]
    fn an_unexpected_line_is_an_error() {
        for line in ["a v1.0.0", "a|MIT", "a v1.0.0 odd|MIT"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn own_crates_are_in_the_repository() {
        let own =
            |source| Crate { name: "a", version: "1", source, licence: "" }.is_own(Path::new("/x"));
        assert!(own(Some("/x/crates/a")));
        assert!(!own(Some("/xy/a")) && !own(Some("https://host/x")) && !own(None));
    }
}
