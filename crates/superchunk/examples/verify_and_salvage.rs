//! Finds the damage in a file, and saves what is not damaged.

#![expect(clippy::print_stdout, reason = "the example shows what it finds")]

use std::error::Error;

use superchunk::store::FileReader;
use superchunk::{CompressOptions, FrameOptions, Limits, SuperChunk, salvage, verify};

/// Damages a file, verifies and salvages it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let name = |what: &str| format!("{what}-{}.b2frame", std::process::id());
    let path = std::env::temp_dir().join(name("damaged"));
    let saved_path = std::env::temp_dir().join(name("saved"));
    let numbers: Vec<u32> = (0..100_000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let options = FrameOptions::new(CompressOptions::of::<u32>()).with_chunk_size(40_000);
    let mut frame = SuperChunk::create(&path, &options)?;
    frame.append_items(&numbers)?;
    frame.close()?;

    // One flipped bit in the middle of the file.
    let mut bytes = std::fs::read(&path)?;
    let middle = bytes.len() / 2;
    *bytes.get_mut(middle).ok_or("the file is empty")? ^= 1;
    std::fs::write(&path, bytes)?;

    // Damage is no error but a finding; the second argument would sample only some of the chunks.
    let report = verify::path(&path, &verify::VerifyOptions::new())?;
    report.corrupt().for_each(|finding| println!("{}", finding.words));
    assert!(!report.is_good());
    assert_eq!(report.corrupt().map(|finding| finding.chunk).collect::<Vec<_>>(), [Some(4)]);

    // The input is never changed. Every other chunk comes back, in its place.
    let create = &mut |options: &FrameOptions| SuperChunk::create(&saved_path, options);
    let (saved, report) = salvage::frame(&FileReader::open(&path)?, create, &Limits::default())?;
    report.uncertain().iter().for_each(|line| println!("{line}"));
    assert_eq!(report.holes.len(), 1);
    saved.close()?;
    let saved = SuperChunk::open(&saved_path)?;
    assert_eq!(saved.items::<u32>(60_000..100_000)?, numbers.get(60_000..).unwrap_or_default());

    std::fs::remove_file(path)?;
    std::fs::remove_file(saved_path)?;
    Ok(())
}
