//! Zstandard streams (RFC 8878): one frame with its content size and without checksum when
//! written, any sequence of frames when read; both with or without a dictionary.
//!
//! A kernel decodes them. Another encodes at level 1 without a dictionary, and streams without
//! repetitions, see [`super::Light`]; [`Library`] encodes the rest.
//! A parsed dictionary is kept as long as the same bytes come again, that is for a whole chunk.

#[cfg(all(feature = "zstd", any(test, not(feature = "rust-zstd"))))]
mod mzstd;
#[cfg(any(test, feature = "rust-zstd"))]
mod rust_zstd;

use superchunk_kernels::{Malformed, Wanted, zstd};

#[cfg(not(feature = "rust-zstd"))]
use self::mzstd::Library;
#[cfg(feature = "rust-zstd")]
use self::rust_zstd::Library;

/// A Zstandard encoder and decoder; each part is created when first used.
#[derive(Default)]
pub(crate) struct Zstd {
    kernel: zstd::Encoder,
    library: Library,
    decoder: Option<zstd::Decoder>,
    dictionary: Option<CachedDictionary>,
}

/// The Zstandard level of a Blosc compression level (1 to 9). C-Blosc2 takes 22 for the highest; measured on blocks of
/// 1 MiB of the bench's datasets, 20 takes 0 to 0.09 % more bytes and up to half the time.
pub(crate) fn level_of(clevel: u8) -> i32 {
    match clevel {
        0 => 1,
        1..=8 => 2 * i32::from(clevel) - 1,
        _ => 20,
    }
}

/// A parsed dictionary and the bytes that it came from.
struct CachedDictionary {
    bytes: Vec<u8>,
    parsed: zstd::Dictionary,
}

impl Zstd {
    /// A codec that has not allocated anything yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Compresses `src` as one frame into `dst` and gives its length.
    ///
    /// `level` is the library's own (1 to 22). An empty `dict` means none; otherwise it is a
    /// trained dictionary if it starts with the dictionary magic, else raw content. `None` means
    /// that the frame does not fit `dst` with a few bytes to spare, or that the dictionary is bad.
    pub(crate) fn compress(
        &mut self,
        level: i32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        match level {
            1 if dict.is_empty() => self.kernel.compress_fast(src, dst),
            _ => self.library.compress(level, dict, src, dst),
        }
    }

    /// The same without a dictionary, and with codes alone: nothing that comes again is looked for.
    pub(crate) fn compress_codes(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.kernel.compress_codes(src, dst)
    }

