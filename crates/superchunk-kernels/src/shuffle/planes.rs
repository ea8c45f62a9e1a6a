//! The byte planes that are about to become items again, wherever they lie.

/// At least one plane; all are taken to have the length of the shortest.
#[derive(Clone, Copy)]
pub(super) enum Planes<'a> {
    /// One after the other in `bytes`, each `len` bytes.
    Even {
        /// All planes.
        bytes: &'a [u8],
        /// The length of one.
        len: usize,
    },
    /// Anywhere, each at least `len` bytes.
    Apart {
        /// The planes.
        planes: &'a [&'a [u8]],
        /// The length of the shortest, or less.
        len: usize,
    },
}

impl<'a> Planes<'a> {
    /// Planes one after the other: as many of `len` bytes as `bytes` holds.
    pub(super) fn even(bytes: &'a [u8], len: usize) -> Self {
        Self::Even { bytes, len }
    }

    /// Planes anywhere, of which at most `limit` bytes are used.
    pub(super) fn apart(planes: &'a [&'a [u8]], limit: usize) -> Self {
        let len = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(limit);
        Self::Apart { planes, len }
    }

    /// How many planes: the size of an item.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Even { bytes, len } => bytes.len().checked_div(len).unwrap_or(0),
            Self::Apart { planes, .. } => planes.len(),
        }
    }

    /// The length of a plane: the number of items.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Even { len, .. } | Self::Apart { len, .. } => len,
        }
    }

    /// Plane `b`: at least [`Self::len`] bytes for `b` below [`Self::count`].
    #[inline]
    pub(super) fn plane(self, b: usize) -> &'a [u8] {
        match self {
            Self::Even { bytes, len } => bytes.get(b * len..).unwrap_or(&[]),
            Self::Apart { planes, .. } => planes.get(b).copied().unwrap_or(&[]),
        }
    }

    /// Bytes from the first plane to the second, as far as caches are concerned.
    pub(super) fn distance(self) -> usize {
        self.plane(1).as_ptr().addr().wrapping_sub(self.plane(0).as_ptr().addr())
    }
}
