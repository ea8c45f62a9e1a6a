//! Contiguous frames.

use std::ops::Range;

use super::generations::{self, Generation};
use super::rebuild::{Part, Plan};
use super::report::{Certainty, Order, Report, Source};
use super::scan::{Found, Judge, Scan};
use crate::container::{ChunkSize, Entry, Layer, Slot};
use crate::error::{Error, Result};
use crate::frame::Kind;
use crate::frame::remains::{self, Head, Tail};
use crate::limits::Limits;
use crate::schunk::SuperChunk;

/// Recovers what can be recovered of the contiguous frame that `bytes` were.
///
/// Where header and index can be read, chunks keep their places and what is lost reads as zeros.
/// Else the file is searched for chunks, and for the index of an earlier commit.
pub fn frame(bytes: &[u8], limits: &Limits) -> Result<(SuperChunk, Report)> {
    let head = remains::head(bytes, Kind::Contiguous).ok();
    let mut judge = Judge::new(bytes, limits);
    if let Some(head) = &head
        && let Some(tail) = stated_tail(bytes, head, limits)
        && let Some(result) = by_index(bytes, head, &tail, limits, &mut judge)
    {
        return result;
    }
    by_search(bytes, head.as_ref(), limits, &mut judge)
}

/// The index where the header says that it is.
fn stated_tail(bytes: &[u8], head: &Head, limits: &Limits) -> Option<Tail> {
    let start = usize::try_from(head.tail.start).ok()?;
    let end = usize::try_from(head.tail.end).ok()?;
    remains::tail(bytes, start..end, limits).ok()
}

/// Chunks in the places that the index of the last commit gives them; `None` if it leads nowhere.
fn by_index(
    bytes: &[u8],
    head: &Head,
    tail: &Tail,
    limits: &Limits,
    judge: &mut Judge<'_>,
) -> Option<Result<(SuperChunk, Report)>> {
    let mut report = Report::new("frame", Order::Index);
    report.sealed = remains::is_sealed(bytes, head, tail);
    let (mut parts, sizes) = resolve(bytes, &tail.entries, head.header_len, &[], judge);
    if report.sealed {
        parts.iter_mut().for_each(refuse_unsealed);
    }
    let stored = tail.entries.iter().filter(|entry| entry.stored_slot().is_some()).count();
    if sizes.is_empty() && stored > 0 {
        return None;
    }
    let mut plan = Plan::new(Some(&head.contents), &sizes, &mut report);
    plan.values = tail.values.clone();
    plan.limits = *limits;
    if !report.sealed {
        report.notes.push("no checksum vouches for header, index and metadata".to_owned());
        if parts.iter().any(|part| matches!(part, Part::Hole { .. })) {
            add_strays(bytes, head, tail, limits, judge, &mut parts, &mut report);
        }
    }
    Some(plan.build(parts, &mut report).map(|frame| (frame, report)))
}

/// A chunk of a sealed frame has a checksum: one that is missing is damage.
fn refuse_unsealed(part: &mut Part<'_>) {
    if let Part::Chunk { source, certainty, .. } = part
        && *certainty != Certainty::Verified
    {
        let (source, reason) = (source.clone(), "its checksum is damaged".to_owned());
        *part = Part::Hole { source, reason };
    }
}

/// Adds the chunks that an index does not know: it may be damaged itself. Those of an array must be as
/// many as its shape says.
fn add_strays<'a>(
    bytes: &'a [u8],
    head: &Head,
    tail: &Tail,
    limits: &Limits,
    judge: &mut Judge<'_>,
    parts: &mut Vec<Part<'a>>,
    report: &mut Report,
) {
    let trailers = remains::trailers(bytes);
    let scan = judge.walk(&trailers, |_| true);
    let mut strays = data_chunks(bytes, &scan, &trailers, Some(head), limits);
    strays.retain(|found| !knows(&tail.entries, head.header_len, found.at));
    if head.contents.metalayers.iter().any(|layer| layer.name == "b2nd") {
        report.superseded = strays.len();
    } else if !strays.is_empty() {
        report.order = Order::FoundIndex;
        report
            .notes
            .push(format!("{} chunks that the index does not know come last", strays.len()));
        parts.extend(strays.iter().map(|found| part_of(bytes, found)));
    }
}

