//! Lighter ways to compress a stream than its level asks for.
//!
//! Levels above the lowest search for repetitions that many streams do not have. What then makes these shorter are the
//! codes of their bytes, which the lighter ways have as well, at several times the speed, and sometimes with fewer bytes:
//! repetitions of three or four bytes can cost more than the codes that they replace. The search of our own
//! kernel for Zlib weighs that; it is quicker than that of the crate on most numbers, but not always as thorough.

use superchunk_kernels::deflate::Search;

use super::Method;

/// A lighter way.
#[cfg_attr(
    not(all(feature = "zlib", feature = "_zstd")),
    allow(dead_code, reason = "codecs that are not built in have none")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Light {
    /// Zstandard with codes alone.
    ZstdCodes,
    /// Zstandard at this level of its own.
    Zstd(i32),
    /// Zlib by the kernel.
    Zlib(Search),
}

impl Light {
    /// Whether strings that come again are found, if not as many as could be.
    pub(crate) fn finds_repetitions(self) -> bool {
        !matches!(self, Self::ZstdCodes | Self::Zlib(Search::Runs))
    }
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bytes as they came.
    Plain,
    /// A whole block behind filters.
    Filtered,
    /// One plane of several.
    Plane,
}

/// The lighter ways to work as a level asks for, the lightest first; measured with the datasets of the bench. Codes alone
/// are for planes, and at levels that take long: whole blocks are decoded faster when their repetitions were found.
#[cfg_attr(
    not(all(feature = "zlib", feature = "_zstd")),
    allow(unused_variables, unused_imports, reason = "codecs that are not built in have none")
)]
pub(crate) fn lighter(method: &Method, level: u8, content: Content) -> &'static [Light] {
    use Content::{Filtered, Plain, Plane};
    use Light::{Zlib, Zstd, ZstdCodes};
    use Search::{Brisk, Runs, Thorough};
    match method {
        #[cfg(feature = "_zstd")]
        Method::Zstd => match (level, content) {
            (1, Plane) => &[ZstdCodes],
            (2..=4, Plane) => &[ZstdCodes, Zstd(1)],
            (2..=4, _) => &[Zstd(1)],
            (5..=8, Filtered | Plane) => &[ZstdCodes, Zstd(1), Zstd(5)],
            (5..=8, Plain) => &[Zstd(1), Zstd(2)],
            _ => &[],
        },
        #[cfg(feature = "zlib")]
        Method::Zlib => match (level, content) {
            (0 | 1, _) => &[],
            // Without a filter it is the brisk way that does, or none: to try the other one as well takes long.
            (4..=6, Plain) => &[Zlib(Runs), Zlib(Brisk)],
            (4..=6, _) => &[Zlib(Runs), Zlib(Brisk), Zlib(Thorough)],
            _ => &[Zlib(Runs)],
        },
        _ => &[],
    }
}
