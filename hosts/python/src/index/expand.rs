//! A key as parts that each concern one axis of the array or of the result.

use superchunk::AxisSlice;

use super::slice::index_of_axis;
use super::{Array, Item, KeyError, Result, Slice};

/// The elements of a mask that are looked at together: most stretches of sparse masks have nothing set.
const STRETCH: usize = 256;

/// What a key says of one axis.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A new axis of the result.
    New,
    /// `...` that stands for no axis: it separates lists all the same.
    Gap,
    Range(AxisSlice),
    Single(u64),
    List {
        axis: usize,
        list: Array<u64>,
    },
    /// `True` or `False`: a list of one or no element that belongs to no axis.
    Flag(bool),
}

/// The parts of a key for an array of this shape, in the order of the key.
pub(super) fn expand(key: &[Item], shape: &[u64]) -> Result<Vec<Part>> {
    let given: usize = key.iter().map(axes_of).sum();
    let Some(filled) = shape.len().checked_sub(given) else {
        return Err(KeyError::Index(format!(
            "too many indices for array: array is {}-dimensional, but {given} were indexed",
            shape.len()
        )));
    };
    let dots = key.iter().filter(|item| matches!(item, Item::Ellipsis)).count();
    if dots > 1 {
        return Err(KeyError::Index("an index can only have a single ellipsis ('...')".into()));
    }
    let parts = Vec::with_capacity(key.len() + filled);
    let mut walk = Walk { shape, axis: 0, parts, selects_nothing: key.iter().any(is_empty) };
    for item in key {
        match item {
            Item::Ellipsis if filled == 0 => walk.parts.push(Part::Gap),
            Item::Ellipsis => walk.whole_axes(filled)?,
            Item::NewAxis => walk.parts.push(Part::New),
            Item::Int(index) => walk.single(*index)?,
            Item::Slice(slice) => walk.range(*slice)?,
            Item::Ints(Array { shape, values }) if shape.is_empty() => {
                walk.single(values.first().copied().unwrap_or(0))?;
            }
            Item::Ints(list) => walk.list(list)?,
            Item::Mask(mask) => walk.mask(mask)?,
        }
    }
    if dots == 0 {
        walk.whole_axes(filled)?;
    }
    Ok(walk.parts)
}

/// The number of axes that an element takes.
fn axes_of(item: &Item) -> usize {
    match item {
        Item::Int(_) | Item::Slice(_) | Item::Ints(_) => 1,
        Item::Mask(mask) => mask.shape.len(),
        Item::Ellipsis | Item::NewAxis => 0,
    }
}

/// Whether an element is a list without elements.
fn is_empty(item: &Item) -> bool {
    match item {
        Item::Ints(list) => list.values.is_empty(),
        Item::Mask(mask) => !mask.values.contains(&true),
        _ => false,
    }
}

struct Walk<'s> {
    shape: &'s [u64],
    /// Some list is empty: NumPy does not look at the indexes of the others.
    selects_nothing: bool,
    /// The next axis.
    axis: usize,
    parts: Vec<Part>,
}

impl Walk<'_> {
    fn next_axis(&mut self) -> (usize, u64) {
        let axis = self.axis;
        self.axis += 1;
        (axis, self.shape.get(axis).copied().unwrap_or(0))
    }

    fn whole_axes(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.range(Slice::default()))
    }

    fn range(&mut self, slice: Slice) -> Result<()> {
        let (_, side) = self.next_axis();
        self.parts.push(Part::Range(slice.of_axis(side)?));
        Ok(())
    }

    fn single(&mut self, index: i64) -> Result<()> {
        let (axis, side) = self.next_axis();
        self.parts.push(Part::Single(index_of_axis(index, axis, side)?));
        Ok(())
    }

    fn place(&self, index: i64, axis: usize, side: u64) -> Result<u64> {
        if self.selects_nothing { Ok(0) } else { index_of_axis(index, axis, side) }
    }

    fn list(&mut self, list: &Array<i64>) -> Result<()> {
        let (axis, side) = self.next_axis();
        let values = list.values.iter().map(|index| self.place(*index, axis, side));
        let values = values.collect::<Result<_>>()?;
        self.parts.push(Part::List { axis, list: Array { shape: list.shape.clone(), values } });
        Ok(())
    }

    /// A list for each axis of the mask: the coordinates of what is set.
    fn mask(&mut self, mask: &Array<bool>) -> Result<()> {
        if mask.shape.is_empty() {
            self.parts.push(Part::Flag(mask.values.first().copied().unwrap_or(false)));
            return Ok(());
        }
        check_mask(mask, self.axis, self.shape)?;
        let coordinates = coordinates(mask);
        let count = coordinates.first().map_or(0, Vec::len);
        for values in coordinates {
            let (axis, _) = self.next_axis();
            self.parts.push(Part::List { axis, list: Array { shape: vec![count], values } });
        }
        Ok(())
    }
}

/// Refuses a mask that is not as long as the axes it stands for, from axis `first` on. As with NumPy,
/// one without elements goes with any.
pub(super) fn check_mask(mask: &Array<bool>, first: usize, shape: &[u64]) -> Result<()> {
    let sides = mask.shape.iter().zip(shape.iter().skip(first)).enumerate();
    match sides.into_iter().find(|(_, (have, want))| **have > 0 && **have as u64 != **want) {
        None => Ok(()),
        Some((number, (have, want))) => Err(KeyError::Index(format!(
            "boolean index did not match indexed array along axis {}; size of axis is {want} but \
             size of corresponding boolean axis is {have}",
            first + number
        ))),
    }
}

/// The coordinates of what is set, a list for each axis.
fn coordinates(mask: &Array<bool>) -> Vec<Vec<u64>> {
    let count = mask.values.iter().filter(|bit| **bit).count();
    let mut lists: Vec<Vec<u64>> = mask.shape.iter().map(|_| Vec::with_capacity(count)).collect();
    for (start, bits) in (0..).step_by(STRETCH).zip(mask.values.chunks(STRETCH)) {
        if !bits.iter().fold(false, |any, bit| any | bit) {
            continue;
        }
        for (number, _) in (start..).zip(bits).filter(|(_, bit)| **bit) {
            let mut rest: usize = number;
            for (list, side) in lists.iter_mut().zip(&mask.shape).rev() {
                list.push((rest % (*side).max(1)) as u64);
                rest /= (*side).max(1);
            }
        }
    }
    lists
}
