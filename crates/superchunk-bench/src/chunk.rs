//! Whole chunks: ratio and MB/s by dataset, codec, level and filter, on one thread.
//!
//! usage: `bench-chunk [dataset…]`, names or their beginnings. Every chunk is decoded and compared
//! before it is timed.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{Codec, CompressOptions, Filter};
use superchunk_testkit::datasets::{self, Dataset};

const CHUNK_SIZE: usize = 4 << 20;
const BUDGET: Duration = Duration::from_millis(100);
const CODECS: [(&str, Codec, u8); 6] = [
    ("blosclz 5", Codec::BloscLz, 5),
    ("lz4 5", Codec::Lz4, 5),
    ("lz4hc 5", Codec::Lz4Hc, 5),
    ("zlib 1", Codec::Zlib, 1),
    ("zstd 1", Codec::Zstd, 1),
    ("zstd 5", Codec::Zstd, 5),
];
const FILTERS: [(&str, Option<Filter>); 3] =
    [("none", None), ("shuffle", Some(Filter::Shuffle)), ("bitshuffle", Some(Filter::BitShuffle))];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted =
        |d: &&Dataset| wanted.is_empty() || wanted.iter().any(|word| d.name.starts_with(word));
    say(&format!(
        "{:<13}{:<11}{:<11}{:>9}{:>14}{:>14}",
        "dataset", "codec", "filter", "ratio", "compress MB/s", "decompress"
    ));
    for dataset in datasets::ALL.iter().filter(is_wanted) {
        let data = (dataset.make)(CHUNK_SIZE);
        for (codec_name, codec, level) in CODECS {
            for (filter_name, filter) in FILTERS {
                let options = CompressOptions::new(dataset.item_size)
                    .with_codec(codec)
                    .with_level(level)
                    .with_filters(filter);
                match measure(&data, &options) {
                    Ok(numbers) => say(&format!(
                        "{:<13}{codec_name:<11}{filter_name:<11}{numbers}",
                        dataset.name
                    )),
                    Err(reason) => {
                        say(&format!(
                            "WRONG: {} {codec_name} {filter_name}: {reason}",
                            dataset.name
                        ));
                        return ExitCode::FAILURE;
                    }
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn measure(data: &[u8], options: &CompressOptions) -> Result<String, String> {
    let words = |error: superchunk::Error| error.to_string();
    let mut encoder = Encoder::new(options).map_err(words)?;
    let mut decoder = Decoder::new();
    let mut chunk = Vec::new();
    let mut decoded = vec![0; data.len()];
    encoder.compress_into(data, &mut chunk).map_err(words)?;
    decoder.decompress_into(&chunk, &mut decoded).map_err(words)?;
    if decoded != data {
        return Err("the chunk decodes to other bytes".to_owned());
    }
    let megabytes = data.len() as f64 / 1e6;
    let ratio = data.len() as f64 / chunk.len() as f64;
    let compress = fastest(|| {
        chunk.clear();
        encoder.compress_into(data, &mut chunk).map(drop).map_err(words)
    })?;
    let decompress =
        fastest(|| decoder.decompress_into(&chunk, &mut decoded).map(drop).map_err(words))?;
    Ok(format!("{ratio:>9.2}{:>14.0}{:>14.0}", megabytes / compress, megabytes / decompress))
}

/// The shortest of several runs, in seconds.
fn fastest(mut work: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while best.is_infinite() || start.elapsed() < BUDGET {
        let begin = Instant::now();
        work()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn say(line: &str) {
    // A closed pipe is no reason to stop.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
