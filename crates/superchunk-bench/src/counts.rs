//! How many instructions representative cases take, counted by callgrind: the same on a busy machine
//! as on a quiet one, so that a regression shows without a clock.
//!
//! usage: `bench-counts` compares with `docs/bench/<machine>/counts.csv` and fails where a case takes
//! 2 % more; `bench-counts --save` writes that file; `bench-counts <case> <rounds>` only runs a case.
//!
//! A case is run with few and with more rounds; the difference is what one round takes, without the
//! making of its data and without what happens only once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{Codec, CompressOptions, Filter};
use superchunk_testkit::datasets::{self, Dataset};
use superchunk_testkit::machine::machine;

const CHUNK_SIZE: usize = 1 << 20;
/// Rounds of the two runs of a case.
const ROUNDS: (u64, u64) = (1, 3);
/// A case may take so much more than was saved, in percent.
const TOLERANCE: f64 = 2.0;

type Case = (&'static str, &'static str, Codec, u8, Option<Filter>, Action);

#[derive(Clone, Copy)]
enum Action {
    Compress,
    Decompress,
    ReadItem,
}

const SHUFFLE: Option<Filter> = Some(Filter::Shuffle);
const BITSHUFFLE: Option<Filter> = Some(Filter::BitShuffle);
const CASES: [Case; 14] = [
    ("field-lz4-shuffle-compress", "d_field", Codec::Lz4, 5, SHUFFLE, Action::Compress),
    ("field-lz4-shuffle-decompress", "d_field", Codec::Lz4, 5, SHUFFLE, Action::Decompress),
    ("field-lz4-shuffle-item", "d_field", Codec::Lz4, 5, SHUFFLE, Action::ReadItem),
    ("csv-lz4-compress", "e_csv", Codec::Lz4, 5, None, Action::Compress),
    ("csv-lz4-decompress", "e_csv", Codec::Lz4, 5, None, Action::Decompress),
    ("times-lz4-bitshuffle-compress", "b_ts", Codec::Lz4, 5, BITSHUFFLE, Action::Compress),
    ("times-lz4-bitshuffle-decompress", "b_ts", Codec::Lz4, 5, BITSHUFFLE, Action::Decompress),
    ("sensor-blosclz-shuffle-compress", "a_sensor", Codec::BloscLz, 5, SHUFFLE, Action::Compress),
    ("sensor-blosclz-decompress", "a_sensor", Codec::BloscLz, 5, None, Action::Decompress),
    ("counts-lz4hc-shuffle-compress", "c_small", Codec::Lz4Hc, 5, SHUFFLE, Action::Compress),
    ("walk-zlib-shuffle-compress", "a_walk", Codec::Zlib, 5, SHUFFLE, Action::Compress),
    ("walk-zstd-shuffle-compress", "a_walk", Codec::Zstd, 5, SHUFFLE, Action::Compress),
    ("field-zstd-shuffle-decompress", "d_field", Codec::Zstd, 1, SHUFFLE, Action::Decompress),
    ("random-zstd-compress", "f_random", Codec::Zstd, 3, SHUFFLE, Action::Compress),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] => count_all().and_then(|counts| compare(&counts)),
        ["--save"] => count_all().and_then(|counts| save(&counts)),
        [name, rounds] => run_named(name, rounds),
        _ => Err("usage: bench-counts [--save]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("bench-counts: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Instructions of one round of each case.
fn count_all() -> Result<BTreeMap<&'static str, u64>, String> {
    let mut counts = BTreeMap::new();
    for (name, ..) in CASES {
        let (few, many) = ROUNDS;
        let count = callgrind(name, many)?.saturating_sub(callgrind(name, few)?) / (many - few);
        say(&format!("{name:<34}{count:>14}"));
        counts.insert(name, count);
    }
    Ok(counts)
}

/// Instructions of a run of this program.
fn callgrind(case: &str, rounds: u64) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([case, &rounds.to_string()])
        .output()
        .map_err(|e| format!("cannot run valgrind, which counts the instructions: {e}"))?;
    let text = String::from_utf8_lossy(&run.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected :").nth(1));
    let number = collected.and_then(|number| number.trim().parse().ok());
    number.filter(|_| run.status.success()).ok_or_else(|| format!("{case}: {text}"))
}

fn run_named(name: &str, rounds: &str) -> Result<(), String> {
    let case = CASES.iter().find(|case| case.0 == name).ok_or(format!("no case {name}"))?;
    let rounds: u64 = rounds.parse().map_err(|_| format!("{rounds} is not a number"))?;
    run(case, rounds).map_err(|error| error.to_string())
}

fn run((_, dataset, codec, level, filter, action): &Case, rounds: u64) -> superchunk::Result<()> {
    let wanted = |other: &&Dataset| other.name.starts_with(dataset);
    let Some(dataset) = datasets::ALL.iter().find(wanted) else { return Ok(()) };
    let data = (dataset.make)(CHUNK_SIZE);
    let options = CompressOptions::new(dataset.item_size)
        .with_codec(*codec)
        .with_level(*level)
        .with_filters(*filter);
    let (mut encoder, mut decoder) = (Encoder::new(&options)?, Decoder::new());
    let (mut chunk, mut out) = (Vec::with_capacity(2 * CHUNK_SIZE), vec![0; CHUNK_SIZE]);
    encoder.compress_into(&data, &mut chunk)?;
    for _ in 0..rounds {
        match action {
            Action::Compress => {
                chunk.clear();
                encoder.compress_into(&data, &mut chunk)?;
            }
            Action::Decompress => drop(decoder.decompress_into(&chunk, &mut out)?),
            Action::ReadItem => drop(decoder.read_items(&chunk, 10_000..10_001, &mut out)?),
        }
    }
    Ok(())
}

fn file() -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench");
    docs.join(machine()).join("counts.csv")
}

fn save(counts: &BTreeMap<&str, u64>) -> Result<(), String> {
    let mut csv =
        format!("# instructions for {CHUNK_SIZE} bytes, counted by callgrind\ncase,count\n");
    for (name, count) in counts {
        let _ = writeln!(csv, "{name},{count}");
    }
    let path = file();
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::fs::write(&path, csv).map_err(failed)
}

/// Says how each case has changed; an error when one takes more than is tolerable.
fn compare(counts: &BTreeMap<&str, u64>) -> Result<(), String> {
    let path = file();
    let csv = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let before = csv.lines().filter_map(|line| line.split_once(','));
    let before: BTreeMap<&str, u64> =
        before.filter_map(|(name, count)| Some((name, count.parse().ok()?))).collect();
    let mut worse = Vec::new();
    for (name, count) in counts {
        let Some(before) = before.get(name).filter(|before| **before > 0) else { continue };
        let change = 100.0 * (*count as f64 / *before as f64 - 1.0);
        say(&format!("{name:<34}{change:>+8.2} %"));
        if change > TOLERANCE {
            worse.push(*name);
        }
    }
    match worse.as_slice() {
        [] => Ok(()),
        _ => Err(format!("more instructions than saved: {}", worse.join(", "))),
    }
}

fn say(line: &str) {
    // A closed pipe is no reason to stop.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
