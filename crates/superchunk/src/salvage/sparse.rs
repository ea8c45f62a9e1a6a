//! Sparse frames: the index file may be damaged or gone, and so may be files of chunks.

use std::collections::BTreeMap;

use super::rebuild::{Part, Plan};
use super::report::{Certainty, Order, Report, Source};
use super::scan::Judge;
use crate::container::{Entry, Layer, Slot};
use crate::error::{Error, Result};
use crate::frame::remains::{self, Head};
use crate::frame::{INDEX, Kind, chunk_id, chunk_name};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::store::{Dir, ReadAt};

/// A chunk file that can be read.
struct File {
    bytes: Vec<u8>,
    len: usize,
    item_size: usize,
    certainty: Certainty,
}

/// Recovers what can be recovered of the sparse frame in a folder.
pub fn sparse(dir: &dyn Dir, limits: &Limits) -> Result<(SuperChunk, Report)> {
    let index = dir.open(INDEX).and_then(|file| read_all(file.as_ref(), limits));
    let index = index.unwrap_or_default();
    let head = remains::head(&index, Kind::Sparse).ok();
    let (listed, mut values, sealed) = list(&index, head.as_ref(), limits);
    let hashes: BTreeMap<u64, u64> =
        remains::file_hashes(&mut values, limits).into_iter().collect();
    let order = if listed.is_some() { Order::Index } else { Order::Storage };
    let mut report = Report::new("sparse frame", order);
    report.sealed = sealed;
    let on_disk: Vec<u64> = numbers(dir)?;
    let entries = listed.unwrap_or_else(|| on_disk.iter().map(|id| Entry::stored(*id)).collect());
    let live: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    report.superseded = on_disk.iter().filter(|id| !live.contains(id)).count();
    let mut files: Vec<Result<File>> = Vec::new();
    for id in live {
        files.push(read_chunk(dir, id, hashes.get(&id).copied(), limits));
    }
    let sizes: Vec<(usize, usize)> =
        files.iter().flatten().map(|file| (file.item_size, file.len)).collect();
    if sizes.is_empty() && (head.is_none() || order == Order::Storage) {
        return Err(Error::corrupt("nothing in it can be read as a chunk").within("salvage"));
    }
    let mut plan = Plan::new(head.as_ref().map(|head| &head.contents), &sizes, &mut report);
    plan.values = values;
    plan.limits = *limits;
    let mut parts = parts_of(&entries, &files, order);
    if order == Order::Storage {
        plan.pad(&mut parts, &mut report);
    }
    plan.build(parts, &mut report).map(|frame| (frame, report))
}

/// The entries of the index if it can be read, the values, and whether a checksum vouches for them.
fn list(
    index: &[u8],
    head: Option<&Head>,
    limits: &Limits,
) -> (Option<Vec<Entry>>, Vec<Layer>, bool) {
    let Some(trailer) = remains::trailers(index).pop() else { return (None, Vec::new(), false) };
    let values = remains::values(index.get(trailer.clone()).unwrap_or_default());
    // Header, index and trailer fill the file: the index begins where the header ends, or at the
    // only place from where it ends before the trailer.
    let starts = head.map(|head| head.header_len).into_iter().chain(0..trailer.start);
    let read = |start: usize| {
        let part = index.get(start..trailer.start)?;
        let header = crate::chunk::Header::parse(part).ok()?;
        let fits = header.compressed_len() == part.len() && header.item_size() == 8;
        fits.then(|| remains::entries(part, limits).ok()).flatten().map(|entries| (start, entries))
    };
    let Some((start, entries)) = starts.into_iter().find_map(read) else {
        return (None, values, false);
    };
    let sealed = head.is_some_and(|head| {
        let tail = remains::tail(index, start..trailer.end, limits);
        tail.is_ok_and(|tail| remains::is_sealed(index, head, &tail))
    });
    (Some(entries), values, sealed)
}

fn parts_of<'a>(entries: &[Entry], files: &'a [Result<File>], order: Order) -> Vec<Part<'a>> {
    let mut files = files.iter();
    let part = |(number, entry): (usize, &Entry)| match entry.slot(number) {
        Ok(Slot::Run(run)) => Some(Part::Run(run)),
        Err(error) => Some(Part::Hole { source: Source::Index, reason: error.to_string() }),
        Ok(Slot::Stored(id)) => {
            let source = Source::File(chunk_name(id));
            Some(match files.next()? {
                Ok(File { bytes, len, certainty, .. }) => {
                    Part::Chunk { bytes, source, len: *len, certainty: *certainty }
                }
                Err(error) if order == Order::Storage => {
                    Part::Lost { source, reason: error.to_string() }
                }
                Err(error) => Part::Hole { source, reason: error.to_string() },
            })
        }
    };
    entries.iter().enumerate().filter_map(part).collect()
}

/// The numbers of all chunk files, in order.
fn numbers(dir: &dyn Dir) -> Result<Vec<u64>> {
    let mut numbers: Vec<u64> = dir.names()?.iter().filter_map(|name| chunk_id(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read_chunk(dir: &dyn Dir, id: u64, hash: Option<u64>, limits: &Limits) -> Result<File> {
    let file = dir.open(&chunk_name(id))?;
    let mut bytes = read_all(file.as_ref(), limits)?;
    let found = Judge::new(&bytes, limits).look(0)?;
    bytes.truncate(found.len);
    let certainty = match hash {
        Some(hash) if remains::has_hash(&bytes, hash) => Certainty::Verified,
        Some(_) => {
            return Err(Error::corrupt("it does not have the checksum it was written with"));
        }
        None => found.certainty,
    };
    Ok(File { bytes, len: found.decoded_len, item_size: found.item_size, certainty })
}

/// A whole file, which a chunk or the metadata may fill.
pub(super) fn read_all(file: &dyn ReadAt, limits: &Limits) -> Result<Vec<u8>> {
    let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    let most = limits.max_decoded.max(limits.max_metadata).saturating_add(4096);
    let mut bytes = vec![0; len.min(most)];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
