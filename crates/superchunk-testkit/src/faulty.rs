//! A registered codec and a registered filter that make mistakes now and then.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::{Codec, CompressOptions, Error, Filter, Registry, Result, UserCodec, UserFilter};

/// The id of [`RunLengths`] in the registry of [`with_codec`].
pub const CODEC: u8 = 200;
/// The id of [`Shift`] in the registry of [`with_filter`].
pub const FILTER: u8 = 170;

/// The options with a [`RunLengths`] in the place of their codec.
///
/// # Panics
///
/// Never: the id is free.
#[must_use]
pub fn with_codec(options: CompressOptions, codec: RunLengths) -> CompressOptions {
    let registry = Registry::new().with_codec(CODEC, codec).expect("the id is free");
    options.with_codec(Codec::Registered { id: CODEC, meta: 0 }).with_registry(registry)
}

/// The options with these filters, of which [`FILTER`] is a [`Shift`].
///
/// # Panics
///
/// Never: the id is free.
#[must_use]
pub fn with_filter(options: CompressOptions, filters: &[Filter], shift: Shift) -> CompressOptions {
    let registry = Registry::new().with_filter(FILTER, shift).expect("the id is free");
    options.with_filters(filters.iter().copied()).with_registry(registry)
}

/// Stores every run of equal bytes as its length and the byte, and of some streams something wrong.
#[derive(Debug, Default)]
pub struct RunLengths {
    /// The first of this many streams is right, the last one wrong, and so on; 0: all are right.
    wrong_every: usize,
    lossy: bool,
    streams: AtomicUsize,
}

impl RunLengths {
    /// Makes a mistake in the last of every `every` streams, if that is more than 0: by turns one
    /// that decodes to other bytes and one that does not decode.
    #[must_use]
    pub fn wrong_every(every: usize) -> Self {
        Self { wrong_every: every, ..Self::default() }
    }

    /// The same, and says that it is lossy.
    #[must_use]
    pub fn lossy(self) -> Self {
        Self { lossy: true, ..self }
    }
}

impl UserCodec for RunLengths {
    fn name(&self) -> &str {
        "run lengths"
    }

    fn compress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        let runs = src.chunk_by(|one, next| one == next).flat_map(|run| run.chunks(255));
        let coded: Vec<u8> =
            runs.flat_map(|run| [u8::try_from(run.len()).unwrap_or(u8::MAX), run[0]]).collect();
        let Some(room) = dst.get_mut(..coded.len()) else { return Ok(None) };
        room.copy_from_slice(&coded);
        let number = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        if number.checked_rem(self.wrong_every) == Some(0) {
            let is_decodable = number / self.wrong_every % 2 == 1;
            room[usize::from(is_decodable)] ^= 1;
        }
        Ok(Some(coded.len()))
    }

    fn decompress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let runs = src.chunks_exact(2).flat_map(|run| std::iter::repeat_n(run[1], run[0].into()));
        let bytes: Vec<u8> = runs.collect();
        if bytes.len() != dst.len() {
            return Err(Error::corrupt(format!("runs of {} bytes", bytes.len())));
        }
        dst.copy_from_slice(&bytes);
        Ok(())
    }

    fn is_lossy(&self) -> bool {
        self.lossy
    }
}

/// Adds its parameter to every byte, after some bits were lost.
#[derive(Debug, Default)]
pub struct Shift {
    /// The bits of each byte that are cleared.
    pub cleared: u8,
    /// Whether it says that bits are lost.
    pub says_lossy: bool,
    /// Whether it takes away one more than it has added.
    pub is_wrong: bool,
}

impl UserFilter for Shift {
    fn name(&self) -> &str {
        "shift"
    }

    fn forward(&self, meta: u8, _: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let shifted = src.iter().map(|byte| (byte & !self.cleared).wrapping_add(meta));
        dst.iter_mut().zip(shifted).for_each(|(to, from)| *to = from);
        Ok(())
    }

    fn backward(&self, meta: u8, _: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let back = meta + u8::from(self.is_wrong);
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_sub(back));
        Ok(())
    }

    fn is_lossy(&self) -> bool {
        self.says_lossy
    }
}
