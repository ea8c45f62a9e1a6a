//! The order in which both directions visit items and planes, shared by their kernels.

/// A first-level cache line, and the number of items whose planes are staged together.
pub(super) const LINE: usize = 64;

/// Room for one step of items of up to 15 bytes, and for what is read or written after the last.
pub(super) const EDGE_BYTES: usize = 32 * 16;

/// Rows of planes, each one cache line, on their way between registers and planes.
#[repr(align(64))]
pub(super) struct Stage<const WIDTH: usize>(pub(super) [[u8; LINE]; WIDTH]);

/// Whether planes `distance` bytes apart compete for the same few places of a first-level cache,
/// so that a line must be used whole while it is there.
pub(super) fn collide(distance: usize) -> bool {
    const WAY: usize = 4096;
    let offset = distance % WAY;
    offset.min(WAY - offset) < LINE / 2
}

/// Calls `visit(first item, end item, first plane)` for groups of 16 planes in tiles of items, so
/// that a cache line of items, which several groups share, is still near when the next one comes.
/// The last group overlaps the one before if it must. `item_size` is at least 16.
#[inline(always)]
pub(super) fn for_each_group(
    item_size: usize,
    len: usize,
    mut visit: impl FnMut(usize, usize, usize),
) {
    const TILE_BYTES: usize = 1 << 14;
    let tile = (TILE_BYTES / item_size / LINE * LINE).max(LINE);
    let mut start = 0;
    while start < len {
        let end = len.min(start + tile);
        let mut group = 0;
        while group < item_size {
            group = group.min(item_size - 16);
            visit(start, end, group);
            group += 16;
        }
        start = end;
    }
}
