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
use std::io::Write;
use std::ops::Range;

use super::SalvageOptions;
use super::rebuild::majority;
use super::report::{ATTRIBUTE, Certainty, ChunkOrder, FoundAt, Hole, Piece, SalvageReport};
use super::scan::Judge;
use super::watched::Watch;
use crate::bloscpack::PackArray;
use crate::chunk;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::options::{ChunkFormat, CompressOptions};
use crate::pack::{Assembly, Checksum, PackHeader};
use crate::store::ReadAt;
use crate::wire::json::Json;
use place::{Place, arrange};
use search::{Search, search};
use start::Beginning;

/// How much chunks may take that only fill places.
const MOST_FILLING: usize = 64 << 20;
/// The longest chunk that fills a place, unless the file is long enough to have had one that is longer.
const MOST_FILLED: u64 = 64 << 20;
/// The most bytes of such a chunk for each byte of the file.
const MOST_EXPANSION: u64 = 10_000;

/// Recovers what can be recovered of the Bloscpack file that `store` holds, and writes a new file to `out`,
/// with every chunk as it was stored.
///
/// Every chunk is found that has its digest, whatever else is damaged. Chunks are stored in their order, so
/// that they keep their places where header or offsets tell how many are lost between others; lost ones
/// read as zeros, lost objects are empty.
///
/// ```
/// use superchunk::bloscpack::{Pack, PackOptions};
/// use superchunk::store::Bytes;
/// use superchunk::{Limits, salvage};
///
/// let mut file = PackOptions::new().with_chunk_size(1 << 12).pack(&[7; 10_000])?;
/// file[..32].fill(0xff); // the header is gone
/// let mut saved = Vec::new();
/// let report = salvage::pack(&Bytes::new(file), &mut saved, &Limits::default())?;
/// assert_eq!(Pack::from_bytes(saved)?.superchunk()?.to_vec()?, [7; 10_000]);
/// assert!(!report.is_whole());
/// # Ok::<(), superchunk::Error>(())
/// ```
pub fn pack(
    store: &dyn ReadAt,
    out: &mut dyn Write,
    options: impl Into<SalvageOptions>,
) -> Result<SalvageReport> {
    let options = options.into();
    let watch = Watch::new(&options);
    watch.finish(find(&watch.over(store), out, &options.limits))
}

fn find(store: &dyn ReadAt, out: &mut dyn Write, limits: &Limits) -> Result<SalvageReport> {
    let mut report = SalvageReport::new("bloscpack", ChunkOrder::Storage);
    let mut judge = Judge::new(store, limits)?;
    let start = Beginning::read(store, &mut judge.input, limits, &mut report);
    let stated = start.header.as_ref().map(|header| header.checksum);
    let search = search(stated, &mut judge)?;
    let states_none =
        start.header.as_ref().is_some_and(|header| header.varlen && header.chunk_count == Some(0));
    let words = "no digest is right anywhere: chunks count that decode";
    match stated {
        Some(Checksum::None) => {}
        _ if states_none || search.checksum.is_some() => {}
        Some(_) => report.lose(FoundAt::Nowhere, words.to_owned()),
        None => report.notes.push(words.to_owned()),
    }
    let places = arrange(&mut judge.input, &start, &search, limits, &mut report)?;
    // A file of no objects that says so is whole.
    let is_empty = states_none && places.is_empty() && report.holes.is_empty();
    if is_empty {
        report.order = ChunkOrder::Index;
    } else if !places.iter().any(|place| matches!(place, Place::Chunk(_))) {
        return Err(Error::corrupt("nothing in it can be read as a chunk").within("salvage"));
    }
    let sizes = Sizes::of(&start, &search, &mut report);
    let longest = MOST_FILLED.max(judge.input.len().saturating_mul(MOST_EXPANSION));
    let longest = usize::try_from(longest).unwrap_or(usize::MAX).min(limits.max_decoded);
    let mut filler = Filler::new(&sizes, &limits.with_max_decoded(longest));
    let contents = choose(places, &sizes, &mut filler, &mut report)?;
    for (range, error) in judge.input.unreadable() {
        report.lose(FoundAt::Bytes(range.clone()), error.to_string());
    }
    let lens: Vec<usize> = contents.iter().map(|(len, _)| *len).collect();
    let metadata = label(fit(start.metadata, &sizes, &lens, &mut report), &report)?;
    let header = sizes.header(search.checksum.or(stated), &lens);
    let stored = contents.iter().map(|(len, range)| match range {
        Some(range) => usize::try_from(range.end - range.start).unwrap_or(usize::MAX),
        None => filler.get(*len).len(),
    });
    let assembly = Assembly::new(header, metadata.as_ref(), stored)?;
    put(out, &assembly.start())?;
    for (len, range) in &contents {
        let chunk = match range {
            // Too late to make it a hole.
            Some(range) => judge.input.whole(range).map_err(unreadable)?,
            None => filler.get(*len),
        };
        put(out, chunk)?;
        put(out, &assembly.digest(chunk))?;
    }
    Ok(report)
}