/// Whether an entry of an index leads to the chunk at byte `at`.
fn knows(entries: &[Entry], base: usize, at: usize) -> bool {
    let slot = (at as u64).checked_sub(base as u64);
    slot.is_some_and(|slot| entries.contains(&Entry::stored(slot)))
}

/// What the entries of an index lead to, and the item size and length of each chunk that is there.
fn resolve<'a>(
    bytes: &'a [u8],
    entries: &[Entry],
    base: usize,
    indexes: &[usize],
    judge: &mut Judge<'_>,
) -> (Vec<Part<'a>>, Vec<(usize, usize)>) {
    let mut sizes = Vec::new();
    let mut parts = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let offset = match entry.slot(number) {
            Ok(Slot::Run(run)) => {
                parts.push(Part::Run(run));
                continue;
            }
            Ok(Slot::Stored(offset)) => offset,
            Err(error) => {
                parts.push(Part::Hole { source: Source::Index, reason: error.to_string() });
                continue;
            }
        };
        let at = usize::try_from(offset).ok().and_then(|offset| base.checked_add(offset));
        let at = at.unwrap_or(usize::MAX);
        let looked = match indexes.contains(&at) {
            true => Err(Error::corrupt("an index lies in its place")),
            false => judge.look(at),
        };
        match looked {
            Ok(found) => {
                sizes.push((found.item_size, found.decoded_len));
                parts.push(part_of(bytes, &found));
            }
            Err(error) => {
                let source = Source::Bytes(at as u64..at as u64);
                parts.push(Part::Hole { source, reason: error.to_string() });
            }
        }
    }
    (parts, sizes)
}

fn part_of<'a>(bytes: &'a [u8], found: &Found) -> Part<'a> {
    Part::Chunk {
        bytes: bytes.get(found.range()).unwrap_or_default(),
        source: source_of(found.range()),
        len: found.decoded_len,
        certainty: found.certainty,
    }
}

fn source_of(range: Range<usize>) -> Source {
    Source::Bytes(range.start as u64..range.end as u64)
}

/// Chunks wherever they are found, in the order of an index that was found, or of the file.
fn by_search(
    bytes: &[u8],
    head: Option<&Head>,
    limits: &Limits,
    judge: &mut Judge<'_>,
) -> Result<(SuperChunk, Report)> {
    let trailers = remains::trailers(bytes);
    let scan = judge.walk(&trailers, |_| true);
    let header_len = head.map(|head| head.header_len);
    let generation = generations::best(bytes, &scan, &trailers, header_len, limits);
    let mut chunks = data_chunks(bytes, &scan, &trailers, head, limits);
    // The place of a chunk that an earlier index knows may be that of a later index by now.
    let is_data = |at: usize| chunks.iter().any(|chunk| chunk.at == at);
    let places = scan.chunks.iter().map(|found| found.at);
    let indexes: Vec<usize> = places.filter(|at| !is_data(*at)).collect();
    let order = if generation.is_some() { Order::FoundIndex } else { Order::Storage };
    let mut report = Report::new("frame", order);
    let (mut parts, mut sizes) = match &generation {
        Some(found) => resolve(bytes, &found.entries, found.base, &indexes, judge),
        None => Default::default(),
    };
    if let Some(found) = &generation {
        chunks.retain(|chunk| !knows(&found.entries, found.base, chunk.at));
    }
    let current = generation.as_ref().is_some_and(|found| is_last(found, head, bytes.len()));
    if current {
        report.superseded = chunks.len();
        chunks.clear();
    } else if generation.is_some() && !chunks.is_empty() {
        report.notes.push(format!(
            "the last index is lost; {} chunks that an earlier one does not know come last",
            chunks.len()
        ));
    }
    sizes.extend(chunks.iter().map(|found| (found.item_size, found.decoded_len)));
    let has_runs = parts.iter().any(|part| matches!(part, Part::Run(_)));
    if sizes.is_empty() && !has_runs {
        return Err(Error::corrupt("nothing in it can be read as a chunk").within("salvage"));
    }
    let mut plan = Plan::new(head.map(|head| &head.contents), &sizes, &mut report);
    plan.limits = *limits;
    plan.values = generation.map_or_else(|| last_values(bytes, &trailers), |found| found.values);
    let fixed = head.is_none_or(|head| matches!(head.contents.chunk_size, ChunkSize::Fixed(_)));
    if fixed && let Some(size) = plan.chunk_size {
        // Only the last chunk can be short.
        chunks.sort_by_key(|chunk| chunk.decoded_len < size);
    }
    parts.extend(chunks.iter().map(|found| part_of(bytes, found)));
    plan.pad(&mut parts, &mut report);
    note_lost(&scan, head, &mut parts);
    plan.build(parts, &mut report).map(|frame| (frame, report))
}

