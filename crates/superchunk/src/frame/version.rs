//! Which committed state of a frame is known, and how one is read while a writer may be changing it.

use super::Kind;
use super::fingerprint::STORED;
use super::home::Setup;
use super::opener::{Frame, Opener};
use crate::error::Result;
use crate::store::ReadAt;

/// How often a reader tries again when a writer was faster.
const TRIES: usize = 50;

/// What tells a committed state from all others: the header, and the fingerprint that ends the trailer.
///
/// Appended rows always change the header. Chunks that replace others may leave it as it was, but
/// not the fingerprint, if the frame has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    /// The bytes of the header.
    pub(super) head: Vec<u8>,
    fingerprint: [u8; STORED],
    frame_len: u64,
}

impl Version {
    /// The state of a frame of `frame_len` bytes with this header, and with `tail` at its end.
    pub(super) fn new(head: Vec<u8>, tail: &[u8], frame_len: u64) -> Self {
        let fingerprint = tail.last_chunk().map_or([0; STORED], |last| *last);
        Self { head, fingerprint, frame_len }
    }

    /// Whether this is still the state of the frame in `store`.
    pub(super) fn is_in(&self, store: &dyn ReadAt) -> Result<bool> {
        let end = self.frame_len.saturating_sub(STORED as u64);
        Ok(is_at(store, 0, &self.head)? && is_at(store, end, &self.fingerprint)?)
    }
}

fn is_at(store: &dyn ReadAt, position: u64, bytes: &[u8]) -> Result<bool> {
    let mut now = vec![0; bytes.len()];
    Ok(store.read_at(position, &mut now)? == bytes.len() && now == bytes)
}

/// Opens a frame that a writer may be changing meanwhile: what was read, or could not be read, counts
/// only if header and length are still the same afterwards.
pub(super) fn read_frame(store: &dyn ReadAt, kind: Kind, setup: &Setup) -> Result<Frame> {
    let mut failed = false;
    loop {
        let len = store.len()?;
        let mut opener = Opener::new(kind, len).with_limits(setup.limits).trusting(setup.trusting);
        match opener.run(store) {
            Ok(frame) if is_at(store, 0, &frame.version.head)? => return Ok(frame),
            Ok(_) => {}
            // Two commits can bring the very header back that was there before.
            Err(error) if failed && is_at(store, 0, opener.head())? && store.len()? == len => {
                return Err(error);
            }
            Err(_) => failed = true,
        }
    }
}

/// The same of a frame that was good before: if it is not, a writer is in the middle of something
/// that takes a moment.
pub(super) fn read_frame_patiently(store: &dyn ReadAt, kind: Kind, setup: &Setup) -> Result<Frame> {
    for _ in 0..TRIES {
        let frame = read_frame(store, kind, setup);
        if frame.is_ok() {
            return frame;
        }
        pause();
    }
    read_frame(store, kind, setup)
}

fn pause() {
    #[cfg(any(unix, windows))]
    std::thread::sleep(std::time::Duration::from_millis(1));
}
