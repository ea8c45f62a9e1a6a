//! Packs numbers and a stream of bytes into files, and reads parts of them back.

#![expect(clippy::print_stdout, reason = "the example shows what it reads")]

use std::error::Error;
use std::io::{BufRead, Write};

use superchunk::{Codec, CompressOptions, FrameOptions, SuperChunk};

/// Packs and reads.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("readings-{}.b2frame", std::process::id()));
    let readings: Vec<f32> = (0..1_000_000).map(|i| 20.0 + (i % 100) as f32).collect();

    // The item size comes from the type. Nothing is in the file before the first commit.
    let options = FrameOptions::new(CompressOptions::of::<f32>().with_codec(Codec::Zstd));
    let mut packed = SuperChunk::create(&path, &options)?;
    packed.append_items(&readings)?;
    packed.close()?; // commits; a super-chunk that is only dropped discards what is not committed

    let packed = SuperChunk::open(&path)?;
    println!("{} bytes are stored in {}", packed.byte_len(), packed.stored_len()?);
    // Only the blocks that hold these three items are read and decoded.
    let some: Vec<f32> = packed.items(500_000..500_003)?;
    assert_eq!(some, [20.0, 21.0, 22.0]);

    // Any stream: `Write` appends, `BufRead` and `Seek` read.
    let mut log = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::new(1)))?;
    let mut appender = log.appender();
    for line in 0..10_000 {
        writeln!(appender, "line {line}")?;
    }
    log.commit()?; // `flush` of the appender would not do that
    let last = log.reader().lines().last().transpose()?;
    println!("the last line is {last:?}");
    assert_eq!(last.as_deref(), Some("line 9999"));

    std::fs::remove_file(path)?;
    Ok(())
}
