//! bloscpack 0.16 and bcolz, as a process spoken to over pipes.
//!
//! The process runs `legacy_peer.py`, which speaks as `frame_peer.py` does. Nothing stays open there:
//! every call names a path and sees what was written to it. The calls of each package are in a file
//! of their own.

mod bcolz;
mod pack;

use serde_json::Value;

use crate::frame_peer::{Reply, receive, send};
use crate::peers::PeerKind;
use crate::process::{Process, not_started};

pub use bcolz::{ColumnParams, PeerArray, PeerTable};
pub use pack::{PackParams, PackedArray};

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct LegacyPeer {
    /// `None` after it died, until the next call.
    process: Option<Process>,
}

impl LegacyPeer {
    /// Starts the peer.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub fn spawn() -> Self {
        let mut peer = Self { process: None };
        if let Err(words) = peer.pack_version() {
            panic!("{words}");
        }
        peer
    }

    /// One request with its reply. A process that has died gives the call that notices it an error; the
    /// next one starts another.
    fn ask(
        &mut self,
        op: &str,
        mut arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<(Value, Vec<Vec<u8>>)> {
        if let Some(map) = arguments.as_object_mut() {
            map.insert("op".to_owned(), op.into());
            let lengths: Vec<usize> = payload.iter().map(|part| part.len()).collect();
            map.insert("payload".to_owned(), lengths.into());
        }
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(
                Process::start(PeerKind::Legacy, "legacy_peer.py", &[])
                    .map_err(|error| not_started(PeerKind::Legacy, &error))?,
            ),
        };
        let Some((input, output, mut ending)) = process.pipes() else {
            return Err("the peer process is ending".to_owned());
        };
        let answer = send(input, &arguments, payload).and_then(|()| receive(output));
        answer.map_err(|error| ending.words(&error)).unwrap_or_else(|words| {
            self.process = None;
            Err(words)
        })
    }
}
