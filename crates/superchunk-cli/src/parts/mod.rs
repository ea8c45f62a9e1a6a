//! The stored parts of frames, Bloscpack files and chunks, field by field, with the bytes of each.
//!
//! Nothing is checked here: this is what people look at when a file cannot be opened.

pub(crate) mod pack;

use std::path::Path;

use superchunk::store::{FileReader, ReadAt};
use superchunk::{Error, Value};

use crate::failure::Outcome;
use crate::memory::{Memory, to_usize};
use crate::output::object;

/// How much of a header or trailer is looked at.
const MOST: u64 = 1 << 24;
/// The end of a trailer: mark, length, mark, type, fingerprint.
const TRAILER_END: u64 = 23;

/// One field: where it is, its bytes, and what they mean.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// From the start of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) value: String,
}

impl Field {
    /// The field as part of a JSON document.
    pub(crate) fn to_json(&self) -> Value {
        let hex: String = self.bytes.iter().take(64).map(|byte| format!("{byte:02x}")).collect();
        object([
            ("field", self.name.into()),
            ("offset", self.offset.into()),
            ("length", (self.bytes.len() as u64).into()),
            ("bytes", hex.into()),
            ("value", self.value.clone().into()),
        ])
    }
}

/// How the bytes of a field become words.
type Meaning = fn(&[u8]) -> String;

/// A field of a structure: name, where it begins, its length, what its bytes mean.
pub(crate) type Layout = (&'static str, usize, usize, Meaning);

/// The fixed fields of a modern frame header.
const HEADER: [Layout; 21] = [
    ("elements", 0, 1, hex),
    ("magic", 2, 8, text),
    ("header_len", 11, 4, big),
    ("frame_len", 16, 8, big),
    ("general_flags", 25, 1, general_flags),
    ("frame_type", 26, 1, frame_type),
    ("codec", 27, 1, codec),
    ("other_flags", 28, 1, hex),
    ("nbytes", 30, 8, big),
    ("cbytes", 39, 8, big),
    ("typesize", 48, 4, big),
    ("blocksize", 53, 4, big),
    ("chunksize", 58, 4, big),
    ("tcomp", 63, 2, big),
    ("tdecomp", 66, 2, big),
    ("has_vlmeta", 68, 1, truth),
    ("filters", 71, 6, list),
    ("udcodec", 77, 1, big),
    ("codec_meta", 78, 1, big),
    ("filters_meta", 79, 6, list),
    ("other_flags2", 85, 1, hex),
];

/// The fields of a chunk header; those behind byte 16 only in Blosc2 chunks.
const CHUNK: [Layout; 13] = [
    ("version", 0, 1, little),
    ("versionlz", 1, 1, little),
    ("flags", 2, 1, chunk_flags),
    ("typesize", 3, 1, little),
    ("nbytes", 4, 4, little),
    ("blocksize", 8, 4, little),
    ("cbytes", 12, 4, little),
    ("filters", 16, 6, list),
    ("udcodec", 22, 1, little),
    ("compcode_meta", 23, 1, little),
    ("filters_meta", 24, 6, list),
    ("blosc2_flags2", 30, 1, hex),
    ("blosc2_flags", 31, 1, hex),
];

/// The bytes of a frame outside of its chunks.
pub(crate) struct Envelope {
    file: FileReader,
    head: Vec<u8>,
    /// How much of a trailer is looked at.
    most: u64,
}

impl Envelope {
    /// Reads the header of a frame's file.
    pub(crate) fn open(file: &Path, memory: Memory) -> Outcome<Self> {
        let most = memory.at_most(MOST).max(TRAILER_END);
        let file = FileReader::open(file)?;
        let mut start = [0; 15];
        file.read_exact_at(0, &mut start)?;
        let len = start.get(11..15).map_or(0, number);
        let mut head = vec![0; to_usize(len.clamp(15, most))?];
        let found = file.read_at(0, &mut head)?;
        head.truncate(found);
        Ok(Self { file, head, most })
    }

    /// The fields of the header.
    pub(crate) fn header(&self) -> Vec<Field> {
        let modern = self.head.first() == Some(&0x9e);
        let known = HEADER.iter().filter(|(_, at, ..)| modern || *at < 52);
        let mut fields = fields_at(&self.head, known, 0);
        let end = fields.last().map_or(0, |field| field.offset + field.bytes.len() as u64);
        let (from, name) = if modern { (87, "metalayers") } else { (52, "rest") };
        if let Some(rest) = self.head.get(from..).filter(|rest| !rest.is_empty()) {
            let value = format!("{} bytes of MessagePack", rest.len());
            let offset = end.max(from as u64);
            fields.push(Field { name, offset, bytes: rest.to_vec(), value });
        }
        fields
    }

    fn field(&self, at: usize, len: usize) -> u64 {
        self.head.get(at..at + len).map_or(0, number)
    }

    /// What the header states as the length of the compressed chunks.
    pub(crate) fn cbytes(&self) -> u64 {
        self.field(39, 8)
    }

    /// Where the index begins: behind header and chunks.
    pub(crate) fn index_start(&self) -> u64 {
        let is_sparse = self.head.get(26) == Some(&1);
        let chunks = if is_sparse || self.field(30, 8) == 0 { 0 } else { self.cbytes() };
        self.field(11, 4).saturating_add(chunks)
    }

    /// The fields of the trailer.
    pub(crate) fn trailer(&self) -> Outcome<Vec<Field>> {
        let end = self.field(16, 8).min(self.file.len()?);
        if end < TRAILER_END {
            let words = format!("the frame ends at byte {end}, a trailer has {TRAILER_END} bytes");
            return Err(Error::corrupt(words).at("frame", "frame_len", 16).into());
        }
        let mut last = [0; 23];
        self.file.read_exact_at(end - TRAILER_END, &mut last)?;
        let len = last.get(1..5).map_or(0, number).clamp(TRAILER_END, self.most).min(end);
        let start = end - len;
        let mut bytes = vec![0; to_usize(len)?];
        self.file.read_exact_at(start, &mut bytes)?;
        let tail = bytes.len() - 23;
        let layers = tail.saturating_sub(2);
        let layout: [Layout; 5] = [
            ("version", 1, 1, big),
            ("vlmetalayers", 2, layers, packed),
            ("trailer_len", tail + 1, 4, big),
            ("fingerprint_type", tail + 6, 1, big),
            ("fingerprint", tail + 7, 16, hex),
        ];
        Ok(fields_at(&bytes, layout.iter(), start))
    }

    /// Some bytes of the file.
    pub(crate) fn bytes(&self, start: u64, len: usize) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; len];
        let found = self.file.read_at(start, &mut bytes)?;
        bytes.truncate(found);
        Ok(bytes)
    }
}

