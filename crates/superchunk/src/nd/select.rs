//! Which items of an array: slices with steps, single indexes, as NumPy writes them.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, MustGet, Result};

/// A part of an array: for each axis some indexes at equal distances.
///
/// ```
/// use superchunk::Selection;
///
/// let part = Selection::parse("0:100:2, ..., -1", &[1000, 5, 7])?;
/// assert_eq!(part.shape(), [50, 5]);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    axes: Vec<AxisSlice>,
}

/// The indexes of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisSlice {
    /// The first index.
    pub start: u64,
    /// How many indexes.
    pub count: u64,
    /// From one index to the next; never 0.
    pub step: i64,
    /// Whether the axis is left out of the result: it was given by a single index.
    pub dropped: bool,
}

/// The indexes of one axis of an orthogonal selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisIndexes<'a> {
    /// Indexes at equal distances.
    Slice(AxisSlice),
    /// Any indexes, in any order and as often as they occur.
    List(&'a [u64]),
}

impl<'a> From<&'a [u64]> for AxisIndexes<'a> {
    fn from(indexes: &'a [u64]) -> Self {
        Self::List(indexes)
    }
}

impl From<AxisSlice> for AxisIndexes<'_> {
    fn from(slice: AxisSlice) -> Self {
        Self::Slice(slice)
    }
}

impl AxisSlice {
    /// The index behind the last one, if the step is positive; for a negative step, the lowest index.
    #[must_use]
    pub fn stop(&self) -> u64 {
        let Some(last) = self.last() else { return self.start };
        if self.step > 0 { last + 1 } else { last }
    }

    /// The last index.
    fn last(&self) -> Option<u64> {
        let way = i128::from(self.step) * i128::from(self.count.checked_sub(1)?);
        u64::try_from(i128::from(self.start) + way).ok()
    }

    /// Refuses indexes outside of an axis of this length.
    pub(super) fn check(&self, axis: usize, side: u64) -> Result<()> {
        let inside =
            self.count == 0 || (self.start < side && self.last().is_some_and(|l| l < side));
        if inside && self.step != 0 {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} indexes from {} in steps of {} leave axis {axis}, which has {side}",
            self.count, self.start, self.step
        )))
    }
}

impl Selection {
    /// All items of an array of this shape.
    #[must_use]
    pub fn all(shape: &[u64]) -> Self {
        Self::from_box(&vec![0; shape.len()], shape)
    }

    /// The items from `start` up to but without `stop`, along each axis.
    #[must_use]
    pub fn from_box(start: &[u64], stop: &[u64]) -> Self {
        let axes = start.iter().zip(stop).map(|(start, stop)| AxisSlice {
            start: *start,
            count: stop.saturating_sub(*start),
            step: 1,
            dropped: false,
        });
        Self { axes: axes.collect() }
    }

    /// Indexes for each axis.
    #[must_use]
    pub fn new(axes: impl Into<Vec<AxisSlice>>) -> Self {
        Self { axes: axes.into() }
    }

    /// Reads what stands between NumPy's brackets: `start:stop:step` with any of them missing,
    /// negative numbers counted from the end, single indexes, which drop their axis, and one `...`.
    pub fn parse(text: &str, shape: &[u64]) -> Result<Self> {
        let parts = parts_of(text);
        let dots = parts.iter().filter(|part| **part == "...").count();
        let given = parts.len() - dots;
        if dots > 1 || given > shape.len() {
            return Err(Error::invalid(format!(
                "`{text}` has {given} parts, the array {} dimensions",
                shape.len()
            )));
        }
        let before = parts.iter().position(|part| *part == "...").unwrap_or(parts.len());
        let mut axes = Self::all(shape).axes;
        let skipped = shape.len() - given;
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| **part != "...") {
            let axis = if number < before { number } else { number - 1 + skipped };
            *axes.must_get_mut(axis)? = parse_axis(part, axis, *shape.must_get(axis)?)?;
        }
        Ok(Self { axes })
    }

    /// The indexes of each axis.
    #[must_use]
    pub fn axes(&self) -> &[AxisSlice] {
        &self.axes
    }

    /// The shape of what is selected, without dropped axes.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().filter(|axis| !axis.dropped).map(|axis| axis.count).collect()
    }

    /// Refuses a selection that leaves an array of this shape.
    pub(crate) fn check(&self, shape: &[u64]) -> Result<()> {
        if self.axes.len() != shape.len() {
            return Err(Error::invalid(format!(
                "the selection has {} dimensions, the array {}",
                self.axes.len(),
                shape.len()
            )));
        }
        let mut axes = self.axes.iter().zip(shape).enumerate();
        axes.try_for_each(|(number, (axis, side))| axis.check(number, *side))
    }
}

