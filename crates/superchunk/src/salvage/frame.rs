//! Contiguous frames.

use std::collections::HashSet;
use std::ops::Range;

use super::SalvageOptions;
use super::generations::{self, Generation};
use super::input::Input;
use super::rebuild::{Create, Fetch, Part, Plan, Size, check_count, label};
use super::report::{ChunkOrder, FoundAt, SalvageReport};
use super::scan::{Found, Judge, Scan};
use super::trailers::trailers;
use super::watched::Watch;
use crate::b2nd;
use crate::container::{ChunkSize, Entry, Layer, Slot};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Kind;
use crate::frame::remains::{self, HEADER_START, Head, RECORD, Sealed, Tail};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::store::ReadAt;

/// Recovers what can be recovered of the contiguous frame that `store` holds. `create` makes the
/// super-chunk that takes it, such as [`SuperChunk::in_memory`]; it is not committed.
///
/// Where header and index can be read, chunks keep their places and what is lost reads as zeros.
/// Else the file is searched for chunks, and for the index of an earlier commit.
pub fn frame(
    store: &dyn ReadAt,
    create: Create<'_>,
    options: impl Into<SalvageOptions>,
) -> Result<(SuperChunk, SalvageReport)> {
    let options = options.into();
    let watch = Watch::new(&options);
    watch.finish(find(&watch.over(store), create, &options.limits))
}

fn find(
    store: &dyn ReadAt,
    create: Create<'_>,
    limits: &Limits,
) -> Result<(SuperChunk, SalvageReport)> {
    let mut judge = Judge::new(store, limits)?;
    let head = read_head(&mut judge.input, limits);
    judge = judge.with_shape(head.as_ref().and_then(|head| head.contents.block_shape()), false);
    let ordered = match &head {
        Some(head) => by_index(head, &mut judge)?,
        None => None,
    };
    let (plan, parts, mut report) = match ordered {
        Some(ordered) => ordered,
        None => by_search(head.as_ref(), &mut judge)?,
    };
    if head.is_some_and(|head| head.lacks_magic) {
        report.lose(FoundAt::Bytes(0..16), "it does not say `b2frame`".to_owned());
    }
    let mut frame = plan.build(parts, &mut judge.input, create, &mut report)?;
    for (range, error) in judge.input.unreadable() {
        report.lose(FoundAt::Bytes(range.clone()), error.to_string());
    }
    label(&mut frame, &mut report)?;
    Ok((frame, report))
}

/// What a frame is to be built of.
type Built = (Plan, Vec<Part>, SalvageReport);

fn read_head(input: &mut Input<'_>, limits: &Limits) -> Option<Head> {
    let len = remains::header_len(input.get(0, HEADER_START))?;
    limits.check_metadata("header", len as u64).ok()?;
    remains::head(input.get(0, len).to_vec(), Kind::Contiguous).ok()
}

/// The index where the header says that it is, and what a checksum vouches for.
fn stated_tail(head: &Head, judge: &mut Judge<'_>) -> Result<Option<(Tail, Sealed)>> {
    let range = head.tail.clone();
    let Some(len) = range.end.checked_sub(range.start).filter(|_| range.end <= judge.input.len())
    else {
        return Ok(None);
    };
    judge.limits.check_metadata("index and trailer", len)?;
    let record = range.start.saturating_sub(RECORD as u64);
    let part = judge.input.range(&(record..range.end));
    let (record, part) =
        part.split_at(usize::try_from(range.start - record).unwrap_or(0).min(part.len()));
    let tail = match remains::tail(part, &judge.limits) {
        Err(error) if error.is_no_damage() => return Err(error),
        tail => tail.ok(),
    };
    Ok(tail.map(|tail| {
        let sealed = remains::sealed(head, record, part, &tail);
        (tail, sealed)
    }))
}

/// Chunks in the places that the index of the last commit gives them; `None` if it leads nowhere.
fn by_index(head: &Head, judge: &mut Judge<'_>) -> Result<Option<Built>> {
    let Some((tail, sealed)) = stated_tail(head, judge)? else { return Ok(None) };
    if sealed == Sealed::Nothing && !generations::are_distinct(&tail.entries) {
        return Ok(None);
    }
    // Without chunks a checksum must vouch for that, or index and trailer leave no room for any.
    let has_room = head.tail.end < judge.input.len();
    if tail.entries.is_empty()
        && (head.contents.nbytes > 0 || sealed == Sealed::Nothing && has_room)
    {
        return Ok(None);
    }
    let mut report = SalvageReport::new("frame", ChunkOrder::Index);
    judge.is_shape_sealed = sealed == Sealed::Everything;
    let sealed = sealed > Sealed::Nothing;
    report.sealed = sealed;
    // A chunk of a sealed frame has a checksum: one that is missing is damage.
    judge.needs_checksums = sealed;
    let resolved = resolve(&tail.entries, head.header_len, &HashSet::new(), judge);
    judge.needs_checksums = false;
    let (mut parts, sizes) = resolved?;
    let stored = tail.entries.iter().any(|entry| entry.stored_slot().is_some());
    if sizes.is_empty() && stored {
        return Ok(None);
    }
    let mut plan = Plan::new(Some(&head.contents), &sizes, &mut report);
    plan.values = tail.values.clone();
    plan.limits = judge.limits;
    if !sealed {
        report.notes.push("no checksum vouches for header, index and metadata".to_owned());
        if parts.iter().any(|part| matches!(part, Part::Hole { .. })) {
            add_strays(head, &tail, judge, &mut parts, &mut report)?;
        }
    }
    Ok(Some((plan, parts, report)))
}

