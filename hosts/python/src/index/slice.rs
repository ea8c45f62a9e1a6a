//! Python's slices, and what they mean for an axis of some length.

use superchunk::AxisSlice;

use super::KeyError;
use super::Result;

/// `start:stop:step`, each of which may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub(crate) start: Option<i64>,
    pub(crate) stop: Option<i64>,
    pub(crate) step: Option<i64>,
}

impl Slice {
    /// The indexes of an axis with this many, by Python's rule: what is outside is moved to the
    /// nearest place that a slice may name.
    pub(super) fn of_axis(self, side: u64) -> Result<AxisSlice> {
        let step = i128::from(self.step.unwrap_or(1));
        if step == 0 {
            return Err(KeyError::Value("slice step cannot be zero".into()));
        }
        let side = i128::from(side);
        let (low, high) = if step > 0 { (0, side) } else { (-1, side - 1) };
        let place = |index: Option<i64>, missing: i128| {
            let index = index.map(i128::from);
            index.map_or(missing, |index| {
                (index + if index < 0 { side } else { 0 }).clamp(low, high)
            })
        };
        let (first, end) = if step > 0 { (low, high) } else { (high, low) };
        let (start, stop) = (place(self.start, first), place(self.stop, end));
        let way = if step > 0 { stop - start } else { start - stop };
        let count = ((way + step.abs() - 1) / step.abs()).max(0);
        // A start of -1 belongs to a slice of no indexes.
        let unsigned = |number: i128| u64::try_from(number).unwrap_or(0);
        let step = if count > 1 { i64::try_from(step).unwrap_or(i64::MAX) } else { 1 };
        let start = if count > 0 { unsigned(start) } else { 0 };
        Ok(AxisSlice { start, count: unsigned(count), step, dropped: false })
    }
}

/// The index of an axis that an integer means, which may count from the end.
pub(super) fn index_of_axis(index: i64, axis: usize, side: u64) -> Result<u64> {
    let place = i128::from(index) + if index < 0 { i128::from(side) } else { 0 };
    let place = u64::try_from(place).ok().filter(|place| *place < side);
    place.ok_or_else(|| KeyError::outside(index, axis, side))
}