/// One index, `start:stop` or `start:stop:step`; without the stop where a negative step goes down
/// to index 0.
impl fmt::Display for AxisSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped && self.count == 1 {
            return write!(f, "{}", self.start);
        }
        let (start, step) = (i128::from(self.start), i128::from(self.step));
        let stop = match i128::from(self.count) {
            0 => start,
            count => start + step * (count - 1) + step.signum(),
        };
        match stop {
            0.. => write!(f, "{start}:{stop}")?,
            _ => write!(f, "{start}:")?,
        }
        if step == 1 { Ok(()) } else { write!(f, ":{step}") }
    }
}

/// The parts for each axis, as [`FromStr`] and [`Selection::parse`] read them.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, axis) in self.axes.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{axis}")?;
        }
        Ok(())
    }
}

/// Reads a selection that means the same for arrays of any shape: without `...`, without indexes
/// that count from the end, and with a stop (for a negative step with a start).
/// [`Selection::parse`] reads all others.
///
/// ```
/// use superchunk::Selection;
///
/// let part: Selection = "10:20:2, 7".parse()?;
/// assert_eq!((part.shape(), part.to_string()), (vec![5], "10:19:2, 7".to_owned()));
/// # Ok::<(), superchunk::Error>(())
/// ```
impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let axes = parts_of(text).into_iter().enumerate().map(|(axis, part)| {
            if is_absolute(&numbers_of(part)?) {
                return parse_axis(part, axis, u64::MAX);
            }
            Err(Error::invalid(format!(
                "expected indexes that do not depend on the length of axis {axis}, got `{part}`"
            )))
        });
        Ok(Self { axes: axes.collect::<Result<_>>()? })
    }
}

/// Whether an index, or start, stop and step, mean the same whatever the length of the axis.
fn is_absolute(numbers: &[Option<i128>]) -> bool {
    let goes_down = numbers.get(2).copied().flatten().is_some_and(|step| step < 0);
    let needed = match numbers {
        [index] => index,
        [start, ..] if goes_down => start,
        [_, stop, ..] => stop,
        [] => return false,
    };
    needed.is_some() && numbers.iter().take(2).flatten().all(|number| *number >= 0)
}

/// The parts between the commas; none of an empty text.
fn parts_of(text: &str) -> Vec<&str> {
    let text = text.trim();
    if text.is_empty() { Vec::new() } else { text.split(',').map(str::trim).collect() }
}

/// The numbers between the colons; `None` where there is none.
fn numbers_of(part: &str) -> Result<Vec<Option<i128>>> {
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<i64>().map(|number| Some(i128::from(number))).map_err(|_| wrong(part)),
    };
    part.split(':').map(number).collect()
}

fn wrong(part: &str) -> Error {
    Error::invalid(format!("`{part}` is neither an index nor start:stop:step"))
}

