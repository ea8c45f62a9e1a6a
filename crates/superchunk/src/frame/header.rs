//! The header of a frame: fixed fields, then the metalayers.
//!
//! ```text
//!  0    1    2            10   11           15   16          24   25      26     27      28
//! ┌────┬────┬────────────┬────┬────────────┬────┬───────────┬────┬───────┬──────┬───────┬───────┐
//! │ 9e │ a8 │ "b2frame\0"│ d2 │ header_len │ cf │ frame_len │ a4 │ flags │ type │ codec │ other │
//! └────┴────┴────────────┴────┴────────────┴────┴───────────┴────┴───────┴──────┴───────┴───────┘
//!  29   30       38   39       47   48         52   53          57   58          62   63      65
//! ┌────┬────────┬────┬────────┬────┬──────────┬────┬───────────┬────┬───────────┬────┬───────┬────
//! │ d3 │ nbytes │ d3 │ cbytes │ d2 │ typesize │ d2 │ blocksize │ d2 │ chunksize │ d1 │ tcomp │ d1
//! └────┴────────┴────┴────────┴────┴──────────┴────┴───────────┴────┴───────────┴────┴───────┴────
//!  66        68           69   70   71           77        78           79               85    87
//! ┌─────────┬────────────┬────┬───┬────────────┬─────────┬────────────┬─────────────────┬───────┐
//! │ tdecomp │ has_vlmeta │ d8 │ 6 │ filters[6] │ udcodec │ codec_meta │ filters_meta[6] │ flags2│
//! └─────────┴────────────┴────┴───┴────────────┴─────────┴────────────┴─────────────────┴───────┘
//! ```
//!
//! All integers are big endian. The dialects before 2021 end differently, see [`Dialect`] and
//! `docs/formats/cframe.md`.

use super::dialect::Dialect;
use super::{Kind, index, layers};
use crate::container::{ChunkSize, Contents, Layer, Params};
use crate::error::{Error, Result};
use crate::wire::Reader;

/// The bytes that tell how long the header is, and which dialect.
pub(super) const START: usize = 26;
const MAGIC: &[u8; 8] = b"b2frame\0";
const MAGIC_AT: usize = 2;
/// The marks of the fields behind it that every dialect has.
const MARKS: [(usize, u8); 8] = [
    (10, 0xd2),
    (15, 0xcf),
    (24, 0xa4),
    (29, 0xd3),
    (38, 0xd3),
    (47, 0xd2),
    (52, 0xd2),
    (57, 0xd2),
];
/// Where the length of the header stands.
pub(super) const LEN_AT: usize = 11;
const NEWEST_VERSION: u8 = 3;
const VARIABLE: u8 = 0x40;
const VL_BLOCKS: u8 = 0x80;
const LARGEST_ITEM: usize = 536_866_816;

/// A checked header.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(super) dialect: Dialect,
    pub(super) kind: Kind,
    pub(super) header_len: u64,
    pub(super) frame_len: u64,
    pub(super) nbytes: u64,
    /// Contiguous: the length of the space for chunks. Sparse: the sum of their lengths.
    pub(super) cbytes: u64,
    pub(super) typesize: usize,
    pub(super) chunksize: ChunkSize,
    pub(super) vl_blocks: bool,
    /// The bytes of an index entry: as stated, or, in a frame that was opened, as found.
    pub(super) entry_len: usize,
    pub(super) params: Params,
    pub(super) metalayers: Vec<Layer>,
}

/// What the first bytes say before the rest is at hand.
pub(super) struct Start {
    pub(super) dialect: Dialect,
    pub(super) header_len: usize,
    pub(super) frame_len: u64,
}

/// Makes the first bytes of a header say that it is one, if the marks of all fields are in their
/// places; returns whether they did not.
pub(super) fn set_magic(bytes: &mut [u8]) -> bool {
    let is_marked = MARKS.iter().all(|(at, mark)| bytes.get(*at) == Some(mark));
    let place = bytes.get_mut(MAGIC_AT..).and_then(|bytes| bytes.first_chunk_mut());
    let place = place.filter(|_| is_marked);
    place.is_some_and(|place| std::mem::replace(place, *MAGIC) != *MAGIC)
}

impl Start {
    /// Reads the first [`START`] bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new("frame", bytes);
        let elements = reader.u8("magic")?;
        reader.u8("magic")?;
        if reader.array("magic")? != *MAGIC {
            return Err(Error::corrupt("this is no frame: it does not say `b2frame`")
                .at("frame", "magic", 2));
        }
        reader.u8("header_len")?;
        let header_len = reader.i32_be("header_len")?;
        reader.u8("frame_len")?;
        let frame_len = reader.u64_be("frame_len")?;
        reader.u8("general_flags")?;
        let flags = reader.u8("general_flags")?;
        let dialect = Dialect::of(elements, flags)?;
        let least = dialect.fixed_len();
        let header_len =
            usize::try_from(header_len).ok().filter(|len| *len >= least).ok_or_else(|| {
                Error::corrupt(format!("{header_len} bytes do not hold the {least} fixed ones")).at(
                    "frame",
                    "header_len",
                    11,
                )
            })?;
        if i64::try_from(frame_len).is_err() || frame_len < header_len as u64 {
            return Err(Error::corrupt(format!(
                "a frame of {frame_len} bytes does not hold a header of {header_len}"
            ))
            .at("frame", "frame_len", 16));
        }
        Ok(Self { dialect, header_len, frame_len })
    }
}

