//! The test programs that `cargo xtask flaky` repeats: which they are, how they are built, and
//! where cargo puts them.

use std::path::{Path, PathBuf};

use crate::check::TEST_FEATURES;
use crate::step::{Outcome, cargo, output};

/// The packages, each with its test programs that mainly lock files, fork, kill processes or talk
/// to peers: their results may depend on how the operating system schedules threads and processes.
/// Programs that do so in only a few of their tests, as `legacy` and `damage` do, are left out to
/// bound the time of a call.
///
/// `loom_follow` is left out, too: loom itself tries every order of events, and the program is
/// empty unless it is compiled for loom (`cargo xtask loom`).
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("superchunk", &["processes", "opens", "crash", "interop", "frames", "damage", "chunks"]),
    ("superchunk-cli", &["cli", "races", "faults", "limits"]),
];

/// A program that cargo builds from `crates/PACKAGE/tests/NAME.rs` or `NAME/main.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TestProgram {
    pub(super) package: &'static str,
    pub(super) name: &'static str,
}

/// A test program after it was built.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BuiltProgram {
    pub(super) name: &'static str,
    pub(super) executable: PathBuf,
    /// Where cargo would run it.
    pub(super) package_folder: PathBuf,
}

/// Returns every program of the list.
pub(super) fn all() -> Vec<TestProgram> {
    let of_package = |(package, names): (&'static str, &'static [&'static str])| {
        names.iter().map(move |name| TestProgram { package, name })
    };
    PROGRAMS.into_iter().flat_map(of_package).collect()
}

/// Builds the programs, and finds them in the messages that cargo prints.
pub(super) fn build(programs: &[TestProgram]) -> Outcome<Vec<BuiltProgram>> {
    // The whole workspace selects the same features as `cargo xtask test`: nothing is built twice.
    let mut command = cargo(&["test", "--workspace", "--no-run"]);
    command.args(TEST_FEATURES);
    // Messages of the compiler still go to the terminal; only cargo's own are JSON.
    command.arg("--message-format=json-render-diagnostics");
    command.args(programs.iter().flat_map(|program| ["--test", program.name]));
    let messages = output(&mut command)?;
    let find = |program: &TestProgram| {
        messages.lines().find_map(|message| built(*program, message)).ok_or_else(|| {
            let TestProgram { package, name } = program;
            format!("cargo did not report the executable of the test {name} of {package}")
        })
    };
    programs.iter().map(find).collect()
}

/// Returns the program if this message, one JSON object, reports that cargo has built it.
fn built(program: TestProgram, message: &str) -> Option<BuiltProgram> {
    let is_test = message.contains(r#""kind":["test"]"#);
    if !is_test || string_field(message, "name")? != program.name {
        return None;
    }
    let manifest = PathBuf::from(string_field(message, "manifest_path")?);
    let package_folder = manifest.parent()?.to_path_buf();
    // A package's folder is called like the package.
    if package_folder.file_name() != Path::new(program.package).file_name() {
        return None;
    }
    let executable = string_field(message, "executable")?.into();
    Some(BuiltProgram { name: program.name, executable, package_folder })
}

/// Returns the first string with this key. Paths and names need no escapes but `\\` and `\"`.
fn string_field(message: &str, key: &str) -> Option<String> {
    let (_, rest) = message.split_once(&format!(r#""{key}":""#))?;
    let mut value = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(value),
            '\\' => value.push(characters.next()?),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of cargo 1.95, without the fields that nothing here reads.
    fn message(kind: &str, package: &str, name: &str) -> String {
        format!(r#"{{"reason":"compiler-artifact","package_id":"path+file:///r/{package}#0.1.0","#)
            + &format!(r#""manifest_path":"/r/crates/{package}/Cargo.toml","#)
            + &format!(r#""target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"{name}","#)
            + r#""src_path":"/r/x.rs"},"features":[],"filenames":["/r/deps/x-1"],"#
            + r#""executable":"/r/deps/x-1","fresh":true}"#
    }

    #[test]
    fn every_program_has_its_source() {
        for TestProgram { package, name } in all() {
            let tests = crate::step::root().join("crates").join(package).join("tests");
            let sources = [tests.join(format!("{name}.rs")), tests.join(name).join("main.rs")];
            assert!(sources.iter().any(|source| source.is_file()), "{package} has no test {name}");
        }
    }

    #[test]
    fn names_differ_because_saved_outputs_are_named_by_them() {
        let mut names: Vec<&str> = all().iter().map(|program| program.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn an_executable_and_its_package_are_found() {
        let fork = TestProgram { package: "superchunk", name: "fork" };
        let expected = BuiltProgram {
            name: "fork",
            executable: "/r/deps/x-1".into(),
            package_folder: "/r/crates/superchunk".into(),
        };
        assert_eq!(built(fork, &message("test", "superchunk", "fork")), Some(expected));
    }

    #[test]
    fn other_artifacts_are_skipped() {
        let fork = TestProgram { package: "superchunk", name: "fork" };
        assert_eq!(built(fork, &message("bin", "superchunk", "fork")), None);
        assert_eq!(built(fork, &message("test", "superchunk-cli", "fork")), None);
        assert_eq!(built(fork, &message("test", "superchunk", "frames")), None);
        let only_checked =
            message("test", "superchunk", "fork").replace(r#""/r/deps/x-1","f"#, "null,\"f");
        assert_eq!(built(fork, &only_checked), None);
        assert_eq!(built(fork, r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn escaped_characters_are_restored() {
        let windows = r#"{"executable":"C:\\target\\a\"b.exe","fresh":true}"#;
        assert_eq!(string_field(windows, "executable").as_deref(), Some(r#"C:\target\a"b.exe"#));
        assert_eq!(string_field(r#"{"executable":"/cut"#, "executable"), None);
    }
}