/// The fields of a chunk's header, whose first byte is at `base` of the file.
pub(crate) fn chunk_fields(bytes: &[u8], base: u64) -> Vec<Field> {
    let extended = bytes.get(2).is_some_and(|flags| flags & 0x05 == 0x05);
    fields_at(bytes, CHUNK.iter().filter(|(_, at, ..)| extended || *at < 16), base)
}

/// The fields of a structure whose first byte is at `base` of the file, as far as its bytes are there.
pub(crate) fn fields_at<'a>(
    bytes: &[u8],
    layout: impl Iterator<Item = &'a Layout>,
    base: u64,
) -> Vec<Field> {
    let field = |(name, at, len, meaning): &Layout| {
        let bytes = bytes.get(*at..at + len)?.to_vec();
        Some(Field { name, offset: base + *at as u64, value: meaning(&bytes), bytes })
    };
    layout.filter_map(field).collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn big(bytes: &[u8]) -> String {
    // -1 stands for "no chunk yet", and no other number uses the highest bit.
    if bytes.iter().all(|byte| *byte == 0xff) { "-1".to_owned() } else { number(bytes).to_string() }
}

/// An unsigned number, its lowest byte first.
pub(crate) fn little(bytes: &[u8]) -> String {
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    number(&reversed).to_string()
}

/// A number that is −1 where it is unknown, its lowest byte first.
pub(crate) fn signed(bytes: &[u8]) -> String {
    if bytes.iter().all(|byte| *byte == 0xff) { "-1".to_owned() } else { little(bytes) }
}

/// Digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// A number for each byte.
pub(crate) fn list(bytes: &[u8]) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

/// Letters.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn truth(bytes: &[u8]) -> String {
    if bytes == [0xc3] { "true" } else { "false" }.to_owned()
}

fn packed(bytes: &[u8]) -> String {
    format!("{} bytes of MessagePack", bytes.len())
}

fn general_flags(bytes: &[u8]) -> String {
    let flags = bytes.first().copied().unwrap_or(0);
    let mut words = vec![format!("version {}", flags & 0x0f)];
    let entry_bits = 32 << (flags >> 4 & 3);
    words.extend((entry_bits != 64).then(|| format!("index entries of {entry_bits} bits")));
    words.extend((flags & 0x40 != 0).then(|| "variable chunks".to_owned()));
    words.extend((flags & 0x80 != 0).then(|| "variable-length blocks".to_owned()));
    words.join(", ")
}

fn frame_type(bytes: &[u8]) -> String {
    match bytes {
        [0] => "contiguous".to_owned(),
        [1] => "sparse".to_owned(),
        other => format!("{} (unknown)", number(other)),
    }
}

fn codec(bytes: &[u8]) -> String {
    let byte = bytes.first().copied().unwrap_or(0);
    let names = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd", "see udcodec"];
    let name = names.get(usize::from(byte & 0x0f)).unwrap_or(&"unknown");
    format!("{name}, level {}", byte >> 4)
}

fn chunk_flags(bytes: &[u8]) -> String {
    let flags = bytes.first().copied().unwrap_or(0);
    let extended = flags & 0x05 == 0x05;
    let formats = ["blosclz", "lz4", "snappy", "zlib", "zstd", "5", "user codec", "7"];
    let mut words = vec![*formats.get(usize::from(flags >> 5)).unwrap_or(&"unknown")];
    words.push(if extended { "32-byte header" } else { "16-byte header" });
    words.extend((!extended && flags & 0x01 != 0).then_some("shuffle"));
    words.extend((!extended && flags & 0x04 != 0).then_some("bitshuffle"));
    words.extend((flags & 0x02 != 0).then_some("stored"));
    words.extend((flags & 0x08 != 0).then_some("delta"));
    words.extend((flags & 0x10 != 0).then_some("not split"));
    words.join(", ")
}
