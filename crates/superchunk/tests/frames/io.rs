//! How much a frame reads and writes, counted by a store that notes every call.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superchunk::store::{Dir, MemoryFolder, ReadAt, WriteAt};
use superchunk::{
    Codec, CompressOptions, ErrorKind, FrameOptions, OpenOptions, Result, SuperChunk,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;

/// A folder whose files count what is done with them.
#[derive(Default)]
struct Counting {
    inner: MemoryFolder,
    counts: Arc<Counts>,
    /// What the files say of themselves.
    near: bool,
}

#[derive(Default)]
struct Counts {
    reads: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    syncs: AtomicU64,
}

impl Counts {
    fn take(counter: &AtomicU64) -> u64 {
        counter.swap(0, Ordering::Relaxed)
    }
}

struct File<S: ?Sized> {
    counts: Arc<Counts>,
    store: Arc<S>,
    near: bool,
}

impl<S: ReadAt + ?Sized> ReadAt for File<S> {
    fn len(&self) -> Result<u64> {
        self.store.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.counts.reads.fetch_add(1, Ordering::Relaxed);
        self.counts.read.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.store.read_at(position, dst)
    }

    fn is_near(&self) -> bool {
        self.near
    }
}

impl<S: WriteAt + ?Sized> WriteAt for File<S> {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        self.counts.written.fetch_add(src.len() as u64, Ordering::Relaxed);
        self.store.write_at(position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.store.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        self.counts.syncs.fetch_add(1, Ordering::Relaxed);
        self.store.sync()
    }
}

impl Counting {
    fn file<S: ?Sized>(&self, store: Arc<S>) -> Arc<File<S>> {
        Arc::new(File { counts: self.counts.clone(), store, near: self.near })
    }
}

impl Dir for Counting {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(self.file(self.inner.open(name)?))
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.file(self.inner.edit(name)?))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.file(self.inner.create(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.inner.remove(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.inner.names()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }
}

fn frame(dir: &Arc<Counting>, chunks: usize, chunk_size: usize) -> Vec<u8> {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(chunk_size);
    let data = mixed(chunks * chunk_size, 4, 1);
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
    frame.append(&data).unwrap();
    frame.close().unwrap();
    data
}

#[test]
fn opening_takes_at_most_three_reads_and_an_item_two() {
    for (chunks, chunk_size) in [(2, 400), (500, 4000), (10, 1 << 20)] {
        let dir: Arc<Counting> = Arc::default();
        let data = frame(&dir, chunks, chunk_size);
        Counts::take(&dir.counts.reads);
        let frame =
            SuperChunk::open_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
        let reads = Counts::take(&dir.counts.reads);
        assert!(reads <= 3, "{reads} reads to open {chunks} chunks");
        Counts::take(&dir.counts.read);
        for item in [0, 99, 12_345, (data.len() / 4) as u64 - 1] {
            let item = item.min((data.len() / 4) as u64 - 1);
            let mut bytes = [0; 4];
            frame.read_items(item..item + 1, &mut bytes).unwrap();
            let at = usize::try_from(item).unwrap() * 4;
            assert_eq!(Some(&bytes[..]), data.get(at..at + 4));
            let reads = Counts::take(&dir.counts.reads);
            assert!((1..=2).contains(&reads), "{reads} reads for item {item} of {chunks} chunks");
            let read = Counts::take(&dir.counts.read);
            assert!(read <= 8192 + chunk_size as u64 / 2, "{read} bytes for item {item}");
        }
    }
}

/// Numbers whose lower three bytes are noise, whose fourth repeats itself, and whose others are zero.
fn noisy_numbers(count: u64) -> Vec<u8> {
    let mut rng = Rng::new(11);
    (0..count).flat_map(|n| (rng.below(1 << 24) | (n % 7) << 24).to_le_bytes()).collect()
}

#[test]
fn of_planes_that_are_near_only_what_items_need_is_read() {
    let chunk_size = 4 << 20;
    let data = noisy_numbers(2 * chunk_size / 8);
    for codec in [Codec::Lz4, Codec::BloscLz, Codec::Zlib, Codec::Zstd, Codec::Lz4Hc] {
        let compress = CompressOptions::new(8).with_codec(codec).with_block_size(1 << 20);
        let options = FrameOptions::new(compress).with_chunk_size(4 << 20);
        let mut taken = Vec::new();
        for near in [false, true] {
            let dir = Arc::new(Counting { near, ..Counting::default() });
            let mut frame =
                SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
            frame.append(&data).unwrap();
            frame.close().unwrap();
            let frame =
                SuperChunk::open_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
            Counts::take(&dir.counts.read);
            for (start, count) in [(0, 1), (131_071, 1), (131_072, 3), (700_000, 2), (131_000, 200)]
            {
                let mut bytes = vec![0xa5; 8 * count];
                let items = start..start + count as u64;
                frame.read_items(items, &mut bytes).unwrap();
                let at = usize::try_from(start).unwrap() * 8;
                assert_eq!(Some(bytes.as_slice()), data.get(at..at + bytes.len()), "{codec:?}");
            }
            taken.push(Counts::take(&dir.counts.read));
        }
        // Six blocks, of which the three planes of noise take 384 KiB each.
        let [far, near] = taken.try_into().unwrap();
        assert!(far > 6 * 384 * 1024, "{codec:?}: {far} bytes");
        assert!(near < far / 4, "{codec:?}: {near} bytes instead of {far}");
    }
}

#[test]
fn damaged_lengths_of_planes_are_told_wherever_they_are_read_from() {
    let options = FrameOptions::new(CompressOptions::new(8).with_block_size(1 << 20));
    let data = noisy_numbers(1 << 17);
    let dir = Arc::new(Counting { near: true, ..Counting::default() });
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
    frame.append(&data).unwrap();
    frame.close().unwrap();
    let file = dir.edit("frame").unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    // The first plane is raw: its length, and its first bytes.
    let mut head = (1_i32 << 17).to_le_bytes().to_vec();
    head.extend(data.iter().step_by(8).take(4));
    let at = bytes.windows(head.len()).position(|window| window == head).unwrap() as u64;
    for csize in [i32::MAX, i32::MIN, -1, -300, 1, (1 << 17) - 1, (1 << 17) + 1, 1 << 19] {
        file.write_at(at, &csize.to_le_bytes()).unwrap();
        let frame =
            SuperChunk::open_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
        let error = frame.read_items(70_000..70_001, &mut [0; 8]).unwrap_err();
        let expected = [ErrorKind::Corrupt, ErrorKind::Truncated];
        assert!(expected.contains(&error.kind()), "{csize}: {error}");
    }
}

#[test]
fn ten_thousand_small_appends_and_one_commit_write_the_data_once() {
    let dir: Arc<Counting> = Arc::default();
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(40_000);
    let data = mixed(10_000 * 100, 4, 2);
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
    for piece in data.chunks(100) {
        frame.append(piece).unwrap();
    }
    frame.commit().unwrap();
    let written = Counts::take(&dir.counts.written);
    assert!(written <= data.len() as u64 + 4096, "{written} bytes for {}", data.len());
    assert_eq!(Counts::take(&dir.counts.syncs), 2);
    assert_eq!(frame.to_vec().unwrap(), data);
}

#[test]
fn a_commit_after_each_of_a_thousand_appends_leaves_bounded_dead_space() {
    let dir: Arc<Counting> = Arc::default();
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000);
    let data = mixed(1000 * 4000, 4, 3);
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
    for piece in data.chunks(4000) {
        frame.append(piece).unwrap();
        frame.commit().unwrap();
    }
    frame.close().unwrap();
    let dead = |dir: &Arc<Counting>| {
        let frame =
            SuperChunk::edit_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
        assert_eq!(frame.to_vec().unwrap(), data);
        let before = frame.stored_len().unwrap();
        let compact = frame.to_bytes().unwrap().len() as u64;
        (before - compact, compact)
    };
    let (wasted, compact) = dead(&dir);
    assert!(wasted < compact / 10, "{wasted} bytes of {compact} are dead");
    let mut frame =
        SuperChunk::edit_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
    frame.compact().unwrap();
    drop(frame);
    assert_eq!(dead(&dir).0, 0);
}

#[test]
fn sessions_that_append_a_little_each_reuse_the_space() {
    let dir: Arc<Counting> = Arc::default();
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(400);
    let mut data = mixed(3000 * 400, 4, 4);
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
    frame.append(&data).unwrap();
    frame.close().unwrap();
    for seed in 0..50 {
        let more = mixed(400, 4, seed);
        let mut frame =
            SuperChunk::edit_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
        frame.append(&more).unwrap();
        frame.close().unwrap();
        data.extend(more);
    }
    let frame = SuperChunk::open_in_dir(dir.clone(), Some("frame"), &OpenOptions::new()).unwrap();
    assert_eq!(frame.to_vec().unwrap(), data);
    let (len, compact) = (frame.stored_len().unwrap(), frame.to_bytes().unwrap().len() as u64);
    assert!(len < compact + compact / 10, "{len} bytes where {compact} would do");
}
