//! Zstandard streams (RFC 8878): one frame with its content size and without checksum when
//! written, any sequence of frames when read; both with or without a dictionary.
//!
//! The work is done by mzstd, whose encoder writes the bytes of libzstd 1.5.7. Contexts are kept
//! between streams: their tables cost up to a third of the time of a 32 KB stream. A prepared
//! dictionary is kept as long as the same bytes come again, that is for a whole chunk.
//!
//! It is a crate of its own because mzstd is generic over instruction sets: whoever calls it compiles
//! it, which takes minutes. Here that happens once, and not again whenever the core changes.
//!
//! A frame is expanded straight into the caller's buffer. Only a frame that does not state its
//! size goes through a history buffer, which grows with the bytes really decoded: the window that
//! a header claims never allocates anything.

#![forbid(unsafe_code)]

use mzstd::dictionary::{DecodeDictionary, DictionaryBuilder, PreparedDictionary};
use mzstd::{
    Compressor, DecodeError, DecodeLimits, DecoderConfig, Decompressor, EncoderConfig, Level,
};
use superchunk_kernels::Malformed;

/// A Zstandard encoder and decoder; each half is created when first used.
#[derive(Default)]
pub struct Zstd {
    encoder: Option<Encoder>,
    encode_dictionary: Option<EncodeDictionary>,
    decoder: Option<Decompressor>,
    decode_dictionary: Option<CachedDictionary>,
}

/// The Zstandard level (1 to 22) of a Blosc compression level (1 to 9).
pub fn level_of(clevel: u8) -> i32 {
    match clevel {
        0 => 1,
        1..=8 => 2 * i32::from(clevel) - 1,
        _ => 22,
    }
}

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
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses `src` as one frame into `dst` and gives its length.
    ///
    /// `level` is the library's own (1 to 22). An empty `dict` means none; otherwise it is a
    /// trained dictionary if it starts with the dictionary magic, else raw content. `None` means
    /// that the frame does not fit `dst` with a few bytes to spare, or that the dictionary is bad.
    pub fn compress(
        &mut self,
        level: i32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        if dict.is_empty() {
            return self.encoder_at(level)?.compress_to_slice(src, dst).ok();
        }
        let stale = !matches!(&self.encode_dictionary,
            Some(cached) if cached.level == level && cached.prepared.as_bytes() == dict);
        if stale {
            let config = config_at(level)?;
            let prepared = DictionaryBuilder::new(dict).with_config(config).build().ok()?;
            self.encode_dictionary = Some(EncodeDictionary { level, prepared });
        }
        self.encoder_at(level)?;
        let compressor = &mut self.encoder.as_mut()?.compressor;
        let prepared = &self.encode_dictionary.as_ref()?.prepared;
        compressor.compress_with_dictionary_to_slice(prepared, src, dst).ok()
    }

    /// Expands the frames of `src`, which must fill `dst` exactly. `dict` is as for
    /// [`Zstd::compress`].
    pub fn decompress(&mut self, dict: &[u8], src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
        let written = if dict.is_empty() {
            self.decoder().decompress_to_slice(src, dst)
        } else {
            self.parse_dictionary(dict)?;
            let decoder = self.decoder.get_or_insert_with(new_decoder);
            let Some(cached) = &self.decode_dictionary else {
                return Err(malformed("zstd dictionary is corrupt"));
            };
            decoder.decompress_with_dictionary_to_slice(&cached.parsed, src, dst)
        };
        match written {
            Ok(written) if written == dst.len() => Ok(()),
            Ok(_) => Err(malformed("zstd stream is shorter than its block")),
            Err(error) => Err(malformed(reason_of(&error))),
        }
    }

    /// The encoder, set to `level`.
    fn encoder_at(&mut self, level: i32) -> Option<&mut Compressor> {
        if self.encoder.as_ref().is_none_or(|encoder| encoder.level != level) {
            let config = config_at(level)?;
            match &mut self.encoder {
                Some(encoder) => {
                    encoder.compressor.reconfigure(config).ok()?;
                    encoder.level = level;
                }
                none => *none = Some(Encoder { level, compressor: Compressor::new(config).ok()? }),
            }
        }
        self.encoder.as_mut().map(|encoder| &mut encoder.compressor)
    }

    fn decoder(&mut self) -> &mut Decompressor {
        self.decoder.get_or_insert_with(new_decoder)
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
