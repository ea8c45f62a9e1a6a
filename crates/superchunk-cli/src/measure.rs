//! How small and how fast: compresses samples in memory, and checks that they come back.

use std::time::{Duration, Instant};

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{CompressOptions, Error};

use crate::failure::{Failure, Outcome};
use crate::input::{Input, to_usize};

/// A ratio and two speeds in MB/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) ratio: f64,
    pub(crate) compress: f64,
    pub(crate) decompress: f64,
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

/// Some pieces of the data, spread over all of it, with `most` bytes together.
pub(crate) fn samples(input: &Input, most: u64, piece: usize) -> Outcome<Vec<Vec<u8>>> {
    let unit = input.unit() as u64;
    input.check_held(unit)?;
    let piece = (piece as u64 / unit).max(1) * unit;
    let len = input.len();
    if len == 0 {
        return Err(Failure::usage(format!("`{}` has no data to measure", input.name)));
    }
    let pieces = len.div_ceil(piece);
    let wanted = (most / piece).clamp(1, pieces);
    let sample = |number: u64| {
        let start = number * pieces / wanted * piece;
        let end = (start + piece).min(len);
        let mut bytes = vec![0; to_usize(end - start)?];
        input.read(start..end, &mut bytes)?;
        Ok(bytes)
    };
    (0..wanted).map(sample).collect()
}
