//! The choices that make up one cell, with the name and number that each side has for them.

use std::fmt;

use superchunk::{Codec, Filter};

/// A codec of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodecChoice {
    pub(crate) name: &'static str,
    /// The code of the C interface.
    pub(crate) code: u8,
    pub(crate) ours: Codec,
    /// The levels that tables show.
    pub(crate) levels: &'static [u8],
}

/// All codecs, in table order.
pub(crate) const CODECS: [CodecChoice; 5] = [
    CodecChoice { name: "blosclz", code: 0, ours: Codec::BloscLz, levels: &[1, 5, 9] },
    CodecChoice { name: "lz4", code: 1, ours: Codec::Lz4, levels: &[1, 5, 9] },
    CodecChoice { name: "lz4hc", code: 2, ours: Codec::Lz4Hc, levels: &[5, 9] },
    CodecChoice { name: "zlib", code: 4, ours: Codec::Zlib, levels: &[1, 5] },
    CodecChoice { name: "zstd", code: 5, ours: Codec::Zstd, levels: &[1, 3, 5, 9] },
];

/// A filter of the comparison, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterChoice {
    pub(crate) name: &'static str,
    /// The code of the C interface.
    pub(crate) code: u8,
    pub(crate) ours: Option<Filter>,
}

/// All filters, in table order.
pub(crate) const FILTERS: [FilterChoice; 3] = [
    FilterChoice { name: "none", code: 0, ours: None },
    FilterChoice { name: "shuffle", code: 1, ours: Some(Filter::Shuffle) },
    FilterChoice { name: "bitshuffle", code: 2, ours: Some(Filter::BitShuffle) },
];

/// Everything a contestant must know before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) codec: CodecChoice,
    pub(crate) level: u8,
    pub(crate) filter: FilterChoice,
    pub(crate) item_size: usize,
    pub(crate) threads: usize,
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codec, level, filter, threads, .. } = self;
        write!(f, "{:<7} {level} {:<10} {threads}T", codec.name, filter.name)
    }
}
