//! Which indexes of one axis, chunk by chunk and block by block.

use super::select::AxisSlice;
use crate::error::{Error, Result};

/// The indexes of an axis, in ascending order.
#[derive(Clone, Debug)]
pub(crate) enum Picks {
    /// `count` indexes at equal distances; the k-th goes to place k.
    Range { start: u64, step: u64, count: usize },
    /// Any indexes, each with the place that it goes to, sorted by index.
    List(Vec<(u64, usize)>),
}

/// The picks `from..to` lie in the same chunk (of the axis).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) chunk: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The picks in one block (of the axis) of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockPart {
    pub(crate) block: usize,
    /// Ascending, never empty.
    pub(crate) runs: Vec<Run>,
}

/// Picks at equal distances that go to neighbouring places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first index, counted from the start of the block.
    pub(crate) within: usize,
    pub(crate) step: usize,
    /// The place of the first.
    pub(crate) place: usize,
    pub(crate) count: usize,
}

impl Run {
    /// The last index, counted from the start of the block.
    pub(crate) fn last(&self) -> usize {
        self.within + self.step * (self.count - 1)
    }
}

impl Picks {
    /// The indexes of a checked slice, turned to ascend; whoever wants them descending turns the
    /// result.
    pub(crate) fn from_slice(slice: &AxisSlice) -> Result<Self> {
        let count = usize::try_from(slice.count)
            .map_err(|_| Error::limit("more items than the memory can hold"))?;
        let start = match slice.step > 0 {
            true => slice.start,
            false => slice.stop(),
        };
        Ok(Self::Range { start, step: slice.step.unsigned_abs(), count })
    }

    /// The indexes of a slice, each with its place in the order of the slice.
    pub(crate) fn in_order_of(slice: &AxisSlice) -> Result<Self> {
        let Self::Range { start, step, count } = Self::from_slice(slice)? else {
            return Ok(Self::List(Vec::new()));
        };
        if slice.step > 0 {
            return Ok(Self::Range { start, step, count });
        }
        let pick = |k: usize| (start + k as u64 * step, count - 1 - k);
        Ok(Self::List((0..count).map(pick).collect()))
    }

