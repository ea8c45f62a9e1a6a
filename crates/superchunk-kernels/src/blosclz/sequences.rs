//! A BloscLZ stream as a row of sequences, none of which is carried out: each token is one.

use super::FAR_BASE;
use crate::marks::{Mark, Marker};
use crate::trace::{Sequence, Sequences, Tracer, mark_all};

/// Fills `dst` with the bytes of the decoded stream from `out` on; `before` tells the last mark at or before a byte of it. `None` if it is
/// quicker to decode the stream, or something is wrong with it.
pub fn fetch(
    tracer: &mut Tracer,
    stream: &[u8],
    before: impl Fn(usize) -> Mark,
    out: usize,
    dst: &mut [u8],
) -> Option<()> {
    tracer.fetch(&mut Stream(stream), stream.len(), before, out, dst)
}

/// Notes in `marker` where the sequences of a stream begin.
pub fn mark(stream: &[u8], marker: &mut Marker) {
    mark_all(&mut Stream(stream), marker);
}

struct Stream<'a>(&'a [u8]);

impl Sequences for Stream<'_> {
    #[inline]
    fn sequence(&mut self, at: usize) -> Option<Sequence<'_>> {
        let token = self.token(at)?;
        if token < 32 {
            let next = at + 2 + token;
            let literals = self.0.get(at + 1..next)?;
            return Some(Sequence { literals, distance: 0, length: 0, next });
        }
        let (length, at) = self.length(token, at + 1)?;
        let low = usize::from(*self.0.get(at)?);
        let near = (token & 31) * 256 + low + 1;
        let (distance, next) = if near == FAR_BASE {
            let far = u16::from_be_bytes(*self.0.get(at + 1..)?.first_chunk()?);
            (FAR_BASE + usize::from(far), at + 3)
        } else {
            (near, at + 1)
        };
        Some(Sequence { literals: &[], distance, length, next })
    }
}

impl Stream<'_> {
    /// The token at a byte. The first one of a stream is literal, whatever its upper bits say.
    #[inline]
    fn token(&self, at: usize) -> Option<usize> {
        let token = usize::from(*self.0.get(at)?);
        Some(if at == 0 { token & 31 } else { token })
    }

    /// The length of the match of a token, which may go on at `at`, and what follows it.
    #[inline]
    fn length(&self, token: usize, mut at: usize) -> Option<(usize, usize)> {
        let mut length = (token >> 5) + 2;
        let mut more = length == 9;
        while more {
            let byte = *self.0.get(at)?;
            length += usize::from(byte);
            at += 1;
            more = byte == 255;
        }
        Some((length, at))
    }
}
