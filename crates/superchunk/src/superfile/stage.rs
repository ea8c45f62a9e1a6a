//! What a commit does to the files of a column.
//!
//! A chunk that fits its place is patched there, through the journal; the last chunk of a file can
//! always grow. A chunk that is added to a file with a free slot is written behind the last one, where
//! nothing is that anyone needs, and then linked by a patch of the index. Everything else has the file
//! written anew beside the old one.

use std::sync::PoisonError;

use super::column::{Column, Opened};
use super::file::{INDEX, Index, NCHUNKS, count_bytes};
use super::journal::Action;
use super::pending::PENDING;
use super::root::{copy_name, file_name};
use crate::chunk::Header;
use crate::container::Entry;
use crate::error::{Error, Result};
use crate::store::WriteAt;
use crate::wire;

/// The most slots that a new file gets beyond its chunks.
const MAX_SLOTS: usize = 512;

/// A chunk of a file that is not what was committed there.
struct Changed {
    /// Its slot in the file.
    at: usize,
    /// Where its bytes are: pending, or another committed chunk.
    source: u64,
}

/// What is done to a file that stays.
#[derive(Default)]
struct Plan {
    patches: Vec<(u64, Vec<u8>)>,
    /// Pending chunks that go where nothing is.
    fresh: Vec<(u64, u64)>,
    in_place: u64,
}

/// Stages what makes the chunks of the column those of `entries`.
pub(super) fn stage(column: &Column, entries: &[Entry]) -> Result<()> {
    let files = entries.len().div_ceil(column.per_file);
    let mut copied = false;
    for file in 0..files.max(column.count.div_ceil(column.per_file)) {
        let start = file.saturating_mul(column.per_file);
        let end = start.saturating_add(column.per_file).min(entries.len());
        match entries.get(start..end) {
            Some(wanted) if !wanted.is_empty() => copied |= stage_file(column, file, wanted)?,
            _ => column.root.stage(Action::Remove(column.file_id(file))),
        }
    }
    // The journal counts on the names of the copies.
    if copied { column.root.sync_names(column.folder.as_ref()) } else { Ok(()) }
}

/// Stages the changes of a file, and tells whether a copy of it was written.
fn stage_file(column: &Column, file: usize, wanted: &[Entry]) -> Result<bool> {
    let (first, old) = (file * column.per_file, column.count_in(file));
    let mut changed = Vec::new();
    for (at, entry) in wanted.iter().enumerate() {
        let source =
            entry.stored_slot().ok_or_else(|| Error::invalid("runs are not stored here"))?;
        if source != (first + at) as u64 || at >= old {
            changed.push(Changed { at, source });
        }
    }
    if changed.is_empty() && wanted.len() == old {
        return Ok(false);
    }
    let added = changed.iter().filter(|changed| changed.at >= old).count() as u64;
    let plan = if old > 0 { plan(column, file, wanted.len(), &changed)? } else { None };
    let rewritten = plan.is_none() && old > 0;
    {
        let mut updates = column.updates.lock().unwrap_or_else(PoisonError::into_inner);
        updates.added += added;
        updates.files_rewritten += u64::from(rewritten);
        updates.rewritten += if rewritten { changed.len() as u64 - added } else { 0 };
        updates.in_place += plan.as_ref().map_or(0, |plan| plan.in_place);
    }
    match plan {
        Some(plan) => carry_out(column, file, plan).map(|()| false),
        None => rewrite(column, file, wanted).map(|()| true),
    }
}

