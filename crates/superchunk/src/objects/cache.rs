//! The blocks that were read last, decoded, for their neighbours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::list::List;
use crate::spare::attempt;

/// The memory that kept blocks may take together; the last one is always kept.
const MOST: usize = 4 << 20;

/// Where a block is: the number of its chunk, and its number there.
pub(super) type Place = (usize, usize);

/// Some decoded blocks; the last used one is the last.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(Place, Arc<List>)>>);

impl Cache {
    /// A kept block.
    pub(super) fn get(&self, place: Place) -> Option<Arc<List>> {
        let mut kept = attempt(&self.0)?;
        let at = kept.iter().rposition(|(other, _)| *other == place)?;
        if at + 1 < kept.len()
            && let Some(found) = kept.remove(at)
        {
            kept.push_back(found);
        }
        kept.back().map(|(_, list)| list.clone())
    }

    /// Keeps a block, and forgets those that were not used for longest if they are too many.
    pub(super) fn put(&self, place: Place, list: &Arc<List>) {
        let Some(mut kept) = attempt(&self.0) else { return };
        kept.retain(|(other, _)| *other != place);
        kept.push_back((place, list.clone()));
        let mut memory: usize = kept.iter().map(|(_, list)| list.memory()).sum();
        while memory > MOST && kept.len() > 1 {
            memory -= kept.pop_front().map_or(0, |(_, list)| list.memory());
        }
    }

    /// Forgets all: the blocks may not be what they were.
    pub(super) fn clear(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::msgpack::write_bytes;

    fn block(len: usize) -> Arc<List> {
        let mut list = List::new();
        list.push(|out| write_bytes(out, &vec![1; len])).unwrap();
        Arc::new(list)
    }

    #[test]
    fn the_longest_unused_blocks_go_first() {
        let mut cache = Cache::default();
        let third = block(MOST / 3 - 100);
        for number in 0..3 {
            cache.put((number, 0), &third);
        }
        assert!(cache.get((0, 0)).is_some());
        cache.put((3, 0), &third);
        assert!(cache.get((1, 0)).is_none());
        assert!(cache.get((0, 0)).is_some() && cache.get((2, 0)).is_some());
        // One that is larger than all the room is kept alone.
        cache.put((9, 1), &block(MOST));
        assert!(cache.get((9, 1)).is_some() && cache.get((0, 0)).is_none());
        cache.clear();
        assert!(cache.get((9, 1)).is_none());
    }
}
