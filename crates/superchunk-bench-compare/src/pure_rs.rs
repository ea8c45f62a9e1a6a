//! The crate `blosc2-pure-rs` as a contestant.

use blosc2_pure_rs::compress::{
    CParams, compress_chunk, decompress_chunk_into_with_threads, getitem,
};

use crate::choice::Setup;
use crate::contestant::{Answer, Contestant};

pub(crate) struct PureRs {
    params: CParams,
    item_size: usize,
}

impl PureRs {
    pub(crate) fn new(setup: &Setup) -> Answer<Self> {
        let params = CParams {
            compcode: setup.codec.code,
            clevel: setup.level,
            typesize: i32::try_from(setup.item_size).map_err(|e| e.to_string())?,
            filters: [0, 0, 0, 0, 0, setup.filter.code],
            splitmode: blosc2_pure_rs::BLOSC_AUTO_SPLIT,
            nthreads: i16::try_from(setup.threads).map_err(|e| e.to_string())?,
            ..CParams::default()
        };
        Ok(Self { params, item_size: setup.item_size })
    }
}

impl Contestant for PureRs {
    fn compress(&mut self, src: &[u8], dst: &mut Vec<u8>) -> Answer<()> {
        // Its fastest way returns a new vector each time.
        *dst = compress_chunk(src, &self.params)?;
        Ok(())
    }

    fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Answer<()> {
        decompress_chunk_into_with_threads(chunk, dst, self.params.nthreads)?;
        Ok(())
    }

    fn items(&mut self, chunk: &[u8], start: usize, dst: &mut [u8]) -> Answer<()> {
        let items = getitem(chunk, start, dst.len() / self.item_size)?;
        let same = items.get(..dst.len()).ok_or("blosc2-pure-rs: too few items")?;
        dst.copy_from_slice(same);
        Ok(())
    }
}
