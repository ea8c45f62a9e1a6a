//! An entry of the index: a slot of the layout, or a run that is not stored at all.
//!
//! ```text
//! 63      56                                         0
//! ┌─────────┬─────────────────────────────────────────┐
//! │ 0…      │ slot: an offset, or the number of a file │
//! │ 0x81    │ 0                                        │   all bytes zero
//! │ 0x82    │ 0                                        │   all items NaN
//! │ 0x84    │ 0                                        │   never set; reads as zeros
//! └─────────┴─────────────────────────────────────────┘
//! ```

use crate::error::{Error, Result};

/// One entry, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(crate) u64);

/// What an entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A chunk, where the layout says.
    Stored(u64),
    /// A chunk of one value, which the entry itself tells.
    Run(Run),
}

/// The values that need no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// All bytes are zero.
    Zeros,
    /// All items are NaN.
    Nans,
    /// Nobody has set the bytes yet.
    Uninitialised,
}

const SPECIAL: u64 = 1 << 63;

impl Entry {
    /// An entry that points at a stored chunk.
    pub(crate) fn stored(slot: u64) -> Self {
        Self(slot & !SPECIAL)
    }

    /// An entry of a run.
    pub(crate) fn run(run: Run) -> Self {
        let kind = match run {
            Run::Zeros => 0x81,
            Run::Nans => 0x82,
            Run::Uninitialised => 0x84,
        };
        Self(kind << 56)
    }

    /// The slot of a stored chunk.
    pub(crate) fn stored_slot(self) -> Option<u64> {
        (self.0 & SPECIAL == 0).then_some(self.0)
    }

    /// What the entry stands for. `number` is its place in the index, for the error.
    pub(crate) fn slot(self, number: usize) -> Result<Slot> {
        Ok(match self.0 >> 56 {
            0x81 => Slot::Run(Run::Zeros),
            0x82 => Slot::Run(Run::Nans),
            0x84 => Slot::Run(Run::Uninitialised),
            kind if kind < 0x80 => Slot::Stored(self.0),
            kind => {
                return Err(Error::corrupt(format!("a run of kind {kind:#04x} is not defined"))
                    .at("frame", "index", 8 * number));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_slots_or_known_runs() {
        assert_eq!(Entry::stored(797).slot(0).unwrap(), Slot::Stored(797));
        for run in [Run::Zeros, Run::Nans, Run::Uninitialised] {
            assert_eq!(Entry::run(run).slot(0).unwrap(), Slot::Run(run));
            assert_eq!(Entry::run(run).stored_slot(), None);
        }
        for kind in [0x80, 0x83, 0xff] {
            let error = Entry(kind << 56).slot(2).unwrap_err();
            assert!(error.to_string().ends_with("is not defined, at byte 16"), "{error}");
        }
    }
}
