//! A frame of very many stored chunks, put together from its parts.
//!
//! C-Blosc2 writes the whole index again for each chunk that it appends, so a million would take it
//! hours. Here all parts are its own, only laid out in one go:
//!
//! ```text
//! header of a frame of one chunk │ chunks │ index chunk: an i64 a chunk │ trailer of that frame
//! ```
//!
//! Three numbers of the header change: the length of the frame, of the plain data and of the chunks.

use std::path::Path;

use crate::c_blosc2::Library;
use crate::c_schunk::CFrames;
use crate::choice::{CODECS, FILTERS, Setup};
use crate::contestant::{Answer, Contestant};
use crate::frame_side::FrameSide;

/// Places in the header of a frame; numbers there are big-endian.
const HEADER_LEN_AT: usize = 11;
const FRAME_LEN_AT: usize = 16;
const NBYTES_AT: usize = 30;
const CBYTES_AT: usize = 39;
/// Where the length of the trailer stands, counted from the end.
const TRAILER_LEN_BEFORE_END: usize = 22;

/// Writes a frame of chunks of this size of the data, each compressed with this setup.
pub(crate) fn write(
    library: &Library,
    setup: &Setup,
    path: &Path,
    chunk_size: usize,
    data: &[u8],
) -> Answer<()> {
    let first = data.get(..chunk_size).ok_or("less than a chunk")?;
    CFrames::new(library, setup)?.write(path, chunk_size, &[first])?;
    let model = std::fs::read(path).map_err(|e| e.to_string())?;
    let header_len = number_at(&model, HEADER_LEN_AT)?;
    let trailer_len = number_at(&model, model.len().saturating_sub(TRAILER_LEN_BEFORE_END))?;
    let header = model.get(..header_len).ok_or("no header")?;
    let trailer = model.get(model.len().saturating_sub(trailer_len)..).ok_or("no trailer")?;

    let (mut frame, mut offsets) = (header.to_vec(), Vec::new());
    let (mut encoder, mut chunk) = (library.contestant(setup)?, Vec::new());
    for piece in data.chunks(chunk_size) {
        offsets.extend(((frame.len() - header_len) as u64).to_le_bytes());
        encoder.compress(piece, &mut chunk)?;
        frame.extend_from_slice(&chunk);
    }
    let cbytes = frame.len() - header_len;
    library.contestant(&index_setup()?)?.compress(&offsets, &mut chunk)?;
    frame.extend_from_slice(&chunk);
    frame.extend_from_slice(trailer);
    let frame_len = frame.len();
    for (at, number) in [(FRAME_LEN_AT, frame_len), (NBYTES_AT, data.len()), (CBYTES_AT, cbytes)] {
        let place = frame.get_mut(at..at + 8).ok_or("a short header")?;
        place.copy_from_slice(&(number as u64).to_be_bytes());
    }
    std::fs::write(path, frame).map_err(|e| e.to_string())
}

/// How C-Blosc2 compresses its indexes.
fn index_setup() -> Answer<Setup> {
    let codec = CODECS.into_iter().find(|codec| codec.name == "blosclz").ok_or("no BloscLZ")?;
    let filter = FILTERS.into_iter().find(|filter| filter.name == "shuffle").ok_or("no shuffle")?;
    Ok(Setup { codec, level: 5, filter, item_size: 8, threads: 1 })
}

fn number_at(bytes: &[u8], at: usize) -> Answer<usize> {
    let four = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
    let number = four.map(u32::from_be_bytes).ok_or("a short frame")?;
    usize::try_from(number).map_err(|e| e.to_string())
}
