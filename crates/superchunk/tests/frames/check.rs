//! `with_check` in containers: a wrong chunk is never stored, and what was there stays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::store::MemoryFolder;
use superchunk::{
    CompressOptions, DType, Error, ErrorKind, FillValue, FrameOptions, NdArray, NdOptions,
    NdStorage, Objects, ObjectsOptions, OpenOptions, Selection, SplitMode, SuperChunk,
};
use superchunk_testkit::faulty::{RunLengths, with_codec};

/// Items of four bytes that rise slowly.
fn slow(items: u32) -> Vec<u8> {
    (0..items).flat_map(|at| (at / 500).to_le_bytes()).collect()
}

fn compress(codec: RunLengths) -> CompressOptions {
    with_codec(CompressOptions::new(4).with_split(SplitMode::Never), codec)
}

/// Opens with a codec that is wrong in the last of every `every` streams.
fn open(every: usize, check: bool) -> OpenOptions {
    let registry = compress(RunLengths::wrong_every(every)).registry;
    OpenOptions::new().with_registry(registry).with_check(check)
}

fn assert_found(error: &Error, chunk: &str) {
    assert_eq!(error.kind(), ErrorKind::Miscompressed, "{error}");
    assert!(error.subject().is_some_and(|subject| subject.ends_with(chunk)), "{error}");
}

#[test]
fn a_wrong_chunk_is_not_appended_to_a_frame() {
    let data = slow(10_000);
    for name in [Some("a"), None] {
        let dir: Arc<MemoryFolder> = Arc::new(MemoryFolder::new());
        let options = FrameOptions::new(compress(RunLengths::default())).with_chunk_size(8000);
        let mut frame = SuperChunk::create_in_dir(dir.clone(), name, &options).unwrap();
        frame.append(&data).unwrap();
        frame.close().unwrap();
        // The third of five chunks is wrong, and then all are as before.
        let edit = |every, check| SuperChunk::edit_in_dir(dir.clone(), name, &open(every, check));
        let mut frame = edit(3, true).unwrap();
        assert_found(&frame.append(&data).unwrap_err(), "chunk 7");
        frame.close().unwrap();
        let read = || {
            let options = open(0, false);
            SuperChunk::open_in_dir(dir.clone(), name, &options).unwrap().to_vec()
        };
        assert_eq!(read().unwrap(), data);
        // So is a short last chunk, which is only compressed by the commit.
        let mut frame = edit(1, true).unwrap();
        frame.append(&data[..4000]).unwrap();
        assert_found(&frame.commit().unwrap_err(), "chunk 5");
        drop(frame);
        assert_eq!(read().unwrap(), data);
        // Without the check nobody notices.
        let mut frame = edit(3, false).unwrap();
        frame.append(&data).unwrap();
        frame.close().unwrap();
        assert_ne!(read().unwrap(), [data.clone(), data.clone()].concat());
    }
}

#[test]
fn a_wrong_chunk_is_not_put_in_the_place_of_another() {
    let data = slow(10_000);
    let options = FrameOptions::new(compress(RunLengths::wrong_every(6)).with_check(true));
    let mut frame = SuperChunk::in_memory(&options.with_chunk_size(8000)).unwrap();
    frame.append(&data).unwrap();
    assert_found(&frame.write_items(2100, &[0x0707_0707u32; 3]).unwrap_err(), "chunk 1");
    assert_eq!(frame.to_vec().unwrap(), data);
    frame.write_items(2100, &[0x0707_0707u32; 3]).unwrap();
    assert_eq!(
        frame.items::<u32>(2099..2104).unwrap(),
        [4, 0x0707_0707, 0x0707_0707, 0x0707_0707, 4]
    );
}

/// Writes a box of an array whose codec has become wrong, with the check and without.
fn write_box(start: [u64; 2], stop: [u64; 2], chunk: &str) {
    let dir: Arc<MemoryFolder> = Arc::new(MemoryFolder::new());
    let options = FrameOptions::new(compress(RunLengths::default()));
    let options = NdStorage::new(options).with_chunks(&[32, 64]).with_blocks(&[8, 64]);
    let items: Vec<u32> = (0..64 * 128).map(|at| at / 500).collect();
    let (shape, dtype, zeros) = ([64, 128], DType::of::<u32>(), FillValue::Zeros);
    let array = NdArray::create_in_dir(
        dir.clone(),
        Some("a"),
        &NdOptions::new(&shape, dtype.clone()).with_fill(zeros).with_storage(options.clone()),
    );
    let mut array = array.unwrap();
    array.write_items(&Selection::all(&[64, 128]), &items).unwrap();
    array.close().unwrap();
    let len = (stop[0] - start[0]) * (stop[1] - start[1]);
    // A block of one value would not reach the codec.
    let bytes: Vec<u8> =
        (0..u32::try_from(len).unwrap()).flat_map(|at| (at / 40).to_le_bytes()).collect();
    let edit = |check| NdArray::edit_in_dir(dir.clone(), Some("a"), &open(1, check)).unwrap();
    let mut array = edit(true);
    assert_found(&array.write_box(&start, &stop, &bytes).unwrap_err(), chunk);
    drop(array);
    let all = |array: &NdArray| array.read::<u32>(&Selection::all(&[64, 128]));
    assert_eq!(all(&edit(false)).unwrap(), items);
    let mut array = edit(false);
    array.write_box(&start, &stop, &bytes).unwrap();
    let mut back = bytes.clone();
    assert!(array.read_box(&start, &stop, &mut back).is_err() || back != bytes);
}

#[test]
fn wrong_blocks_of_an_array_are_found() {
    // A whole chunk, whose blocks are gathered when their turn comes.
    write_box([32, 64], [64, 128], "chunk 3");
    // One block of four: the others are taken over as they are stored.
    write_box([3, 1], [5, 60], "chunk 0");
}

#[test]
fn wrong_objects_are_not_stored() {
    let dir: Arc<MemoryFolder> = Arc::new(MemoryFolder::new());
    let options = ObjectsOptions::texts();
    let compress = with_codec(options.frame.compress.clone(), RunLengths::default());
    let texts = |count: usize| (0..count).map(|at| "x".repeat(1000 + at));
    let mut list =
        Objects::create_in_dir(dir.clone(), Some("a"), &options.with_compress(compress)).unwrap();
    texts(10).for_each(|text| list.append_text(&text).unwrap());
    list.close().unwrap();
    let mut list = Objects::edit_in_dir(dir.clone(), Some("a"), &open(1, true)).unwrap();
    let appended = texts(5).try_for_each(|text| list.append_text(&text));
    assert_found(&appended.and_then(|()| list.commit()).unwrap_err(), "chunk 0");
    drop(list);
    let list = Objects::open_in_dir(dir, Some("a"), &open(0, false)).unwrap();
    assert_eq!((list.len(), list.text(9).unwrap().len()), (10, 1009));
}
