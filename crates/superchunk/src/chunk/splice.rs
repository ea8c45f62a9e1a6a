//! A chunk of which a few blocks change: the others are taken over as they are stored.
//!
//! ```text
//! old   │ header │ bstarts │ block 0 │ block 1 │ block 2 │ block 3 │
//!                               │                   │         │        copied
//! new   │ header │ bstarts │ block 0 │ new block 1 │ block 2 │ block 3 │
//! ```
//!
//! Only a chunk that this encoder could have made is spliced: codec, filters, block size and splitting
//! are named once for all blocks. Blocks that differ from the first one (delta) and blocks with a
//! dictionary stand in relation to others, and are encoded anew.

use super::check::Original;
use super::encode::{Encoder, block_writer, manner_of, put_i32, streams_of};
use super::header::{Content, Header};
use super::input::{Input, PlainBlocks};
use super::layout::Layout;
use super::{tune, worker};
use crate::error::{MustGet, Result};

impl Encoder {
    /// Whether blocks of a chunk with this header can be replaced by new ones of this encoder.
    pub(crate) fn can_splice(&self, header: &Header) -> bool {
        let cut = tune::cut(&self.options, header.nbytes);
        let own = self.header(header.nbytes, cut, Content::Blocks, header.cbytes);
        *header == own && self.options.level > 0 && !self.pipeline.has_delta()
    }

    /// Appends the chunk `old` to `out` with the blocks that `changed` names taken from `src`: bytes
    /// as long as the whole chunk, of which only those blocks matter. False when this cannot be done,
    /// or would be longer than the bytes themselves; what is in `out` then has no meaning.
    pub(crate) fn splice(
        &mut self,
        old: &[u8],
        src: &[u8],
        changed: &[bool],
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let header = Header::parse(old)?;
        let old = header.whole_chunk(old)?;
        if !self.can_splice(&header) || src.len() != header.nbytes {
            return Ok(false);
        }
        self.begin(src.len())?;
        let layout = Layout::parse(&header, old)?.with_extents()?;
        let manner = manner_of(&self.options, &self.pipeline, src.len());
        let writer = block_writer(&self.options, &self.pipeline, &self.method, manner, &[]);
        let streams = streams_of(&self.options, tune::cut(&self.options, src.len()));
        let input = Input::Whole(src);
        let geometry = header.geometry();
        let blocks = PlainBlocks { input: &input, geometry, streams, first: None };
        let worker = worker::at_least(&mut self.workers, 1).must_get_mut(0)?;
        let start = out.len();
        header.write(out)?;
        let bstarts = out.len();
        out.resize(bstarts + 4 * header.block_count(), 0);
        for block in 0..header.block_count() {
            let position = out.len() - start;
            put_i32(out, bstarts + 4 * block, position)?;
            if changed.get(block) == Some(&true) {
                blocks.with(block, |block| writer.encode(worker, block, &[], false, out))?;
            } else {
                out.extend_from_slice(old.must_get(layout.block_extent(block)?)?);
            }
            if out.len() - start >= src.len() + header.header_len() {
                return Ok(false);
            }
        }
        let cbytes = out.len() - start;
        put_i32(out, start + 12, cbytes)?;
        self.finish(Ok(()), &Original::Changed(src, changed), out, start)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::{self, Encoder};
    use crate::options::{Codec, CompressOptions, Filter};

    fn numbers(from: u32, count: u32) -> Vec<u8> {
        (from..from + count).flat_map(|n| (n / 9).to_le_bytes()).collect()
    }

    fn options() -> CompressOptions {
        CompressOptions::new(4).with_block_size(4096).with_codec(Codec::Lz4)
    }

    #[test]
    fn a_spliced_chunk_is_the_chunk_of_the_new_bytes() {
        let old = numbers(0, 8000);
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            let options = options().with_filters(filters);
            let packed = chunk::compress(&old, &options).unwrap();
            let mut encoder = Encoder::new(&options).unwrap();
            for block in 0..8 {
                let mut new = old.clone();
                new[block * 4096 + 5..block * 4096 + 105].fill(9);
                let mut only = vec![0xee; new.len()];
                let range = block * 4096..new.len().min((block + 1) * 4096);
                only[range.clone()].copy_from_slice(&new[range]);
                let mut changed = [false; 8];
                changed[block] = true;
                let mut out = vec![7];
                assert!(encoder.splice(&packed, &only, &changed, &mut out).unwrap());
                assert!(out[1..] == chunk::compress(&new, &options).unwrap(), "block {block}");
            }
        }
    }

    #[test]
    fn what_another_encoder_made_is_not_spliced() {
        let bytes = numbers(0, 8000);
        let mut encoder = Encoder::new(&options()).unwrap();
        let others = [
            options().with_codec(Codec::BloscLz),
            options().with_block_size(8192),
            options().with_filters([Filter::BitShuffle]),
            options().with_level(0),
        ];
        for other in others {
            let packed = chunk::compress(&bytes, &other).unwrap();
            let done = encoder.splice(&packed, &bytes, &[true; 8], &mut Vec::new());
            assert!(!done.unwrap(), "{other:?}");
        }
        let delta = options().with_filters([Filter::Delta, Filter::Shuffle]);
        let packed = chunk::compress(&bytes, &delta).unwrap();
        let done = Encoder::new(&delta).unwrap().splice(&packed, &bytes, &[true; 8], &mut vec![]);
        assert!(!done.unwrap());
    }

    #[test]
    fn a_splice_longer_than_the_bytes_is_given_up() {
        let zeros: Vec<u8> = [&[1; 40][..], &[0; 32_728]].concat();
        let packed = chunk::compress(&zeros, &options()).unwrap();
        let mut seed = 1_u32;
        let noise = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_le_bytes()[3]
        });
        let noise: Vec<u8> = noise.take(zeros.len()).collect();
        let mut encoder = Encoder::new(&options()).unwrap();
        let done = encoder.splice(&packed, &noise, &[true; 8], &mut Vec::new());
        assert!(!done.unwrap());
    }
}
