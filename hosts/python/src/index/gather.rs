//! Items at any coordinates: for each axis of the array, which index belongs to which place of the
//! result.

use std::ops::Range;

/// The indexes of each axis of the array, as small arrays over the axes of the result.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    /// The shape of the result.
    pub(super) shape: Vec<usize>,
    pub(super) axes: Vec<Indexes>,
}

/// The indexes of one axis of the array.
#[derive(Clone, Debug)]
pub(super) struct Indexes {
    pub(super) values: Vec<u64>,
    /// The step in `values` for each axis of the result; 0 where the index does not depend on it.
    pub(super) strides: Vec<usize>,
}

impl Gather {
    /// The number of items.
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The coordinates of these items of the result, which are numbered in C order: one item after
    /// the other.
    pub(crate) fn coordinates(&self, items: Range<usize>) -> Vec<u64> {
        let mut coordinates = Vec::with_capacity(items.len() * self.axes.len());
        let mut place = self.place_of(items.start);
        let start =
            |indexes: &Indexes| indexes.strides.iter().zip(&place).map(|(s, p)| s * p).sum();
        let mut at: Vec<usize> = self.axes.iter().map(start).collect();
        for _ in items {
            let indexes = self.axes.iter().zip(&at);
            coordinates
                .extend(indexes.map(|(axis, at)| axis.values.get(*at).copied().unwrap_or(0)));
            self.step(&mut place, &mut at);
        }
        coordinates
    }

    /// The place in the result of item `number`.
    fn place_of(&self, number: usize) -> Vec<usize> {
        let mut rest = number;
        let mut place: Vec<usize> = self
            .shape
            .iter()
            .rev()
            .map(|side| {
                let at = rest % (*side).max(1);
                rest /= (*side).max(1);
                at
            })
            .collect();
        place.reverse();
        place
    }

    /// Goes on to the next item.
    fn step(&self, place: &mut [usize], at: &mut [usize]) {
        for (axis, (place, side)) in place.iter_mut().zip(&self.shape).enumerate().rev() {
            *place += 1;
            let ends = *place == *side;
            for (at, indexes) in at.iter_mut().zip(&self.axes) {
                let stride = indexes.strides.get(axis).copied().unwrap_or(0);
                *at = if ends { *at - stride * (side - 1) } else { *at + stride };
            }
            if !ends {
                return;
            }
            *place = 0;
        }
    }
}
