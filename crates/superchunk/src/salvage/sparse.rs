//! Sparse frames: the index file may be damaged or gone, and so may be files of chunks.

use std::collections::{BTreeMap, HashSet};

use super::SalvageOptions;
use super::input::Input;
use super::rebuild::{Create, Fetch, Part, Plan, Size, check_count, label};
use super::report::{Certainty, ChunkOrder, FoundAt, SalvageReport};
use super::scan::Judge;
use super::trailers::trailers;
use super::watched::Watch;
use crate::block_shape::BlockShape;
use crate::chunk::Header;
use crate::container::{Entry, Layer, Slot};
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::frame::remains::{self, Head, Sealed};
use crate::frame::{INDEX, Kind, chunk_id, chunk_name};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::store::{Bytes, Dir, ReadAt};
use crate::wire;

/// A chunk file that can be read.
struct File {
    len: usize,
    item_size: usize,
    certainty: Certainty,
}

/// Recovers what can be recovered of the sparse frame in a folder. `create` makes the super-chunk
/// that takes it, such as [`SuperChunk::in_memory`]; it is not committed.
pub fn sparse(
    dir: &dyn Dir,
    create: Create<'_>,
    options: impl Into<SalvageOptions>,
) -> Result<(SuperChunk, SalvageReport)> {
    let options = options.into();
    let watch = Watch::new(&options);
    watch.finish(find(&watch.over(dir), create, &options.limits))
}

fn find(dir: &dyn Dir, create: Create<'_>, limits: &Limits) -> Result<(SuperChunk, SalvageReport)> {
    let index = dir.open(INDEX).and_then(|file| read_all(file.as_ref(), limits.max_metadata));
    let index = match index {
        Err(error) if error.is_no_damage() => return Err(error),
        index => index.unwrap_or_default(),
    };
    let head = remains::head(index.clone(), Kind::Sparse).ok();
    let (listed, mut values, sealed) = list(&index, head.as_ref(), limits)?;
    let on_disk: Vec<u64> = numbers(dir)?;
    // Where no checksum vouches for it, an index without entries is believed if there are no chunks.
    let is_believed = |entries: &Vec<Entry>| {
        !entries.is_empty() || sealed > Sealed::Nothing || on_disk.is_empty()
    };
    let listed = listed.filter(is_believed);
    let hashes: BTreeMap<u64, u64> =
        remains::file_hashes(&mut values, limits).into_iter().collect();
    let order = if listed.is_some() { ChunkOrder::Index } else { ChunkOrder::Storage };
    let mut report = SalvageReport::new("sparse frame", order);
    report.sealed = sealed > Sealed::Nothing;
    let all = || on_disk.iter().map(|id| Entry::stored(*id)).collect::<Vec<_>>();
    let mut entries = listed.unwrap_or_else(all);
    let shape = head.as_ref().and_then(|head| head.contents.block_shape());
    let is_shape_sealed = sealed == Sealed::Everything;
    let folder = ChunkFolder { dir, limits, shape, is_shape_sealed };
    let (mut parts, mut sizes) = folder.parts(&entries, &hashes, report.order)?;
    let has_runs = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Run(_)));
    if sizes.is_empty() && !has_runs(&parts) && !report.sealed && !on_disk.is_empty() {
        // The index leads nowhere.
        (entries, report.order) = (all(), ChunkOrder::Storage);
        (parts, sizes) = folder.parts(&entries, &hashes, report.order)?;
    }
    let order = report.order;
    let live: HashSet<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    report.superseded = on_disk.iter().filter(|id| !live.contains(id)).count();
    let is_empty = head.is_some() && order == ChunkOrder::Index && live.is_empty();
    if sizes.is_empty() && !has_runs(&parts) && !is_empty {
        return Err(Error::corrupt("nothing in it can be read as a chunk").within("salvage"));
    }
    let mut plan = Plan::new(head.as_ref().map(|head| &head.contents), &sizes, &mut report);
    plan.values = values;
    plan.limits = *limits;
    if order == ChunkOrder::Storage {
        plan.pad(&mut parts, &mut report);
    }
    if head.is_some_and(|head| head.lacks_magic) {
        report.lose(FoundAt::File(INDEX.to_owned()), "it does not say `b2frame`".to_owned());
    }
    let mut files = Files { dir, limits: *limits, chunk: Vec::new() };
    let mut frame = plan.build(parts, &mut files, create, &mut report)?;
    label(&mut frame, &mut report)?;
    Ok((frame, report))
}

/// The folder of the chunk files, and what decides whether a file is a chunk.
struct ChunkFolder<'a> {
    dir: &'a dyn Dir,
    limits: &'a Limits,
    /// The shape of a block, and whether a checksum vouches for it.
    shape: Option<BlockShape>,
    is_shape_sealed: bool,
}

