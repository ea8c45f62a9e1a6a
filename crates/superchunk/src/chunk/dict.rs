//! Making the dictionary that the blocks of a chunk share.
//!
//! What a codec sees are filtered blocks, so the dictionary is made from those: from a sample of
//! them that is spread over the whole input.

use super::encode::{Encoder, stored_item_size};
use super::geometry::Geometry;
use super::layout::MAX_DICTIONARY;
use super::tune::Cut;
use crate::codecs::pick_dictionary_content;
use crate::error::{MustGet, Result};
use crate::filters::Reference;

/// A shorter dictionary is not worth its place.
const SMALLEST: usize = 256;
/// The dictionary takes at most this share of the input.
const LARGEST_SHARE: usize = 20;
/// The bytes that a dictionary is made from, at most.
const SAMPLE_BYTES: usize = 1024 * 1024;

/// A dictionary for an input cut into equal blocks; empty when it would not pay.
pub(super) fn make(encoder: &Encoder, src: &[u8], cut: Cut) -> Result<Vec<u8>> {
    let geometry = Geometry::new(src.len(), cut.blocksize);
    let blocks = (0..geometry.block_count()).map(|block| src.must_get(geometry.block_range(block)));
    let streams = if cut.split { usize::from(stored_item_size(&encoder.options)) } else { 1 };
    make_from(encoder, src.len(), blocks, cut.blocksize / streams)
}

/// A dictionary for variable-length blocks; empty when it would not pay.
pub(super) fn make_vl(encoder: &Encoder, blocks: &[&[u8]]) -> Result<Vec<u8>> {
    let nbytes = blocks.iter().map(|block| block.len()).sum();
    make_from(encoder, nbytes, blocks.iter().copied().map(Ok), nbytes / blocks.len().max(1))
}

fn make_from<'a>(
    encoder: &Encoder,
    nbytes: usize,
    blocks: impl ExactSizeIterator<Item = Result<&'a [u8]>>,
    stream_len: usize,
) -> Result<Vec<u8>> {
    let capacity = (nbytes / LARGEST_SHARE).min(MAX_DICTIONARY);
    if capacity < SMALLEST || encoder.options.level == 0 {
        return Ok(Vec::new());
    }
    let step = nbytes.div_ceil(SAMPLE_BYTES).min(blocks.len()).max(1);
    let (mut a, mut b, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks.step_by(step) {
        let filtered = encoder.pipeline.forward(Reference::Itself, block?, &mut a, &mut b)?;
        samples.extend_from_slice(filtered);
    }
    Ok(pick_dictionary_content(&samples, stream_len, capacity).unwrap_or_default())
}
