//! The metadata of version 3: a section with a header of its own, between the header and the offsets.
//!
//! ```text
//! 0         8   9   10  11  12         16             20              24          32
//! JSON····  opt ck  cod lvl meta_size  max_meta_size  meta_comp_size  user_codec  payload · 0… · digest
//!                                                                                 └ max_meta_size ┘
//! ```
//!
//! The digest is that of the payload, as stored, without the padding. Version 4 has the bare text.

use super::checksum::Checksum;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::store::ReadAt;
use crate::wire::json::{Json, Style};
use crate::wire::{self, Reader};

/// The bytes before the payload.
pub(crate) const LEN: usize = 32;
/// No stream of zlib holds more for each of its bytes.
const BEST_RATIO: u64 = 1032;
const FORMAT: &str = "bloscpack metadata";
const ZLIB: u8 = 1;

/// What the header of the metadata says.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    /// What follows the metadata.
    pub checksum: Checksum,
    /// Whether the text is compressed with zlib.
    pub compressed: bool,
    /// The level it was compressed with, or would have been.
    pub level: u8,
    /// The bytes of the text.
    pub len: u32,
    /// The bytes that the file has room for.
    pub room: u32,
    /// The bytes that the text takes in the file.
    pub stored_len: u32,
}

impl MetadataHeader {
    /// Reads the header of the section.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(FORMAT, bytes);
        let magic: [u8; 8] = reader.array("magic_format")?;
        let (name, padding) = magic.split_at(4);
        let padded = padding == [0; 4] || padding == *b"    ";
        if name != b"JSON" || !padded {
            let words = format!("`{}` is no known format, JSON is", magic.escape_ascii());
            return Err(Error::unsupported(words).at(FORMAT, "magic_format", 0));
        }
        reader.u8("meta_options")?;
        let checksum = reader.u8("meta_checksum")?;
        let checksum = Checksum::from_id(checksum).ok_or_else(|| {
            Error::corrupt(format!("{checksum} is no checksum")).at(FORMAT, "meta_checksum", 9)
        })?;
        let codec = reader.u8("meta_codec")?;
        if codec > ZLIB {
            let words = format!("codec {codec} is not known, 0 and 1 are");
            return Err(Error::unsupported(words).at(FORMAT, "meta_codec", 10));
        }
        let level = reader.u8("meta_level")?;
        let mut size = |field| reader.array(field).map(u32::from_le_bytes);
        let header = Self {
            checksum,
            compressed: codec == ZLIB,
            level,
            len: size("meta_size")?,
            room: size("max_meta_size")?,
            stored_len: size("meta_comp_size")?,
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<()> {
        let wrong = |words: String, field, at| Err(Error::corrupt(words).at(FORMAT, field, at));
        if self.stored_len > self.room {
            let words = format!("{} bytes do not fit the {} there are", self.stored_len, self.room);
            return wrong(words, "meta_comp_size", 20);
        }
        if !self.compressed && self.len != self.stored_len {
            let words =
                format!("{} bytes that are not compressed take {}", self.len, self.stored_len);
            return wrong(words, "meta_size", 12);
        }
        if u64::from(self.len) > 64 + BEST_RATIO * u64::from(self.stored_len) {
            let words = format!("{} bytes cannot be made of {}", self.len, self.stored_len);
            return wrong(words, "meta_size", 12);
        }
        Ok(())
    }

    /// The bytes of the whole section.
    pub(crate) fn section_len(&self) -> u64 {
        LEN as u64 + u64::from(self.room) + self.checksum.len() as u64
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(b"JSON\0\0\0\0");
        out.extend([0, self.checksum.id(), u8::from(self.compressed), self.level]);
        for size in [self.len, self.room, self.stored_len] {
            out.extend(size.to_le_bytes());
        }
        out.extend([0; 8]);
    }
}

/// Reads the section at byte `start` of a file of `len` bytes.
pub(crate) fn read(
    store: &dyn ReadAt,
    start: u64,
    len: u64,
    limits: &Limits,
    unchecked: bool,
) -> Result<(MetadataHeader, Json)> {
    let moved = |error: Error| error.moved_by(usize::try_from(start).unwrap_or(0));
    let mut head = [0; LEN];
    let found = store.read_at(start, &mut head)?;
    let header = MetadataHeader::parse(wire::filled(&head, found)?).map_err(moved)?;
    let end = start.saturating_add(header.section_len());
    if end > len {
        let error = Error::truncated(format!("the metadata ends at byte {end} of {len}"));
        return Err(moved(error.at(FORMAT, "max_meta_size", 16)));
    }
    limits.check_parsed("metadata", u64::from(header.len.max(header.stored_len)))?;
    let mut payload = vec![0; usize::try_from(header.stored_len).unwrap_or(0)];
    store.read_exact_at(start + LEN as u64, &mut payload)?;
    let mut digest = vec![0; header.checksum.len()];
    store.read_exact_at(end - digest.len() as u64, &mut digest)?;
    if !unchecked {
        header
            .checksum
            .compare(&payload, &digest)
            .map_err(|error| error.at(FORMAT, "digest", 0))?;
    }
    let text = match header.compressed {
        true => inflate(&payload, usize::try_from(header.len).unwrap_or(0)).map_err(moved)?,
        false => payload,
    };
    let json = parse_text(text).map_err(moved)?;
    Ok((header, json))
}

/// The bare text that version 4 has behind its header.
pub(crate) fn read_bare(
    store: &dyn ReadAt,
    start: u64,
    len: u64,
    size: u32,
    limits: &Limits,
) -> Result<Json> {
    if start.saturating_add(u64::from(size)) > len {
        return Err(Error::truncated(format!(
            "{size} bytes of metadata do not fit a file of {len}"
        ))
        .at("bloscpack", "meta_size", 24));
    }
    limits.check_parsed("metadata", u64::from(size))?;
    let mut text = vec![0; usize::try_from(size).unwrap_or(0)];
    store.read_exact_at(start, &mut text)?;
    parse_text(text)
}

/// How metadata is stored.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataOptions {
    /// What follows it. Adler-32 by default.
    pub checksum: Checksum,
    /// Whether to compress it with zlib where that is not longer. True by default.
    pub compressed: bool,
    /// The level of zlib, 0 to 9. 6 by default.
    pub level: u8,
    /// The bytes to keep for it; `None` for ten times what it has, but no more than lets header and
    /// metadata change in one write, if it fits there.
    pub room: Option<u32>,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self { checksum: Checksum::Adler32, compressed: true, level: 6, room: None }
    }
}

