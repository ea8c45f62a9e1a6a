//! The header of a chunk: 16 bytes in Blosc1, 32 in Blosc2.
//!
//! ```text
//!  0        1          2      3         4       8          12
//! ┌─────────┬──────────┬──────┬─────────┬───────┬──────────┬────────┐
//! │ version │ versionlz│ flags│ typesize│ nbytes│ blocksize│ cbytes │
//! └─────────┴──────────┴──────┴─────────┴───────┴──────────┴────────┘
//!  16           22        23             24                30      31
//! ┌────────────┬─────────┬───────────────┬─────────────────┬───────┬──────┐
//! │ filters[6] │ udcodec │ compcode_meta │ filters_meta[6] │ flags2│ flags│   Blosc2 only
//! └────────────┴─────────┴───────────────┴─────────────────┴───────┴──────┘
//! ```
//!
//! See `docs/formats/chunk.md#header`.

use super::flags::{Blosc2Flags, Flags, Flags2};
use super::geometry::Geometry;
use crate::codecs::CodecId;
use crate::error::{Error, Result};
use crate::filters::{SLOTS, Slot, Slots};
use crate::options::{Codec, Filter, MAX_BLOCKSIZE};
use crate::wire::{self, Reader};

/// The length of a Blosc1 header.
pub(crate) const BLOSC1_LEN: usize = 16;
/// The length of a Blosc2 header.
pub(crate) const BLOSC2_LEN: usize = 32;
/// The version byte of every C-Blosc 1.
pub(crate) const VERSION_BLOSC1: u8 = 2;
/// The version byte of Blosc2 chunks.
pub(crate) const VERSION_BLOSC2: u8 = 5;
/// The version byte of chunks with variable-length blocks, and the newest known.
pub(crate) const VERSION_VL: u8 = 6;
/// The largest block of a Blosc1 chunk.
const MAX_BLOCKSIZE_BLOSC1: usize = 715_827_542;

/// A checked header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) version: u8,
    pub(crate) extended: bool,
    pub(crate) typesize: u8,
    pub(crate) nbytes: usize,
    /// Bytes of a block; in a chunk of variable-length blocks, their number.
    pub(crate) blocksize: usize,
    pub(crate) cbytes: usize,
    pub(crate) content: Content,
    pub(crate) split: bool,
    pub(crate) codec: CodecId,
    pub(crate) slots: Slots,
    pub(crate) dictionary: bool,
    pub(crate) lazy: bool,
    pub(crate) instrumented: bool,
    pub(crate) repair: Option<Repair>,
}

/// A known mistake of a writer that the reader makes good. See `docs/formats/errata.md`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The stored block size does not hold whole items; the blocks are shorter than it says.
    RoundedBlockSize,
    /// The header announces a dictionary that a chunk without blocks cannot have.
    IgnoredDictionary,
}

/// What follows the header.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Block starts, then compressed blocks of equal length.
    Blocks,
    /// Block starts, then compressed blocks that each state their length.
    VariableBlocks,
    /// The bytes themselves.
    Stored,
    /// Nothing: all bytes are zero.
    Zeros,
    /// Nothing: all items are the same quiet NaN.
    Nans,
    /// One value of this many bytes, which the chunk repeats.
    Value {
        /// The bytes of the value.
        width: usize,
    },
    /// Nothing: the writer left the bytes open. They read as zeros.
    Uninitialised,
}

