//! Other programs as readers: `--compat` refuses what they do not read, `info --compat` lists what
//! they must be.

use std::fmt;
use std::path::Path;

use superchunk::compat::{self, Compatibility, Need, Program, Version};
use superchunk::{ErrorKind, OpenOptions, Value};

use crate::failure::{Exit, Failure, Outcome};
use crate::output::object;

/// A program that must be able to read what is written, of some version or of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    program: Program,
    version: Option<Version>,
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Some(version) => write!(f, "{} {version}", self.program),
            None => write!(f, "{}", self.program),
        }
    }
}

/// Parses the value of `--compat`: `NAME` or `NAME=VERSION`.
pub(crate) fn parse_reader(text: &str) -> Result<Reader, String> {
    let (name, version) = match text.split_once('=') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let program = name.parse().map_err(|error: superchunk::Error| error.message().to_owned())?;
    let version = version.map(str::parse).transpose();
    let version = version.map_err(|error: superchunk::Error| error.message().to_owned())?;
    Ok(Reader { program, version })
}

/// Refuses a file or folder that one of the readers does not read, or misreads.
pub(crate) fn check_path(path: &Path, readers: &[Reader], options: &OpenOptions) -> Outcome {
    if readers.is_empty() {
        return Ok(());
    }
    let found = match compat::path(path, options) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            return Err(Failure::usage("--compat is about formats of the Blosc family")
                .with_help("leave it out, or make a frame, an array, a table or a .blp file"));
        }
        found => found?,
    };
    found.iter().try_for_each(|found| check(found, readers))
}

/// Refuses what one of the readers does not read, or misreads.
pub(crate) fn check(found: &Compatibility, readers: &[Reader]) -> Outcome {
    let of_program = readers.iter().filter(|reader| reader.program == found.program);
    for reader in of_program {
        let Some(need) = found.obstacles(reader.version).next() else { continue };
        let words = format!("{reader} would not read this: {}", need.what);
        let help = match need.since {
            Some(since) => format!("{} reads it from {since} on", reader.program),
            None => format!("no version of {} reads it correctly", reader.program),
        };
        return Err(Failure::said(Exit::Unsupported, words).with_help(help));
    }
    Ok(())
}

/// The lines of `info --compat`, a program on each; empty if that was not asked for.
pub(crate) fn text(found: Option<&[Compatibility]>) -> String {
    let line = |found: &Compatibility| {
        let oldest = found.oldest();
        let reasons = found.needs.iter().filter(|need| need.since == oldest);
        let reasons = reasons.map(|need| need.what.as_str()).collect::<Vec<_>>().join("; ");
        match oldest {
            Some(oldest) => format!("  readable   {} from {oldest} on: {reasons}\n", found.program),
            None => format!("  unreadable {}: {reasons}\n", found.program),
        }
    };
    found.unwrap_or_default().iter().map(line).collect()
}

/// The value of the key `readers` of `info --compat --json`.
pub(crate) fn to_json(found: &[Compatibility]) -> Value {
    let version =
        |version: Option<Version>| version.map_or(Value::Nil, |version| version.to_string().into());
    let need =
        |need: &Need| object([("since", version(need.since)), ("what", need.what.as_str().into())]);
    let reader = |found: &Compatibility| {
        object([
            ("program", found.program.name().into()),
            ("oldest", version(found.oldest())),
            ("needs", Value::Array(found.needs.iter().map(need).collect())),
        ])
    };
    Value::Array(found.iter().map(reader).collect())
}
