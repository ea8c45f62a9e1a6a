//! Which process a handle belongs to.

/// The process that made a handle. A forked child has a copy of it; when that is dropped, the files
/// are still the parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u32);

impl Owner {
    /// This process.
    pub(crate) fn here() -> Self {
        // Where there are no processes, nothing is forked either.
        #[cfg(any(unix, windows))]
        return Self(std::process::id());
        #[cfg(not(any(unix, windows)))]
        return Self(0);
    }

    /// Whether this is the process.
    pub(crate) fn is_here(self) -> bool {
        self == Self::here()
    }
}