/// How a file can be changed where it is; `None` if it cannot.
fn plan(column: &Column, file: usize, wanted: usize, changed: &[Changed]) -> Result<Option<Plan>> {
    let opened = column.opened(file)?;
    let old = opened.index.offsets.len();
    if wanted > opened.index.slots || changed.iter().any(|changed| changed.source < PENDING) {
        return Ok(None);
    }
    let mut plan = Plan::default();
    let mut end = end_of(&opened, wanted.min(old), column)?;
    for Changed { at, source } in changed {
        let len = column.pending.len(*source)?;
        if *at >= old {
            let mut head = [0; 32];
            let found = column.pending.read(*source, 0, &mut head)?;
            let header = Header::parse(wire::filled(&head, found)?)?;
            let behind = column.reserve.behind(len, header.byte_len());
            plan.patches.push(((INDEX + 8 * at) as u64, end.to_le_bytes().to_vec()));
            plan.fresh.push((end, *source));
            end += (len + behind) as u64;
            continue;
        }
        let (start, place) = opened.index.place_of(*at)?;
        let last = at + 1 == old;
        if (len as u64 > place && !last) || !column.root.has_room_for(plan.patched() + len) {
            return Ok(None);
        }
        let mut chunk = column.pending.get(*source)?;
        if last {
            end = end.max(start + (len + reserve(column, &chunk)?) as u64);
        }
        // What is left of the old chunk becomes reserve.
        chunk.resize(len.max(chunk_len(&opened, *at)?), 0);
        plan.patches.push((start, chunk));
        plan.in_place += 1;
    }
    if wanted != old {
        let gone = vec![0xff; 8 * old.saturating_sub(wanted)];
        plan.patches.push(((INDEX + 8 * wanted) as u64, gone));
        plan.patches.push((NCHUNKS as u64, count_bytes(wanted).to_vec()));
    }
    Ok(Some(plan))
}

impl Plan {
    fn patched(&self) -> usize {
        self.patches.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// Where the next chunk goes: behind the last one that stays and its reserve.
fn end_of(opened: &Opened, count: usize, column: &Column) -> Result<u64> {
    let Some(last) = count.checked_sub(1) else {
        return Ok((INDEX + 8 * opened.index.slots) as u64);
    };
    let (start, _) = opened.index.place_of(last)?;
    let mut head = [0; 32];
    let found = opened.store.read_at(start, &mut head)?;
    let header = Header::parse(wire::filled(&head, found)?)?;
    let len = header.compressed_len();
    Ok(start + (len + column.reserve.behind(len, header.byte_len())) as u64)
}

/// The length of a committed chunk, no more than its place.
fn chunk_len(opened: &Opened, at: usize) -> Result<usize> {
    let (start, place) = opened.index.place_of(at)?;
    let mut head = [0; 32];
    let found = opened.store.read_at(start, &mut head)?;
    let len =
        Header::parse(wire::filled(&head, found)?).map_or(0, |header| header.compressed_len());
    Ok(usize::try_from(place).map_or(len, |place| len.min(place)))
}

fn reserve(column: &Column, chunk: &[u8]) -> Result<usize> {
    Ok(column.reserve.behind(chunk.len(), Header::parse(chunk)?.byte_len()))
}

fn carry_out(column: &Column, file: usize, plan: Plan) -> Result<()> {
    if !plan.fresh.is_empty() {
        let store = column.folder.edit(&file_name(file as u64))?;
        for (position, source) in &plan.fresh {
            store.write_at(*position, &column.pending.get(*source)?)?;
        }
        column.root.sync(store.as_ref())?;
    }
    for (position, bytes) in plan.patches {
        if !bytes.is_empty() {
            column.root.stage(Action::Patch { file: column.file_id(file), position, bytes });
        }
    }
    Ok(())
}

/// Writes a file anew, beside the old one.
fn rewrite(column: &Column, file: usize, wanted: &[Entry]) -> Result<()> {
    let name = copy_name(file as u64);
    let _ = column.folder.remove(&name);
    let store = column.folder.create_private(&name)?;
    if let Err(error) = write_file(column, wanted, store.as_ref()) {
        let _ = column.folder.remove(&name);
        return Err(error);
    }
    column.root.stage(Action::Replace(column.file_id(file)));
    Ok(())
}

fn write_file(column: &Column, wanted: &[Entry], store: &dyn WriteAt) -> Result<()> {
    let slots = column.per_file.min(MAX_SLOTS).max(wanted.len());
    let mut index = Index {
        typesize: column.typesize,
        offsets: Vec::with_capacity(wanted.len()),
        slots,
        len: 0,
    };
    let mut position = (INDEX + 8 * slots) as u64;
    for entry in wanted {
        let slot = entry.stored_slot().unwrap_or(u64::MAX);
        let chunk = if slot >= PENDING { column.pending.get(slot)? } else { column.chunk(slot)? };
        store.write_at(position, &chunk)?;
        index.offsets.push(position);
        position += (chunk.len() + reserve(column, &chunk)?) as u64;
    }
    store.write_at(0, &index.write())?;
    column.root.sync(store)
}
