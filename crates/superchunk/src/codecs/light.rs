//! Lighter ways to compress a stream than its level asks for.
//!
//! Levels above the lowest search for repetitions that many streams do not have. What then makes these shorter are the
//! codes of their bytes, which the lighter ways have as well, at 3 to 10 times the speed, and sometimes with fewer bytes:
//! repetitions of three or four bytes can cost more than the codes that they replace.

use super::Method;

/// A lighter way.
#[cfg_attr(
    not(all(feature = "zlib", feature = "zstd")),
    allow(dead_code, reason = "codecs that are not built in have none")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Light {
    /// Zstandard at this level of its own.
    Zstd(i32),
    /// Zlib that looks for runs of one byte alone.
    ZlibRuns,
}

impl Light {
    /// Whether strings that come again are found, if not as many as could be.
    pub(crate) fn finds_repetitions(self) -> bool {
        self != Self::ZlibRuns
    }
}

/// The lighter ways to work as a level asks for, the lightest first. A stream is one of several `planes` of a block, or all
/// of it: in planes, level 5 of Zstandard often finds what level 9 finds; in whole blocks hardly ever.
#[cfg_attr(
    not(all(feature = "zlib", feature = "zstd")),
    allow(unused_variables, reason = "codecs that are not built in have none")
)]
pub(crate) fn lighter(method: &Method, level: u8, planes: bool) -> &'static [Light] {
    match method {
        #[cfg(feature = "zstd")]
        Method::Zstd => match level {
            0 | 1 | 9.. => &[],
            2 | 3 => &[Light::Zstd(1)],
            4.. if planes => &[Light::Zstd(1), Light::Zstd(2), Light::Zstd(5)],
            4.. => &[Light::Zstd(1), Light::Zstd(2)],
        },
        #[cfg(feature = "zlib")]
        Method::Zlib if level > 1 => &[Light::ZlibRuns],
        _ => &[],
    }
}