/// The chunks of the result: the length of each, and where it is, or `None` where it is filled.
type Contents = Vec<(usize, Option<Range<u64>>)>;

/// Decides what becomes of every place.
fn choose(
    places: Vec<Place<'_>>,
    sizes: &Sizes,
    filler: &mut Filler,
    report: &mut SalvageReport,
) -> Result<Contents> {
    let mut contents = Vec::with_capacity(places.len());
    let last = places.len().saturating_sub(1);
    for (number, place) in places.into_iter().enumerate() {
        let chunk = contents.len();
        match place {
            Place::Chunk(found) => {
                let (range, len) = (found.range.clone(), found.decoded_len);
                let certainty = found.certainty.clone().unwrap_or(Certainty::Assumed);
                let source = FoundAt::Bytes(range.clone());
                report.pieces.push(Piece { chunk, source, len, certainty });
                contents.push((len, Some(range)));
            }
            Place::Hole { found, source, reason } => {
                let len = sizes.hole(found.map(|found| found.decoded_len), number == last);
                let filled = filler.prepare(len)?;
                contents.extend(filled.then_some((len, None)));
                report.holes.push(Hole { chunk: filled.then_some(chunk), source, reason });
            }
        }
    }
    Ok(contents)
}

/// What could be read before, and cannot be read again, fails as every read.
fn unreadable(error: Error) -> Error {
    if error.is_no_damage() { error } else { error.of_kind(ErrorKind::Io) }
}

fn put(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|error| Error::io("cannot write the new file", error))
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
    fn of(start: &Beginning, search: &Search, report: &mut SalvageReport) -> Self {
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
    fn header(&self, checksum: Option<Checksum>, lens: &[usize]) -> PackHeader {
        let version = if self.varlen { 4 } else { 3 };
        let mut header = PackHeader::empty(version, checksum.unwrap_or(Checksum::None));
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
        let options =
            CompressOptions::new(sizes.item_size).with_format(ChunkFormat::Blosc1).with_check(true);
        Self { options, limits: *limits, made: BTreeMap::new(), left: MOST_FILLING }
    }

    /// Whether there is a chunk of this length, and room for it.
    fn prepare(&mut self, len: usize) -> Result<bool> {
        if !self.made.contains_key(&len) {
            match zeros(len, &self.limits).and_then(|zeros| chunk::compress(&zeros, &self.options))
            {
                Ok(made) => self.made.insert(len, made),
                Err(error) if error.kind() == ErrorKind::Miscompressed => return Err(error),
                Err(_) => return Ok(false),
            };
        }
        let left = self.left.checked_sub(self.get(len).len());
        self.left = left.unwrap_or(self.left);
        Ok(left.is_some())
    }

    fn get(&self, len: usize) -> &[u8] {
        self.made.get(&len).map(Vec::as_slice).unwrap_or_default()
    }
}

/// So many zeros, if that is within the limits and there is memory for them.
fn zeros(len: usize, limits: &Limits) -> Result<Vec<u8>> {
    limits.check_decoded(len)?;
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| Error::limit("there is no memory for a hole"))?;
    zeros.resize(len, 0);
    Ok(zeros)
}

/// The metadata with a list of what is lost or uncertain. Metadata that has no names becomes the value
/// `metadata` of an object.
fn label(metadata: Option<Json>, report: &SalvageReport) -> Result<Option<Json>> {
    let lines = report.uncertain();
    if lines.is_empty() {
        return Ok(metadata);
    }
    let mut json = match metadata {
        None => Json::Object(Vec::new()),
        Some(object) if object.as_object().is_some() => object,
        Some(nameless) => Json::Object(vec![("metadata".to_owned(), nameless)]),
    };
    json.set(ATTRIBUTE, lines.into_iter().map(Json::from).collect::<Vec<Json>>())?;
    Ok(Some(json))
}

/// The metadata, made true: it speaks of an array or of objects that may have become shorter.
fn fit(
    metadata: Option<Json>,
    sizes: &Sizes,
    lens: &[usize],
    report: &mut SalvageReport,
) -> Option<Json> {
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
            report.lose(FoundAt::Nowhere, format!("the metadata: {error}"));
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
            report.lose(FoundAt::Nowhere, words);
            None
        }
    }
}
