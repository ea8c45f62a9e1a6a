//! What a caller can choose when writing a Bloscpack file.

use super::array::PackArray;
use crate::error::{Error, Result};
use crate::options::{ChunkFormat, Codec, CompressOptions};
use crate::pack::{CHUNK_SIZE, Checksum, MAX_CHUNK, MetadataOptions, PackHeader, Policy};
use crate::wire::json::Json;

/// How many chunks a file gets room for whose length nobody knows: 132 with those that are appended.
const EXPECTED: u64 = 12;

/// All choices of a new file. The defaults are those of bloscpack itself.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// How chunks are compressed: BloscLZ at level 7 after a shuffle of items of 8 bytes by default.
    /// Chunks are always of Blosc1.
    pub compress: CompressOptions,
    /// What follows each chunk. Adler-32 by default.
    pub checksum: Checksum,
    /// Whether to list the positions of chunks, without which bloscpack cannot append. True by
    /// default.
    pub offsets: bool,
    /// For how many more chunks to leave room; `None` for ten times as many as there are.
    pub append_slots: Option<u64>,
    /// The bytes of a chunk, which is cut to whole items. 1 MiB by default.
    pub chunk_size: usize,
    /// How many bytes are going to be written, if that is known: the room for positions depends on it.
    pub expected_len: Option<u64>,
    /// What to say about the data.
    pub metadata: Option<Json>,
    /// How to store that.
    pub metadata_options: MetadataOptions,
    /// Whether every chunk is one object of any length.
    pub varlen: bool,
    /// The bytes to leave free after each object, in per cent of those it takes. 0 by default.
    pub reserve: u32,
}

impl Default for PackOptions {
    fn default() -> Self {
        let compress = CompressOptions::new(8).with_codec(Codec::BloscLz).with_level(7);
        Self {
            compress: compress.with_format(ChunkFormat::Blosc1),
            checksum: Checksum::Adler32,
            offsets: true,
            append_slots: None,
            chunk_size: CHUNK_SIZE,
            expected_len: None,
            metadata: None,
            metadata_options: MetadataOptions::default(),
            varlen: false,
            reserve: 0,
        }
    }
}

impl PackOptions {
    /// What bloscpack does by itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For objects of any length, of a kind that the metadata names: `varchar` for UTF-8 text,
    /// `varbinary` for bytes, `var-<dtype>` for lists of numbers.
    #[must_use]
    pub fn objects(dtype: &str) -> Self {
        let shape = Json::from(vec![Json::from(0u64)]);
        let metadata = vec![("dtype".to_owned(), Json::from(dtype)), ("shape".to_owned(), shape)];
        let compress = CompressOptions::new(1).with_codec(Codec::BloscLz).with_level(7);
        let compress = compress.with_filters([]);
        Self { varlen: true, metadata: Some(metadata.into()), ..Self::default() }
            .with_compress(compress)
    }

    /// The same options with other chunks; they become chunks of Blosc1.
    #[must_use]
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
        self.compress = compress.with_format(ChunkFormat::Blosc1);
        self
    }

    /// The same options with another checksum.
    #[must_use]
    pub fn with_checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = checksum;
        self
    }

    /// The same options with or without positions.
    #[must_use]
    pub fn with_offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// The same options with room for this many more chunks.
    #[must_use]
    pub fn with_append_slots(mut self, slots: u64) -> Self {
        self.append_slots = Some(slots);
        self
    }

    /// The same options with chunks of this many bytes.
    #[must_use]
    pub fn with_chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// The same options for a file that is going to hold this many bytes.
    #[must_use]
    pub fn with_expected_len(mut self, bytes: u64) -> Self {
        self.expected_len = Some(bytes);
        self
    }

    /// The same options with metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Json>) -> Self {
        self.metadata = Some(metadata.into());
        self
    }

    /// The same options with another way of storing metadata.
    #[must_use]
    pub fn with_metadata_options(mut self, options: MetadataOptions) -> Self {
        self.metadata_options = options;
        self
    }

    /// The same options for an array of NumPy: type, shape and order become the metadata, and its
    /// items those of the chunks.
    #[must_use]
    pub fn with_array(mut self, array: &PackArray) -> Self {
        self.metadata = Some(array.to_json());
        self.compress.item_size = array.dtype.item_size().max(1);
        self.expected_len = array.byte_len();
        self
    }

    /// The same options with this much room after each object, in per cent of the bytes of its
    /// chunk and digest: with 100 an object that takes as many bytes fits there when it is
    /// replaced.
    #[must_use]
    pub fn with_reserve(mut self, percent: u32) -> Self {
        self.reserve = percent;
        self
    }

    /// The bytes of a chunk: whole items, as bloscpack demands of arrays.
    pub(super) fn cut(&self) -> Result<usize> {
        let item = self.compress.item_size.max(1);
        let size = self.chunk_size - self.chunk_size % item;
        match self.chunk_size {
            0 => Err(Error::invalid("a chunk of 0 bytes")),
            wanted if wanted > MAX_CHUNK => {
                Err(Error::limit(format!("a chunk of {wanted} bytes, the most is {MAX_CHUNK}")))
            }
            _ if item > MAX_CHUNK => Err(Error::limit(format!("items of {item} bytes"))),
            _ => Ok(size.max(item)),
        }
    }

    /// The header of a file without chunks.
    pub(super) fn header(&self) -> Result<PackHeader> {
        if self.reserve > 0 && !self.varlen {
            return Err(Error::invalid(
                "bytes are left free after objects only: other chunks follow each other",
            ));
        }
        let mut header = PackHeader::empty(if self.varlen { 4 } else { 3 }, self.checksum);
        header.offsets = self.offsets || self.varlen;
        header.varlen = self.varlen;
        header.item_size = u8::try_from(self.compress.item_size).unwrap_or(1);
        header.chunk_size = if self.varlen { None } else { Some(self.cut()?) };
        Ok(header)
    }

    pub(super) fn policy(&self) -> Policy {
        Policy {
            slots: self.append_slots,
            metadata: self.metadata_options.clone(),
            reserve: if self.varlen { self.reserve } else { 0 },
        }
    }

    /// How many chunks are expected.
    pub(super) fn expected_chunks(&self) -> Result<u64> {
        Ok(match self.expected_len {
            _ if self.varlen => EXPECTED,
            Some(len) => len.div_ceil(self.cut()? as u64).max(1),
            None => EXPECTED,
        })
    }
}
