//! Streams that gain next to nothing are stored after all: what they gain is hardly seen in a block, but each of them has to be decoded.

use std::slice::ChunksExact;

use super::stream::{self, Stream};
use crate::error::Result;
use crate::wire::Reader;

/// Of its bytes a block may get so much longer: one in so many.
const SMALL: usize = 400;
/// Above this level bytes are what counts.
pub(super) const HIGHEST_LEVEL: u8 = 8;

/// Stores such streams of a block, which `out` has from `begin` on, and tells whether all its streams are stored then.
pub(super) fn store_small(
    planes: &ChunksExact<'_, u8>,
    runs_allowed: bool,
    begin: usize,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let written = out.get(begin..).unwrap_or_default();
    let mut to_lose = written.len() / SMALL;
    let (mut streams, mut coded) = (Vec::with_capacity(planes.len()), 0);
    let mut reader = Reader::new("chunk", written);
    for plane in planes.clone() {
        let start = reader.position();
        let gain = match Stream::parse(&mut reader, plane.len(), runs_allowed)? {
            Stream::Coded(bytes, _) => Some(plane.len() - bytes.len()),
            Stream::Run(_) => Some(usize::MAX),
            Stream::Raw(_) => None,
        };
        let lost = gain.filter(|gain| *gain <= to_lose);
        to_lose -= lost.unwrap_or(0);
        coded += usize::from(gain.is_some() && lost.is_none());
        streams.push((start..reader.position(), lost.is_some()));
    }
    if streams.iter().any(|(_, is_small)| *is_small) {
        let written = out.split_off(begin);
        for (plane, (range, is_small)) in planes.clone().zip(streams) {
            match is_small {
                true => stream::write_raw(plane, out)?,
                false => out.extend_from_slice(written.get(range).unwrap_or_default()),
            }
        }
    }
    Ok(coded == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of planes of 1000 bytes that take so many: a run where that is 0.
    fn block(lens: &[usize]) -> Vec<u8> {
        let stream =
            |&len: &usize| [&i32::try_from(len).unwrap().to_le_bytes()[..], &vec![9; len]].concat();
        lens.iter().flat_map(stream).collect()
    }

    fn stored(lens: &[usize]) -> (Vec<u8>, bool) {
        let planes = vec![9; 1000 * lens.len()];
        let mut out = [&[1, 2, 3][..], &block(lens)].concat();
        let all = store_small(&planes.chunks_exact(1000), true, 3, &mut out).unwrap();
        assert_eq!(out.drain(..3).collect::<Vec<u8>>(), [1, 2, 3]);
        (out, all)
    }

    #[test]
    fn streams_that_gain_little_of_their_block_are_stored() {
        assert_eq!(stored(&[990, 500, 996, 0]), (block(&[990, 500, 1000, 0]), false));
        assert_eq!(stored(&[996, 996, 996, 996]), (block(&[1000, 1000, 996, 996]), false));
        assert_eq!(stored(&[1000, 997, 1000]), (block(&[1000, 1000, 1000]), true));
        assert_eq!(stored(&[1000, 1000]), (block(&[1000, 1000]), true));
        assert_eq!(stored(&[0, 1000]), (block(&[0, 1000]), false));
    }
}
