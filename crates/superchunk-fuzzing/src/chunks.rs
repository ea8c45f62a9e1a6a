//! Chunks of any bytes, judged by several decoders.

use superchunk::chunk::{Decoder, Header, LazyChunk};
use superchunk::{ErrorKind, Result};
use superchunk_testkit::naive;

use crate::bounds::{LIMIT, bounded, limits, no_bug};
use crate::c_blosc2;

/// Every four bytes may be the start of a block, which takes some memory to decode.
const PER_BYTE: usize = 4;

/// A chunk of either format.
pub(crate) fn chunk_decode(input: &[u8]) {
    let ours = decode(input);
    compare_with_c(input, &ours);
}

/// A chunk with a header of C-Blosc 1.
pub(crate) fn chunk1_decode(input: &[u8]) {
    let mut chunk = input.to_vec();
    if let [version, _, flags, ..] = chunk.as_mut_slice() {
        *version = 1 + *version % 2;
        // Both shuffles at once would announce a header of Blosc2.
        if *flags & 5 == 5 {
            *flags &= !4;
        }
    }
    let ours = decode(&chunk);
    if let (Ok(ours), Ok(plain)) = (&ours, plain(&chunk)) {
        assert!(*ours == plain, "the plain decoder says something else");
    }
    compare_with_c(&chunk, &ours);
}

/// Decodes in every way that there is; all ways must agree.
fn decode(chunk: &[u8]) -> Result<Vec<u8>> {
    bounded(PER_BYTE * chunk.len(), || {
        let mut decoder = Decoder::new().with_limits(limits());
        let whole = no_bug(decoder.decompress(chunk));
        let mut part = [0; 16];
        let read = no_bug(decoder.read_bytes(chunk, 8..24, &mut part));
        let masked =
            no_bug(decoder.decompress_masked(chunk, &[true, false, true], &mut [0; LIMIT]));
        let block = no_bug(decoder.read_block(chunk, 1));
        let _ = no_bug(LazyChunk::new(chunk, 0, 0));
        let _ = no_bug(LazyChunk::parse(chunk)).map(|lazy| no_bug(lazy.block_extent(0)));
        if let Ok(bytes) = &whole {
            assert!(bytes.len() <= LIMIT);
            assert_eq!(
                Header::parse(chunk).map(|header| header.byte_len()).ok(),
                Some(bytes.len())
            );
            if let Some(expected) = bytes.get(8..24) {
                assert!(read.is_ok() && part == expected, "a part is not that of the whole");
            }
            if let Ok(block) = block {
                assert!(bytes.windows(block.len().max(1)).any(|w| w == block) || block.is_empty());
            }
        }
        drop(masked);
        whole
    })
}

/// What the decoder of the test kit says, which knows no limits.
fn plain(chunk: &[u8]) -> std::result::Result<Vec<u8>, String> {
    match Header::parse(chunk) {
        Ok(header) if header.byte_len() <= LIMIT => naive::decompress(chunk),
        _ => Err("beyond the limits".to_owned()),
    }
}

/// Where both accept, both must give the same. Where only one does, that is counted.
fn compare_with_c(chunk: &[u8], ours: &Result<Vec<u8>>) {
    let stated = chunk.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes);
    let within = stated.and_then(|len| usize::try_from(len).ok()).is_some_and(|len| len <= LIMIT);
    if !within || chunk.len() < 16 {
        return;
    }
    let theirs = c_blosc2::decompress(chunk);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert!(
            *ours == theirs
                || c_blosc2::is_known_difference(chunk)
                || c_blosc2::decompress_afresh(chunk).is_ok_and(|theirs| *ours == theirs),
            "C-Blosc2 decodes {} bytes otherwise",
            theirs.len()
        ),
        (Err(error), Ok(_)) if error.kind() != ErrorKind::LimitExceeded => {
            c_blosc2::note("C-Blosc2 alone accepts", &error.to_string(), chunk);
        }
        (Ok(_), Err(words)) => c_blosc2::note("C-Blosc2 alone refuses", &words, chunk),
        _ => {}
    }
}
