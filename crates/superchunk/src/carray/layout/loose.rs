//! The last chunk of a writer that commits often: not compressed, so that it grows where it is.
//!
//! Compressing the last chunk anew and renaming it over the old one costs a new file each time. The second
//! commit that leaves a chunk which is not full stores its rows as they are. From then on rows go behind
//! those that are there, where nobody looks, and a commit changes the two lengths of the header: one write
//! inside of one sector. When the chunk is full, and when the writer ends, it is compressed like others.
//! Until then it has no checksum: rows that come over one in parts would make it a wrong one.
//!
//! ```text
//! blpk … │ 2 1 02 typesize │ nbytes blocksize cbytes │ rows ────────► more rows
//! 0       16                20                     32
//! ```

use std::sync::Arc;

use super::{Carray, chunk_name};
use crate::carray::chunk_file::HEADER_LEN;
use crate::chunk::stored_header;
use crate::error::{MustGet, Result};
use crate::store::WriteAt;

/// The bytes of the header of such a chunk, and where its lengths begin.
const CHUNK_HEADER_LEN: usize = 16;
const LENGTHS: usize = 4;

/// What is known of the last chunk.
#[derive(Default)]
pub(super) struct Loose {
    /// Whether a commit of this writer has left a chunk that is not full.
    often: bool,
    /// The chunk that can grow, and the bytes of its rows.
    chunk: Option<(u64, usize)>,
    /// The same as of the next commit.
    next: Option<(u64, usize)>,
    /// The file that has grown, and the header that says so.
    grown: Option<(Arc<dyn WriteAt>, Vec<u8>)>,
}

impl Loose {
    /// Whether chunk `number` is not compressed.
    pub(super) fn is(&self, number: u64) -> bool {
        self.chunk.is_some_and(|(known, _)| known == number)
    }

    /// A commit has placed its chunks, of which `changed` tells whether there were any, and left a last one
    /// that `is_short` or full. Tells whether it can grow where it is.
    pub(super) fn committed(&mut self, changed: bool, is_short: bool) -> bool {
        let next = self.next.take();
        if changed || next.is_some() {
            self.chunk = next;
            self.often |= is_short;
        }
        self.chunk.is_some()
    }
}

impl Carray {
    /// Stores the rows of a last chunk that is not full, if they need not be compressed: slot and length.
    /// Those up to `kept`, the length and slot of the chunk before it grew, are unchanged.
    pub(super) fn put_loose(
        &mut self,
        rows: &[u8],
        number: u64,
        kept: Option<(u64, usize)>,
        item_size: usize,
    ) -> Result<Option<(u64, usize)>> {
        let is_shard = self.shard.is_some();
        let loose = &mut self.writer()?.loose;
        (loose.next, loose.grown) = (None, None);
        if is_shard || !loose.often {
            return Ok(None);
        }
        let kept = kept.filter(|kept| loose.chunk == Some(*kept) && kept.0 == number);
        let header = stored_header(item_size, rows.len())?;
        let len = CHUNK_HEADER_LEN + rows.len();
        let slot = match kept.and_then(|(_, kept)| Some((kept, rows.get(kept..)?))) {
            Some((kept, fresh)) => {
                let file = self.home.data()?.edit(&chunk_name(number))?;
                file.write_at((HEADER_LEN + CHUNK_HEADER_LEN + kept) as u64, fresh)?;
                let writer = self.writer()?;
                writer.loose.grown = Some((file, header));
                writer.cbytes += len as u64;
                if let Some(watch) = self.control.watcher() {
                    watch.forget(number);
                }
                number
            }
            None => {
                let slot = self.slot_behind(number)?;
                self.write_file(&self.file_name(slot), &[&*header, rows].concat())?;
                self.keep(slot, len)?
            }
        };
        self.writer()?.loose.next = Some((number, rows.len()));
        Ok(Some((slot, len)))
    }

    /// Makes a chunk that has grown where it is as long as it is.
    pub(super) fn lengthen(&mut self) -> Result<()> {
        let grown = self.writer.as_mut().and_then(|writer| writer.loose.grown.take());
        let Some((file, header)) = grown else { return Ok(()) };
        let lengths = header.must_get(LENGTHS..)?;
        self.home.sync_file(file.as_ref())?;
        file.write_at((HEADER_LEN + LENGTHS) as u64, lengths)?;
        self.home.sync_file(file.as_ref())
    }
}