    /// Expands the frames of `src`, which must fill `dst` exactly. `dict` is as for
    /// [`Zstd::compress`].
    pub(crate) fn decompress(
        &mut self,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<(), Malformed> {
        let whole = Wanted::range(0..dst.len());
        self.decompress_wanted(dict, src, dst, &whole)
    }

    /// Expands at least the bytes `wanted` of the frames of `src`, which fill `dst`; all others are unspecified and
    /// unchecked.
    pub(crate) fn decompress_wanted(
        &mut self,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> Result<(), Malformed> {
        let decoder = self.decoder.get_or_insert_default();
        if dict.is_empty() {
            return decoder.decompress_wanted(src, dst, wanted);
        }
        let cached = self.dictionary.take().filter(|cached| cached.bytes == dict);
        let cached = match cached {
            Some(cached) => cached,
            None => {
                CachedDictionary { bytes: dict.to_vec(), parsed: zstd::Dictionary::parse(dict)? }
            }
        };
        let decoded = decoder.decompress_wanted_with(&cached.parsed, src, dst, wanted);
        self.dictionary = Some(cached);
        decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 13 bytes written by hand from RFC 8878: magic, descriptor (single segment, one
    /// byte of content size), size 4, last raw block of 4 bytes.
    const RAW_FRAME: [u8; 13] =
        [0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, (4 << 3) | 1, 0, 0, b'a', b'b', b'c', b'd'];

    fn text(len: usize, seed: u32) -> Vec<u8> {
        let words = ["alpha", "beta;", "gamma=", "12.5,", "\n", "delta/", "777"];
        let mut state = seed;
        let mut out = Vec::new();
        while out.len() < len {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            out.extend_from_slice(
                words[usize::from(state.to_le_bytes()[3]) % words.len()].as_bytes(),
            );
            out.push(state.to_le_bytes()[2] & 0x3f);
        }
        out.truncate(len);
        out
    }

    fn packed(codec: &mut Zstd, level: i32, dict: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; plain.len() + 1000];
        let n = codec.compress(level, dict, plain, &mut packed).unwrap();
        packed.truncate(n);
        packed
    }

    #[test]
    fn levels_follow_the_blosc_table() {
        let table: Vec<i32> = (1..=9).map(level_of).collect();
        assert_eq!(table, [1, 3, 5, 7, 9, 11, 13, 15, 20]);
    }

    #[test]
    fn round_trips_at_every_level_in_any_order() {
        let mut codec = Zstd::new();
        for len in [0, 1, 9, 300, 70_000, 300_000] {
            let plain = text(len, 7);
            for level in [9, 1, 22, 3, 5, 15, 7, 11, 13, 1] {
                let stream = packed(&mut codec, level, &[], &plain);
                let mut back = vec![0xee; len];
                assert_eq!(codec.decompress(&[], &stream, &mut back), Ok(()));
                assert_eq!(back, plain, "level {level} length {len}");
            }
        }
    }

    #[test]
    fn a_part_is_that_of_the_whole_and_needs_no_more_of_the_stream() {
        let mut codec = Zstd::new();
        let plain = text(1_000_000, 9);
        let stream = packed(&mut codec, 3, &[], &plain);
        let mut back = vec![0; plain.len()];
        for end in [0, 1, 131_072, 131_073, 700_000, 999_999, 1_000_000] {
            for part in [0..end, end / 2..end, end - end.min(9)..end] {
                back.fill(0xee);
                let wanted = Wanted::range(part.clone());
                assert_eq!(codec.decompress_wanted(&[], &stream, &mut back, &wanted), Ok(()));
                assert_eq!(back[part.clone()], plain[part.clone()], "bytes {part:?}");
            }
        }
        let half = &stream[..stream.len() / 2];
        let (early, late) = (Wanted::range(0..1000), Wanted::range(0..700_000));
        assert_eq!(codec.decompress_wanted(&[], half, &mut back, &early), Ok(()));
        assert_eq!(back[..1000], plain[..1000]);
        assert!(codec.decompress_wanted(&[], half, &mut back, &late).is_err());
        assert_eq!(codec.decompress(&[], &stream, &mut back), Ok(()));
        assert_eq!(back, plain);
    }

    #[test]
    fn frames_state_their_size_and_carry_no_checksum() {
        let stream = packed(&mut Zstd::new(), 3, &[], &text(1000, 1));
        assert_eq!(stream[..4], [0x28, 0xb5, 0x2f, 0xfd]);
        // Descriptor: two-byte content size (minus 256), single segment, no checksum, no id.
        assert_eq!(stream[4], 0x60);
        assert_eq!(u16::from_le_bytes([stream[5], stream[6]]), 1000 - 256);
    }

    #[test]
    fn a_reused_codec_writes_the_bytes_of_a_fresh_one() {
        let mut reused = Zstd::new();
        let dict = text(4000, 3);
        for level in [1_i32, 9, 22, 3] {
            for dict in [&[][..], &dict] {
                let plain = text(30_000, level.unsigned_abs());
                assert_eq!(reused.compress(level, dict, &plain, &mut [0; 100]), None);
                let again = packed(&mut reused, level, dict, &plain);
                assert_eq!(again, packed(&mut Zstd::new(), level, dict, &plain));
            }
        }
    }

    #[test]
    fn gives_up_when_the_frame_does_not_fit() {
        let mut codec = Zstd::new();
        let plain = text(20_000, 5);
        let n = packed(&mut codec, 5, &[], &plain).len();
        for room in [0, 1, 12, n / 2, n - 1] {
            assert_eq!(codec.compress(5, &[], &plain, &mut vec![0; room]), None, "{room} bytes");
        }
        // The bit writers store whole words, so a frame needs some room behind it: libzstd 1.5.7
        // gives up on this input with 8 bytes to spare and succeeds with 9.
        assert_eq!(codec.compress(5, &[], &plain, &mut vec![0; n + 8]), None);
        assert_eq!(codec.compress(5, &[], &plain, &mut vec![0; n + 9]), Some(n));
    }

    #[test]
    fn reads_concatenated_and_skippable_frames() {
        let mut stream = RAW_FRAME.to_vec();
        stream.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
        stream.extend_from_slice(&RAW_FRAME);
        let mut back = [0; 8];
        assert_eq!(Zstd::new().decompress(&[], &stream, &mut back), Ok(()));
        assert_eq!(&back, b"abcdabcd");
    }

    #[test]
    fn refuses_every_other_length_and_every_cut() {
        let mut codec = Zstd::new();
        let plain = text(500, 2);
        let stream = packed(&mut codec, 3, &[], &plain);
        for len in (0..600).filter(|&len| len != 500) {
            assert!(codec.decompress(&[], &stream, &mut vec![0; len]).is_err(), "{len} bytes");
        }
        for cut in 0..stream.len() {
            assert!(codec.decompress(&[], &stream[..cut], &mut [0; 500]).is_err(), "cut at {cut}");
        }
        let mut followed = stream;
        followed.push(0);
        assert!(codec.decompress(&[], &followed, &mut [0; 500]).is_err());
    }

    #[test]
    fn mutated_streams_never_panic() {
        let mut codec = Zstd::new();
        let plain = text(2000, 11);
        let dict = text(1000, 12);
        for dict in [&[][..], &dict] {
            let stream = packed(&mut codec, 3, dict, &plain);
            let mut back = vec![0; plain.len()];
            for at in 0..stream.len() {
                for bit in 0..8 {
                    let mut bad = stream.clone();
                    bad[at] ^= 1 << bit;
                    let _ = codec.decompress(dict, &bad, &mut back);
                }
            }
            assert_eq!(codec.decompress(dict, &stream, &mut back), Ok(()));
            assert_eq!(back, plain);
        }
    }

    #[test]
    fn raw_content_dictionaries_round_trip_and_shorten_the_stream() {
        let mut codec = Zstd::new();
        let (one, two) = (text(3000, 21), text(2000, 22));
        let plain = one[500..2500].to_vec();
        let alone = packed(&mut codec, 3, &[], &plain).len();
        let with = packed(&mut codec, 3, &one, &plain);
        assert!(with.len() < alone / 4, "{} of {alone}", with.len());
        let mut back = vec![0; plain.len()];
        assert_eq!(codec.decompress(&one, &with, &mut back), Ok(()));
        assert_eq!(back, plain);
        // With the wrong history the stream is refused or gives other bytes.
        assert!(codec.decompress(&two, &with, &mut back).is_err() || back != plain);
        assert!(codec.decompress(&[], &with, &mut back).is_err() || back != plain);
        assert_eq!(codec.decompress(&one, &with, &mut back), Ok(()));
        assert_eq!(back, plain);
    }

    #[test]
    fn a_broken_trained_dictionary_is_refused() {
        let dict = [0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 0xff, 0xff];
        let mut codec = Zstd::new();
        assert_eq!(codec.compress(3, &dict, b"abcabc", &mut [0; 99]), None);
        assert!(codec.decompress(&dict, &RAW_FRAME, &mut [0; 4]).is_err());
        let mut back = [0; 4];
        assert_eq!(codec.decompress(&[], &RAW_FRAME, &mut back), Ok(()));
    }

    #[test]
    fn a_claimed_window_of_two_gibibytes_allocates_nothing_like_it() {
        // No content size, window descriptor 21 << 3 = 2 GiB, one raw block of 4 bytes.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, (4 << 3) | 1, 0, 0];
        bomb.extend_from_slice(b"abcd");
        let mut codec = Zstd::new();
        let mut back = [0; 4];
        // A frame that states a size beyond its block is refused without allocating it.
        let huge = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0x40, 0, 0, 0, 0, 1, 0, 0];
        for dict in [&[][..], b"raw content"] {
            bomb[5] = 21 << 3;
            assert_eq!(codec.decompress(dict, &bomb, &mut back), Ok(()));
            assert_eq!(&back, b"abcd");
            assert!(codec.decompress(dict, &huge, &mut back).is_err());
            // Beyond the largest window of the format.
            bomb[5] = 0xff;
            assert!(codec.decompress(dict, &bomb, &mut back).is_err());
        }
    }

    /// Two implementations by other people: what either writes is decoded, and they differ by a
    /// few bytes at most, without a dictionary.
    #[cfg(feature = "zstd")]
    #[test]
    fn frames_of_both_libraries_are_decoded() {
        use super::mzstd::Library as Mzstd;
        use super::rust_zstd::Library as RustZstd;
        let (mut one, mut other) = (Mzstd::default(), RustZstd::default());
        let plains = [text(100_000, 31), text(300, 32), vec![7; 70_000], noise(40_000), Vec::new()];
        let (dictionary, mut codec) = (text(5000, 33), Zstd::new());
        for (plain, level) in plains.iter().flat_map(|plain| (2..=22).map(move |l| (plain, l))) {
            for dict in [&[][..], &dictionary] {
                let mut frame = vec![0; plain.len() + 1000];
                let first = one.compress(level, dict, plain, &mut frame).unwrap();
                let mut decode = |frame: &[u8]| {
                    let mut back = vec![0; plain.len()];
                    assert_eq!(codec.decompress(dict, frame, &mut back), Ok(()), "level {level}");
                    assert!(back == *plain, "level {level}");
                };
                decode(&frame[..first]);
                let second = other.compress(level, dict, plain, &mut frame).unwrap();
                decode(&frame[..second]);
                // With a dictionary libzstd has two ways to choose its parameters.
                let most = if dict.is_empty() { 8 } else { 40 + first / 20 };
                assert!(first.abs_diff(second) <= most, "level {level}: {first}, {second}");
                let short = &mut vec![0; first.min(second) / 2];
                assert_eq!(one.compress(level, dict, plain, short), None, "level {level}");
                assert_eq!(other.compress(level, dict, plain, short), None, "level {level}");
            }
        }
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        (0..len).map(|_| byte()).collect()
    }
}
