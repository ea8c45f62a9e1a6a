//! NumPy's indexing rules, as a plan of what to read or write. Nothing here knows of Python.
//!
//! ```text
//! key ── expand: one part for each axis, `...` filled in, masks turned into lists
//!     ── plan:   where each part lies in the result; the cheapest access that reaches the items
//! ```
//!
//! | key | access |
//! |---|---|
//! | integers, slices, `...`, `None` | [`Access::Slices`] |
//! | lists that each have axes of the result of their own | [`Access::Orthogonal`] |
//! | a mask of the array's shape with many items set | [`Access::Mask`] |
//! | everything else | [`Access::Points`] |

mod expand;
mod gather;
mod plan;
mod slice;
#[cfg(test)]
mod tests;

pub(crate) use plan::{Access, Axis, Kind, Picks, Plan, plan};
pub(crate) use slice::Slice;

/// One element of a key.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Int(i64),
    Slice(Slice),
    Ellipsis,
    NewAxis,
    Ints(Array<i64>),
    /// A mask over as many axes as it has; `True` and `False` are those of none.
    Mask(Array<bool>),
}

/// The values of a NumPy array, in C order.
#[derive(Clone, Debug)]
pub(crate) struct Array<T> {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<T>,
}

/// How lists of indexes go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// As between NumPy's brackets.
    NumPy,
    /// All combinations: the result has an axis for each list (`oindex`).
    Outer,
    /// As NumPy's, with the axes of the lists always first (`vindex`).
    Vectorised,
}

/// A key that does not fit the array, as the exception that NumPy raises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyError {
    Index(String),
    Value(String),
}

pub(crate) type Result<T> = std::result::Result<T, KeyError>;

impl KeyError {
    fn outside(index: i64, axis: usize, side: u64) -> Self {
        Self::Index(format!("index {index} is out of bounds for axis {axis} with size {side}"))
    }
}

/// A shape as Python prints it: `(2,)`, `(2, 3)`.
pub(crate) fn shape_text<T: ToString>(shape: &[T]) -> String {
    match shape {
        [side] => format!("({},)", side.to_string()),
        _ => format!("({})", shape.iter().map(T::to_string).collect::<Vec<_>>().join(", ")),
    }
}
