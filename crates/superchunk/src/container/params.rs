//! How a container says new chunks are to be compressed: the numbers of its header.

use crate::codecs::CodecId;
use crate::error::{Error, Result};
use crate::filters::{SLOTS, Slot, Slots};
use crate::options::{Codec, CompressOptions, SplitMode};

/// The stored numbers. They are kept as found, so that an edit changes nothing it does not mean to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// The requested block size, 0 for automatic.
    pub(crate) blocksize: usize,
    /// 0 to 5, or the id of a plugin.
    pub(crate) codec: u8,
    pub(crate) codec_meta: u8,
    pub(crate) level: u8,
    /// 1 always, 2 never, 3 automatic, 4 automatic as older libraries do.
    pub(crate) splitmode: u8,
    pub(crate) slots: Slots,
    pub(crate) dictionary: bool,
}

impl Params {
    /// The numbers of options that [`Encoder::new`](crate::chunk::Encoder::new) accepts.
    pub(crate) fn from_options(options: &CompressOptions) -> Result<Self> {
        let codec = CodecId::from(options.codec);
        Ok(Self {
            blocksize: options.block_size.unwrap_or(0),
            codec: codec.id,
            codec_meta: codec.meta,
            level: options.level,
            splitmode: match options.split {
                SplitMode::Always => 1,
                SplitMode::Never => 2,
                SplitMode::Auto => 4,
            },
            slots: Slot::from_options(options)?,
            dictionary: options.dictionary,
        })
    }

    /// The options that the numbers stand for. Whether codec and filters are at hand is found out by
    /// the encoder.
    pub(crate) fn to_options(&self, item_size: usize) -> CompressOptions {
        let mut options = CompressOptions::new(item_size)
            .with_codec(self.codec())
            .with_level(self.level.min(9))
            .with_filters(self.slots.iter().filter_map(|slot| slot.filter()))
            .with_dictionary(self.dictionary)
            .with_split(match self.splitmode {
                1 => SplitMode::Always,
                2 => SplitMode::Never,
                _ => SplitMode::Auto,
            });
        options.block_size = (self.blocksize > 0).then_some(self.blocksize);
        options
    }

    /// Returns whether the numbers stand for the same options: other programs put filters into other
    /// slots, and have two numbers for automatic splitting.
    pub(crate) fn are_like(&self, other: &Self, item_size: usize) -> bool {
        let usual = |params: &Self| Self::from_options(&params.to_options(item_size));
        let are_equal = || usual(self).is_ok_and(|one| usual(other).is_ok_and(|two| one == two));
        self == other || are_equal()
    }

    fn codec(&self) -> Codec {
        let built_in =
            [CodecId::BLOSCLZ, CodecId::LZ4, CodecId::LZ4HC, CodecId::ZLIB, CodecId::ZSTD];
        let known = built_in.into_iter().find(|codec| codec.id == self.codec);
        let codec = known.unwrap_or(CodecId {
            format: CodecId::REGISTERED,
            id: self.codec,
            meta: self.codec_meta,
        });
        let named = Codec::Registered { id: self.codec, meta: self.codec_meta };
        codec.codec().unwrap_or(named)
    }

    /// Slots from stored ids and parameters, of which the header may have more than a chunk.
    pub(crate) fn slots_from(ids: &[u8], metas: &[u8]) -> Result<Slots> {
        let mut slots = Slots::default();
        let used: Vec<Slot> =
            ids.iter().zip(metas).map(|(id, meta)| Slot { id: *id, meta: *meta }).collect();
        if ids.len() > SLOTS && used.iter().filter(|slot| slot.id != 0).count() > SLOTS {
            return Err(Error::unsupported(format!("a pipeline of more than {SLOTS} filters")));
        }
        let fits = ids.len() <= SLOTS;
        let kept = used.into_iter().filter(|slot| fits || slot.id != 0);
        slots.iter_mut().zip(kept).for_each(|(slot, found)| *slot = found);
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;

    #[test]
    fn options_survive_the_way_through_the_header() {
        let options = CompressOptions::new(8)
            .with_codec(Codec::Zstd)
            .with_level(7)
            .with_filters([Filter::TruncPrec(-10), Filter::BitShuffle])
            .with_split(SplitMode::Never)
            .with_block_size(4096)
            .with_dictionary(true);
        let params = Params::from_options(&options).unwrap();
        let back = params.to_options(8);
        assert_eq!(Params::from_options(&back).unwrap(), params);
        assert_eq!(back.filters, options.filters);
        assert_eq!(back.codec, options.codec);
    }

    #[test]
    fn the_eight_slots_of_old_frames_become_six() {
        let slots = Params::slots_from(&[0, 3, 0, 0, 0, 0, 0, 1], &[0; 8]).unwrap();
        assert_eq!(slots.map(|slot| slot.id), [3, 1, 0, 0, 0, 0]);
        assert!(Params::slots_from(&[1; 8], &[0; 8]).is_err());
        let kept = Params::slots_from(&[0, 0, 0, 0, 0, 1], &[0; 6]).unwrap();
        assert_eq!(kept.map(|slot| slot.id), [0, 0, 0, 0, 0, 1]);
    }
}
