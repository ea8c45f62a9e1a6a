//! The rules for crates that the library and the program are built from: no C, only licences and
//! versions that `deny.toml` allows, only crates.io, and each crate named in `THIRD-PARTY.md`.

mod licences;
mod packages;
mod rules;
mod tree;

use std::path::Path;

use crate::step::{Outcome, root};
use packages::Package;
use rules::Rules;
use tree::Crate;

/// Fails with one line for each rule that a crate breaks.
pub(crate) fn check() -> Outcome {
    let root = root();
    let rules = Rules::parse(&read(&root.join("deny.toml"))?)?;
    let notices = read(&root.join("THIRD-PARTY.md"))?;
    let listed = tree::list(&root)?;
    let all = tree::parse(&listed)?;
    let mut refusals = c_code(&all, &packages::list(&root)?, &rules);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|found| found.is_own(&root));
    refusals.extend(licence_refusals(&own, &rules));
    refusals.extend(licence_refusals(&others, &rules));
    refusals.extend(foreign_sources(&others));
    refusals.extend(duplicate_versions(&others, &rules));
    refusals.extend(wrong_notices(&others, &notices));
    if refusals.is_empty() { Ok(()) } else { Err(format!("\n  {}", refusals.join("\n  "))) }
}

fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn licence_refusals(crates: &[Crate], rules: &Rules) -> Vec<String> {
    let refusal = |found: &Crate| {
        let Crate { name, version, licence, .. } = found;
        let shown = if licence.is_empty() { "none" } else { licence };
        match licences::is_satisfied(licence, &rules.allowed_licences) {
            Ok(true) => None,
            Ok(false) => Some(format!("{name} {version}: licence not in deny.toml: {shown}")),
            Err(e) => Some(format!("{name} {version}: cannot read its licence ({shown}): {e}")),
        }
    };
    crates.iter().filter_map(refusal).collect()
}

/// Finds everything that needs a C compiler or a C library, in the library and in the program.
fn c_code(crates: &[Crate], packages: &[Package], rules: &Rules) -> Vec<String> {
    let is_listed = |root: &&str| crates.iter().any(|found| found.name == *root);
    let missing = tree::ROOTS.iter().filter(|root| !is_listed(root));
    let mut refusals: Vec<String> =
        missing.map(|root| format!("{root}: cargo tree does not list it")).collect();
    refusals.extend(denied_crates(crates, rules));
    refusals.extend(c_bindings(crates));
    refusals.extend(packages::refusals(crates, packages));
    refusals
}

fn denied_crates(crates: &[Crate], rules: &Rules) -> Vec<String> {
    let denied = crates.iter().filter(|found| rules.denied_crates.iter().any(|d| d == found.name));
    denied.map(|found| format!("{} {}: denied by deny.toml", found.name, found.version)).collect()
}

/// Finds bindings to C libraries by their name, for which `deny.toml` has no pattern.
fn c_bindings(crates: &[Crate]) -> Vec<String> {
    // Bindings to an operating system are not C that somebody has to compile.
    let is_system = |name: &str| name.starts_with("windows") || name == "linux-raw-sys";
    let bindings =
        crates.iter().filter(|found| found.name.ends_with("-sys") && !is_system(found.name));
    bindings.map(|found| format!("{} {}: binds a C library", found.name, found.version)).collect()
}

fn foreign_sources(crates: &[Crate]) -> Vec<String> {
    let refusal = |found: &Crate| {
        let source = found.source?;
        Some(format!(
            "{} {}: expected a crate of crates.io, got {source}",
            found.name, found.version
        ))
    };
    crates.iter().filter_map(refusal).collect()
}

/// Finds crates with several versions that are not skipped, and skipped versions that do not exist.
fn duplicate_versions(crates: &[Crate], rules: &Rules) -> Vec<String> {
    let is_skipped =
        |found: &Crate, skipped: &str| skipped.split_once('@') == Some((found.name, found.version));
    let mut counted = crates.to_vec();
    counted.retain(|found| !rules.skipped_versions.iter().any(|s| is_skipped(found, s)));
    let mut refusals = Vec::new();
    for versions in counted.chunk_by(|a, b| a.name == b.name) {
        if let [first, _, ..] = versions {
            let versions: Vec<&str> = versions.iter().map(|found| found.version).collect();
            let versions = versions.join(", ");
            refusals.push(format!(
                "{}: several versions, of which deny.toml skips none: {versions}",
                first.name
            ));
        }
    }
    for skipped in &rules.skipped_versions {
        if !crates.iter().any(|found| is_skipped(found, skipped)) {
            refusals
                .push(format!("deny.toml skips '{skipped}', which is not a NAME@VERSION in use"));
        }
    }
    refusals
}

