//! The shape of a block, from the metalayer of an N-d array: some codecs and filters need it.

use super::Contents;
use crate::b2nd::{Meta, NAMES};
use crate::block_shape::BlockShape;

impl Contents {
    /// The shape of the blocks, if a metalayer tells a possible one.
    pub(crate) fn block_shape(&self) -> Option<BlockShape> {
        let layers = || self.metalayers.iter();
        let layer = NAMES.iter().find_map(|name| layers().find(|layer| layer.name == *name))?;
        let meta = Meta::parse(&layer.name, &layer.content).ok()?;
        BlockShape::new(&meta.blocks).ok()
    }
}