/// The whole section of a value, padding and digest included.
pub(crate) fn write(json: &Json, options: &MetadataOptions) -> Result<Vec<u8>> {
    let text = json.to_text(Style::Compact).into_bytes();
    let too_long = |_| Error::limit("metadata of more than 4 GiB");
    let len = u32::try_from(text.len()).map_err(too_long)?;
    let packed = if options.compressed { deflate(&text, options.level) } else { None };
    let payload = packed.as_ref().unwrap_or(&text);
    let stored_len = u32::try_from(payload.len()).map_err(too_long)?;
    let room = options.room.unwrap_or_else(|| {
        let in_one_write = super::SECTOR - super::header::LEN - LEN - options.checksum.len();
        let most = u32::try_from(in_one_write).unwrap_or(0);
        let usual = len.saturating_mul(10).max(stored_len);
        if stored_len <= most { usual.min(most) } else { usual }
    });
    if stored_len > room {
        return Err(Error::invalid(format!(
            "the metadata takes {stored_len} bytes, there is room for {room}"
        )));
    }
    let compressed = packed.is_some();
    let (checksum, level) = (options.checksum, options.level.min(9));
    let header = MetadataHeader { checksum, compressed, level, len, room, stored_len };
    let mut section = Vec::new();
    header.write(&mut section);
    section.extend(payload);
    let padding = usize::try_from(room - stored_len).unwrap_or(0);
    section.resize(section.len() + padding, 0);
    header.checksum.append(payload, &mut section);
    Ok(section)
}

