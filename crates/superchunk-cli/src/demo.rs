//! `superchunk demo`: every codec with every filter on made-up data, checked and measured.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{Codec, CompressOptions, Filter};

/// The bytes of each data set.
const NBYTES: usize = 8 << 20;
/// The bytes of a chunk.
const CHUNK: usize = 4 << 20;

const CODECS: [(&str, Codec); 5] = [
    ("blosclz", Codec::BloscLz),
    ("lz4", Codec::Lz4),
    ("lz4hc", Codec::Lz4Hc),
    ("zlib", Codec::Zlib),
    ("zstd", Codec::Zstd),
];

const PIPELINES: [(&str, &[Filter]); 5] = [
    ("none", &[]),
    ("shuffle", &[Filter::Shuffle]),
    ("bitshuffle", &[Filter::BitShuffle]),
    ("delta+shuffle", &[Filter::Delta, Filter::Shuffle]),
    ("shuffle+bytedelta", &[Filter::Shuffle, Filter::ByteDelta(0)]),
];

/// Prints a table for each data set; fails when a chunk does not come back as it was.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let sets = [
        ("temperatures", "f64 rounded to 0.01", 8, temperatures()),
        ("timestamps", "i32 with irregular gaps", 4, timestamps()),
        ("log lines", "text", 1, log_lines()),
    ];
    for (name, kind, item_size, bytes) in sets {
        writeln!(
            out,
            "\n{name} ({kind}, {:.1} MB in chunks of {:.1} MB, level 5, one thread)",
            mb(NBYTES),
            mb(CHUNK)
        )?;
        writeln!(
            out,
            "  {:8} {:18} {:>7} {:>15} {:>17}",
            "codec", "filters", "ratio", "compress MB/s", "decompress MB/s"
        )?;
        for (codec_name, codec) in CODECS {
            for (filter_name, filters) in PIPELINES {
                let options = CompressOptions::new(item_size)
                    .with_codec(codec)
                    .with_filters(filters.iter().copied());
                let measured = measure(&bytes, &options)?;
                writeln!(
                    out,
                    "  {codec_name:8} {filter_name:18} {:7.2} {:15.0} {:17.0}",
                    measured.ratio, measured.compress, measured.decompress
                )?;
            }
        }
    }
    writeln!(out, "\nAll chunks came back byte for byte.")?;
    Ok(())
}

/// A ratio and two speeds in MB/s.
struct Measured {
    ratio: f64,
    compress: f64,
    decompress: f64,
}

fn measure(bytes: &[u8], options: &CompressOptions) -> Result<Measured, Box<dyn Error>> {
    let mut encoder = Encoder::new(options)?;
    let mut decoder = Decoder::new();
    let mut back = vec![0; CHUNK];
    let mut chunk = Vec::new();
    let (mut packed, mut compressing, mut decompressing) = (0, Duration::ZERO, Duration::ZERO);
    for piece in bytes.chunks(CHUNK) {
        chunk.clear();
        let start = Instant::now();
        packed += encoder.compress_into(piece, &mut chunk)?;
        compressing += start.elapsed();
        let start = Instant::now();
        let len = decoder.decompress_into(&chunk, &mut back)?;
        decompressing += start.elapsed();
        if back.get(..len) != Some(piece) {
            return Err("a chunk did not come back as it was".into());
        }
    }
    let speed = |time: Duration| mb(bytes.len()) / time.as_secs_f64().max(1e-9);
    Ok(Measured {
        ratio: mb(bytes.len()) / mb(packed),
        compress: speed(compressing),
        decompress: speed(decompressing),
    })
}

#[expect(clippy::cast_precision_loss, reason = "lengths of a few megabytes, for display")]
fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A day's wave with noise, rounded as a logger would.
fn temperatures() -> Vec<u8> {
    let mut noise = Noise(1);
    let mut drift = 0.0;
    (0u32..)
        .flat_map(|i| {
            drift = 0.9 * drift + 0.03 * (f64::from(noise.below(2001)) / 1000.0 - 1.0);
            let value = 15.0 + 8.0 * (f64::from(i) / 1375.0).sin() + drift;
            ((value * 100.0).round() / 100.0).to_le_bytes()
        })
        .take(NBYTES)
        .collect()
}

fn timestamps() -> Vec<u8> {
    let mut noise = Noise(2);
    let mut now = 1_600_000_000_u32;
    std::iter::repeat_with(|| {
        now = now.wrapping_add(1 + noise.below(8) * noise.below(2));
        now.to_le_bytes()
    })
    .flatten()
    .take(NBYTES)
    .collect()
}

fn log_lines() -> Vec<u8> {
    let mut noise = Noise(3);
    let mut bytes = Vec::with_capacity(NBYTES + 100);
    let mut id = 1_000_000;
    while bytes.len() < NBYTES {
        id += 1;
        let level = ["ok", "ok", "ok", "warn", "error"].get(noise.below(5) as usize);
        let line = format!(
            "{id},station-{:03},{},{}.{:02}\n",
            noise.below(240),
            level.unwrap_or(&"ok"),
            noise.below(40),
            noise.below(100)
        );
        bytes.extend_from_slice(line.as_bytes());
    }
    bytes.truncate(NBYTES);
    bytes
}

/// A small deterministic generator (xorshift): the demo shows the same data every time.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 32) % u64::from(bound)).unwrap_or(0)
    }
}
