//! Reads single items from anywhere in a large file.

#![expect(clippy::print_stdout, reason = "the example shows what it reads")]

use std::error::Error;

use superchunk::{CompressOptions, FrameOptions, SuperChunk, bytemuck};

/// Reads items at random.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("squares-{}.b2frame", std::process::id()));
    let options = FrameOptions::new(CompressOptions::of::<u64>()).with_chunk_size(1 << 20);
    let mut squares = SuperChunk::create(&path, &options)?;
    squares.append_items(&(0..1_000_000u64).map(|i| i * i).collect::<Vec<_>>())?;
    squares.close()?;

    // One item: the index leads to a block of its chunk, and only that is read and decoded.
    let squares = SuperChunk::open(&path)?;
    let mut square = 0u64;
    squares.read_items(765_432..765_433, bytemuck::bytes_of_mut(&mut square))?;
    assert_eq!(square, 765_432 * 765_432);

    // Many items, in any order and as often as wanted, each chunk visited once.
    let wanted = [999_999, 3, 500_000, 3];
    let mut found = [0u64; 4];
    squares.gather(&wanted, bytemuck::cast_slice_mut(&mut found))?;
    println!("the squares of {wanted:?} are {found:?}");
    assert_eq!(found, wanted.map(|i| i * i));

    std::fs::remove_file(path)?;
    Ok(())
}
