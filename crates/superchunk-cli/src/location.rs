//! `LOCATION[::INNER][@SLICE]`: where data is, what of it is meant.
//!
//! `-` is stdin. A file whose name really contains `@` or `::` wins over the grammar; what follows the
//! name of a file that exists is a slice, or a wrong one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::Value;

use crate::failure::{Failure, Outcome};
use crate::output::path_value;

/// A parsed location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The file or folder; `None` is stdin.
    pub(crate) path: Option<PathBuf>,
    /// The node inside of it.
    pub(crate) inner: Option<String>,
    /// The part of it.
    pub(crate) slice: Option<String>,
}

/// The location that a command reads. The parser takes `-@:3`, a slice of stdin, for an option.
#[derive(Debug, Args)]
pub(crate) struct LocationArg {
    /// PATH[::INNER][@SLICE], or - for stdin
    #[arg(default_value = "-", hide_default_value = true)]
    location: OsString,
    #[arg(short = '@', hide = true, value_name = "SLICE", conflicts_with = "location")]
    stdin_slice: Option<String>,
}

impl LocationArg {
    /// What was typed.
    pub(crate) fn location(&self) -> Location {
        match &self.stdin_slice {
            Some(slice) => Location { path: None, inner: None, slice: Some(slice.clone()) },
            None => Location::parse(&self.location),
        }
    }
}

impl Location {
    /// All of a file or folder; `None` is stdin.
    pub(crate) fn whole(path: Option<PathBuf>) -> Self {
        Self { path, inner: None, slice: None }
    }

    /// Reads a location as it was typed.
    pub(crate) fn parse(given: &OsStr) -> Self {
        let exists = |path: &OsStr| Path::new(path).symlink_metadata().is_ok();
        if exists(given) {
            return Self::whole(Some(given.into()));
        }
        let is_meant = |rest: &OsStr, slice: &str| {
            let place = split_inner(rest).map_or(rest, |(place, _)| place);
            is_slice(slice) || exists(rest) || exists(place)
        };
        let (rest, slice) = match split_slice(given) {
            Some((rest, slice)) if is_meant(rest, slice) => (rest, Some(slice.to_owned())),
            _ => (given, None),
        };
        let (place, inner) = match split_inner(rest) {
            Some((place, inner)) if !exists(rest) => (place, Some(inner.to_owned())),
            _ => (rest, None),
        };
        let path = (place != "-").then(|| PathBuf::from(place));
        Self { path, inner, slice }
    }

    /// Refuses a slice, because the command takes all of what is there.
    pub(crate) fn check_unsliced(&self, command: &str) -> Outcome {
        let Some(slice) = &self.slice else { return Ok(()) };
        let words = format!("`{command}` takes all of `{}`, not the slice `@{slice}`", self.name());
        Err(Failure::usage(words).with_help("leave it out; `cat`, `head` and `unpack` take slices"))
    }

    /// Refuses a column or a slice of what is there, because the command takes it as a whole.
    pub(crate) fn check_whole(given: &OsStr, command: &str) -> Outcome {
        let parsed = Self::parse(given);
        let (Some(path), inner, slice) = (&parsed.path, &parsed.inner, &parsed.slice) else {
            return Ok(());
        };
        let inner = inner.as_ref().map_or(String::new(), |inner| format!("::{inner}"));
        let part = slice.as_ref().map_or(inner.clone(), |slice| format!("{inner}@{slice}"));
        if part.is_empty() || !path.exists() {
            return Ok(());
        }
        let what = if path.is_dir() { "table" } else { "file" };
        let words = format!("`{command}` takes the whole {what} `{}`", path.display());
        Err(Failure::usage(words).with_help(format!("leave out `{part}`")))
    }

    /// How to call it in a sentence.
    pub(crate) fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "stdin".to_owned(), |path| path.display().to_string())
    }

    /// How a document calls it.
    pub(crate) fn value(&self) -> Value {
        self.path.as_deref().map_or_else(|| "stdin".into(), path_value)
    }
}

/// What is before and after the first `::`.
fn split_inner(given: &OsStr) -> Option<(&OsStr, &str)> {
    let at = given.as_encoded_bytes().windows(2).position(|pair| pair == b"::")?;
    split(given, at, 2)
}

/// What is before and after the last `@`.
fn split_slice(given: &OsStr) -> Option<(&OsStr, &str)> {
    let at = given.as_encoded_bytes().iter().rposition(|byte| *byte == b'@')?;
    split(given, at, 1)
}

/// What is before and after the ASCII characters at a position; `None` if the latter is not text.
fn split(given: &OsStr, at: usize, len: usize) -> Option<(&OsStr, &str)> {
    let after = given.as_encoded_bytes().get(at + len..)?;
    Some((start(given, at)?, std::str::from_utf8(after).ok()?))
}

/// The start of a name, which may be of any bytes.
#[cfg(unix)]
fn start(name: &OsStr, len: usize) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().get(..len).map(OsStr::from_bytes)
}

/// The start of a name that is text.
#[cfg(not(unix))]
fn start(name: &OsStr, len: usize) -> Option<&OsStr> {
    name.to_str()?.get(..len).map(OsStr::new)
}

/// Numbers, colons, commas: nothing that a name would have behind its last `@`.
fn is_slice(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_digit() || matches!(c, ':' | ',' | '-' | '.' | ' ');
    !text.is_empty() && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<&str>, Option<&str>, Option<&str>) {
        let location = Location::parse(OsStr::new(text));
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        (
            location.path.map(|path| leak(path.display().to_string())),
            location.inner.map(leak),
            location.slice.map(leak),
        )
    }

    #[test]
    fn all_parts_are_optional() {
        assert_eq!(parsed("a.b2frame"), (Some("a.b2frame"), None, None));
        assert_eq!(parsed("a@1:2"), (Some("a"), None, Some("1:2")));
        assert_eq!(parsed("a::x/y@0:3,:,-1"), (Some("a"), Some("x/y"), Some("0:3,:,-1")));
        assert_eq!(parsed("-"), (None, None, None));
        assert_eq!(parsed("-@5"), (None, None, Some("5")));
        assert_eq!(parsed("me@home"), (Some("me@home"), None, None));
    }

    #[test]
    #[cfg(unix)]
    fn names_of_any_bytes_have_slices_and_inner_nodes() {
        use std::os::unix::ffi::OsStrExt;
        let odd = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
        for (given, path, inner, slice) in [
            (&b"a\xff"[..], &b"a\xff"[..], None, None),
            (b"a\xff@1:2", b"a\xff", None, Some("1:2")),
            (b"\xfe::x/y@0", b"\xfe", Some("x/y"), Some("0")),
            (b"me@\xff", b"me@\xff", None, None),
            (b"a\xff::\xff", b"a\xff::\xff", None, None),
        ] {
            let location = Location::parse(OsStr::from_bytes(given));
            assert_eq!(location.path, Some(odd(path)));
            assert_eq!((location.inner.as_deref(), location.slice.as_deref()), (inner, slice));
        }
    }

    #[test]
    fn a_file_of_that_name_wins() {
        let folder = std::env::temp_dir().join(format!("superchunk-at-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let odd = folder.join("x@1:2");
        std::fs::write(&odd, b"").unwrap();
        let location = Location::parse(odd.as_os_str());
        assert_eq!((location.path, location.slice), (Some(odd.clone()), None));
        let inside = Location::parse(OsStr::new(&format!("{}@3", odd.display())));
        assert_eq!((inside.path, inside.slice), (Some(odd), Some("3".to_owned())));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
