//! Zstandard streams (RFC 8878): one frame with its content size and without checksum when
//! written, any sequence of frames when read; both with or without a dictionary.
//!
//! Frames without a dictionary are decoded by a kernel, others by mzstd. The encoder of mzstd
//! writes the bytes of libzstd 1.5.7; level 1 without a dictionary is a kernel's, and takes as many bytes. For streams without
//! repetitions there is one that does not look for any, see [`super::Light`]. Contexts are kept between streams: their tables cost up to a third of the
//! time of a 32 KB stream. A prepared dictionary is kept as long as the same bytes come again, that is for a whole chunk.

use mzstd::dictionary::{DecodeDictionary, DictionaryBuilder, PreparedDictionary};
use mzstd::{
    Compressor, DecodeError, DecodeLimits, DecoderConfig, Decompressor, EncoderConfig, Level,
};
use superchunk_kernels::{Malformed, Wanted, zstd};

/// A Zstandard encoder and decoder; each part is created when first used.
#[derive(Default)]
pub(crate) struct Zstd {
    kernel: zstd::Encoder,
    /// One for each level that is in use and not the kernel's.
    encoders: Vec<Encoder>,
    encode_dictionary: Option<EncodeDictionary>,
    decoder: Option<zstd::Decoder>,
    /// For frames with a dictionary.
    dictionary_decoder: Option<Decompressor>,
    decode_dictionary: Option<CachedDictionary>,
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

/// How many levels may be in use: that of a chunk, and lighter ones.
const MOST_ENCODERS: usize = 4;

/// The encoder's tables, and the level they are set to.
struct Encoder {
    level: i32,
    compressor: Compressor,
}

/// A dictionary indexed for one level.
struct EncodeDictionary {
    level: i32,
    prepared: PreparedDictionary,
}

/// A parsed dictionary and the bytes that it came from.
struct CachedDictionary {
    bytes: Vec<u8>,
    parsed: DecodeDictionary,
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
        if dict.is_empty() {
            return match level {
                1 => self.kernel.compress_fast(src, dst),
                _ => self.encoder_at(level)?.compress_to_slice(src, dst).ok(),
            };
        }
        let stale = !matches!(&self.encode_dictionary,
            Some(cached) if cached.level == level && cached.prepared.as_bytes() == dict);
        if stale {
            let config = config_at(level)?;
            let prepared = DictionaryBuilder::new(dict).with_config(config).build().ok()?;
            self.encode_dictionary = Some(EncodeDictionary { level, prepared });
        }
        let dictionary = self.encode_dictionary.take()?;
        let written = self.encoder_at(level).and_then(|compressor| {
            compressor.compress_with_dictionary_to_slice(&dictionary.prepared, src, dst).ok()
        });
        self.encode_dictionary = Some(dictionary);
        written
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
        if dict.is_empty() {
            return self.decoder.get_or_insert_default().decompress(src, dst);
        }
        self.parse_dictionary(dict)?;
        let decoder = self.dictionary_decoder.get_or_insert_with(new_decoder);
        let Some(cached) = &self.decode_dictionary else {
            return Err(malformed("zstd dictionary is corrupt"));
        };
        match decoder.decompress_with_dictionary_to_slice(&cached.parsed, src, dst) {
            Ok(written) if written == dst.len() => Ok(()),
            Ok(_) => Err(malformed("zstd stream is shorter than its block")),
            Err(error) => Err(malformed(reason_of(&error))),
        }
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
        if dict.is_empty() {
            let decoder = self.decoder.get_or_insert_default();
            return decoder.decompress_wanted(src, dst, wanted);
        }
        self.decompress(dict, src, dst)
    }

    /// The encoder of mzstd, set to `level`.
    fn encoder_at(&mut self, level: i32) -> Option<&mut Compressor> {
        let found = self.encoders.iter().position(|encoder| encoder.level == level);
        let place = match found {
            Some(place) => place,
            None => {
                // Users that go through the levels shall not keep the tables of all of them.
                self.encoders.truncate(MOST_ENCODERS - 1);
                let compressor = Compressor::new(config_at(level)?).ok()?;
                self.encoders.push(Encoder { level, compressor });
                self.encoders.len() - 1
            }
        };
        self.encoders.get_mut(place).map(|encoder| &mut encoder.compressor)
    }

    /// Makes `decode_dictionary` the parsed form of `dict`.
    fn parse_dictionary(&mut self, dict: &[u8]) -> Result<(), Malformed> {
        if self.decode_dictionary.as_ref().is_some_and(|cached| cached.bytes == dict) {
            return Ok(());
        }
        let parsed = DecodeDictionary::try_from(dict)
            .map_err(|_| malformed("zstd dictionary is corrupt"))?;
        self.decode_dictionary = Some(CachedDictionary { bytes: dict.to_vec(), parsed });
        Ok(())
    }
}

/// Frames carry their content size and no checksum: the encoder's defaults.
fn config_at(level: i32) -> Option<EncoderConfig> {
    let level = Level::try_from(level.clamp(1, 22)).ok()?;
    Some(EncoderConfig::new().with_level(level).with_content_size(true).with_checksum(false))
}

/// A decoder that accepts every window the format's reference accepts in memory: a window costs
/// nothing here (see the module's text), so a limit would only refuse frames that others read.
fn new_decoder() -> Decompressor {
    let limits = DecodeLimits::DEFAULT
        .with_max_window_log(DecodeLimits::MAX_WINDOW_LOG)
        .unwrap_or(DecodeLimits::DEFAULT);
    Decompressor::new(DecoderConfig::DEFAULT.with_limits(limits))
}

/// The decoder does not tell where it stopped.
fn malformed(reason: &'static str) -> Malformed {
    Malformed { at: 0, reason }
}

fn reason_of(error: &DecodeError) -> &'static str {
    match error {
        DecodeError::UnexpectedEndOfInput => "zstd stream is cut short",
        DecodeError::OutputTooSmall { .. } => "zstd stream is longer than its block",
        DecodeError::ChecksumMismatch { .. } => "zstd checksum does not match",
        DecodeError::ContentSizeMismatch { .. } => "zstd frame has not the size it states",
        DecodeError::DictionaryUnsupported { .. } => "zstd frame needs a dictionary",
        DecodeError::DictionaryMismatch { .. } => "zstd frame needs another dictionary",
        DecodeError::WindowLimitExceeded { .. } => "zstd window is larger than the format allows",
        DecodeError::AllocationFailed => "no memory to decode the zstd stream",
        _ => "zstd stream is corrupt",
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
        // The kernel has no window of its own.
        let retained = codec.dictionary_decoder.map(|decoder| decoder.retained_bytes());
        assert!(retained.is_some_and(|bytes| bytes < 1 << 20), "{retained:?} bytes kept");
    }
}