fn parse_axis(part: &str, axis: usize, side: u64) -> Result<AxisSlice> {
    let fields = numbers_of(part)?;
    let length = i128::from(side);
    let from_end = |index: i128| index + if index < 0 { length } else { 0 };
    let unsigned = |index: i128| u64::try_from(index).unwrap_or(0);
    match fields.as_slice() {
        [Some(index)] => {
            let start = from_end(*index);
            if !(0..length).contains(&start) {
                return Err(Error::invalid(format!(
                    "index {index} is outside of axis {axis}, whose length is {side}"
                )));
            }
            Ok(AxisSlice { start: unsigned(start), count: 1, step: 1, dropped: true })
        }
        [start, stop, rest @ ..] if rest.len() <= 1 => {
            let step = rest.first().copied().flatten().unwrap_or(1);
            if step == 0 {
                return Err(Error::invalid("a step of 0 goes nowhere"));
            }
            // Python's rule: what is outside is moved to the nearest place that a slice may name.
            let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
            let place = |index: &Option<i128>, missing: i128| {
                index.map_or(missing, |index| from_end(index).clamp(low, high))
            };
            let (first, end) = if step > 0 { (low, high) } else { (high, low) };
            let (start, stop) = (place(start, first), place(stop, end));
            let way = if step > 0 { stop - start } else { start - stop };
            let count = unsigned(((way + step.abs() - 1) / step.abs()).max(0));
            let step = i64::try_from(step).map_err(|_| wrong(part))?;
            Ok(AxisSlice { start: unsigned(start), count, step, dropped: false })
        }
        _ => Err(wrong(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The indexes that Python's `range(length)[start:stop:step]` has, by its definition.
    fn indexes(slice: &AxisSlice) -> Vec<i64> {
        let count = i64::try_from(slice.count).unwrap();
        (0..count).map(|k| i64::try_from(slice.start).unwrap() + k * slice.step).collect()
    }

    #[test]
    fn slices_are_those_of_python() {
        // From python3: list(range(5))[…].
        for (text, expected) in [
            (":", &[0, 1, 2, 3, 4][..]),
            ("1:3", &[1, 2]),
            ("-2:", &[3, 4]),
            (":-1", &[0, 1, 2, 3]),
            ("::2", &[0, 2, 4]),
            ("1::2", &[1, 3]),
            ("::-1", &[4, 3, 2, 1, 0]),
            ("3:0:-2", &[3, 1]),
            ("10:", &[]),
            (":100", &[0, 1, 2, 3, 4]),
            ("4:1", &[]),
            ("-100:2", &[0, 1]),
            ("1:100:-1", &[]),
            ("100::-3", &[4, 1]),
        ] {
            let selection = Selection::parse(text, &[5]).unwrap();
            assert_eq!(indexes(&selection.axes()[0]), expected, "{text}");
            selection.check(&[5]).unwrap();
        }
    }

    #[test]
    fn indexes_drop_axes_and_dots_fill_up() {
        let shape = [4, 5, 6];
        let parsed = |text: &str| Selection::parse(text, &shape).unwrap().shape();
        assert_eq!(parsed(""), [4, 5, 6]);
        assert_eq!(parsed("1"), [5, 6]);
        assert_eq!(parsed("..., -1"), [4, 5]);
        assert_eq!(parsed("0, ..., 1:3"), [5, 2]);
        assert_eq!(parsed("0, 1, 2"), []);
        assert_eq!(parsed("0, 1, 2, ..."), []);
        for text in ["4", "-5", "0,0,0,0", "..., ...", "a", "1:2:0", "1:2:3:4", "1,,2"] {
            assert!(Selection::parse(text, &shape).is_err(), "{text}");
        }
    }

    #[test]
    fn selections_read_back() {
        let slices = |start: u64, count: u64, step: i64, dropped: bool| {
            Selection::new([AxisSlice { start, count, step, dropped }])
        };
        for (selection, text) in [
            (Selection::new([]), ""),
            (slices(7, 1, 1, true), "7"),
            (slices(7, 1, 1, false), "7:8"),
            (slices(7, 1, -1, false), "7:6:-1"),
            (slices(4, 3, -2, false), "4::-2"),
            (slices(9, 3, -2, false), "9:4:-2"),
            (slices(5, 0, 1, false), "5:5"),
            (slices(5, 0, -3, false), "5:5:-3"),
            (Selection::from_box(&[0, 2], &[3, 10]), "0:3, 2:10"),
        ] {
            assert_eq!(selection.to_string(), text);
            assert_eq!(text.parse::<Selection>().unwrap(), selection, "{text}");
        }
        let shape = [4, 5, 6];
        for text in ["", "1", "..., -1", "::-1, ::2, -3:", "3:0:-2, 9:, 2", "-100::-1, 1, :0"] {
            let selection = Selection::parse(text, &shape).unwrap();
            let absolute = selection.to_string();
            assert_eq!(absolute.parse::<Selection>().unwrap(), selection, "{text}: {absolute}");
            assert_eq!(Selection::parse(&absolute, &shape).unwrap(), selection, "{text}");
        }
        for text in
            ["...", "-1", ":", "1:", "::-1", ":3:-1", "0:-1", "a", "1:2:0", "1:2:3:4", "1,,2"]
        {
            assert!(text.parse::<Selection>().is_err(), "{text}");
        }
        let error = "0, -1".parse::<Selection>().unwrap_err().to_string();
        assert_eq!(error, "expected indexes that do not depend on the length of axis 1, got `-1`");
    }

    #[test]
    fn a_selection_that_leaves_the_array_is_refused() {
        let shape = [4, 5, 6];
        let outside = AxisSlice { start: 3, count: 2, step: 3, dropped: false };
        assert!(Selection::new([outside; 3]).check(&shape).is_err());
    }
}
