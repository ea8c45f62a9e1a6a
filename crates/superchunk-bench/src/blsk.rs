//! How often the reserve behind a chunk saves the rewrite of its file, and what it costs.
//!
//! A tree of 4 MiB in chunks of 64 KiB, 16 in a file, gets 400 random edits, a commit after each: so
//! every chunk is edited about six times. Items are replaced by others from elsewhere in the same
//! dataset, or by random bytes, which no codec can shorten. Printed is the share of edits whose chunk
//! still fitted its place, and how much longer the files are than without a reserve. The last chunk of
//! a file can always grow, so a sixteenth of all edits fits in any case. Each tree is compared with
//! plain bytes at the end.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use superchunk::blsk::{Array, ArrayOptions, Reserve, TreeOptions};
use superchunk::frame::Durability;
use superchunk::store::MemoryFolder;
use superchunk::{CompressOptions, DType, Result};
use superchunk_testkit::datasets::{self, Dataset};
use superchunk_testkit::rng::Rng;

const NBYTES: usize = 4 << 20;
const CHUNK: usize = 64 << 10;
const EDITS: usize = 400;
const RESERVES: [(&str, Reserve); 6] = [
    ("0", Reserve::None),
    ("1/64", Reserve::Part(64)),
    ("1/32", Reserve::Part(32)),
    ("1/16", Reserve::Part(16)),
    ("1/8", Reserve::Part(8)),
    ("1/4", Reserve::Part(4)),
];
/// How many items an edit replaces, and whether by random bytes.
const EDITED: [(usize, bool); 4] = [(1, false), (64, false), (64, true), (512, true)];

fn main() -> ExitCode {
    for (items, random) in EDITED {
        let kind = if random { "random" } else { "of the dataset" };
        say(&format!("\n{items} items {kind}: % that fitted (length of the files, %)"));
        let heads = RESERVES.iter().map(|(name, _)| format!("{name:>14}"));
        say(&format!("{:<14}{}", "reserve", heads.collect::<String>()));
        for dataset in datasets::ALL {
            match line(&dataset, items, random) {
                Ok(line) => say(&line),
                Err(error) => {
                    say(&format!("{}: {error}", dataset.name));
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// One dataset with every reserve.
fn line(dataset: &Dataset, items: usize, random: bool) -> Result<String> {
    let mut line = format!("{:<14}", dataset.name);
    let mut plain = 0.0;
    for (_, reserve) in RESERVES {
        let (fitted, len) = edit(dataset, items, random, reserve)?;
        if plain == 0.0 {
            plain = len;
        }
        line += &format!("{fitted:>7.1} ({:>4.0})", 100.0 * len / plain);
    }
    Ok(line)
}

/// The share of edits that fitted, in percent, and the length of the files before them.
fn edit(dataset: &Dataset, items: usize, random: bool, reserve: Reserve) -> Result<(f64, f64)> {
    let size = dataset.item_size;
    let mut bytes = (dataset.make)(NBYTES);
    let options = TreeOptions::default()
        .with_compress(CompressOptions::new(size))
        .with_chunk_rows(CHUNK / size)
        .with_superchunk_size(16)
        .with_reserve(reserve)
        .with_durability(Durability::Process);
    let folder = Arc::new(MemoryFolder::new());
    let mut array = Array::create_in_dir(
        folder,
        &ArrayOptions::new(DType::opaque(size)).with_tree(options.clone()),
    )?;
    array.append(&bytes)?;
    array.commit()?;
    let len = array.stored_len()? as f64;
    let mut rng = Rng::new(7);
    for _ in 0..EDITS {
        let rows = NBYTES / size - items;
        let (from, to) = (rng.index(rows), rng.index(rows));
        let new = match random {
            true => rng.bytes(items * size),
            false => bytes.get(from * size..(from + items) * size).unwrap_or_default().to_vec(),
        };
        array.write_rows(to as u64, &new)?;
        array.commit()?;
        if let Some(old) = bytes.get_mut(to * size..(to + items) * size) {
            old.copy_from_slice(&new);
        }
    }
    let mut found = vec![0; bytes.len()];
    array.read_rows(0..array.row_count(), &mut found)?;
    if found != bytes {
        return Err(superchunk::Error::corrupt("the edited tree is not what it should be"));
    }
    let updates = array.updates();
    let all = (updates.in_place + updates.rewritten) as f64;
    Ok((100.0 * updates.in_place as f64 / all, len))
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