/// Adds the chunks that an index does not know: it may be damaged itself. Those of an array must be as
/// many as its shape says.
fn add_strays(
    head: &Head,
    tail: &Tail,
    judge: &mut Judge<'_>,
    parts: &mut Vec<Part>,
    report: &mut SalvageReport,
) -> Result<()> {
    let trailers = trailers(&mut judge.input);
    let scan = judge.walk(&trailers)?;
    let mut strays = data_chunks(&scan, &trailers, Some(head), judge);
    let known = places(&tail.entries, head.header_len);
    strays.retain(|found| !known.contains(&found.at));
    let is_array = |layer: &Layer| b2nd::NAMES.contains(&layer.name.as_str());
    if head.contents.metalayers.iter().any(is_array) {
        report.superseded = strays.len();
    } else if !strays.is_empty() {
        report.order = ChunkOrder::FoundIndex;
        report
            .notes
            .push(format!("{} chunks that the index does not know come last", strays.len()));
        parts.extend(strays.iter().map(part_of));
    }
    Ok(())
}

/// The places that the entries of an index lead to.
fn places(entries: &[Entry], base: u64) -> HashSet<u64> {
    entries.iter().filter_map(|entry| entry.stored_slot()?.checked_add(base)).collect()
}

/// What the entries of an index lead to, and the item size and length of each chunk that is there.
fn resolve(
    entries: &[Entry],
    base: u64,
    indexes: &HashSet<u64>,
    judge: &mut Judge<'_>,
) -> Result<(Vec<Part>, Vec<Size>)> {
    check_count(entries.len(), &judge.limits)?;
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
                parts.push(Part::Hole { source: FoundAt::Index, reason: error.to_string() });
                continue;
            }
        };
        let at = base.saturating_add(offset);
        let looked = match indexes.contains(&at) {
            true => Err(Error::corrupt("an index lies in its place")),
            false => judge.look(at),
        };
        match looked {
            Ok(found) => {
                sizes.extend(size_of(&found));
                parts.push(part_of(&found));
            }
            // It may be whole: that there is too little memory must not make it a hole.
            Err(error) if error.is_no_damage() => return Err(error),
            Err(error) => {
                let source = FoundAt::Bytes(at..at);
                parts.push(Part::Hole { source, reason: error.to_string() });
            }
        }
    }
    Ok((parts, sizes))
}

fn part_of(found: &Found) -> Part {
    let source = FoundAt::Bytes(found.range());
    match found.refusal.clone() {
        Some((_, reason)) => Part::Hole { source, reason },
        None => Part::Chunk { source, len: found.decoded_len, certainty: found.certainty },
    }
}

/// The item size and the length of a chunk that can be decoded.
fn size_of(found: &Found) -> Option<Size> {
    found.refusal.is_none().then_some((found.item_size, found.decoded_len))
}

impl Fetch for Input<'_> {
    fn fetch(&mut self, source: &FoundAt) -> Result<&[u8]> {
        match source {
            FoundAt::Bytes(range) => self.whole(range),
            _ => Err(Error::corrupt("it is in no place of the file")),
        }
    }
}

/// Chunks wherever they are found, in the order of an index that was found, or of the file.
fn by_search(head: Option<&Head>, judge: &mut Judge<'_>) -> Result<Built> {
    let trailers = trailers(&mut judge.input);
    let scan = judge.walk(&trailers)?;
    let header_len = head.map(|head| head.header_len);
    let generation = generations::best(judge, &scan, &trailers, header_len);
    let mut chunks = data_chunks(&scan, &trailers, head, judge);
    let order = if generation.is_some() { ChunkOrder::FoundIndex } else { ChunkOrder::Storage };
    let mut report = SalvageReport::new("frame", order);
    let (mut parts, mut sizes) = Default::default();
    if let Some(found) = &generation {
        // The place of a chunk that an earlier index knows may be that of a later index by now.
        let data: HashSet<u64> = chunks.iter().map(|chunk| chunk.at).collect();
        let all = scan.chunks.iter().map(|found| found.at);
        let indexes = all.filter(|at| !data.contains(at)).collect();
        (parts, sizes) = resolve(&found.entries, found.base, &indexes, judge)?;
        let known = places(&found.entries, found.base);
        chunks.retain(|chunk| !known.contains(&chunk.at));
    }
    let len = judge.input.len();
    let current = generation.as_ref().is_some_and(|found| is_last(found, head, len));
    if current {
        report.superseded = chunks.len();
        chunks.clear();
    } else if generation.is_some() && !chunks.is_empty() {
        report.notes.push(format!(
            "the last index is lost; {} chunks that an earlier one does not know come last",
            chunks.len()
        ));
    }
    sizes.extend(chunks.iter().filter_map(size_of));
    let has_runs = parts.iter().any(|part| matches!(part, Part::Run(_)));
    if sizes.is_empty() && !has_runs {
        return Err(nothing_found(&judge.input, &scan));
    }
    let mut plan = Plan::new(head.map(|head| &head.contents), &sizes, &mut report);
    plan.limits = judge.limits;
    plan.values = match generation {
        Some(found) => found.values,
        None => last_values(judge, &trailers),
    };
    let fixed = head.is_none_or(|head| matches!(head.contents.chunk_size, ChunkSize::Fixed(_)));
    if fixed && let Some(size) = plan.chunk_size {
        // Only the last chunk can be short.
        chunks.sort_by_key(|chunk| chunk.decoded_len < size);
    }
    check_count(parts.len() + chunks.len(), &judge.limits)?;
    parts.extend(chunks.iter().map(part_of));
    plan.pad(&mut parts, &mut report);
    note_lost(&scan, head, &mut parts);
    Ok((plan, parts, report))
}

