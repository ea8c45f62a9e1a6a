//! Values as words, and bytes as text that is never long.

use std::fmt;

use crate::error::{Error, Result};

/// Up to this many bytes are shown one by one.
const MAX_SHOWN_BYTES: usize = 64;

/// The value of a closed list that has this name.
pub(crate) fn named<T: Copy>(
    text: &str,
    values: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T> {
    values.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|value| name(*value)).collect();
        Error::invalid(format!("expected one of {}, got `{text}`", names.join(", ")))
    })
}

/// Bytes as `Debug` prints them: a few as a byte string, of more only their number.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0..=MAX_SHOWN_BYTES => write!(f, "b\"{}\"", self.0.escape_ascii()),
            len => write!(f, "{len} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_is_answered_with_the_right_ones() {
        let name = |value: bool| if value { "yes" } else { "no" };
        assert!(named("yes", &[true, false], name).unwrap());
        let error = named("maybe", &[true, false], name).unwrap_err();
        assert_eq!(error.to_string(), "expected one of yes, no, got `maybe`");
    }

    #[test]
    fn long_bytes_are_a_number() {
        assert_eq!(format!("{:?}", Bytes(b"a\0\"")), r#"b"a\x00\"""#);
        assert_eq!(format!("{:?}", Bytes(&[b'x'; 64])).len(), 67);
        assert_eq!(format!("{:?}", Bytes(&[0; 65])), "65 bytes");
    }
}
