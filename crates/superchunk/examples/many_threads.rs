//! Threads read one handle at the same time, and a pool compresses and decompresses faster.

#![expect(clippy::print_stdout, reason = "the example shows what it computes")]

use std::error::Error;
use std::sync::Arc;
use std::thread;

use superchunk::{CompressOptions, Executor, FrameOptions, OpenOptions, SuperChunk};

const ITEMS: u64 = 4_000_000;
const READERS: u64 = 4;

/// Writes with a pool, reads with threads.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("counts-{}.b2frame", std::process::id()));

    // A pool shares the blocks of each chunk; 0 stands for the threads of the machine. The file is the
    // same with any number of threads.
    let pool = Executor::threads(0);
    let compress = CompressOptions::of::<u64>().with_executor(pool.clone());
    let mut counts = SuperChunk::create(&path, &FrameOptions::new(compress))?;
    counts.append_items(&(0..ITEMS).collect::<Vec<_>>())?;
    counts.close()?;

    // Reading takes `&self`: one handle serves any number of threads, without a lock around it.
    let options = OpenOptions::new().with_executor(pool);
    let counts = Arc::new(SuperChunk::open_with(&path, &options)?);
    let readers = (0..READERS).map(|reader| {
        let counts = Arc::clone(&counts);
        let share = ITEMS / READERS;
        thread::spawn(move || -> superchunk::Result<u64> {
            let own = reader * share..(reader + 1) * share;
            Ok(counts.items::<u64>(own)?.into_iter().sum())
        })
    });
    let mut sum = 0;
    for reader in readers.collect::<Vec<_>>() {
        sum += reader.join().map_err(|_| "a reader panicked")??;
    }
    println!("the sum is {sum}");
    assert_eq!(sum, ITEMS * (ITEMS - 1) / 2);

    std::fs::remove_file(path)?;
    Ok(())
}
