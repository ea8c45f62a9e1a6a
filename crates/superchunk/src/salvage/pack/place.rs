//! Which chunk is which. Chunks are stored in their order, always, so that only the number of those
//! that are lost between two others is in question.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::error::Result;
use crate::limits::Limits;

use super::super::input::Input;
use super::super::report::{ChunkOrder, FoundAt, SalvageReport};
use super::search::{Found, Search};
use super::start::Beginning;

/// How many chunks are added to what was found: a damaged header may speak of any number.
const MOST_PADDING: usize = 1 << 16;

/// A chunk of the result.
#[derive(Debug)]
pub(super) enum Place<'f> {
    /// It was found.
    Chunk(&'f Found),
    /// It is lost.
    Hole { found: Option<&'f Found>, source: FoundAt, reason: String },
}

const UNKNOWN: &str = "these bytes are nothing known";
const MISSING: &str = "nothing is where it should be";

/// Puts the chunks of a file in their places.
pub(super) fn arrange<'f>(
    input: &mut Input<'_>,
    start: &Beginning,
    search: &'f Search,
    limits: &Limits,
    report: &mut SalvageReport,
) -> Result<Vec<Place<'f>>> {
    let count = start.header.as_ref().and_then(|header| header.chunk_count);
    Ok(match start.positions(input, search, limits)? {
        Some((positions, stated)) => {
            report.order = if stated { ChunkOrder::Index } else { ChunkOrder::FoundIndex };
            let varlen = start.header.as_ref().is_some_and(|header| header.varlen);
            by_positions(&positions, count, varlen, search, report)
        }
        None => {
            let lists = start.header.as_ref().map(|header| header.offsets);
            if lists == Some(true) {
                report
                    .notes
                    .push("the offsets are lost: chunks are in the order of the file".into());
            }
            report.order = if lists.is_some() { ChunkOrder::Index } else { ChunkOrder::Storage };
            in_order(input.len(), count, start, search, report)
        }
    })
}

fn place_of(found: &Found) -> Place<'_> {
    match &found.certainty {
        Ok(_) => Place::Chunk(found),
        Err(reason) => {
            let (source, reason) = (FoundAt::Bytes(found.range.clone()), reason.clone());
            Place::Hole { found: Some(found), source, reason }
        }
    }
}

/// By a list of positions.
fn by_positions<'f>(
    positions: &[u64],
    count: Option<u64>,
    varlen: bool,
    search: &'f Search,
    report: &mut SalvageReport,
) -> Vec<Place<'f>> {
    let number_of: HashMap<u64, usize> =
        positions.iter().enumerate().map(|(number, position)| (*position, number)).collect();
    let starts: HashSet<u64> = search.found.iter().map(|found| found.range.start).collect();
    let mut places: Vec<Option<&Found>> = vec![None; positions.len()];
    let mut next = 0;
    let mut more = Vec::new();
    for found in &search.found {
        let listed = number_of.get(&found.range.start).filter(|number| **number >= next);
        let free = || positions.get(next).is_some_and(|position| !starts.contains(position));
        let number = listed.copied().or_else(|| free().then_some(next));
        match number.and_then(|number| Some((number, places.get_mut(number)?))) {
            Some((number, place)) => {
                (*place, next) = (Some(found), number + 1);
                if varlen && listed.is_none() {
                    let words =
                        format!("it is not where object {number} should be: it may be older");
                    report.lose(FoundAt::Bytes(found.range.clone()), words);
                }
            }
            None if next == positions.len() && found.certainty.is_ok() => more.push(found),
            None => report.superseded += 1,
        }
    }
    let lost = |position: &u64| Place::Hole {
        found: None,
        source: FoundAt::Bytes(*position..*position),
        reason: MISSING.to_owned(),
    };
    let listed = places.into_iter().zip(positions);
    let mut places: Vec<Place<'f>> =
        listed.map(|(found, position)| found.map_or_else(|| lost(position), place_of)).collect();
    note_more(more.len(), report);
    places.extend(more.into_iter().map(Place::Chunk));
    if let Some(lost) = count.and_then(|count| count.checked_sub(places.len() as u64))
        && lost > 0
    {
        report.lose(FoundAt::Nowhere, format!("{lost} chunks more are counted than were found"));
    }
    places
}

/// One behind the other, as they are stored.
fn in_order<'f>(
    len: u64,
    count: Option<u64>,
    start: &Beginning,
    search: &'f Search,
    report: &mut SalvageReport,
) -> Vec<Place<'f>> {
    let mut places: Vec<Place<'f>> = search.found.iter().map(place_of).collect();
    let mut gaps: Vec<(usize, Range<u64>)> = Vec::new();
    // Where header and metadata do not tell where chunks begin, some may be missing before the first.
    let mut from = start.chunks.unwrap_or(0);
    for (number, found) in search.found.iter().enumerate() {
        gaps.push((number, from..found.range.start));
        from = found.end;
    }
    gaps.push((places.len(), from..len));
    gaps.retain(|(_, range)| !range.is_empty());
    let missing = count.map(|count| count.saturating_sub(places.len() as u64));
    let missing = missing.and_then(|missing| usize::try_from(missing).ok());
    let more = count.map_or(0, |count| (places.len() as u64).saturating_sub(count));
    note_more(usize::try_from(more).unwrap_or(0), report);
    match (missing, gaps.as_slice()) {
        (Some(0), gaps) => {
            for (_, range) in gaps {
                report
                    .notes
                    .push(format!("bytes {} to {} belong to nothing", range.start, range.end));
            }
        }
        (Some(missing @ ..=MOST_PADDING), [] | [_]) if start.chunks.is_some() => {
            let (at, range) = gaps.pop().unwrap_or((places.len(), len..len));
            let hole = || Place::Hole {
                found: None,
                source: FoundAt::Bytes(range.clone()),
                reason: "as many chunks are missing as the header counts more".to_owned(),
            };
            places.splice(at..at, (0..missing).map(|_| hole()));
        }
        (missing, gaps) => {
            if let Some(missing) = missing {
                report.order = ChunkOrder::Storage;
                report.notes.push(format!("{missing} chunks are missing, nobody knows where"));
            }
            gaps.iter()
                .for_each(|(_, range)| report.lose(FoundAt::Bytes(range.clone()), UNKNOWN.into()));
        }
    }
    places
}

/// Tells of chunks that an interrupted writer has left, or that a damaged header does not count.
fn note_more(count: usize, report: &mut SalvageReport) {
    if count > 0 {
        report.order = ChunkOrder::FoundIndex;
        let words = format!("{count} chunks that are not counted in the file come last");
        report.notes.push(words);
    }
}
