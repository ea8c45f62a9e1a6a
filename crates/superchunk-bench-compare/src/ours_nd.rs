//! Arrays of superchunk as a contestant.

use std::path::Path;

use superchunk::frame::Durability;
use superchunk::{DType, FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions, SuperChunk};

use crate::choice::Setup;
use crate::contestant::Answer;
use crate::nd_side::{Cuboid, Index, NdHandle, NdSide, Points, Shapes};
use crate::ours::{executor, options, words};

/// Arrays are made with this setup; checksums are on, as they are for a caller who says nothing.
/// Commits promise what they promise in C-Blosc2, which never waits for the disk.
pub(crate) struct OurArrays {
    setup: Setup,
}

impl OurArrays {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self { setup: *setup }
    }
}

impl NdSide for OurArrays {
    fn create(&self, path: &Path, shapes: &Shapes, data: &[u8]) -> Answer<()> {
        let frame = FrameOptions::new(options(&self.setup)).with_durability(Durability::Process);
        let options = NdStorage::new(frame).with_chunks(&shapes.chunk).with_blocks(&shapes.block);
        let dtype = DType::of::<f32>();
        let mut array = NdArray::create(
            path,
            &NdOptions::new(&shapes.array, dtype.clone()).with_storage(options.clone()),
        )
        .map_err(words)?;
        array.write_box(&[0; 3], &shapes.array, data).map_err(words)?;
        array.close().map_err(words)
    }

    fn open<'a>(&'a self, path: &Path) -> Answer<Box<dyn NdHandle + 'a>> {
        let options = OpenOptions::new().with_executor(executor(&self.setup));
        let array = SuperChunk::open_with(path, &options).and_then(NdArray::from_superchunk);
        Ok(Box::new(Handle(array.map_err(words)?)))
    }

    fn edit<'a>(&'a self, path: &Path) -> Answer<Box<dyn NdHandle + 'a>> {
        let options = OpenOptions::new()
            .with_durability(Durability::Process)
            .with_executor(executor(&self.setup));
        let array = SuperChunk::edit_with(path, &options).and_then(NdArray::from_superchunk);
        Ok(Box::new(Handle(array.map_err(words)?)))
    }
}

struct Handle(NdArray);

impl NdHandle for Handle {
    fn shape(&self) -> Answer<Index> {
        self.0.shape().try_into().map_err(|_| format!("{} dimensions", self.0.ndim()))
    }

    fn read(&mut self, cuboid: &Cuboid, dst: &mut [u8]) -> Answer<()> {
        self.0.read_box(&cuboid.start, &cuboid.stop, dst).map_err(words)
    }

    fn read_points(&mut self, points: &Points, dst: &mut [u8]) -> Answer<()> {
        self.0.read_points(&points.ours, dst).map_err(words)
    }

    fn write(&mut self, cuboid: &Cuboid, src: &[u8]) -> Answer<()> {
        self.0.write_box(&cuboid.start, &cuboid.stop, src).map_err(words)
    }

    fn append(&mut self, src: &[u8]) -> Answer<()> {
        self.0.append(0, src).map_err(words)
    }

    fn commit(&mut self) -> Answer<()> {
        self.0.commit().map_err(words)
    }
}
