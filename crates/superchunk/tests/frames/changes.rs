//! What a super-chunk does, wherever it is kept.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::store::MemoryFolder;
use superchunk::{CompressOptions, FrameOptions, OpenOptions, SuperChunk};

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from(i * 7 / 5 % 251).unwrap()).collect()
}

#[test]
fn what_is_appended_in_pieces_is_read_as_a_whole() {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000);
    let data = bytes(50_003 * 4);
    let dir: Arc<MemoryFolder> = Arc::new(MemoryFolder::new());
    let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("a"), &options).unwrap();
    for piece in data.chunks(777) {
        frame.append(piece).unwrap();
    }
    assert_eq!(frame.to_vec().unwrap(), data);
    frame.commit().unwrap();
    let read = SuperChunk::open_in_dir(dir.clone(), Some("a"), &OpenOptions::new()).unwrap();
    assert_eq!(read.to_vec().unwrap(), data);
    assert_eq!(read.items::<u32>(1000..1003).unwrap(), bytemuck(&data, 1000..1003));
    frame.append(&data).unwrap();
    frame.close().unwrap();
    let read = SuperChunk::open_in_dir(dir, Some("a"), &OpenOptions::new()).unwrap();
    assert_eq!(read.to_vec().unwrap(), [data.clone(), data].concat());
}

fn bytemuck(data: &[u8], range: std::ops::Range<usize>) -> Vec<u32> {
    let items = data.as_chunks::<4>().0.iter().map(|item| u32::from_le_bytes(*item));
    items.skip(range.start).take(range.len()).collect()
}
