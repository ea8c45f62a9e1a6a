//! One resolved step of a pipeline, both ways.

use std::sync::Arc;

use superchunk_kernels::{bitshuffle, bytedelta, delta, shuffle, truncate};

use super::cells::Cells;
use super::slot::{self, Slot, cleared_bits, integer_bits, mantissa_bits};
use super::{Reference, Setting};
use crate::error::{Error, Result};
use crate::registry::UserFilter;

/// What a slot does to the blocks of one chunk.
#[derive(Clone)]
pub(super) enum Step {
    Shuffle { group: usize },
    BitShuffle { item_size: usize, whole_items_only: bool },
    Delta { width: usize },
    ClearLowBits { width: usize, bits: u32 },
    ByteDelta { channels: usize },
    ByteDeltaRestarting { channels: usize },
    Cells(Cells),
    CellMeans(Cells),
    User { filter: Arc<dyn UserFilter>, meta: u8, item_size: usize },
}

impl Step {
    /// The step of a slot, or `None` when the slot is empty or changes nothing.
    pub(super) fn resolve(slot: Slot, setting: &Setting<'_>) -> Result<Option<Self>> {
        let item_size = setting.item_size;
        let meta_or_item_size = if slot.meta == 0 { item_size } else { usize::from(slot.meta) };
        let keep = slot.meta.cast_signed();
        Ok(Some(match slot.id {
            0 => return Ok(None),
            slot::SHUFFLE if meta_or_item_size == 1 => return Ok(None),
            slot::SHUFFLE => Self::Shuffle { group: meta_or_item_size },
            slot::BITSHUFFLE => Self::BitShuffle { item_size, whole_items_only: setting.version2 },
            slot::DELTA => Self::Delta { width: delta::word_width(item_size) },
            slot::TRUNC_PREC => match mantissa_bits(item_size) {
                Some(bits) => {
                    Self::ClearLowBits { width: item_size, bits: cleared_bits(keep, bits) }
                }
                None => return Ok(None),
            },
            slot::INT_TRUNC => match integer_bits(item_size) {
                Some(bits) => {
                    Self::ClearLowBits { width: item_size, bits: cleared_bits(keep, bits) }
                }
                None => return Ok(None),
            },
            slot::BYTEDELTA => Self::ByteDelta { channels: meta_or_item_size },
            slot::BYTEDELTA_RESTARTING => Self::ByteDeltaRestarting { channels: meta_or_item_size },
            slot::NDCELL => Self::Cells(Cells::of_side(slot.meta, setting)?),
            slot::NDMEAN => Self::CellMeans(Cells::of_means(slot.meta, setting)?),
            5..=31 => {
                return Err(Error::unsupported(format!("filter {} is not defined", slot.id)));
            }
            id => Self::User { filter: setting.registry.filter(id)?, meta: slot.meta, item_size },
        }))
    }

    /// Whether reading gives back other bytes than were written.
    pub(super) fn is_lossy(&self) -> bool {
        match self {
            Self::ClearLowBits { .. } | Self::CellMeans(_) => true,
            Self::User { filter, .. } => filter.is_lossy(),
            _ => false,
        }
    }

    /// Whether reading has something to undo.
    pub(super) fn changes_on_read(&self) -> bool {
        !matches!(self, Self::ClearLowBits { .. })
    }

    /// The number of rows that the step makes of a block of `len` bytes; `None` for all but shuffles.
    pub(super) fn rows(&self, len: usize) -> Option<usize> {
        match self {
            Self::Shuffle { group } => Some(*group),
            Self::BitShuffle { item_size, whole_items_only } => {
                let copied = *whole_items_only && has_ragged_items(*item_size, len);
                (!copied).then_some(8 * item_size)
            }
            _ => None,
        }
    }

    /// Applies the step; `src` and `dst` have the same length.
    pub(super) fn forward(
        &self,
        reference: Reference<'_>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        match self {
            Self::Shuffle { group } => shuffle::shuffle(*group, src, dst),
            Self::BitShuffle { item_size, whole_items_only } => {
                if *whole_items_only && has_ragged_items(*item_size, src.len()) {
                    dst.copy_from_slice(src);
                } else {
                    bitshuffle::bitshuffle(*item_size, src, dst);
                }
            }
            Self::Delta { width } => match reference {
                Reference::Itself => delta::encode_first(*width, src, dst),
                Reference::FirstBlock(first) => delta::xor_against(*width, first, src, dst),
            },
            Self::ClearLowBits { width, bits } => truncate::clear_low_bits(*width, *bits, src, dst),
            Self::ByteDelta { channels } => bytedelta::encode(*channels, src, dst),
            Self::ByteDeltaRestarting { .. } => {
                return Err(Error::invalid("filter 34 is read only: use ByteDelta"));
            }
            Self::Cells(cells) => cells.gather(src, dst)?,
            Self::CellMeans(cells) => cells.gather_means(src, dst)?,
            Self::User { filter, meta, item_size } => {
                filter.forward(*meta, *item_size, src, dst)?
            }
        }
        Ok(())
    }

    /// Undoes the step; `src` and `dst` have the same length.
    pub(super) fn backward(
        &self,
        reference: Reference<'_>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        match self {
            Self::Shuffle { group } => shuffle::unshuffle(*group, src, dst),
            Self::BitShuffle { item_size, whole_items_only } => {
                if *whole_items_only && has_ragged_items(*item_size, src.len()) {
                    dst.copy_from_slice(src);
                } else {
                    bitshuffle::bitunshuffle(*item_size, src, dst);
                }
            }
            Self::Delta { width } => match reference {
                Reference::Itself => delta::decode_first(*width, src, dst),
                Reference::FirstBlock(first) => delta::xor_against(*width, first, src, dst),
            },
            Self::ClearLowBits { .. } => dst.copy_from_slice(src),
            Self::ByteDelta { channels } => bytedelta::decode(*channels, src, dst),
            Self::ByteDeltaRestarting { channels } => {
                bytedelta::decode_restarting(*channels, src, dst);
            }
            Self::Cells(cells) | Self::CellMeans(cells) => cells.scatter(src, dst)?,
            Self::User { filter, meta, item_size } => {
                filter.backward(*meta, *item_size, src, dst)?;
            }
        }
        Ok(())
    }

    /// The same for a `dst` that is a piece of an output too large for the caches: past them, where the step can.
    pub(super) fn backward_far(
        &self,
        reference: Reference<'_>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        match self {
            Self::Shuffle { group } => shuffle::unshuffle_far(*group, src, dst),
            Self::BitShuffle { item_size, .. } if self.rows(src.len()).is_some() => {
                bitshuffle::bitunshuffle_far(*item_size, src, dst);
            }
            _ => self.backward(reference, src, dst)?,
        }
        Ok(())
    }
}

/// C-Blosc 1 left a block as it was when its items did not come in whole groups of eight.
fn has_ragged_items(item_size: usize, len: usize) -> bool {
    !(len / item_size.max(1)).is_multiple_of(8)
}
