//! Super-chunks of superchunk as a contestant.

use std::ops::Range;
use std::path::Path;

use superchunk::frame::Durability;
use superchunk::{FrameOptions, OpenOptions, SuperChunk};

use crate::choice::Setup;
use crate::contestant::Answer;
use crate::frame_side::{FrameReader, FrameSide};
use crate::ours::{executor, options, words};

/// Frames are made with this setup; checksums are on, as they are for a caller who says nothing.
pub(crate) struct OurFrames {
    setup: Setup,
    durability: Durability,
}

impl OurFrames {
    /// With what a commit promises in C-Blosc2, which never waits for the disk.
    pub(crate) fn unsynced(setup: &Setup) -> Self {
        Self { setup: *setup, durability: Durability::Process }
    }

    /// With what a commit promises by default.
    pub(crate) fn durable(setup: &Setup) -> Self {
        Self { setup: *setup, durability: Durability::Full }
    }
}

impl FrameSide for OurFrames {
    fn write(&self, path: &Path, chunk_size: usize, pieces: &[&[u8]]) -> Answer<()> {
        let options = FrameOptions::new(options(&self.setup))
            .with_chunk_size(chunk_size)
            .with_durability(self.durability);
        let mut frame = SuperChunk::create(path, &options).map_err(words)?;
        for piece in pieces {
            frame.append(piece).map_err(words)?;
        }
        frame.commit().map_err(words)
    }

    fn open<'a>(&'a self, path: &Path) -> Answer<Box<dyn FrameReader + 'a>> {
        let options = OpenOptions::new().with_executor(executor(&self.setup));
        Ok(Box::new(Reader(SuperChunk::open_with(path, &options).map_err(words)?)))
    }
}

struct Reader(SuperChunk);

impl FrameReader for Reader {
    fn chunk_count(&self) -> u64 {
        self.0.chunk_count() as u64
    }

    fn len(&self) -> u64 {
        self.0.byte_len()
    }

    fn read_chunk(&mut self, index: u64, dst: &mut [u8]) -> Answer<usize> {
        let index = usize::try_from(index).map_err(|e| e.to_string())?;
        self.0.read_chunk_into(index, dst).map_err(words)
    }

    fn read_items(&mut self, items: Range<u64>, dst: &mut [u8]) -> Answer<()> {
        self.0.read_items(items, dst).map_err(words)
    }
}
