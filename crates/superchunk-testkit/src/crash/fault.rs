//! Operations that fail, and reads that lie.

use std::io;

const EINTR: i32 = 4;
const ENOSPC: i32 = 28;

/// What goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full at the change of this number, counted from 0: nothing of it happens.
    NoSpace(usize),
    /// The disk is full at this change and at every later one that needs space.
    NoSpaceFrom(usize),
    /// The disk gets full in the middle of this change: the first sectors of a
    /// write happen.
    ShortWrite(usize),
    /// A signal interrupts this change: nothing of it happens.
    Interrupted(usize),
    /// The sync of this number fails.
    SyncFails(usize),
    /// The read of this number has one bit wrong; the bit counts from the start of the read, and around.
    FlippedBit {
        /// Which read.
        read: usize,
        /// Which of its bits.
        bit: usize,
    },
}

/// Counts operations and says which of them fails.
#[derive(Debug, Default)]
pub(super) struct Faults {
    fault: Option<Fault>,
    changes: usize,
    syncs: usize,
    reads: usize,
}

/// What is to become of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    Half,
    Refused,
}

impl Faults {
    /// Counts from 0 again; this is going to fail.
    pub(super) fn set(&mut self, fault: Option<Fault>) {
        *self = Self { fault, ..Self::default() };
    }

    /// Counts a change.
    pub(super) fn change(&mut self) -> Fate {
        let number = self.changes;
        self.changes += 1;
        match self.fault {
            Some(Fault::NoSpace(at) | Fault::Interrupted(at)) if at == number => Fate::Refused,
            Some(Fault::NoSpaceFrom(at)) if at <= number => Fate::Refused,
            Some(Fault::ShortWrite(at)) if at == number => Fate::Half,
            _ => Fate::Done,
        }
    }

    /// Why a change fails.
    pub(super) fn error(&self) -> io::Error {
        let interrupted = matches!(self.fault, Some(Fault::Interrupted(_)));
        io::Error::from_raw_os_error(if interrupted { EINTR } else { ENOSPC })
    }

    /// Counts a sync; tells whether it works.
    pub(super) fn sync(&mut self) -> bool {
        let number = self.syncs;
        self.syncs += 1;
        self.fault != Some(Fault::SyncFails(number))
    }

    /// Counts a read and spoils it.
    pub(super) fn read(&mut self, bytes: &mut [u8]) {
        let number = self.reads;
        self.reads += 1;
        if let Some(Fault::FlippedBit { read, bit }) = self.fault
            && read == number
            && !bytes.is_empty()
        {
            let at = bit / 8 % bytes.len();
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (bit % 8));
        }
    }

    /// Changes, syncs and reads so far.
    pub(super) fn counted(&self) -> (usize, usize, usize) {
        (self.changes, self.syncs, self.reads)
    }
}
