//! The shape of a block, from the metalayer of an N-d array: some codecs and filters need it.
//!
//! ```text
//! ┌────┬─────────┬────┬──────┬────────────────┬──────┬─────────────────┬──────┬─────────────────┬───
//! │ 97 │ version │ nd │ 90+nd│ nd × (d3, i64) │ 90+nd│ nd × (d2, i32)  │ 90+nd│ nd × (d2, i32)  │ …
//! └────┴─────────┴────┴──────┴────────────────┴──────┴─────────────────┴──────┴─────────────────┴───
//!                              shape                   chunk shape              block shape
//! ```

use super::Contents;
use crate::block_shape::BlockShape;
use crate::wire::Reader;

/// The metalayers that state a block shape, the newer one first.
const NAMES: [&str; 2] = ["b2nd", "caterva"];

impl Contents {
    /// The shape of the blocks, if a metalayer tells a possible one.
    pub(crate) fn block_shape(&self) -> Option<BlockShape> {
        let layers = || self.metalayers.iter();
        let layer = NAMES.iter().find_map(|name| layers().find(|layer| layer.name == *name))?;
        let mut reader = Reader::new("b2nd", &layer.content).seek(2);
        let dimensions = usize::from(reader.u8("ndim").ok()?);
        reader.take("shape", 1 + 9 * dimensions).ok()?;
        reader.take("chunkshape", 1 + 5 * dimensions + 1).ok()?;
        let sides = (0..dimensions).map(|_| {
            reader.u8("blockshape").ok()?;
            usize::try_from(reader.i32_be("blockshape").ok()?).ok()
        });
        BlockShape::new(&sides.collect::<Option<Vec<_>>>()?).ok()
    }
}
