//! A hundred thousand containers are opened, read and let go: no descriptor, no thread and no memory stays behind.
//!
//! The one test of its file, because it counts what the whole process has.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use superchunk::bcolz::{Array, ArrayOptions};
use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::{Durability, Kind};
use superchunk::{
    CompressOptions, FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions, Selection,
    SuperChunk,
};
use superchunk_testkit::alloc::{CountingAllocator, live};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const OPENS: usize = 100_000;
const ROWS: u64 = 500;

struct Containers {
    contiguous: PathBuf,
    sparse: PathBuf,
    array: PathBuf,
    pack: PathBuf,
    bcolz: PathBuf,
}

impl Containers {
    fn new(scratch: &Scratch) -> Self {
        let bytes = mixed(4 * usize::try_from(ROWS).unwrap(), 4, 1);
        let paths = Self {
            contiguous: scratch.path("a.b2frame"),
            sparse: scratch.path("b.b2frame"),
            array: scratch.path("c.b2nd"),
            pack: scratch.path("d.blp"),
            bcolz: scratch.path("e"),
        };
        let frame = FrameOptions::new(CompressOptions::new(4))
            .with_chunk_size(800)
            .with_durability(Durability::Process);
        for (kind, path) in [(Kind::Contiguous, &paths.contiguous), (Kind::Sparse, &paths.sparse)] {
            let mut made = SuperChunk::create(path, &frame.clone().with_kind(kind)).unwrap();
            made.append(&bytes).unwrap();
            made.close().unwrap();
        }
        let options = NdStorage::default().with_chunks(&[100]).with_blocks(&[50]);
        let mut array = NdArray::create(
            &paths.array,
            &NdOptions::of::<u32>(&[ROWS]).with_storage(options.clone()),
        )
        .unwrap();
        array.write_bytes(&Selection::all(&[ROWS]), &bytes).unwrap();
        array.close().unwrap();
        let options = PackOptions::new().with_compress(CompressOptions::new(4));
        std::fs::write(&paths.pack, options.with_chunk_size(800).pack(&bytes).unwrap()).unwrap();
        let options = ArrayOptions::of::<u32>().with_chunk_rows(200);
        let mut array = Array::create(&paths.bcolz, &options).unwrap();
        array.append(&bytes).unwrap();
        array.close().unwrap();
        paths
    }

    /// Opens the container of this number, and reads a row; some fail to open.
    fn open(&self, number: usize) {
        let mut row = [0; 4];
        let at = number as u64 % ROWS;
        let read = match number % 7 {
            0 => SuperChunk::open(&self.contiguous).unwrap().read_items(at..at + 1, &mut row),
            1 => SuperChunk::open(&self.sparse).unwrap().read_items(at..at + 1, &mut row),
            2 => NdArray::open(&self.array).unwrap().read_box(&[at], &[at + 1], &mut row),
            3 => Pack::open(&self.pack)
                .unwrap()
                .superchunk()
                .unwrap()
                .read_items(at..at + 1, &mut row),
            4 => Array::open(&self.bcolz).unwrap().read_rows(at..at + 1, &mut row),
            5 => {
                let follow = OpenOptions::new().with_following(true);
                SuperChunk::open_with(&self.contiguous, &follow)
                    .unwrap()
                    .read_items(at..at + 1, &mut row)
            }
            // What is refused leaves nothing behind either.
            _ => {
                SuperChunk::open(&self.pack).unwrap_err();
                Array::open(&self.contiguous).unwrap_err();
                Pack::open(&self.bcolz).unwrap_err();
                Ok(())
            }
        };
        read.unwrap();
    }
}

/// Open descriptors and threads of this process, and the memory that this thread holds.
fn held() -> (usize, usize, isize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"), live())
}

#[test]
fn nothing_stays_behind_of_a_hundred_thousand_opens() {
    let scratch = Scratch::new();
    let containers = Containers::new(&scratch);
    // What is made once, as the features of the processor, is made now.
    (0..70).for_each(|number| containers.open(number));
    let before = held();
    (0..OPENS).for_each(|number| containers.open(number));
    assert_eq!(held(), before);
}