fn parse_text(text: Vec<u8>) -> Result<Json> {
    let text = String::from_utf8(text)
        .map_err(|error| Error::corrupt("the text is not UTF-8").because(error))
        .map_err(|error| error.at(FORMAT, "text", LEN))?;
    Json::parse(&text).map_err(|error| match error.kind() {
        // What is a wrong argument of a caller is damage in a file.
        ErrorKind::InvalidArgument => error.of_kind(ErrorKind::Corrupt),
        _ => error,
    })
}

#[cfg(feature = "zlib")]
fn inflate(payload: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut text = vec![0; len];
    crate::codecs::Zlib::new()
        .decompress(payload, &mut text)
        .map_err(|malformed| Error::corrupt(malformed.reason).at(FORMAT, "payload", LEN))?;
    Ok(text)
}

#[cfg(not(feature = "zlib"))]
fn inflate(_payload: &[u8], _len: usize) -> Result<Vec<u8>> {
    Err(Error::unsupported("compressed metadata needs the feature `zlib`"))
}

/// The text as a stream of zlib, unless that is longer.
#[cfg(feature = "zlib")]
fn deflate(text: &[u8], level: u8) -> Option<Vec<u8>> {
    let mut packed = vec![0; text.len()];
    let len = crate::codecs::Zlib::new().compress(level, text, &mut packed)?;
    packed.truncate(len);
    Some(packed)
}

#[cfg(not(feature = "zlib"))]
fn deflate(_text: &[u8], _level: u8) -> Option<Vec<u8>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Bytes;

    fn read_back(section: Vec<u8>) -> Result<(MetadataHeader, Json)> {
        let len = section.len() as u64;
        read(&Bytes::new(section), 0, len, &Limits::default(), false)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let long = Json::from("x".repeat(5000));
        for json in [Json::parse(r#"{"a":1}"#).unwrap(), Json::Null, long] {
            for checksum in Checksum::ALL {
                let options = MetadataOptions { checksum, ..MetadataOptions::default() };
                let section = write(&json, &options).unwrap();
                let (header, back) = read_back(section.clone()).unwrap();
                assert_eq!(back, json);
                assert_eq!(header.section_len(), section.len() as u64);
            }
        }
    }

    #[test]
    fn a_small_text_is_stored_as_bloscpack_stores_it() {
        let json = Json::parse(r#"{"a":1}"#).unwrap();
        let section = write(&json, &MetadataOptions::default()).unwrap();
        let mut expected = b"JSON\0\0\0\0\0\x01\0\x06\x07\0\0\0\x46\0\0\0\x07\0\0\0".to_vec();
        expected.extend([0; 8]);
        expected.extend(b"{\"a\":1}");
        expected.resize(32 + 70, 0);
        expected.extend([0x09, 0x02, 0x2A, 0x08]);
        assert_eq!(section, expected);
        // The README speaks of blanks.
        let blanks = [b"JSON    ", &section[8..]].concat();
        assert_eq!(read_back(blanks).unwrap().1, json);
    }

    #[test]
    fn damage_is_told_from_what_is_not_known() {
        let json = Json::from("y".repeat(300));
        let section = write(&json, &MetadataOptions::default()).unwrap();
        let kind = |at: usize, value: u8| {
            let mut bad = section.clone();
            bad[at] = value;
            read_back(bad).unwrap_err().kind()
        };
        assert_eq!(kind(0, b'X'), ErrorKind::Unsupported);
        assert_eq!(kind(9, 9), ErrorKind::Corrupt);
        assert_eq!(kind(10, 2), ErrorKind::Unsupported);
        assert_eq!(kind(12, 1), ErrorKind::Corrupt);
        assert_eq!(kind(15, 255), ErrorKind::Corrupt);
        assert_eq!(kind(19, 255), ErrorKind::Truncated);
        assert_eq!(kind(23, 255), ErrorKind::Corrupt);
        assert_eq!(kind(33, 0), ErrorKind::Corrupt);
        for len in 0..section.len() {
            let error = read_back(section[..len].to_vec()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{len} bytes");
        }
        let small = Limits::default().with_max_metadata(100);
        let len = section.len() as u64;
        let error = read(&Bytes::new(section), 0, len, &small, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }
}
