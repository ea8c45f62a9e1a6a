//! What single chunks ask of the C libraries.

use super::{Need, Version};
use crate::chunk::{Content, Header};
use crate::options::{Codec, CompressOptions, Filter};

/// The first release whose files of today's form were tried.
pub(super) const BLOSC2_TRIED: Version = Version::new(2, 6, 1);
/// C-Blosc2 3.0: variable-length blocks, chunks of any size, dictionaries of LZ4.
pub(super) const BLOSC2_THREE: Version = Version::new(3, 0, 0);

/// How a chunk is encoded, or how new chunks are going to be.
pub(super) struct Encoding {
    codec: Option<Codec>,
    filters: Vec<Filter>,
    dictionary: bool,
    item_size: usize,
    /// Whether there may be more than one block.
    has_blocks: bool,
}

impl Encoding {
    /// The encoding of a chunk whose bytes are compressed; `None` for stored bytes and runs.
    pub(super) fn of_chunk(header: &Header) -> Option<Self> {
        let is_encoded = matches!(header.content(), Content::Blocks | Content::VariableBlocks);
        is_encoded.then(|| Self {
            codec: header.codec(),
            filters: header.filters(),
            dictionary: header.has_dictionary(),
            item_size: header.item_size(),
            has_blocks: header.block_count() > 1,
        })
    }

    /// The encoding that a container has on record for new chunks.
    pub(super) fn of_options(options: &CompressOptions) -> Self {
        Self {
            codec: Some(options.codec),
            filters: options.filters.clone(),
            dictionary: options.dictionary,
            item_size: options.item_size,
            has_blocks: true,
        }
    }

    /// What C-Blosc2 must be to decode it, whole and in parts.
    pub(super) fn blosc2_needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        match self.codec {
            None => needs.push(Need::never("the codec Snappy, or an unknown one")),
            Some(Codec::Registered { id, .. }) => {
                needs.push(Need::never(format!("codec {id}, which is not part of C-Blosc2")));
            }
            Some(_) => {}
        }
        for filter in &self.filters {
            needs.extend(self.filter_need(*filter));
        }
        if self.dictionary {
            if matches!(self.codec, Some(Codec::Lz4 | Codec::Lz4Hc)) {
                needs.push(Need::since(BLOSC2_THREE, "dictionaries of LZ4"));
            }
            needs.push(Need::never("a dictionary: C-Blosc2 fails to read parts of such chunks"));
        }
        needs
    }

    fn filter_need(&self, filter: Filter) -> Option<Need> {
        Some(match filter {
            Filter::ByteDelta(_) => Need::since(Version::new(2, 10, 0), "the filter bytedelta"),
            Filter::IntTrunc(_) => Need::since(Version::new(2, 13, 0), "the filter inttrunc"),
            Filter::ShuffleBy(bytes) if usize::from(bytes) != self.item_size => {
                let what = format!("the filter shuffle:{bytes}, which older releases misread");
                Need::since(Version::new(2, 23, 1), what)
            }
            Filter::Delta if self.has_blocks => Need::never(
                "the filter delta: C-Blosc2 misreads parts of such chunks, without an error",
            ),
            Filter::Registered { id, .. } => {
                Need::never(format!("filter {id}, which is not part of C-Blosc2"))
            }
            _ => return None,
        })
    }
}

/// What C-Blosc2 must be to decode a chunk.
pub(super) fn blosc2_needs(header: &Header) -> Vec<Need> {
    let mut needs = vec![Need::since(BLOSC2_TRIED, "chunks")];
    needs.extend(Encoding::of_chunk(header).iter().flat_map(Encoding::blosc2_needs));
    if header.content() == Content::VariableBlocks {
        needs.push(Need::since(BLOSC2_THREE, "blocks of variable length"));
    }
    if header.content() == Content::Zeros
        && !header.byte_len().is_multiple_of(header.item_size().max(1))
    {
        needs.push(Need::since(Version::new(3, 1, 5), "zeros that are not whole items"));
    }
    if header.repair().is_some() {
        needs.push(Need::never("a chunk whose header C-Blosc2 misreads"));
    }
    needs
}

/// What C-Blosc 1 must be to decode a chunk.
#[cfg(any(unix, windows))]
pub(super) fn blosc_needs(header: &Header) -> Vec<Need> {
    if header.extended {
        return vec![Need::never("the format of Blosc2")];
    }
    let mut needs = vec![Need::since(Version::new(1, 0, 0), "chunks")];
    if header.content() != Content::Blocks {
        return needs;
    }
    match header.codec() {
        Some(Codec::BloscLz) => {}
        Some(Codec::Zstd) => needs.push(Need::since(Version::new(1, 11, 0), "the codec Zstd")),
        _ => needs.push(Need::since(Version::new(1, 3, 0), "codecs other than BloscLZ")),
    }
    if header.filters().contains(&Filter::BitShuffle) {
        needs.push(Need::since(Version::new(1, 7, 1), "the filter bitshuffle"));
    }
    if !header.is_split() {
        needs.push(Need::since(Version::new(1, 11, 0), "blocks that are not split"));
    }
    needs
}

/// The same in terms of the bcolz release that contains this C-Blosc.
pub(super) fn bcolz_needs(header: &Header) -> Vec<Need> {
    let mut needs = vec![Need::since(Version::new(0, 7, 0), "arrays and tables")];
    if header.content() != Content::Blocks {
        return needs;
    }
    match header.codec() {
        Some(Codec::Zstd) => needs.push(Need::since(Version::new(1, 1, 2), "the codec Zstd")),
        None => needs.push(Need::never("the codec Snappy, which only bcolz 0.7 to 1.2.1 may have")),
        Some(_) => {}
    }
    if header.filters().contains(&Filter::BitShuffle) {
        needs.push(Need::since(Version::new(1, 0, 0), "the filter bitshuffle"));
    }
    if !header.is_split() {
        needs.push(Need::since(Version::new(1, 1, 1), "blocks that are not split"));
    }
    needs
}
