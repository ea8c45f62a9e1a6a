//! The N-d shape of a block, for the filters and codecs that work on cells instead of bytes.

use crate::error::{Error, Result};

/// A validated block shape: 1 to 16 dimensions, none of them zero, as many items as memory can hold.
///
/// Chunks do not store it; N-d arrays do (metalayer `b2nd`). It must be given to encode or decode
/// chunks that use [`Filter::NdCell`](crate::Filter::NdCell),
/// [`Filter::NdMean`](crate::Filter::NdMean) or [`Codec::NdLz`](crate::Codec::NdLz).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockShape {
    dims: Vec<usize>,
    items: usize,
}

impl BlockShape {
    /// Checks `dims` and keeps them.
    pub fn new(dims: &[usize]) -> Result<Self> {
        if dims.is_empty() || dims.len() > 16 {
            return Err(Error::invalid(format!(
                "a block shape has 1 to 16 dimensions, not {}",
                dims.len()
            )));
        }
        let items = dims.iter().try_fold(1usize, |items, &dim| items.checked_mul(dim));
        match items {
            Some(items) if items > 0 => Ok(Self { dims: dims.to_vec(), items }),
            _ => Err(Error::invalid(format!("block shape {dims:?} is empty or too large"))),
        }
    }

    /// The extent of each dimension, slowest first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The number of items in a block.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items
    }
}