impl Header {
    /// Reads a header that `bytes` hold whole.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let start = Start::parse(bytes)?;
        let bytes = Reader::new("frame", bytes).take("header_len", start.header_len)?;
        let byte = |at: usize| Reader::new("frame", bytes).seek(at);
        let (flags, sides) = (byte(25).u8("general_flags")?, byte(26).array::<3>("frame_type")?);
        let [frame_type, codec, other] = sides;
        let fixed = start.dialect.parse_rest(bytes)?;
        let chunksize = match fixed.chunksize {
            -1 => ChunkSize::Open,
            0 => ChunkSize::Variable,
            size => ChunkSize::Fixed(usize::try_from(size).map_err(|_| {
                Error::corrupt(format!("{size} is no chunk size")).at("frame", "chunksize", 58)
            })?),
        };
        let header = Self {
            dialect: start.dialect,
            kind: start.dialect.kind(frame_type)?,
            header_len: start.header_len as u64,
            frame_len: start.frame_len,
            nbytes: length(byte(30), "nbytes", 30)?,
            cbytes: length(byte(39), "cbytes", 39)?,
            typesize: usize::try_from(byte(48).i32_be("typesize")?).unwrap_or(0),
            chunksize,
            vl_blocks: flags & VL_BLOCKS != 0,
            entry_len: index::stated_entry_len(flags),
            params: fixed.params(codec, other)?,
            metalayers: start.dialect.parse_metalayers(bytes)?,
        };
        header.check(flags)?;
        Ok(header)
    }

    fn check(&self, flags: u8) -> Result<()> {
        let version = flags & 0x0f;
        if self.dialect == Dialect::Modern && version > NEWEST_VERSION {
            return Err(Error::unsupported(format!(
                "version {version} of the format is newer than {NEWEST_VERSION}"
            ))
            .at("frame", "general_flags", 25));
        }
        if self.typesize == 0 || self.typesize > LARGEST_ITEM {
            return Err(Error::corrupt(format!("items have 1 to {LARGEST_ITEM} bytes"))
                .at("frame", "typesize", 48));
        }
        if self.nbytes > 0 && self.chunksize == ChunkSize::Open {
            return Err(Error::corrupt(format!("{} bytes in chunks of no size", self.nbytes)).at(
                "frame",
                "chunksize",
                58,
            ));
        }
        Ok(())
    }

    /// The header of `contents` in a frame of this kind; the lengths are still to be set.
    pub(super) fn of(contents: &Contents, dialect: Dialect, kind: Kind) -> Self {
        Self {
            dialect,
            kind,
            header_len: 0,
            frame_len: 0,
            nbytes: contents.nbytes,
            cbytes: 0,
            typesize: contents.item_size,
            chunksize: contents.chunk_size,
            vl_blocks: contents.vl_blocks,
            entry_len: index::ENTRY_LEN,
            params: contents.params.clone(),
            metalayers: contents.metalayers.clone(),
        }
    }

    /// The bytes of the header; `has_vlmeta` says whether the trailer holds any values.
    pub(super) fn to_bytes(&self, has_vlmeta: bool) -> Result<Vec<u8>> {
        let too_large = |_| Error::limit("a number does not fit the header of the frame");
        let mut out = Vec::with_capacity(128);
        out.extend([self.dialect.first_byte(), 0xa8]);
        out.extend(MAGIC);
        out.extend([0xd2, 0, 0, 0, 0, 0xcf]);
        out.extend(self.frame_len.to_be_bytes());
        let codec = self.params.codec.min(6) | self.params.level << 4;
        let other = self.params.splitmode.saturating_sub(1) & 3;
        out.push(0xa4);
        out.extend(self.dialect.flag_bytes(self.general_flags(), self.kind, codec, other));
        for length in [self.nbytes, self.cbytes] {
            out.push(0xd3);
            out.extend(i64::try_from(length).map_err(too_large)?.to_be_bytes());
        }
        out.push(0xd2);
        out.extend(i32::try_from(self.typesize).map_err(too_large)?.to_be_bytes());
        let chunksize = match self.chunksize {
            ChunkSize::Open => -1,
            ChunkSize::Variable => 0,
            ChunkSize::Fixed(size) => i32::try_from(size).map_err(too_large)?,
        };
        self.dialect.write_rest(&self.params, chunksize, has_vlmeta, &mut out)?;
        layers::write(&self.metalayers, 0, &mut out)?;
        let header_len = i32::try_from(out.len()).map_err(too_large)?.to_be_bytes();
        for (byte, stored) in out.iter_mut().skip(11).zip(header_len) {
            *byte = stored;
        }
        Ok(out)
    }

    fn general_flags(&self) -> u8 {
        let variable = if self.chunksize == ChunkSize::Variable { VARIABLE } else { 0 };
        let vl_blocks = if self.vl_blocks { VL_BLOCKS } else { 0 };
        let version = if variable | vl_blocks != 0 { 3 } else { 2 };
        version | 0x10 | variable | vl_blocks
    }

    /// What the header says about the index.
    pub(super) fn stated_index(&self) -> index::Stated {
        index::Stated { count: self.chunk_count(), entry_len: Some(self.entry_len) }
    }

    /// The number of chunks, where the header tells it.
    fn chunk_count(&self) -> Option<u64> {
        match self.chunksize {
            ChunkSize::Open => Some(0),
            ChunkSize::Fixed(size) => Some(self.nbytes.div_ceil(size as u64)),
            ChunkSize::Variable if self.nbytes == 0 => Some(0),
            ChunkSize::Variable => None,
        }
    }
}

fn length(mut reader: Reader<'_>, field: &'static str, at: usize) -> Result<u64> {
    let stored = reader.i64_be(field)?;
    u64::try_from(stored)
        .map_err(|_| Error::corrupt(format!("{stored} is negative")).at("frame", field, at))
}
