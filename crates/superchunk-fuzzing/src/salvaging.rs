//! Remains of frames: whatever they are, salvage ends with a frame or an error.

use superchunk::{ErrorKind, Result, SuperChunk, salvage as salvaging};

use crate::bounds::{bounded, limits};
use crate::files::Files;

/// Runs are written out in pieces of a usual chunk, of a megabyte.
const PIECES: usize = 1 << 18;

/// How much of the input's length may be taken at once: every byte may begin something that looks like a chunk.
const PER_BYTE: usize = 64;

/// Remains of a contiguous frame, and the same bytes as files of a sparse one.
pub(crate) fn salvage(input: &[u8]) {
    let _ = bounded(PIECES + PER_BYTE * input.len(), || look(salvaging::frame(input, &limits())));
    let folder = Files::SPARSE.folder(input);
    let _ = bounded(PIECES + PER_BYTE * input.len(), || {
        look(salvaging::sparse(folder.as_ref(), &limits()))
    });
}

fn look(saved: Result<(SuperChunk, salvaging::Report)>) -> Result<()> {
    let (frame, report) = saved?;
    let _ = report.is_whole();
    for number in 0..frame.chunk_count().min(100) {
        // A chunk of a filter that only its writer has is kept as it is; a hole is as long as a header says.
        match frame.read_chunk(number) {
            Err(error)
                if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::LimitExceeded) => {}
            chunk => {
                assert!(chunk.is_ok(), "chunk {number} was saved and cannot be read: {chunk:?}")
            }
        }
    }
    Ok(())
}
