//! To and from the arrays of the crate `ndarray`.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use super::{NdArray, NdStorage, Selection};
use crate::dtype::Element;
use crate::error::{Error, Result};

impl NdArray {
    /// A selection as an array of the crate `ndarray`. `T` must be the array's type.
    pub fn read_ndarray<T: Element>(&self, selection: &Selection) -> Result<ArrayD<T>> {
        let items = self.read(selection)?;
        let sides = selection.shape();
        let sides: Vec<usize> =
            sides.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        ArrayD::from_shape_vec(IxDyn(&sides), items)
            .map_err(|error| Error::limit(format!("too large for `ndarray`: {error}")))
    }

    /// A new array in memory with the items of any view of the crate `ndarray`.
    pub fn from_ndarray<T: Element>(view: ArrayViewD<'_, T>, options: &NdStorage) -> Result<Self> {
        let shape: Vec<u64> = view.shape().iter().map(|side| *side as u64).collect();
        let items: Vec<T> = view.iter().copied().collect();
        Self::from_items(&items, &shape, options)
    }
}