/// All chunks but the indexes.
fn data_chunks(
    bytes: &[u8],
    scan: &Scan,
    trailers: &[Range<usize>],
    head: Option<&Head>,
    limits: &Limits,
) -> Vec<Found> {
    let entries_of = |found: &Found| {
        let chunk = bytes.get(found.range()).unwrap_or_default();
        remains::entries(chunk, limits).ok().filter(|_| found.suffix == 0)
    };
    let lists_places =
        |found: &Found| entries_of(found).is_some_and(|entries| are_places(&entries, found.at));
    // Data of a sealed frame has checksums. Where all that is left lists places, all chunks are
    // lost.
    let has_checksums = scan.chunks.iter().any(|found| found.suffix > 0);
    let tells_itself = has_checksums || scan.chunks.iter().all(lists_places);
    let is_index = |found: &Found| {
        let before = trailers.iter().any(|trailer| trailer.start == found.at + found.len);
        let stated = head.is_some_and(|head| head.tail.contains(&(found.at as u64)));
        (before || stated) && entries_of(found).is_some() || tells_itself && lists_places(found)
    };
    scan.chunks.iter().filter(|found| !is_index(found)).cloned().collect()
}

/// Whether entries can be the places of chunks that end before byte `end`.
fn are_places(entries: &[Entry], end: usize) -> bool {
    /// The shortest chunk.
    const SHORTEST: u64 = 32;
    let mut places: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    places.sort_unstable();
    let are_apart = places.windows(2).all(|pair| matches!(pair, [a, b] if b - a >= SHORTEST));
    let last_end = places.last().map(|last| last.saturating_add(SHORTEST));
    are_apart && last_end.is_some_and(|last_end| last_end <= end as u64)
}

/// Whether an index is that of the last commit: the header says so, or the file ends with it.
fn is_last(found: &Generation, head: Option<&Head>, len: usize) -> bool {
    let tail = found.index_at as u64..found.trailer.end as u64;
    head.is_some_and(|head| head.tail == tail) || (found.trailer.end == len && head.is_none())
}

/// The values of the last trailer that has any.
fn last_values(bytes: &[u8], trailers: &[Range<usize>]) -> Vec<Layer> {
    let values = trailers
        .iter()
        .rev()
        .map(|range| remains::values(bytes.get(range.clone()).unwrap_or_default()));
    values.into_iter().find(|values| !values.is_empty()).unwrap_or_default()
}

/// Names what the walk could not read.
fn note_lost(scan: &Scan, head: Option<&Head>, parts: &mut Vec<Part<'_>>) {
    let header_len = head.map_or(0, |head| head.header_len);
    let damaged = scan.damaged.iter().map(|range| (range, "its checksum is wrong"));
    let unknown = scan.unknown.iter().map(|range| (range, "these bytes are nothing known"));
    for (range, words) in damaged.chain(unknown) {
        if range.end > header_len {
            let source = source_of(range.start.max(header_len)..range.end);
            parts.push(Part::Lost { source, reason: words.to_owned() });
        }
    }
}
