//! Remains of frames and folders: whatever they are, salvage ends with a new one, which can be read, or an error.

use std::sync::Arc;

use superchunk::store::{Bytes, Dir, MemoryFolder};
use superchunk::{ErrorKind, Limits, Result, SuperChunk, bcolz, blsk, salvage as salvaging};

use crate::bounds::{LIMIT, bounded, limits, no_bug, options};
use crate::files::Files;

/// Runs are written out in pieces of a usual chunk, of a megabyte.
const PIECES: usize = 1 << 18;

/// How much of the input's length may be taken at once: every byte may begin something that looks like a chunk.
const PER_BYTE: usize = 64;

/// Remains of a contiguous frame, and the same bytes as the files of a sparse one, of a folder of bcolz, and of a
/// tree of blsk.
pub(crate) fn salvage(input: &[u8]) {
    let len = PIECES + PER_BYTE * input.len();
    let create = &mut SuperChunk::in_memory;
    bounded(len, || frame(salvaging::frame(&Bytes::new(input), create, &limits())));
    let folder = Files::SPARSE.folder(input);
    let create = &mut SuperChunk::in_memory;
    bounded(len, || frame(salvaging::sparse(folder.as_ref(), create, &limits())));
    let folder = Files::BCOLZ.folder(input);
    bounded(len, || bcolz_folder(folder.as_ref()));
    let folder = Files::BLSK.folder(input);
    bounded(len, || blsk_tree(folder.as_ref()));
}

fn frame(saved: Result<(SuperChunk, salvaging::SalvageReport)>) {
    let Ok((frame, report)) = no_bug(saved) else { return };
    let _ = report.is_whole();
    for number in 0..frame.chunk_count().min(100) {
        readable(frame.read_chunk(number));
    }
}

fn bcolz_folder(folder: &dyn Dir) {
    let Some((to, report)) = saved(|from, to, limits| salvaging::bcolz(from, to, limits), folder)
    else {
        return;
    };
    if report.format != "bcolz table" {
        let array = readable(bcolz::Array::open_in_dir(to, &options()));
        array.iter().for_each(bcolz_rows);
    } else if let Some(table) = readable(bcolz::Table::open_in_dir(to, &options())) {
        table.arrays().iter().for_each(|(_, array)| bcolz_rows(array));
    }
}

fn bcolz_rows(array: &bcolz::Array) {
    if array.is_object() {
        (0..array.row_count().min(100)).for_each(|row| drop(readable(array.object_bytes(row))));
        return;
    }
    let (rows, mut dst) = room(array.row_count(), array.row_size());
    readable(array.read_rows(0..rows, &mut dst));
}

fn blsk_tree(folder: &dyn Dir) {
    let Some((to, report)) = saved(|from, to, limits| salvaging::blsk(from, to, limits), folder)
    else {
        return;
    };
    if report.format == "blsk array" {
        let Some(array) = readable(blsk::Array::open_in_dir(to, &options())) else { return };
        let (rows, mut dst) = room(array.row_count(), array.row_size());
        readable(array.read_rows(0..rows, &mut dst));
    } else if let Some(table) = readable(blsk::Table::open_in_dir(to, &options())) {
        for name in table.names() {
            let (rows, mut dst) = room(table.row_count(), table.row_size(name).unwrap_or(1));
            readable(table.read_rows(name, 0..rows, &mut dst));
        }
    }
}

/// How many of `rows` rows are read, and where to.
fn room(rows: u64, size: usize) -> (u64, Vec<u8>) {
    let most = LIMIT / size.max(1);
    let count = usize::try_from(rows).map_or(most, |rows| rows.min(most));
    (count as u64, vec![0; count * size])
}

/// The new folder, and what is said of it.
fn saved(
    rebuild: impl Fn(&dyn Dir, Arc<dyn Dir>, &Limits) -> Result<salvaging::SalvageReport>,
    folder: &dyn Dir,
) -> Option<(Arc<dyn Dir>, salvaging::SalvageReport)> {
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let report = no_bug(rebuild(folder, to.clone(), &limits())).ok()?;
    let _ = report.is_whole();
    Some((to, report))
}

/// What was saved can be read. A chunk of a filter that only its writer has is kept as it is; a hole is as long as
/// a header says.
fn readable<T>(read: Result<T>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::LimitExceeded) => {
            None
        }
        Err(error) => panic!("it was saved and cannot be read: {error}"),
    }
}
