//! The encoder of the crate rust-zstd. Its frames are those of mzstd but for a byte now and then.

use std::sync::Arc;

use rust_zstd::compress::{CompressDict, CompressOptions, Compressor};

/// An encoder for each level that is in use, and the last frame. The tables are kept between
/// streams, as those of a dictionary are.
#[derive(Default)]
pub(super) struct Library {
    encoders: Vec<Encoder>,
    frame: Vec<u8>,
}

/// The most levels that are in use: that of a chunk, and those of cheaper encoders.
const MAX_ENCODERS: usize = 4;

/// The encoder's tables, the level and the dictionary that they are for.
struct Encoder {
    level: i32,
    dict: Vec<u8>,
    compressor: Compressor,
}

/// The bytes that mzstd and libzstd need after a frame while they write it: without as much room
/// they give up, so this one does, too.
const MARGIN: usize = 9;

impl Library {
    /// Compresses `src` as [`super::Zstd::compress`] does.
    pub(super) fn compress(
        &mut self,
        level: i32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        self.encoder_at(level, dict)?.compress(src, &mut frame);
        let is_short = frame.len() + MARGIN <= dst.len();
        let to = dst.get_mut(..frame.len()).filter(|_| is_short);
        let written = to.map(|to| {
            to.copy_from_slice(&frame);
            frame.len()
        });
        self.frame = frame;
        written
    }

    fn encoder_at(&mut self, level: i32, dict: &[u8]) -> Option<&mut Compressor> {
        let is_it = |encoder: &Encoder| encoder.level == level && encoder.dict == dict;
        let place = match self.encoders.iter().position(is_it) {
            Some(place) => place,
            None => {
                // A caller that tries all levels must not keep the tables of all of them.
                self.encoders.truncate(MAX_ENCODERS - 1);
                let mut options = CompressOptions { level, ..CompressOptions::default() };
                if !dict.is_empty() {
                    options.dict = Some(Arc::new(CompressDict::new(dict, level).ok()?));
                }
                let compressor = Compressor::new(options);
                self.encoders.push(Encoder { level, dict: dict.to_vec(), compressor });
                self.encoders.len() - 1
            }
        };
        self.encoders.get_mut(place).map(|encoder| &mut encoder.compressor)
    }
}
