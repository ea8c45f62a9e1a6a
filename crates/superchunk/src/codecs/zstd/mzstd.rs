//! The encoder of the crate mzstd, which writes the bytes of libzstd 1.5.7.

use mzstd::dictionary::{DictionaryBuilder, PreparedDictionary};
use mzstd::{Compressor, EncoderConfig, Level};

/// An encoder for each level that is in use. Their tables are kept between streams: to allocate and
/// clear them takes up to a third of the time of a stream of 32 KB.
#[derive(Default)]
pub(super) struct Library {
    encoders: Vec<Encoder>,
    dictionary: Option<Dictionary>,
}

/// The most levels that are in use: that of a chunk, and those of cheaper encoders.
const MAX_ENCODERS: usize = 4;

/// The encoder's tables, and the level that they are for.
struct Encoder {
    level: i32,
    compressor: Compressor,
}

/// A dictionary indexed for one level.
struct Dictionary {
    level: i32,
    prepared: PreparedDictionary,
}

impl Library {
    /// Compresses `src` as [`super::Zstd::compress`] does.
    pub(super) fn compress(
        &mut self,
        level: i32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        if dict.is_empty() {
            return self.encoder_at(level)?.compress_to_slice(src, dst).ok();
        }
        let known = self
            .dictionary
            .take()
            .filter(|known| known.level == level && known.prepared.as_bytes() == dict);
        let dictionary = match known {
            Some(known) => known,
            None => {
                let builder = DictionaryBuilder::new(dict).with_config(config_at(level)?);
                Dictionary { level, prepared: builder.build().ok()? }
            }
        };
        let encoder = self.encoder_at(level)?;
        let written = encoder.compress_with_dictionary_to_slice(&dictionary.prepared, src, dst);
        self.dictionary = Some(dictionary);
        written.ok()
    }

    fn encoder_at(&mut self, level: i32) -> Option<&mut Compressor> {
        let found = self.encoders.iter().position(|encoder| encoder.level == level);
        let place = match found {
            Some(place) => place,
            None => {
                // A caller that tries all levels must not keep the tables of all of them.
                self.encoders.truncate(MAX_ENCODERS - 1);
                let compressor = Compressor::new(config_at(level)?).ok()?;
                self.encoders.push(Encoder { level, compressor });
                self.encoders.len() - 1
            }
        };
        self.encoders.get_mut(place).map(|encoder| &mut encoder.compressor)
    }
}

/// Frames carry their content size and no checksum: the encoder's defaults.
fn config_at(level: i32) -> Option<EncoderConfig> {
    let level = Level::try_from(level.clamp(1, 22)).ok()?;
    Some(EncoderConfig::new().with_level(level).with_content_size(true).with_checksum(false))
}