/// Compares the crates with the rows `| name | licence |` of `THIRD-PARTY.md`, in both directions.
fn wrong_notices(crates: &[Crate], notices: &str) -> Vec<String> {
    let mut expected: Vec<_> = crates.iter().map(|found| (found.name, found.licence)).collect();
    expected.dedup();
    let rows = notices.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        cells.split_once(" | ").filter(|(name, _)| *name != "crate")
    });
    let rows: Vec<_> = rows.collect();
    let refusal = |(name, licence): &(&str, &str), fault: &str| {
        format!("THIRD-PARTY.md: {fault} row | {name} | {licence} |")
    };
    let missing = expected.iter().filter(|row| !rows.contains(row));
    let stale = rows.iter().filter(|row| !expected.contains(row));
    let missing = missing.map(|row| refusal(row, "missing"));
    missing.chain(stale.map(|row| refusal(row, "outdated"))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn crates(tree: &str) -> Vec<Crate<'_>> {
        tree::parse(tree).expect("the lines are well formed")
    }

    fn rules() -> Rules {
        let strings = |strings: &[&str]| strings.iter().map(|&string| string.to_owned()).collect();
        Rules {
            allowed_licences: strings(&["MIT", "Zlib"]),
            denied_crates: strings(&["cc"]),
            skipped_versions: strings(&["old@0.8.9"]),
        }
    }

    #[test]
    fn other_and_missing_licences_are_refused() {
        let found =
            crates("a v1.0.0|MIT OR GPL-3.0\nb v1.0.0|MIT AND GPL-3.0\nc v1.0.0|\nd v1.0.0|A B\n");
        let refusals = licence_refusals(&found, &rules());
        assert_eq!(refusals.len(), 3);
        assert_eq!(refusals[0], "b 1.0.0: licence not in deny.toml: MIT AND GPL-3.0");
        assert!(refusals[1].starts_with("c 1.0.0: cannot read its licence (none)"), "{refusals:?}");
        assert!(refusals[2].starts_with("d 1.0.0: cannot read its licence (A B)"), "{refusals:?}");
    }

    #[test]
    fn denied_crates_are_refused_by_their_whole_name() {
        let found = crates("cc v1.0.0|MIT\nccc v1.0.0|MIT\ncc v1.0.0|MIT (*)\n");
        assert_eq!(denied_crates(&found, &rules()), ["cc 1.0.0: denied by deny.toml"]);
    }

    #[test]
    fn bindings_of_c_are_refused_but_not_those_of_systems() {
        let found = crates(
            "zstd-sys v2.0.0|MIT\nwindows-sys v0.60.0|MIT\nlinux-raw-sys v1.0.0|MIT\n\
             system v1.0.0|MIT\n",
        );
        assert_eq!(c_bindings(&found), ["zstd-sys 2.0.0: binds a C library"]);
    }

    /// Makes a workspace of a library and a program beside a crate `made-up-sys`, and checks it.
    /// The program depends on that crate as `dependency` says, and has these `features`.
    fn made_up(dependency: &str, features: &str, links: &str, script: &str) -> Vec<String> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("superchunk-xtask-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let package = |name: &str, rest: &str| {
            let package = folder.join(name);
            fs::create_dir_all(package.join("src")).unwrap();
            fs::write(package.join("src/lib.rs"), "").unwrap();
            let head = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
            fs::write(package.join("Cargo.toml"), head + rest).unwrap();
        };
        package("made-up-sys", links);
        fs::write(folder.join("made-up-sys/build.rs"), script).unwrap();
        package("superchunk", "");
        let section = "path = \"../made-up-sys\"";
        package("superchunk-cli", &format!("[features]\n{features}\n{dependency}\n{section}\n"));
        let members = "[workspace]\nresolver = \"2\"\nmembers = [\"superchunk\", \"superchunk-cli\"]\n\
                       exclude = [\"made-up-sys\"]\n";
        fs::write(folder.join("Cargo.toml"), members).unwrap();
        let listed = tree::list(&folder).unwrap();
        let packages = packages::list(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        c_code(&crates(&listed), &packages, &rules())
    }

    #[test]
    fn a_program_that_needs_c_is_refused() {
        let binds = "made-up-sys 1.0.0: binds a C library";
        let optional = "[dependencies.made-up-sys]\noptional = true";
        for (dependency, features) in [
            ("[dependencies.made-up-sys]", ""),
            ("[build-dependencies.made-up-sys]", ""),
            ("[target.'cfg(windows)'.dependencies.made-up-sys]", ""),
            (optional, "default = [\"made-up-sys\"]"),
            (optional, ""),
        ] {
            let refusals = made_up(dependency, features, "", "fn main() {}");
            assert_eq!(refusals, [binds], "{dependency} {features}");
        }
        let tests = made_up("[dev-dependencies.made-up-sys]", "", "", "fn main() {}");
        assert!(tests.is_empty(), "nobody receives what only tests need: {tests:?}");
        let refusals =
            made_up("[dependencies.made-up-sys]", "", "links = \"made-up\"", "fn main() {}");
        let links = "made-up-sys 1.0.0: its manifest links the library 'made-up'";
        assert_eq!(refusals, [binds, links]);
        let script = "fn main() { std::process::Command::new(\"gcc\").status().unwrap(); }";
        let refusals = made_up("[dependencies.made-up-sys]", "", "", script);
        assert_eq!(refusals, [binds, "made-up-sys 1.0.0: its build script says \"gcc\""]);
    }

    #[test]
    fn the_program_and_all_its_crates_are_looked_at() {
        let root = root();
        let listed = tree::list(&root).unwrap();
        let (all, packages) = (crates(&listed), packages::list(&root).unwrap());
        for name in ["superchunk", "superchunk-cli", "clap", "signal-hook", "mzstd"] {
            assert!(all.iter().any(|found| found.name == name), "{name}");
        }
        let library: Vec<Crate> =
            all.iter().filter(|found| found.name != "superchunk-cli").copied().collect();
        let refusals = c_code(&library, &packages, &rules());
        assert_eq!(refusals, ["superchunk-cli: cargo tree does not list it"]);
    }

    #[test]
    fn sources_other_than_crates_io_are_refused() {
        let found = crates("a v1.0.0 (https://host/a#1)|MIT\nb v1.0.0|MIT\n");
        let refusals = foreign_sources(&found);
        assert_eq!(refusals, ["a 1.0.0: expected a crate of crates.io, got https://host/a#1"]);
    }

    #[test]
    fn several_versions_are_refused_unless_skipped() {
        let found = crates("old v0.8.9|MIT\nold v0.9.1|MIT\nx v1.0.0|MIT\n");
        assert!(duplicate_versions(&found, &rules()).is_empty());
        let found = crates("old v0.8.9|MIT\nold v0.9.1|MIT\nold v1.0.0|MIT\n");
        assert_eq!(
            duplicate_versions(&found, &rules()),
            ["old: several versions, of which deny.toml skips none: 0.9.1, 1.0.0"]
        );
    }

    #[test]
    fn a_skipped_version_that_is_not_in_use_is_refused() {
        let refusals = duplicate_versions(&crates("old v0.9.1|MIT\n"), &rules());
        assert_eq!(refusals, ["deny.toml skips 'old@0.8.9', which is not a NAME@VERSION in use"]);
    }

    #[test]
    fn missing_and_outdated_notices_are_refused() {
        let found = crates("a v1.0.0|MIT\nb v1.0.0|Zlib\nb v2.0.0|Zlib\n");
        let notices = "| crate | licence in its manifest |\n|---|---|\n| a | MIT |\n| b | Zlib |\n";
        assert!(wrong_notices(&found, notices).is_empty());
        let refusals = wrong_notices(&found, "a and b are named in a text\n| b | MIT |\n");
        let expected = [
            "THIRD-PARTY.md: missing row | a | MIT |",
            "THIRD-PARTY.md: missing row | b | Zlib |",
            "THIRD-PARTY.md: outdated row | b | MIT |",
        ];
        assert_eq!(refusals, expected);
    }
}