/// The error of a file without anything in it; where the disk has failed, or chunks are refused,
/// that is the reason.
fn nothing_found(input: &Input<'_>, scan: &Scan) -> Error {
    let refusal = scan.chunks.iter().find_map(|found| found.refusal.clone());
    match (input.unreadable().first(), refusal) {
        (Some((range, error)), _) => Error::new(
            ErrorKind::Io,
            format!("bytes {} to {} cannot be read: {error}", range.start, range.end),
        ),
        (None, Some((kind, refusal))) => Error::new(kind, refusal),
        (None, None) => Error::corrupt("nothing in it can be read as a chunk"),
    }
    .within("salvage")
}

/// All chunks but the indexes.
fn data_chunks(
    scan: &Scan,
    trailers: &[Range<u64>],
    head: Option<&Head>,
    judge: &mut Judge<'_>,
) -> Vec<Found> {
    let stated_len = head.map_or(8, |head| head.entry_len);
    let mut entries_of = |found: &Found| {
        let can_be_index = found.suffix == 0 && [8, stated_len].contains(&found.item_size);
        if can_be_index { generations::entries(judge, &found.range()) } else { None }
    };
    let lists_places = |entries: Option<Vec<Entry>>, found: &Found| {
        entries.is_some_and(|entries| are_places(&entries, found.at))
    };
    // Data of a sealed frame has checksums. Where all that is left lists places, all chunks are
    // lost.
    let has_checksums = scan.chunks.iter().any(|found| found.suffix > 0);
    let tells_itself =
        has_checksums || scan.chunks.iter().all(|found| lists_places(entries_of(found), found));
    let ends: HashSet<u64> = trailers.iter().map(|trailer| trailer.start).collect();
    let mut is_index = |found: &&Found| {
        let stated = head.is_some_and(|head| head.tail.contains(&found.at));
        let entries = entries_of(found);
        let is_placed = ends.contains(&found.range().end) || stated;
        is_placed && entries.is_some() || tells_itself && lists_places(entries, found)
    };
    scan.chunks.iter().filter(|found| !is_index(found)).cloned().collect()
}

/// Whether entries can be the places of chunks that end before byte `end`.
fn are_places(entries: &[Entry], end: u64) -> bool {
    /// The shortest chunk.
    const SHORTEST: u64 = 32;
    let mut places: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    places.sort_unstable();
    let are_apart = places.windows(2).all(|pair| matches!(pair, [a, b] if b - a >= SHORTEST));
    let last_end = places.last().map(|last| last.saturating_add(SHORTEST));
    are_apart && last_end.is_some_and(|last_end| last_end <= end)
}

/// Whether an index is that of the last commit: the header says so, or the file ends with it.
fn is_last(found: &Generation, head: Option<&Head>, len: u64) -> bool {
    let tail = found.index_at..found.trailer.end;
    head.is_some_and(|head| head.tail == tail) || (found.trailer.end == len && head.is_none())
}

/// The values of the last trailer that has any.
fn last_values(judge: &mut Judge<'_>, trailers: &[Range<u64>]) -> Vec<Layer> {
    let values = trailers.iter().rev().map(|trailer| generations::values(judge, trailer));
    values.into_iter().find(|values| !values.is_empty()).unwrap_or_default()
}

/// Names what the walk could not read.
fn note_lost(scan: &Scan, head: Option<&Head>, parts: &mut Vec<Part>) {
    let header_len = head.map_or(0, |head| head.header_len);
    let damaged = scan.damaged.iter().map(|range| (range, "its checksum is wrong"));
    let unknown = scan.unknown.iter().map(|range| (range, "these bytes are nothing known"));
    for (range, words) in damaged.chain(unknown) {
        if range.end > header_len {
            let source = FoundAt::Bytes(range.start.max(header_len)..range.end);
            parts.push(Part::Lost { source, reason: words.to_owned() });
        }
    }
}
