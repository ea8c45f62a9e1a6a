//! The history before the source.

use alloc::vec::Vec;

use crate::lz4::{MAX_DISTANCE, MIN_MATCH};

/// What an encoder searches, and where the source begins in it: the source itself, or the last
/// 64 KiB of `dict` and the source behind each other in `joined`.
pub(super) fn with_history<'a>(
    dict: &[u8],
    src: &'a [u8],
    joined: &'a mut Vec<u8>,
) -> (&'a [u8], usize) {
    let dict = dict.get(dict.len().saturating_sub(MAX_DISTANCE)..).unwrap_or(dict);
    if dict.len() < MIN_MATCH {
        return (src, 0);
    }
    joined.clear();
    joined.extend_from_slice(dict);
    joined.extend_from_slice(src);
    (joined.as_slice(), dict.len())
}
