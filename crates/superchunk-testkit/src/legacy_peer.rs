//! bloscpack 0.16 and bcolz, as a process spoken to over pipes.
//!
//! The process runs `legacy_peer.py`, which speaks as `frame_peer.py` does. Nothing stays open there:
//! every call names a path and sees what was written to it. The calls of each package are in a file
//! of their own.

mod bcolz;
mod pack;

use crate::peers::PeerKind;
use crate::talk::Talk;

pub use bcolz::{ColumnParams, PeerArray, PeerTable};
pub use pack::{PackParams, PackedArray};

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct LegacyPeer {
    talk: Talk,
}

impl LegacyPeer {
    /// Starts the peer.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    pub fn spawn() -> Self {
        Self { talk: Talk::start(PeerKind::Legacy, "legacy_peer.py") }
    }
}
