//! The header of a Bloscpack file: 16 bytes in version 1, 32 in all later ones.
//!
//! ```text
//!      0    4  5  6  7  8            16
//!    1 blpk 1  0  0  0  nchunks i64
//!      0    4  5  6  7  8           12          16           24                  32
//!    2 blpk 2  op ck ts chunk_size  last_chunk  nchunks i64  reserved 0
//!    3 blpk 3  op ck ts chunk_size  last_chunk  nchunks i64  max_app_chunks i64
//!    4 blpk 4  op ck ts chunk_size  last_chunk  nchunks i64  meta_size u32 · 0 u32
//!
//! op  bit 0 offsets · bit 1 metadata (from 3 on) · bit 2 variable length (4; read in 3, too)
//! ck  the digest behind each chunk · ts  bytes of an item
//! ```
//!
//! −1 stands for unknown. See `docs/formats/bloscpack.md`.

use super::checksum::Checksum;
use crate::error::{Error, Result};
use crate::wire::Reader;

/// What every file begins with.
pub(crate) const MAGIC: &[u8; 4] = b"blpk";
/// The length of a header of version 2 and later.
pub(crate) const LEN: usize = 32;
/// The most bytes that a chunk of Blosc can hold.
pub(crate) const MAX_CHUNK: usize = 2_147_483_631;

const LEN_1: usize = 16;
const OFFSETS: u8 = 1;
const METADATA: u8 = 2;
const VARLEN: u8 = 4;
const FORMAT: &str = "bloscpack";

/// What the header of a Bloscpack file says.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackHeader {
    /// The version, 1 to 4.
    pub version: u8,
    /// Whether the positions of the chunks are listed.
    pub offsets: bool,
    /// Whether there is metadata.
    pub metadata: bool,
    /// Whether every chunk is one object.
    pub varlen: bool,
    /// What follows each chunk.
    pub checksum: Checksum,
    /// The bytes of an item; each chunk says its own.
    pub item_size: u8,
    /// The bytes of each chunk but the last, if known and uniform.
    pub chunk_size: Option<usize>,
    /// The bytes of the last chunk, if known.
    pub last_chunk: Option<usize>,
    /// The number of chunks, if known.
    pub chunk_count: Option<u64>,
    /// How many more positions can be listed (version 3).
    pub append_slots: u64,
    /// The bytes of the metadata (version 4).
    pub meta_size: u32,
}

impl PackHeader {
    /// The header of a file of which nothing is known.
    pub(crate) fn empty(version: u8, checksum: Checksum) -> Self {
        Self {
            version,
            offsets: false,
            metadata: false,
            varlen: false,
            checksum,
            item_size: 0,
            chunk_size: None,
            last_chunk: None,
            chunk_count: None,
            append_slots: 0,
            meta_size: 0,
        }
    }

