//! What one thread keeps between blocks: codec state and scratch buffers, grown once.

use superchunk_kernels::append_far;

use super::marks::MarkWriter;
use crate::codecs::CodecState;
use crate::exec::Executor;

/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 128 * 1024;

/// From this many bytes on an output is taken to be too large for the caches of one core, and is
/// written past them where that is possible.
pub(crate) const FAR_OUTPUT: usize = 2 * 1024 * 1024;

/// What becomes of decoded bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Output {
    /// They are all that the caller wanted.
    #[default]
    Whole,
    /// They are a part of so many.
    PartOf(usize),
    /// They are read at once, and had better be in the caches.
    ReadAtOnce,
}

impl Output {
    /// Whether `len` bytes should be written past the caches.
    pub(super) fn is_far(self, len: usize) -> bool {
        match self {
            Self::Whole => len >= FAR_OUTPUT,
            Self::PartOf(output) => output.max(len) >= FAR_OUTPUT,
            Self::ReadAtOnce => false,
        }
    }
}

/// Appends bytes to an output, past the caches if it is to become that large.
pub(super) fn append(bytes: &[u8], out: &mut Vec<u8>) {
    if out.capacity() >= FAR_OUTPUT { append_far(bytes, out) } else { out.extend_from_slice(bytes) }
}

/// Reused by every block that the thread encodes or decodes; no result depends on it.
#[derive(Default)]
pub(super) struct Worker {
    pub(super) codec: CodecState,
    /// Decoded streams before filters are undone; codec output when encoding.
    pub(super) streams: Vec<u8>,
    /// Two buffers for the pipeline to go to and fro.
    pub(super) a: Vec<u8>,
    pub(super) b: Vec<u8>,
    /// Marks of the block that is encoded.
    pub(super) marks: MarkWriter,
    /// A whole block of which only a part is wanted.
    pub(super) block: Vec<u8>,
}

/// How many threads should share `blocks` blocks of `nbytes` bytes in all.
pub(super) fn useful_threads(executor: &Executor, blocks: usize, nbytes: usize) -> usize {
    if nbytes < WORTH_THREADS { 1 } else { executor.thread_count().min(blocks).max(1) }
}

/// The first `count` of what is kept, made when they are missing.
pub(super) fn at_least<T: Default>(kept: &mut Vec<T>, count: usize) -> &mut [T] {
    if kept.len() < count {
        kept.resize_with(count, T::default);
    }
    kept.get_mut(..count).unwrap_or_default()
}
