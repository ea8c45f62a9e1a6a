//! Reads a frame from a place that the library knows nothing of, such as an object store: the
//! `Opener` says which bytes it needs and does no input itself, so that the caller may fetch them
//! as it likes, also asynchronously.

#![expect(clippy::print_stdout, reason = "the example shows what it fetches")]

use std::cell::Cell;
use std::error::Error;
use std::ops::Range;

use superchunk::chunk::{Decoder, Header};
use superchunk::frame::{Frame, Kind, Located, Opener, Step};
use superchunk::{CompressOptions, FrameOptions, SuperChunk};

/// Something that answers requests for ranges of bytes.
struct Remote {
    object: Vec<u8>,
    requests: Cell<u32>,
}

impl Remote {
    fn get(&self, range: Range<u64>) -> Result<Vec<u8>, Box<dyn Error>> {
        self.requests.set(self.requests.get() + 1);
        let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
        Ok(self.object.get(range).ok_or("the range is outside of the object")?.to_vec())
    }

    fn len(&self) -> u64 {
        self.object.len() as u64
    }
}

fn open(remote: &Remote) -> Result<Box<Frame>, Box<dyn Error>> {
    let mut opener = Opener::new(Kind::Contiguous, remote.len());
    loop {
        match opener.step()? {
            Step::Need(range) => opener.supply(remote.get(range)?),
            Step::Done(frame) => return Ok(frame),
        }
    }
}

/// The stored bytes of a chunk.
fn fetch(remote: &Remote, frame: &Frame, number: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    match frame.locate(number)? {
        Located::At(start) => {
            let header = Header::parse(&remote.get(start..start + 32)?)?;
            remote.get(start..start + header.compressed_len() as u64)
        }
        Located::Run(chunk) => Ok(chunk),
        other => Err(format!("a contiguous frame has no chunk at {other:?}").into()),
    }
}

/// Opens a frame, and decodes a few items of one chunk.
pub fn main() -> Result<(), Box<dyn Error>> {
    let options = FrameOptions::new(CompressOptions::of::<u32>()).with_chunk_size(400_000);
    let mut numbers = SuperChunk::in_memory(&options)?;
    numbers.append_items(&(0..1_000_000u32).collect::<Vec<_>>())?;
    let remote = Remote { object: numbers.to_bytes()?, requests: Cell::new(0) };

    let frame = open(&remote)?;
    println!("{} chunks are known after {} requests", frame.chunk_count(), remote.requests.get());
    // Chunk 7 holds the items from 700,000 on.
    let chunk = fetch(&remote, &frame, 7)?;
    let mut item = [0; 4];
    Decoder::new().read_items(&chunk, 77..78, &mut item)?;
    assert_eq!(u32::from_le_bytes(item), 700_077);
    assert!(remote.requests.get() <= 4);
    Ok(())
}
