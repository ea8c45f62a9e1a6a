//! Snappy blocks: a varint with the plain length, then literals and copies. Only read, never
//! written: C-Blosc 1 could be built with Snappy, and its chunks are still around.

use snap::raw::{Decoder, decompress_len};
use superchunk_kernels::Malformed;

/// Expands the Snappy block `src`, which must fill `dst` exactly.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
    // Checked before decoding: a block for another length is wrong from its first byte on.
    if decompress_len(src) != Ok(dst.len()) {
        return Err(Malformed { at: 0, reason: "snappy block is not of the length of its stream" });
    }
    match Decoder::new().decompress(src, dst) {
        Ok(len) if len == dst.len() => Ok(()),
        _ => Err(Malformed { at: 0, reason: "snappy block is corrupt" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length 11; literal "abc"; copy of 8 bytes from 3 back.
    const BLOCK: [u8; 7] = [11, 2 << 2, b'a', b'b', b'c', (4 << 2) | 1, 3];

    #[test]
    fn reads_a_block_written_by_hand() {
        let mut plain = [0; 11];
        assert_eq!(decompress(&BLOCK, &mut plain), Ok(()));
        assert_eq!(&plain, b"abcabcabcab");
    }

    #[test]
    fn reads_what_the_encoder_wrote() {
        let plain: Vec<u8> =
            (0..100_000_u32).map(|i| (i / 100 * 7 + i % 13).to_le_bytes()[0]).collect();
        let packed = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        let mut back = vec![0; plain.len()];
        assert_eq!(decompress(&packed, &mut back), Ok(()));
        assert_eq!(back, plain);
    }

    #[test]
    fn refuses_every_other_length_and_every_cut() {
        for len in (0..40).filter(|&len| len != 11) {
            assert!(decompress(&BLOCK, &mut vec![0; len]).is_err(), "{len} bytes");
        }
        for cut in 0..BLOCK.len() {
            assert!(decompress(&BLOCK[..cut], &mut [0; 11]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn refuses_a_huge_claimed_length_and_copies_from_before_the_start() {
        assert!(decompress(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1], &mut [0; 8]).is_err());
        assert!(decompress(&[5, 0, b'a', 1, 9], &mut [0; 5]).is_err());
        assert!(decompress(&[5, 0, b'a', 1, 0], &mut [0; 5]).is_err());
    }

    #[test]
    fn mutated_blocks_never_panic() {
        let plain: Vec<u8> = (0..2000_u32).map(|i| (i / 40).to_le_bytes()[0]).collect();
        let packed = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        let mut back = vec![0; plain.len()];
        for at in 0..packed.len() {
            for value in 0..=255 {
                let mut bad = packed.clone();
                bad[at] = value;
                let decoded = decompress(&bad, &mut back);
                assert!(value != packed[at] || decoded.is_ok());
            }
        }
    }
}
