//! How the bytes of a chunk fall into blocks.

use std::ops::Range;

/// Blocks of equal length, the last of which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    nbytes: usize,
    blocksize: usize,
}

impl Geometry {
    /// `blocksize` is at least 1.
    pub(crate) fn new(nbytes: usize, blocksize: usize) -> Self {
        Self { nbytes, blocksize: blocksize.max(1) }
    }

    /// The bytes of all blocks.
    pub(crate) fn nbytes(self) -> usize {
        self.nbytes
    }

    /// The number of blocks.
    pub(crate) fn block_count(self) -> usize {
        self.nbytes.div_ceil(self.blocksize)
    }

    /// The bytes that block `block` covers.
    pub(crate) fn block_range(self, block: usize) -> Range<usize> {
        let start = block.saturating_mul(self.blocksize).min(self.nbytes);
        start..start.saturating_add(self.blocksize).min(self.nbytes)
    }

    /// Whether `block` is shorter than the others. Such a block is never split.
    pub(crate) fn is_leftover(self, block: usize) -> bool {
        self.block_range(block).len() < self.blocksize
    }

    /// The blocks that the bytes `range` lie in.
    pub(crate) fn blocks_of(self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        range.start / self.blocksize..range.end.div_ceil(self.blocksize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_bytes_once() {
        for nbytes in [0, 1, 9, 10, 11, 35] {
            let geometry = Geometry::new(nbytes, 10);
            let mut end = 0;
            for block in 0..geometry.block_count() {
                let range = geometry.block_range(block);
                assert_eq!(range.start, end);
                assert_eq!(geometry.is_leftover(block), range.len() < 10);
                end = range.end;
            }
            assert_eq!(end, nbytes);
        }
    }

    #[test]
    fn a_range_touches_only_its_blocks() {
        let geometry = Geometry::new(35, 10);
        assert_eq!(geometry.blocks_of(&(9..10)), 0..1);
        assert_eq!(geometry.blocks_of(&(9..11)), 0..2);
        assert_eq!(geometry.blocks_of(&(30..35)), 3..4);
        assert_eq!(geometry.blocks_of(&(35..35)), 0..0);
    }
}
