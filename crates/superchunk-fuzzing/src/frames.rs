//! Frames of any bytes: contiguous, sparse, and with the metalayer of an array.

use std::sync::Arc;

use superchunk::store::Bytes;
use superchunk::{CompressOptions, Executor, FrameOptions, NdArray, Result, Selection, SuperChunk};

use crate::bounds::{LIMIT, Remote, bounded, no_bug, options};
use crate::files::Files;
use crate::input::Input;

/// The most chunks, items and values that are looked at.
const SOME: usize = 20;

/// A contiguous frame, in memory and elsewhere.
pub(crate) fn frame_open(input: &[u8]) {
    let open = |store| no_bug(look(SuperChunk::open_store(store, &options())));
    let remote = bounded(input.len(), || open(Remote::of(input)));
    let here = bounded(input.len(), || open(Arc::new(Bytes::new(input.to_vec()))));
    assert_eq!(remote.is_ok(), here.is_ok(), "{remote:?} {here:?}");
    for (remote, here) in remote.iter().flatten().zip(here.iter().flatten()) {
        match (remote, here) {
            (Ok(remote), Ok(here)) => assert_eq!(remote, here, "memory is read otherwise"),
            (Err(_), Err(_)) => {}
            // What is in memory is checked as a whole, however little of it is read.
            (Ok(Piece::Part(_)), Err(error)) if error.to_string().contains("checksum") => {}
            _ => panic!("elsewhere {remote:?}, in memory {here:?}"),
        }
    }
}

/// The files of a sparse frame.
pub(crate) fn sframe_dir(input: &[u8]) {
    let folder = Files::SPARSE.folder(input);
    let open = || SuperChunk::open_in_dir(folder.clone(), None, &options());
    let _ = bounded(input.len(), || no_bug(look(open())));
    // A writer that goes on must be as careful.
    let _ = no_bug(bounded(2 * input.len(), || -> Result<()> {
        let mut frame = SuperChunk::edit_in_dir(folder.clone(), None, &options())?;
        frame.append(&vec![7; 3 * frame.item_size().min(1000)])?;
        frame.commit()
    }));
}

/// A small array whose metalayer is the input; its first bytes say how long items and chunks are.
pub(crate) fn b2nd_meta(input: &[u8]) {
    let len = input.len();
    let mut input = Input::new(input);
    let (item_size, chunk_items, chunks) = (1 + input.pair() % 300, input.byte(), input.byte());
    let chunk_size = item_size * (1 + usize::from(chunk_items));
    let count = chunk_size * usize::from(chunks % 8);
    let compress = CompressOptions::new(item_size).with_executor(Executor::inline());
    let frame = FrameOptions::new(compress).with_chunk_size(chunk_size);
    let Ok(mut frame) = SuperChunk::in_memory(&frame.with_metalayer("b2nd", input.rest())) else {
        return;
    };
    let data: Vec<u8> = (0..=255).cycle().take(count).collect();
    if no_bug(frame.append(&data)).is_ok() {
        let _ = bounded(len + 16 * chunk_size, || no_bug(look_at_array(frame)));
    }
}

/// What was read.
#[derive(Debug, PartialEq)]
enum Piece {
    /// A chunk, of which this is a sum.
    Chunk(u8),
    /// Some bytes.
    Part(Vec<u8>),
}

/// Reads some of everything and says what was found.
fn look(opened: Result<SuperChunk>) -> Result<Vec<Result<Piece>>> {
    let frame = opened?;
    let mut found = Vec::new();
    for number in 0..frame.chunk_count().min(SOME) {
        let chunk = no_bug(frame.read_chunk(number));
        assert!(chunk.as_ref().is_ok_and(|chunk| chunk.len() <= LIMIT) || chunk.is_err());
        let sum = |bytes: Vec<u8>| bytes.iter().fold(0, |sum: u8, byte| sum.rotate_left(3) ^ byte);
        found.push(chunk.map(|chunk| Piece::Chunk(sum(chunk))));
        let _ = no_bug(frame.chunk_header(number));
        let _ = no_bug(frame.read_block(number, 1));
    }
    let (middle, mut dst) = (frame.byte_len() / 2, [0; 64]);
    let part = no_bug(frame.read_bytes(middle..middle.saturating_add(64), &mut dst));
    found.push(part.map(|()| Piece::Part(dst.to_vec())));
    let mut dst = [0; 64];
    let items = no_bug(frame.gather(&[0, frame.item_count() / 2], &mut dst));
    found.push(items.map(|()| Piece::Part(dst.to_vec())));
    for name in frame.attribute_names().take(SOME) {
        let _ = no_bug(frame.attribute(name));
    }
    if frame.chunk_count() <= SOME {
        let _ = no_bug(frame.verify());
        let _ = no_bug(frame.to_bytes());
    }
    let _ = no_bug(look_at_array(frame));
    Ok(found)
}

fn look_at_array(frame: SuperChunk) -> Result<()> {
    let array = NdArray::from_superchunk(frame)?;
    let shape = array.shape().to_vec();
    let _ = format!("{}", array.dtype());
    let start: Vec<u64> = shape.iter().map(|side| side / 2).collect();
    let stop: Vec<u64> = shape.iter().map(|side| side.saturating_add(1) / 2).collect();
    let items: u64 = start.iter().zip(&stop).map(|(a, b)| b - a).product();
    let mut dst = vec![0; usize::try_from(items).unwrap_or(0) * array.item_size()];
    let _ = no_bug(array.read_box(&start, &stop, &mut dst));
    let _ = array.read_points(&start, &mut vec![0; array.item_size()]);
    let bytes = array.item_count().saturating_mul(array.item_size() as u64);
    if bytes <= LIMIT as u64 {
        let (read, _) = array.bytes(&Selection::all(&shape))?;
        assert_eq!(read, shape);
    }
    Ok(())
}
