//! Bloscpack files.
//!
//! ```text
//! start    what of header and metadata can be read, and the positions, where stated or found
//! search   every chunk with the digest behind it
//! place    which chunk is which, and where chunks are lost
//! ```

mod place;
mod search;
mod start;

use std::collections::BTreeMap;

use super::rebuild::majority;
use super::report::{Certainty, Hole, Order, Piece, Report, Source};
use super::scan::Judge;
use crate::bloscpack::PackArray;
use crate::chunk;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::options::{ChunkFormat, CompressOptions};
use crate::pack::{Checksum, Header, assemble};
use crate::wire::json::Json;
use place::{Place, arrange};
use search::{Search, search};
use start::Beginning;

/// How much chunks may take that only fill places.
const MOST_FILLING: usize = 64 << 20;

/// Recovers what can be recovered of the Bloscpack file that `bytes` were: the result is the bytes of a
/// new file, with every chunk as it was stored.
///
/// Every chunk is found that has its digest, whatever else is damaged. Chunks are stored in their order, so
/// that they keep their places where header or offsets tell how many are lost between others; lost ones
/// read as zeros, lost objects are empty.
///
/// ```
/// use superchunk::bloscpack::{Pack, PackOptions};
/// use superchunk::{Limits, salvage};
///
/// let mut file = PackOptions::new().with_chunk_size(1 << 12).pack(&[7; 10_000])?;
/// file[..32].fill(0xff); // the header is gone
/// let (saved, report) = salvage::pack(&file, &Limits::default())?;
/// assert_eq!(Pack::from_bytes(saved)?.data()?.to_vec()?, [7; 10_000]);
/// assert!(!report.is_whole());
/// # Ok::<(), superchunk::Error>(())
/// ```
pub fn pack(bytes: &[u8], limits: &Limits) -> Result<(Vec<u8>, Report)> {
    let mut report = Report::new("bloscpack", Order::Storage);
    let start = Beginning::read(bytes, limits, &mut report);
    let stated = start.header.as_ref().map(|header| header.checksum);
    let mut judge = Judge::new(bytes, limits);
    let search = search(bytes, stated, &mut judge);
    if search.checksum.is_none() && stated != Some(Checksum::None) {
        report.notes.push("no digest is right anywhere: chunks count that decode".to_owned());
    }
    let places = arrange(bytes, &start, &search, &mut report);
    if !places.iter().any(|place| matches!(place, Place::Chunk(_))) {
        return Err(Error::corrupt("nothing in it can be read as a chunk").within("salvage"));
    }
    let sizes = Sizes::of(&start, &search, &mut report);
    let (mut filler, mut contents) = (Filler::new(&sizes, limits), Vec::new());
    let last = places.len() - 1;
    for (number, place) in places.into_iter().enumerate() {
        let chunk = contents.len();
        match place {
            Place::Chunk(found) => {
                let (range, len) = (found.range.clone(), found.decoded_len);
                let source = Source::Bytes(range.start as u64..range.end as u64);
                let certainty = found.certainty.unwrap_or(Certainty::Assumed);
                report.pieces.push(Piece { chunk, source, len, certainty });
                contents.push((len, bytes.get(range)));
            }
            Place::Hole { found, source, reason } => {
                let len = sizes.hole(found.map(|found| found.decoded_len), number == last);
                let filled = filler.prepare(len);
                contents.extend(filled.then_some((len, None)));
                let (chunk, reason) = (filled.then_some(chunk), reason.to_owned());
                report.holes.push(Hole { chunk, source, reason });
            }
        }
    }
    let lens: Vec<usize> = contents.iter().map(|(len, _)| *len).collect();
    let chunks: Vec<&[u8]> =
        contents.iter().map(|(len, chunk)| chunk.unwrap_or_else(|| filler.get(*len))).collect();
    let metadata = fit(start.metadata, &sizes, &lens, &mut report);
    let header = sizes.header(search.checksum, &lens);
    Ok((assemble(header, metadata.as_ref(), &chunks)?, report))
}

/// What is known of the lengths of chunks.
struct Sizes {
    item_size: usize,
    chunk_size: usize,
    last_chunk: Option<usize>,
    /// Whether every chunk is an object.
    varlen: bool,
}

