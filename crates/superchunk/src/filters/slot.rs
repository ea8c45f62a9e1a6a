//! Filter slots as the header stores them, and how the caller's filters become slots.

use crate::error::{Error, Result};
use crate::options::{CompressOptions, Filter};

/// The number of slots in a header.
pub(crate) const SLOTS: usize = 6;

/// One slot: the id in `filters`, the parameter in `filters_meta`. Id 0 is an empty slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) id: u8,
    pub(crate) meta: u8,
}

/// All slots of a chunk.
pub(crate) type Slots = [Slot; SLOTS];

pub(crate) const SHUFFLE: u8 = 1;
pub(crate) const BITSHUFFLE: u8 = 2;
pub(crate) const DELTA: u8 = 3;
pub(crate) const TRUNC_PREC: u8 = 4;
pub(crate) const NDCELL: u8 = 32;
pub(crate) const NDMEAN: u8 = 33;
pub(crate) const BYTEDELTA_RESTARTING: u8 = 34;
pub(crate) const BYTEDELTA: u8 = 35;
pub(crate) const INT_TRUNC: u8 = 36;

impl Slot {
    /// Checks the caller's filters and lays them out from slot 0.
    pub(crate) fn from_options(options: &CompressOptions) -> Result<Slots> {
        let mut slots = Slots::default();
        if options.filters.len() > SLOTS {
            return Err(Error::invalid(format!(
                "{} filters were given, a chunk has room for {SLOTS}",
                options.filters.len()
            )));
        }
        for (slot, filter) in slots.iter_mut().zip(&options.filters) {
            *slot = Self::from_filter(*filter, options)?;
        }
        Ok(slots)
    }

    /// Whether undoing the filter takes the N-d shape of the block.
    pub(crate) fn needs_block_shape(self) -> bool {
        matches!(self.id, NDCELL | NDMEAN)
    }

    /// The filter as a caller would name it; `None` for an empty slot.
    pub(crate) fn filter(self) -> Option<Filter> {
        Some(match (self.id, self.meta) {
            (0, _) => return None,
            (SHUFFLE, 0) => Filter::Shuffle,
            (SHUFFLE, group) => Filter::ShuffleBy(group),
            (BITSHUFFLE, _) => Filter::BitShuffle,
            (DELTA, _) => Filter::Delta,
            (TRUNC_PREC, meta) => Filter::TruncPrec(meta.cast_signed()),
            (BYTEDELTA, meta) => Filter::ByteDelta(meta),
            (INT_TRUNC, meta) => Filter::IntTrunc(meta.cast_signed()),
            (NDCELL, side) => Filter::NdCell(side),
            (NDMEAN, side) => Filter::NdMean(side),
            (id, meta) => Filter::Registered { id, meta },
        })
    }

    fn from_filter(filter: Filter, options: &CompressOptions) -> Result<Self> {
        let item_size = options.item_size;
        let (id, meta) = match filter {
            Filter::Shuffle => (SHUFFLE, 0),
            Filter::ShuffleBy(group) => (SHUFFLE, group),
            Filter::BitShuffle => (BITSHUFFLE, 0),
            Filter::Delta => (DELTA, 0),
            Filter::TruncPrec(keep) => {
                check_truncation("TruncPrec", keep, mantissa_bits(item_size))?;
                (TRUNC_PREC, keep.cast_unsigned())
            }
            Filter::IntTrunc(keep) => {
                check_truncation("IntTrunc", keep, integer_bits(item_size))?;
                (INT_TRUNC, keep.cast_unsigned())
            }
            // The reference reads 0 as "the item size of the super-chunk", which a chunk alone does
            // not have: write the number.
            Filter::ByteDelta(0) => (BYTEDELTA, u8::try_from(item_size).unwrap_or(1)),
            Filter::ByteDelta(channels) => (BYTEDELTA, channels),
            Filter::NdCell(side) => (NDCELL, side),
            Filter::NdMean(side) => (NDMEAN, side),
            Filter::Registered { id, meta } => {
                options.registry.filter(id)?;
                (id, meta)
            }
        };
        Ok(Self { id, meta })
    }
}

/// The bits of a float's mantissa, for the item sizes that are floats.
pub(crate) fn mantissa_bits(item_size: usize) -> Option<u32> {
    match item_size {
        4 => Some(23),
        8 => Some(52),
        _ => None,
    }
}

/// The bits of an integer, for the item sizes that are integers.
pub(crate) fn integer_bits(item_size: usize) -> Option<u32> {
    match item_size {
        1 => Some(8),
        2 => Some(16),
        4 => Some(32),
        8 => Some(64),
        _ => None,
    }
}

/// How many low bits a truncation clears: all but `keep`, or exactly `-keep`.
pub(crate) fn cleared_bits(keep: i8, bits: u32) -> u32 {
    match u32::try_from(keep) {
        Ok(keep) => bits.saturating_sub(keep),
        Err(_) => u32::from(keep.unsigned_abs()),
    }
}

fn check_truncation(name: &str, keep: i8, bits: Option<u32>) -> Result<()> {
    let Some(bits) = bits else {
        return Err(Error::invalid(format!("{name} does not work on items of this size")));
    };
    if u32::from(keep.unsigned_abs()) > bits || cleared_bits(keep, bits) >= bits {
        return Err(Error::invalid(format!(
            "{name}({keep}) must keep at least 1 and at most all of {bits} bits"
        )));
    }
    Ok(())
}
