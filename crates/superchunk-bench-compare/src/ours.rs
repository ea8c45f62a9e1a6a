//! superchunk as a contestant.

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{CompressOptions, Executor};

use crate::choice::Setup;
use crate::contestant::{Answer, Contestant};

/// An encoder and a decoder that keep their buffers and threads, as a program in a loop would.
pub(crate) struct Ours {
    encoder: Encoder,
    decoder: Decoder,
    item_size: usize,
}

impl Ours {
    pub(crate) fn new(setup: &Setup) -> Answer<Self> {
        let encoder = Encoder::new(&options(setup)).map_err(words)?;
        let decoder = Decoder::new().with_executor(executor(setup));
        Ok(Self { encoder, decoder, item_size: setup.item_size })
    }
}

impl Contestant for Ours {
    fn compress(&mut self, src: &[u8], dst: &mut Vec<u8>) -> Answer<()> {
        dst.clear();
        self.encoder.compress_into(src, dst).map(drop).map_err(words)
    }

    fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Answer<()> {
        self.decoder.decompress_into(chunk, dst).map(drop).map_err(words)
    }

    fn items(&mut self, chunk: &[u8], start: usize, dst: &mut [u8]) -> Answer<()> {
        let range = start..start + dst.len() / self.item_size;
        self.decoder.read_items(chunk, range, dst).map(drop).map_err(words)
    }
}

/// How superchunk writes with a setup.
pub(crate) fn options(setup: &Setup) -> CompressOptions {
    CompressOptions::new(setup.item_size)
        .with_codec(setup.codec.ours)
        .with_level(setup.level)
        .with_filters(setup.filter.ours)
        .with_executor(executor(setup))
}

/// The threads of a setup.
pub(crate) fn executor(setup: &Setup) -> Executor {
    if setup.threads > 1 { Executor::threads(setup.threads) } else { Executor::inline() }
}

pub(crate) fn words(error: superchunk::Error) -> String {
    format!("superchunk: {error}")
}
