//! What both sides of the array benches must be able to do.

use std::path::Path;

use crate::contestant::Answer;

/// A place in an array, or its shape.
pub(crate) type Index = [u64; 3];

/// The shapes of an array, its chunks and its blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes {
    pub(crate) array: Index,
    pub(crate) chunk: [usize; 3],
    pub(crate) block: [usize; 3],
}

/// The items from `start` up to but without `stop`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuboid {
    pub(crate) start: Index,
    pub(crate) stop: Index,
}

impl Cuboid {
    /// All of an array.
    pub(crate) fn all(shape: Index) -> Self {
        Self { start: [0; 3], stop: shape }
    }

    /// The number of items along each axis.
    pub(crate) fn sides(&self) -> Index {
        let ([a, b, c], [d, e, f]) = (self.start, self.stop);
        [d.saturating_sub(a), e.saturating_sub(b), f.saturating_sub(c)]
    }
}

/// An implementation that writes and opens arrays of `float32` in files.
pub(crate) trait NdSide {
    /// Creates an array with these items, in C order, makes it complete and closes it.
    fn create(&self, path: &Path, shapes: &Shapes, data: &[u8]) -> Answer<()>;

    /// Opens an array for reading.
    fn open<'a>(&'a self, path: &Path) -> Answer<Box<dyn NdHandle + 'a>>;

    /// Opens an array for reading and writing.
    fn edit<'a>(&'a self, path: &Path) -> Answer<Box<dyn NdHandle + 'a>>;
}

/// An open array. Buffers are in C order and have exactly the length of the items.
pub(crate) trait NdHandle {
    fn shape(&self) -> Answer<Index>;

    fn read(&mut self, cuboid: &Cuboid, dst: &mut [u8]) -> Answer<()>;

    /// Reads single items with one call.
    fn read_points(&mut self, points: &Points, dst: &mut [u8]) -> Answer<()>;

    fn write(&mut self, cuboid: &Cuboid, src: &[u8]) -> Answer<()>;

    /// Appends along the first axis.
    fn append(&mut self, src: &[u8]) -> Answer<()>;

    /// Makes all changes seen by whoever opens the file afterwards.
    fn commit(&mut self) -> Answer<()>;
}

/// Places of single items, in the form that each side takes them.
pub(crate) struct Points {
    pub(crate) ours: Vec<u64>,
    /// The numbers of the items in C order.
    pub(crate) theirs: Vec<i64>,
}

impl Points {
    /// The same places of an array of this shape for both.
    pub(crate) fn new(places: &[Index], [_, rows, columns]: Index) -> Answer<Self> {
        let number = |[a, b, c]: &Index| {
            i64::try_from((a * rows + b) * columns + c).map_err(|e| e.to_string())
        };
        let theirs = places.iter().map(number).collect::<Answer<_>>()?;
        Ok(Self { ours: places.concat(), theirs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbered_in_c_order() {
        let points = Points::new(&[[0, 0, 1], [0, 1, 0], [2, 3, 4]], [3, 4, 5]).unwrap();
        assert_eq!(points.theirs, [1, 5, 59]);
        assert_eq!(points.ours[6..], [2, 3, 4]);
    }
}
