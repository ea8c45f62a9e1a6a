//! Registers a codec of one's own: runs of equal bytes as length and value.

#![expect(clippy::print_stdout, reason = "the example shows what it makes")]

use std::error::Error;

use superchunk::{
    ChunkFormat, Codec, CompressOptions, ErrorKind, Registry, Result, UserCodec, chunk,
};

/// Pairs of a length and a byte.
struct Runs;

impl UserCodec for Runs {
    fn name(&self) -> &str {
        "runs"
    }

    fn compress(&self, _meta: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        let mut pairs = dst.chunks_exact_mut(2);
        let mut len = 0;
        for run in src.chunk_by(|one, next| one == next).flat_map(|run| run.chunks(255)) {
            // No room: the library then stores the stream as it is.
            let (Some([count, value]), [first, ..]) = (pairs.next(), run) else { return Ok(None) };
            (*count, *value) = (u8::try_from(run.len()).unwrap_or(u8::MAX), *first);
            len += 2;
        }
        Ok(Some(len))
    }

    fn decompress(&self, _meta: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let mut rest = dst;
        for pair in src.chunks_exact(2) {
            let [count, value] = pair else { continue };
            let (run, after) = std::mem::take(&mut rest)
                .split_at_mut_checked(usize::from(*count))
                .ok_or_else(|| superchunk::Error::corrupt("a run is longer than its block"))?;
            run.fill(*value);
            rest = after;
        }
        match rest {
            [] => Ok(()),
            _ => Err(superchunk::Error::corrupt("the runs end before their block")),
        }
    }
}

/// Compresses with the codec, and decompresses with and without it.
pub fn main() -> std::result::Result<(), Box<dyn Error>> {
    // Ids from 160 on are for users. Nothing is global: who needs the codec gets the registry.
    let registry = Registry::new().with_codec(200, Runs)?;
    let codec = Codec::Registered { id: 200, meta: 0 };
    let options = CompressOptions::new(1).with_codec(codec).with_registry(registry.clone());
    let steps: Vec<u8> = (0..=255).flat_map(|value| [value; 1000]).collect();
    let packed = chunk::compress(&steps, &options)?;
    println!("{} bytes become {} with {codec}", steps.len(), packed.len());
    assert!(packed.len() < steps.len() / 50);

    let mut decoder = chunk::Decoder::new().with_registry(registry);
    assert_eq!(decoder.decompress(&packed)?, steps);
    let Err(error) = chunk::decompress(&packed) else { return Err("who registered it?".into()) };
    println!("without it: {error}");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(options.format, ChunkFormat::Blosc2);
    Ok(())
}
