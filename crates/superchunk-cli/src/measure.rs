//! How small and how fast: compresses samples in memory, and checks that they come back.

use std::ops::Range;
use std::time::{Duration, Instant};

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{CompressOptions, Error, Value};

use crate::failure::{Failure, Outcome};
use crate::input::Input;
use crate::memory::to_usize;
use crate::output::rounded;

/// A ratio and two speeds in MB/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) ratio: f64,
    pub(crate) compress: f64,
    pub(crate) decompress: f64,
}

impl Measured {
    /// The ratio and both speeds, as they are shown.
    pub(crate) fn cells(&self) -> [String; 3] {
        [
            format!("{:.2}", self.ratio),
            format!("{:.0}", self.compress),
            format!("{:.0}", self.decompress),
        ]
    }

    /// The same as parts of a document.
    pub(crate) fn entries(&self) -> [(&'static str, Value); 3] {
        [
            ("ratio", rounded(self.ratio)),
            ("compress_mb_s", rounded(self.compress)),
            ("decompress_mb_s", rounded(self.decompress)),
        ]
    }
}

/// Compresses and decompresses every sample `rounds` times; the fastest round counts.
pub(crate) fn measure(
    samples: &[Vec<u8>],
    options: &CompressOptions,
    rounds: usize,
) -> Outcome<Measured> {
    let mut encoder = Encoder::new(options)?;
    let mut decoder = Decoder::new().with_executor(options.executor.clone());
    let mut back = vec![0; samples.iter().map(Vec::len).max().unwrap_or(0)];
    let mut chunk = Vec::new();
    let (mut plain, mut packed) = (0, 0);
    let (mut compressing, mut decompressing) = (Duration::ZERO, Duration::ZERO);
    for sample in samples {
        let (mut best_in, mut best_out) = (Duration::MAX, Duration::MAX);
        for _ in 0..rounds.max(1) {
            chunk.clear();
            let start = Instant::now();
            encoder.compress_into(sample, &mut chunk)?;
            best_in = best_in.min(start.elapsed());
            let start = Instant::now();
            let len = decoder.decompress_into(&chunk, &mut back)?;
            best_out = best_out.min(start.elapsed());
            if is_lossless(options) && back.get(..len) != Some(sample.as_slice()) {
                return Err(Error::corrupt("a chunk did not come back as it was").into());
            }
        }
        compressing += best_in;
        decompressing += best_out;
        plain += sample.len();
        packed += chunk.len();
    }
    let speed = |time: Duration| plain as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    Ok(Measured {
        ratio: plain as f64 / packed.max(1) as f64,
        compress: speed(compressing),
        decompress: speed(decompressing),
    })
}

fn is_lossless(options: &CompressOptions) -> bool {
    use superchunk::Filter::{IntTrunc, NdMean, TruncPrec};
    !options.filters.iter().any(|filter| matches!(filter, TruncPrec(_) | IntTrunc(_) | NdMean(_)))
}

/// What samples are taken of.
pub(crate) struct Extent<'a> {
    pub(crate) name: &'a str,
    /// All of its bytes.
    pub(crate) len: u64,
    /// What is read begins and ends at a multiple of this many bytes.
    pub(crate) unit: u64,
}

/// Some pieces of the data, spread over all of it, with `most` bytes together.
pub(crate) fn samples(input: &Input, most: u64, piece: usize) -> Outcome<Vec<Vec<u8>>> {
    input.check_held(input.unit() as u64)?;
    let extent = Extent { name: &input.name, len: input.len(), unit: input.unit() as u64 };
    samples_of(&extent, most, piece, &mut |range, bytes| input.read(range, bytes))
}

/// The same of anything that `read` gives the bytes of.
pub(crate) fn samples_of(
    extent: &Extent<'_>,
    most: u64,
    piece: usize,
    read: &mut dyn FnMut(Range<u64>, &mut [u8]) -> Outcome,
) -> Outcome<Vec<Vec<u8>>> {
    let Extent { name, len, unit } = *extent;
    let piece = (piece as u64 / unit).max(1) * unit;
    if len == 0 {
        return Err(Failure::usage(format!("`{name}` has no data to measure")));
    }
    let pieces = len.div_ceil(piece);
    let wanted = (most / piece).clamp(1, pieces);
    let sample = |number: u64| {
        let start = number * pieces / wanted * piece;
        let end = (start + piece).min(len);
        let mut bytes = vec![0; to_usize(end - start)?];
        read(start..end, &mut bytes)?;
        Ok(bytes)
    };
    (0..wanted).map(sample).collect()
}
