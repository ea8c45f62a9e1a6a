//! A new chunk against what went into it, before it is stored:
//! [`CompressOptions::with_check`](crate::CompressOptions::with_check).
//!
//! ```text
//! chunk ── the reader's ordinary path ───────────────────────────── decoded ──┐
//! input ── filters up to the last lossy one, applied and undone ─── expected ─┴─ equal, or an error
//! ```
//!
//! Without lossy filters the input itself is expected, so that a wrong filter is found like a wrong
//! codec. With one, neither its rounding nor what stands before it can be judged, because nothing
//! says what it should have made of the input; but the filters after it, the codec and the chunk
//! still are. A lossy codec leaves nothing to compare: then the chunk only has to decode.

use super::decode::Decoder;
use super::encode::Encoder;
use super::header::{Content, Header};
use super::vl;
use super::worker::Worker;
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::filters::{Pipeline, Reference};
use crate::options::{Codec, Filter};

/// What went into a chunk.
pub(super) enum Original<'a> {
    /// Bytes that were cut into blocks.
    Bytes(&'a [u8]),
    /// The same, of which only the named blocks are meaningful and new.
    Changed(&'a [u8], &'a [bool]),
    /// Variable-length blocks.
    Objects(&'a [&'a [u8]]),
}

impl<'a> Original<'a> {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Changed(bytes, _) => bytes.len(),
            Self::Objects(blocks) => blocks.iter().map(|block| block.len()).sum(),
        }
    }

    fn block(&self, number: usize, blocksize: usize) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) | Self::Changed(bytes, _) => {
                bytes.chunks(blocksize.max(1)).nth(number)
            }
            Self::Objects(blocks) => blocks.get(number).copied(),
        }
    }

    /// Returns whether a block was encoded, and not taken over from another chunk.
    fn is_new(&self, number: usize) -> bool {
        match self {
            Self::Changed(_, changed) => changed.get(number) == Some(&true),
            Self::Bytes(_) | Self::Objects(_) => true,
        }
    }
}

impl Encoder {
    /// Ends the making of the chunk that begins at `start` of `out`: checks it if the options say
    /// so, and returns its length. After an error `out` is as it was.
    pub(super) fn finish(
        &mut self,
        made: Result<()>,
        original: &Original<'_>,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<usize> {
        let chunk = out.must_get_mut(start..)?;
        superchunk_kernels::spoil(chunk, self.options.check);
        let done = match made {
            Ok(()) if self.options.check => self.check(original, chunk),
            made => made,
        };
        let len = chunk.len();
        if done.is_err() {
            out.truncate(start);
        }
        done.map(|()| len)
    }

    fn check(&mut self, original: &Original<'_>, chunk: &[u8]) -> Result<()> {
        let mut decoder = Decoder::new()
            .with_executor(self.options.executor.unobserved())
            .with_registry(self.options.registry.clone());
        decoder.shape.clone_from(&self.options.block_shape);
        // The decoder needs no scratch memory of its own.
        decoder.workers = std::mem::take(&mut self.workers);
        let found = self.difference(&mut decoder, original, chunk);
        self.workers = decoder.workers;
        match found {
            Ok(None) => Ok(()),
            Ok(Some(words)) => Err(self.miscompressed(&words)),
            Err(error) => Err(self.miscompressed(&format!("it does not decode: {error}"))),
        }
    }

    /// What is wrong with a chunk, in words.
    fn difference(
        &self,
        decoder: &mut Decoder,
        original: &Original<'_>,
        chunk: &[u8],
    ) -> Result<Option<String>> {
        let header = Header::parse(chunk)?;
        if (header.byte_len(), header.compressed_len()) != (original.len(), chunk.len()) {
            return Ok(Some("its header states wrong lengths".to_owned()));
        }
        let skip: Vec<bool> =
            (0..header.block_count()).map(|block| !original.is_new(block)).collect();
        let mut decoded = vec![0; original.len()];
        match original {
            Original::Changed(..) => decoder.decompress_masked(chunk, &skip, &mut decoded)?,
            _ => decoder.decompress_into(chunk, &mut decoded)?,
        };
        if let Original::Objects(blocks) = original
            && !vl::block_lens(&header, chunk)?.into_iter().eq(blocks.iter().map(|b| b.len()))
        {
            return Ok(Some("its blocks have wrong lengths".to_owned()));
        }
        if self.options.marks {
            decoder.check_marks(chunk)?;
        }
        let is_coded = matches!(header.content, Content::Blocks | Content::VariableBlocks);
        match self.lossy.as_ref().filter(|_| is_coded) {
            _ if is_coded && self.method.is_lossy() => Ok(None),
            lossy => compare(original, &decoded, header.blocksize, lossy),
        }
    }

    fn miscompressed(&self, what: &str) -> Error {
        let options = &self.options;
        let has_user_part = matches!(options.codec, Codec::Registered { .. })
            || options.filters.iter().any(|filter| matches!(filter, Filter::Registered { .. }));
        let advice = match has_user_part {
            true => {
                "its registered codec or filter is wrong, or lossy without saying so (`is_lossy`)"
            }
            false => "this is a bug or a fault of the memory: report it, and use another codec",
        };
        let dictionary = if options.dictionary { ", with a dictionary" } else { "" };
        Error::new(
            ErrorKind::Miscompressed,
            format!(
                "a new chunk does not decode to what went in, and was not stored: {what} (codec {:?}, \
                 level {}, filters {:?}, items of {} bytes{dictionary}); {advice}",
                options.codec, options.level, options.filters, options.item_size
            ),
        )
    }
}

/// Compares the new blocks with what was decoded; `lossy` changes what is expected.
fn compare(
    original: &Original<'_>,
    decoded: &[u8],
    blocksize: usize,
    lossy: Option<&Pipeline>,
) -> Result<Option<String>> {
    let first = decoded.must_get(..blocksize.min(decoded.len()))?;
    let Worker { streams, a, b, block: passed, .. } = &mut Worker::default();
    let (mut number, mut start) = (0, 0);
    while let Some(block) = original.block(number, blocksize) {
        // A chunk that is too short differs, too.
        let end = decoded.len().min(start + block.len());
        let found = decoded.must_get(start..end)?;
        let expected = match lossy {
            Some(lossy) if original.is_new(number) => {
                passed.clear();
                passed.extend_from_slice(block);
                let reference = match original {
                    Original::Objects(_) => Reference::Itself,
                    _ if number == 0 => Reference::Itself,
                    // It has been compared before.
                    _ => Reference::FirstBlock(first),
                };
                lossy.there_and_back(reference, passed, (streams, a, b))?;
                passed.as_slice()
            }
            _ => block,
        };
        if original.is_new(number) && found != expected {
            return Ok(Some(first_difference(number, start, found, expected)));
        }
        (number, start) = (number + 1, end);
    }
    Ok(None)
}

fn first_difference(block: usize, start: usize, found: &[u8], expected: &[u8]) -> String {
    let mut pairs = found.iter().zip(expected).enumerate();
    let different = pairs.find(|(_, (found, expected))| found != expected);
    different.map_or_else(String::new, |(at, (found, expected))| {
        format!("byte {}, in block {block}, is {found:#04x} instead of {expected:#04x}", start + at)
    })
}