impl ChunkFolder<'_> {
    /// What entries lead to, and the item size and length of each chunk that is there.
    fn parts(
        &self,
        entries: &[Entry],
        hashes: &BTreeMap<u64, u64>,
        order: ChunkOrder,
    ) -> Result<(Vec<Part>, Vec<Size>)> {
        check_count(entries.len(), self.limits)?;
        let (mut parts, mut sizes) = (Vec::new(), Vec::new());
        for (number, entry) in entries.iter().enumerate() {
            let (part, file) = match entry.slot(number) {
                Ok(Slot::Run(run)) => (Part::Run(run), None),
                Err(error) => {
                    (Part::Hole { source: FoundAt::Index, reason: error.to_string() }, None)
                }
                Ok(Slot::Stored(id)) => self.part_of(id, hashes.get(&id).copied(), order)?,
            };
            parts.push(part);
            sizes.extend(file.map(|file| (file.item_size, file.len)));
        }
        Ok((parts, sizes))
    }

    /// What a chunk file holds.
    fn part_of(
        &self,
        id: u64,
        hash: Option<u64>,
        order: ChunkOrder,
    ) -> Result<(Part, Option<File>)> {
        let source = FoundAt::File(chunk_name(id));
        match self.look(id, hash) {
            Ok(file) => {
                let part = Part::Chunk { source, len: file.len, certainty: file.certainty };
                Ok((part, Some(file)))
            }
            // It may be whole: that there is too little memory must not make it a hole.
            Err(error) if error.is_no_damage() => Err(error),
            Err(error) => {
                let reason = error.to_string();
                let part = match order {
                    ChunkOrder::Storage => Part::Lost { source, reason },
                    _ => Part::Hole { source, reason },
                };
                Ok((part, None))
            }
        }
    }

    fn look(&self, id: u64, hash: Option<u64>) -> Result<File> {
        let file = self.dir.open(&chunk_name(id))?;
        let judge = Judge::new(file.as_ref(), self.limits)?;
        let mut judge = judge.with_shape(self.shape.clone(), self.is_shape_sealed);
        let found = judge.look(0)?;
        if let Some((kind, words)) = found.refusal {
            return Err(Error::new(kind, words));
        }
        let chunk = judge.input.whole(&(0..found.len as u64))?;
        let certainty = match hash.map(|hash| remains::has_hash(chunk, hash)) {
            Some(true) => {
                let header = Header::parse(chunk)?;
                judge.best_certainty(&header)
            }
            Some(false) => {
                return Err(Error::corrupt("it does not have the checksum it was written with"));
            }
            None => found.certainty,
        };
        Ok(File { len: found.decoded_len, item_size: found.item_size, certainty })
    }
}

/// The chunk files, one of which is in memory.
struct Files<'a> {
    dir: &'a dyn Dir,
    limits: Limits,
    chunk: Vec<u8>,
}

impl Fetch for Files<'_> {
    fn fetch(&mut self, source: &FoundAt) -> Result<&[u8]> {
        let FoundAt::File(name) = source else {
            return Err(Error::corrupt("it is in no file"));
        };
        // Errors of the source must not be taken for errors of the result.
        let read = |name: &str| -> Result<Vec<u8>> {
            let file = self.dir.open(name)?;
            let mut start = [0; 32];
            let found = file.read_at(0, &mut start)?;
            let header = Header::parse(wire::filled(&start, found)?)?;
            self.limits.check_decoded(header.compressed_len())?;
            let mut chunk = vec![0; header.compressed_len()];
            file.read_exact_at(0, &mut chunk)?;
            Ok(chunk)
        };
        self.chunk = read(name).map_err(|error| error.of_kind(ErrorKind::Corrupt))?;
        Ok(&self.chunk)
    }
}

/// The entries of the index if it can be read, the values, and whether a checksum vouches for them.
fn list(
    index: &[u8],
    head: Option<&Head>,
    limits: &Limits,
) -> Result<(Option<Vec<Entry>>, Vec<Layer>, Sealed)> {
    let store = Bytes::new(index);
    let trailer = trailers(&mut Input::new(&store)?).pop();
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let trailer = trailer.map(|trailer| place(trailer.start)..place(trailer.end));
    let Some(trailer) = trailer else { return Ok((None, Vec::new(), Sealed::Nothing)) };
    let values = remains::values(index.must_get(trailer.clone())?);
    // Header, index and trailer fill the file: the index begins where the header ends, or at the
    // only place from where it ends before the trailer.
    let stated = head.map(|head| place(head.header_len));
    let starts = stated.into_iter().chain(0..trailer.start);
    let is_empty = head.is_some_and(|head| head.contents.nbytes == 0);
    let read = |start: usize| {
        let part = index.get(start..trailer.start)?;
        if part.is_empty() {
            return (is_empty && stated == Some(start)).then(|| (start, Vec::new()));
        }
        let header = Header::parse(part).ok()?;
        let fits =
            header.compressed_len() == part.len() && remains::is_entry_len(header.item_size());
        fits.then(|| remains::entries(part, limits).ok()).flatten().map(|entries| (start, entries))
    };
    let Some((start, entries)) = starts.into_iter().find_map(read) else {
        return Ok((None, values, Sealed::Nothing));
    };
    let part = index.must_get(start..trailer.end)?;
    let sealed = head.and_then(|head| {
        let tail = remains::tail(part, limits).ok()?;
        Some(remains::sealed(head, &[], part, &tail))
    });
    Ok((Some(entries), values, sealed.unwrap_or_default()))
}

/// The numbers of all chunk files, in order.
fn numbers(dir: &dyn Dir) -> Result<Vec<u64>> {
    let mut numbers: Vec<u64> = dir.names()?.iter().filter_map(|name| chunk_id(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// A whole file of at most this many bytes.
pub(super) fn read_all(file: &dyn ReadAt, most: usize) -> Result<Vec<u8>> {
    let len = file.len()?;
    let len = usize::try_from(len).ok().filter(|len| *len <= most).ok_or_else(|| {
        Error::limit(format!("the file has {len} bytes, {most} are the limit for it"))
    })?;
    let mut bytes = vec![0; len];
    let read = file.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
