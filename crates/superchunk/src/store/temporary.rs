//! Names for what is not finished yet.
//!
//! ```text
//! .NAME.0123456789abcdef.tmp      in the folder of NAME; 16 random hexadecimal digits
//! ```
//!
//! Its maker holds a lock of it until it is finished, so that [`recover`](crate::recover) can tell
//! what a killed process has left from what is still in use.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

#[cfg(any(unix, windows))]
use super::Folder;
use super::{Dir, WriteAt};
use crate::error::{Error, Result};

/// The most bytes of `NAME` in a temporary name: file systems take 255 in all.
const LONGEST_NAME: usize = 200;
const DIGITS: usize = 16;
/// How many random names are tried.
const TRIES: usize = 16;

/// A name that nobody else uses, for what is to become `name`: `.NAME.` with 16 random hexadecimal
/// digits and `.tmp` after it.
#[must_use]
pub fn temporary_name(name: &str) -> String {
    // Every state of a hasher starts with other random keys.
    let random = RandomState::new().hash_one(std::process::id());
    format!(".{}.{random:016x}.tmp", shortened(name))
}

/// Whether a name is one of [`temporary_name`] for `name`.
#[must_use]
pub fn is_temporary_of(found: &str, name: &str) -> bool {
    temporary_for(found) == Some(shortened(name))
}

/// Whether a name is one of [`temporary_name`] for anything.
#[cfg(any(unix, windows))]
pub(crate) fn is_temporary(found: &str) -> bool {
    temporary_for(found).is_some()
}

/// What a temporary name is for.
fn temporary_for(found: &str) -> Option<&str> {
    let (name, digits) = found.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == DIGITS && digits.as_bytes().iter().all(is_digit)).then_some(name)
}

/// Creates an empty, locked store for what is to become `name`, which only its owner may read.
pub(crate) fn create_temporary(dir: &dyn Dir, name: &str) -> Result<(String, Arc<dyn WriteAt>)> {
    let mut refusal = None;
    for _ in 0..TRIES {
        let temporary = temporary_name(name);
        match dir.create_private(&temporary) {
            Ok(file) => match file.lock() {
                Ok(()) => return Ok((temporary, file)),
                // Somebody who tidies up was faster: it is gone by now.
                Err(error) => refusal = Some(error),
            },
            Err(error) if error.is_about_existing() => refusal = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(refusal.unwrap_or_else(none_is_free))
}

/// Creates a folder around what is to become `name`, which only its owner may enter.
#[cfg(any(unix, windows))]
pub(super) fn create_private_folder(parent: &Folder, name: &str) -> Result<(String, Folder)> {
    let mut refusal = None;
    for _ in 0..TRIES {
        let temporary = temporary_name(name);
        match parent.create_private_folder(&temporary) {
            Err(error) if error.is_about_existing() => refusal = Some(error),
            made => return Ok((temporary, made?)),
        }
    }
    Err(refusal.unwrap_or_else(none_is_free))
}

fn none_is_free() -> Error {
    Error::invalid("no temporary name is free")
}

/// The start of a name that fits a temporary one.
pub(super) fn shortened(name: &str) -> &str {
    (0..=LONGEST_NAME).rev().find_map(|end| name.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryFolder;

    #[test]
    fn names_are_told_from_others_and_never_too_long() {
        for name in ["x", "x.b2frame", &"é".repeat(127)] {
            let temporary = temporary_name(name);
            assert!(temporary.len() < 255 && is_temporary_of(&temporary, name), "{temporary}");
            assert_ne!(temporary, temporary_name(name));
        }
        for other in [".x.tmp", ".x.0123456789abcdeF.tmp", "x.0123456789abcdef.tmp", "x"] {
            assert!(!is_temporary_of(other, "x"), "{other}");
        }
        assert!(!is_temporary_of(".xy.0123456789abcdef.tmp", "x"));
    }

    #[test]
    fn each_is_a_new_one() {
        let dir = MemoryFolder::new();
        let (one, _) = create_temporary(&dir, "x").unwrap();
        let (other, _) = create_temporary(&dir, "x").unwrap();
        assert_ne!(one, other);
        assert_eq!(dir.names().unwrap().len(), 2);
    }
}