    /// Reads the header at the start of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(FORMAT, bytes);
        match &reader.array("magic")? {
            magic if magic == MAGIC => {}
            b"BLP1" | b"BLP2" => {
                let words = "this is a texture of Blizzard's games, which have the same extension";
                return Err(Error::unsupported(words).at(FORMAT, "magic", 0));
            }
            _ => return Err(Error::corrupt("it does not begin with `blpk`").at(FORMAT, "magic", 0)),
        }
        match reader.u8("version")? {
            1 => Self::parse_1(reader),
            version @ 2..=4 => Self::parse_2_to_4(reader, version),
            version => Err(Error::unsupported(format!(
                "version {version} is not known, 1 to 4 are: it needs a newer superchunk, or is damaged"
            ))
            .at(FORMAT, "version", 4)),
        }
    }

    fn parse_1(mut reader: Reader<'_>) -> Result<Self> {
        if reader.array::<3>("reserved")? != [0; 3] {
            return Err(Error::corrupt("reserved bytes are not 0").at(FORMAT, "reserved", 5));
        }
        Ok(Self { chunk_count: count(&mut reader)?, ..Self::empty(1, Checksum::None) })
    }

    fn parse_2_to_4(mut reader: Reader<'_>, version: u8) -> Result<Self> {
        let options = reader.u8("options")?;
        let known = if version == 2 { OFFSETS } else { OFFSETS | METADATA | VARLEN };
        if options & !known != 0 {
            return Err(Error::corrupt(format!(
                "bits {options:#04x}, only {known:#04x} are defined"
            ))
            .at(FORMAT, "options", 5));
        }
        let checksum = reader.u8("checksum")?;
        let checksum = Checksum::from_id(checksum).ok_or_else(|| {
            Error::corrupt(format!("{checksum} is no checksum")).at(FORMAT, "checksum", 6)
        })?;
        let mut header = Self {
            offsets: options & OFFSETS != 0,
            metadata: options & METADATA != 0,
            varlen: options & VARLEN != 0,
            item_size: reader.u8("typesize")?,
            chunk_size: size(&mut reader, "chunk_size")?,
            last_chunk: size(&mut reader, "last_chunk")?,
            chunk_count: count(&mut reader)?,
            ..Self::empty(version, checksum)
        };
        if header.is_proposal() {
            header.meta_size = u32::from_le_bytes(reader.array("meta_size")?);
            reserved(reader.array::<4>("reserved")? == [0; 4], 28)?;
        } else if version == 2 {
            reserved(reader.array::<8>("reserved")? == [0; 8], 24)?;
        } else {
            header.append_slots = slots(&mut reader)?;
        }
        header.check()?;
        Ok(header)
    }

    /// Whether bytes 24 to 31 and the metadata are those of the variable-length proposal.
    pub(crate) fn is_proposal(&self) -> bool {
        self.version == 4 || self.varlen
    }

    /// The bytes of the header itself.
    pub(crate) fn stored_len(&self) -> u64 {
        if self.version == 1 { LEN_1 as u64 } else { LEN as u64 }
    }

    /// How many positions the file has room for, if they are listed.
    pub(crate) fn table_slots(&self) -> u64 {
        match self.offsets {
            true => self.chunk_count.unwrap_or(0).saturating_add(self.append_slots),
            false => 0,
        }
    }

    /// What the fields say about each other.
    fn check(&self) -> Result<()> {
        let wrong =
            |words: &'static str, field, at| Err(Error::corrupt(words).at(FORMAT, field, at));
        if self.offsets && self.chunk_count.is_none() {
            return wrong(
                "unknown, but as many offsets are there: the chunks cannot be found",
                "nchunks",
                16,
            );
        }
        if self.append_slots > 0 && self.chunk_count.is_none() {
            return wrong(
                "there is room for more chunks than an unknown number",
                "max_app_chunks",
                24,
            );
        }
        if self
            .chunk_count
            .unwrap_or(0)
            .checked_add(self.append_slots)
            .is_none_or(|sum| sum > MAX_COUNT)
        {
            return wrong("more chunks than 63 bits can count", "max_app_chunks", 24);
        }
        if self.version > 2
            && self.last_chunk.zip(self.chunk_size).is_some_and(|(last, all)| last > all)
        {
            return wrong("the last chunk is larger than all others", "last_chunk", 12);
        }
        if self.is_proposal() && self.metadata != (self.meta_size > 0) {
            return wrong(
                "metadata is announced without a size, or a size without it",
                "meta_size",
                24,
            );
        }
        if self.varlen && !self.offsets {
            return wrong(
                "objects of any length are found by offsets, which are missing",
                "options",
                5,
            );
        }
        if self.varlen && self.chunk_size.is_some() {
            return wrong("objects of any length cannot have a size in common", "chunk_size", 8);
        }
        Ok(())
    }

    /// The header as it is stored; versions 3 and 4 only.
    pub(crate) fn to_bytes(&self) -> [u8; LEN] {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let options =
            bit(self.offsets, OFFSETS) | bit(self.metadata, METADATA) | bit(self.varlen, VARLEN);
        let size =
            |size: Option<usize>| size.and_then(|size| i32::try_from(size).ok()).unwrap_or(-1);
        let count = self.chunk_count.and_then(|count| i64::try_from(count).ok()).unwrap_or(-1);
        let last = match self.is_proposal() {
            true => u64::from(self.meta_size),
            false => self.append_slots,
        };
        let mut bytes = [0; LEN];
        let fields = MAGIC
            .iter()
            .copied()
            .chain([self.version, options, self.checksum.id(), self.item_size])
            .chain(size(self.chunk_size).to_le_bytes())
            .chain(size(self.last_chunk).to_le_bytes())
            .chain(count.to_le_bytes())
            .chain(last.to_le_bytes());
        bytes.iter_mut().zip(fields).for_each(|(place, byte)| *place = byte);
        bytes
    }
}

/// The most chunks that can be counted.
const MAX_COUNT: u64 = i64::MAX as u64;

fn reserved(is_zero: bool, at: usize) -> Result<()> {
    match is_zero {
        true => Ok(()),
        false => Err(Error::corrupt("reserved bytes are not 0").at(FORMAT, "reserved", at)),
    }
}

fn size(reader: &mut Reader<'_>, field: &'static str) -> Result<Option<usize>> {
    let at = reader.position();
    match reader.i32(field)? {
        -1 => Ok(None),
        stored => match usize::try_from(stored).ok().filter(|size| *size <= MAX_CHUNK) {
            Some(size) => Ok(Some(size)),
            None => {
                Err(Error::corrupt(format!("{stored} is no size of a chunk")).at(FORMAT, field, at))
            }
        },
    }
}

fn count(reader: &mut Reader<'_>) -> Result<Option<u64>> {
    let at = reader.position();
    match reader.i64("nchunks")? {
        -1 => Ok(None),
        stored => match u64::try_from(stored) {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(Error::corrupt(format!("{stored} is no number of chunks"))
                .at(FORMAT, "nchunks", at)),
        },
    }
}

fn slots(reader: &mut Reader<'_>) -> Result<u64> {
    let stored = reader.i64("max_app_chunks")?;
    u64::try_from(stored).map_err(|_| {
        Error::corrupt(format!("{stored} is no number of chunks")).at(FORMAT, "max_app_chunks", 24)
    })
}

#[cfg(test)]
mod tests;
