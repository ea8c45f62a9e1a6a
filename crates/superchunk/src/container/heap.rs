//! Chunks on the heap: a container that is not stored anywhere.

use super::{Contents, Integrity, Layout};
use crate::error::{Error, MustGet, Result};

/// Chunks by number; a released number is used again.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    chunks: Vec<Vec<u8>>,
    free: Vec<usize>,
}

impl Heap {
    fn chunk(&self, slot: u64) -> Result<&Vec<u8>> {
        let chunk = usize::try_from(slot).ok().and_then(|slot| self.chunks.get(slot));
        chunk.ok_or_else(|| Error::corrupt(format!("there is no chunk {slot} in memory")))
    }
}

impl Layout for Heap {
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let chunk = self.chunk(slot)?;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let (dst, rest) = (dst.iter_mut(), chunk.iter().skip(start));
        Ok(dst.zip(rest).map(|(to, from)| *to = *from).count())
    }

    fn as_bytes(&self, slot: u64) -> Option<&[u8]> {
        self.chunk(slot).ok().map(Vec::as_slice)
    }

    fn extent(&self, slot: u64, _next: Option<u64>) -> Result<u64> {
        Ok(self.chunk(slot)?.len() as u64)
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        let kept = chunk.clone();
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.chunks.push(Vec::new());
                self.chunks.len() - 1
            }
        };
        *self.chunks.must_get_mut(slot)? = kept;
        Ok(slot as u64)
    }

    fn release(&mut self, slot: u64, _len: usize) {
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        if let Some(chunk) = self.chunks.get_mut(slot) {
            *chunk = Vec::new();
            self.free.push(slot);
        }
    }

    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        Ok(None)
    }

    fn commit(&mut self, _contents: &mut Contents) -> Result<()> {
        Ok(())
    }

    fn integrity(&self) -> Integrity {
        Integrity::None
    }

    fn stored_len(&self) -> Result<u64> {
        Ok(self.chunks.iter().map(|chunk| chunk.len() as u64).sum())
    }

    fn name(&self) -> String {
        "memory".to_owned()
    }
}
