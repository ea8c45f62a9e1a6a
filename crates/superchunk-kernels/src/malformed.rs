//! The one error a kernel can report.

use core::fmt;

/// A compressed stream that cannot be decoded: it is cut short, points outside its window, or
/// expands to another length than the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Position in the compressed stream at which decoding stopped.
    pub at: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {} of the stream", self.reason, self.at)
    }
}

impl core::error::Error for Malformed {}