impl Sizes {
    /// What the header says, unless most chunks say otherwise.
    fn of(start: &Beginning, search: &Search, report: &mut Report) -> Self {
        let header = start.header.as_ref();
        let stated = header.and_then(|header| header.chunk_size);
        let common = majority(search.whole().map(|found| found.decoded_len));
        let fits = stated.filter(|stated| {
            common == Some(*stated) || search.whole().all(|found| found.decoded_len <= *stated)
        });
        if let (Some(stated), None) = (stated, fits) {
            let common = common.unwrap_or(0);
            let words = format!("the header speaks of chunks of {stated} bytes, not {common}");
            report.notes.push(words);
        }
        Self {
            item_size: majority(search.whole().map(|found| found.item_size)).unwrap_or(1).max(1),
            chunk_size: fits.or(common).unwrap_or(0),
            last_chunk: header.and_then(|header| header.last_chunk),
            varlen: header.is_some_and(|header| header.varlen),
        }
    }

    /// The length of a lost chunk; its own header may tell.
    fn hole(&self, told: Option<usize>, is_last: bool) -> usize {
        match told.filter(|len| *len <= self.chunk_size) {
            _ if self.varlen => 0,
            Some(len) => len,
            None if is_last => self.last_chunk.unwrap_or(self.chunk_size).min(self.chunk_size),
            None => self.chunk_size,
        }
    }

    /// The header of the new file.
    fn header(&self, checksum: Option<Checksum>, lens: &[usize]) -> Header {
        let version = if self.varlen { 4 } else { 3 };
        let mut header = Header::empty(version, checksum.unwrap_or(Checksum::None));
        (header.offsets, header.varlen) = (true, self.varlen);
        header.item_size = u8::try_from(self.item_size).unwrap_or(1);
        let first = lens.first().copied().filter(|_| !self.varlen);
        // All chunks are as long as the first, or shorter, or nothing is said of them.
        header.chunk_size =
            first.filter(|first| *first > 0 && lens.iter().all(|len| (1..=*first).contains(len)));
        header.last_chunk = lens.last().copied();
        header
    }
}

/// Chunks of zeros.
struct Filler {
    options: CompressOptions,
    limits: Limits,
    made: BTreeMap<usize, Vec<u8>>,
    left: usize,
}

impl Filler {
    fn new(sizes: &Sizes, limits: &Limits) -> Self {
        let options = CompressOptions::new(sizes.item_size).with_format(ChunkFormat::Blosc1);
        Self { options, limits: *limits, made: BTreeMap::new(), left: MOST_FILLING }
    }

    /// Whether there is a chunk of this length, and room for it.
    fn prepare(&mut self, len: usize) -> bool {
        if !self.made.contains_key(&len) {
            let made = self
                .limits
                .check_decoded(len)
                .and_then(|()| chunk::compress(&vec![0; len], &self.options));
            let Ok(made) = made else { return false };
            self.made.insert(len, made);
        }
        let left = self.left.checked_sub(self.get(len).len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn get(&self, len: usize) -> &[u8] {
        self.made.get(&len).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The metadata, made true: it speaks of an array or of objects that may have become shorter.
fn fit(metadata: Option<Json>, sizes: &Sizes, lens: &[usize], report: &mut Report) -> Option<Json> {
    let mut json = metadata?;
    if sizes.varlen {
        if json.get("shape").is_some() {
            json.set("shape", vec![Json::from(lens.len() as u64)]).ok()?;
        }
        return Some(json);
    }
    let len: u64 = lens.iter().map(|len| *len as u64).sum();
    let array = match PackArray::parse(Some(&json)) {
        Ok(None) => return Some(json),
        Ok(Some(array)) => array.at_len(len).ok_or_else(|| array.shape.clone()),
        Err(error) => {
            report.lose(Source::Nowhere, format!("the metadata: {error}"));
            return None;
        }
    };
    match array {
        Ok(array) => {
            if json.get("shape") != Some(&array.shape_json()) {
                report.notes.push(format!("the array has another shape now: {:?}", array.shape));
                json.set("shape", array.shape_json()).ok()?;
            }
            Some(json)
        }
        Err(shape) => {
            let words =
                format!("{len} bytes are no array of shape {shape:?}, as the metadata says");
            report.lose(Source::Nowhere, words);
            None
        }
    }
}
