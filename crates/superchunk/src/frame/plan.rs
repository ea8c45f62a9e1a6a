//! A frame that is written from front to back: every number is known before the first byte.

use super::dialect::Dialect;
use super::fingerprint::Fingerprint;
use super::header::Header;
use super::seal::{self, RECORD};
use super::sparse::HASHES;
use super::trailer::Trailer;
use super::{Kind, index};
use crate::container::{Contents, Entry, Layer, SUFFIX, append_suffix};
use crate::error::{Error, Result};

/// The parts of a frame that are not chunks, and where the chunks go.
pub(crate) struct Plan {
    pub(super) header: Header,
    /// The bytes of the header.
    pub(crate) head: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// The seal, index and trailer, right behind the chunks.
    pub(crate) tail: Vec<u8>,
    /// Where they begin, from the end of the header.
    chunks_end: u64,
    sealed: bool,
}

impl Plan {
    /// Plans a contiguous frame whose stored chunks, in order, have the lengths `lens` (`None` for
    /// runs). `sealed` adds checksums.
    pub(crate) fn new(
        contents: &Contents,
        dialect: Dialect,
        lens: impl IntoIterator<Item = Option<usize>>,
        sealed: bool,
    ) -> Result<Self> {
        let sealed = sealed && dialect == Dialect::Modern;
        let mut header = Header::of(contents, dialect, Kind::Contiguous);
        let mut position = 0u64;
        let mut entries = Vec::with_capacity(contents.entries.len());
        for (entry, len) in contents.entries.iter().zip(lens) {
            let Some(len) = len else {
                entries.push(*entry);
                continue;
            };
            entries.push(Entry::stored(position));
            position += (len + if sealed { SUFFIX } else { 0 }) as u64;
        }
        if entries.len() != contents.entries.len() {
            return Err(Error::invalid("fewer lengths than chunks"));
        }
        header.cbytes = position;
        let index = index::to_bytes(&entries, contents.check)?;
        let (head, tail) = finish(&mut header, &contents.vlmetalayers, index, sealed)?;
        Ok(Self { header, head, entries, tail, chunks_end: position, sealed })
    }

    /// Makes of a chunk what is written for it.
    pub(crate) fn dress(&self, chunk: &mut Vec<u8>) {
        if self.sealed {
            append_suffix(chunk);
        }
    }

    /// Where seal, index and trailer begin.
    pub(crate) fn tail_start(&self) -> u64 {
        self.header.header_len + self.chunks_end
    }
}

/// Sets the lengths of `header`, and returns its bytes and those of seal, index and trailer. The
/// `cbytes` of the header tells where these go; a seal before the index adds to it.
pub(super) fn finish(
    header: &mut Header,
    vlmetalayers: &[Layer],
    index: Vec<u8>,
    sealed: bool,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let contiguous = header.kind == Kind::Contiguous;
    let record_len = if sealed && contiguous && !index.is_empty() { RECORD } else { 0 };
    let mut tail = index;
    let trailer = Trailer { layers: vlmetalayers.to_vec(), fingerprint: None };
    tail.extend(trailer.to_bytes(header.dialect)?);
    let has_vlmeta = !vlmetalayers.is_empty();
    header.header_len = header.to_bytes(has_vlmeta)?.len() as u64;
    header.cbytes += record_len as u64;
    let chunks = if contiguous { header.cbytes } else { 0 };
    header.frame_len = header.header_len + chunks + tail.len() as u64;
    let head = header.to_bytes(has_vlmeta)?;
    if sealed {
        if !contiguous && vlmetalayers.last().is_some_and(|layer| layer.name == HASHES) {
            seal::put_inside(&head, &mut tail)?;
        }
        let stored = Fingerprint::stored(Some(Fingerprint::of(&head, &tail)));
        tail.truncate(tail.len() - stored.len());
        tail.extend(stored);
    }
    if record_len > 0 {
        let record = seal::record_of(&head, &tail);
        tail.splice(..0, record);
    }
    Ok((head, tail))
}