    /// Any indexes of an axis of this length; they may repeat.
    pub(crate) fn from_list(indexes: &[u64], axis: usize, side: u64) -> Result<Self> {
        if let Some(outside) = indexes.iter().find(|index| **index >= side) {
            return Err(Error::invalid(format!("index {outside} leaves axis {axis} of {side}")));
        }
        let mut picks: Vec<(u64, usize)> =
            indexes.iter().enumerate().map(|(place, index)| (*index, place)).collect();
        picks.sort_unstable();
        Ok(Self::List(picks))
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Range { count, .. } => *count,
            Self::List(picks) => picks.len(),
        }
    }

    /// Whether these are all indexes from `start` to before `stop`.
    pub(crate) fn covers(&self, start: u64, stop: u64) -> bool {
        match self {
            Self::Range { start: first, step: 1, count } => {
                *first <= start && stop <= first.saturating_add(*count as u64)
            }
            Self::Range { start: first, count: 1, .. } => *first == start && stop == start + 1,
            _ => false,
        }
    }

    /// The k-th index in ascending order.
    fn index(&self, k: usize) -> u64 {
        match self {
            Self::Range { start, step, .. } => start + k as u64 * step,
            Self::List(picks) => picks.get(k).map_or(u64::MAX, |pick| pick.0),
        }
    }

    /// The first pick at or behind `index`, from pick `from` on.
    fn first_from(&self, from: usize, index: u64) -> usize {
        match self {
            Self::Range { start, step, count } => {
                let way = index.saturating_sub(*start).div_ceil(*step);
                usize::try_from(way).map_or(*count, |k| k.clamp(from, *count))
            }
            Self::List(picks) => from.max(picks.partition_point(|pick| pick.0 < index)),
        }
    }

    /// The picks chunk by chunk.
    pub(crate) fn groups(&self, chunk_side: usize) -> Vec<Group> {
        let side = chunk_side.max(1) as u64;
        let (mut groups, mut from) = (Vec::new(), 0);
        while from < self.count() {
            let chunk = self.index(from) / side;
            let to = self.first_from(from, (chunk + 1) * side).max(from + 1);
            groups.push(Group { chunk, from, to });
            from = to;
        }
        groups
    }

    /// Cuts a group where blocks end.
    pub(crate) fn cut(&self, group: Group, chunk_side: usize, block_side: usize) -> Vec<Group> {
        let (mut groups, mut from) = (Vec::new(), group.from);
        let (start, side) = (group.chunk * chunk_side as u64, block_side.max(1) as u64);
        while from < group.to {
            let block = (self.index(from) - start) / side;
            let to = self.first_from(from, start + (block + 1) * side);
            let to = to.clamp(from + 1, group.to);
            groups.push(Group { from, to, ..group });
            from = to;
        }
        groups
    }

    /// The picks of a group block by block.
    pub(crate) fn block_parts(
        &self,
        group: Group,
        chunk_side: usize,
        block_side: usize,
    ) -> Vec<BlockPart> {
        let start = group.chunk * chunk_side as u64;
        let parts = self.cut(group, chunk_side, block_side).into_iter().map(
            |Group { from, to, .. }| {
                let within = |k| usize::try_from(self.index(k) - start).unwrap_or(usize::MAX);
                let block = within(from) / block_side.max(1);
                let first = block * block_side;
                let runs = match self {
                    Self::Range { step, .. } => {
                        let step = usize::try_from(*step).unwrap_or(usize::MAX);
                        let step = if to - from == 1 { 0 } else { step };
                        vec![Run {
                            within: within(from) - first,
                            step,
                            place: from,
                            count: to - from,
                        }]
                    }
                    Self::List(picks) => {
                        let picks = picks.iter().take(to).skip(from);
                        list_runs(picks.map(|(index, place)| {
                            (usize::try_from(index - start).unwrap_or(usize::MAX) - first, *place)
                        }))
                    }
                };
                BlockPart { block, runs }
            },
        );
        parts.collect()
    }
}

/// Joins neighbours that stay neighbours.
fn list_runs(picks: impl Iterator<Item = (usize, usize)>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (within, place) in picks {
        match runs.last_mut() {
            Some(run) if within == run.within + run.count && place == run.place + run.count => {
                run.count += 1;
            }
            _ => runs.push(Run { within, step: 1, place, count: 1 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pick as (index, place), put together from the parts.
    fn listed(picks: &Picks, chunk: usize, block: usize) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        for group in picks.groups(chunk) {
            for part in picks.block_parts(group, chunk, block) {
                for run in &part.runs {
                    assert!(run.last() < block);
                    for k in 0..run.count {
                        let within = part.block * block + run.within + k * run.step;
                        assert!(within < chunk);
                        found.push((group.chunk * chunk as u64 + within as u64, run.place + k));
                    }
                }
            }
        }
        found
    }

    #[test]
    fn parts_are_the_whole() {
        for (start, step, count) in [(0, 1, 30), (3, 1, 20), (5, 7, 5), (29, 100, 1), (0, 1, 0)] {
            let expected: Vec<(u64, usize)> =
                (0..count).map(|k| (start + k as u64 * step, k)).collect();
            for (chunk, block) in [(10, 3), (7, 7), (30, 4), (1, 1), (100, 40)] {
                assert_eq!(listed(&Picks::Range { start, step, count }, chunk, block), expected);
            }
        }
        let list = [5, 0, 1, 2, 29, 5, 6, 13];
        let mut expected: Vec<(u64, usize)> = list.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        for (chunk, block) in [(10, 3), (7, 7), (30, 4), (1, 1)] {
            assert_eq!(listed(&Picks::from_list(&list, 0, 30).unwrap(), chunk, block), expected);
        }
        assert!(Picks::from_list(&list, 0, 29).is_err());
    }
}
