//! The stored parts of a Bloscpack file, field by field. Nothing is checked here.

use std::path::Path;

use superchunk::bloscpack::{Checksum, Pack};
use superchunk::store::{FileReader, ReadAt};

use super::{Field, Layout, chunk_fields, fields_at, hex, list, little, signed, text};
use crate::failure::{Failure, Outcome};
use crate::memory::to_usize;

/// The bytes of the header of version 2 and later.
const HEADER_LEN: usize = 32;
/// The bytes of the header of the metadata.
const META_LEN: usize = 32;

/// The fields of the header, versions 2 to 4; the last ones only in some of them.
const HEADER: [Layout; 8] = [
    ("magic", 0, 4, text),
    ("version", 4, 1, little),
    ("options", 5, 1, options),
    ("checksum", 6, 1, checksum),
    ("typesize", 7, 1, little),
    ("chunk_size", 8, 4, signed),
    ("last_chunk", 12, 4, signed),
    ("nchunks", 16, 8, signed),
];
const VERSION_1: [Layout; 4] = [
    ("magic", 0, 4, text),
    ("version", 4, 1, little),
    ("reserved", 5, 3, hex),
    ("nchunks", 8, 8, signed),
];
const VERSION_2: [Layout; 1] = [("reserved", 24, 8, hex)];
const VERSION_3: [Layout; 1] = [("max_app_chunks", 24, 8, signed)];
const PROPOSAL: [Layout; 2] = [("meta_size", 24, 4, little), ("reserved", 28, 4, hex)];
const METADATA: [Layout; 9] = [
    ("magic_format", 0, 8, text),
    ("meta_options", 8, 1, hex),
    ("meta_checksum", 9, 1, checksum),
    ("meta_codec", 10, 1, little),
    ("meta_level", 11, 1, little),
    ("meta_size", 12, 4, little),
    ("max_meta_size", 16, 4, little),
    ("meta_comp_size", 20, 4, little),
    ("user_codec", 24, 8, list),
];

/// The fields of the header, and of that of the metadata.
pub(crate) fn header_fields(path: &Path) -> Outcome<Vec<Field>> {
    let file = FileReader::open(path)?;
    let mut start = vec![0; HEADER_LEN + META_LEN];
    let found = file.read_at(0, &mut start)?;
    start.truncate(found);
    let (version, bits) = (start.get(4).copied(), start.get(5).copied().unwrap_or(0));
    if version == Some(1) {
        return Ok(fields_at(&start, VERSION_1.iter(), 0));
    }
    let mut fields = fields_at(&start, HEADER.iter(), 0);
    let is_proposal = version == Some(4) || bits & 4 != 0;
    let rest: &[Layout] = match version {
        _ if is_proposal => &PROPOSAL,
        Some(2) => &VERSION_2,
        _ => &VERSION_3,
    };
    fields.extend(fields_at(&start, rest.iter(), 0));
    let behind = start.get(HEADER_LEN..).unwrap_or_default();
    if bits & 2 != 0 && is_proposal {
        fields.push(metadata_text(&file, start.get(24..28).unwrap_or_default())?);
    } else if bits & 2 != 0 {
        fields.extend(fields_at(behind, METADATA.iter(), HEADER_LEN as u64));
    }
    Ok(fields)
}

/// Where the positions of chunks are listed, if they are.
pub(crate) fn index_start(pack: &Pack) -> Option<u64> {
    let header = pack.header();
    let metadata = match pack.metadata_header() {
        Some(stored) => (META_LEN + stored.checksum.len()) as u64 + u64::from(stored.room),
        None => u64::from(header.meta_size),
    };
    header.offsets.then_some(HEADER_LEN as u64 + metadata)
}

/// The fields of the header of a chunk, and the digest behind the chunk.
pub(crate) fn chunk(path: &Path, pack: &Pack, number: usize) -> Outcome<Vec<Field>> {
    let Some(position) = pack.chunk_position(number) else {
        let words = format!("there is no chunk {number}: `{}` has fewer", path.display());
        return Err(Failure::usage(words));
    };
    let file = FileReader::open(path)?;
    let mut start = [0; 16];
    file.read_exact_at(position, &mut start)?;
    let mut fields = chunk_fields(&start, position);
    let digest = pack.header().checksum;
    if digest != Checksum::None {
        let stored = start.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let offset = position.saturating_add(u64::from(stored));
        let mut bytes = vec![0; digest.len()];
        let found = file.read_at(offset, &mut bytes)?;
        bytes.truncate(found);
        let value = format!("{} {}", digest.name(), hex(&bytes));
        fields.push(Field { name: "digest", offset, bytes, value });
    }
    Ok(fields)
}

/// The metadata of the variable-length proposal, which is bare text.
fn metadata_text(file: &FileReader, stored: &[u8]) -> Outcome<Field> {
    let len = stored.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let mut bytes = vec![0; to_usize(u64::from(len).min(file.len()?))?];
    let found = file.read_at(HEADER_LEN as u64, &mut bytes)?;
    bytes.truncate(found);
    let value = text(&bytes);
    Ok(Field { name: "metadata", offset: HEADER_LEN as u64, bytes, value })
}

fn options(bytes: &[u8]) -> String {
    let bits = bytes.first().copied().unwrap_or(0);
    let names = ["offsets", "metadata", "variable length"];
    let mut words: Vec<&str> = Vec::new();
    words.extend(
        names.iter().enumerate().filter(|(at, _)| bits >> at & 1 != 0).map(|(_, name)| *name),
    );
    words.extend((bits & !7 != 0).then_some("unknown bits"));
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn checksum(bytes: &[u8]) -> String {
    let id = bytes.first().copied().unwrap_or(0);
    Checksum::ALL
        .get(usize::from(id))
        .map_or_else(|| format!("{id} (unknown)"), |known| known.name().to_lowercase())
}