impl Header {
    /// Reads and checks the header at the start of `bytes`; the rest may be missing.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        // Where no byte can be missing, the compiler leaves out that every field asks for its own:
        // reading a few items of a stored chunk takes hardly longer than reading its header.
        match bytes.first_chunk::<BLOSC2_LEN>() {
            Some(whole) => Self::parse_fields(whole),
            None => Self::parse_fields(bytes),
        }
    }

    #[inline(always)]
    fn parse_fields(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new("chunk", bytes);
        let version = reader.u8("version")?;
        reader.u8("versionlz")?;
        let flags = Flags(reader.u8("flags")?);
        let typesize = reader.u8("typesize")?;
        let mut header = Self {
            version,
            extended: flags.is_extended(),
            typesize,
            nbytes: length(&mut reader, "nbytes")?,
            blocksize: length(&mut reader, "blocksize")?,
            cbytes: length(&mut reader, "cbytes")?,
            content: if flags.has(Flags::STORED) { Content::Stored } else { Content::Blocks },
            split: !flags.has(Flags::DONT_SPLIT),
            codec: CodecId::from_header(flags.codec_format(), None, 0),
            slots: blosc1_slots(flags),
            dictionary: false,
            lazy: false,
            instrumented: false,
            repair: None,
        };
        if header.extended {
            header.parse_extension(&mut reader, flags)?;
        }
        header.check()?;
        header.settle_blocksize();
        Ok(header)
    }

    /// The decoded length in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.nbytes
    }

    /// The length of the whole chunk, header included.
    #[must_use]
    pub fn compressed_len(&self) -> usize {
        self.cbytes
    }

    /// The bytes of an item; 1 when the writer's items had more than 255.
    #[must_use]
    pub fn item_size(&self) -> usize {
        usize::from(self.typesize)
    }

    /// The bytes of a block, the last of which may be shorter; `None` for variable-length blocks.
    #[must_use]
    pub fn block_size(&self) -> Option<usize> {
        (self.content != Content::VariableBlocks).then_some(self.blocksize)
    }

    /// The number of blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        match self.content {
            Content::VariableBlocks => self.blocksize,
            _ => self.nbytes.div_ceil(self.blocksize),
        }
    }

    /// What follows the header.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// The format version byte.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The codec of the streams; `None` for snappy and for undefined codecs.
    #[must_use]
    pub fn codec(&self) -> Option<Codec> {
        self.codec.codec()
    }

    /// The filters in the order they were applied.
    #[must_use]
    pub fn filters(&self) -> Vec<Filter> {
        self.slots.iter().filter_map(|slot| slot.filter()).collect()
    }

    /// Whether the blocks share a dictionary.
    #[must_use]
    pub fn has_dictionary(&self) -> bool {
        self.dictionary
    }

    /// Whether the blocks are split into one stream for each byte of an item.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// What had to be made good to read this chunk: C-Blosc2 itself misreads or refuses it.
    #[must_use]
    pub fn repair(&self) -> Option<Repair> {
        self.repair
    }

    /// The length of the header itself.
    pub(crate) fn header_len(&self) -> usize {
        if self.extended { BLOSC2_LEN } else { BLOSC1_LEN }
    }

    /// The blocks as pieces of the decoded bytes.
    pub(super) fn geometry(&self) -> Geometry {
        Geometry::new(self.nbytes, self.blocksize)
    }

    /// Refuses a chunk that stands for one elsewhere.
    #[inline]
    pub(crate) fn check_not_lazy(&self) -> Result<()> {
        if !self.lazy {
            return Ok(());
        }
        let words = "this is a lazy chunk, whose blocks are elsewhere: read it through LazyChunk";
        Err(Error::invalid(words).at("chunk", "blosc2_flags", 31))
    }

    /// Refuses a buffer that is shorter than the chunk, and cuts what follows it.
    #[inline]
    pub(crate) fn whole_chunk<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8]> {
        self.check_not_lazy()?;
        bytes.get(..self.cbytes).ok_or_else(|| {
            let found = bytes.len();
            Error::truncated(format!("the chunk has {} bytes, {found} are here", self.cbytes))
                .at("chunk", "cbytes", 12)
        })
    }

    /// Whether the chunk can be decoded only with the N-d shape of its blocks, which it does not
    /// store.
    pub(crate) fn needs_block_shape(&self) -> bool {
        let has_blocks = matches!(self.content, Content::Blocks | Content::VariableBlocks);
        has_blocks && !self.instrumented && self.slots.iter().any(|slot| slot.needs_block_shape())
    }

    /// Appends the header to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let has = |id| self.slots.iter().any(|slot| slot.id == id);
        let filter_flags = if self.extended {
            Flags(Flags::EXTENDED).with(Flags::DELTA, has(3))
        } else {
            Flags(0).with(Flags::SHUFFLE, has(1)).with(Flags::BITSHUFFLE, has(2))
        };
        let flags = filter_flags
            .with(Flags::STORED, self.content == Content::Stored)
            .with(Flags::DONT_SPLIT, !self.split)
            .with_codec_format(self.codec.format);
        out.extend([self.version, 1, flags.0, self.typesize]);
        for length in [self.nbytes, self.blocksize, self.cbytes] {
            out.extend(wire::stored(length)?.to_le_bytes());
        }
        if self.extended {
            out.extend(self.slots.map(|slot| slot.id));
            out.extend([self.codec.id, self.codec.meta]);
            out.extend(self.slots.map(|slot| slot.meta));
            let vl = self.content == Content::VariableBlocks;
            out.push(if vl { Flags2::VL_BLOCKS } else { 0 });
            out.push(self.blosc2_flags().0);
        }
        Ok(())
    }

    fn blosc2_flags(&self) -> Blosc2Flags {
        let mut flags = 0;
        for (mask, set) in [
            (Blosc2Flags::DICTIONARY, self.dictionary),
            (Blosc2Flags::LAZY, self.lazy),
            (Blosc2Flags::INSTRUMENTED, self.instrumented),
        ] {
            flags |= if set { mask } else { 0 };
        }
        Blosc2Flags(flags).with_special_id(match self.content {
            Content::Zeros => 1,
            Content::Nans => 2,
            Content::Value { .. } => 3,
            Content::Uninitialised => 4,
            Content::Blocks | Content::VariableBlocks | Content::Stored => 0,
        })
    }

    #[inline(always)]
    fn parse_extension(&mut self, reader: &mut Reader<'_>, flags: Flags) -> Result<()> {
        let ids: [u8; SLOTS] = reader.array("filters")?;
        let udcodec = reader.u8("udcodec")?;
        let codec_meta = reader.u8("compcode_meta")?;
        let metas: [u8; SLOTS] = reader.array("filters_meta")?;
        let flags2 = Flags2(reader.u8("blosc2_flags2")?);
        let blosc2_flags = Blosc2Flags(reader.u8("blosc2_flags")?);
        if self.version > VERSION_VL && flags2.has_reserved_bits() {
            return Err(Error::unsupported(format!(
                "version {} with flags that are not defined yet: it needs a newer superchunk",
                self.version
            ))
            .at("chunk", "version", 0));
        }
        self.codec = CodecId::from_header(flags.codec_format(), Some(udcodec), codec_meta);
        for ((slot, id), meta) in self.slots.iter_mut().zip(ids).zip(metas) {
            *slot = Slot { id, meta };
        }
        if self.version == 3 {
            // Version 3 had five slots; the sixth byte was something else.
            self.slots[SLOTS - 1] = Slot::default();
        }
        self.instrumented = blosc2_flags.has(Blosc2Flags::INSTRUMENTED);
        self.content = self.special_content(flags2, blosc2_flags)?;
        let in_blocks = matches!(self.content, Content::Blocks | Content::VariableBlocks);
        // The reference forgets to clear the bit when it falls back to storing: it then has no
        // dictionary, and nothing would use one.
        let announced = blosc2_flags.has(Blosc2Flags::DICTIONARY);
        self.dictionary = in_blocks && announced;
        self.repair = (announced && !in_blocks).then_some(Repair::IgnoredDictionary);
        self.lazy = blosc2_flags.special_id() == 0 && blosc2_flags.has(Blosc2Flags::LAZY);
        Ok(())
    }

    #[inline]
    fn special_content(&self, flags2: Flags2, blosc2_flags: Blosc2Flags) -> Result<Content> {
        let special = blosc2_flags.special_id();
        let stored = self.content == Content::Stored;
        if flags2.has_vl_blocks() {
            return if special == 0 && !stored {
                Ok(Content::VariableBlocks)
            } else {
                Err(Error::corrupt("variable-length blocks cannot be stored or special").at(
                    "chunk",
                    "blosc2_flags2",
                    30,
                ))
            };
        }
        Ok(match special {
            0 => return Ok(self.content),
            // The reference writes an empty input with a dictionary as stored zeros.
            _ if stored && self.nbytes > 0 => {
                return Err(Error::corrupt("a special chunk cannot be stored at the same time")
                    .at("chunk", "flags", 2));
            }
            1 => Content::Zeros,
            2 => Content::Nans,
            3 => Content::Value { width: self.cbytes.saturating_sub(BLOSC2_LEN) },
            4 => Content::Uninitialised,
            id => {
                return Err(Error::corrupt(format!("special value {id} is not defined")).at(
                    "chunk",
                    "blosc2_flags",
                    31,
                ));
            }
        })
    }

    #[inline(always)]
    fn check(&self) -> Result<()> {
        let at = |field, offset| {
            move |message: String| Err(Error::corrupt(message).at("chunk", field, offset))
        };
        let header_len = self.header_len();
        if self.version == 0 {
            return at("version", 0)("version 0 does not exist".into());
        }
        if self.typesize == 0 {
            return at("typesize", 3)("an item has 0 bytes".into());
        }
        if self.nbytes > i32::MAX as usize - header_len {
            return at("nbytes", 4)(format!("{} bytes do not fit a chunk", self.nbytes));
        }
        let max_blocksize = if self.extended { MAX_BLOCKSIZE } else { MAX_BLOCKSIZE_BLOSC1 };
        if self.blocksize == 0 || self.blocksize > max_blocksize {
            return at("blocksize", 8)(format!("{} is not 1 to {max_blocksize}", self.blocksize));
        }
        if self.cbytes < header_len {
            return at("cbytes", 12)(format!(
                "{} bytes do not hold the header of {header_len}",
                self.cbytes
            ));
        }
        self.check_content()
    }

    #[inline]
    fn check_content(&self) -> Result<()> {
        let header_len = self.header_len();
        let complaint = match self.content {
            Content::Stored if self.cbytes != self.nbytes + header_len => {
                format!("{} bytes cannot store {} after a header", self.cbytes, self.nbytes)
            }
            Content::Nans if !matches!(self.typesize, 4 | 8) => {
                format!("NaN items have 4 or 8 bytes, not {}", self.typesize)
            }
            Content::Nans | Content::Uninitialised
                if !self.nbytes.is_multiple_of(self.item_size()) =>
            {
                format!("{} bytes are not whole items of {}", self.nbytes, self.typesize)
            }
            Content::Value { width }
                if width == 0 || width > self.nbytes || !self.nbytes.is_multiple_of(width) =>
            {
                format!("a value of {width} bytes does not fill {} bytes", self.nbytes)
            }
            _ => return Ok(()),
        };
        Err(Error::corrupt(complaint).at("chunk", "cbytes", 12))
    }

    /// The stored block size can be larger than the data, and C-Blosc2 3.x stores sizes that it
    /// rounds down to whole items without saying so.
    #[inline]
    fn settle_blocksize(&mut self) {
        if self.content == Content::VariableBlocks {
            return;
        }
        if self.nbytes > 0 {
            self.blocksize = self.blocksize.min(self.nbytes);
        }
        let typesize = self.item_size();
        let of_items = self.content == Content::Blocks && !self.instrumented;
        if of_items && self.blocksize > typesize && !self.blocksize.is_multiple_of(typesize) {
            self.blocksize -= self.blocksize % typesize;
            self.repair = Some(Repair::RoundedBlockSize);
        }
    }
}

/// A length field, which is signed in the file and must not be negative.
#[inline(always)]
fn length(reader: &mut Reader<'_>, field: &'static str) -> Result<usize> {
    let offset = reader.position();
    let stored = reader.i32(field)?;
    wire::index(stored)
        .ok_or_else(|| Error::corrupt(format!("{stored} is negative")).at("chunk", field, offset))
}

/// What a 16-byte header says about filters, as slots.
fn blosc1_slots(flags: Flags) -> Slots {
    let slot = |id| Slot { id, meta: 0 };
    let mut slots = Slots::default();
    if flags.has(Flags::DELTA) {
        slots[SLOTS - 2] = slot(3);
    }
    if flags.has(Flags::BITSHUFFLE) {
        slots[SLOTS - 1] = slot(2);
    } else if flags.has(Flags::SHUFFLE) {
        slots[SLOTS - 1] = slot(1);
    }
    slots
}
